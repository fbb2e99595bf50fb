/*
 * cancel_running.h - tasks that are cancelled while they run: their handlers are told.
 */
#ifndef RV_UPKEEP_CANCEL_RUNNING_H
#define RV_UPKEEP_CANCEL_RUNNING_H

#include "running/worker_state.h"

/* A task was cancelled: if one of our threads holds it, its handler should end, or not begin. Any thread. */
void rv_cancel_running_stop(reeve_worker *worker, const char *queue, const char *id);

/* Asks Redis which of the running tasks were cancelled, and tells them: the control channel was not heard for a while.
 * On an open connection of the caller's, in few round trips. False: the connection was lost. */
bool rv_cancel_running_ask(reeve_worker *worker, rv_conn *conn);

#endif
