/*
 * client_partition.h - limits that the partitions of a queue share, and partitions that are served again.
 */
#ifndef RV_CLIENT_CLIENT_PARTITION_H
#define RV_CLIENT_CLIENT_PARTITION_H

#include "client/client.h"
#include "reeve/limits.h"

/* Changes the concurrency and the rate of a divided queue: the layout has them, and each partition a part of them. */
reeve_status rv_client_partition_limit(reeve_client *client, const char *queue, const reeve_limit_change *change);

/*
 * Lets workers serve, and clients search, at least so many partitions, though new tasks do not go to all of them: there
 * is something in one that had been let go of (partition_left.h). It gets the settings, limits and pause of the queue.
 * *ret_changed: this call did so. The queue lets go of them as of others, by reeve_partition_step.
 */
reeve_status rv_client_partition_serve(reeve_client *client, const char *queue, unsigned served, bool *ret_changed);

#endif
