/*
 * thread.h - a thread of a pool: it takes a turn, runs the tasks that it leased, and so on; it waits in one place
 * when there are none.
 */
#ifndef RV_RUNNING_THREAD_H
#define RV_RUNNING_THREAD_H

#include "running/worker_state.h"

reeve_status rv_thread_init(rv_thread *thread, rv_pool *pool, reeve_worker *worker, unsigned number, rv_error *error);
void rv_thread_fini(rv_thread *thread);

/* Whether the place of a thread that has ended has room for the worker's handlers. */
bool rv_thread_fits(const rv_thread *thread);

/* A thread that starts in that place runs the worker's handlers. False: no memory. With the worker's lock. */
bool rv_thread_adopt(rv_thread *thread);

/* The thread's main. */
void *rv_thread_main(void *thread);

/* Whether the calling thread is one of the worker's: a handler, a layer or a hook calls. */
bool rv_thread_is_inside(const reeve_worker *worker);

#endif
