#include "consumer/consumer_watch.h"

#include "base/backoff.h"
#include "base/lock.h"
#include "consumer/consumer_gate.h"
#include "protocol/turn_build.h"
#include "running/os_thread.h"
#include "running/pool_slots.h"
#include "running/round.h"
#include "running/worker_conn.h"

/* How long a wake-up waits for the program before it is passed on. */
#define PASS_ON_MS 1000

/* ---- the thread ------------------------------------------------------------------------------------------------ */

static void build_wait(reeve_consumer *c)
{
    const rv_pool *pool = c->thread->pool;
    rv_conn *conn = c->watch.conn;
    rv_cmd(conn, pool->queue_session_count + 2);
    rv_args(conn, "BLPOP");
    for (size_t i = 0; i < pool->queue_session_count; i++) {
        const rv_prefix *prefix = &pool->queue_sessions[i]->prefix;
        rv_arg2(conn, prefix->text, prefix->length, "wake", 4);
    }
    rv_argi(conn, c->worker->session_ms / 1000 + 1); /* seconds */
}

static void note_woken(reeve_consumer *c)
{
    rv_lock(&c->lock);
    c->watch.armed = false;
    c->watch.woken_ms = rv_now_ms();
    rv_unlock(&c->lock);
    rv_waker_ring(&c->watch.notice);
}

/* In a Redis Cluster, of queues in several hash slots. */
static reeve_status wait_for_slots(reeve_consumer *c, bool *ret_woken)
{
    const rv_pool *pool = c->thread->pool;
    bool woken[RV_POOL_SLOTS_MAX] = {false};
    rv_conn_discard(c->watch.conn);
    rv_pool_slots_build_waits(pool, c->watch.conn);
    reeve_status status = rv_conn_wait_any(c->watch.conn, rv_deadline(c->worker->session_ms), woken);
    for (size_t i = 0; status == REEVE_OK && i < pool->slot_count; i++) *ret_woken = *ret_woken || woken[i];
    return status;
}

/* Waits for a wake-up, for one session at most: a connection that has died is noticed then. */
static void wait_for_task(reeve_consumer *c, unsigned *tries)
{
    const rv_reply *reply;
    rv_consumer_watch *w = &c->watch;
    bool open = rv_conn_is_open(w->conn);
    if (!open && rv_conn_open(w->conn, rv_deadline(c->worker->command_ms)) != REEVE_OK) {
        (void)rv_waker_wait(&w->waker, rv_deadline(rv_backoff_reconnect(++*tries, rv_random_unit())));
        return;
    }
    reeve_status status;
    bool woken = false;
    if (c->thread->pool->slots != NULL) {
        status = wait_for_slots(c, &woken);
    } else {
        build_wait(c);
        status =
            rv_conn_call_blocking(w->conn, rv_deadline(c->worker->session_ms + c->worker->command_ms + 1000), &reply);
        woken = status == REEVE_OK && rv_reply_is(reply, RV_ARRAY);
    }
    if (status == REEVE_OK) *tries = 0;
    if (status == REEVE_EREDIS) (void)rv_waker_wait(&w->waker, rv_deadline(1000));
    if (status == REEVE_EINTERRUPTED) rv_conn_close(w->conn);
    /* A connection that is lost may have taken a wake-up along. */
    if (status == REEVE_ELOST || status == REEVE_ETIMEOUT || woken) note_woken(c);
}

/* A turn that leases nothing wakes another thread where a task is ready. */
static void pass_on(reeve_consumer *c)
{
    const rv_reply *reply;
    const rv_pool *pool = c->thread->pool;
    for (size_t i = 0; i < pool->queue_session_count; i++) {
        rv_session_text session;
        const rv_turn_queue queue = {.prefix = &pool->queue_sessions[i]->prefix, .session = session};
        const rv_turn turn = {.thread = "watch", .hand = RV_HAND_WOKEN, .queues = &queue, .queue_count = 1};
        (void)rv_queue_session_get(pool->queue_sessions[i], session);
        if (rv_conn_open(c->watch.conn, rv_deadline(PASS_ON_MS)) != REEVE_OK) return;
        rv_turn_build(c->watch.conn, &turn);
        /* If it fails, the next maintenance wakes a thread. */
        (void)rv_conn_call(c->watch.conn, rv_deadline(PASS_ON_MS), &reply);
    }
}

