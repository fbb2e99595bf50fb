/*
 * cancel_running.h - asks the handlers of tasks to stop that are cancelled while they run.
 */
#ifndef RV_UPKEEP_CANCEL_RUNNING_H
#define RV_UPKEEP_CANCEL_RUNNING_H

#include "running/worker_state.h"

/* A task was cancelled: if one of our threads holds it, its handler should end, or not begin. reason: "": none. Any
 * thread. Returns whether one does. */
bool rv_cancel_running_stop(reeve_worker *worker, const char *queue, const char *id, const char *reason);

/* The lease of a task, of this time and thread, was ended by hand: its handler should end, and its outcome is not sent.
 * Any thread. Returns whether a thread has it. */
bool rv_cancel_running_revoke(reeve_worker *worker, const char *queue, const char *id, int64_t since_ms,
                              const char *thread);

/* Asks Redis which of the tasks in the batches were cancelled, because announcements may have been missed, and asks
 * their handlers to stop. On an open connection of the caller, in few round trips. False: the connection was lost.
 * *ret_answered: false: Redis refused some of the questions, which is logged. */
bool rv_cancel_running_ask(reeve_worker *worker, rv_conn *conn, bool *ret_answered);

#endif
