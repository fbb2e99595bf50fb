/*
 * thread_wait.h - the one place in which a thread waits for tasks. The thread itself calls.
 */
#ifndef RV_RUNNING_THREAD_WAIT_H
#define RV_RUNNING_THREAD_WAIT_H

#include "running/worker_state.h"

/*
 * Waits until a task may be there, a batch of a batch handler is due, or the phase changes. A thread in the state
 * IDLE is handed its task. Any other sends its lease, of `want` tasks, behind the wait, and Redis executes it as soon
 * as a task is enqueued: this saves a round trip.
 */
void rv_thread_wait(rv_thread *thread, unsigned want);

/* This thread does not use a wake-up that it received or that was on its way: the scheduler maintains the queues
 * instead. */
void rv_thread_wait_pass_on(rv_thread *thread);

/* Passes the wake-up on; in a worker that is quiet, waits until it stops. */
void rv_thread_wait_for_end(rv_thread *thread);

#endif