static bool take_woken(reeve_consumer *c, int64_t until)
{
    rv_lock(&c->lock);
    bool woken = c->watch.woken_ms > 0 && c->watch.woken_ms <= until;
    if (woken) c->watch.woken_ms = 0;
    rv_unlock(&c->lock);
    return woken;
}

/* What there is to do; returns false at the end. *ret_until: when to look again. */
static bool look(reeve_consumer *c, bool *ret_armed, int64_t *ret_until)
{
    rv_lock(&c->lock);
    bool ends = c->watch.ends;
    *ret_armed = c->watch.armed;
    *ret_until = c->watch.woken_ms > 0 ? c->watch.woken_ms + PASS_ON_MS : RV_FOREVER;
    rv_unlock(&c->lock);
    return !ends;
}

static void *watch_main(void *argument)
{
    reeve_consumer *c = argument;
    unsigned tries = 0;
    bool armed;
    int64_t until;
    while (look(c, &armed, &until)) {
        if (armed)
            wait_for_task(c, &tries);
        else
            (void)rv_waker_wait(&c->watch.waker, until);
        rv_waker_silence(&c->watch.waker);
        if (take_woken(c, rv_now_ms() - PASS_ON_MS)) pass_on(c);
    }
    if (take_woken(c, RV_FOREVER)) pass_on(c);
    return NULL;
}

/* ---- leases ---------------------------------------------------------------------------------------------------- */

void rv_consumer_watch_begin_lease(reeve_consumer *c)
{
    if (!c->watch.started) return;
    rv_waker_silence(&c->watch.notice);
    if (!take_woken(c, RV_FOREVER)) return;
    c->thread->woken = true;
    if (c->thread->pool->slots == NULL) return;
    /* It is not known in which slot: the next turns ask all of them, and pass the wake-up on. */
    bool woken[RV_POOL_SLOTS_MAX];
    for (size_t i = 0; i < RV_POOL_SLOTS_MAX; i++) woken[i] = true;
    rv_round_note_woken(c->thread, woken);
}

void rv_consumer_watch_end_lease(reeve_consumer *c, bool again)
{
    if (!c->watch.started || !again) return;
    rv_lock(&c->lock);
    bool armed = c->watch.armed;
    c->watch.armed = true;
    rv_unlock(&c->lock);
    if (!armed) rv_waker_ring(&c->watch.waker);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static reeve_status start(reeve_consumer *c)
{
    rv_consumer_watch *w = &c->watch;
    reeve_status status = w->notice.fd >= 0 ? REEVE_OK : rv_waker_init(&w->notice, &c->error);
    if (status == REEVE_OK && w->waker.fd < 0) status = rv_waker_init(&w->waker, &c->error);
    if (status == REEVE_OK && w->conn == NULL)
        status = rv_worker_conn_create(&w->conn, c->worker, "watch", &w->waker, c->worker->command_ms, &c->error);
    if (status == REEVE_OK) status = rv_os_thread_start(&w->id, watch_main, c, "reeve-watch", &c->error);
    w->started = status == REEVE_OK;
    if (!w->started) return status;
    rv_lock(&c->thread->batch.lock);
    c->thread->batch.notice = &w->notice;
    rv_unlock(&c->thread->batch.lock);
    return REEVE_OK;
}

int reeve_consumer_descriptor(reeve_consumer *c)
{
    if (c == NULL || rv_consumer_gate_enter(c, 0) != REEVE_OK) return -1;
    reeve_status status = c->watch.started ? REEVE_OK : start(c);
    rv_consumer_gate_leave(c);
    return status == REEVE_OK ? c->watch.notice.fd : -1;
}

void rv_consumer_watch_end(reeve_consumer *c)
{
    rv_consumer_watch *w = &c->watch;
    if (w->started) {
        rv_lock(&c->lock);
        w->ends = true;
        rv_unlock(&c->lock);
        rv_waker_ring(&w->waker);
        rv_os_thread_join(w->id, &c->worker->quit);
        rv_lock(&c->thread->batch.lock);
        c->thread->batch.notice = NULL;
        rv_unlock(&c->thread->batch.lock);
    }
    w->started = false;
    rv_conn_destroy(w->conn);
    w->conn = NULL;
    if (w->notice.fd >= 0) rv_waker_fini(&w->notice);
    if (w->waker.fd >= 0) rv_waker_fini(&w->waker);
}
