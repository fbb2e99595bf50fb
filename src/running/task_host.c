#include "running/task_host.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "protocol/handler_call.h"
#include "running/invocation.h"
#include "running/locate_task.h"
#include "running/wakeup.h"

/* Whether the keeper has taken over the running task: its time is up, and it may run elsewhere by now. */
static bool is_offloaded(rv_thread *t, const rv_item *item)
{
    rv_lock(&t->batch.lock);
    bool offloaded = rv_batch_is_taken(item);
    rv_unlock(&t->batch.lock);
    return offloaded;
}

static const rv_queue_session *queue_session_of(const rv_thread *t, const rv_item *item)
{
    return t->pool->queue_sessions[item->lease.queue];
}

static reeve_status open_connection(rv_thread *t)
{
    if (rv_conn_is_open(t->conn) || rv_conn_open(t->conn, rv_deadline(1000)) == REEVE_OK) return REEVE_OK;
    return REEVE_ELOST;
}

int64_t rv_task_host_note_life(rv_thread *t, rv_item *item)
{
    rv_lock(&t->batch.lock);
    int64_t silent = item->heartbeat_ms > 0 ? rv_deadline(item->heartbeat_ms) : RV_FOREVER;
    int64_t until = silent < item->timeout_at_ms ? silent : item->timeout_at_ms;
    item->until_ms = until;
    /* In a call of a batch handler the earliest limit counts. When it is postponed, the keeper wakes up once in
     * vain. */
    if (item->state == RV_ITEM_RUNNING && (item->call == NULL || until < t->batch.running_until_ms))
        t->batch.running_until_ms = until;
    rv_unlock(&t->batch.lock);
    return until;
}

/* Prepares a call for the running task. Nothing is recorded for a task that was settled before it ran. */
static reeve_status begin(rv_thread *t, rv_item *item)
{
    if (item->heartbeat_ms > 0) (void)rv_task_host_note_life(t, item);
    if (item->accepted) return REEVE_OK;
    return is_offloaded(t, item) ? REEVE_EREFUSED : open_connection(t);
}

/* Sends the call, whose reply is 1 if the session holds the lease. */
static reeve_status finish(rv_thread *t, const rv_item *item)
{
    const rv_reply *reply;
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    if (status != REEVE_OK) return status == REEVE_EREDIS ? status : REEVE_ELOST;
    if (rv_reply_int(reply, 0) == 1) return REEVE_OK;
    atomic_store(rv_invocation_stop(t, item), true);
    return REEVE_EREFUSED;
}

static reeve_status report_progress(reeve_task *task, int percent, const char *words, void *context)
{
    rv_thread *t = context;
    rv_item *item = rv_invocation_item(t, task);
    reeve_status status = begin(t, item);
    if (status != REEVE_OK || item->accepted) return status;
    rv_handler_call_progress(t->conn, &queue_session_of(t, item)->prefix, t->batch.sessions[item->lease.queue],
                             item->lease.id, percent, words);
    item->lease.has_info = true; /* also when the reply is lost */
    return finish(t, item);
}

static reeve_status report_checkpoint(reeve_task *task, reeve_bytes data, void *context)
{
    rv_thread *t = context;
    rv_item *item = rv_invocation_item(t, task);
    reeve_status status = begin(t, item);
    if (status != REEVE_OK || item->accepted) return status;
    rv_handler_call_checkpoint(t->conn, &queue_session_of(t, item)->prefix, t->batch.sessions[item->lease.queue],
                               item->lease.id, data);
    item->lease.has_info = item->lease.has_checkpoint = true;
    return finish(t, item);
}

static reeve_status fetch_checkpoint(reeve_task *task, rv_buf *ret, void *context)
{
    rv_thread *t = context;
    rv_item *item = rv_invocation_item(t, task);
    const rv_reply *reply;
    if (!item->lease.has_checkpoint) return REEVE_OK;
    reeve_status status = begin(t, item);
    if (status != REEVE_OK || item->accepted) return status;
    rv_handler_call_last_checkpoint(t->conn, &queue_session_of(t, item)->prefix, item->lease.id);
    status = rv_conn_call(t->conn, 0, &reply);
    if (status != REEVE_OK) return status == REEVE_EREDIS ? status : REEVE_ELOST;
    if (rv_reply_is(reply, RV_TEXT)) rv_buf_add(ret, reply->text, reply->length);
    return ret->failed ? REEVE_ENOMEM : REEVE_OK;
}

