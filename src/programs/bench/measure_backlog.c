/*
 * measure_backlog.c - whether a long queue is slower than a short one: as many tasks are drained from the front of a
 * backlog, and, ten thousand at a time, from a queue that has no more than these.
 */
#include "bench.h"

#define SHORT "backlog-short"
#define LONG "backlog-long"
#define SHORT_LENGTH 10000

/* Refilled as often as it takes; only the draining counts. */
static int drain_short(bench_run *bench, bench_meter *meter)
{
    reeve_worker *worker = NULL;
    bench_load load = {.queue = SHORT, .count = SHORT_LENGTH};
    int status = bench_set_keep(bench, SHORT);
    int64_t done = 0;

    if (status == CLI_DONE) status = bench_hire(bench, &(bench_crew){.queue = SHORT}, &worker);
    for (int64_t measured = -SHORT_LENGTH; status == CLI_DONE && measured < bench->tasks; measured += SHORT_LENGTH) {
        if (measured == 0) *meter = (bench_meter){0}; /* the first was to warm up */
        status = bench_pause(bench, SHORT);
        if (status == CLI_DONE) status = bench_fill(bench, &load);
        if (status == CLI_DONE) status = bench_settle(bench, worker);
        if (status == CLI_DONE) status = bench_meter_begin(bench, meter);
        if (status == CLI_DONE) status = bench_resume(bench, SHORT);
        if (status == CLI_DONE) status = bench_await(bench, worker, done += SHORT_LENGTH);
        if (status == CLI_DONE) status = bench_meter_end(bench, meter);
    }
    bench_dismiss(worker);
    return status;
}

static int drain_long(bench_run *bench, bench_meter *meter)
{
    reeve_worker *worker = NULL;
    bench_load load = {.queue = LONG, .count = bench->options->backlog};
    int status = bench_set_keep(bench, LONG);

    if (status == CLI_DONE) status = bench_pause(bench, LONG);
    if (status == CLI_DONE) status = bench_fill(bench, &load);
    if (status == CLI_DONE) status = bench_hire(bench, &(bench_crew){.queue = LONG}, &worker);
    if (status == CLI_DONE) status = bench_settle(bench, worker);
    if (status == CLI_DONE) status = bench_resume(bench, LONG);
    if (status == CLI_DONE) status = bench_await(bench, worker, SHORT_LENGTH);
    if (status == CLI_DONE) status = bench_meter_begin(bench, meter);
    if (status == CLI_DONE) status = bench_await(bench, worker, SHORT_LENGTH + bench->tasks);
    if (status == CLI_DONE) status = bench_meter_end(bench, meter);
    bench_dismiss(worker);
    return status;
}

static int round_of(bench_run *bench)
{
    bench_meter shallow = {0}, deep = {0};
    int64_t tasks = (bench->tasks + SHORT_LENGTH - 1) / SHORT_LENGTH * SHORT_LENGTH;
    int status;

    int64_t min = 2 * bench->tasks + SHORT_LENGTH;
    if (bench->options->backlog < min)
        return cli_usage(bench->cli, "--backlog %lld is too short to drain %lld tasks of it: at least %lld",
                         (long long)bench->options->backlog, (long long)bench->tasks, (long long)min);
    status = drain_short(bench, &shallow);
    if (status == CLI_DONE) status = drain_long(bench, &deep);
    if (status != CLI_DONE) return status;
    bench_meter_note(bench, &shallow, "short_", "worker_us", tasks);
    bench_meter_note(bench, &deep, "long_", "worker_us", bench->tasks);
    bench_note(&bench->figures, "", "ratio", "long/short",
               (double)bench->tasks / deep.seconds / ((double)tasks / shallow.seconds));
    return CLI_DONE;
}

const bench_kind bench_backlog = {"backlog", "drain rate behind --backlog tasks, and behind 10,000", 200000, round_of};
