/*
 * verb_doctor.h - the parts of `reeve doctor`: from facts to findings.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "client/checkup.h"
#include "findings.h"

/* doctor_redis.c: of the server. embedded: it is reeve's own. */
void cli_doctor_redis(cli_findings *findings, const rv_checkup *redis, bool embedded);
/* missing: what rv_checkup_rights says. */
void cli_doctor_rights(cli_findings *findings, const rv_checkup *redis, const char *ns, const char *missing);

/* doctor_queue.c: of a queue. why: NULL where nothing waits or runs there; served: by a live worker. The findings
 * point to info's name. */
void cli_doctor_queue(cli_findings *findings, const reeve_queue_info *info, const rv_queue_checkup *queue,
                      const reeve_why *why, bool served);
/* Of the workers. */
void cli_doctor_workers(cli_findings *findings, const reeve_worker_info *list, size_t count);

/* doctor_cluster.c: of the cluster's nodes, and of a queue in a cluster. print: a line for each master. */
void cli_doctor_cluster(cli_findings *findings, rv_cluster *cluster);
void cli_doctor_cluster_queue(cli_findings *findings, const reeve_queue_info *info);
void cli_doctor_cluster_print(rv_cluster *cluster);

#endif
