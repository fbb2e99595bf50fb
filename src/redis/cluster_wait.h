/*
 * cluster_wait.h - a wait for keys of several hash slots of a Redis Cluster: rv_conn_wait_any.
 *
 * A blocking command takes keys of one slot, and a connection that is blocked takes no other command. So there is one
 * connection for each slot, made when it is first needed and kept. When one of the commands is answered, the others are
 * ended over the links of their nodes: what a command that stays blocked took later would be lost.
 */
#ifndef RV_CLUSTER_WAIT_H
#define RV_CLUSTER_WAIT_H

#include "redis/cluster_links.h"

/* As rv_conn_wait_any. */
reeve_status rv_cluster_wait_any(rv_conn *conn, int64_t deadline, bool *ret_answered);

/* Closes the connections of the waits; what they waited for ends with them. */
void rv_cluster_wait_close(rv_cluster_links *links);
void rv_cluster_wait_fini(rv_cluster_links *links);

#endif
