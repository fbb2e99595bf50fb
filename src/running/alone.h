/*
 * alone.h - a task that was running when workers crashed runs alone, so that the next crash identifies it. When a
 * worker dies, each of its running tasks may be the cause. So from its second crash on (or earlier, if the next one
 * may be its last) a task begins only when no other handler runs in its worker, and no other begins in the meantime.
 * Redis is told (suspect.lua): if the worker dies then, the task is the cause. A task becomes dead of crashes only
 * after such a crash. When its handler returns, its crashes are forgotten. The wait is limited. When the running
 * tasks do not end in time, the task begins beside them; when it runs for long, others begin beside it. A crash then
 * counts for all of them and identifies none; with each crash these times double. So a task that crashes its worker
 * late is found, too, and a long task can finish although others crash again and again. For a task that never
 * crashed this costs one atomic load for each call of a handler.
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

/* Notes in the session how a task of the batch runs: "alone", "beside", "clear" or "over" (suspect.lua). For a
 * consumer, whose program runs its tasks. False: the session does not hold it, or Redis could not be told. */
bool rv_alone_note(rv_thread *thread, const rv_item *item, const char *how);

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
 * For the thread's running item: waits until no other task runs, and notes in Redis that it runs alone. False: it
 * must not begin, because another task runs alone, it was asked to stop, the worker takes no more tasks, or Redis
 * did not accept the note.
 */
bool rv_alone_enter(rv_thread *thread, const rv_item *item);

/* The handler has returned (by itself, or after it was asked to stop), or was not called. Without effect when the
 * task does not run alone. */
void rv_alone_leave(rv_thread *thread, bool by_itself);

/* The waiting place of a thread in which nothing may begin: returns when something may have changed. */
void rv_alone_hold(rv_thread *thread);

/* Something that rv_alone_enter waits for may have come. Any thread, with no lock held. */
void rv_alone_recheck(reeve_worker *worker);

#endif
