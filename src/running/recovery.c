/*
 * recovery.c - after a lost connection a thread connects again and asks Redis for the leases that have its name.
 * Redis may have executed the turn whose reply was lost. An outcome whose lease does not exist any more was accepted
 * if the session is alive, else refused. A lease that the thread does not know was made by the lost turn, or handed
 * to the thread; the next turn gives the task back to the front of its queue. The same holds for a task that the
 * keeper settled, if Redis restarted without its last writes.
 */
#include "running/recovery.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/lock.h"
#include "base/mem.h"
#include "protocol/recover_call.h"
#include "protocol/regain_call.h"
#include "protocol/settlement.h"
#include "running/offloaded.h"
#include "running/redis_report.h"
#include "running/thread_state.h"

/* ---- connecting ------------------------------------------------------------------------------------------------ */

static int64_t sooner(const rv_thread *t, int64_t deadline)
{
    return t->until_ms > 0 && t->until_ms < deadline ? t->until_ms : deadline;
}

bool rv_recovery_gives_up(const rv_thread *t)
{
    rv_phase phase = rv_worker_phase(t->worker);
    if (t->until_ms > 0 && rv_now_ms() >= t->until_ms) return true;
    return phase >= RV_PHASE_LEAVING ||
           (phase >= RV_PHASE_STOPPING && !t->insists && rv_batch_count(&t->batch, RV_ITEM_FINISHED) == 0);
}

bool rv_recovery_connect(rv_thread *t)
{
    /* An open connection is no sign that Redis is up: Redis may have closed it a moment ago. */
    if (rv_conn_is_open(t->conn)) return true;
    for (unsigned tries = 1; !rv_conn_is_open(t->conn); tries++) {
        if (rv_recovery_gives_up(t)) return false;
        unsigned tried = rv_redis_report_try(t->worker);
        if (rv_conn_open(t->conn, sooner(t, rv_deadline(t->worker->command_ms))) == REEVE_OK) break;
        rv_redis_report_down(t->worker, tried, rv_conn_error(t->conn)->text);
        rv_waker_silence(&t->waker);
        if (rv_recovery_gives_up(t)) return false;
        rv_waker_wait(&t->waker, sooner(t, rv_deadline(rv_backoff_reconnect(tries, rv_random_unit()))));
    }
    rv_redis_report_up(t->worker, t->conn);
    return true;
}

/* Losses that are further apart do not count as a series: a proxy may end connections that were idle for long. */
#define IN_A_ROW_MS 4000

void rv_recovery_note_loss(rv_thread *t)
{
    if (rv_now_ms() - t->lost_ms > IN_A_ROW_MS) t->losses = 0;
    if (t->losses++ > 0) {
        rv_redis_report_lost(t->worker, rv_conn_error(t->conn)->text);
        rv_waker_silence(&t->waker);
        if (!rv_recovery_gives_up(t))
            rv_waker_wait(&t->waker, sooner(t, rv_deadline(rv_backoff_reconnect(t->losses - 1, rv_random_unit()))));
    }
    t->lost_ms = rv_now_ms();
}

void rv_recovery_note_use(rv_thread *t)
{
    if (t->losses > 1) rv_redis_report_used(t->worker);
    t->losses = 0;
}

/* ---- recall ---------------------------------------------------------------------------------------------------- */

/* The item of exactly this lease: a task that was given back may be leased again. */
static rv_item *find_item(rv_thread *t, const rv_lease *lease)
{
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (item->lease.queue == lease->queue && item->lease.since_ms == lease->since_ms &&
            rv_lease_has_id(&item->lease, lease->id, rv_lease_id_length(lease)))
            return item;
    }
    return NULL;
}

/* Adds a leased task that the thread does not know, as one that is to be given back. rv_turn_run keeps room for it.
 * False: no memory. */
static bool add_orphan(rv_thread *t, const rv_lease *lease)
{
    if (t->batch.count == t->batch.capacity) return false;
    rv_settlement back = rv_settlement_give_back(lease);
    rv_item item = {.lease = *lease, .state = RV_ITEM_FINISHED};
    if (!rv_settlement_copy(&item.settlement, &item.kept, &back)) return false;
    item.lease.id = item.settlement.id;
    rv_lock(&t->batch.lock);
    t->batch.items[t->batch.count++] = item;
    rv_unlock(&t->batch.lock);
    return true;
}

/* Redis has lost the settlement of this item. An item that the keeper settled is given back, any other is settled
 * again. False: no memory. */
