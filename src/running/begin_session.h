/*
 * begin_session.h - the worker's session begins in a queue, right before the turn that leases there. A turn names a
 * session only where it has begun; where it finds a task in another queue, it says so, and the session begins with the
 * next turn, in the same pipeline. So sessions begin only where there is something to lease. For the thread that owns
 * the batch.
 */
#ifndef RV_RUNNING_BEGIN_SESSION_H
#define RV_RUNNING_BEGIN_SESSION_H

#include "running/worker_state.h"

#define RV_BEGINS_MAX 7 /* before one turn */

/* The calls of begin_session before a turn. */
typedef struct rv_begins {
    rv_thread *thread;
    size_t queues[RV_BEGINS_MAX]; /* by call */
    size_t count;
    bool odd; /* a reply was none */
} rv_begins;

/* Builds the calls for those queues of the turn (thread->place_count) in which a turn found a task, and no session. The
 * ids of their sessions go to thread->sessions. */
void rv_begin_session_build(rv_begins *ret, rv_thread *thread);

/* Sends them, and the one call that was built behind them: *ret is its reply, as with rv_conn_call. A session that has
 * ended before it began here, as far as the worker knows, gets another id; the call does not find it. Where a session
 * may not begin, that is the error, and it is not known what the call did. */
reeve_status rv_begin_session_call(rv_begins *begins, const rv_reply **ret);

/* The reply of the turn has come: the session that began needs no heartbeat of its own any more. */
void rv_begin_session_answered(rv_thread *thread);

#endif
