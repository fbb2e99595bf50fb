#include "running/at_most_once.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/id.h"
#include "base/lock.h"
#include "base/log.h"
#include "protocol/scripts.h"
#include "protocol/turn_build.h"
#include "protocol/turn_reply.h"
#include "running/recovery.h"
#include "running/redis_report.h"

/* One turn for the item alone, of this very lease. */
static reeve_status settle(rv_thread *t, const rv_item *item, const rv_settlement *done, bool *ret_accepted)
{
    char lease[40];
    const rv_reply *reply;
    rv_turn_reply turn_reply;
    const rv_settlement *items[] = {done};
    rv_turn_group group = {.prefix = &t->pool->queue_sessions[item->lease.queue]->prefix,
                           .session = t->batch.sessions[item->lease.queue],
                           .lease = lease,
                           .items = items,
                           .count = 1};
    rv_turn turn = {.thread = t->number_text, .groups = &group, .group_count = 1};
    (void)snprintf(lease, sizeof(lease), "%lld %s", (long long)item->lease.since_ms, t->number_text);
    rv_turn_build(t->conn, &turn);
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    if (status == REEVE_OK && !rv_turn_reply_read(&turn_reply, reply)) status = REEVE_EREDIS;
    if (status == REEVE_OK) *ret_accepted = turn_reply.refused->count == 0;
    return status;
}

/* A session that exists has existed all the time: it has settled the tasks that it does not hold any more. */
static reeve_status does_session_stand(rv_thread *t, const rv_item *item, bool *ret_stands)
{
    char key[RV_SESSION_LENGTH + 16];
    const rv_reply *reply;
    const rv_prefix *prefix = &t->pool->queue_sessions[item->lease.queue]->prefix;
    (void)snprintf(key, sizeof(key), "running:%s", t->batch.sessions[item->lease.queue]);
    rv_cmd(t->conn, 3);
    rv_args(t->conn, "HEXISTS");
    rv_arg2(t->conn, prefix->text, prefix->length, key, strlen(key));
    rv_args(t->conn, "#");
    reeve_status status = rv_conn_call(t->conn, 0, &reply);
    *ret_stands = status == REEVE_OK && rv_reply_int(reply, 0) == 1;
    return status;
}

static void note_settling(rv_thread *t, rv_item *item, bool settling)
{
    rv_lock(&t->batch.lock);
    item->settling = settling;
    rv_unlock(&t->batch.lock);
}

static void note_accepted(rv_thread *t, rv_item *item)
{
    rv_lock(&t->batch.lock);
    item->accepted = true;
    rv_unlock(&t->batch.lock);
}

/* The task has not run and may be recorded as completed. The thread settles nothing more for it: if it was not
 * settled, it goes back with the session. */
static void note_lost(rv_thread *t, rv_item *item)
{
    rv_lock(&t->batch.lock);
    item->refused = true;
    rv_unlock(&t->batch.lock);
    rv_log(REEVE_LOG_WARN, "task.lost", "a task that runs at most once did not run: it may be recorded as completed",
           "queue", t->pool->queue_sessions[item->lease.queue]->queue, "task", item->lease.id, NULL);
}

/* *ret_sent: Redis may have settled the task, whatever is returned. */
static bool settle_until_known(rv_thread *t, const rv_item *item, const rv_settlement *done, bool *ret_sent)
{
    for (unsigned tries = 1; rv_worker_phase(t->worker) < RV_PHASE_LEAVING; tries++) {
        bool accepted = false;
        t->insists = *ret_sent;
        if (!rv_recovery_connect(t)) return false;
        /* A settled task must run, and no handler begins once the worker takes no more tasks. */
        if (!*ret_sent && rv_thread_phase(t) != RV_PHASE_RUNNING) return false;
        reeve_status status = *ret_sent ? rv_recovery_regain(t, item) : REEVE_OK;
        if (status == REEVE_OK) status = settle(t, item, done, &accepted);
        /* A repeated call that is refused: the first one may have settled it. */
        if (status == REEVE_OK && !accepted && *ret_sent) status = does_session_stand(t, item, &accepted);
        if (status == REEVE_OK) return accepted;
        *ret_sent = true; /* also after an error: the script may have executed in part */
        if (status == REEVE_ELOST) rv_recovery_note_loss(t);
        if (status == REEVE_EREDIS) {
            rv_waker_silence(&t->waker);
            rv_waker_wait(&t->waker, rv_deadline(rv_backoff_reconnect(tries, rv_random_unit())));
        }
    }
    return false;
}

bool rv_at_most_once_settle(rv_thread *t, rv_item *item, const rv_attempt_policy *policy)
{
    const rv_settlement done = {.id = item->lease.id,
                                .id_length = item->lease.id_length,
                                .outcome = REEVE_OUTCOME_DONE,
                                .has_info = item->lease.has_info,
                                .checkpoint = item->lease.has_checkpoint,
                                .deadline = item->lease.envelope.deadline_ms > 0,
                                .keeps_record = policy->keeps_record,
                                .unique = policy->unique,
                                .keeps_key = policy->unique};
    bool sent = false;
    note_settling(t, item, true);
    bool accepted = settle_until_known(t, item, &done, &sent);
    t->insists = false;
    if (accepted) note_accepted(t, item);
    if (!accepted && sent) note_lost(t, item);
    note_settling(t, item, false);
    return accepted;
}

static reeve_status free_key(rv_thread *t, const rv_item *item)
{
    const rv_reply *reply;
    const rv_prefix *prefix = &t->pool->queue_sessions[item->lease.queue]->prefix;
    rv_cmd_script(t->conn, &rv_script_once, 1, 2);
    rv_arg(t->conn, prefix->text, prefix->length);
    rv_args(t->conn, t->batch.sessions[item->lease.queue]);
    rv_args(t->conn, item->lease.id);
    return rv_conn_call(t->conn, 0, &reply);
}

static void free_key_until_known(rv_thread *t, const rv_item *item)
{
    for (unsigned tries = 1; rv_worker_phase(t->worker) < RV_PHASE_LEAVING; tries++) {
        if (!rv_recovery_connect(t)) return;
        reeve_status status = free_key(t, item);
        if (status == REEVE_OK) return;
        if (status == REEVE_ELOST) rv_recovery_note_loss(t);
        if (status != REEVE_EREDIS) continue;
        rv_redis_report_refusal(t->worker, "Redis refused to release a unique key: the worker tries again",
                                rv_conn_error(t->conn)->text);
        rv_waker_silence(&t->waker);
        rv_waker_wait(&t->waker, rv_deadline(rv_backoff_reconnect(tries, rv_random_unit())));
    }
}

void rv_at_most_once_end(rv_thread *t, const rv_item *item, const rv_attempt_policy *policy)
{
    if (!item->accepted || !policy->unique) return;
    t->insists = true;
    free_key_until_known(t, item);
    t->insists = false;
}
