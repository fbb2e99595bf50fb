#include "running/block_task.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/id.h"
#include "base/lock.h"
#include "base/log.h"
#include "handlers/dependencies.h"
#include "handlers/waiting.h"
#include "protocol/scripts.h"
#include "protocol/settlement.h"
#include "running/chain_place.h"
#include "running/recovery.h"
#include "running/redis_report.h"
#include "running/task_host.h"

/* What goes with the call: the parents, and the tasks that the handler has chained, with handles as scripts know them. */
typedef struct blocking {
    reeve_bytes parents;
    rv_chain_placed chained;
    rv_buf located, placed;
    bool ready;
} blocking;

static void begin(blocking *b, const reeve_task *task)
{
    *b = (blocking){.parents = rv_waiting_parents(task)};
    b->chained.given = rv_dependencies_chained(task->dependencies, &b->chained.count);
    b->chained.placed = b->chained.given;
    rv_buf_init(&b->located, SIZE_MAX);
    rv_buf_init(&b->placed, SIZE_MAX);
}

/* Asks Redis where parents in divided queues are. */
static reeve_status place(rv_thread *t, const reeve_task *task, blocking *b)
{
    const rv_task_host host = rv_task_host_make(t); /* the task's own may wait for the caller: consumer/pulled_host.h */
    b->ready = b->ready || !atomic_load_explicit(&t->worker->has_partitions, memory_order_relaxed);
    if (b->ready) return REEVE_OK;
    rv_buf_clear(&b->located);
    rv_buf_clear(&b->placed);
    if (b->chained.count > 0) {
        if (!rv_chain_place(t->worker, &host, task->queue, b->chained.given, b->chained.count, &b->placed))
            return REEVE_ENOMEM;
        b->chained.placed = (reeve_bytes){b->placed.data, b->placed.length};
    }
    reeve_status status = rv_chain_place_parents(t->worker, &host, b->parents, &b->chained, &b->located);
    if (status != REEVE_OK) return status;
    b->parents = (reeve_bytes){b->located.data, b->located.length};
    b->ready = true;
    return REEVE_OK;
}

static reeve_status block(rv_thread *t, const rv_item *item, const blocking *b, bool *ret_held)
{
    char lease[40];
    const rv_reply *reply;
    const rv_prefix *prefix = &t->pool->queue_sessions[item->lease.queue]->prefix;
    const char *at = b->chained.placed.data;
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)item->lease.since_ms, t->number_text);
    rv_cmd_script(t->conn, &rv_script_block, 1, 4 + RV_SETTLEMENT_CHAINED_ARGS * b->chained.count);
    rv_arg(t->conn, prefix->text, prefix->length);
    rv_args(t->conn, t->batch.sessions[item->lease.queue]);
    rv_args(t->conn, lease);
    rv_args(t->conn, item->lease.id);
    rv_arg(t->conn, b->parents.data, b->parents.length);
    for (size_t i = 0; i < RV_SETTLEMENT_CHAINED_ARGS * b->chained.count; i++) {
        reeve_bytes argument;
        at = rv_settlement_chained_argument(at, &argument);
        rv_arg(t->conn, argument.data, argument.length);
    }
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    *ret_held = status == REEVE_OK && rv_reply_int(reply, 0) == 1;
    return status;
}

static void pause_after_refusal(rv_thread *t, unsigned tries)
{
    rv_redis_report_refusal(t->worker, "Redis refused to let a task wait for others: the worker tries again",
                            rv_conn_error(t->conn)->text);
    rv_waker_silence(&t->waker);
    rv_waker_wait(&t->waker, rv_deadline(rv_backoff_reconnect(tries, rv_random_unit())));
}

/* One try. *ret_sent: Redis may have blocked it, whatever is returned. */
static reeve_status try_once(rv_thread *t, const rv_item *item, const reeve_task *task, blocking *b, bool *ret_held,
                             bool *ret_sent)
{
    reeve_status status = *ret_sent ? rv_recovery_regain(t, item) : place(t, task, b);
    if (status != REEVE_OK) return status;
    status = block(t, item, b, ret_held);
    if (status == REEVE_OK) *ret_held = *ret_held || *ret_sent;
    *ret_sent = true; /* also after an error: the script may have executed in part */
    return status;
}

/* True: it is known what became of the item. *ret_sent as above. A second call that is refused tells that the first one
 * did it, or that the lease is lost: either way there is nothing more to settle. */
static bool block_until_known(rv_thread *t, const rv_item *item, const reeve_task *task, bool *ret_held, bool *ret_sent)
{
    blocking b;
    reeve_status status = REEVE_ELOST;
    begin(&b, task);
    for (unsigned tries = 1; status != REEVE_OK && rv_worker_phase(t->worker) < RV_PHASE_LEAVING; tries++) {
        if (!rv_recovery_connect(t)) break;
        status = try_once(t, item, task, &b, ret_held, ret_sent);
        if (status == REEVE_ENOMEM && !*ret_sent) break; /* it is given back */
        if (status == REEVE_ELOST) rv_recovery_note_loss(t);
        if (status == REEVE_EREDIS) pause_after_refusal(t, tries);
    }
    rv_buf_fini(&b.located);
    rv_buf_fini(&b.placed);
    return status == REEVE_OK;
}

static void note(rv_thread *t, rv_item *item, bool settling, bool accepted, bool refused)
{
    rv_lock(&t->batch.lock);
    item->settling = settling;
    item->accepted = item->accepted || accepted;
    item->refused = item->refused || refused;
    rv_unlock(&t->batch.lock);
}

void rv_block_task_settle(rv_thread *t, rv_item *item, const reeve_task *task)
{
    bool held = false, sent = false;
    if (rv_waiting_parents(task).length == 0 || item->accepted || item->refused || item->unbegun) return;
    note(t, item, true, false, false);
    t->insists = true;
    bool known = block_until_known(t, item, task, &held, &sent);
    t->insists = false;
    note(t, item, false, known && held, known ? !held : sent);
}
