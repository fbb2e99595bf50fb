#include "upkeep/cancel_running.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "protocol/scripts.h"
#include "running/admission.h"
#include "running/invocation.h"
#include "running/redis_report.h"
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

/* The next task that a thread runs, or is about to run, and that is not known to be cancelled: its queue, and a copy of
 * its id. NULL: there are no more. */
static const rv_queue_session *next_in(rv_thread *t, size_t *next, char ret_id[REEVE_ID_MAX])
{
    const rv_queue_session *queue_session = NULL;
    rv_lock(&t->batch.lock);
    while (queue_session == NULL && *next < t->batch.count) {
        const rv_item *item = &t->batch.items[(*next)++];
        if ((item->state != RV_ITEM_RUNNING && item->state != RV_ITEM_WAITING) || item->cancelled) continue;
        queue_session = t->pool->queue_sessions[item->lease.queue];
        rv_copy_text(ret_id, REEVE_ID_MAX, item->lease.id);
    }
    rv_unlock(&t->batch.lock);
    return queue_session;
}

/* The tasks of one round trip. */
#define ASKED_AT_ONCE 64

typedef struct asked {
    reeve_worker *worker;
    rv_conn *conn;
    char refused[256]; /* the first error of Redis; "": none */
    size_t count;
    struct {
        const rv_queue_session *queue_session;
        char id[REEVE_ID_MAX];
    } tasks[ASKED_AT_ONCE];
} asked;

static void on_told(size_t index, const rv_reply *reply, void *context)
{
    asked *a = context;
    if (rv_reply_is(reply, RV_ERROR) && a->refused[0] == '\0')
        rv_copy_text(a->refused, sizeof(a->refused), reply->text);
    bool has_reason = rv_reply_is(reply, RV_TEXT);
    if (index < a->count && (has_reason || rv_reply_int(reply, 0) == 1))
        rv_cancel_running_stop(a->worker, a->tasks[index].queue_session->queue, a->tasks[index].id,
                               has_reason ? reply->text : "");
}

static bool send_asked(asked *a)
{
    for (size_t i = 0; i < a->count; i++) {
        rv_cmd_script(a->conn, &rv_script_cancelled, 1, 1);
        rv_arg(a->conn, a->tasks[i].queue_session->prefix.text, a->tasks[i].queue_session->prefix.length);
        rv_args(a->conn, a->tasks[i].id);
    }
    bool done = a->count == 0 || rv_conn_exec(a->conn, 0, on_told, a) == REEVE_OK;
    a->count = 0;
    return done;
}

static bool ask(asked *a, rv_thread *t)
{
    const rv_queue_session *queue_session;
    size_t next = 0;
    while ((queue_session = next_in(t, &next, a->tasks[a->count].id)) != NULL) {
        a->tasks[a->count++].queue_session = queue_session;
        if (a->count == ASKED_AT_ONCE && !send_asked(a)) return false;
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
    *ret_answered = a.refused[0] == '\0';
    if (!*ret_answered)
        rv_redis_report_refusal(worker, "Redis refused to say which tasks were cancelled: the worker asks again",
                                a.refused);
    return true;
}
