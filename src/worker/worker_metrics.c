/*
 * worker_metrics.c - the metrics of a worker as text. Everything is added up when it is asked for: threads count what
 * they do by themselves (running/task_metrics.h), and a lock of theirs is held for a copy of a few hundred bytes.
 */
#include "worker/worker_metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"
#include "handlers/plugin_count.h"
#include "running/queue_session.h"
#include "running/task_metrics.h"
#include "running/worker_state.h"

#define TEXT_MAX ((size_t)64 * 1024 * 1024)

/* ---- the worker ------------------------------------------------------------------------------------------------ */

/* How long the task that runs longest has run, in seconds; 0: none runs. */
static double longest_seconds(const rv_pool *pool)
{
    int64_t now = rv_now_ms(), longest = 0;
    for (unsigned i = 0; i < pool->thread_count; i++) {
        rv_batch *batch = &rv_worker_pool_thread(pool, i)->batch;
        rv_lock(&batch->lock);
        if (batch->running != RV_NONE && now - batch->running_since_ms > longest)
            longest = now - batch->running_since_ms;
        rv_unlock(&batch->lock);
    }
    return (double)longest / 1000;
}

static double busy_threads(const rv_pool *pool)
{
    double busy = 0;
    for (unsigned i = 0; i < pool->thread_count; i++)
        busy += atomic_load(&rv_worker_pool_thread(pool, i)->activity) == RV_ACTIVITY_RUNS;
    return busy;
}

static double target_threads(const rv_pool *pool)
{
    return atomic_load(&pool->target);
}

/* A gauge with a sample for each pool. */
static void write_pools(const reeve_worker *worker, rv_exposition *to, const char *name, const char *unit,
                        const char *help, double (*value)(const rv_pool *pool))
{
    rv_exposition_family(to, name, RV_EXPOSITION_GAUGE, unit, help);
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        const char *const labels[] = {"pool", pool->name, NULL};
        if (!atomic_load(&pool->removed)) rv_exposition_sample(to, labels, value(pool));
    }
}

/* How late the maintenance of the queue that waits longest for it is. */
static double late_seconds(reeve_worker *worker)
{
    rv_scheduler *scheduler = &worker->scheduler;
    int64_t now = rv_now_ms(), late = 0;
    rv_lock(&scheduler->thread.lock);
    for (size_t i = 0; scheduler->due != NULL && i < worker->queue_session_count; i++) {
        if (scheduler->due[i] > 0 && now - scheduler->due[i] > late) late = now - scheduler->due[i];
    }
    rv_unlock(&scheduler->thread.lock);
    return (double)late / 1000;
}

static void write_threads(reeve_worker *worker, rv_exposition *to)
{
    write_pools(worker, to, "reeve_worker_threads", NULL, "Threads that the pool is to have.", target_threads);
    if (rv_worker_phase(worker) == RV_PHASE_CREATED) return;
    write_pools(worker, to, "reeve_worker_busy", NULL, "Threads of the pool that run a handler.", busy_threads);
    write_pools(worker, to, "reeve_running_longest_seconds", "seconds",
                "How long the task that runs longest has run; 0: none runs.", longest_seconds);
    rv_exposition_gauge(to, "reeve_maintenance_late_seconds", "seconds",
                        "How long maintenance of a queue by this worker is overdue; 0: it is not.",
                        late_seconds(worker));
}

static void write_redis(reeve_worker *worker, rv_exposition *to)
{
    const rv_stats *stats = &worker->stats;
    rv_exposition_gauge(to, "reeve_up", NULL, "1 if the connection for heartbeats is open.",
                        atomic_load(&worker->heart.connected));
    rv_exposition_gauge(to, "reeve_redis_roundtrip_seconds", "seconds", "Round trip of the last heartbeat.",
                        (double)atomic_load(&worker->heart.round_trip_us) / 1e6);
    rv_exposition_counter(to, "reeve_redis_reconnects", NULL, "Connections to Redis that were opened again.",
                          (double)atomic_load(&stats->reconnects));
    rv_exposition_counter(to, "reeve_redis_errors", NULL, "Calls that Redis answered with an error.",
                          (double)atomic_load(&stats->redis_errors));
    rv_exposition_counter(to, "reeve_leases", NULL, "Leases of tasks.", (double)atomic_load(&stats->leased));
    rv_exposition_counter(to, "reeve_leases_lost", NULL,
                          "Outcomes that Redis refused because the task was leased to another session.",
                          (double)atomic_load(&stats->refused));
    rv_exposition_counter(to, "reeve_sessions_lost", NULL, "Sessions that expired while the worker lived.",
                          (double)atomic_load(&stats->sessions_lost));
}

