/*
 * turn.c - a thread's turn: it settles the finished tasks and leases the next ones in one call, and repeats this
 * after a loss of the connection or an error of Redis (recovery.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "protocol/scripts.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "running/batch_handler.h"
#include "running/company.h"
#include "running/descriptors.h"
#include "running/flight.h"
#include "running/outcome_counts.h"
#include "running/pool_demand.h"
#include "running/recovery.h"
#include "running/redis_report.h"
#include "running/round.h"
#include "running/share.h"
#include "running/task_metrics.h"
#include "running/thread_state.h"
#include "running/turn.h"
#include "running/wakeup.h"

/* ---- the call -------------------------------------------------------------------------------------------------- */

/* The first queue, from `from` on, of which the batch has a task. With few queues each is taken: the search would
 * cost more than it saves. */
static size_t next_queue(const rv_thread *t, size_t from)
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
static size_t group_outcomes(rv_thread *t)
{
    size_t groups = 0, outcomes = 0;
    for (size_t queue = next_queue(t, 0); queue < t->pool->queue_session_count; queue = next_queue(t, queue + 1)) {
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

static void note_answered(rv_thread *t)
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
void rv_turn_build_lease(rv_thread *t, unsigned want)
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
static size_t queue_at(const rv_thread *t, size_t place)
{
    return t->named != NULL ? t->named_queue : rv_round_queue(t, place);
}

/* company: receives those whose turns go with it; NULL: it is not shared. */
static reeve_status call_turn(rv_thread *t, unsigned want, size_t *ret_groups, rv_company *company,
                              const rv_reply **ret)
{
    rv_turn turn = {.thread = t->number_text,
                    .want = want,
                    .session_ms = t->worker->session_ms,
                    .groups = t->groups,
                    .group_count = group_outcomes(t)};
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

/* ---- the reply ------------------------------------------------------------------------------------------------- */

static void note_refused(rv_thread *t, const rv_reply *refused, size_t groups)
{
    for (size_t i = 0; i < refused->count; i++) {
        size_t group;
        const char *id = rv_turn_reply_refused(refused->items[i], groups, &group);
        for (size_t j = 0; id != NULL && j < t->batch.count; j++) {
            rv_item *item = &t->batch.items[j];
            if (item->state != RV_ITEM_FINISHED || item->accepted) continue;
            if (t->groups[group].prefix != &t->pool->queue_sessions[item->lease.queue]->prefix) continue;
            if (strcmp(item->settlement.id, id) == 0) item->refused = true;
        }
    }
}

/* Why the task that was named is not leased. */
static void note_named(rv_thread *t, const rv_reply *refused)
{
    const rv_reply *word = rv_reply_at(refused, 0);
    if (rv_reply_is(word, RV_TEXT)) rv_copy_text(t->named_refusal, sizeof(t->named_refusal), word->text);
}

static void log_refused(const rv_thread *t, const rv_item *item)
{
    if (item->settlement.outcome == REEVE_OUTCOME_SNOOZE) return;
    rv_log(REEVE_LOG_WARN, "task.refused", "Redis refused an outcome: the lease had expired, the task runs elsewhere",
           "queue", t->pool->queue_sessions[item->lease.queue]->queue, "task", item->settlement.id, NULL);
}

static rv_attempt attempt_of(const rv_item *item)
{
    return (rv_attempt){.type = item->lease.envelope.type,
                        .type_length = item->lease.envelope.type_length,
                        .wait_ms = rv_batch_item_wait(item),
                        .run_us = item->run_us};
}

static void tally_queue(rv_thread *t, size_t queue, int64_t now_ms)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[queue];
    rv_tally *tally = rv_queue_session_open_tally(queue_session, now_ms);
    for (size_t i = 0; tally != NULL && i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED || item->refused) continue;
        rv_attempt attempt = attempt_of(item);
        rv_tally_add(tally, &item->settlement, &attempt);
    }
    rv_queue_session_close_tally(queue_session);
}

/* For the metrics of the worker. */
static void measure_queue(rv_thread *t, size_t queue)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[queue];
    rv_lock(&queue_session->lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED) continue;
        rv_attempt attempt = attempt_of(item);
        rv_task_metrics_add(queue_session->metrics, &item->settlement, &attempt, item->refused);
    }
    rv_unlock(&queue_session->lock);
}

