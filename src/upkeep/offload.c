/*
 * offload.c - no task waits behind a slow one. A thread leases several short tasks at once. When one of them takes
 * long, the keeper takes the others over: it settles those that have finished, so that clients that wait for them
 * are informed, and gives those that have not begun back to the front of their queue, where another thread finds
 * them. It settles a running task whose time is up as failed; the handler is asked to stop, and its later outcome is
 * ignored.
 */
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/regain_call.h"
#include "protocol/settlement.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "running/attempt_policy.h"
#include "running/failure_log.h"
#include "running/invocation.h"
#include "running/outcome_counts.h"
#include "running/redis_report.h"
#include "running/stuck.h"
#include "running/task_metrics.h"
#include "upkeep/offload.h"
#include "upkeep/stuck_event.h"

static bool add_offloaded(rv_keeper *keeper, const rv_offloaded *more)
{
    if (keeper->offloaded_count == keeper->offloaded_capacity) {
        size_t capacity = keeper->offloaded_capacity == 0 ? 16 : 2 * keeper->offloaded_capacity;
        rv_offloaded *offloaded = rv_realloc_array(keeper->offloaded, capacity, sizeof(*offloaded));
        if (offloaded == NULL) return false;
        keeper->offloaded = offloaded;
        keeper->offloaded_capacity = capacity;
    }
    keeper->offloaded[keeper->offloaded_count++] = *more;
    return true;
}

/* Takes an item over with an outcome. Without memory the item stays, and the keeper tries again later. */
static void offload(rv_thread *t, rv_item *item, const rv_settlement *outcome)
{
    rv_keeper *keeper = &t->worker->keeper;
    rv_offloaded offloaded = {.queue_session = t->pool->queue_sessions[item->lease.queue],
                              .thread = t->number_text,
                              .since_ms = item->lease.since_ms,
                              .attempt = {.type_length = item->lease.envelope.type_length,
                                          .wait_ms = rv_batch_item_wait(item),
                                          .run_us = item->run_us}};
    if (!rv_settlement_copy(&offloaded.settlement, &offloaded.kept, outcome)) return;
    if (offloaded.attempt.type_length > REEVE_TYPE_MAX) offloaded.attempt.type_length = 0;
    memcpy(offloaded.type, item->lease.envelope.type, offloaded.attempt.type_length);
    memcpy(offloaded.session, t->batch.sessions[item->lease.queue], sizeof(offloaded.session));
    rv_lock(&keeper->thread.lock);
    bool added = add_offloaded(keeper, &offloaded);
    rv_unlock(&keeper->thread.lock);
    if (added) {
        rv_batch_take_item(&t->batch, item);
    } else {
        rv_free(offloaded.kept);
    }
}

static rv_offloaded *find_offloaded(const rv_keeper *keeper, const rv_queue_session *queue_session,
                                    const rv_lease *lease)
{
    for (size_t i = 0; i < keeper->offloaded_count; i++) {
        rv_offloaded *offloaded = &keeper->offloaded[i];
        const rv_settlement *settlement = &offloaded->settlement;
        if (offloaded->queue_session == queue_session && offloaded->since_ms == lease->since_ms &&
            rv_lease_has_id(lease, settlement->id, rv_settlement_id_length(settlement)))
            return offloaded;
    }
    return NULL;
}

static void give_back(rv_thread *t, rv_queue_session *queue_session, const char *session, const rv_lease *lease,
                      bool lets_go)
{
    rv_keeper *keeper = &t->worker->keeper;
    const rv_settlement back = rv_settlement_give_back(lease);
    rv_offloaded offloaded = {.queue_session = queue_session,
                              .thread = t->number_text,
                              .since_ms = lease->since_ms,
                              .lets_go = lets_go,
                              .torn = lets_go,
                              .attempt = {.wait_ms = -1}};
    rv_copy_text(offloaded.session, sizeof(offloaded.session), session);
    rv_lock(&keeper->thread.lock);
    rv_offloaded *known = find_offloaded(keeper, queue_session, lease);
    if (known != NULL)
        known->torn = known->torn || lets_go;
    else if (rv_settlement_copy(&offloaded.settlement, &offloaded.kept, &back) && !add_offloaded(keeper, &offloaded))
        rv_free(offloaded.kept);
    rv_unlock(&keeper->thread.lock);
}

void rv_offload_give_back(rv_thread *t, rv_queue_session *queue_session, const char *session, const rv_lease *lease)
{
    give_back(t, queue_session, session, lease, false);
}

void rv_offload_let_go(rv_thread *t, rv_queue_session *queue_session, const char *session, const rv_lease *lease)
{
    give_back(t, queue_session, session, lease, true);
}

