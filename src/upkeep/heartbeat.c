/*
 * heartbeat.c - the heartbeat thread. It has a connection of its own and does nothing else, so that no slow
 * operation delays a heartbeat: large outcomes on a slow link, a new subscription, a search for many cancels. The
 * deadline of each call is a third of a session: after a failure there is time for another call on a new connection.
 */
#include "upkeep/heartbeat.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "protocol/definition.h"
#include "protocol/heartbeat_call.h"
#include "protocol/registry.h"
#include "running/forked.h"
#include "running/redis_report.h"
#include "running/wakeup.h"
#include "upkeep/outdated.h"
#include "upkeep/partition_watch.h"
#include "upkeep/registry_record.h"
#include "upkeep/unheard.h"
#include "upkeep/upkeep_thread.h"

#define TRY_AGAIN_MS 250

int64_t rv_heartbeat_interval_ms(const reeve_worker *worker)
{
    return worker->session_ms / 3;
}

typedef struct heartbeats {
    reeve_worker *worker;
    rv_session_text *sessions; /* by command: the session that it renewed, or "" when its reply is not evaluated */
    size_t *queue_sessions;    /* by command: the index of its queue session */
    size_t served;             /* how many queue sessions there were at its begin */
    size_t count;
    bool asking; /* sessions may have begun without a reply */
    bool odd;
    char words[256]; /* why */
} heartbeats;

static void note_odd(heartbeats *b, const rv_reply *reply)
{
    b->odd = true;
    rv_copy_text(b->words, sizeof(b->words), rv_reply_is(reply, RV_ERROR) ? reply->text : "unexpected reply");
}

/*
 * The first heartbeat adds the worker's id (added is 1). A later one that adds it again shows that Redis had lost
 * it. The worker reacts at once, whatever the other replies are: no later heartbeat would show it again.
 */
static void note_registration(reeve_worker *worker, int64_t added)
{
    bool lost = added == 1 && worker->heart.registered;
    if (added >= 0) worker->heart.registered = true;
    if (!lost) return;
    rv_log(REEVE_LOG_WARN, "redis.data_lost", "the worker was gone from Redis: Redis may have lost its data", "worker",
           worker->id, NULL);
    if (worker->on_data_lost != NULL) worker->on_data_lost(worker->on_data_lost_user);
    rv_end_if_forked(worker);
}

static void on_heartbeat(size_t index, const rv_reply *reply, void *context)
{
    heartbeats *b = context;
    rv_heartbeat_reply heartbeat;
    if (index >= b->count) {
        /* A version that cannot be noted does not make the heartbeat fail. */
        bool is_format = index == b->count + RV_REGISTRY_FORMAT;
        bool is_partitions = index == b->count + RV_REGISTRY_COMMANDS;
        if (is_format) rv_outdated_note(b->worker, reply);
        if (is_partitions) rv_partition_watch_note(b->worker, reply);
        if (rv_reply_is(reply, RV_ERROR) && !is_format && !is_partitions) note_odd(b, reply);
        if (index == b->count + RV_REGISTRY_ADDED) note_registration(b->worker, rv_reply_int(reply, -1));
        return;
    }
    if (!rv_heartbeat_call_read(&heartbeat, reply)) {
        note_odd(b, reply);
        return;
    }
    rv_queue_session *queue_session = rv_worker_queue_session(b->worker, b->queue_sessions[index]);
    bool again = index > 0 && b->queue_sessions[index - 1] == b->queue_sessions[index];
    if (heartbeat.alive && !again) rv_unheard_check(b->worker, queue_session, b->sessions[index], &heartbeat);
    if (b->sessions[index][0] == '\0') return;
    rv_queue_session_flushed(queue_session, heartbeat.alive);
    if (heartbeat.alive) return;
    if (!rv_queue_session_lose(queue_session, b->sessions[index]) || atomic_load(&queue_session->away)) return;
    rv_redis_report_session_lost(b->worker);
    rv_log(REEVE_LOG_WARN, "session.lost",
           "the session was gone from Redis: its tasks run elsewhere, the worker begins a new one", "queue",
           queue_session->queue, NULL);
    rv_wakeup_session_lost(b->worker, queue_session, b->sessions[index]);
}

