/*
 * pool_threads.h - how many threads of a pool run. A pool has as many as its target says; a thread that is one too many
 * retires: it takes no new tasks, runs its present task to the end, settles its outcomes, and ends. Its place stays for
 * the next thread of the pool.
 *
 * A thread whose handler does not return may have a spare thread in its place (stuck.h); then it is not counted.
 *
 * Pools of one line take one another's place, for instance with other queues. Together they never have more threads
 * than the target of the newest one: its threads start one by one as those of its predecessor end.
 */
#ifndef RV_RUNNING_POOL_THREADS_H
#define RV_RUNNING_POOL_THREADS_H

#include "running/worker_state.h"

#define RV_POOL_THREADS_MAX 1024

/* Makes the threads that the pool is to have, not yet running. On failure rv_pool_free cleans up. */
reeve_status rv_pool_threads_make(rv_pool *pool, reeve_worker *worker, rv_error *error);

/* Starts and retires threads until each pool has as many as it is to have. While the worker stops it does nothing. The
 * caller does not hold the worker's lock. REEVE_ENOMEM, REEVE_ESYSTEM: too few were started. */
reeve_status rv_pool_threads_balance(reeve_worker *worker, rv_error *error);

/* The worker's handlers were replaced: threads of the set before retire, and others take their places. The same errors. */
reeve_status rv_pool_threads_renew(reeve_worker *worker, rv_error *error);

/* A thread is about to end. False: it is needed again, and goes on. Another one may start in its place. */
bool rv_pool_threads_end(rv_thread *thread);

/* A hook has ended the thread. Another one may start in its place. */
void rv_pool_threads_lose(rv_thread *thread);

/* How many threads of the pool run, those that retire included. */
unsigned rv_pool_threads_alive(rv_pool *pool, reeve_worker *worker);

/* How many of the threads that the pool is to have run a task: fewer than its target, where one can take another task.
 * A stuck thread with a spare one is not counted; one that retires is only where no other has its place yet. The caller
 * does not hold the worker's lock. */
unsigned rv_pool_threads_busy(rv_pool *pool, reeve_worker *worker);

#endif
