/*
 * client_partition.h - limits that the partitions of a queue share.
 */
#ifndef RV_CLIENT_CLIENT_PARTITION_H
#define RV_CLIENT_CLIENT_PARTITION_H

#include "client/client.h"
#include "reeve/limits.h"

/* Changes the concurrency and the rate of a divided queue: the layout has them, and each partition a part of them. */
reeve_status rv_client_partition_limit(reeve_client *client, const char *queue, const reeve_limit_change *change);

#endif
