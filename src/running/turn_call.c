/*
 * turn_call.c - the call of a turn: which outcomes it settles, which queues it leases from, and how it is sent.
 */
#include "running/turn_call.h"

#include "protocol/scripts.h"
#include "protocol/turn_build.h"
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

/* From now on the heartbeats renew the session, although it may not have begun: the reply of the turn may be lost or
 * late. */
static void note_asked(rv_thread *t)
{
    if (!t->asks) atomic_fetch_add(&t->worker->asking, 1);
    t->asks = true;
}

void rv_turn_call_answered(rv_thread *t)
{
    rv_flight_note_turn(t->batch.flight);
    if (t->asks) atomic_fetch_sub(&t->worker->asking, 1);
    t->asks = false;
}

/* Lists the queues to lease from. begin: the turn may begin sessions. */
static void list_queues(rv_thread *t, bool begin)
{
    rv_round_choose(t, begin);
    for (size_t nth = 0; nth < t->place_count; nth++) {
        size_t queue = rv_round_queue(t, nth);
        rv_queue_session *queue_session = t->pool->queue_sessions[queue];
        bool begun = rv_queue_session_get(queue_session, t->sessions[queue]);
        if (!begun && !begin) t->sessions[queue][0] = '\0';
        if (!begun && begin) note_asked(t);
        t->queues[nth] = (rv_turn_queue){.prefix = &queue_session->prefix,
                                         .session = t->sessions[queue],
                                         .join = begun || !begin ? "" : t->worker->about};
    }
}

/* A thread of several queues is not registered: it could be handed a task in each of them. */
static rv_hand hand_of(const rv_thread *t)
{
    if (t->pool->slots != NULL) return rv_round_is_woken(t) ? RV_HAND_WOKEN : RV_HAND_NO;
    if (t->woken && !rv_thread_state_is_registered(t)) return RV_HAND_WOKEN;
    if (t->pool->queue_session_count > 1 || (t->passes && !rv_thread_state_is_registered(t))) return RV_HAND_NO;
    return rv_thread_state_is_registered(t) ? RV_HAND_AGAIN : RV_HAND_IDLE;
}

/* Redis executes this lease when a wait ends. This worker may be frozen or cut off then, and only an existing
 * session shows that it is not. So this lease begins no session; the next turn does. */
void rv_turn_call_build_lease(rv_thread *t, unsigned want)
{
    list_queues(t, false);
    rv_turn turn = {.thread = t->number_text,
                    .want = want,
                    .session_ms = t->worker->session_ms,
                    .hand = RV_HAND_WOKEN,
                    .queues = t->queues,
                    .queue_count = t->place_count};
    rv_turn_build(t->conn, &turn);
}

/* The lease of one task that is named, by a turn that settles nothing. */
static void build_named(rv_thread *t)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[t->named_queue];
    bool begun = rv_queue_session_get(queue_session, t->sessions[t->named_queue]);
    if (!begun) note_asked(t);
    t->place_count = 1;
    rv_cmd_script(t->conn, &rv_script_lease_task, 1, 5);
    rv_arg(t->conn, queue_session->prefix.text, queue_session->prefix.length);
    rv_args(t->conn, t->named);
    rv_args(t->conn, t->sessions[t->named_queue]);
    rv_args(t->conn, begun ? "" : t->worker->about);
    rv_args(t->conn, t->number_text);
    rv_argi(t->conn, t->worker->session_ms);
}

/* The queue at a place of the turn. */
size_t rv_turn_call_queue_at(const rv_thread *t, size_t place)
{
    return t->named != NULL ? t->named_queue : rv_round_queue(t, place);
}

/* company: receives those whose turns go with it; NULL: it is not shared. */
reeve_status rv_turn_call_send(rv_thread *t, unsigned want, size_t *ret_groups, rv_company *company,
                               const rv_reply **ret)
{
    rv_turn turn = {.thread = t->number_text,
                    .want = want,
                    .session_ms = t->worker->session_ms,
                    .groups = t->groups,
                    .group_count = rv_turn_call_group(t)};
    *ret_groups = turn.group_count;
    if (t->named != NULL && want > 0 && turn.group_count == 0) {
        build_named(t);
        return rv_conn_call(t->conn, 0, ret);
    }
    if (t->named == NULL && (want > 0 || t->state == RV_THREAD_LEAVE)) {
        list_queues(t, true);
        turn.queues = t->queues;
        turn.queue_count = t->place_count;
        turn.hand = hand_of(t);
    }
    if (company != NULL) rv_company_take(t, want, company);
    if (company != NULL) rv_company_join(company, &turn);
    rv_turn_build(t->conn, &turn);
    rv_descriptors_check_before_call(t, company != NULL && company->first != NULL);
    return rv_company_call(t, company, ret);
}
