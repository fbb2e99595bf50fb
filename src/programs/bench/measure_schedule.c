/*
 * measure_schedule.c - how late an idle worker begins tasks that were enqueued for a time: they are due one by one,
 * some 100 a second, at irregular times.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "bench.h"

#define QUEUE "schedule"
#define LEAD_MS 500 /* the first is due so long after all were enqueued, or nearly */
#define GAP_MS 10

/* Tasks know when they are due by their payload. */
struct register_of {
    double *samples; /* microseconds late */
    atomic_llong count;
    int64_t max;
    int64_t ahead_us; /* of Redis's clock, by which tasks are due */
};

static reeve_outcome begin(reeve_task *task, void *user)
{
    struct register_of *book = user;
    reeve_bytes payload = reeve_task_payload(task);
    int64_t now_us = bench_wall_us() + book->ahead_us;
    long long at = atomic_fetch_add(&book->count, 1);

    if (at < book->max) book->samples[at] = (double)(now_us - strtoll(payload.data, NULL, 10) * 1000) / 1000;
    return reeve_task_done(task, NULL, 0);
}

static int enqueue(bench_run *bench, int64_t ahead_us)
{
    int64_t due_ms = (bench_wall_us() + ahead_us) / 1000 + LEAD_MS + bench->tasks / 10;
    int status = CLI_DONE;

    for (int64_t i = 0; status == CLI_DONE && i < bench->tasks; i++) {
        char text[24];
        int length = snprintf(text, sizeof(text), "%" PRId64, due_ms);
        reeve_task_spec spec = {
            .size = sizeof(spec), .queue = QUEUE, .type = "begin", .payload = {text, (size_t)length}, .at_ms = due_ms};
        reeve_status result = reeve_enqueue(bench->cli->client, &spec, NULL);

        status = result == REEVE_OK ? bench_go_on(bench) : cli_fail_call(bench->cli, result, NULL);
        due_ms += GAP_MS / 2 + random() % GAP_MS;
    }
    return status;
}

static int round_of(bench_run *bench)
{
    struct register_of book = {.samples = bench->samples, .max = bench->tasks};
    reeve_handler handler = {REEVE_HANDLER, .type = "begin", .run = begin, .user = &book};
    reeve_worker *worker = NULL;
    int status = bench_clock_ahead(bench, &book.ahead_us);

    if (status == CLI_DONE)
        status = bench_hire(bench, &(bench_crew){.queue = QUEUE, .handlers = &handler, .handler_count = 1}, &worker);
    if (status == CLI_DONE) status = bench_settle(bench, worker);
    if (status == CLI_DONE) status = enqueue(bench, book.ahead_us);
    if (status == CLI_DONE) status = bench_await(bench, worker, bench->tasks);
    bench_dismiss(worker);
    if (status == CLI_DONE) bench_note_samples(&bench->figures, "late_", "ms", book.samples, (size_t)bench->tasks);
    return status;
}

const bench_kind bench_schedule = {"schedule", "lateness of tasks enqueued for a time, on an idle worker", 500,
                                   round_of};
