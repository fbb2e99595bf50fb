#include "upkeep/cancel_running.h"

#include <string.h>

#include "base/lock.h"
#include "protocol/scripts.h"
#include "running/admission.h"
#include "running/invocation.h"

/* One that has not begun is not run. */
static void cancel_in(rv_thread *t, const char *queue, const char *id)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (item->state != RV_ITEM_RUNNING && item->state != RV_ITEM_WAITING) continue;
        if (strcmp(item->lease.id, id) != 0 || strcmp(t->pool->queue_sessions[item->lease.queue]->queue, queue) != 0)
            continue;
        item->cancelled = true;
        /* A task of a batch handler has its flag in the invocation. */
        if (item->state != RV_ITEM_RUNNING || (item->batch_handler != NULL && item->call == NULL)) continue;
        atomic_store(rv_invocation_cancelled(t, item), true);
        atomic_store(rv_invocation_stop(t, item), true);
    }
    rv_unlock(&t->batch.lock);
}

void rv_cancel_running_stop(reeve_worker *worker, const char *queue, const char *id)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < worker->pools[i]->thread_count; j++)
            cancel_in(&worker->pools[i]->threads[j], queue, id);
    }
    rv_admission_recheck(worker);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

/* The next task that a thread runs: its queue, and a copy of its id. NULL: there are no more. */
static const rv_queue_session *running_in(rv_thread *t, size_t *next, char ret_id[REEVE_ID_MAX])
{
    const rv_queue_session *queue_session = NULL;
    rv_lock(&t->batch.lock);
    while (queue_session == NULL && *next < t->batch.count) {
        const rv_item *item = &t->batch.items[(*next)++];
        if (item->state != RV_ITEM_RUNNING) continue;
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
    size_t count;
    struct {
        const rv_queue_session *queue_session;
        char id[REEVE_ID_MAX];
    } tasks[ASKED_AT_ONCE];
} asked;

static void on_told(size_t index, const rv_reply *reply, void *context)
{
    asked *a = context;
    if (index < a->count && rv_reply_int(reply, 0) == 1)
        rv_cancel_running_stop(a->worker, a->tasks[index].queue_session->queue, a->tasks[index].id);
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
    while ((queue_session = running_in(t, &next, a->tasks[a->count].id)) != NULL) {
        a->tasks[a->count++].queue_session = queue_session;
        if (a->count == ASKED_AT_ONCE && !send_asked(a)) return false;
    }
    return true;
}

bool rv_cancel_running_ask(reeve_worker *worker, rv_conn *conn)
{
    asked a = {.worker = worker, .conn = conn};
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < worker->pools[i]->thread_count; j++)
            if (!ask(&a, &worker->pools[i]->threads[j])) return false;
    }
    return send_asked(&a);
}
