/*
 * alone.h - a task that crashes left behind runs alone, so that the next crash finds the guilty one.
 *
 * When a worker dies, each of its threads may have run the task that it died of. So from its second crash on (or earlier
 * when the next one may be its last) a task begins only when no other handler runs in its worker, and no other begins
 * meanwhile. Redis knows that (suspect.lua): when the worker dies then, the crash is this task's and nobody else's; a
 * task is dead of crashes only when one of them was such a crash. When its handler returns, its crashes are forgotten.
 *
 * Others are not held up for ever. When those that run do not end in time, the task begins beside them; when it runs for
 * long, others begin beside it. A crash then counts for all of them, and proves nothing; with each crash these times
 * double. So a task that brings its worker down late is found, too, and a long one gets its time next to others that
 * crash all the time.
 *
 * A task that never crashed costs a load for each call of a handler.
 */
#ifndef RV_RUNNING_ALONE_H
#define RV_RUNNING_ALONE_H

#include "running/worker_state.h"

/* How long a task waits to be alone after its second crash, and how long it then stays alone. */
#define RV_ALONE_MS 30000

void rv_alone_init(rv_alone *alone);
void rv_alone_fini(rv_alone *alone);

/* Whether a leased task is to run alone. */
bool rv_alone_is_due(const rv_item *item, unsigned max_crashes);

/* Another thread runs a task alone, or waits for that: nothing may begin here. Any thread. */
static inline bool rv_alone_bars(const rv_thread *thread)
{
    const rv_thread *owner = atomic_load_explicit(&thread->worker->alone.owner, memory_order_seq_cst);
    return owner != NULL && owner != thread;
}

/* This thread does. */
static inline bool rv_alone_is_owner(const rv_thread *thread)
{
    return atomic_load_explicit(&thread->worker->alone.owner, memory_order_relaxed) == thread;
}

/*
 * For the thread's running item: waits until nothing else runs, and tells Redis. False: it is not to begin (another task
 * runs alone, it was told to stop, the worker takes no more tasks, Redis did not take it).
 */
bool rv_alone_enter(rv_thread *thread, const rv_item *item);

/* Its handler has returned (by itself, or told to stop), or was not called. Nothing when it does not run alone. */
void rv_alone_leave(rv_thread *thread, bool by_itself);

/* The waiting place of a thread in which nothing may begin: returns when something may have changed. */
void rv_alone_hold(rv_thread *thread);

/* Something that rv_alone_enter waits for may have come. Any thread, with no lock held. */
void rv_alone_recheck(reeve_worker *worker);

#endif
