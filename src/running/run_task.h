/*
 * run_task.h - the steps from a leased item to an outcome that handlers of one task (run_task.c) and of many
 * (batch_handler_run.c) have in common. For the thread that owns the batch.
 */
#ifndef RV_RUNNING_RUN_TASK_H
#define RV_RUNNING_RUN_TASK_H

#include "running/attempt_policy.h"
#include "running/worker_state.h"

/* Runs one leased item and notes its outcome. */
void rv_run_task(rv_thread *thread, rv_item *item);

/* Its handler does not return: it has failed, and why. */
void rv_run_task_end_early(rv_thread *thread, rv_item *item, const char *why);

/* Makes the task of a leased item, with the thread as its host. handler may be NULL. */
void rv_run_task_prepare(rv_thread *thread, reeve_task *task, rv_task_host *host, rv_item *item,
                         const rv_handler *handler);

/* Whether this thread is set up for the handler: its thread_start was called, once, and is content. */
bool rv_run_task_set_up(rv_thread *thread, const rv_handler *handler);

/* What the worker says instead of a handler. */
reeve_outcome rv_run_task_fail_setup(reeve_task *task, const rv_handler *handler);

/* Gives a task back whose handler is not called. */
reeve_outcome rv_run_task_not_begun(reeve_task *task, rv_item *item);

/* It has expired, or brought down too many workers: notes that it is dead, not for a failure of its handler. */
bool rv_run_task_is_barred(reeve_task *task, const rv_item *item, const rv_attempt_policy *policy);

/* From now on: how long it may run, and be silent. */
void rv_run_task_set_limits(rv_thread *thread, rv_item *item, const rv_attempt_policy *policy);

/* Notes in the item what the outcome means for it: another attempt or death. policy: what held when it began. counts: a
 * failure is one of the attempts. */
void rv_run_task_settle(rv_thread *thread, reeve_task *task, rv_item *item, const rv_handler *handler,
                        rv_attempt_policy *policy, reeve_outcome outcome, bool counts);

/* There is no memory to run it as it is to run: tried again in a moment. */
void rv_run_task_no_memory(rv_thread *thread, rv_item *item);

#endif