static bool settle_again(rv_thread *t, rv_item *item, bool held)
{
    rv_settlement back = rv_settlement_give_back(&item->lease), copy;
    rv_lock(&t->batch.lock);
    bool goes_back = rv_batch_is_taken(item) && !held;
    rv_unlock(&t->batch.lock);
    void *kept = NULL;
    if (goes_back && !rv_settlement_copy(&copy, &kept, &back)) return false;
    rv_lock(&t->batch.lock);
    if (item->state == RV_ITEM_FINISHED) item->accepted = false;
    if (goes_back) {
        rv_free(item->kept);
        item->kept = kept;
        item->settlement = copy;
        item->lease.id = copy.id;
        item->state = RV_ITEM_FINISHED;
        item->taken = false;
    }
    rv_unlock(&t->batch.lock);
    return true;
}

/* What a recall found out. */
typedef struct recall {
    bool seen[2 * RV_BATCH_MAX]; /* by item: its lease exists in Redis */
    bool incomplete;             /* memory was short: another recall is to follow */
} recall;

/* Notes which items have leases in Redis, and adds items for unknown leases. */
static void note_standing(rv_thread *t, size_t count, const bool *held, recall *r)
{
    for (size_t i = 0; i < count; i++) {
        rv_item *item = find_item(t, &t->leases[i]);
        if (item != NULL) {
            r->seen[item - t->batch.items] = true;
            if (!settle_again(t, item, held[i])) r->incomplete = true;
        } else if (!held[i] && !add_orphan(t, &t->leases[i])) {
            r->incomplete = true;
        }
    }
}

/* False when the keeper has settled an outcome in the meantime: the page may be older. */
static bool note_page(rv_thread *t, size_t queue, const char *session, rv_recover_reply *page, unsigned long settled,
                      recall *r)
{
    bool held[2 * RV_BATCH_MAX];
    size_t count;
    while ((count = rv_recover_call_leases(page, queue, t->leases, t->batch.capacity)) > 0) {
        if (!rv_offloaded_find(t->worker, t->pool->queue_sessions[queue], session, settled, t->leases, count, held))
            return false;
        note_standing(t, count, held, r);
    }
    return true;
}

static bool is_unsettled(const rv_item *item, size_t queue)
{
    return item->lease.queue == queue && item->state == RV_ITEM_FINISHED && !item->accepted && !item->refused;
}

static reeve_status recall_queue(rv_thread *t, size_t queue, const char *session, recall *r, bool *ret_alive)
{
    const rv_queue_session *queue_session = t->pool->queue_sessions[queue];
    char cursor[24] = "0";
    for (;;) {
        const rv_reply *reply;
        rv_recover_reply recalled;
        unsigned long settled = rv_offloaded_settled(t->worker);
        rv_recover_call_build(t->conn, &queue_session->prefix, session, t->number_text, cursor);
        reeve_status status = rv_conn_call(t->conn, 0, &reply);
        if (status != REEVE_OK) return status;
        if (!rv_recover_call_read(&recalled, reply)) return REEVE_EPROTO;
        *ret_alive = recalled.alive;
        if (!note_page(t, queue, session, &recalled, settled, r)) continue;
        rv_copy_text(cursor, sizeof(cursor), recalled.cursor);
        if (strcmp(cursor, "0") == 0) return REEVE_OK;
        if (rv_recovery_gives_up(t)) return REEVE_ELOST;
    }
}

/* Whether the item was to be settled, and its lease does not exist. */
static bool is_missing(const rv_thread *t, size_t i, size_t queue, const bool *seen)
{
    return is_unsettled(&t->batch.items[i], queue) && !seen[i];
}

/* Those of `count` missing items that stand behind the first `done`; *ret_looked: how many the call came to. */
static reeve_status regain_some(rv_thread *t, size_t queue, const bool *seen, size_t done, size_t count,
                                size_t *ret_looked, int64_t *ret_regained)
{
    size_t place = 0, max = count - done < RV_REGAIN_MAX ? count - done : RV_REGAIN_MAX;
    const rv_reply *reply;
    rv_regain_call_build(t->conn, &t->pool->queue_sessions[queue]->prefix, t->batch.sessions[queue], max);
    for (size_t i = 0; place < done + max; i++) {
        const rv_lease *lease = &t->batch.items[i].lease;
        if (!is_missing(t, i, queue, seen) || place++ < done) continue;
        rv_regain_call_add(t->conn, lease, t->number_text);
    }
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    if (status != REEVE_OK) return status;
    *ret_looked = (size_t)rv_reply_within(rv_reply_at(reply, 0), 1, (int64_t)max, 0);
    *ret_regained += rv_reply_within(rv_reply_at(reply, 1), 0, (int64_t)max, 0);
    return *ret_looked > 0 ? REEVE_OK : REEVE_EPROTO;
}

