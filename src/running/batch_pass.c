#include "running/batch_pass.h"

#include "base/lock.h"
#include "running/alone.h"
#include "running/batch_handler.h"
#include "running/batch_handler_run.h"
#include "running/descriptors.h"
#include "running/flight.h"
#include "running/pool_demand.h"
#include "running/run_task.h"
#include "running/stuck.h"
#include "running/wakeup.h"

/* ---- how many at once ------------------------------------------------------------------------------------------ */

/*
 * The aimed-at duration of a batch while tasks are scarce, because the queue is nearly empty or at a limit, if that of
 * the pool is longer: other threads may be idle then, and the tasks of the batch wait for one another. It is long
 * compared with a round trip, and short enough that this wait does not matter. A thread begins with one task at a time
 * and adapts to the run times that it measures.
 */
#define SHORT_BATCH_US 2000

static int64_t batch_us(const rv_thread *t)
{
    return t->scarce == 0 || t->pool->batch_us < SHORT_BATCH_US ? t->pool->batch_us : SHORT_BATCH_US;
}

static void learn(rv_thread *t, int64_t elapsed_us, size_t count)
{
    int64_t each = elapsed_us / (int64_t)count;
    /* A longer run time takes effect at once, a shorter one by halves. */
    t->task_us = each > t->task_us ? each : (t->task_us + each) / 2;
    int64_t fits = t->task_us <= 0 ? t->pool->batch : batch_us(t) / t->task_us;
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
    if (*next < batch->count && rv_thread_phase(t) == RV_PHASE_RUNNING && !rv_alone_bars(t)) {
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

size_t rv_batch_pass_note_finished(rv_thread *t, int64_t run_us)
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
        if (ended && item->state == RV_ITEM_FINISHED) rv_flight_finish(t, item);
        if (batch->items[batch->running].batch_handler == NULL) break;
    }
    batch->running = RV_NONE;
    rv_unlock(&batch->lock);
    if (rv_alone_bars(t)) rv_alone_recheck(t->worker); /* the thread that runs a task alone may wait for this end */
    return bytes;
}

void rv_batch_pass_give_back(rv_thread *t)
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
    rv_flight_run(t, item);
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
    p->results += rv_batch_pass_note_finished(t, *now_us - begun_us);
    rv_flight_run(t, NULL);
    if (many) return;
    p->ran++;
    p->us += *now_us - begun_us;
}

/* Adds to rv_thread.busy_us: the time of the beginning is taken away, and that of the end added. */
static void count_busy(rv_thread *t, int64_t us)
{
    int64_t busy_us = atomic_load_explicit(&t->busy_us, memory_order_relaxed);
    atomic_store_explicit(&t->busy_us, busy_us + us, memory_order_relaxed);
}

void rv_batch_pass_run(rv_thread *t)
{
    size_t next = 0, count;
    pass p = {0};
    int64_t now_us = rv_now_us(), begun_us = now_us;
    atomic_store_explicit(&t->activity, RV_ACTIVITY_RUNS, memory_order_relaxed);
    rv_pool_demand_note_run(t, true);
    count_busy(t, -begun_us);
    rv_batch_handler_begin(t);
    while (p.results < RESULT_BYTES && (count = take_next(t, &next, now_us / 1000)) > 0) {
        if (p.ran + p.called == 0 && t->batch.count > 1) rv_wakeup_keeper_at(t->worker, now_us / 1000 + RV_PATIENCE_MS);
        run_next(t, count, &p, &now_us);
    }
    atomic_store_explicit(&t->activity, RV_ACTIVITY_NONE, memory_order_relaxed);
    if (atomic_load_explicit(&t->stuck, memory_order_relaxed)) rv_stuck_return(t);
    rv_pool_demand_note_run(t, false);
    count_busy(t, now_us);
    rv_descriptors_note_run(t, now_us - begun_us);
    bool takes = rv_thread_phase(t) == RV_PHASE_RUNNING && !rv_alone_bars(t);
    if (!t->gathers || p.results >= RESULT_BYTES || !takes) {
        rv_batch_pass_give_back(t);
    } else {
        rv_batch_handler_keep(t);
    }
    if (p.ran > 0) learn(t, p.us, p.ran);
    rv_batch_handler_learn(t, p.called, p.max, p.ran > 0);
}

void rv_batch_pass_init(rv_thread *t)
{
    t->task_us = 2 * SHORT_BATCH_US;
    t->want = 1;
}