/* Adds a heartbeat whose reply does not concern the known session. */
static void add_plain_heartbeat(reeve_worker *worker, heartbeats *b, size_t index, const char *session)
{
    b->sessions[b->count][0] = '\0';
    b->queue_sessions[b->count++] = index;
    rv_heartbeat_call_build(worker->heart.thread.conn, &rv_worker_queue_session(worker, index)->prefix, session,
                            worker->session_ms);
}

/* Adds a heartbeat for a queue, with the tally of one day to flush. */
static void add_heartbeat(reeve_worker *worker, heartbeats *b, size_t index)
{
    uint64_t number;
    rv_queue_session *queue_session = rv_worker_queue_session(worker, index);
    rv_session_text session;
    if (atomic_load(&queue_session->away)) return;
    if (!rv_queue_session_get(queue_session, session)) {
        /* Without a session the call tells Redis that a worker serves the queue. */
        add_plain_heartbeat(worker, b, index, "");
        /* A turn whose reply has not arrived may have begun the session. */
        if (b->asking) add_plain_heartbeat(worker, b, index, session);
        return;
    }
    memcpy(b->sessions[b->count], session, sizeof(session));
    b->queue_sessions[b->count++] = index;
    const rv_tally *tally = rv_queue_session_flush(queue_session, session, &number);
    if (tally != NULL) {
        rv_heartbeat_call_build_flush(worker->heart.thread.conn, &queue_session->prefix, session, worker->session_ms,
                                      tally, number);
    } else {
        rv_heartbeat_call_build(worker->heart.thread.conn, &queue_session->prefix, session, worker->session_ms);
    }
}

static reeve_status send_heartbeats(reeve_worker *worker, int64_t deadline, heartbeats *b)
{
    rv_heartbeat *heart = &worker->heart;
    for (size_t i = 0; i < b->served; i++) add_heartbeat(worker, b, i);
    rv_registry_record_write(&heart->json, worker);
    if (heart->json.failed) rv_buf_clear(&heart->json);
    rv_registry_renew(heart->thread.conn, worker->ns, worker->id, rv_buf_text(&heart->json), heart->json.length,
                      worker->session_ms);
    rv_partition_watch_build(heart->thread.conn, worker->ns);
    int64_t sent_us = rv_now_us();
    reeve_status status = rv_conn_exec(heart->thread.conn, deadline, on_heartbeat, b);
    if (status == REEVE_OK) atomic_store(&heart->round_trip_us, rv_now_us() - sent_us);
    return status;
}

bool rv_heartbeat_send(reeve_worker *worker, int64_t deadline)
{
    heartbeats b = {
        .worker = worker, .asking = atomic_load(&worker->asking) > 0, .served = worker->queue_session_count};
    size_t max = b.asking ? 2 * b.served : b.served;
    b.sessions = rv_zalloc_array(max, sizeof(*b.sessions));
    b.queue_sessions = rv_zalloc_array(max, sizeof(*b.queue_sessions));
    reeve_status status = REEVE_ENOMEM;
    if (b.sessions != NULL && b.queue_sessions != NULL) status = send_heartbeats(worker, deadline, &b);
    rv_free(b.sessions);
    rv_free(b.queue_sessions);
    /* A node that refuses work is left by the connection of the control channel, too. */
    if (b.odd && !rv_conn_is_open(worker->heart.thread.conn)) rv_wakeup_leave_node(worker);
    if (b.odd) rv_redis_report_refusal(worker, "Redis refused a heartbeat: the worker tries again", b.words);
    if (status == REEVE_OK && !b.odd) rv_redis_report_acceptance(worker);
    return status == REEVE_OK && !b.odd;
}

