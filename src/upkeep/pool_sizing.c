#include "upkeep/pool_sizing.h"

#include <stdio.h>

#include "base/decimal.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "running/pool_change.h"
#include "running/processors.h"
#include "running/thread_place.h"
#include "running/wakeup.h"
#include "upkeep/utilisation.h"

/* ---- measuring ------------------------------------------------------------------------------------------------- */

/* What the living threads needed of processors since the last measurement; -1: not known. */
static int64_t measure_processor(rv_pool *pool, reeve_worker *worker)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < pool->thread_count; i++) {
        rv_thread *t = rv_worker_pool_thread(pool, i);
        rv_lock(&worker->lock);
        bool alive = t->alive;
        rv_unlock(&worker->lock);
        if (!alive) continue;
        int64_t used = rv_thread_place_measure(t);
        if (used < 0) return -1;
        sum += used;
    }
    return sum;
}

/* Takes what the threads noted, and begins anew. */
static rv_pool_size_sample take_sample(rv_pool *pool, reeve_worker *worker, int64_t now_us)
{
    rv_pool_demand *demand = &pool->demand;
    rv_pool_sizing *sizing = &pool->sizing;
    int64_t busy = rv_utilisation_busy_us(pool, now_us);
    rv_pool_size_sample sample = {.now_us = now_us,
                                  .elapsed_us = now_us - sizing->measured_us,
                                  .threads = atomic_load(&pool->target),
                                  .min = atomic_load(&pool->min),
                                  .max = atomic_load(&pool->max),
                                  .target_wait_us = atomic_load(&sizing->target_wait_us),
                                  .shrink_after_us = atomic_load(&sizing->shrink_after_us),
                                  .gated = atomic_exchange(&demand->gated, false),
                                  .busy_us = busy - sizing->busy_us,
                                  .processor_us = measure_processor(pool, worker),
                                  .leases = atomic_exchange(&demand->leases, 0),
                                  .wait_us = 1000 * atomic_exchange(&demand->wait_ms, 0)};
    rv_error error = {0};
    sample.rested = atomic_exchange(&demand->rested, false) || atomic_load(&demand->resting) > 0;
    sample.peak = atomic_exchange(&demand->peak, atomic_load(&demand->running));
    if (rv_processors_of(pool->cpus, &sample.processors, &error) != REEVE_OK) sample.processors = 1;
    sizing->measured_us = now_us;
    sizing->busy_us = busy;
    return sample;
}

/* ---- explaining ------------------------------------------------------------------------------------------------ */

static const char *reason_words(rv_pool_size_reason why)
{
    static const char *const words[] = {
        [RV_POOL_SIZE_WAIT] = "all threads are busy, and tasks waited longer than the target",
        [RV_POOL_SIZE_LOOK] = "all threads run long tasks: one more looks whether tasks wait",
        [RV_POOL_SIZE_IDLE] = "fewer threads ran tasks at the same time",
        [RV_POOL_SIZE_CROWDED] = "the handlers keep the processors busy with fewer threads",
        [RV_POOL_SIZE_AT_MAX] = "tasks wait, but the pool has its maximum of threads",
        [RV_POOL_SIZE_PROCESSORS] = "tasks wait, but more threads would only share the processors",
        [RV_POOL_SIZE_GATED] = "tasks wait, but their plugin lets no more threads run them",
    };
    return words[why];
}

typedef struct decision {
    rv_pool_size_reason why;
    unsigned before, after;
} decision;

/* For `reeve workers --pools`. */
static void explain(rv_pool *pool, reeve_worker *worker, const rv_pool_size_sample *s, const decision *d)
{
    rv_pool_sizing *sizing = &pool->sizing;
    rv_lock(&worker->lock);
    sizing->wait_us = s->wait_us;
    sizing->processor = sizing->size.knows_processor ? sizing->size.processor : -1;
    if (d->why != RV_POOL_SIZE_STAYS && d->after != d->before)
        (void)snprintf(sizing->why, sizeof(sizing->why), "%u to %u: %s", d->before, d->after, reason_words(d->why));
    else if (d->why != RV_POOL_SIZE_STAYS)
        rv_copy_text(sizing->why, sizeof(sizing->why), reason_words(d->why));
    rv_unlock(&worker->lock);
}

