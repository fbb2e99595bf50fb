/*
 * thread.h - a pool's thread: takes a turn, runs what it leased, takes the next; waits in one place when there is
 * nothing.
 */
#ifndef RV_THREAD_H
#define RV_THREAD_H

#include "worker/state.h"

reeve_status rv_thread_init(rv_thread *thread, rv_pool *pool, reeve_worker *worker, unsigned number, rv_error *error);
void rv_thread_fini(rv_thread *thread);

/* The thread's main. */
void *rv_thread_main(void *thread);

/*
 * One turn (turn.c): settles what is finished and leases up to want tasks into the batch. Reconnects and asks again as
 * long as it takes. False when the worker leaves and nothing more can be done.
 */
bool rv_thread_turn(rv_thread *thread, unsigned want);

/* Two halves of a turn that only leases, for the waiting place: builds the call; takes its reply into the (empty)
 * batch. False: no such reply, or there is to be another turn at once. */
void rv_thread_build_lease(rv_thread *thread, unsigned want);
bool rv_thread_take_lease(rv_thread *thread, const rv_reply *reply, unsigned want);

/* Runs one leased item and notes its outcome (run.c). */
void rv_thread_run(rv_thread *thread, rv_item *item);

/* Connects, for as long as it takes; false when the worker ends first. */
bool rv_thread_connect(rv_thread *thread);

/* For rv_task_host: one round trip over the thread's connection while its handler runs. */
reeve_status rv_thread_ask(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                           void *context);

#endif
