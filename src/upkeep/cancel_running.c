#include "upkeep/cancel_running.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "protocol/scripts.h"
#include "running/admission.h"
#include "running/invocation.h"
#include "running/redis_report.h"
#include "upkeep/missed.h"
#include "upkeep/offload.h"

/* One that has not begun is not run. */
static bool cancel_in(rv_thread *t, const char *queue, const char *id, const char *reason)
{
    bool found = false;
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (item->state != RV_ITEM_RUNNING && item->state != RV_ITEM_WAITING) continue;
        if (strcmp(item->lease.id, id) != 0 || strcmp(t->pool->queue_sessions[item->lease.queue]->queue, queue) != 0)
            continue;
        item->cancelled = found = true;
        /* A task of a batch handler has its flag in the invocation. */
        if (item->state != RV_ITEM_RUNNING || (item->batch_handler != NULL && item->call == NULL)) continue;
        /* The handler may read the reason of an earlier cancel. */
        if (!atomic_load(rv_invocation_cancelled(t, item)))
            rv_copy_text(rv_invocation_cancel_reason(t, item), REEVE_REASON_MAX + 1, reason);
        atomic_store(rv_invocation_cancelled(t, item), true);
        atomic_store(rv_invocation_stop(t, item), true);
        if (t->batch.notice != NULL) rv_waker_ring(t->batch.notice);
    }
    rv_unlock(&t->batch.lock);
    return found;
}

bool rv_cancel_running_stop(reeve_worker *worker, const char *queue, const char *id, const char *reason)
{
    bool found = false;
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++)
            found = cancel_in(rv_worker_pool_thread(rv_worker_pool(worker, i), j), queue, id, reason) || found;
    }
    rv_admission_recheck(worker);
    return found;
}

/* ---- revoked leases -------------------------------------------------------------------------------------------- */

static bool is_lease(const rv_thread *t, const rv_item *item, const rv_revoke *revoke)
{
    return item->lease.since_ms == revoke->since_ms && strcmp(item->lease.id, revoke->id) == 0 &&
           strcmp(t->pool->queue_sessions[item->lease.queue]->queue, revoke->queue) == 0;
}

/* The thread sends no outcome of an item that it lost. An item that was settled before it ran (at most once) has no
 * lease. */
static void lose(rv_thread *t, rv_item *item)
{
    bool runs = item->state == RV_ITEM_RUNNING;
    if (runs && (item->batch_handler == NULL || item->call != NULL)) atomic_store(rv_invocation_stop(t, item), true);
    if (runs)
        rv_batch_take_item(&t->batch, item);
    else
        rv_batch_lose_item(&t->batch, item);
    if (t->batch.notice != NULL) rv_waker_ring(t->batch.notice);
}

static rv_revoked revoke_item(rv_thread *t, rv_item *item, rv_revoke *revoke)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[item->lease.queue];
    const char *session = t->batch.sessions[item->lease.queue];
    if (item->taken || item->accepted || item->refused || item->state == RV_ITEM_OFFLOADED) return RV_REVOKED_UNKNOWN;
    if (revoke->asked && (item->state == RV_ITEM_FINISHED || item->settling)) return RV_REVOKED_UNKNOWN;
    if (item->state == RV_ITEM_FINISHED) {
        rv_copy_text(revoke->session, sizeof(revoke->session), session);
        return RV_REVOKED_SENT;
    }
    rv_offload_let_go(t, queue_session, session, &item->lease);
    lose(t, item);
    return RV_REVOKED_TAKEN;
}

/* An outcome that may have been sent is gone by now: the thread knows what became of it. */
static void let_go_sent(rv_thread *t, rv_revoke *revoke)
{
    const rv_lease lease = {.id = revoke->id, .since_ms = revoke->since_ms};
    for (size_t i = 0; i < t->pool->queue_session_count; i++) {
        if (strcmp(t->pool->queue_sessions[i]->queue, revoke->queue) == 0)
            rv_offload_let_go(t, t->pool->queue_sessions[i], revoke->session, &lease);
    }
    revoke->session[0] = '\0';
}

static rv_revoked revoke_in(rv_thread *t, rv_revoke *revoke)
{
    rv_revoked found = RV_REVOKED_UNKNOWN;
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count && found == RV_REVOKED_UNKNOWN; i++) {
        if (is_lease(t, &t->batch.items[i], revoke)) found = revoke_item(t, &t->batch.items[i], revoke);
    }
    if (found == RV_REVOKED_UNKNOWN && revoke->session[0] != '\0') {
        let_go_sent(t, revoke);
        found = RV_REVOKED_TAKEN;
    }
    rv_unlock(&t->batch.lock);
    return found;
}

