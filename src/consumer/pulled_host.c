#include "consumer/pulled_host.h"

#include "base/lock.h"
#include "consumer/consumer_gate.h"

/* REEVE_EREFUSED: the lease is known to be lost. Else the call has passed the gate. */
static reeve_status enter(rv_pulled *p)
{
    reeve_status status = rv_consumer_gate_enter(p->consumer, 0);
    if (status != REEVE_OK) return status;
    rv_thread *t = p->consumer->thread;
    rv_lock(&t->batch.lock);
    bool lost =
        p->call.item == NULL || p->call.item->refused || p->call.item->state != RV_ITEM_RUNNING || p->call.item->taken;
    rv_unlock(&t->batch.lock);
    if (!lost) return REEVE_OK;
    rv_consumer_gate_leave(p->consumer);
    return REEVE_EREFUSED;
}

static reeve_status leave(rv_pulled *p, reeve_status status)
{
    rv_consumer_gate_leave(p->consumer);
    return status;
}

static reeve_status progress(reeve_task *task, int percent, const char *words, void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.progress(task, percent, words, p->consumer->thread));
}

static reeve_status pause_for(reeve_task *task, const char *group, int64_t delay_ms, void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.pause_for(task, group, delay_ms, p->consumer->thread));
}

static reeve_status checkpoint(reeve_task *task, reeve_bytes data, void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.checkpoint(task, data, p->consumer->thread));
}

static reeve_status last_checkpoint(reeve_task *task, rv_buf *ret, void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.last_checkpoint(task, ret, p->consumer->thread));
}

static reeve_status heartbeat(reeve_task *task, void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.heartbeat(task, p->consumer->thread));
}

static reeve_status extend(reeve_task *task, int64_t for_ms, void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.extend(task, for_ms, p->consumer->thread));
}

static reeve_status add_log(reeve_task *task, const char *line, void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.log(task, line, p->consumer->thread));
}

/* The reply stays with the task: another call may use the connection before it is read. */
static reeve_status ask(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                        void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    status = p->consumer->host.ask(build, what, ret, p->consumer->thread);
    if (status == REEVE_OK) rv_conn_take_reply(p->consumer->thread->conn, &p->answers);
    return leave(p, status);
}

static reeve_status locate(const char *handle, char ret[REEVE_HANDLE_MAX], void *context)
{
    rv_pulled *p = context;
    reeve_status status = enter(p);
    if (status != REEVE_OK) return status;
    return leave(p, p->consumer->host.locate(handle, ret, p->consumer->thread));
}

void rv_pulled_host_take(rv_pulled *p)
{
    rv_task_host *host = &p->call.host;
    host->progress = progress;
    host->pause_for = pause_for;
    host->checkpoint = checkpoint;
    host->last_checkpoint = last_checkpoint;
    host->log = add_log;
    host->heartbeat = heartbeat;
    host->extend = extend;
    host->ask = ask;
    host->locate = locate;
    host->context = p;
    host->stop = &p->call.stop;
    host->cancelled = &p->call.cancelled;
}
