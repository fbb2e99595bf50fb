/*
 * measure_groups.c - what fairness between many groups costs: the same drain with tasks spread over --groups, and
 * with none.
 */
#include "bench.h"

static int measure(bench_run *bench, const char *prefix, const char *queue, int groups, bench_meter *meter)
{
    bench_load load = {.queue = queue, .count = bench->tasks, .groups = groups};
    bench_crew crew = {.queue = queue};
    int status = bench_measure_drain(bench, &load, &crew, meter);

    if (status == CLI_DONE) bench_meter_note(bench, meter, prefix, "worker_us", bench->tasks);
    return status == CLI_DONE ? bench_remove_keys(bench) : status;
}

static int round_of(bench_run *bench)
{
    bench_meter none = {0}, many = {0};
    int status = measure(bench, "none_", "groups-none", 0, &none);

    if (status == CLI_DONE) status = measure(bench, "many_", "groups-many", bench->options->groups, &many);
    if (status == CLI_DONE) bench_note(&bench->figures, "", "ratio", "many/none", none.seconds / many.seconds);
    return status;
}

const bench_kind bench_groups = {"groups", "drain rate of tasks in --groups groups, and in none", 200000, round_of};
