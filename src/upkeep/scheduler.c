#include "upkeep/scheduler.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/outbox.h"
#include "protocol/definition.h"
#include "protocol/maintain_call.h"
#include "redis/refusal.h"
#include "running/redis_report.h"
#include "running/wakeup.h"
#include "upkeep/cancel_running.h"
#include "upkeep/cron_fire.h"
#include "upkeep/follow_up.h"
#include "upkeep/partition_return.h"
#include "upkeep/partition_watch.h"
#include "upkeep/upkeep_thread.h"

/* The maximum number of tasks of each kind that one call of maintain.lua changes: Redis serves nobody else during
 * the call. */
#define MAINTAIN_MAX 200
#define MAINTAIN_AT_ONCE RV_MAINTAIN_AT_ONCE
#define TRY_AGAIN_MS 1000

/* The interval at which a queue is maintained even when nothing is due, as a safety net. */
static int64_t rest_ms(const reeve_worker *worker)
{
    return worker->session_ms;
}

/* The interval for a queue whose announcements do not reach this worker, because it is not subscribed, or because an
 * access list forbids them to others. */
#define POLL_MS 1000

static int64_t queue_session_rest_ms(const reeve_worker *worker, const rv_queue_session *queue_session)
{
    bool polls = !atomic_load(&worker->keeper.subscribed) || atomic_load(&queue_session->unsent);
    return polls && rest_ms(worker) > POLL_MS ? POLL_MS : rest_ms(worker);
}

/* ---- tending --------------------------------------------------------------------------------------------------- */

typedef struct round_of {
    reeve_worker *worker;
    size_t count;
    const char *trouble;
    char words[256];
} round_of;

static void log_maintained(const rv_queue_session *queue_session, const rv_maintain_reply *maintained)
{
    char number[RV_NUMBER_TEXT];
    if (maintained->promoted > 0) {
        rv_log(REEVE_LOG_DEBUG, "queue.due", "scheduled tasks are ready", "queue", queue_session->queue, "tasks",
               rv_number_text(number, maintained->promoted), NULL);
    }
}

/*
 * Estimates how far Redis's clock is ahead of this one. A reply that was read late gives a low estimate, and due
 * tasks would be promoted late: so the highest of the last estimates counts, less a millisecond for each later
 * reply, because the clocks may drift.
 */
static void note_clock(rv_scheduler *scheduler, int64_t now_ms)
{
    long long ahead = now_ms - rv_now_ms(), before = atomic_load(&scheduler->clock_ahead_ms);
    bool same = before != 0 && ahead < before && before - ahead < 1000;
    atomic_store(&scheduler->clock_ahead_ms, same ? before - 1 : ahead);
}

static void note_spared(rv_queue_session *queue_session, int64_t spared_ms)
{
    char number[RV_NUMBER_TEXT];
    bool known = queue_session->spares;
    queue_session->spares = spared_ms > 0;
    if (known || !queue_session->spares) return;
    rv_log(REEVE_LOG_INFO, "session.spared",
           "no worker maintained the queue for a while: sessions that expired in that time are not reaped yet", "queue",
           queue_session->queue, "for_ms", rv_number_text(number, (uint64_t)spared_ms), NULL);
}

static void note_unsent(rv_queue_session *queue_session, bool unsent)
{
    if (atomic_exchange(&queue_session->unsent, unsent) || !unsent) return;
    rv_log(REEVE_LOG_WARN, "control.unsent",
           "a Redis user may not publish announcements: the worker maintains the queue every second and looks for "
           "cancels at "
           "heartbeats",
           "queue", queue_session->queue, "grant", "&<namespace>:*", NULL);
}

