#include "running/thread_state.h"

#include <assert.h>

#define BIT(state) (1u << (state))

static const unsigned allowed[] = {
    [RV_THREAD_TURN] = BIT(RV_THREAD_WAIT) | BIT(RV_THREAD_IDLE) | BIT(RV_THREAD_RECOVER),
    [RV_THREAD_WAIT] = BIT(RV_THREAD_TURN) | BIT(RV_THREAD_IDLE) | BIT(RV_THREAD_RECOVER),
    [RV_THREAD_IDLE] = BIT(RV_THREAD_TURN) | BIT(RV_THREAD_AGAIN) | BIT(RV_THREAD_LEAVE) | BIT(RV_THREAD_RECOVER),
    [RV_THREAD_AGAIN] =
        BIT(RV_THREAD_TURN) | BIT(RV_THREAD_WAIT) | BIT(RV_THREAD_IDLE) | BIT(RV_THREAD_LEAVE) | BIT(RV_THREAD_RECOVER),
    [RV_THREAD_LEAVE] = BIT(RV_THREAD_TURN) | BIT(RV_THREAD_IDLE) | BIT(RV_THREAD_RECOVER),
    [RV_THREAD_RECOVER] = BIT(RV_THREAD_TURN),
};

bool rv_thread_state_may_change(rv_thread_state from, rv_thread_state to)
{
    return from == to || (allowed[from] & BIT(to)) != 0;
}

void rv_thread_state_enter(rv_thread *t, rv_thread_state state)
{
    assert(rv_thread_state_may_change(t->state, state));
    t->state = state;
}

void rv_thread_state_begin_turn(rv_thread *t)
{
    if (t->state == RV_THREAD_WAIT) rv_thread_state_enter(t, RV_THREAD_TURN);
    if (t->state == RV_THREAD_IDLE) rv_thread_state_enter(t, RV_THREAD_AGAIN);
}
