/*
 * thread_state.h - changes of a thread's state (rv_thread_state in worker_state.h, with the allowed ones).
 */
#ifndef RV_RUNNING_THREAD_STATE_H
#define RV_RUNNING_THREAD_STATE_H

#include "running/worker_state.h"

bool rv_thread_state_may_change(rv_thread_state from, rv_thread_state to);

/* Changes the thread's state. A build without NDEBUG aborts when the change is not allowed. The thread itself. */
void rv_thread_state_enter(rv_thread *thread, rv_thread_state state);

/* A turn begins: a thread that would wait does not. */
void rv_thread_state_begin_turn(rv_thread *thread);

static inline bool rv_thread_state_waits(const rv_thread *thread)
{
    return thread->state == RV_THREAD_WAIT || thread->state == RV_THREAD_IDLE;
}

/* Redis has the thread among those that it hands tasks to. */
static inline bool rv_thread_state_is_registered(const rv_thread *thread)
{
    return thread->state == RV_THREAD_IDLE || thread->state == RV_THREAD_AGAIN || thread->state == RV_THREAD_LEAVE;
}

#endif
