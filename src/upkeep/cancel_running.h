/*
 * cancel_running.h - asks the handlers of tasks to stop that are cancelled while they run.
 */
#ifndef RV_UPKEEP_CANCEL_RUNNING_H
#define RV_UPKEEP_CANCEL_RUNNING_H

#include "running/worker_state.h"

/* A task was cancelled: if one of our threads holds it, its handler should end, or not begin. Any thread. */
void rv_cancel_running_stop(reeve_worker *worker, const char *queue, const char *id);

/* Asks Redis which of the running tasks were cancelled, because announcements may have been missed, and asks their
 * handlers to stop. On an open connection of the caller, in few round trips. False: the connection was lost. */
bool rv_cancel_running_ask(reeve_worker *worker, rv_conn *conn);

#endif
