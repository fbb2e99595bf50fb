#include "running/thread.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "protocol/definition.h"
#include "running/admission.h"
#include "running/alone.h"
#include "running/batch_handler.h"
#include "running/batch_handler_run.h"
#include "running/descriptors.h"
#include "running/forked.h"
#include "running/os_thread.h"
#include "running/recovery.h"
#include "running/redis_report.h"
#include "running/run_task.h"
#include "running/thread_state.h"
#include "running/turn.h"
#include "running/wakeup.h"
#include "running/worker_conn.h"

/* ---- how many at once ------------------------------------------------------------------------------------------ */

/*
 * The aimed-at duration of a batch. It is long compared with a round trip, and short enough that the wait within a
 * batch does not matter. A thread begins with one task at a time and adapts to the run times that it measures.
 */
#define BATCH_US 2000
#define UNKNOWN_US (2 * BATCH_US)

static void learn(rv_thread *t, int64_t elapsed_us, size_t count)
{
    int64_t each = elapsed_us / (int64_t)count;
    /* A longer run time takes effect at once, a shorter one by halves. */
    t->task_us = each > t->task_us ? each : (t->task_us + each) / 2;
    int64_t fits = t->task_us <= 0 ? t->pool->batch : BATCH_US / t->task_us;
    int64_t max = 4 * (int64_t)t->want;
    if (fits > max) fits = max;
    if (fits > t->pool->batch) fits = t->pool->batch;
    t->want = fits < 1 ? 1 : (unsigned)fits;
}

/* ---- running a batch ------------------------------------------------------------------------------------------- */

static bool may_run(const rv_thread *t, const rv_item *item, int64_t now_ms)
{
    return item->state == RV_ITEM_WAITING && rv_batch_handler_is_ripe(t, item, now_ms);
}

/* The next waiting item becomes the running one, together with others for a batch handler: these are then in
 * t->picked. Returns the number of items. 0: no item may run now, because the keeper has the others or because their
 * batch is not full; or the worker takes no more tasks. */
static size_t take_next(rv_thread *t, size_t *next, int64_t now_ms)
{
    rv_batch *batch = &t->batch;
    size_t count = 0;
    rv_lock(&batch->lock);
    while (*next < batch->count && !may_run(t, &batch->items[*next], now_ms)) (*next)++;
    /* Under the lock, so that a handler that begins now is told when the worker stops. */
    if (*next < batch->count && rv_worker_phase(t->worker) == RV_PHASE_RUNNING && !rv_alone_bars(t)) {
        rv_item *item = &batch->items[*next];
        bool cancelled =
            item->cancelled && item->batch_handler == NULL; /* each task of a batch handler has a flag of its own */
        count = item->batch_handler != NULL ? rv_batch_handler_pick(t, *next) : 1;
        item->state = RV_ITEM_RUNNING;
        item->until_ms = RV_FOREVER;
        batch->running = (*next)++;
        batch->running_since_ms = now_ms;
        batch->running_until_ms = RV_FOREVER;
        atomic_store_explicit(&t->stop, cancelled, memory_order_relaxed);
        atomic_store_explicit(&t->cancelled, cancelled, memory_order_relaxed);
    }
    rv_unlock(&batch->lock);
    return count;
}

/* Notes the end of the running items. An item that the keeper has taken over keeps its state. Returns the size of
 * the results in bytes. */
static size_t note_finished(rv_thread *t, int64_t run_us)
{
    rv_batch *batch = &t->batch;
    size_t bytes = 0;
    rv_lock(&batch->lock);
    /* Only a call of a batch handler runs more than the first. */
    for (size_t i = batch->running; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        bool ended = i == batch->running || item->state == RV_ITEM_RUNNING;
        int64_t ran_us = run_us - item->gate_us;
        if (ended) item->run_us = item->unbegun ? 0 : ran_us > 0 ? ran_us : 1;
        if (ended) bytes += item->settlement.result.length;
        if (item->state == RV_ITEM_RUNNING) item->state = RV_ITEM_FINISHED;
        if (batch->items[batch->running].batch_handler == NULL) break;
    }
    batch->running = RV_NONE;
    rv_unlock(&batch->lock);
    if (rv_alone_bars(t)) rv_alone_recheck(t->worker); /* the thread that runs a task alone may wait for this end */
    return bytes;
}