/* Counts the outcomes of one queue, and logs those that Redis refused. */
static void count_queue(rv_thread *t, size_t queue, int64_t now_ms)
{
    rv_outcome_counts counts = {0};
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED) continue;
        if (item->refused) log_refused(t, item);
        rv_outcome_counts_add(&counts, &item->settlement, item->refused);
    }
    rv_outcome_counts_publish(&counts, &t->worker->stats);
    if (rv_outcome_counts_have_tally(&counts)) tally_queue(t, queue, now_ms);
    if (t->pool->queue_sessions[queue]->metrics != NULL) measure_queue(t, queue);
}

static void count_outcomes(rv_thread *t, int64_t now_ms)
{
    for (size_t queue = next_queue(t, 0); queue < t->pool->queue_session_count; queue = next_queue(t, queue + 1))
        count_queue(t, queue, now_ms);
}

/* Notes the sessions that are gone. The tasks that could not be leased are still ready; the caller takes another
 * turn. */
static void note_gone(rv_thread *t, const rv_reply *gone)
{
    for (size_t i = 0; i < gone->count; i++) {
        int64_t index = rv_reply_int(gone->items[i], 0);
        if (index < 1 || (size_t)index > t->place_count) continue;
        size_t queue = queue_at(t, (size_t)index - 1);
        rv_queue_session *queue_session = t->pool->queue_sessions[queue];
        if (!rv_queue_session_lose(queue_session, t->sessions[queue])) continue;
        rv_redis_report_session_lost(t->worker);
        rv_log(REEVE_LOG_WARN, "session.lost", "the session was gone from Redis: the worker begins a new one", "queue",
               queue_session->queue, NULL);
        rv_wakeup_session_lost(t->worker, queue_session, t->sessions[queue]);
    }
}

/* Replaces the places in the turn, by which the reply names queues, by indexes of the pool's queues. */
static void note_places(rv_thread *t, size_t count)
{
    if (t->pool->queue_session_count == 1) return;
    for (size_t i = 0; t->named != NULL && i < count; i++) t->leases[i].queue = t->named_queue;
    if (t->named != NULL) return;
    for (size_t first = 0, next = 0; first < count; first = next) {
        size_t place = rv_round_place(t, t->leases[first].queue);
        for (; next < count && rv_round_place(t, t->leases[next].queue) == place; next++)
            t->leases[next].queue = rv_queue_order_queue(&t->order, place);
        rv_queue_order_charge(&t->order, place, next - first);
    }
}

/* Notes the sessions that the turn began, and the policies of their queues. Later changes reach the scheduler. */
static void note_begun(rv_thread *t, const rv_turn_reply *reply)
{
    const rv_reply *text;
    size_t place;
    for (size_t next = 0; (text = rv_turn_reply_policy(reply, &next, &place)) != NULL;) {
        if (place >= t->place_count) continue;
        size_t queue = queue_at(t, place);
        rv_queue_session *queue_session = t->pool->queue_sessions[queue];
        rv_queue_session_begin(queue_session, t->sessions[queue]);
        rv_queue_session_set_policy(queue_session, text->text, text->length);
        atomic_store_explicit(&queue_session->result_max, rv_turn_reply_result_max(reply, next), memory_order_relaxed);
        atomic_store_explicit(&queue_session->payload_max, rv_turn_reply_payload_max(reply, next),
                              memory_order_relaxed);
    }
}

static const rv_handler *find_batch_handler(const rv_thread *t, const rv_envelope *envelope)
{
    if (!t->gathers) return NULL;
    const rv_handler *handler = rv_handler_table_find(&t->worker->handlers, envelope->type, envelope->type_length);
    return handler != NULL && handler->handler.run_batch != NULL ? handler : NULL;
}

