#include "upkeep/utilisation.h"

#include <math.h>

#define MINUTE_US 60e6

int64_t rv_utilisation_busy_us(const rv_pool *pool, int64_t now_us)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < pool->thread_count; i++) {
        int64_t busy = atomic_load_explicit(&rv_worker_pool_thread(pool, i)->busy_us, memory_order_relaxed);
        sum += busy < 0 ? busy + now_us : busy;
    }
    return sum;
}

/* Adds the last time to a mean over about `over`; while the worker is younger than that, it is the plain mean. */
static void add(double *mean, double share, double elapsed, double age, double over)
{
    *mean += (share - *mean) * fmax(1 - exp(-elapsed / over), elapsed / age);
}

static void measure(rv_pool *pool, int64_t started_us, int64_t now_us)
{
    rv_utilisation *known = &pool->utilisation;
    int64_t busy = rv_utilisation_busy_us(pool, now_us), since_us = known->at_us > 0 ? known->at_us : started_us;
    double elapsed = (double)(now_us - since_us), age = (double)(now_us - started_us);
    if (elapsed <= 0) return;
    double share = (double)(busy - known->busy_us) / (elapsed * fmax(atomic_load(&pool->target), 1));
    share = fmin(fmax(share, 0), 1);
    add(&known->share, share, elapsed, age, MINUTE_US);
    add(&known->share_5m, share, elapsed, age, 5 * MINUTE_US);
    add(&known->share_15m, share, elapsed, age, 15 * MINUTE_US);
    known->busy_us = busy;
    known->at_us = now_us;
}

void rv_utilisation_measure(reeve_worker *worker, int64_t now_us)
{
    if (worker->heart.measured_since_us == 0) worker->heart.measured_since_us = now_us;
    for (size_t i = 0; i < worker->pool_count; i++)
        measure(rv_worker_pool(worker, i), worker->heart.measured_since_us, now_us);
}

double rv_utilisation_of_worker(const reeve_worker *worker)
{
    double sum = 0;
    for (size_t i = 0; i < worker->pool_count; i++)
        if (!atomic_load(&rv_worker_pool(worker, i)->removed))
            sum += rv_worker_pool(worker, i)->utilisation.share * atomic_load(&rv_worker_pool(worker, i)->target);
    unsigned threads = atomic_load(&worker->thread_count);
    return threads > 0 ? sum / threads : 0;
}