/* The next turn gives the items that have not begun back to the front of their queues. */
static void give_rest_back(rv_thread *t)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (item->state != RV_ITEM_WAITING) continue;
        item->settlement = rv_settlement_give_back(&item->lease);
        item->state = RV_ITEM_FINISHED;
    }
    rv_unlock(&t->batch.lock);
}

/* The maximum size of the results in one turn. When a batch has more, the thread settles these and gives the rest of
 * the batch back. */
#define RESULT_BYTES ((size_t)8 * 1024 * 1024)

/* The statistics of one pass through the batch. */
typedef struct pass {
    size_t ran;     /* tasks of handlers that run one task at a time */
    int64_t us;     /* their run time */
    size_t called;  /* tasks in the largest call of a batch handler */
    unsigned max;   /* the maximum of that call */
    size_t results; /* bytes */
} pass;

static void run_next(rv_thread *t, size_t count, pass *p, int64_t *now_us)
{
    rv_item *item = &t->batch.items[t->batch.running];
    int64_t begun_us = *now_us;
    bool many = item->batch_handler != NULL;
    if (many && count > p->called) {
        p->called = count;
        p->max = rv_batch_handler_max(&item->batch_handler->handler);
    }
    if (many) {
        rv_batch_handler_run(t, count);
    } else {
        rv_run_task(t, item);
    }
    *now_us = rv_now_us();
    p->results += note_finished(t, *now_us - begun_us);
    if (many) return;
    p->ran++;
    p->us += *now_us - begun_us;
}

static void run_batch(rv_thread *t)
{
    size_t next = 0, count;
    pass p = {0};
    int64_t now_us = rv_now_us();
    atomic_store_explicit(&t->activity, RV_ACTIVITY_RUNS, memory_order_relaxed);
    rv_batch_handler_begin(t);
    while (p.results < RESULT_BYTES && (count = take_next(t, &next, now_us / 1000)) > 0) {
        if (p.ran + p.called == 0 && t->batch.count > 1) rv_wakeup_keeper_at(t->worker, now_us / 1000 + RV_PATIENCE_MS);
        run_next(t, count, &p, &now_us);
    }
    atomic_store_explicit(&t->activity, RV_ACTIVITY_NONE, memory_order_relaxed);
    rv_descriptors_check(t->worker, &t->waker);
    bool takes = rv_worker_phase(t->worker) == RV_PHASE_RUNNING && !rv_alone_bars(t);
    if (!t->gathers || p.results >= RESULT_BYTES || !takes) {
        give_rest_back(t);
    } else {
        rv_batch_handler_keep(t);
    }
    if (p.ran > 0) learn(t, p.us, p.ran);
    rv_batch_handler_learn(t, p.called, p.max, p.ran > 0);
}

/* ---- the one waiting place ------------------------------------------------------------------------------------- */

static void add_own_list(rv_thread *t)
{
    char name[RV_SESSION_LENGTH + 32];
    const rv_prefix *prefix = &t->pool->queue_sessions[0]->prefix;
    (void)snprintf(name, sizeof(name), "hand:%s:%s", t->sessions[0], t->number_text);
    rv_arg2(t->conn, prefix->text, prefix->length, name, strlen(name));
}

static void add_wake_ups(rv_thread *t)
{
    rv_queue_order_choose(&t->order, true);
    for (size_t place = 0; place < t->pool->queue_session_count; place++) {
        const rv_prefix *prefix = &t->pool->queue_sessions[rv_queue_order_queue(&t->order, place)]->prefix;
        rv_arg2(t->conn, prefix->text, prefix->length, "wake", 4);
    }
}

/* Adds the wait. The lists are in the order of the lease that follows, so that the wake-up that the wait consumes
 * belongs to the queue that the lease serves. The wait ends at `until` (monotonic ms) at the latest. */
