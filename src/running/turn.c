/*
 * turn.c - a thread's turn: it settles the finished tasks and leases the next ones in one call, and repeats this
 * after a loss of the connection or an error of Redis (recovery.c).
 */
#include "running/turn.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/text.h"
#include "protocol/turn_reply.h"
#include "running/batch_handler.h"
#include "running/company.h"
#include "running/recovery.h"
#include "running/redis_report.h"
#include "running/round.h"
#include "running/share.h"
#include "running/thread_state.h"
#include "running/turn_call.h"
#include "running/turn_leases.h"
#include "running/turn_outcomes.h"
#include "running/turn_slots.h"
#include "running/wakeup.h"

/* ---- the reply ------------------------------------------------------------------------------------------------- */

void rv_turn_take_handed(rv_thread *t, const rv_reply *text)
{
    rv_thread_state_enter(t, RV_THREAD_TURN);
    if (rv_reply_is(text, RV_TEXT) && text->length == 0) return;
    if (!rv_lease_read_handed(&t->leases[0], t->handed, text)) {
        rv_turn_leases_note_malformed(t);
        return;
    }
    rv_batch_settle(&t->batch);
    rv_turn_leases_fill(t, 1, 1);
    rv_conn_take_reply(t->conn, &t->arena);
}

/* Why the task that was named is not leased. */
static void note_named(rv_thread *t, const rv_reply *refused)
{
    const rv_reply *word = rv_reply_at(refused, 0);
    if (rv_reply_is(word, RV_TEXT)) rv_copy_text(t->named_refusal, sizeof(t->named_refusal), word->text);
}

/* A recovery that was not complete is repeated first. */
static void enter_next_state(rv_thread *t, bool idle, bool empty)
{
    if (t->state == RV_THREAD_RECOVER) return;
    rv_thread_state_enter(t, idle ? RV_THREAD_IDLE : empty ? RV_THREAD_WAIT : RV_THREAD_TURN);
}

/* The next turn settles the batch and leases from the same partition in one call, if the thread stays with it. That is
 * of use where partitions have several hash slots, and this one has more tasks. */
static bool is_to_stay(const rv_thread *t)
{
    return t->pool->slots != NULL && t->pool->families != NULL && t->full;
}

/* again: the turn leased nothing, or not all that there is, and the same queues are asked once more. */
static void settle_order(rv_thread *t, bool again)
{
    if (!again || t->fresh > 0) rv_queue_order_settle(&t->order, is_to_stay(t) ? rv_now_ms() : 0);
}

