/*
 * chain_place.h - tasks that a handler chains into queues with partitions (protocol/partition.h) go to partitions by the
 * rule of enqueues: that of the unique key, else of the group, else of the id. A task without any of these that is chained
 * in its own queue stays in the partition of the task that chains it, so that nothing has to be carried. While the number of
 * partitions is being changed, a task whose key or group is in use in its previous partition goes there.
 */
#ifndef RV_RUNNING_CHAIN_PLACE_H
#define RV_RUNNING_CHAIN_PLACE_H

#include "running/worker_state.h"

/* Writes the tasks that a task chains, with partitions in place of their queues, and in the handles of their parents, to
 * ret, which is empty. False: they stay as they are; no queue is divided, or there is no memory. On the thread that ran
 * the task; asks Redis while a number of partitions is being changed. */
bool rv_chain_place(reeve_worker *worker, const reeve_task *task, reeve_bytes chained, size_t count, rv_buf *ret);

#endif
