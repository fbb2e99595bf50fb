/*
 * batch_handler.h - batch handlers: handlers that take many tasks in one call (reeve_handler.run_batch). Tasks of
 * one type and queue form a group. A group waits in the thread's batch until it is large enough or its first task is
 * old enough; then it is ripe. In the meantime the thread takes its turns, settles outcomes and runs tasks of other
 * types; waiting tasks are kept over the turns, in memory of their own. All functions are for the thread that owns
 * the batch. A worker without batch handlers pays nothing.
 */
#ifndef RV_RUNNING_BATCH_HANDLER_H
#define RV_RUNNING_BATCH_HANDLER_H

#include "handlers/handler_check.h"
#include "running/worker_state.h"

/* May this waiting item run now? One that is not of many always may, unless it is a suspect: that one runs alone. The
 * caller holds the lock. */
bool rv_batch_handler_is_ripe(const rv_thread *thread, const rv_item *item, int64_t now_ms);

/* May any waiting item run now? False without batch handlers. */
bool rv_batch_handler_has_ripe(rv_thread *thread);

/* The waiting items of the group of batch.items[first], itself first, become running, up to as many as a call takes:
 * into thread->picked. Returns how many. The caller holds the lock. */
size_t rv_batch_handler_pick(rv_thread *thread, size_t first);

/* How many tasks to lease with the next turn: for the groups that wait, else as the thread has learnt. */
unsigned rv_batch_handler_want(const rv_thread *thread);

/* A batch was run: the largest call in it had `called` tasks of a handler that takes up to max, and others ran as well
 * or not. */
void rv_batch_handler_learn(rv_thread *thread, size_t called, unsigned max, bool others);

/* When the first group that waits is ripe, whatever comes: monotonic ms; RV_FOREVER when none waits. */
int64_t rv_batch_handler_until(const rv_thread *thread);

/* Before a batch runs: drops kept tasks whose session is gone. */
void rv_batch_handler_begin(rv_thread *thread);

/* What waits is kept over the next turn. */
void rv_batch_handler_keep(rv_thread *thread);

/* Drops kept tasks whose session is gone: they run elsewhere. */
void rv_batch_handler_drop_lost(rv_thread *thread);

#endif
