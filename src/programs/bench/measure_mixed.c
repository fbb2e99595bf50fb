/*
 * measure_mixed.c - short tasks among slow ones: none may wait in a thread's batch behind a slow one while another
 * thread idles.
 *
 * Threads that have learned that tasks are short meet a queue of tasks of a millisecond with --slow long ones among
 * them. At least one thread never has a long one, so some short task begins every millisecond or so until none is
 * left. The longest time in which none began tells how long tasks were held up; the waits tell the same of each.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench.h"

#define QUEUE "mixed"
#define SHORT_MS 1
#define STOP_LOOK_MS 5

struct log_of {
    double *begun; /* of the short tasks, seconds */
    atomic_llong count;
    atomic_llong noted; /* of these, whose time stands in begun */
    int64_t max;
    atomic_int slow_begun;
    atomic_bool end; /* what still runs may end */
    int64_t slow_ms;
};

static void sleep_ms(int ms)
{
    (void)poll(NULL, 0, ms);
}

static reeve_outcome run_short(reeve_task *task, void *user)
{
    struct log_of *log = user;
    long long at = atomic_fetch_add(&log->count, 1);

    if (at < log->max) log->begun[at] = bench_now();
    atomic_fetch_add(&log->noted, 1);
    sleep_ms(SHORT_MS);
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome run_slow(reeve_task *task, void *user)
{
    struct log_of *log = user;
    int64_t until = rv_deadline(log->slow_ms);

    atomic_fetch_add(&log->slow_begun, 1);
    while (rv_now_ms() < until && !atomic_load(&log->end)) sleep_ms(STOP_LOOK_MS);
    return reeve_task_done(task, NULL, 0);
}

/* Evenly among the short ones, the first of them early: a spec at a time keeps their order. */
static int fill(bench_run *bench)
{
    int64_t between = bench->tasks / (bench->options->slow + 1);
    int status = CLI_DONE;

    for (int i = 0; status == CLI_DONE && i <= bench->options->slow; i++) {
        bool last = i == bench->options->slow;
        int64_t count = last ? bench->tasks - between * bench->options->slow : between;

        status = bench_fill(bench, &(bench_load){.queue = QUEUE, .type = "short", .count = count});
        if (status == CLI_DONE && !last)
            status = bench_fill(bench, &(bench_load){.queue = QUEUE, .type = "slow", .count = 1});
    }
    return status;
}

static int await_short(bench_run *bench, struct log_of *log)
{
    int64_t deadline = rv_deadline(bench->tasks * 100 + 2 * log->slow_ms + 10000);
    int status = CLI_DONE;

    while (status == CLI_DONE && atomic_load(&log->noted) < bench->tasks) {
        if (rv_now_ms() >= deadline) return cli_fail(bench->cli, CLI_REFUSED, "short tasks do not begin");
        sleep_ms(5);
        status = bench_go_on(bench);
    }
    return status;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void note(bench_run *bench, const struct log_of *log, double resumed)
{
    bench_figures *figures = &bench->figures;
    size_t count = (size_t)bench->tasks;
    double gap = 0, before = resumed, *waits = log->begun;

    qsort(waits, count, sizeof(*waits), ascending);
    for (size_t i = 0; i < count; i++) {
        if (waits[i] - before > gap) gap = waits[i] - before;
        before = waits[i];
        waits[i] = (waits[i] - resumed) * 1000;
    }
    bench_note(figures, "", "held_up_ms", "ms, longest without a begin", gap * 1000);
    bench_note_samples(figures, "wait_", "ms", waits, count);
    bench_note(figures, "", "slow_met", "slow tasks that ran meanwhile", atomic_load(&log->slow_begun));
}

/* As many as the threads need to learn that tasks are short. */
static int warm_up(bench_run *bench, reeve_worker *worker, int64_t count)
{
    int status = bench_fill(bench, &(bench_load){.queue = QUEUE, .count = count});

    if (status == CLI_DONE) status = bench_await(bench, worker, count);
    if (status == CLI_DONE) status = bench_settle(bench, worker);
    return status == CLI_DONE ? bench_pause(bench, QUEUE) : status;
}

static int measure(bench_run *bench, struct log_of *log)
{
    reeve_handler handlers[] = {{REEVE_HANDLER, .type = "short", .run = run_short, .user = log},
                                {REEVE_HANDLER, .type = "slow", .run = run_slow, .user = log}};
    reeve_worker *worker = NULL;
    double resumed = 0;
    int status = bench_hire(bench, &(bench_crew){.queue = QUEUE, .handlers = handlers, .handler_count = 2}, &worker);

    if (status == CLI_DONE) status = bench_settle(bench, worker);
    if (status == CLI_DONE) status = warm_up(bench, worker, 20000);
    if (status == CLI_DONE) status = fill(bench);
    if (status == CLI_DONE) status = bench_settle(bench, worker);
    resumed = bench_now();
    if (status == CLI_DONE) status = bench_resume(bench, QUEUE);
    if (status == CLI_DONE) status = await_short(bench, log);
    if (status == CLI_DONE) note(bench, log, resumed);
    atomic_store(&log->end, true);
    bench_dismiss(worker);
    return status;
}

static int round_of(bench_run *bench)
{
    struct log_of log = {.begun = bench->samples, .max = bench->tasks, .slow_ms = bench->options->slow_ms};

    if (bench->options->slow >= bench->options->threads)
        return cli_usage(bench->cli, "--slow %d: fewer than the %d --threads, so that one is free for short tasks",
                         bench->options->slow, bench->options->threads);
    return measure(bench, &log);
}

const bench_kind bench_mixed = {"mixed", "how long tasks of 1 ms wait beside slow ones", 2000, round_of};