/* The last item first: each task that goes back goes to the very front of its queue. */
static void offload_others(rv_thread *t)
{
    for (size_t i = t->batch.count; i-- > 0;) {
        rv_item *item = &t->batch.items[i];
        rv_settlement back = rv_settlement_give_back(&item->lease);
        if (item->state == RV_ITEM_WAITING) offload(t, item, &back);
        if (item->state == RV_ITEM_FINISHED && !item->accepted) offload(t, item, &item->settlement);
    }
}

/* Its handler is asked to stop. Until the grace of its queue is over, it may still end by itself. */
static void warn(rv_thread *t, rv_item *item, int64_t now)
{
    item->warned = true;
    item->until_ms = now + item->grace_ms;
    if (now >= item->timeout_at_ms) item->timeout_at_ms = item->until_ms;
    atomic_store(rv_invocation_stop(t, item), true);
    if (t->batch.notice != NULL) rv_waker_ring(t->batch.notice);
}

/* The time of the running item is up, or it sent no heartbeat for too long. This is a failure, which may be its
 * last. */
static void time_out(rv_thread *t, rv_item *item, int64_t now)
{
    bool silent = now < item->timeout_at_ms;
    char message[96];
    rv_attempt_policy policy;
    const rv_envelope *envelope = &item->lease.envelope;
    const rv_handler *handler = rv_handler_table_find(&t->set->handlers, envelope->type, envelope->type_length);
    rv_attempt_policy_choose(&policy, item, handler, t->pool->queue_sessions[item->lease.queue]);
    (void)snprintf(message, sizeof(message), silent ? "silent for %lld ms" : "not done within %lld ms",
                   (long long)(silent ? item->heartbeat_ms : item->timeout_ms));
    rv_settlement outcome = {.id = item->lease.id,
                             .id_length = item->lease.id_length,
                             .outcome = REEVE_OUTCOME_RETRY,
                             .counts = true,
                             .unique = policy.unique,
                             .delay_ms = -1,
                             .kind = silent ? "silent" : "timeout",
                             .message = message};
    rv_attempt_policy_decide_retry(&policy, &item->lease, &outcome,
                                   rv_attempt_policy_now(&policy, &item->lease, t->worker));
    atomic_store(rv_invocation_stop(t, item), true);
    if (!t->batch.pulled) rv_stuck_expect(t, now);
    if (t->batch.notice != NULL) rv_waker_ring(t->batch.notice);
    if (item->accepted) { /* it was settled before it ran: its handler is only asked to stop */
        item->until_ms = RV_FOREVER;
        return;
    }
    item->run_us = (rv_now_ms() - (t->batch.pulled ? item->leased_ms : t->batch.running_since_ms)) * 1000;
    offload(t, item, &outcome);
    /* The only message that is logged under the lock: after it is released the thread may reuse the memory of the
     * lease. */
    rv_failure_log(t->pool->queue_sessions[item->lease.queue]->queue, &item->lease, &outcome);
}

/* Ends the tasks that are late; in a call of a batch handler each has a limit of its own. Items that could not be
 * taken over are late at the next look, too. */
static void end_late(rv_thread *t, int64_t now)
{
    rv_batch *batch = &t->batch;
    batch->running_until_ms = RV_FOREVER;
    for (size_t i = batch->running; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        if (item->state == RV_ITEM_RUNNING && now >= item->until_ms) {
            if (item->grace_ms > 0 && !item->warned)
                warn(t, item, now);
            else
                time_out(t, item, now);
        }
        if (item->state == RV_ITEM_RUNNING && item->until_ms < batch->running_until_ms)
            batch->running_until_ms = item->until_ms;
    }
}

static int64_t later(int64_t at_ms, int64_t ms)
{
    return at_ms == RV_FOREVER ? at_ms : at_ms + ms;
}

/* The process did not run for so long: that counts for no limit of what runs. A run that began meanwhile has lost at most
 * its own time. With the batch's lock. */
static void postpone_limits(rv_batch *batch, int64_t now, int64_t lost_ms)
{
    for (size_t i = batch->running; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        int64_t ran_ms = now - (batch->pulled ? item->leased_ms : batch->running_since_ms);
        int64_t ms = ran_ms < lost_ms ? ran_ms : lost_ms;
        if (item->state != RV_ITEM_RUNNING) continue;
        item->until_ms = later(item->until_ms, ms);
        item->timeout_at_ms = later(item->timeout_at_ms, ms);
    }
    if (now >= batch->running_until_ms) batch->running_until_ms = now; /* (end_late finds the earliest) */
    if (batch->late_run_ms == batch->running_since_ms) batch->stuck_at_ms = later(batch->stuck_at_ms, lost_ms);
}