static void on_maintained(size_t index, const rv_reply *reply, void *context)
{
    round_of *r = context;
    rv_scheduler *scheduler = &r->worker->scheduler;
    rv_maintain_reply maintained;
    if (index >= r->count) return;
    size_t queue_session = scheduler->maintained[index];
    if (!rv_maintain_call_read(&maintained, reply)) {
        rv_copy_text(r->words, sizeof(r->words), rv_reply_is(reply, RV_ERROR) ? reply->text : "unexpected reply");
        r->trouble = r->words;
        rv_wakeup_set_due(scheduler, queue_session, rv_deadline(1000));
        return;
    }
    note_clock(scheduler, maintained.now_ms);
    log_maintained(rv_worker_queue_session(r->worker, queue_session), &maintained);
    if (rv_reply_is(maintained.policy, RV_TEXT))
        rv_queue_session_set_policy(rv_worker_queue_session(r->worker, queue_session), maintained.policy->text,
                                    maintained.policy->length);
    atomic_store_explicit(&rv_worker_queue_session(r->worker, queue_session)->result_max, maintained.result_max,
                          memory_order_relaxed);
    atomic_store_explicit(&r->worker->queue_sessions[queue_session]->payload_max, maintained.payload_max,
                          memory_order_relaxed);
    rv_cron_fire_note(r->worker, queue_session, &maintained);
    scheduler->dead[index] = maintained.dead;
    scheduler->ends[index] = maintained.ends;
    scheduler->unread[index] = maintained.unread && rv_worker_queue_session(r->worker, queue_session)->reread >= 0;
    scheduler->outbox[index] = maintained.outbox > 0 || scheduler->unread[index];
    note_spared(rv_worker_queue_session(r->worker, queue_session), maintained.spared_ms);
    note_unsent(rv_worker_queue_session(r->worker, queue_session), maintained.unsent);
    int64_t rest = queue_session_rest_ms(r->worker, rv_worker_queue_session(r->worker, queue_session));
    int64_t in = maintained.more                                              ? 0
                 : maintained.next_in_ms >= 0 && maintained.next_in_ms < rest ? maintained.next_in_ms
                                                                              : rest;
    rv_wakeup_set_due(scheduler, queue_session, rv_deadline(in));
}

/* Picks the queues that are due, at most as many as one pipeline takes. */
static size_t pick(reeve_worker *worker)
{
    rv_scheduler *scheduler = &worker->scheduler;
    int64_t now = rv_now_ms();
    size_t count = 0, queue_sessions = worker->queue_session_count;
    rv_lock(&scheduler->thread.lock);
    for (size_t i = 0; i < queue_sessions && count < MAINTAIN_AT_ONCE; i++) {
        if (scheduler->due[i] > now) continue;
        scheduler->due[i] = RV_FOREVER;
        rv_queue_session *queue_session = rv_worker_queue_session(worker, i);
        if (!atomic_load(&queue_session->away) || atomic_exchange(&queue_session->last_look, false))
            scheduler->maintained[count++] = i;
    }
    rv_unlock(&scheduler->thread.lock);
    return count;
}

static int64_t earliest(rv_scheduler *scheduler, size_t queue_sessions)
{
    int64_t at = RV_FOREVER;
    rv_lock(&scheduler->thread.lock);
    for (size_t i = 0; i < queue_sessions; i++) {
        if (scheduler->due[i] < at) at = scheduler->due[i];
    }
    rv_unlock(&scheduler->thread.lock);
    return at;
}

/*
 * Delivers messages of a queue to other queues. Messages that an older or faulty worker had set aside are tried
 * again once in the life of this worker.
 */
#define CARRY_ROUNDS 16

static reeve_status carry_of(reeve_worker *worker, rv_queue_session *queue_session, bool unread, size_t *ret_carried,
                             rv_error *error)
{
    rv_conn *conn = worker->scheduler.thread.conn;
    if (!unread)
        return rv_outbox_carry_on(conn, worker->ns, queue_session->queue, CARRY_ROUNDS, &queue_session->carry_skip,
                                  ret_carried, error);
    if (queue_session->reread == 0)
        rv_log(REEVE_LOG_INFO, "outbox.reread", "the worker tries messages to other queues again that were set aside",
               "queue", queue_session->queue, NULL);
    return rv_outbox_carry_unread(conn, worker->ns, queue_session->queue, CARRY_ROUNDS, &queue_session->reread,
                                  ret_carried, error);
}

static void note_carried(rv_queue_session *queue_session, reeve_status status, const char *words)
{
    bool refused = status == REEVE_EREDIS;
    if ((!refused && status != REEVE_OK) || queue_session->refused == refused) return;
    queue_session->refused = refused;
    if (!refused) {
        rv_log(REEVE_LOG_INFO, "outbox.accepted", "another queue accepts the messages of this queue again", "queue",
               queue_session->queue, NULL);
        return;
    }
    const char *advice = rv_refusal_advice(words);
    advice += strspn(advice, "; ");
    rv_log(
        REEVE_LOG_ERROR, "outbox.refused",
        "another queue refuses the messages of this queue: tasks that wait there stay blocked; the worker tries again",
        "queue", queue_session->queue, "error", words, advice[0] != '\0' ? "advice" : NULL, advice, NULL);
}

/* Delivers the messages of the maintained queues, which are then maintained again: there may be more messages.
 * False: the connection was lost. */