/* Returns false when there is to be another turn at once. */
static bool finish_turn(rv_thread *t, const rv_turn_reply *reply, unsigned want, size_t groups)
{
    rv_turn_call_answered(t);
    rv_turn_outcomes_note_refused(t, reply->refused, groups);
    if (t->named != NULL && groups == 0) note_named(t, reply->refused);
    rv_turn_outcomes_count(t, reply->now_ms);
    rv_batch_settle(&t->batch);
    t->fresh = 0;
    if (t->state == RV_THREAD_LEAVE)
        rv_thread_state_enter(t, rv_turn_reply_is_idle(reply) ? RV_THREAD_IDLE : RV_THREAD_TURN);
    if (want == 0) return true;
    rv_turn_leases_note_gone(t, reply->gone);
    bool again = reply->gone->count > 0;
    rv_batch_handler_drop_lost(t);
    bool idle = rv_turn_reply_is_idle(reply);
    /* A turn whose reply was lost may have begun the session; from now on its end is noticed. */
    if (idle) rv_queue_session_begin(t->pool->queue_sessions[0], t->sessions[0]);
    rv_turn_leases_take(t, reply, want);
    bool goes_on = rv_round_goes_on(t, again);
    settle_order(t, goes_on || again); /* this changes the places: the reply is not read after it */
    rv_conn_take_reply(t->conn, &t->arena);
    enter_next_state(t, idle, t->fresh == 0 && !again);
    return (!again || t->fresh > 0) && !goes_on;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* Redis answered with an error. Some pass: it loads its data, its disk is full. The thread waits and tries again
 * after any error, because outcomes would be lost otherwise. */
static void wait_out(rv_thread *t, unsigned tries)
{
    rv_redis_report_refusal(t->worker, "Redis refused a turn: the worker tries again", rv_conn_error(t->conn)->text);
    rv_waker_silence(&t->waker);
    if (!rv_recovery_gives_up(t)) rv_waker_wait(&t->waker, rv_deadline(rv_backoff_reconnect(tries, rv_random_unit())));
}

void rv_turn_take_lease(rv_thread *t, const rv_reply *reply, unsigned want)
{
    rv_turn_reply turn;
    if (rv_turn_reply_read(&turn, reply))
        (void)finish_turn(t, &turn, want, 0);
    else
        rv_thread_state_enter(t, RV_THREAD_RECOVER);
}

/* The room for the tasks that a lost turn may have leased, beside those that it was to settle. */
static unsigned room_for(const rv_thread *t, unsigned want)
{
    size_t room = t->batch.capacity - t->batch.count;
    return want < room ? want : (unsigned)room;
}

/* The turn was taken together with those of others: t->shared has the thread's part. Returns false when there is to be
 * another turn at once. */
static bool take_served(rv_thread *t, unsigned want)
{
    rv_arena mine = t->arena;
    size_t leased = t->shared.leased;
    rv_turn_outcomes_count(t, t->shared.now_ms);
    rv_batch_settle(&t->batch);
    t->arena = t->shared.arena;
    t->shared.arena = mine;
    bool idle = t->shared.idle && leased == 0;
    if (idle) rv_queue_session_begin(t->pool->queue_sessions[0], t->sessions[0]);
    rv_turn_leases_note_places(t, leased);
    rv_turn_leases_fill(t, leased, want);
    settle_order(t, t->shared.again);
    enter_next_state(t, idle, leased == 0 && !t->shared.again);
    return leased > 0 || !t->shared.again;
}

/* One call of a turn, and its reply. */
typedef struct one_call {
    unsigned ask;
    size_t groups;
    rv_company company;
    unsigned losses; /* before it */
    rv_turn_reply reply;
} one_call;

/* ---- the turn -------------------------------------------------------------------------------------------------- */

/* Recovers first if that is due. */
static reeve_status make_call(rv_thread *t, unsigned want, bool calls, one_call *ret)
{
    const rv_reply *reply;
    bool recovers = t->state == RV_THREAD_RECOVER;
    ret->company.first = NULL;
    if (recovers) rv_share_note_loss(t);
    ret->losses = rv_share_losses(t);
    reeve_status status = recovers ? rv_recovery_recall(t) : REEVE_OK;
    if (status != REEVE_OK) return status;
    ret->ask = room_for(t, want);
    if (t->pool->slots != NULL) status = rv_turn_slots_settle_others(t, ret->ask);
    if (status != REEVE_OK) return status;
    status = rv_turn_call_send(t, ret->ask, &ret->groups, calls && ret->ask > 0 ? &ret->company : NULL, &reply);
    if (status != REEVE_OK) return status;
    return rv_turn_reply_read(&ret->reply, reply) ? REEVE_OK : REEVE_EPROTO;
}

/* Hands to the others their parts. Returns false when there is to be another call at once. */
static bool finish_shared(rv_thread *t, one_call *call)
{
    rv_turn_call_answered(t);
    rv_turn_leases_note_gone(t, call->reply.gone);
    rv_company_serve(t, &call->company, &call->reply);
    if (t->shared.role == RV_SHARE_SERVED) return take_served(t, call->ask);
    rv_thread_state_enter(t, RV_THREAD_RECOVER);
    return false;
}

/* Returns false when there is to be another call at once. */
static bool finish_call(rv_thread *t, unsigned want, bool *calls, one_call *call)
{
    bool shared = call->company.first != NULL, ends = *calls;
    *calls = false;
    t->shared.losses = call->losses;
    if (shared) return finish_shared(t, call);
    if (ends) rv_share_end(t);
    bool is_all = call->ask == want || call->groups == 0; /* what was settled has made room */
    return finish_turn(t, &call->reply, call->ask, call->groups) && (is_all || t->fresh > 0);
}

/* It is not known what the call did. */
static void lose_call(rv_thread *t, bool *calls, one_call *call)
{
    if (*calls) rv_company_lose(t, &call->company);
    *calls = false;
    if (!rv_round_end(t)) rv_wakeup_all_queues(t->worker);
    /* The reply may also have been unreadable, or memory short; and a script that failed may have executed in
     * part. */
    rv_thread_state_enter(t, RV_THREAD_RECOVER);
}

/* calls: others may go with the first call of the turn, and wait for it. */
static bool run_turn(rv_thread *t, unsigned want, bool *calls)
{
    for (unsigned tries = 1;; tries++) {
        rv_thread_state_begin_turn(t);
        if (rv_thread_phase(t) >= RV_PHASE_QUIET) want = 0;
        bool calls_redis = want > 0 || t->state == RV_THREAD_RECOVER || t->state == RV_THREAD_LEAVE;
        if (!calls_redis && rv_batch_count(&t->batch, RV_ITEM_FINISHED) == 0) {
            rv_batch_settle(&t->batch);
            t->fresh = 0;
            return true;
        }
        if (!rv_recovery_connect(t)) return false;
        /* A new connection, even one that a handler opened: Redis may have restarted without its last writes. */
        unsigned epoch = rv_conn_epoch(t->conn);
        if (t->epoch > 0 && t->epoch != epoch) rv_thread_state_enter(t, RV_THREAD_RECOVER);
        t->epoch = epoch;
        one_call call;
        reeve_status status = make_call(t, want, *calls, &call);
        if (status == REEVE_OK) {
            if (finish_call(t, want, calls, &call)) return true;
            continue;
        }
        lose_call(t, calls, &call);
        if (rv_recovery_gives_up(t)) return false;
        if (status == REEVE_ELOST)
            rv_recovery_note_loss(t);
        else if (status != REEVE_ETIMEOUT && status != REEVE_ECONNECT)
            wait_out(t, tries);
    }
}

bool rv_turn_run(rv_thread *t, unsigned want)
{
    t->missed = atomic_load_explicit(&t->worker->scheduler.missed, memory_order_acquire);
    rv_share_role role = rv_share_begin(t, want);
    bool calls = role == RV_SHARE_CALLS;
    if (role == RV_SHARE_SERVED && take_served(t, want)) return true;
    if (role == RV_SHARE_LOST) rv_thread_state_enter(t, RV_THREAD_RECOVER);
    bool goes_on = run_turn(t, want, &calls);
    if (calls)
        rv_share_end(t);
    else if (role == RV_SHARE_ALONE)
        rv_share_note_alone(t);
    if (t->pool->slots != NULL) rv_turn_slots_pass_on(t);
    return goes_on;
}

bool rv_turn_leave_idle(rv_thread *t)
{
    bool calls = false;
    rv_thread_state_enter(t, RV_THREAD_LEAVE);
    return run_turn(t, 0, &calls);
}
