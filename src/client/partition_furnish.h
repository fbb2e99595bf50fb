/*
 * partition_furnish.h - gives a partition what is set for its queue (protocol/partition.h).
 */
#ifndef RV_CLIENT_PARTITION_FURNISH_H
#define RV_CLIENT_PARTITION_FURNISH_H

#include "client/client.h"

/* Its settings, the limits of groups, the number of kept events, and whether it is paused; not the limits that the
 * partitions share. */
reeve_status rv_partition_furnish(reeve_client *client, const char *queue, unsigned number);

#endif
