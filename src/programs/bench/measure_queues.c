/*
 * measure_queues.c - what many queues in a pool cost: one busy queue, served by a pool that has just this one, and by
 * one that lists --queues of them.
 */
#include "bench.h"

static int measure(bench_run *bench, const char *prefix, int queues, bench_meter *meter)
{
    char name[BENCH_QUEUE_NAME];
    bench_load load = {.queue = bench_queue_name(name, queues - 1), .count = bench->tasks};
    bench_crew crew = {.queue = load.queue, .queues = queues};
    int status = bench_measure_drain(bench, &load, &crew, meter);

    if (status == CLI_DONE) bench_meter_note(bench, meter, prefix, "worker_us", bench->tasks);
    return status == CLI_DONE ? bench_remove_keys(bench) : status;
}

static int round_of(bench_run *bench)
{
    bench_meter one = {0}, many = {0};
    int status = measure(bench, "one_", 1, &one);

    if (status == CLI_DONE) status = measure(bench, "many_", bench->options->queues, &many);
    if (status == CLI_DONE) bench_note(&bench->figures, "", "ratio", "many/one", one.seconds / many.seconds);
    return status;
}

const bench_kind bench_queues = {"queues", "drain rate of a queue in a pool of --queues, and alone", 200000, round_of};