/* Items that were to be settled and have no lease were settled, or their turn was executed in part: then regain.lua
 * gives the session the leases back. known: how many items of the batch to look at. *ret_count: how many leases came
 * back. */
static reeve_status regain_queue(rv_thread *t, size_t queue, const bool *seen, size_t known, int64_t *ret_count)
{
    size_t count = 0, looked = 0;
    reeve_status status = REEVE_OK;
    *ret_count = 0;
    for (size_t i = 0; i < known; i++) count += is_missing(t, i, queue, seen);
    for (size_t done = 0; done < count && status == REEVE_OK; done += looked)
        status = regain_some(t, queue, seen, done, count, &looked, ret_count);
    return status;
}

reeve_status rv_recovery_regain(rv_thread *t, const rv_item *item)
{
    const rv_reply *reply;
    size_t queue = item->lease.queue;
    rv_regain_call_build(t->conn, &t->pool->queue_sessions[queue]->prefix, t->batch.sessions[queue], 1);
    rv_regain_call_add(t->conn, &item->lease, t->number_text);
    return rv_conn_call(t->conn, 0, &reply);
}

/* The leases of an earlier session ended with it. From now on the batch belongs to the present session. */
static void leave_session(rv_thread *t, size_t queue, const char *present)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (item->lease.queue == queue && item->state == RV_ITEM_FINISHED && !item->accepted) item->refused = true;
    }
    for (size_t i = 0; i < t->batch.count; i++) {
        if (t->batch.items[i].lease.queue == queue) rv_batch_lose_item(&t->batch, &t->batch.items[i]);
    }
    memcpy(t->batch.sessions[queue], present, sizeof(t->batch.sessions[queue]));
    rv_unlock(&t->batch.lock);
}

/* A finished item whose lease does not exist was settled by a turn whose reply was lost, or the session is dead. A
 * waiting item whose lease does not exist belongs to another session by now. */
static void conclude(rv_thread *t, size_t queue, const bool *seen, size_t known, bool alive)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < known; i++) {
        if (t->batch.items[i].lease.queue == queue && !(alive && seen[i]))
            rv_batch_lose_item(&t->batch, &t->batch.items[i]);
    }
    for (size_t i = 0; i < known; i++) {
        rv_item *item = &t->batch.items[i];
        if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED) continue;
        if (item->accepted || item->refused || seen[i]) continue;
        item->accepted = alive;
        item->refused = !alive;
    }
    rv_unlock(&t->batch.lock);
}

/* Recalls, and recalls again if leases were regained. One call is enough when nothing is missing. */
static reeve_status recall_regained(rv_thread *t, size_t queue, const char *present, recall *r, bool *ret_alive)
{
    int64_t regained = 0;
    size_t known = t->batch.count;
    if (strcmp(t->batch.sessions[queue], present) != 0) {
        reeve_status status = regain_queue(t, queue, r->seen, known, &regained);
        if (status != REEVE_OK) return status;
        leave_session(t, queue, present);
    }
    reeve_status status = recall_queue(t, queue, present, r, ret_alive);
    if (status == REEVE_OK) status = regain_queue(t, queue, r->seen, known, &regained);
    if (status == REEVE_OK && regained > 0) status = recall_queue(t, queue, present, r, ret_alive);
    return status;
}

reeve_status rv_recovery_recall(rv_thread *t)
{
    recall r = {.incomplete = false};
    /* Redis, if it was frozen, or a proxy may execute commands of an earlier connection later: a turn would lease
     * tasks, a recall would take this thread out of `idle`. A user without the right to end connections bears that
     * risk. */
    rv_conn_end_lost(t->conn, 0);
    for (size_t queue = 0; queue < t->pool->queue_session_count; queue++) {
        rv_queue_session *queue_session = t->pool->queue_sessions[queue];
        rv_session_text present;
        size_t known = t->batch.count;
        bool alive = false;
        rv_queue_session_get(queue_session, present);
        memset(r.seen, 0, sizeof(r.seen));
        reeve_status status = recall_regained(t, queue, present, &r, &alive);
        if (status != REEVE_OK) return status;
        /* The turn whose reply was lost may have begun the session. */
        if (alive) rv_queue_session_begin(queue_session, present);
        conclude(t, queue, r.seen, known, alive);
    }
    if (!r.incomplete) rv_thread_state_enter(t, RV_THREAD_TURN);
    return REEVE_OK;
}
