/*
 * measure_enqueue.c - how fast one producer fills a queue that nobody empties: task by task, each acknowledged before
 * the next; 64 on the way at once; and in calls of 1000.
 */
#include "bench.h"

#define QUEUE "enqueue"
#define ONE_PART 10 /* task by task takes long: so much less of them */

static int one_by_one(bench_run *bench, int64_t count)
{
    reeve_task_spec spec = {.size = sizeof(spec),
                            .queue = QUEUE,
                            .type = BENCH_NOOP,
                            .payload = {bench->bytes, (size_t)bench->options->payload}};
    char id[REEVE_ID_MAX];
    int status = CLI_DONE;

    for (int64_t i = 0; status == CLI_DONE && i < count; i++) {
        reeve_status result = reeve_enqueue(bench->cli->client, &spec, id);

        status = result == REEVE_OK ? bench_go_on(bench) : cli_fail_call(bench->cli, result, NULL);
    }
    return status;
}

static int fill(bench_run *bench, int64_t count, size_t at_once)
{
    if (at_once == 1) return one_by_one(bench, count);
    return bench_fill(bench, &(bench_load){.queue = QUEUE, .count = count, .at_once = at_once});
}

static int measure(bench_run *bench, const char *prefix, int64_t count, size_t at_once)
{
    bench_meter meter = {0};
    int status = fill(bench, count / 10, at_once);

    if (status == CLI_DONE) status = bench_meter_begin(bench, &meter);
    if (status == CLI_DONE) status = fill(bench, count, at_once);
    if (status == CLI_DONE) status = bench_meter_end(bench, &meter);
    if (status == CLI_DONE) bench_meter_note(bench, &meter, prefix, "client_us", count);
    return status == CLI_DONE ? bench_remove_keys(bench) : status;
}

static int round_of(bench_run *bench)
{
    int status = measure(bench, "one_", bench->tasks / ONE_PART + 1, 1);

    if (status == CLI_DONE) status = measure(bench, "by64_", bench->tasks, 64);
    return status == CLI_DONE ? measure(bench, "many_", bench->tasks, 1000) : status;
}

const bench_kind bench_enqueue = {"enqueue", "one producer: task by task, 64 a call, 1000 a call", 200000, round_of};
