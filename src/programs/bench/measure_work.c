/*
 * measure_work.c - how near a pool comes to the rate that its handlers allow: one worker drains tasks whose handlers
 * sleep or compute, and beside it a bare loop, as many threads without Redis, does the same work.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "bench.h"
#include "workload.h"

#define QUEUE "work"
#define TYPE "work"

struct run {
    bench_workload work;
    atomic_llong begun; /* tasks so far: the number of the next */
};

/* ---- the bare loop ---------------------------------------------------------------------------------------------- */

struct bare {
    struct run *run;
    int64_t tasks;
    pthread_mutex_t gate; /* threads begin once they can lock it */
};

static void *work_bare(void *user)
{
    struct bare *bare = user;

    (void)pthread_mutex_lock(&bare->gate);
    (void)pthread_mutex_unlock(&bare->gate);
    for (;;) {
        int64_t number = atomic_fetch_add(&bare->run->begun, 1);

        if (number >= bare->tasks) return NULL;
        bench_workload_run(&bare->run->work, number);
    }
}

/* Starts the threads behind the gate; *ret_started is less than --threads when one cannot be started. */
static void start_bare(const bench_run *bench, struct bare *bare, pthread_t *threads, int *ret_started)
{
    *ret_started = 0;
    while (*ret_started < bench->options->threads && pthread_create(&threads[*ret_started], NULL, work_bare, bare) == 0)
        (*ret_started)++;
}

static int measure_bare(bench_run *bench, struct run *run, bench_meter *meter)
{
    struct bare bare = {.run = run, .tasks = bench->tasks, .gate = PTHREAD_MUTEX_INITIALIZER};
    pthread_t *threads = rv_zalloc_array((size_t)bench->options->threads, sizeof(*threads));
    int started, status;

    if (threads == NULL) return cli_no_memory(bench->cli);
    (void)pthread_mutex_lock(&bare.gate);
    start_bare(bench, &bare, threads, &started);
    if (started < bench->options->threads) bare.tasks = 0;
    status = bench_meter_begin(bench, meter);
    (void)pthread_mutex_unlock(&bare.gate);
    for (int i = 0; i < started; i++) (void)pthread_join(threads[i], NULL);
    if (status == CLI_DONE) status = bench_meter_end(bench, meter);
    (void)pthread_mutex_destroy(&bare.gate);
    rv_free(threads);
    if (started == bench->options->threads) return status;
    return cli_fail(bench->cli, CLI_REFUSED, "only %d of %d threads can be started", started, bench->options->threads);
}

/* ---- the worker ------------------------------------------------------------------------------------------------- */

static reeve_outcome run_task(reeve_task *task, void *user)
{
    struct run *run = user;

    bench_workload_run(&run->work, atomic_fetch_add(&run->begun, 1));
    return reeve_task_done(task, NULL, 0);
}

static void restart_numbers(void *user)
{
    struct run *run = user;

    atomic_store(&run->begun, 0);
}

static int measure_worker(bench_run *bench, struct run *run, bench_meter *meter)
{
    reeve_handler handler = {REEVE_HANDLER, .type = TYPE, .run = run_task, .user = run};
    bench_load load = {.queue = QUEUE, .type = TYPE, .count = bench->tasks};
    bench_crew crew = {
        .queue = QUEUE, .handlers = &handler, .handler_count = 1, .on_begin = restart_numbers, .on_begin_user = run};
    int status = bench_measure_drain(bench, &load, &crew, meter);

    if (status != CLI_DONE || atomic_load(&run->begun) == bench->tasks) return status;
    return cli_fail(bench->cli, CLI_REFUSED, "%lld tasks ran, instead of %lld", (long long)atomic_load(&run->begun),
                    (long long)bench->tasks);
}

static void note(bench_run *bench, const struct run *run, const bench_meter *bare, const bench_meter *worker)
{
    bench_figures *figures = &bench->figures;
    double tasks = (double)bench->tasks;

    bench_note(figures, "", "handler_us", bench_workload_unit(&run->work), (double)run->work.run_us);
    bench_note(figures, "", "bare_tasks_per_s", "tasks/s", tasks / bare->seconds);
    bench_note(figures, "", "bare_us", "us CPU/task", bare->own_cpu / tasks * 1e6);
    bench_meter_note(bench, worker, "", "worker_us", bench->tasks);
    bench_note(figures, "", "ratio", "worker/bare loop", bare->seconds / worker->seconds);
    bench_note(figures, "", "calls", "script calls/task", worker->script_calls / tasks);
    bench_note(figures, "", "commands", "commands/task", worker->commands / tasks);
}

static int round_of(bench_run *bench)
{
    struct run run = {0};
    bench_meter bare = {0}, worker = {0};
    int status;

    if (bench->options->handler_ms > 0 && bench->options->handler_us > 0)
        return cli_usage(bench->cli, "--handler-ms and --handler-us exclude each other");
    bench_workload_init(&run.work, bench->options);
    status = measure_bare(bench, &run, &bare);
    if (status == CLI_DONE) status = measure_worker(bench, &run, &worker);
    if (status == CLI_DONE) note(bench, &run, &bare, &worker);
    return status;
}

const bench_kind bench_work = {"work", "tasks that sleep or compute, beside a bare loop", 0, round_of};
