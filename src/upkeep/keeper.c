#include "upkeep/keeper.h"

#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/definition.h"
#include "protocol/end_session_call.h"
#include "protocol/registry.h"
#include "protocol/scripts.h"
#include "running/bound.h"
#include "running/redis_report.h"
#include "running/wakeup.h"
#include "running/worker_conn.h"
#include "upkeep/away.h"
#include "upkeep/cancel_running.h"
#include "upkeep/early.h"
#include "upkeep/heartbeat.h"
#include "upkeep/last_messages.h"
#include "upkeep/missed.h"
#include "upkeep/offload.h"
#include "upkeep/pool_sizing.h"
#include "upkeep/requests.h"
#include "upkeep/strays.h"
#include "upkeep/upkeep_thread.h"

/* ---- connecting ------------------------------------------------------------------------------------------------ */

/* The minimum deadline of a call of the keeper: a distant Redis must be reachable while time limits pass. */
#define CALL_MIN_MS 500

/* The deadline of a call: the keeper enforces time limits also while Redis does not answer. */
static int64_t call_deadline(reeve_worker *worker)
{
    int64_t max = rv_deadline(worker->command_ms), min = rv_deadline(CALL_MIN_MS),
            limit = rv_offload_next_limit(worker);
    if (limit < min) limit = min;
    return limit < max ? limit : max;
}

static bool open_connection(reeve_worker *worker, rv_conn *conn, int64_t deadline)
{
    if (rv_conn_is_open(conn)) return true;
    unsigned tried = rv_redis_report_try(worker);
    bool open = rv_conn_open(conn, deadline) == REEVE_OK;
    if (open) rv_redis_report_up(worker, conn);
    if (!open) rv_redis_report_down(worker, tried, rv_conn_error(conn)->text);
    return open;
}

static bool connect(reeve_worker *worker, int64_t deadline)
{
    return open_connection(worker, worker->keeper.thread.conn, deadline);
}

/* ---- the control channel --------------------------------------------------------------------------------------- */

/* The pause between attempts when the right to subscribe is missing. A new user of Redis 7 does not have it. */
#define DEAF_MS 60000

static void note_deaf(reeve_worker *worker)
{
    worker->keeper.listen_again_ms = rv_now_ms() + DEAF_MS;
    if (atomic_exchange(&worker->keeper.deaf, true)) return;
    rv_log(
        REEVE_LOG_WARN, "control.deaf",
        "the Redis user may not subscribe to channels: the worker looks for due tasks every second and for cancels at "
        "heartbeats, and idle threads are not handed tasks",
        "url", worker->target->redacted, "grant", "&<namespace>:*", NULL);
}

/* Scheduler and heartbeat poll for what the channel would announce. */
static void note_unsubscribed(reeve_worker *worker)
{
    if (atomic_exchange(&worker->keeper.subscribed, false)) rv_wakeup_all_queues(worker);
}

/* The maximum deadline of a call of the listener: meanwhile the keeper does not notice the time limits of tasks that
 * begin. */
#define LISTENER_MAX_MS 2000

static int64_t listener_deadline(reeve_worker *worker)
{
    int64_t deadline = call_deadline(worker), max = rv_deadline(LISTENER_MAX_MS);
    return deadline < max ? deadline : max;
}

/* A subscription that lasted so long counts as successful. */
#define LISTENED_MS 4000

static bool subscribe_to(reeve_worker *worker, const char *channel, rv_error *error)
{
    const rv_reply *reply = NULL;
    rv_conn *listener = worker->keeper.listener;
    rv_cmd(listener, 2);
    rv_args(listener, "SUBSCRIBE");
    rv_arg2(listener, worker->ns, strlen(worker->ns), channel, strlen(channel));
    reeve_status status = rv_conn_call(listener, listener_deadline(worker), &reply);
    if (status == REEVE_EREDIS && rv_reply_has_error_code(reply, "NOPERM")) note_deaf(worker);
    if (status != REEVE_OK) *error = *rv_conn_error(listener);
    return status == REEVE_OK;
}

/* What Redis refused when idle threads were to be woken: the first error, and the first foreign key. */
typedef struct refusals {
    rv_error error;
    rv_error foreign;
} refusals;