/* Appends t->leases to the batch; items that were kept stay in front. */
static void fill_batch(rv_thread *t, size_t count, unsigned want)
{
    size_t kept = t->batch.count;
    int64_t now = t->gathers || t->batch.pulled ? rv_now_ms() : 0;
    t->fresh = count;
    t->full = count >= want;
    if (count == 0) return;
    rv_pool_demand_note_leases(t, t->leases, count);
    rv_recovery_note_use(t);
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < count; i++) {
        const rv_lease *lease = &t->leases[i];
        t->batch.items[kept + i] = (rv_item){.lease = *lease,
                                             .state = RV_ITEM_WAITING,
                                             .leased_ms = now,
                                             .missed = t->missed,
                                             .batch_handler = find_batch_handler(t, &lease->envelope)};
    }
    for (size_t i = 0; i < count; i++) {
        size_t queue = t->leases[i].queue;
        if (i == 0 || queue != t->leases[i - 1].queue)
            memcpy(t->batch.sessions[queue], t->sessions[queue], sizeof(t->sessions[queue]));
    }
    t->batch.count = kept + count;
    rv_flight_lease(t, kept, count);
    rv_unlock(&t->batch.lock);
    for (size_t i = 0; i < count; i++) {
        size_t queue = t->leases[i].queue;
        if (i == 0 || queue != t->leases[i - 1].queue)
            rv_queue_session_begin(t->pool->queue_sessions[queue], t->sessions[queue]);
    }
    atomic_fetch_add_explicit(&t->worker->stats.leased, count, memory_order_relaxed);
}

static void note_malformed(const rv_thread *t)
{
    rv_log(REEVE_LOG_ERROR, "task.malformed", "a leased task is malformed: another program wrote into the queue",
           "worker", t->worker->id, "thread", t->name, NULL);
}

static void take_leases(rv_thread *t, const rv_turn_reply *reply, unsigned want)
{
    size_t bad, room = t->batch.capacity - t->batch.count;
    size_t count = rv_turn_reply_leases(reply, t->place_count, t->leases, want < room ? want : room, &bad);
    if (bad > 0) note_malformed(t);
    note_places(t, count);
    fill_batch(t, count, want);
}

void rv_turn_take_handed(rv_thread *t, const rv_reply *text)
{
    rv_thread_state_enter(t, RV_THREAD_TURN);
    if (rv_reply_is(text, RV_TEXT) && text->length == 0) return;
    if (!rv_lease_read_handed(&t->leases[0], t->handed, text)) {
        note_malformed(t);
        return;
    }
    rv_batch_settle(&t->batch);
    fill_batch(t, 1, 1);
    rv_conn_take_reply(t->conn, &t->arena);
}

/* A recovery that was not complete is repeated first. */
static void enter_next_state(rv_thread *t, bool idle, bool empty)
{
    if (t->state == RV_THREAD_RECOVER) return;
    rv_thread_state_enter(t, idle ? RV_THREAD_IDLE : empty ? RV_THREAD_WAIT : RV_THREAD_TURN);
}

/* Returns false when there is to be another turn at once. */
static bool finish_turn(rv_thread *t, const rv_turn_reply *reply, unsigned want, size_t groups)
{
    note_answered(t);
    note_refused(t, reply->refused, groups);
    if (t->named != NULL && groups == 0) note_named(t, reply->refused);
    count_outcomes(t, reply->now_ms);
    rv_batch_settle(&t->batch);
    t->fresh = 0;
    if (t->state == RV_THREAD_LEAVE)
        rv_thread_state_enter(t, rv_turn_reply_is_idle(reply) ? RV_THREAD_IDLE : RV_THREAD_TURN);
    if (want == 0) return true;
    note_gone(t, reply->gone);
    bool again = reply->gone->count > 0;
    rv_batch_handler_drop_lost(t);
    note_begun(t, reply);
    bool idle = rv_turn_reply_is_idle(reply);
    /* A turn whose reply was lost may have begun the session; from now on its end is noticed. */
    if (idle) rv_queue_session_begin(t->pool->queue_sessions[0], t->sessions[0]);
    take_leases(t, reply, want);
    bool goes_on = rv_round_goes_on(t, again);
    if (!goes_on) rv_queue_order_settle(&t->order); /* this changes the places: the reply is not read after it */
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
    count_outcomes(t, t->shared.now_ms);
    rv_batch_settle(&t->batch);
    t->arena = t->shared.arena;
    t->shared.arena = mine;
    bool idle = t->shared.idle && leased == 0;
    if (idle) rv_queue_session_begin(t->pool->queue_sessions[0], t->sessions[0]);
    note_places(t, leased);
    fill_batch(t, leased, want);
    rv_queue_order_settle(&t->order);
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

/* ---- several hash slots ---------------------------------------------------------------------------------------- */

static bool is_unsettled(const rv_item *item)
{
    return item->state == RV_ITEM_FINISHED && !item->accepted && !item->refused;
}

static void note_accepted(rv_thread *t)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (is_unsettled(item) && rv_round_settles(t, item->lease.queue)) item->accepted = true;
    }
    rv_unlock(&t->batch.lock);
}

