/*
 * invocation.h - the tasks that a thread runs at the moment: one, or those of a call of a batch handler
 * (batch_handler_run.h). For functions that stop them, and for the calls of their handlers.
 */
#ifndef RV_RUNNING_INVOCATION_H
#define RV_RUNNING_INVOCATION_H

#include "running/worker_state.h"

/* One task of a call of many. */
typedef struct rv_invocation {
    reeve_task task;
    rv_task_host host;
    atomic_bool stop; /* as the thread's, of this task alone */
    atomic_bool cancelled;
    char cancel_reason[REEVE_REASON_MAX + 1]; /* as the thread's */
    rv_item *item;
    bool counts;
} rv_invocation;

/* The running item of a task that was handed to a handler. For the thread that runs it. */
rv_item *rv_invocation_item(rv_thread *thread, const reeve_task *task);

/* The flags by which a running item's handler is asked to stop, and learns that its task is cancelled. The caller
 * holds the lock, or is the owner. */
atomic_bool *rv_invocation_stop(rv_thread *thread, const rv_item *item);
atomic_bool *rv_invocation_cancelled(rv_thread *thread, const rv_item *item);
/* A buffer of REEVE_REASON_MAX + 1 bytes for the reason. */
char *rv_invocation_cancel_reason(rv_thread *thread, const rv_item *item);

/* Tells whatever runs to stop. The caller holds the lock. */
void rv_invocation_stop_all(rv_thread *thread);

#endif
