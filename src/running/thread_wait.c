#include "running/thread_wait.h"

#include <stdio.h>
#include <string.h>

#include "running/batch_handler.h"
#include "running/descriptors.h"
#include "running/pool_demand.h"
#include "running/pool_slots.h"
#include "running/recovery.h"
#include "running/redis_report.h"
#include "running/round.h"
#include "running/thread_state.h"
#include "running/turn.h"
#include "running/turn_call.h"
#include "running/wakeup.h"

static void add_own_list(rv_thread *t)
{
    char name[RV_SESSION_LENGTH + 32];
    const rv_prefix *prefix = &t->pool->queue_sessions[0]->prefix;
    (void)snprintf(name, sizeof(name), "hand:%s:%s", t->sessions[0], t->number_text);
    rv_arg2(t->conn, prefix->text, prefix->length, name, strlen(name));
}

/* ---- of one hash slot ------------------------------------------------------------------------------------------ */

static void add_wake_ups(rv_thread *t)
{
    rv_queue_order_choose(&t->order, true);
    for (size_t place = 0; place < t->pool->queue_session_count; place++) {
        const rv_prefix *prefix = &t->pool->queue_sessions[rv_queue_order_queue(&t->order, place)]->prefix;
        rv_arg2(t->conn, prefix->text, prefix->length, "wake", 4);
    }
}

/* Adds the wait. The lists are in the order of the lease that follows, so that the wake-up that the wait consumes
 * belongs to the queue that the lease serves. The wait ends at `until` (monotonic ms) at the latest. */
static void build_wait(rv_thread *t, int64_t until)
{
    char seconds[40] = "0"; /* for ever */
    int64_t left = until == RV_FOREVER ? 0 : until - rv_now_ms();
    if (until != RV_FOREVER && left < 1) left = 1;
    if (left > 0) snprintf(seconds, sizeof(seconds), "%lld.%03lld", (long long)left / 1000, (long long)left % 1000);
    rv_cmd(t->conn, (t->state == RV_THREAD_IDLE ? 1 : t->pool->queue_session_count) + 2);
    rv_args(t->conn, "BLPOP");
    if (t->state == RV_THREAD_IDLE) {
        add_own_list(t);
    } else {
        add_wake_ups(t);
    }
    rv_args(t->conn, seconds);
}

static bool is_unknown_script(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_ERROR) && strncmp(reply->text, "NOSCRIPT", 8) == 0;
}

/* The wait ended with an error. */
static void end_failed(rv_thread *t, reeve_status status, const rv_reply *reply)
{
    rv_thread_state_enter(t, RV_THREAD_RECOVER);
    if (status == REEVE_EINTERRUPTED) {
        rv_conn_close(t->conn);
        rv_waker_silence(&t->waker);
    } else if (status == REEVE_EREDIS && !is_unknown_script(reply)) {
        rv_redis_report_refusal(t->worker,
                                "Redis refused the wait of a thread: the thread looks for tasks every second",
                                rv_conn_error(t->conn)->text);
        rv_waker_wait(&t->waker, rv_deadline(1000));
    } else {
        /* The wait may have consumed the wake-up of one queue, and the next turn may serve another one. */
        if (t->pool->queue_session_count > 1) rv_wakeup_all_queues(t->worker);
        if (status == REEVE_ELOST) rv_recovery_note_loss(t);
    }
}

/* The deadline of the wait on this side, in case Redis does not end it. */
static int64_t latest(const rv_thread *t, int64_t until)
{
    return until < RV_FOREVER - t->worker->command_ms ? until + t->worker->command_ms : RV_FOREVER;
}

/* Takes the reply of the wait: [list, element], or nil at its timeout; then a turn looks for tasks. */
static void end_wait(rv_thread *t, const rv_reply *reply)
{
    if (rv_reply_is(reply, RV_ARRAY))
        rv_turn_take_handed(t, rv_reply_at(reply, 1));
    else
        rv_thread_state_enter(t, RV_THREAD_AGAIN);
}

static void note_rest(rv_thread *t, bool rests)
{
    unsigned since = rests ? atomic_load_explicit(&t->worker->heart.heartbeats, memory_order_relaxed) : 0;
    atomic_store_explicit(&t->rests_since, since, memory_order_relaxed);
    rv_pool_demand_note_rest(t, rests);
}

/* ---- of several hash slots ------------------------------------------------------------------------------------- */

/* The next round of turns asks the slots that the thread was woken for; all, where its time is up. */
static void wait_for_slots(rv_thread *t, int64_t until)
{
    bool woken[RV_POOL_SLOTS_MAX];
    rv_pool_slots_build_waits(t->pool, t->conn);
    note_rest(t, true);
    reeve_status status = rv_conn_wait_any(t->conn, until, woken);
    note_rest(t, false);
    if (status != REEVE_OK) {
        end_failed(t, status, NULL);
        return;
    }
    rv_recovery_note_use(t);
    rv_round_note_woken(t, woken);
    t->fresh = 0;
    rv_thread_state_enter(t, RV_THREAD_TURN);
}

/* ---- either ---------------------------------------------------------------------------------------------------- */

void rv_thread_wait(rv_thread *t, unsigned want)
{
    const rv_reply *reply;
    int64_t until = rv_batch_handler_until(t);
    rv_task_begin(&t->task); /* frees the memory of a large result */
    rv_arena_trim(&t->arena, 4096);
    rv_arena_trim(&t->shared.arena, 0);
    rv_descriptors_check_before_call(t, false);
    if (t->pool->slots != NULL) {
        wait_for_slots(t, until);
        return;
    }
    build_wait(t, until);
    bool idle = t->state == RV_THREAD_IDLE;
    if (!idle) rv_turn_call_build_lease(t, want);
    note_rest(t, true);
    reeve_status status = rv_conn_call_blocking(t->conn, latest(t, until), &reply);
    note_rest(t, false);
    if (status == REEVE_OK) rv_recovery_note_use(t);
    if (status != REEVE_OK) {
        end_failed(t, status, reply);
    } else if (idle) {
        end_wait(t, reply);
    } else {
        rv_turn_take_lease(t, reply, want);
    }
}

void rv_thread_wait_pass_on(rv_thread *t)
{
    rv_conn_close(t->conn);
    rv_wakeup_all_queues(t->worker);
}

void rv_thread_wait_for_end(rv_thread *t)
{
    rv_thread_wait_pass_on(t);
    rv_waker_silence(&t->waker);
    if (rv_thread_phase(t) == RV_PHASE_QUIET) rv_waker_wait(&t->waker, RV_FOREVER);
}