static void on_woken(size_t index, const rv_reply *reply, void *context)
{
    refusals *r = context;
    (void)index;
    if (!rv_reply_is(reply, RV_ERROR)) return;
    rv_error *kept = rv_reply_has_error_code(reply, "WRONGTYPE") ? &r->foreign : &r->error;
    if (kept->status != REEVE_OK) return;
    (void)rv_fail(kept, REEVE_EREDIS, "Redis answered: %s%s", reply->text, rv_refusal_advice(reply->text));
}

/* The worker tries about four times a second: each reason is logged once a minute. */
static void log_refused(reeve_worker *worker, const char *message, const rv_error *error)
{
    rv_keeper *keeper = &worker->keeper;
    if (!rv_repeated_is_new(&keeper->listen_failed, error->text, rv_now_ms())) return;
    rv_log(REEVE_LOG_WARN, "redis.error", message, "url", worker->target->redacted, "error", error->text, NULL);
}

/* Redis may have restarted without its last writes: threads that are busy by now are in `idle` again, and would be
 * handed tasks as soon as this worker listens. Before it has listened once, no thread of it is handed a task. Where
 * `idle` is a foreign key nobody is handed a task in that queue: the worker listens for the others. */
static bool wake_idle(reeve_worker *worker, rv_error *error)
{
    rv_conn *listener = worker->keeper.listener;
    refusals r = {0};
    if (!worker->keeper.listened) return true;
    for (size_t i = 0; i < worker->queue_session_count; i++) {
        rv_session_text session;
        (void)rv_queue_session_get(rv_worker_queue_session(worker, i), session);
        rv_cmd_script(listener, &rv_script_wake_idle, 1, 1);
        rv_arg(listener, rv_worker_queue_session(worker, i)->prefix.text,
               rv_worker_queue_session(worker, i)->prefix.length);
        rv_args(listener, session);
    }
    reeve_status status = rv_conn_exec(listener, listener_deadline(worker), on_woken, &r);
    if (r.foreign.status != REEVE_OK) log_refused(worker, "idle threads of this worker cannot be woken", &r.foreign);
    *error = status == REEVE_OK || r.error.status != REEVE_OK ? r.error : *rv_conn_error(listener);
    return error->status == REEVE_OK;
}

/* Subscribes to the control channel of all workers, and to a channel of this worker, whose subscriber shows that it
 * is alive (lib/worker_alive.lua). */
static void subscribe(reeve_worker *worker)
{
    rv_keeper *keeper = &worker->keeper;
    char alive[RV_RANDOM_LENGTH + 16];
    rv_error error = {0};
    /* The connection may be lost repeatedly, as soon as it has subscribed. */
    if (rv_now_ms() - keeper->listen_again_ms > LISTENED_MS) keeper->listen_tries = 0;
    keeper->listen_again_ms = rv_now_ms() + rv_backoff_reconnect(++keeper->listen_tries, rv_random_unit());
    if (!open_connection(worker, keeper->listener, listener_deadline(worker))) return;
    /* A subscription that is left behind would show a dead worker as alive. */
    rv_conn_end_lost(keeper->listener, listener_deadline(worker));
    (void)snprintf(alive, sizeof(alive), ":alive:%s", worker->id);
    if (!wake_idle(worker, &error) || !subscribe_to(worker, ":control", &error) ||
        !subscribe_to(worker, alive, &error)) {
        if (!atomic_load(&keeper->deaf))
            log_refused(worker, "cannot subscribe to the control channel: the worker tries again", &error);
        rv_conn_close(keeper->listener);
        return;
    }
    atomic_store(&keeper->deaf, false);
    atomic_store(&keeper->subscribed, true);
    keeper->listened = true;
    /* Announcements may have been missed: the scheduler looks for their causes. */
    rv_early_note_missed(worker);
    rv_wakeup_all_queues(worker);
}

/* "breaker_opened <queue> <until ms> <group>", or "breaker_closed ..."; the queue's own has no group. */
static void hear_breaker(const char *words)
{
    char queue[REEVE_QUEUE_MAX + 1], until[24];
    int at = 0;
    bool opened = strncmp(words, "breaker_opened ", 15) == 0;
    if (sscanf(words, "%*s %64s %23s%n", queue, until, &at) != 2) return;
    const char *group = words[at] == ' ' ? words + at + 1 : "";
    if (opened)
        rv_log(REEVE_LOG_WARN, "breaker.opened", "too many attempts failed: no task starts for a while", "queue", queue,
               "group", group, "until_ms", until, NULL);
    else
        rv_log(REEVE_LOG_INFO, "breaker.closed", "a task completed: tasks start again", "queue", queue, "group", group,
               NULL);
}