static reeve_status report_log(reeve_task *task, const char *line, void *context)
{
    rv_thread *t = context;
    rv_item *item = rv_invocation_item(t, task);
    char lease[40];
    reeve_status status = begin(t, item);
    if (status != REEVE_OK || item->accepted) return status;
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)item->lease.since_ms, t->number_text);
    rv_handler_call_log(t->conn, &queue_session_of(t, item)->prefix, t->batch.sessions[item->lease.queue],
                        item->lease.id, lease, ++t->log_lines, line);
    item->lease.has_info = true;
    return finish(t, item);
}

static reeve_status report_heartbeat(reeve_task *task, void *context)
{
    rv_thread *t = context;
    rv_item *item = rv_invocation_item(t, task);
    reeve_status status = begin(t, item);
    if (status != REEVE_OK || item->accepted) return status;
    rv_handler_call_heartbeat(t->conn, &queue_session_of(t, item)->prefix, t->batch.sessions[item->lease.queue],
                              item->lease.id);
    return finish(t, item);
}

/* Moves the end of the run time limit, unless the keeper has taken the task over. */
static bool move_limit(rv_thread *t, rv_item *item, int64_t for_ms)
{
    rv_lock(&t->batch.lock);
    bool is_ours = !rv_batch_is_taken(item);
    if (is_ours) {
        item->timeout_ms = rv_now_ms() - (t->batch.pulled ? item->leased_ms : t->batch.running_since_ms) + for_ms;
        item->timeout_at_ms = rv_deadline(for_ms);
    }
    rv_unlock(&t->batch.lock);
    return is_ours;
}

static reeve_status extend(reeve_task *task, int64_t for_ms, void *context)
{
    rv_thread *t = context;
    rv_item *item = rv_invocation_item(t, task);
    if (!move_limit(t, item, for_ms)) return REEVE_EREFUSED;
    rv_wakeup_keeper_at(t->worker, rv_task_host_note_life(t, item));
    return report_heartbeat(task, context);
}

static reeve_status report_pause_for(reeve_task *task, const char *group, int64_t delay_ms, void *context)
{
    rv_thread *t = context;
    const rv_reply *reply;
    reeve_status status = open_connection(t);
    if (status != REEVE_OK) return status;
    rv_handler_call_pause_for(t->conn, &queue_session_of(t, rv_invocation_item(t, task))->prefix, group, delay_ms);
    status = rv_conn_call(t->conn, 0, &reply);
    return status == REEVE_OK || status == REEVE_EREDIS ? status : REEVE_ELOST;
}

static reeve_status ask(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                        void *context)
{
    rv_thread *t = context;
    if (open_connection(t) != REEVE_OK) return REEVE_ELOST;
    build(t->conn, what);
    reeve_status status = rv_conn_call(t->conn, 0, ret);
    return status == REEVE_OK || status == REEVE_EREDIS || status == REEVE_ENOMEM ? status : REEVE_ELOST;
}

static reeve_status locate(const char *handle, char ret[REEVE_HANDLE_MAX], void *context)
{
    rv_thread *t = context;
    const rv_task_host host = {.ask = ask, .context = t};
    return rv_locate_task_handle(t->worker, &host, handle, ret);
}

rv_task_host rv_task_host_make(rv_thread *t)
{
    return (rv_task_host){.progress = report_progress,
                          .pause_for = report_pause_for,
                          .checkpoint = report_checkpoint,
                          .last_checkpoint = fetch_checkpoint,
                          .log = report_log,
                          .heartbeat = report_heartbeat,
                          .extend = extend,
                          .ask = ask,
                          .locate = locate,
                          .ns = t->worker->ns,
                          .layers = &t->set->layers,
                          .size_limits = &t->worker->size_limits,
                          .context = t,
                          .stop = &t->stop,
                          .cancelled = &t->cancelled,
                          .cancel_reason = t->cancel_reason};
}
