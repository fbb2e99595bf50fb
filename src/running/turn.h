/*
 * turn.h - a thread's turn: settles the finished tasks and leases the next ones. For the thread that owns the batch.
 */
#ifndef RV_RUNNING_TURN_H
#define RV_RUNNING_TURN_H

#include "running/worker_state.h"

/*
 * One turn: settles the finished tasks and leases up to `want` tasks into the batch. Reconnects and repeats the call
 * until it succeeds. False when the worker leaves and no more calls can be made.
 */
bool rv_turn_run(rv_thread *thread, unsigned want);

/*
 * A turn of a thread that is registered in Redis and leases nothing: it ends the registration, so that the thread can
 * run its batch. RV_THREAD_IDLE afterwards: the thread was handed something before that, which its list holds.
 */
bool rv_turn_leave_idle(rv_thread *thread);

/* Takes the reply of a turn that only leases (rv_turn_call_build_lease) into the empty batch, and enters the state that
 * follows. */
void rv_turn_take_lease(rv_thread *thread, const rv_reply *reply, unsigned want);

/* Takes what the thread was handed (protocol/lease.h), if it was a task, into the batch. */
void rv_turn_take_handed(rv_thread *thread, const rv_reply *text);

#endif