rv_revoked rv_cancel_running_revoke(reeve_worker *worker, rv_revoke *revoke)
{
    rv_revoked found = RV_REVOKED_UNKNOWN;
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            if (strcmp(t->number_text, revoke->thread) == 0) found = revoke_in(t, revoke);
        }
    }
    if (found == RV_REVOKED_TAKEN)
        rv_log(REEVE_LOG_WARN, "task.revoked", "a task was taken away by hand: its outcome is not accepted", "queue",
               revoke->queue, "task", revoke->id, NULL);
    rv_admission_recheck(worker);
    return found;
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

/* A lease that Redis is asked about. */
typedef struct question {
    const rv_queue_session *queue_session;
    const char *thread;
    rv_session_text session;
    int64_t since_ms;
    char id[REEVE_ID_MAX];
    bool cancelled; /* that is known */
} question;

/* A task without a lease of its own is not asked about: it was settled before it ran, or its lease is known to be lost;
 * nor one whose announcements were all heard. */
static bool is_in_question(const rv_item *item, unsigned missed)
{
    return item->missed != missed && (item->state == RV_ITEM_RUNNING || item->state == RV_ITEM_WAITING) &&
           !item->taken && !item->accepted && !item->refused && !item->settling;
}

/* The next task that a thread runs, or is about to run. False: there are no more. */
static bool next_in(rv_thread *t, size_t *next, question *ret)
{
    bool found = false;
    unsigned missed = atomic_load(&t->worker->scheduler.missed);
    rv_lock(&t->batch.lock);
    while (!found && *next < t->batch.count) {
        const rv_item *item = &t->batch.items[(*next)++];
        if (!is_in_question(item, missed)) continue;
        found = true;
        ret->queue_session = t->pool->queue_sessions[item->lease.queue];
        ret->thread = t->number_text;
        ret->since_ms = item->lease.since_ms;
        ret->cancelled = item->cancelled;
        rv_copy_text(ret->session, sizeof(ret->session), t->batch.sessions[item->lease.queue]);
        rv_copy_text(ret->id, sizeof(ret->id), item->lease.id);
    }
    rv_unlock(&t->batch.lock);
    return found;
}

/* The tasks of one round trip. */
#define ASKED_AT_ONCE 64

typedef struct asked {
    reeve_worker *worker;
    rv_conn *conn;
    char refused[256]; /* the first error of Redis; "": none */
    bool forgot;       /* there was no memory for an answer */
    size_t count;
    question tasks[ASKED_AT_ONCE];
} asked;

/* What cancelled.lua replies for a lease that its session does not hold. */
#define NOT_HELD 2

static void note_revoked(asked *a, const question *q)
{
    rv_revoke revoke = {.since_ms = q->since_ms, .asked = true};
    rv_copy_text(revoke.queue, sizeof(revoke.queue), q->queue_session->queue);
    rv_copy_text(revoke.id, sizeof(revoke.id), q->id);
    rv_copy_text(revoke.thread, sizeof(revoke.thread), q->thread);
    if (!rv_missed_add(a->worker, &revoke)) a->forgot = true;
}

static void on_told(size_t index, const rv_reply *reply, void *context)
{
    asked *a = context;
    if (rv_reply_is(reply, RV_ERROR) && a->refused[0] == '\0')
        rv_copy_text(a->refused, sizeof(a->refused), reply->text);
    if (index >= a->count) return;
    const question *q = &a->tasks[index];
    bool has_reason = rv_reply_is(reply, RV_TEXT);
    int64_t number = rv_reply_int(reply, 0);
    if (number == NOT_HELD) note_revoked(a, q);
    if (!q->cancelled && (has_reason || number == 1))
        rv_cancel_running_stop(a->worker, q->queue_session->queue, q->id, has_reason ? reply->text : "");
}

static bool send_asked(asked *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const question *q = &a->tasks[i];
        char lease[48];
        (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)q->since_ms, q->thread);
        rv_cmd_script(a->conn, &rv_script_cancelled, 1, 3);
        rv_arg(a->conn, q->queue_session->prefix.text, q->queue_session->prefix.length);
        rv_args(a->conn, q->id);
        rv_args(a->conn, q->session);
        rv_args(a->conn, lease);
    }
    bool done = a->count == 0 || rv_conn_exec(a->conn, 0, on_told, a) == REEVE_OK;
    a->count = 0;
    return done;
}

static bool ask(asked *a, rv_thread *t)
{
    size_t next = 0;
    while (next_in(t, &next, &a->tasks[a->count])) {
        if (++a->count == ASKED_AT_ONCE && !send_asked(a)) return false;
    }
    return true;
}

bool rv_cancel_running_ask(reeve_worker *worker, rv_conn *conn, bool *ret_answered)
{
    asked a = {.worker = worker, .conn = conn};
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++)
            if (!ask(&a, rv_worker_pool_thread(rv_worker_pool(worker, i), j))) return false;
    }
    if (!send_asked(&a)) return false;
    *ret_answered = a.refused[0] == '\0' && !a.forgot;
    if (a.refused[0] != '\0')
        rv_redis_report_refusal(worker, "Redis refused to say which tasks were cancelled: the worker asks again",
                                a.refused);
    return true;
}