/* ---- the thread ------------------------------------------------------------------------------------------------ */

bool rv_heartbeat_connect(reeve_worker *worker, int64_t deadline)
{
    rv_heartbeat *heart = &worker->heart;
    bool open = rv_conn_is_open(heart->thread.conn);
    if (open) {
        atomic_store(&heart->connected, true); /* the start of the worker may have opened it */
        return true;
    }
    unsigned tried = rv_redis_report_try(worker);
    open = rv_conn_open(heart->thread.conn, deadline) == REEVE_OK;
    atomic_store(&heart->connected, open);
    if (open) rv_redis_report_up(worker, heart->thread.conn);
    if (!open) rv_redis_report_down(worker, tried, rv_conn_error(heart->thread.conn)->text);
    return open;
}

/* Whether the announcement of a cancel may not reach this worker. */
static bool misses_notices(reeve_worker *worker)
{
    bool misses = !atomic_load(&worker->keeper.subscribed);
    for (size_t i = 0; i < worker->queue_session_count; i++)
        misses = misses || atomic_load(&rv_worker_queue_session(worker, i)->unsent);
    return misses;
}

static void note_connection(reeve_worker *worker)
{
    unsigned before = worker->heart.epoch;
    worker->heart.epoch = rv_conn_epoch(worker->heart.thread.conn);
    if (before != 0 && before != worker->heart.epoch) rv_wakeup_look_for_strays(worker);
}

static bool connect_and_send(reeve_worker *worker)
{
    int64_t every = rv_heartbeat_interval_ms(worker);
    bool done = rv_heartbeat_connect(worker, rv_deadline(every)) && rv_heartbeat_send(worker, rv_deadline(every));
    if (done) atomic_store(&worker->heart.beaten_at_ms, rv_now_ms());
    if (done) atomic_fetch_add(&worker->heart.heartbeats, 1);
    if (done && misses_notices(worker)) rv_wakeup_note_missed(worker);
    if (done) note_connection(worker);
    return done;
}

static void *heart_main(void *argument)
{
    reeve_worker *worker = argument;
    rv_heartbeat *heart = &worker->heart;
    int64_t at_ms = 0;
    for (rv_phase sent = RV_PHASE_CREATED, phase; (phase = rv_worker_phase(worker)) < RV_PHASE_ENDED; sent = phase) {
        /* A heartbeat at each change of the phase or of the pools updates the worker's record at once. */
        if (atomic_exchange(&heart->changed, false) || phase != sent || rv_now_ms() >= at_ms) {
            bool done = connect_and_send(worker);
            at_ms = rv_deadline(done ? rv_heartbeat_interval_ms(worker) : TRY_AGAIN_MS);
        }
        rv_pause_sleep(&worker->pause, RV_SLEEPER_HEART, rv_now_ms(), at_ms);
        if (rv_waker_wait(&heart->thread.waker, at_ms)) rv_waker_silence(&heart->thread.waker);
        rv_pause_wake(&worker->pause, RV_SLEEPER_HEART, rv_now_ms());
    }
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

reeve_status rv_heartbeat_open(reeve_worker *worker, rv_error *error)
{
    rv_buf_init(&worker->heart.json, 1024 * 1024);
    atomic_init(&worker->heart.heartbeats, 1);
    return rv_upkeep_thread_open(&worker->heart.thread, worker, "heart", rv_heartbeat_interval_ms(worker), error);
}

reeve_status rv_heartbeat_start(reeve_worker *worker, rv_error *error)
{
    return rv_upkeep_thread_start(&worker->heart.thread, worker, heart_main, error);
}

void rv_heartbeat_fini(reeve_worker *worker)
{
    rv_buf_fini(&worker->heart.json);
    rv_upkeep_thread_fini(&worker->heart.thread);
}