static bool carry(reeve_worker *worker, size_t count)
{
    rv_scheduler *scheduler = &worker->scheduler;
    for (size_t i = 0; i < count; i++) {
        size_t carried, queue_session = scheduler->maintained[i];
        rv_error error = {0};
        if (!scheduler->outbox[i]) continue;
        reeve_status status =
            carry_of(worker, rv_worker_queue_session(worker, queue_session), scheduler->unread[i], &carried, &error);
        note_carried(rv_worker_queue_session(worker, queue_session), status, error.text);
        if (!rv_conn_is_open(scheduler->thread.conn)) return false;
        rv_wakeup_set_due(scheduler, queue_session, rv_deadline(status == REEVE_OK && carried > 0 ? 0 : TRY_AGAIN_MS));
    }
    return true;
}

/* last: only maintain.lua is called, by the deadline; what it finds to be due is for other workers. */
static bool maintain(reeve_worker *worker, int64_t deadline, bool last)
{
    rv_scheduler *scheduler = &worker->scheduler;
    round_of r = {.worker = worker, .count = pick(worker)};
    memset(scheduler->dead, 0, sizeof(scheduler->dead));
    memset(scheduler->ends, 0, sizeof(scheduler->ends));
    memset(scheduler->outbox, 0, sizeof(scheduler->outbox));
    for (size_t i = 0; i < r.count; i++)
        rv_maintain_call_build(scheduler->thread.conn,
                               &rv_worker_queue_session(worker, scheduler->maintained[i])->prefix, MAINTAIN_MAX,
                               worker->session_ms);
    if (r.count == 0) return true;
    if (rv_conn_exec(scheduler->thread.conn, deadline, on_maintained, &r) != REEVE_OK) {
        for (size_t i = 0; i < r.count; i++) rv_wakeup_set_due(scheduler, scheduler->maintained[i], rv_now_ms());
        rv_cron_fire_drop(worker);
        return false;
    }
    if (r.trouble != NULL)
        rv_redis_report_refusal(worker, "Redis refused the maintenance of a queue: the worker tries again", r.trouble);
    rv_conn *conn = scheduler->thread.conn;
    if (last) rv_cron_fire_drop(worker);
    if (last) return true;
    if (rv_cron_fire_run(worker, conn) && rv_follow_up_run(worker, conn, r.count) && carry(worker, r.count))
        return true;
    for (size_t i = 0; i < r.count; i++) rv_wakeup_set_due(scheduler, scheduler->maintained[i], rv_now_ms());
    return false;
}

/* The deadline of one attempt to restart the embedded server. It is short because the attempt does not end when the
 * worker stops. */
#define REVIVE_MS 2000

static int64_t revive_deadline(const reeve_worker *worker)
{
    return rv_deadline(worker->command_ms < REVIVE_MS ? worker->command_ms : REVIVE_MS);
}

/* Makes one attempt to connect. After a failure it restarts the embedded server, if this worker has one. */
static bool connect(reeve_worker *worker)
{
    rv_scheduler *scheduler = &worker->scheduler;
    if (rv_conn_is_open(scheduler->thread.conn)) return true;
    unsigned tried = rv_redis_report_try(worker);
    if (rv_conn_open(scheduler->thread.conn, rv_deadline(worker->command_ms)) == REEVE_OK) {
        rv_redis_report_up(worker, scheduler->thread.conn);
        return true;
    }
    rv_redis_report_down(worker, tried, rv_conn_error(scheduler->thread.conn)->text);
    rv_error error = {0};
    if (worker->embedded != NULL && rv_embedded_revive(worker->embedded, revive_deadline(worker), &error) != REEVE_OK) {
        rv_log(REEVE_LOG_ERROR, "embedded.down", "the embedded server could not be restarted", "error", error.text,
               NULL);
    }
    return false;
}

/*
 * After an outage, or after the process was frozen, the sessions of this worker may have expired while nobody reaped
 * them. They are still valid then, and so are the outcomes of its threads: a heartbeat renews them before the
 * scheduler reaps.
 */
#define YIELD_MIN_MS 2000

static bool keeper_goes_first(reeve_worker *worker)
{
    rv_scheduler *scheduler = &worker->scheduler;
    int64_t now = rv_now_ms(), beaten = atomic_load(&worker->heart.beaten_at_ms);
    bool behind = beaten != 0 && now - beaten > worker->session_ms / 2;
    if (!behind) scheduler->yields_until_ms = 0;
    if (behind && scheduler->yields_until_ms == 0) {
        int64_t patience = worker->session_ms > YIELD_MIN_MS ? worker->session_ms : YIELD_MIN_MS;
        scheduler->yields_until_ms = now + patience;
    }
    return behind && now < scheduler->yields_until_ms;
}

