/*
 * measure_drain.c - how fast one worker empties a full queue: leased, run and settled, with all that is promised.
 */
#include "bench.h"

#define QUEUE "drain"

static int round_of(bench_run *bench)
{
    bench_load load = {.queue = QUEUE, .count = bench->tasks};
    bench_crew crew = {.queue = QUEUE};
    bench_meter meter = {0};
    int status = bench_measure_drain(bench, &load, &crew, &meter);

    if (status == CLI_DONE) bench_meter_note(bench, &meter, "", "worker_us", bench->tasks);
    return status;
}

const bench_kind bench_drain = {"drain", "one worker empties a full queue of no-op tasks", 200000, round_of};
