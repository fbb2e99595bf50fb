/*
 * chain_place.h - tasks that a handler chains into queues with partitions (protocol/partition.h) go to partitions by the
 * rule of enqueues: that of the unique key, else of the group, else of the id. A task without any of these that is chained
 * in its own queue stays in the partition of the task that chains it, so that nothing has to be carried. While the number of
 * partitions is being changed, a task whose key or group is in use in its previous partition goes there.
 *
 * Parents are named by the partitions that they are in (locate_task.h).
 */
#ifndef RV_RUNNING_CHAIN_PLACE_H
#define RV_RUNNING_CHAIN_PLACE_H

#include "running/worker_state.h"

/* Writes the tasks that a task of this queue chains, at least one, with partitions in place of their queues, and in the
 * handles of their parents, to ret, which is empty. False: there is no memory; they stay as they are. Asks Redis by
 * host->ask while a number of partitions is being changed. That must not wait for the caller: for a task that a program
 * has pulled, the host is that of the thread, because the caller has passed the gate of the consumer. */
bool rv_chain_place(reeve_worker *worker, const rv_task_host *host, const char *queue, reeve_bytes chained,
                    size_t count, rv_buf *ret);

/* Chained tasks as the handler gave them, and as rv_chain_place wrote them; the same where nothing is divided. */
typedef struct rv_chain_placed {
    reeve_bytes given, placed;
    size_t count;
} rv_chain_placed;

/* Writes the parents that a task is to wait for (handlers/waiting.h), which end in a zero byte, with handles as scripts
 * know them, to ret, which is empty. REEVE_ENOMEM, and the errors of host->ask: what is in ret is not complete then. */
reeve_status rv_chain_place_parents(reeve_worker *worker, const rv_task_host *host, reeve_bytes parents,
                                    const rv_chain_placed *chained, rv_buf *ret);

#endif
