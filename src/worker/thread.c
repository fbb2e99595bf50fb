#include "worker/thread.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "worker/lock.h"
#include "worker/notice.h"

/* ---- how many at once ------------------------------------------------------------------------------------------ */

/*
 * A batch should last about this long: long enough that the round trip is small beside it, short enough that no task
 * notices that it waited in a batch. A thread begins with one task and learns from what it runs.
 */
#define BATCH_US 2000
#define UNKNOWN_US (2 * BATCH_US)

static void learn(rv_thread *t, int64_t elapsed_us, size_t count)
{
    int64_t each = elapsed_us / (int64_t)count;
    /* Slower counts at once, faster by halves. */
    t->task_us = each > t->task_us ? each : (t->task_us + each) / 2;
    int64_t fits = t->task_us <= 0 ? t->pool->batch : BATCH_US / t->task_us;
    int64_t most = 4 * (int64_t)t->want;
    if (fits > most) fits = most;
    if (fits > t->pool->batch) fits = t->pool->batch;
    t->want = fits < 1 ? 1 : (unsigned)fits;
}

/* ---- running a batch ------------------------------------------------------------------------------------------- */

/* The next waiting item becomes the running one; NULL when there is none (the rest may have been handed over), or the
 * worker takes no more. */
static rv_item *take_next(rv_thread *t, size_t *next, int64_t now_ms)
{
    rv_batch *batch = &t->batch;
    rv_item *item = NULL;
    rv_lock(&batch->lock);
    while (*next < batch->count && batch->items[*next].state != RV_ITEM_WAITING) (*next)++;
    /* (Under the lock, so that a handler that begins now hears it when the worker stops.) */
    if (*next < batch->count && rv_worker_phase(t->worker) == RV_PHASE_RUNNING) {
        item = &batch->items[*next];
        item->state = RV_ITEM_RUNNING;
        batch->running = (*next)++;
        batch->running_since_ms = now_ms;
        batch->running_until_ms = RV_FOREVER;
        atomic_store_explicit(&t->stop, item->cancelled, memory_order_relaxed);
        atomic_store_explicit(&t->cancelled, item->cancelled, memory_order_relaxed);
    }
    rv_unlock(&batch->lock);
    return item;
}

/* (An item that the keeper took over in the meantime stays with it, and so does what it settled.) */
static void note_finished(rv_thread *t, rv_item *item, int64_t run_us)
{
    rv_lock(&t->batch.lock);
    item->run_us = run_us > 0 ? run_us : 1;
    if (item->state == RV_ITEM_RUNNING) item->state = RV_ITEM_FINISHED;
    t->batch.running = RV_NONE;
    rv_unlock(&t->batch.lock);
}

/* What has not begun goes back to the front of its queue with the next turn. */
static void give_rest_back(rv_thread *t)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        if (item->state != RV_ITEM_WAITING) continue;
        item->outcome = (rv_settlement){.id = item->lease.id, .verb = REEVE_OUTCOME_SNOOZE};
        item->state = RV_ITEM_FINISHED;
    }
    rv_unlock(&t->batch.lock);
}

/* What a turn may carry in results: more is settled first, and the rest of the batch goes back. */
#define RESULT_BYTES ((size_t)8 * 1024 * 1024)

static void run_batch(rv_thread *t)
{
    size_t next = 0, ran = 0, results = 0;
    int64_t start_us = rv_now_us(), now_us = start_us;
    atomic_store_explicit(&t->busy, true, memory_order_relaxed);
    for (;;) {
        rv_item *item = take_next(t, &next, now_us / 1000);
        if (item == NULL) break;
        if (ran == 0 && t->batch.count > 1) rv_keeper_expect(t->worker, start_us / 1000 + RV_PATIENCE_MS);
        rv_thread_run(t, item);
        results += item->outcome.result.length;
        int64_t begun_us = now_us;
        now_us = rv_now_us();
        note_finished(t, item, now_us - begun_us);
        ran++;
    }
    atomic_store_explicit(&t->busy, false, memory_order_relaxed);
    give_rest_back(t);
    if (ran > 0) learn(t, now_us - start_us, ran);
}

/* ---- the one waiting place ------------------------------------------------------------------------------------- */

/* (In the order of the lease behind it: the wake-up that is used up is that of the queue that is served.) */
static void build_wait(rv_thread *t)
{
    rv_cmd(t->conn, t->pool->claim_count + 2);
    rv_args(t->conn, "BLPOP");
    for (size_t place = 0; place < t->pool->claim_count; place++) {
        const rv_prefix *prefix = &t->pool->claims[rv_order_queue(&t->order, place)]->prefix;
        rv_arg2(t->conn, prefix->text, prefix->length, "wake", 4);
    }
    rv_args(t->conn, "0");
}

static bool is_unknown_script(const rv_reply *reply)
{
    return rv_reply_is(reply, RV_ERROR) && strncmp(reply->text, "NOSCRIPT", 8) == 0;
}

/* What the wait ended with, other than a lease. */
static void end_rest(rv_thread *t, reeve_status status, const rv_reply *reply)
{
    t->empty = false;
    t->unsure = true;
    if (status == REEVE_EINTERRUPTED) {
        rv_conn_close(t->conn);
        rv_waker_silence(&t->waker);
    } else if (status == REEVE_EREDIS && !is_unknown_script(reply)) {
        rv_note_refusal(t->worker, "Redis does not let a thread wait: looking every second",
                        rv_conn_error(t->conn)->text);
        rv_waker_wait(&t->waker, rv_deadline(1000));
    }
}