static void build_wait(rv_thread *t, int64_t until)
{
    char seconds[40] = "0"; /* for ever */
    int64_t left = until == RV_FOREVER ? 0 : until - rv_now_ms();
    if (until != RV_FOREVER && left < 1) left = 1;
    if (left > 0) snprintf(seconds, sizeof(seconds), "%lld.%03lld", (long long)left / 1000, (long long)left % 1000);
    rv_cmd(t->conn, (t->state == RV_THREAD_IDLE ? 1 : t->pool->queue_session_count) + 2);
    rv_args(t->conn, "BLPOP");
    if (t->state == RV_THREAD_IDLE) {
        add_own_list(t);
    } else {
        add_wake_ups(t);
    }
    rv_args(t->conn, seconds);
}

static bool is_unknown_script(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_ERROR) && strncmp(reply->text, "NOSCRIPT", 8) == 0;
}

/* The wait ended with an error. */
static void end_rest(rv_thread *t, reeve_status status, const rv_reply *reply)
{
    rv_thread_state_enter(t, RV_THREAD_RECOVER);
    if (status == REEVE_EINTERRUPTED) {
        rv_conn_close(t->conn);
        rv_waker_silence(&t->waker);
    } else if (status == REEVE_EREDIS && !is_unknown_script(reply)) {
        rv_redis_report_refusal(t->worker,
                                "Redis refused the wait of a thread: the thread looks for tasks every second",
                                rv_conn_error(t->conn)->text);
        rv_waker_wait(&t->waker, rv_deadline(1000));
    } else {
        /* The wait may have consumed the wake-up of one queue, and the next turn may serve another one. */
        if (t->pool->queue_session_count > 1) rv_wakeup_all_queues(t->worker);
        if (status == REEVE_ELOST) rv_recovery_note_loss(t);
    }
}

/* The deadline of the wait on this side, in case Redis does not end it. */
static int64_t latest(const rv_thread *t, int64_t until)
{
    return until < RV_FOREVER - t->worker->command_ms ? until + t->worker->command_ms : RV_FOREVER;
}

/* Takes the reply of the wait: [list, element], or nil at its timeout; then a turn looks for tasks. */
static void end_wait(rv_thread *t, const rv_reply *reply)
{
    if (rv_reply_is(reply, RV_ARRAY))
        rv_turn_take_handed(t, rv_reply_at(reply, 1));
    else
        rv_thread_state_enter(t, RV_THREAD_AGAIN);
}

/*
 * Waits until a task may be there, a batch of a batch handler is due, or the phase changes. A thread in the state
 * IDLE is handed its task. Any other sends its lease behind the wait, and Redis executes it as soon as a task is
 * enqueued: this saves a round trip.
 */
static void rest(rv_thread *t, unsigned want)
{
    const rv_reply *reply;
    int64_t until = rv_batch_handler_until(t);
    rv_task_begin(&t->task); /* frees the memory of a large result */
    rv_arena_trim(&t->arena, 4096);
    build_wait(t, until);
    bool idle = t->state == RV_THREAD_IDLE;
    if (!idle) rv_turn_build_lease(t, want);
    atomic_store_explicit(&t->rests_since, atomic_load_explicit(&t->worker->heart.heartbeats, memory_order_relaxed),
                          memory_order_relaxed);
    reeve_status status = rv_conn_call_blocking(t->conn, latest(t, until), &reply);
    atomic_store_explicit(&t->rests_since, 0, memory_order_relaxed);
    if (status == REEVE_OK) rv_recovery_note_use(t);
    if (status != REEVE_OK) {
        end_rest(t, status, reply);
    } else if (idle) {
        end_wait(t, reply);
    } else {
        rv_turn_take_lease(t, reply, want);
    }
}

/* This thread does not use a wake-up that it received or that was on its way: the scheduler maintains the queues
 * instead. */
static void pass_wake_up_on(rv_thread *t)
{
    rv_conn_close(t->conn);
    rv_wakeup_all_queues(t->worker);
}

static void wait_for_the_end(rv_thread *t)
{
    pass_wake_up_on(t);
    rv_waker_silence(&t->waker);
    if (rv_worker_phase(t->worker) == RV_PHASE_QUIET) rv_waker_wait(&t->waker, RV_FOREVER);
}

