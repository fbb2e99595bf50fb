/*
 * turn_call.c - the call of a turn: which outcomes it settles, which queues it leases from, and how it is sent.
 */
#include "running/turn_call.h"

#include "protocol/scripts.h"
#include "protocol/turn_build.h"
#include "running/begin_session.h"
#include "running/company.h"
#include "running/descriptors.h"
#include "running/flight.h"
#include "running/round.h"
#include "running/thread_state.h"

/* The first queue, from `from` on, of which the batch has a task. With few queues each is taken: the search would
 * cost more than it saves. */
size_t rv_turn_call_next_queue(const rv_thread *t, size_t from)
{
    size_t next = t->pool->queue_session_count;
    if (t->batch.count == 0 || from >= next) return next;
    if (next <= RV_ORDER_AT_ONCE) return from;
    for (size_t i = 0; i < t->batch.count; i++) {
        size_t queue = t->batch.items[i].lease.queue;
        if (queue >= from && queue < next) next = queue;
    }
    return next;
}

/* Groups the outcomes that the turn settles by queue, the last item first: each task that goes back goes to the very front of its queue. */
size_t rv_turn_call_group(rv_thread *t)
{
    size_t groups = 0, outcomes = 0;
    for (size_t queue = rv_turn_call_next_queue(t, 0); queue < t->pool->queue_session_count;
         queue = rv_turn_call_next_queue(t, queue + 1)) {
        size_t first = outcomes;
        if (!rv_round_settles(t, queue)) continue;
        for (size_t i = t->batch.count; i-- > 0;) {
            const rv_item *item = &t->batch.items[i];
            if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED || item->accepted || item->refused)
                continue;
            t->outcomes[outcomes++] = &item->settlement;
        }
        if (outcomes == first) continue;
        t->groups[groups++] = (rv_turn_group){.prefix = &t->pool->queue_sessions[queue]->prefix,
                                              .session = t->batch.sessions[queue],
                                              .items = &t->outcomes[first],
                                              .count = outcomes - first};
    }
    return groups;
}

void rv_turn_call_answered(rv_thread *t)
{
    rv_flight_note_turn(t->batch.flight);
    rv_begin_session_answered(t);
}

/* Copies the queue's session, or "" where it has not begun: a turn that another thread's call overtakes must not take that for
 * the end of a session. Returns whether it has begun. */
static bool take_session(rv_thread *t, size_t queue)
{
    bool begun = rv_queue_session_get(t->pool->queue_sessions[queue], t->sessions[queue]);
    if (!begun) t->sessions[queue][0] = '\0';
    return begun;
}

/* Lists the queues to lease from. some: as in rv_round_choose. Returns whether the sessions of all have begun. */
static bool list_queues(rv_thread *t, bool some)
{
    bool begun = true;
    rv_round_choose(t, some);
    for (size_t nth = 0; nth < t->place_count; nth++) {
        size_t queue = rv_round_queue(t, nth);
        begun = take_session(t, queue) && begun;
        t->queues[nth] =
            (rv_turn_queue){.prefix = &t->pool->queue_sessions[queue]->prefix, .session = t->sessions[queue]};
    }
    return begun;
}

/* A thread of several queues is not registered: it could be handed a task in each of them. */
static rv_hand hand_of(const rv_thread *t)
{
    if (t->pool->slots != NULL) return rv_round_is_woken(t) ? RV_HAND_WOKEN : RV_HAND_NO;
    if (t->woken && !rv_thread_state_is_registered(t)) return RV_HAND_WOKEN;
    if (t->pool->queue_session_count > 1 || (t->passes && !rv_thread_state_is_registered(t))) return RV_HAND_NO;
    return rv_thread_state_is_registered(t) ? RV_HAND_AGAIN : RV_HAND_IDLE;
}

void rv_turn_call_build_lease(rv_thread *t, unsigned want)
{
    (void)list_queues(t, false);
    rv_turn turn = {.thread = t->number_text,
                    .want = want,
                    .hand = RV_HAND_WOKEN,
                    .queues = t->queues,
                    .queue_count = t->place_count};
    rv_turn_build(t->conn, &turn);
}

/* The lease of one task that is named, by a turn that settles nothing. */
static reeve_status call_named(rv_thread *t, const rv_reply **ret)
{
    rv_begins begins = {0};
    const rv_prefix *prefix = &t->pool->queue_sessions[t->named_queue]->prefix;
    t->place_count = 1;
    if (!take_session(t, t->named_queue)) rv_begin_session_build(&begins, t);
    rv_cmd_script(t->conn, &rv_script_lease_task, 1, 3);
    rv_arg(t->conn, prefix->text, prefix->length);
    rv_args(t->conn, t->named);
    rv_args(t->conn, t->sessions[t->named_queue]);
    rv_args(t->conn, t->number_text);
    return begins.count > 0 ? rv_begin_session_call(&begins, ret) : rv_conn_call(t->conn, 0, ret);
}

/* The queue at a place of the turn. */
size_t rv_turn_call_queue_at(const rv_thread *t, size_t place)
{
    return t->named != NULL ? t->named_queue : rv_round_queue(t, place);
}

/* Chooses the queues that the turn asks, and builds the calls with which their sessions begin. */
static void choose_queues(rv_thread *t, rv_turn *turn, rv_begins *begins)
{
    bool begun = list_queues(t, true);
    turn->queues = t->queues;
    turn->queue_count = t->place_count;
    turn->hand = hand_of(t);
    if (!begun && turn->want > 0) rv_begin_session_build(begins, t);
}

/* company: receives those whose turns go with it; NULL: it is not shared. */
reeve_status rv_turn_call_send(rv_thread *t, unsigned want, size_t *ret_groups, rv_company *company,
                               const rv_reply **ret)
{
    rv_turn turn = {.thread = t->number_text, .want = want, .groups = t->groups, .group_count = rv_turn_call_group(t)};
    rv_begins begins = {0};
    *ret_groups = turn.group_count;
    if (t->named != NULL && want > 0 && turn.group_count == 0) return call_named(t, ret);
    if (t->named == NULL && (want > 0 || t->state == RV_THREAD_LEAVE)) choose_queues(t, &turn, &begins);
    if (begins.count > 0) company = NULL;
    if (company != NULL) rv_company_take(t, want, company);
    if (company != NULL) rv_company_join(company, &turn);
    rv_turn_build(t->conn, &turn);
    rv_descriptors_check_before_call(t, company != NULL && company->first != NULL);
    return begins.count > 0 ? rv_begin_session_call(&begins, ret) : rv_company_call(t, company, ret);
}