/*
 * Until there may be a task, or the phase changes. The lease is sent behind the wait, so that Redis carries it out the
 * moment somebody enqueues: the task comes with the wake-up, one round trip earlier.
 */
static void rest(rv_thread *t)
{
    const rv_reply *reply;
    rv_task_begin(&t->task); /* (gives back what a large result took) */
    rv_arena_trim(&t->arena, 4096);
    build_wait(t);
    rv_thread_build_lease(t, t->want);
    reeve_status status = rv_conn_call_blocking(t->conn, RV_FOREVER, &reply);
    if (status == REEVE_OK) {
        t->empty = rv_thread_take_lease(t, reply, t->want) && t->batch.count == 0;
    } else {
        end_rest(t, status, reply);
    }
}

/* A wake-up that this thread had, or that was on its way to it, is not used: the scheduler looks after the queues. */
static void pass_wake_up_on(rv_thread *t)
{
    rv_conn_close(t->conn);
    rv_scheduler_kick(t->worker);
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
        if (t->set_up[i] && handler->thread_stop != NULL) handler->thread_stop(handler->user, t->states[i]);
        t->set_up[i] = false;
    }
}

/* Gets something to run, or settles what is left. False when the worker leaves. */
static bool take_turn(rv_thread *t, bool running)
{
    if (t->empty && running && rv_conn_is_open(t->conn)) {
        rest(t);
        return true;
    }
    if (!rv_thread_turn(t, running ? t->want : 0)) return false;
    t->empty = t->batch.count == 0;
    return true;
}

void *rv_thread_main(void *argument)
{
    rv_thread *t = argument;
    while (rv_worker_phase(t->worker) < RV_PHASE_STOPPING || t->batch.count > 0 || t->unsure) {
        bool running = rv_worker_phase(t->worker) == RV_PHASE_RUNNING;
        if (running || t->batch.count > 0 || t->unsure) {
            if (!take_turn(t, running)) break;
        } else {
            wait_for_the_end(t);
        }
        if (t->batch.count > 0) run_batch(t);
    }
    pass_wake_up_on(t);
    tear_down(t);
    rv_lock(&t->worker->lock);
    t->worker->threads_alive--;
    rv_lock_check(pthread_cond_broadcast(&t->worker->thread_ended));
    rv_unlock(&t->worker->lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static bool allocate(rv_thread *t)
{
    size_t queues = t->pool->claim_count, handlers = t->worker->handlers.count;
    t->states = rv_zalloc_array(handlers + 1, sizeof(*t->states));
    t->set_up = rv_zalloc_array(handlers + 1, sizeof(*t->set_up));
    t->queues = rv_zalloc_array(queues, sizeof(*t->queues));
    t->sessions = rv_zalloc_array(queues, sizeof(*t->sessions));
    t->groups = rv_zalloc_array(queues, sizeof(*t->groups));
    t->outcomes = rv_zalloc_array(t->batch.capacity, sizeof(*t->outcomes));
    t->leases = rv_zalloc_array(t->batch.capacity, sizeof(*t->leases));
    return rv_order_init(&t->order, t->pool->order, queues, t->pool->weights) && t->states != NULL &&
           t->set_up != NULL && t->queues != NULL && t->sessions != NULL && t->groups != NULL && t->outcomes != NULL &&
           t->leases != NULL;
}

reeve_status rv_thread_init(rv_thread *t, rv_pool *pool, reeve_worker *worker, unsigned number, rv_error *error)
{
    char connection[64];
    memset(t, 0, sizeof(*t));
    t->worker = worker;
    t->pool = pool;
    t->number = number;
    t->task_us = UNKNOWN_US;
    t->want = 1;
    t->waker.fd = -1;
    snprintf(t->number_text, sizeof(t->number_text), "%u", number);
    snprintf(t->name, sizeof(t->name), "%.10s/%u", pool->name, number);
    snprintf(connection, sizeof(connection), "reeve-%s-%u", worker->id, number);
    rv_arena_init(&t->arena);
    rv_task_init(&t->task);
    reeve_status status = rv_waker_init(&t->waker, error);
    if (status == REEVE_OK) status = rv_batch_init(&t->batch, pool->batch, pool->claim_count, error);
    if (status == REEVE_OK && !allocate(t)) status = rv_fail(error, REEVE_ENOMEM, "no memory for a thread");
    rv_conn_options options = {
        .url = worker->target, .name = connection, .waker = &t->waker, .command_ms = worker->command_ms};
    if (status == REEVE_OK) status = rv_conn_create(&t->conn, &options, error);
    return status;
}

void rv_thread_fini(rv_thread *t)
{
    rv_conn_destroy(t->conn);
    rv_batch_fini(&t->batch);
    rv_task_fini(&t->task);
    rv_arena_fini(&t->arena);
    if (t->waker.fd >= 0) rv_waker_fini(&t->waker);
    rv_order_fini(&t->order);
    rv_free(t->states);
    rv_free(t->set_up);
    rv_free(t->queues);
    rv_free(t->sessions);
    rv_free(t->groups);
    rv_free(t->outcomes);
    rv_free(t->leases);
    memset(t, 0, sizeof(*t));
    t->waker.fd = -1;
}
