/*
 * upkeep_thread.h - the life of a thread of the upkeep: keeper, scheduler, heartbeat. Each has a connection, a waker
 * that ends its wait, and a lock. Order of the calls: init, open, start, join, fini; a worker that fails to start
 * leaves out some of them.
 */
#ifndef RV_UPKEEP_UPKEEP_THREAD_H
#define RV_UPKEEP_UPKEEP_THREAD_H

#include "running/worker_state.h"

/* Puts the thread into a state that fini accepts and in which its waker may be rung. Cannot fail. */
void rv_upkeep_thread_init(rv_upkeep_thread *thread);

/* Creates the waker and the connection, which is not opened yet. role: the thread's name, at most 9 bytes.
 * command_ms: the deadline of a call. */
reeve_status rv_upkeep_thread_open(rv_upkeep_thread *thread, const reeve_worker *worker, const char *role,
                                   int64_t command_ms, rv_error *error);

/* Starts the thread; run gets the worker. */
reeve_status rv_upkeep_thread_start(rv_upkeep_thread *thread, reeve_worker *worker, void *(*run)(void *),
                                    rv_error *error);

/* Rings the thread and waits for its end; nothing for one that does not run. The caller has set the phase that ends
 * it. */
void rv_upkeep_thread_join(rv_upkeep_thread *thread, const reeve_worker *worker);

void rv_upkeep_thread_fini(rv_upkeep_thread *thread);

#endif