static void log_decision(const rv_pool *pool, const reeve_worker *worker, const rv_pool_size_sample *s,
                         const decision *d)
{
    char before[RV_NUMBER_TEXT], after[RV_NUMBER_TEXT], wait[RV_NUMBER_TEXT], processors[RV_NUMBER_TEXT];
    char needed[RV_DECIMAL_TEXT] = "unknown";
    const rv_pool_size *size = &pool->sizing.size;
    if (size->knows_processor) rv_decimal_write_fixed(needed, size->processor, 2);
    rv_log(REEVE_LOG_INFO,
           d->after > d->before   ? "pool.grown"
           : d->after < d->before ? "pool.shrunk"
                                  : "pool.held",
           reason_words(d->why), "worker", worker->id, "pool", pool->name, "from", rv_number_text(before, d->before),
           "threads", rv_number_text(after, d->after), "wait_ms",
           rv_number_text(wait, (unsigned long long)s->wait_us / 1000), "processor_share", needed, "processors",
           rv_number_text(processors, s->processors), NULL);
}

/* ---- deciding -------------------------------------------------------------------------------------------------- */

static void apply(rv_pool *pool, reeve_worker *worker, const rv_pool_size_sample *s, decision *d)
{
    rv_error error = {0};
    bool changes = d->after != d->before;
    bool held = !changes && d->why != RV_POOL_SIZE_STAYS;
    explain(pool, worker, s, d); /* the change shows the worker's record at once */
    if (changes && rv_pool_change_target(worker, pool, d->after, &error) != REEVE_OK)
        rv_log(REEVE_LOG_ERROR, "thread.missing", "could not start a thread: the pool has fewer than it is to have",
               "worker", worker->id, "pool", pool->name, "error", error.text, NULL);
    bool is_new = held && pool->sizing.held != d->why;
    if (changes || is_new) log_decision(pool, worker, s, d);
    if (is_new) rv_wakeup_show_change(worker);
    if (changes || held) pool->sizing.held = held ? d->why : RV_POOL_SIZE_STAYS;
}

/* The first measurement only begins the time of the next one. */
static int64_t begin(rv_pool *pool, reeve_worker *worker, int64_t now_us)
{
    rv_pool_size_sample sample = take_sample(pool, worker, now_us);
    rv_pool_size *size = &pool->sizing.size;
    if (sample.peak > size->peak) size->peak = sample.peak;
    return now_us + rv_pool_size_window_us(atomic_load(&pool->sizing.target_wait_us));
}

static int64_t measure(rv_pool *pool, reeve_worker *worker, int64_t now_us)
{
    rv_pool_size_sample sample = take_sample(pool, worker, now_us);
    decision d = {.before = sample.threads};
    d.after = rv_pool_size_decide(&pool->sizing.size, &sample, &d.why);
    apply(pool, worker, &sample, &d);
    return rv_pool_size_next_us(&pool->sizing.size, &sample, d.after);
}

/* Returns when to look at this pool again, in microseconds. */
static int64_t look(rv_pool *pool, reeve_worker *worker, int64_t now_us)
{
    rv_pool_sizing *sizing = &pool->sizing;
    if (!atomic_load(&pool->demand.follows) || atomic_load(&pool->removed)) {
        sizing->next_us = 0;
        return INT64_MAX;
    }
    bool rung = atomic_load(&pool->demand.watched);
    int64_t window_us = rv_pool_size_window_us(atomic_load(&sizing->target_wait_us));
    if (rung && (sizing->next_us == 0 || sizing->next_us > now_us + window_us))
        sizing->next_us = begin(pool, worker, now_us);
    if (sizing->next_us == 0) return INT64_MAX;
    if (sizing->next_us > now_us) return sizing->next_us;
    sizing->next_us = measure(pool, worker, now_us);
    /* From here on a thread that leases tasks while no other one rests rings again. */
    if (sizing->size.saturated_us == 0) atomic_store(&pool->demand.watched, false);
    if (sizing->next_us == INT64_MAX) sizing->next_us = 0;
    return sizing->next_us == 0 ? INT64_MAX : sizing->next_us;
}

#define PAUSE_MS 1000

/* A worker that is quiet, or does not reach Redis, changes nothing; threads that are too many are ended afterwards. */
static int64_t pause_all(reeve_worker *worker)
{
    bool goes_on = false;
    if (rv_worker_phase(worker) >= RV_PHASE_STOPPING) return RV_FOREVER;
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        goes_on = goes_on || pool->sizing.next_us != 0;
        atomic_store(&pool->demand.rested, true);
    }
    return goes_on ? rv_deadline(PAUSE_MS) : RV_FOREVER;
}

int64_t rv_pool_sizing_look(reeve_worker *worker)
{
    int64_t next_us = INT64_MAX;
    if (worker->is_consumer) return RV_FOREVER;
    if (rv_worker_phase(worker) != RV_PHASE_RUNNING || atomic_load(&worker->down)) return pause_all(worker);
    for (size_t i = 0; i < worker->pool_count; i++) {
        int64_t at_us = look(rv_worker_pool(worker, i), worker, rv_now_us());
        if (at_us < next_us) next_us = at_us;
    }
    return next_us == INT64_MAX ? RV_FOREVER : next_us / 1000 + 1;
}
