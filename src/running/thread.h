/*
 * thread.h - a pool's thread: takes a turn, runs what it leased, takes the next; waits in one place when there is
 * nothing.
 */
#ifndef RV_RUNNING_THREAD_H
#define RV_RUNNING_THREAD_H

#include "running/worker_state.h"

reeve_status rv_thread_init(rv_thread *thread, rv_pool *pool, reeve_worker *worker, unsigned number, rv_error *error);
void rv_thread_fini(rv_thread *thread);

/* The thread's main. */
void *rv_thread_main(void *thread);

/* Whether the calling thread is one of the worker's: a handler, a layer or a hook calls. */
bool rv_thread_is_inside(const reeve_worker *worker);

#endif
