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
#include "running/recovery.h"
#include "running/redis_report.h"

static reeve_status block(rv_thread *t, const rv_item *item, const reeve_task *task, bool *ret_held)
{
    char lease[40];
    size_t count;
    const rv_reply *reply;
    const rv_prefix *prefix = &t->pool->queue_sessions[item->lease.queue]->prefix;
    reeve_bytes parents = rv_waiting_parents(task), chained = rv_dependencies_chained(task->dependencies, &count);
    const char *at = chained.data;
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)item->lease.since_ms, t->number_text);
    rv_cmd_script(t->conn, &rv_script_block, 1, 4 + RV_SETTLEMENT_CHAINED_ARGS * count);
    rv_arg(t->conn, prefix->text, prefix->length);
    rv_args(t->conn, t->batch.sessions[item->lease.queue]);
    rv_args(t->conn, lease);
    rv_args(t->conn, item->lease.id);
    rv_arg(t->conn, parents.data, parents.length);
    for (size_t i = 0; i < RV_SETTLEMENT_CHAINED_ARGS * count; i++) {
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

/* True: it is known what became of the item. *ret_sent: Redis may have blocked it, whatever is returned. A second call that is
 * refused tells that the first one did it, or that the lease is lost: either way there is nothing more to settle. */
static bool block_until_known(rv_thread *t, const rv_item *item, const reeve_task *task, bool *ret_held, bool *ret_sent)
{
    for (unsigned tries = 1; rv_worker_phase(t->worker) < RV_PHASE_LEAVING; tries++) {
        if (!rv_recovery_connect(t)) return false;
        reeve_status status = *ret_sent ? rv_recovery_regain(t, item) : REEVE_OK;
        if (status == REEVE_OK) status = block(t, item, task, ret_held);
        if (status == REEVE_OK) {
            *ret_held = *ret_held || *ret_sent;
            return true;
        }
        *ret_sent = true; /* also after an error: the script may have executed in part */
        if (status == REEVE_ELOST) rv_recovery_note_loss(t);
        if (status == REEVE_EREDIS) pause_after_refusal(t, tries);
    }
    return false;
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
