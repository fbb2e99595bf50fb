/*
 * block_task.h - a task whose handler waits for other tasks (reeve_task_wait_for): Redis blocks it, before the next turn.
 */
#ifndef RV_RUNNING_BLOCK_TASK_H
#define RV_RUNNING_BLOCK_TASK_H

#include "running/worker_state.h"

/*
 * Blocks the running item in Redis, and enqueues the tasks that its handler has chained. Waits while the connection is lost.
 * Then the item is accepted, or refused; or neither, as the worker ends: it is to be given back. Does nothing for a task that
 * waits for none.
 */
void rv_block_task_settle(rv_thread *thread, rv_item *item, const reeve_task *task);

#endif
