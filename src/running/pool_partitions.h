/*
 * pool_partitions.h - pools that name a queue which is divided into partitions (protocol/partition.h): they serve all of
 * its partitions.
 *
 * In the queues of such a pool, the partitions stand behind the queue, which is partition 0. A pool that names a partition
 * without its queue serves that partition alone.
 */
#ifndef RV_RUNNING_POOL_PARTITIONS_H
#define RV_RUNNING_POOL_PARTITIONS_H

#include "protocol/partition.h"
#include "running/worker_state.h"

/* Options with these partitions in place of those that were there. rv_pool_partitions_fini frees it. */
typedef struct rv_pool_partitions {
    reeve_pool_options options;
    const char **queues;
    unsigned *weights;
    char (*names)[REEVE_QUEUE_MAX + 1];
} rv_pool_partitions;

/* False: no memory. */
bool rv_pool_partitions_init(rv_pool_partitions *ret, const reeve_pool_options *options, const rv_partition_map *map);
void rv_pool_partitions_fini(rv_pool_partitions *expanded);

#endif