/* ---- main ------------------------------------------------------------------------------------------------------ */

static void tear_down(rv_thread *t)
{
    const rv_handlers *handlers = &t->worker->handlers;
    for (size_t i = 0; i < handlers->count; i++) {
        const reeve_handler *handler = &handlers->list[i]->handler;
        bool was_set_up = t->set_up[i];
        t->set_up[i] = false;
        if (was_set_up && handler->thread_stop != NULL) handler->thread_stop(handler->user, t->states[i]);
        rv_take_thread_back(t->worker);
    }
}

/* Waits or takes a turn. False when the worker leaves. */
static bool take_turn(rv_thread *t, bool running)
{
    unsigned want = running ? rv_batch_handler_want(t) : 0;
    bool settled = rv_batch_count(&t->batch, RV_ITEM_FINISHED) == 0;
    bool same = rv_conn_is_open(t->conn) && rv_conn_epoch(t->conn) == t->epoch;
    if (rv_thread_state_waits(t) && want > 0 && settled && same) {
        rest(t, want);
        return true;
    }
    return rv_turn_run(t, want);
}

static _Thread_local const reeve_worker *own_worker;

bool rv_thread_is_inside(const reeve_worker *worker)
{
    return own_worker == worker;
}

static void run_until_the_end(rv_thread *t)
{
    while (rv_worker_phase(t->worker) < RV_PHASE_STOPPING || t->batch.count > 0 || t->state == RV_THREAD_RECOVER) {
        bool running = rv_worker_phase(t->worker) == RV_PHASE_RUNNING && !rv_alone_bars(t);
        /* It may have been handed a task: recovery removes its registration and returns that task. */
        if (!running && rv_thread_state_is_registered(t)) rv_thread_state_enter(t, RV_THREAD_RECOVER);
        if (running || t->batch.count > 0 || t->state == RV_THREAD_RECOVER) {
            if (!take_turn(t, running)) break;
        } else if (rv_worker_phase(t->worker) == RV_PHASE_RUNNING) {
            rv_alone_hold(t);
        } else {
            wait_for_the_end(t);
        }
        if (t->batch.count > 0) run_batch(t);
    }
    pass_wake_up_on(t);
    tear_down(t);
}

/* With the worker's lock. */
static void count_out(reeve_worker *worker)
{
    worker->threads_alive--;
    rv_lock_check(pthread_cond_broadcast(&worker->thread_ended));
}

/* ---- a handler that ends its thread ---------------------------------------------------------------------------- */

#define ENDED_THREAD "it ended the thread that it ran on (pthread_exit)"

/* The running task has failed; the tasks that have not begun go back. */
static void end_running(rv_thread *t)
{
    const rv_handler *entered = t->entered;
    rv_item *item = &t->batch.items[t->batch.running];
    t->insists = false;
    if (item->batch_handler != NULL)
        rv_batch_handler_run_end_early(t, ENDED_THREAD);
    else
        rv_run_task_end_early(t, item, ENDED_THREAD);
    t->entered = NULL;
    if (entered != NULL) rv_admission_leave(t, entered);
    (void)note_finished(t, 1);
    give_rest_back(t);
    atomic_store(&t->activity, RV_ACTIVITY_NONE);
}

/* Another thread continues with the state of this one. Both count as alive for a moment, so that nobody joins before
 * the new id is set. If none can be started, this thread settles the last outcomes. */
static void take_place(rv_thread *t)
{
    reeve_worker *worker = t->worker;
    rv_error error = {0};
    (void)pthread_detach(pthread_self());
    rv_lock(&worker->lock);
    worker->threads_alive++;
    bool started = rv_os_thread_start(&t->id, rv_thread_main, t, t->name, &error) == REEVE_OK;
    t->started = started;
    rv_unlock(&worker->lock);
    if (started) return;
    rv_log(REEVE_LOG_ERROR, "thread.ended", "could not start a thread in place of one that a handler ended", "thread",
           t->name, "error", error.text, NULL);
    (void)rv_turn_run(t, 0);
    rv_lock(&worker->lock);
    count_out(worker);
    rv_unlock(&worker->lock);
}