/* Returns for how long the process did not run, which is seldom. Redis did: a lease may have expired meanwhile. */
static int64_t look_for_pause(reeve_worker *worker, int64_t now)
{
    int64_t lost_ms = rv_pause_take(&worker->pause, now);
    char number[RV_NUMBER_TEXT];
    if (lost_ms > 0)
        rv_log(REEVE_LOG_WARN, "worker.paused",
               "the process did not run for a while: the time limits of what runs are postponed by that", "worker",
               worker->id, "ms", rv_number_text(number, (uint64_t)lost_ms), NULL);
    return lost_ms;
}

static int64_t relieve_thread(rv_thread *t, int64_t now, int64_t lost_ms, bool *ret_stuck)
{
    rv_batch *batch = &t->batch;
    rv_lock(&batch->lock);
    if (batch->running != RV_NONE) {
        if (lost_ms > 0) postpone_limits(batch, now, lost_ms);
        if (now >= batch->running_until_ms) end_late(t, now);
        *ret_stuck = rv_stuck_is_due(t, now);
        if (!batch->pulled && now >= batch->running_since_ms + RV_PATIENCE_MS) offload_others(t);
    }
    int64_t attention = rv_batch_attention(batch, now);
    rv_unlock(&batch->lock);
    return attention;
}

int64_t rv_offload_relieve(reeve_worker *worker)
{
    int64_t now = rv_now_ms(), next = RV_FOREVER, lost_ms = look_for_pause(worker, now);
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            bool is_stuck = false;
            int64_t attention = relieve_thread(t, now, lost_ms, &is_stuck);
            if (attention < next) next = attention;
            rv_stuck_task task;
            if (is_stuck && rv_stuck_note(t, &task)) rv_stuck_event(t, &task);
        }
    }
    /* Items that could not be taken over are tried again after a pause. */
    return next > now ? next : now + RV_PATIENCE_MS;
}

int64_t rv_offload_next_limit(reeve_worker *worker)
{
    int64_t next = RV_FOREVER;
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_batch *batch = &rv_worker_pool_thread(rv_worker_pool(worker, i), j)->batch;
            rv_lock(&batch->lock);
            if (batch->running != RV_NONE && batch->running_until_ms < next) next = batch->running_until_ms;
            rv_unlock(&batch->lock);
        }
    }
    return next;
}

/* ---- settling what was handed over ----------------------------------------------------------------------------- */

/* For the metrics of the worker. */
static void measure_offloaded(const rv_offloaded *offloaded, const rv_attempt *attempt, bool refused)
{
    rv_queue_session *queue_session = offloaded->queue_session;
    if (queue_session->metrics == NULL) return;
    rv_lock(&queue_session->lock);
    rv_task_metrics_add(queue_session->metrics, &offloaded->settlement, attempt, refused);
    rv_unlock(&queue_session->lock);
}

static void count_offloaded(reeve_worker *worker, const rv_offloaded *offloaded, bool refused, int64_t now_ms)
{
    rv_outcome_counts counts = {0};
    rv_outcome_counts_add(&counts, &offloaded->settlement, refused);
    rv_outcome_counts_publish(&counts, &worker->stats);
    rv_attempt attempt = offloaded->attempt;
    attempt.type = offloaded->type;
    measure_offloaded(offloaded, &attempt, refused);
    if (!rv_outcome_counts_have_tally(&counts)) return;
    rv_tally *tally = rv_queue_session_open_tally(offloaded->queue_session, now_ms);
    if (tally != NULL) rv_tally_add(tally, &offloaded->settlement, &attempt);
    rv_queue_session_close_tally(offloaded->queue_session);
}

#define DELIVERED_AT_ONCE 64

typedef struct delivery {
    reeve_worker *worker;
    size_t first;
    size_t at[DELIVERED_AT_ONCE]; /* which were sent */
    bool failed;
    char words[256]; /* why */
} delivery;

/* A repeated delivery that is refused: if the session is alive, the first one settled the task. */
static bool was_settled(const rv_offloaded *offloaded)
{
    rv_session_text present;
    (void)rv_queue_session_get(offloaded->queue_session, present);
    return offloaded->sent && strcmp(present, offloaded->session) == 0;
}

/* compact() removes it. */
static void end_offloaded(rv_keeper *keeper, rv_offloaded *offloaded, bool settled)
{
    rv_lock(&keeper->thread.lock);
    rv_free(offloaded->kept);
    offloaded->kept = NULL;
    keeper->settled += settled;
    rv_unlock(&keeper->thread.lock);
}