/* Messages, besides requests (requests.h) and those of breakers: "due <queue> <ms since the epoch>", "cancel <queue> <id> <reason>", "revoke <queue> <id> <since ms>
 * <thread>". 100 is REEVE_ID_LENGTH_MAX. */
static void hear(reeve_worker *worker, const char *words)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX], figures[24] = "";
    int64_t at_ms = 0;
    rv_revoke revoke = {.session = ""};
    int length = 0;
    if (sscanf(words, "due %64s %23s", queue, figures) >= 1) {
        (void)rv_parse_int(figures, 0, RV_REPLY_NUMBER_MAX, &at_ms);
        rv_wakeup_queue_at(worker, queue, at_ms);
    } else if (sscanf(words, "cancel %64s %100s%n", queue, id, &length) == 2) {
        if (!rv_cancel_running_stop(worker, queue, id, words[length] == ' ' ? words + length + 1 : ""))
            rv_early_add_cancel(worker, queue, id);
    } else if (strncmp(words, "breaker_", 8) == 0) {
        hear_breaker(words);
    } else if (strncmp(words, "ask", 3) == 0) {
        rv_requests_hear(worker, words);
    } else if (sscanf(words, "revoke %64s %100s %23s %23s", revoke.queue, revoke.id, figures, revoke.thread) == 4 &&
               rv_parse_int(figures, 0, RV_REPLY_NUMBER_MAX, &revoke.since_ms)) {
        if (rv_cancel_running_revoke(worker, &revoke) != RV_REVOKED_TAKEN) rv_early_add_revoke(worker, &revoke);
    }
}

/* Waits for messages of the control channel, or without them while there is no subscription. */
static void listen(reeve_worker *worker, int64_t until)
{
    rv_keeper *keeper = &worker->keeper;
    if (atomic_exchange(&keeper->leaves, false)) rv_conn_close(keeper->listener);
    if (!rv_conn_is_open(keeper->listener)) note_unsubscribed(worker);
    if (!rv_conn_is_open(keeper->listener) && rv_now_ms() >= keeper->listen_again_ms) subscribe(worker);
    if (!rv_conn_is_open(keeper->listener)) {
        if (keeper->listen_again_ms < until) until = keeper->listen_again_ms;
        rv_pause_sleep(&worker->pause, RV_SLEEPER_KEEPER, rv_now_ms(), until);
        if (rv_waker_wait(&keeper->thread.waker, until)) rv_waker_silence(&keeper->thread.waker);
        rv_pause_wake(&worker->pause, RV_SLEEPER_KEEPER, rv_now_ms());
        return;
    }
    const rv_reply *message;
    rv_pause_sleep(&worker->pause, RV_SLEEPER_KEEPER, rv_now_ms(), until);
    reeve_status status = rv_conn_receive(keeper->listener, until, &message);
    rv_pause_wake(&worker->pause, RV_SLEEPER_KEEPER, rv_now_ms());
    if (status == REEVE_EINTERRUPTED) rv_waker_silence(&keeper->thread.waker);
    if (status != REEVE_OK) return;
    const rv_reply *words = rv_reply_at(message, 2);
    if (rv_reply_is_text(rv_reply_at(message, 0), "message") && rv_reply_is(words, RV_TEXT)) hear(worker, words->text);
}

/* ---- main ------------------------------------------------------------------------------------------------------ */

#define TRY_AGAIN_MS 250
#define FLUSHES_MAX 4
/* The deadline of each call when the worker leaves. After a timeout no other call is made. */
#define LEAVE_MS 2000

/* Looks for stray leases in one page; returns when to look at the next one. */
static int64_t look_for_strays(reeve_worker *worker)
{
    rv_keeper *keeper = &worker->keeper;
    if (atomic_exchange(&keeper->lost, false)) {
        keeper->strays_left = keeper->strays_count = worker->queue_session_count;
        keeper->stray_keys = false;
        rv_copy_text(keeper->stray_cursor, sizeof(keeper->stray_cursor), "0");
    }
    if (keeper->strays_left > 0 && connect(worker, call_deadline(worker)))
        rv_strays_look(worker, call_deadline(worker));
    if (keeper->strays_left == 0 && !keeper->strays_again) return RV_FOREVER;
    if (keeper->strays_left == 0) {
        keeper->strays_again = false;
        atomic_store(&keeper->lost, true);
        return rv_deadline(RV_PATIENCE_MS);
    }
    return rv_conn_is_open(keeper->thread.conn) ? rv_now_ms() : rv_deadline(TRY_AGAIN_MS);
}

