/*
 * cancel_running.h - asks the handlers of tasks to stop that are cancelled while they run.
 */
#ifndef RV_UPKEEP_CANCEL_RUNNING_H
#define RV_UPKEEP_CANCEL_RUNNING_H

#include "running/worker_state.h"

/* A task was cancelled: if one of our threads holds it, its handler should end, or not begin. reason: "": none. Any
 * thread. Returns whether one does. */
bool rv_cancel_running_stop(reeve_worker *worker, const char *queue, const char *id, const char *reason);

/* The lease of a task that was ended by hand. */
typedef struct rv_revoke {
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX];
    int64_t since_ms;
    char thread[24];
    bool asked; /* Redis said so when it was asked (rv_cancel_running_ask): not of a task that has finished since */
    rv_session_text session; /* of an outcome that may have been sent; "": none */
} rv_revoke;

typedef enum rv_revoked {
    RV_REVOKED_UNKNOWN, /* no thread has such a task */
    RV_REVOKED_SENT,    /* its outcome may be on its way: to be called again, with the same argument */
    RV_REVOKED_TAKEN    /* no outcome will be sent any more */
} rv_revoked;

/* The handler of the task should end, and its outcome is not sent. Redis is told when no outcome is on its way
 * (rv_offload_let_go). The keeper's thread. */
rv_revoked rv_cancel_running_revoke(reeve_worker *worker, rv_revoke *revoke);

/* Asks Redis which of the tasks in the batches were cancelled, and which of their leases ended by hand, because
 * announcements may have been missed. Asks the handlers of the first to stop, and has the keeper take the others away
 * (missed.h). On an open connection of the caller, in few round trips. False: the connection was lost.
 * *ret_answered: false: Redis refused some of the questions, which is logged, or there was no memory: ask again. */
bool rv_cancel_running_ask(reeve_worker *worker, rv_conn *conn, bool *ret_answered);

#endif