/* Settles the outcomes of one slot, and leases nothing. */
static reeve_status settle_slot(rv_thread *t, unsigned slot)
{
    const rv_reply *reply;
    rv_turn_reply read;
    t->round.slot = slot;
    rv_turn turn = {.thread = t->number_text,
                    .session_ms = t->worker->session_ms,
                    .groups = t->groups,
                    .group_count = group_outcomes(t)};
    rv_turn_build(t->conn, &turn);
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    if (status != REEVE_OK) return status;
    if (!rv_turn_reply_read(&read, reply)) return REEVE_EPROTO;
    note_refused(t, read.refused, turn.group_count);
    note_accepted(t);
    return REEVE_OK;
}

/* Settles the outcomes of all slots but that of the turn, which is to lease `want` tasks: of none, one of those slots. */
static reeve_status settle_elsewhere(rv_thread *t, unsigned want)
{
    reeve_status status = REEVE_OK;
    bool known = want > 0;
    if (known) rv_round_choose(t, true);
    unsigned own = known ? t->round.slot : 0;
    for (size_t i = 0; status == REEVE_OK && i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (!is_unsettled(item)) continue;
        unsigned slot = t->pool->slots[item->lease.queue];
        if (!known) own = slot;
        known = true;
        if (slot != own) status = settle_slot(t, slot);
    }
    t->round.slot = own;
    return status;
}

/* Other threads are woken for the queues that this one was woken for, and did not come to. */
static void pass_on(rv_thread *t)
{
    const rv_reply *reply;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && rv_round_next_left(t)) {
        for (size_t nth = 0; nth < t->place_count; nth++) {
            size_t queue = rv_round_queue(t, nth);
            t->queues[nth] = (rv_turn_queue){
                .prefix = &t->pool->queue_sessions[queue]->prefix, .session = t->sessions[queue], .join = ""};
        }
        rv_turn turn = {.thread = t->number_text,
                        .session_ms = t->worker->session_ms,
                        .hand = RV_HAND_WOKEN,
                        .queues = t->queues,
                        .queue_count = t->place_count};
        rv_turn_build(t->conn, &turn);
        status = rv_conn_call(t->conn, 0, &reply);
    }
    if (!rv_round_end(t) || status != REEVE_OK) rv_wakeup_all_queues(t->worker);
}

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
    if (t->pool->slots != NULL) status = settle_elsewhere(t, ret->ask);
    if (status != REEVE_OK) return status;
    status = call_turn(t, ret->ask, &ret->groups, calls && ret->ask > 0 ? &ret->company : NULL, &reply);
    if (status != REEVE_OK) return status;
    return rv_turn_reply_read(&ret->reply, reply) ? REEVE_OK : REEVE_EPROTO;
}

/* Hands to the others their parts. Returns false when there is to be another call at once. */
static bool finish_shared(rv_thread *t, one_call *call)
{
    note_answered(t);
    note_gone(t, call->reply.gone);
    note_begun(t, &call->reply);
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
    return finish_turn(t, &call->reply, call->ask, call->groups) && (call->ask == want || t->fresh > 0);
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
    if (t->pool->slots != NULL) pass_on(t);
    return goes_on;
}

bool rv_turn_leave_idle(rv_thread *t)
{
    bool calls = false;
    rv_thread_state_enter(t, RV_THREAD_LEAVE);
    return run_turn(t, 0, &calls);
}
