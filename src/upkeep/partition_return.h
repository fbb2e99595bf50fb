/*
 * partition_return.h - partitions that were let go of (client/partition_left.h) and hold something again are served
 * again: each worker looks at its queues once in a session.
 */
#ifndef RV_UPKEEP_PARTITION_RETURN_H
#define RV_UPKEEP_PARTITION_RETURN_H

#include "running/worker_state.h"

/* For the scheduler, over its connection, which is open: looks when it is time. *ret_at_ms: when it is the next time.
 * False: the connection was lost. */
bool rv_partition_return_look(reeve_worker *worker, int64_t *ret_at_ms);

#endif