/* Runs when a handler, layer or hook calls pthread_exit: as a cleanup of it. */
static void end_early(void *argument)
{
    rv_thread *t = argument;
    reeve_worker *worker = t->worker;
    rv_end_if_forked(worker);
    rv_log(REEVE_LOG_ERROR, "thread.ended", "a handler ended its thread: a new thread takes its place", "thread",
           t->name, NULL);
    bool runs = t->batch.running != RV_NONE;
    if (runs) end_running(t);
    tear_down(t);
    if (runs) take_place(t);
    rv_lock(&worker->lock);
    count_out(worker);
    rv_unlock(&worker->lock);
}

void *rv_thread_main(void *argument)
{
    rv_thread *t = argument;
    reeve_worker *worker = t->worker;
    own_worker = worker;
    /* A handler that cancels its thread would otherwise end it later, during a turn or while it holds a lock. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_push(end_early, t);
    run_until_the_end(t);
    pthread_cleanup_pop(0);
    rv_lock(&worker->lock);
    count_out(worker);
    rv_unlock(&worker->lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static bool allocate(rv_thread *t)
{
    size_t queues = t->pool->queue_session_count, handlers = t->worker->handlers.count;
    t->states = rv_zalloc_array(handlers + 1, sizeof(*t->states));
    t->set_up = rv_zalloc_array(handlers + 1, sizeof(*t->set_up));
    t->queues = rv_zalloc_array(queues, sizeof(*t->queues));
    t->sessions = rv_zalloc_array(queues, sizeof(*t->sessions));
    t->groups = rv_zalloc_array(queues, sizeof(*t->groups));
    t->picked = rv_zalloc_array(t->batch.capacity, sizeof(rv_item *));
    t->outcomes = rv_zalloc_array(t->batch.capacity, sizeof(*t->outcomes));
    t->leases = rv_zalloc_array(t->batch.capacity, sizeof(*t->leases));
    return rv_queue_order_init(&t->order, t->pool->order, queues, t->pool->weights) && t->states != NULL &&
           t->set_up != NULL && t->queues != NULL && t->sessions != NULL && t->groups != NULL && t->outcomes != NULL &&
           t->leases != NULL && t->picked != NULL;
}

reeve_status rv_thread_init(rv_thread *t, rv_pool *pool, reeve_worker *worker, unsigned number, rv_error *error)
{
    unsigned many = rv_handler_table_batch_max(&worker->handlers);
    memset(t, 0, sizeof(*t));
    t->worker = worker;
    t->pool = pool;
    t->number = number;
    t->task_us = UNKNOWN_US;
    t->want = 1;
    t->gathers = many > 1;
    t->waker.fd = -1;
    snprintf(t->number_text, sizeof(t->number_text), "%u", number);
    snprintf(t->name, sizeof(t->name), "%.10s/%u", pool->name, number);
    rv_arena_init(&t->arena);
    rv_task_init(&t->task);
    reeve_status status = rv_waker_init(&t->waker, error);
    if (status == REEVE_OK)
        status = rv_batch_init(&t->batch, many > pool->batch ? many : pool->batch, pool->queue_session_count, error);
    if (status == REEVE_OK && !allocate(t)) status = rv_fail(error, REEVE_ENOMEM, "no memory for a thread");
    if (status == REEVE_OK)
        status = rv_worker_conn_create(&t->conn, worker, t->number_text, &t->waker, worker->command_ms, error);
    return status;
}

void rv_thread_fini(rv_thread *t)
{
    rv_conn_destroy(t->conn);
    rv_batch_fini(&t->batch);
    rv_task_fini(&t->task);
    rv_arena_fini(&t->arena);
    if (t->waker.fd >= 0) rv_waker_fini(&t->waker);
    rv_queue_order_fini(&t->order);
    rv_free(t->states);
    rv_free(t->set_up);
    rv_free(t->queues);
    rv_free(t->sessions);
    rv_free(t->groups);
    rv_free(t->outcomes);
    rv_free(t->leases);
    rv_batch_handler_run_fini(t);
    memset(t, 0, sizeof(*t));
    t->waker.fd = -1;
}