#define YIELD_MS 20

/* Asks for cancels whose announcement may have been missed; asks again if the connection is lost, or if Redis refuses
 * to answer. */
static bool look_at_cancels(reeve_worker *worker)
{
    rv_scheduler *scheduler = &worker->scheduler;
    bool answered = false;
    if (!atomic_exchange(&scheduler->asks_cancelled, false)) return true;
    bool sent = rv_cancel_running_ask(worker, scheduler->thread.conn, &answered);
    if (!answered) atomic_store(&scheduler->asks_cancelled, true);
    return sent;
}

/* looks_at_ms: when to look at partitions. */
static int64_t next_round(reeve_worker *worker, int64_t looks_at_ms)
{
    rv_scheduler *scheduler = &worker->scheduler;
    int64_t at = earliest(scheduler, worker->queue_session_count), again = rv_deadline(TRY_AGAIN_MS);
    if (looks_at_ms < at) at = looks_at_ms;
    return atomic_load(&scheduler->asks_cancelled) && again < at ? again : at;
}

/* The last maintenance: it wakes other workers for tasks that this worker's threads were woken for. */
#define LAST_MS 1000

static void maintain_last(reeve_worker *worker)
{
    rv_conn *conn = worker->scheduler.thread.conn;
    rv_conn_set_quit(conn, NULL);
    int64_t deadline = rv_deadline(LAST_MS);
    if (rv_conn_open(conn, deadline) == REEVE_OK) (void)maintain(worker, deadline, true);
    rv_conn_close(conn);
}

/* Returns when to try again on a new connection. */
static int64_t after_loss(rv_scheduler *scheduler, reeve_worker *worker)
{
    if (++scheduler->tries > 1) rv_redis_report_lost(worker, rv_conn_error(scheduler->thread.conn)->text);
    return rv_deadline(rv_backoff_reconnect(scheduler->tries, rv_random_unit()));
}

/* How often an outdated worker checks whether it is to end. */
#define OUTDATED_MS 60000

static void *scheduler_main(void *argument)
{
    reeve_worker *worker = argument;
    rv_scheduler *scheduler = &worker->scheduler;
    while (rv_worker_phase(worker) < RV_PHASE_ENDED) {
        int64_t until = rv_now_ms(), looks_at_ms;
        rv_partition_watch_apply(worker);
        if (atomic_load(&worker->outdated)) {
            until = rv_deadline(OUTDATED_MS);
        } else if (!connect(worker)) {
            until = rv_deadline(rv_backoff_reconnect(++scheduler->tries, rv_random_unit()));
        } else if (keeper_goes_first(worker)) {
            until = rv_deadline(YIELD_MS);
        } else if (look_at_cancels(worker) && maintain(worker, 0, false) &&
                   rv_partition_return_look(worker, &looks_at_ms)) {
            if (scheduler->tries > 1) rv_redis_report_used(worker);
            scheduler->tries = 0;
            until = next_round(worker, looks_at_ms);
        } else {
            until = after_loss(scheduler, worker);
        }
        if (rv_waker_wait(&scheduler->thread.waker, until)) rv_waker_silence(&scheduler->thread.waker);
    }
    if (!atomic_load(&worker->outdated)) maintain_last(worker);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

reeve_status rv_scheduler_open(reeve_worker *worker, rv_error *error)
{
    rv_scheduler *scheduler = &worker->scheduler;
    scheduler->due = rv_zalloc_array(worker->queue_session_count, sizeof(*scheduler->due));
    scheduler->maintained = rv_zalloc_array(MAINTAIN_AT_ONCE, sizeof(*scheduler->maintained));
    scheduler->cron = rv_zalloc(sizeof(*scheduler->cron));
    if (scheduler->due == NULL || scheduler->maintained == NULL || scheduler->cron == NULL)
        return rv_fail(error, REEVE_ENOMEM, "no memory for the scheduler");
    return rv_upkeep_thread_open(&scheduler->thread, worker, "scheduler", worker->command_ms, error);
}

reeve_status rv_scheduler_start(reeve_worker *worker, rv_error *error)
{
    return rv_upkeep_thread_start(&worker->scheduler.thread, worker, scheduler_main, error);
}

void rv_scheduler_fini(reeve_worker *worker)
{
    rv_scheduler *scheduler = &worker->scheduler;
    rv_free(scheduler->due);
    rv_free(scheduler->maintained);
    if (scheduler->cron != NULL) rv_cron_fire_table_fini(scheduler->cron);
    rv_free(scheduler->cron);
    rv_upkeep_thread_fini(&scheduler->thread);
}