/* Each outcome is a call of its own in the pipeline, because outcomes are seldom offloaded. */
static void on_delivered(size_t index, const rv_reply *reply, void *context)
{
    delivery *d = context;
    rv_turn_reply turn;
    rv_offloaded *offloaded = &d->worker->keeper.offloaded[d->at[index]];
    if (!rv_turn_reply_read(&turn, reply)) {
        d->failed = offloaded->torn = offloaded->sent = true;
        rv_copy_text(d->words, sizeof(d->words), rv_reply_is(reply, RV_ERROR) ? reply->text : "unexpected reply");
        return;
    }
    count_offloaded(d->worker, offloaded, turn.refused->count > 0 && !was_settled(offloaded), turn.now_ms);
    end_offloaded(&d->worker->keeper, offloaded, true);
}

static void on_regained(size_t index, const rv_reply *reply, void *context)
{
    delivery *d = context;
    d->worker->keeper.offloaded[d->at[index]].torn = !rv_reply_is(reply, RV_ARRAY);
    if (!rv_reply_is(reply, RV_ERROR)) return;
    d->failed = true;
    rv_copy_text(d->words, sizeof(d->words), reply->text);
}

/* An earlier delivery failed or its reply was lost: regain.lua gives the session the leases back that were lost. */
static reeve_status regain(delivery *d, size_t count, int64_t deadline)
{
    rv_keeper *keeper = &d->worker->keeper;
    size_t sent = 0;
    for (size_t i = d->first; i < d->first + count; i++) {
        const rv_offloaded *offloaded = &keeper->offloaded[i];
        if (!offloaded->torn) continue;
        rv_regain_call_build(keeper->thread.conn, &offloaded->queue_session->prefix, offloaded->session, 1);
        const rv_lease lease = {.id = offloaded->settlement.id,
                                .id_length = offloaded->settlement.id_length,
                                .since_ms = offloaded->since_ms};
        rv_regain_call_add(keeper->thread.conn, &lease, offloaded->thread);
        d->at[sent++] = i;
    }
    return sent == 0 ? REEVE_OK : rv_conn_exec(keeper->thread.conn, deadline, on_regained, d);
}

static void build_delivery(reeve_worker *worker, const rv_offloaded *offloaded)
{
    const rv_settlement *items[] = {&offloaded->settlement};
    char lease[40];
    rv_turn_group group = {.prefix = &offloaded->queue_session->prefix,
                           .session = offloaded->session,
                           .lease = lease,
                           .items = items,
                           .count = 1};
    /* A repeated delivery must not settle a later lease of the same task. */
    snprintf(lease, sizeof(lease), "%lld %s", (long long)offloaded->since_ms, offloaded->thread);
    rv_turn turn = {.thread = "keeper", .groups = &group, .group_count = 1};
    rv_turn_build(worker->keeper.thread.conn, &turn);
}

static reeve_status deliver_some(reeve_worker *worker, delivery *d, size_t count, int64_t deadline)
{
    rv_offloaded *offloaded = worker->keeper.offloaded;
    size_t sent = 0;
    reeve_status status = regain(d, count, deadline);
    if (status != REEVE_OK) return status;
    for (size_t i = d->first; i < d->first + count; i++) {
        if (offloaded[i].torn) continue; /* Redis refused to regain it */
        if (offloaded[i].lets_go) {
            end_offloaded(&worker->keeper, &offloaded[i], false);
            continue;
        }
        build_delivery(worker, &offloaded[i]);
        d->at[sent++] = i;
    }
    if (sent == 0) return REEVE_OK;
    status = rv_conn_exec(worker->keeper.thread.conn, deadline, on_delivered, d);
    for (size_t i = 0; status != REEVE_OK && i < sent; i++) offloaded[d->at[i]].sent = offloaded[d->at[i]].torn = true;
    return status;
}

/* Closes the gaps that delivered outcomes left. */
static void compact(rv_keeper *keeper)
{
    size_t kept = 0;
    rv_lock(&keeper->thread.lock);
    for (size_t i = 0; i < keeper->offloaded_count; i++) {
        if (keeper->offloaded[i].kept != NULL) keeper->offloaded[kept++] = keeper->offloaded[i];
    }
    keeper->offloaded_count = kept;
    rv_unlock(&keeper->thread.lock);
}

void rv_offload_deliver(reeve_worker *worker, int64_t deadline)
{
    rv_keeper *keeper = &worker->keeper;
    delivery d = {.worker = worker};
    while (d.first < keeper->offloaded_count) {
        size_t count = keeper->offloaded_count - d.first;
        if (count > DELIVERED_AT_ONCE) count = DELIVERED_AT_ONCE;
        if (deliver_some(worker, &d, count, deadline) != REEVE_OK) break;
        d.first += count;
    }
    if (d.failed) rv_redis_report_refusal(worker, "Redis refused outcomes: the worker tries again", d.words);
    compact(keeper);
}
