/*
 * measure_heartbeat.c - whether heartbeats cost Redis more when more tasks run: what it spends in a second in which a
 * worker does nothing but hold ten tasks, and --tasks. Its threads hold them in calls that take many.
 */
#include <poll.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "bench.h"

#define FEW 10
#define SESSION_MS 1500 /* three heartbeats in that time */
#define CALM_MS 1000    /* what began them is over, and Redis has tidied up after it */
#define LOOK_MS 3000

struct hold {
    atomic_llong held;
    atomic_bool end;
};

static void hold_many(reeve_task *const *tasks, size_t count, void *user)
{
    struct hold *hold = user;

    atomic_fetch_add(&hold->held, (long long)count);
    while (!atomic_load(&hold->end)) (void)poll(NULL, 0, 5);
    for (size_t i = 0; i < count; i++) (void)reeve_task_done(tasks[i], NULL, 0);
}

static int await_held(bench_run *bench, struct hold *hold, int64_t count)
{
    int64_t deadline = rv_deadline(30000);
    int status = CLI_DONE;

    while (status == CLI_DONE && atomic_load(&hold->held) < count) {
        if (rv_now_ms() >= deadline) return cli_fail(bench->cli, CLI_REFUSED, "tasks do not begin");
        (void)poll(NULL, 0, 5);
        status = bench_go_on(bench);
    }
    return status;
}

static int pass(bench_run *bench, int64_t ms)
{
    int64_t until = rv_deadline(ms);
    int status = CLI_DONE;

    for (; status == CLI_DONE && rv_now_ms() < until; status = bench_go_on(bench)) (void)poll(NULL, 0, 50);
    return status;
}

/* Redis's processor time in a second, in microseconds, while all are held. */
static int look(bench_run *bench, double *ret)
{
    bench_meter meter = {0};
    int status = pass(bench, CALM_MS);

    if (status == CLI_DONE) status = bench_meter_begin(bench, &meter);
    if (status == CLI_DONE) status = pass(bench, LOOK_MS);
    if (status == CLI_DONE) status = bench_meter_end(bench, &meter);
    *ret = meter.redis_cpu / meter.seconds * 1e6;
    return status;
}

static int measure(bench_run *bench, const char *queue, int64_t count, double *ret)
{
    struct hold hold = {0};
    reeve_handler handler = {REEVE_HANDLER, .type = "hold", .run_batch = hold_many, .batch_size = REEVE_BATCH_SIZE_MAX,
                             .user = &hold};
    unsigned threads = (unsigned)((bench->tasks + REEVE_BATCH_SIZE_MAX - 1) / REEVE_BATCH_SIZE_MAX) + FEW;
    bench_crew crew = {
        .queue = queue, .threads = threads, .session_ms = SESSION_MS, .handlers = &handler, .handler_count = 1};
    reeve_worker *worker = NULL;
    int status = bench_fill(bench, &(bench_load){.queue = queue, .type = "hold", .count = count});

    if (status == CLI_DONE) status = bench_hire(bench, &crew, &worker);
    if (status == CLI_DONE) status = await_held(bench, &hold, count);
    if (status == CLI_DONE) status = look(bench, ret);
    atomic_store(&hold.end, true);
    bench_dismiss(worker);
    return status;
}

static int round_of(bench_run *bench)
{
    double few = 0, many = 0;
    int status;

    if (bench->tasks > 100000) return cli_usage(bench->cli, "--tasks: at most 100000 are held at once");
    status = measure(bench, "heartbeat-few", FEW, &few);
    if (status == CLI_DONE) status = measure(bench, "heartbeat-many", bench->tasks, &many);
    if (status != CLI_DONE) return status;
    bench_note(&bench->figures, "few_", "redis_us", "us CPU/s, 10 tasks running", few);
    bench_note(&bench->figures, "many_", "redis_us", "us CPU/s, --tasks running", many);
    bench_note(&bench->figures, "", "ratio", "many/few", many / few);
    return CLI_DONE;
}

const bench_kind bench_heartbeat = {"heartbeat", "what Redis spends on a worker with 10, and --tasks running", 10000,
                                    round_of};