/* Takes over items and settles them; returns when to do so again. */
static int64_t relieve_and_deliver(reeve_worker *worker)
{
    rv_keeper *keeper = &worker->keeper;
    /* A thread that the following look misses reads this value, and rings if it needs the keeper earlier. */
    atomic_store(&keeper->wake_at_ms, RV_FOREVER);
    rv_missed_take(worker);
    int64_t until = rv_offload_relieve(worker), look = look_for_strays(worker);
    if (look < until) until = look;
    look = rv_early_look(worker);
    if (look < until) until = look;
    if (keeper->offloaded_count > 0 && connect(worker, call_deadline(worker)))
        rv_offload_deliver(worker, call_deadline(worker));
    if (keeper->offloaded_count > 0 && rv_deadline(TRY_AGAIN_MS) < until) until = rv_deadline(TRY_AGAIN_MS);
    return until;
}

/* Flushes the tallies that the last heartbeat left: those of a second day, and of outcomes settled since. */
static void flush_rest(reeve_worker *worker)
{
    bool more = true;
    for (int i = 0; more && i < FLUSHES_MAX; i++) {
        more = false;
        for (size_t j = 0; j < worker->queue_session_count; j++) {
            rv_session_text session;
            more = more || (rv_queue_session_get(rv_worker_queue_session(worker, j), session) &&
                            rv_queue_session_has_tally(rv_worker_queue_session(worker, j)));
        }
        if (more && !rv_heartbeat_send(worker, rv_deadline(LEAVE_MS))) break;
    }
}

/* Gives back all tasks that the worker still holds in one queue. */
static bool leave_queue(reeve_worker *worker, rv_queue_session *queue_session)
{
    rv_keeper *keeper = &worker->keeper;
    rv_session_text session;
    rv_end_session_turns turns = "";
    bool more = true;
    /* The session may exist although the worker does not know that it has begun: the reply of the last turn may have
     * been lost. */
    (void)rv_queue_session_get(queue_session, session);
    while (more) {
        const rv_reply *reply;
        uint64_t given_back = 0;
        rv_end_session_call_build_next(keeper->thread.conn, &queue_session->prefix, session, 200, turns);
        if (rv_conn_call(keeper->thread.conn, rv_deadline(LEAVE_MS), &reply) != REEVE_OK) return false;
        if (!rv_end_session_call_read(reply, &given_back, &more)) return false;
        rv_end_session_call_read_turns(reply, turns);
        atomic_fetch_add_explicit(&worker->stats.given_back, given_back, memory_order_relaxed);
        if (given_back > 0) {
            char number[RV_NUMBER_TEXT];
            rv_log(REEVE_LOG_INFO, "session.left", "the worker gave tasks back", "queue", queue_session->queue, "tasks",
                   rv_number_text(number, given_back), NULL);
        }
    }
    rv_queue_session_lose(queue_session, session);
    return true;
}

/* Sends answers, and ends sessions of queues that no pool serves; returns when to do so again. */
static int64_t answer_and_leave(reeve_worker *worker)
{
    bool again = false;
    if (rv_requests_has_answers(worker) && connect(worker, call_deadline(worker)))
        rv_requests_send(worker, call_deadline(worker));
    if (rv_requests_has_answers(worker)) again = true;
    if (atomic_load(&worker->keeper.looks_at_queues) && connect(worker, call_deadline(worker)))
        again = !rv_away_look(worker, leave_queue) || again;
    return again ? rv_deadline(TRY_AGAIN_MS) : RV_FOREVER;
}