/* What handlers and plugins count (reeve_plugin_count). */
static void write_counters(rv_exposition *to)
{
    char name[sizeof("reeve_plugin_") + REEVE_COUNTER_NAME_MAX];
    size_t count = rv_plugin_count_number();
    for (size_t i = 0; i < count; i++) {
        rv_plugin_counter counter = rv_plugin_count_get(i);
        (void)snprintf(name, sizeof(name), "reeve_plugin_%s", counter.name);
        rv_exposition_counter(to, name, NULL, counter.help, (double)counter.value);
    }
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

/* A copy of all series at one time, each with its queue. */
typedef struct task_rows {
    struct row {
        const char *queue;
        rv_task_series series;
    } * list;
    size_t count;
} task_rows;

static void copy_queue(task_rows *to, rv_queue_session *queue_session, rv_task_series *other)
{
    if (queue_session->metrics == NULL) return;
    rv_lock(&queue_session->lock);
    const rv_task_metrics *metrics = queue_session->metrics;
    for (const rv_task_series *at = metrics->first; at != NULL && to->count < RV_TASK_SERIES_MAX; at = at->next)
        to->list[to->count++] = (struct row){.queue = queue_session->queue, .series = *at};
    rv_task_metrics_merge(other, &metrics->other);
    rv_unlock(&queue_session->lock);
}

static bool is_empty(const rv_task_series *series)
{
    for (size_t i = 0; i < RV_TASK_RESULT_COUNT; i++)
        if (series->results[i] > 0) return false;
    return true;
}

/* False: no memory. */
static bool copy_series(task_rows *ret, reeve_worker *worker)
{
    rv_task_series other = {.type = "other"};
    *ret = (task_rows){.list = rv_zalloc_array(RV_TASK_SERIES_MAX + 1, sizeof(*ret->list))};
    if (ret->list == NULL) return false;
    for (size_t i = 0; i < worker->queue_session_count; i++)
        copy_queue(ret, rv_worker_queue_session(worker, i), &other);
    if (!is_empty(&other)) ret->list[ret->count++] = (struct row){.queue = "other", .series = other};
    return true;
}

static void write_times(rv_exposition *to, const task_rows *rows, const char *name, const char *help, size_t at)
{
    rv_exposition_family(to, name, RV_EXPOSITION_HISTOGRAM, "seconds", help);
    for (size_t i = 0; i < rows->count; i++) {
        const rv_task_times *times = (const void *)((const char *)&rows->list[i].series + at);
        const char *const labels[] = {"queue", rows->list[i].queue, "type", rows->list[i].series.type, NULL};
        rv_exposition_histogram(to, labels, rv_task_metrics_bounds, RV_TASK_BOUNDS, times->count,
                                (double)times->sum_us / 1e6);
    }
}

static void write_tasks(rv_exposition *to, const task_rows *rows)
{
    rv_exposition_family(to, "reeve_tasks", RV_EXPOSITION_COUNTER, NULL, "Attempts of tasks by their outcome.");
    for (size_t i = 0; i < rows->count; i++) {
        for (int result = 0; result < RV_TASK_RESULT_COUNT; result++) {
            const char *const labels[] = {"queue",   rows->list[i].queue,
                                          "type",    rows->list[i].series.type,
                                          "outcome", rv_task_metrics_word((rv_task_result)result),
                                          NULL};
            rv_exposition_sample(to, labels, (double)rows->list[i].series.results[result]);
        }
    }
    write_times(to, rows, "reeve_task_wait_seconds", "Time from when a task was ready to the start of its handler.",
                offsetof(rv_task_series, wait));
    write_times(to, rows, "reeve_task_run_seconds", "Run time of the handler.", offsetof(rv_task_series, run));
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

void rv_worker_metrics_write(reeve_worker *worker, rv_exposition *to)
{
    task_rows rows;
    rv_exposition_build_info(to);
    write_threads(worker, to);
    write_redis(worker, to);
    write_counters(to);
    if (!worker->metrics) return;
    if (!copy_series(&rows, worker)) {
        to->out->failed = true;
        return;
    }
    write_tasks(to, &rows);
    rv_free(rows.list);
}

reeve_status reeve_worker_metrics(reeve_worker *worker, reeve_metrics_format format, char *ret, size_t size,
                                  size_t *ret_length)
{
    rv_exposition to;
    rv_buf out;
    if (worker == NULL || ret_length == NULL || (ret == NULL && size > 0) ||
        (format != REEVE_METRICS_PROMETHEUS && format != REEVE_METRICS_OPENMETRICS))
        return REEVE_EINVAL;
    rv_buf_init(&out, TEXT_MAX);
    rv_exposition_begin(&to, &out, format == REEVE_METRICS_OPENMETRICS ? "application/openmetrics-text" : NULL);
    rv_worker_metrics_write(worker, &to);
    rv_exposition_end(&to);
    reeve_status status = out.failed ? REEVE_ENOMEM : out.length >= size ? REEVE_ETOOBIG : REEVE_OK;
    if (status != REEVE_ENOMEM) *ret_length = out.length;
    if (status == REEVE_OK) memcpy(ret, rv_buf_text(&out), out.length + 1);
    rv_buf_fini(&out);
    return status;
}