/* The last calls of the worker. They can be repeated. */
static bool leave(reeve_worker *worker)
{
    rv_keeper *keeper = &worker->keeper;
    if (!connect(worker, rv_deadline(LEAVE_MS))) return false;
    if (keeper->offloaded_count > 0) rv_offload_deliver(worker, rv_deadline(LEAVE_MS));
    if (rv_conn_is_open(keeper->thread.conn)) rv_requests_send(worker, rv_deadline(LEAVE_MS));
    if (!rv_conn_is_open(keeper->thread.conn) || !rv_heartbeat_connect(worker, rv_deadline(LEAVE_MS))) return false;
    if (rv_heartbeat_send(worker, rv_deadline(LEAVE_MS))) flush_rest(worker);
    if (!rv_conn_is_open(worker->heart.thread.conn)) return false;
    bool left = true;
    if (worker->keeps_leases) return true;
    for (size_t i = 0; i < worker->queue_session_count; i++)
        left = leave_queue(worker, rv_worker_queue_session(worker, i)) && left;
    rv_registry_remove(keeper->thread.conn, worker->ns, worker->id);
    return rv_conn_exec(keeper->thread.conn, rv_deadline(LEAVE_MS), NULL, NULL) == REEVE_OK && left;
}

#define LEAVE_AGAIN_MS 1000
#define LEAVE_TRIES 3
#define LAST_MESSAGES_MS 1000

static void leave_redis(reeve_worker *worker)
{
    int64_t again_until = rv_deadline(LEAVE_AGAIN_MS);
    rv_upkeep_thread_join(&worker->heart.thread, worker);
    /* From here on the calls have a short deadline, and `quit` does not end them. */
    rv_conn_set_quit(worker->heart.thread.conn, NULL);
    rv_conn_set_quit(worker->keeper.thread.conn, NULL);
    rv_offload_relieve(worker);
    /* The first attempt may find the heartbeat's connection lost, the second one the keeper's. */
    bool left = leave(worker);
    for (int tries = 1; !left && tries < LEAVE_TRIES && rv_now_ms() < again_until; tries++) left = leave(worker);
    if (left) rv_last_messages_send(worker, worker->keeper.thread.conn, rv_deadline(LAST_MESSAGES_MS));
    if (left) return;
    if (atomic_load(&worker->stats.leased) == 0) return;
    rv_log(REEVE_LOG_WARN, "worker.left",
           "the worker could not give back its tasks: they run again when its sessions expire", "worker", worker->id,
           "error", rv_conn_error(worker->keeper.thread.conn)->text, NULL);
}

static void *keeper_main(void *argument)
{
    reeve_worker *worker = argument;
    rv_keeper *keeper = &worker->keeper;
    while (rv_worker_phase(worker) < RV_PHASE_ENDED) {
        int64_t until = relieve_and_deliver(worker), again = answer_and_leave(worker);
        if (again < until) until = again;
        again = rv_pool_sizing_look(worker);
        if (again < until) until = again;
        atomic_store(&keeper->wake_at_ms, until);
        listen(worker, until);
    }
    leave_redis(worker);
    rv_conn_close(keeper->thread.conn);
    rv_conn_close(keeper->listener);
    rv_conn_close(worker->heart.thread.conn);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

reeve_status rv_keeper_open(reeve_worker *worker, rv_error *error)
{
    rv_keeper *keeper = &worker->keeper;
    reeve_status status = rv_upkeep_thread_open(&keeper->thread, worker, "keeper", worker->command_ms, error);
    if (status != REEVE_OK) return status;
    status =
        rv_worker_conn_create(&keeper->listener, worker, "listener", &keeper->thread.waker, worker->command_ms, error);
    /* The control channel may be silent for long: PINGs show that it is alive, at the pace of heartbeats. */
    if (status == REEVE_OK)
        rv_conn_set_pings(keeper->listener, rv_heartbeat_interval_ms(worker), rv_heartbeat_interval_ms(worker));
    return status;
}

reeve_status rv_keeper_start(reeve_worker *worker, rv_error *error)
{
    return rv_upkeep_thread_start(&worker->keeper.thread, worker, keeper_main, error);
}

void rv_keeper_fini(reeve_worker *worker)
{
    rv_keeper *keeper = &worker->keeper;
    rv_conn_destroy(keeper->listener);
    for (size_t i = 0; i < keeper->offloaded_count; i++) rv_free(keeper->offloaded[i].kept);
    rv_free(keeper->offloaded);
    rv_free(keeper->early);
    rv_missed_fini(worker);
    rv_requests_fini(worker);
    rv_bound_fini(worker);
    rv_upkeep_thread_fini(&keeper->thread);
}
