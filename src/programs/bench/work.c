/*
 * work.c - filling queues, and workers that empty them.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench.h"
#include "cli/stop.h"

#define AT_ONCE 1000
#define GROUP_NAME 16
#define WARM_UP_MAX 10000
#define QUIET_MS 20 /* a worker that did nothing for so long is idle */
#define PATIENCE_MS 30000

int bench_go_on(const bench_run *bench)
{
    int signal = cli_stop_signal();

    if (signal == 0) return CLI_DONE;
    cli_note(bench->cli, "interrupted");
    return cli_signalled(bench->cli, signal);
}

/* ---- filling ---------------------------------------------------------------------------------------------------- */

const char *bench_queue_name(char ret[BENCH_QUEUE_NAME], int number)
{
    (void)snprintf(ret, BENCH_QUEUE_NAME, "bench-%d", number);
    return ret;
}

/* The specs of one call, and the names that they borrow. */
struct chunk {
    reeve_task_spec *specs;
    reeve_enqueued *results;
    char (*groups)[GROUP_NAME];
    char (*queues)[BENCH_QUEUE_NAME];
    size_t max;
};

static void free_chunk(struct chunk *chunk)
{
    rv_free(chunk->specs);
    rv_free(chunk->results);
    rv_free(chunk->groups);
    rv_free(chunk->queues);
}

static int make_chunk(const bench_run *bench, struct chunk *chunk, const bench_load *load)
{
    memset(chunk, 0, sizeof(*chunk));
    chunk->max = load->at_once > 0 ? load->at_once : AT_ONCE;
    chunk->specs = rv_zalloc_array(chunk->max, sizeof(*chunk->specs));
    chunk->results = rv_zalloc_array(chunk->max, sizeof(*chunk->results));
    chunk->groups = rv_zalloc_array(chunk->max, sizeof(*chunk->groups));
    chunk->queues = rv_zalloc_array(chunk->max, sizeof(*chunk->queues));
    if (chunk->specs == NULL || chunk->results == NULL || chunk->groups == NULL || chunk->queues == NULL)
        return cli_no_memory(bench->cli);
    return CLI_DONE;
}

/* The tasks from number on. */
static void write_chunk(const bench_run *bench, struct chunk *chunk, const bench_load *load, int64_t number,
                        size_t count)
{
    for (size_t i = 0; i < count; i++, number++) {
        reeve_task_spec *spec = &chunk->specs[i];

        spec->queue = load->queue;
        spec->type = load->type == NULL ? BENCH_NOOP : load->type;
        spec->payload = (reeve_bytes){bench->bytes, (size_t)bench->options->payload};
        if (bench->options->handler != NULL) {
            spec->type = bench->options->type;
            spec->payload = (reeve_bytes){bench->payload.data, bench->payload.length};
        }
        if (load->queues > 0) spec->queue = bench_queue_name(chunk->queues[i], (int)(number % load->queues));
        if (load->groups == 0) continue;
        (void)snprintf(chunk->groups[i], sizeof(chunk->groups[i]), "g%d", (int)(number % load->groups));
        spec->group = chunk->groups[i];
    }
}

int bench_fill(bench_run *bench, const bench_load *load)
{
    struct chunk chunk;
    int status = make_chunk(bench, &chunk, load);

    for (int64_t done = 0; status == CLI_DONE && done < load->count;) {
        size_t count = load->count - done < (int64_t)chunk.max ? (size_t)(load->count - done) : chunk.max;
        reeve_status result;

        write_chunk(bench, &chunk, load, done, count);
        result = reeve_enqueue_many(bench->cli->client, chunk.specs, count, chunk.results);
        status = result == REEVE_OK ? bench_go_on(bench) : cli_fail_call(bench->cli, result, NULL);
        done += (int64_t)count;
    }
    free_chunk(&chunk);
    return status;
}

static int call(const bench_run *bench, reeve_status result)
{
    return result == REEVE_OK ? CLI_DONE : cli_fail_call(bench->cli, result, NULL);
}

int bench_pause(bench_run *bench, const char *queue)
{
    return call(bench, reeve_pause(bench->cli->client, queue));
}

int bench_resume(bench_run *bench, const char *queue)
{
    return call(bench, reeve_resume(bench->cli->client, queue));
}

int bench_set_keep(bench_run *bench, const char *queue)
{
    bool kept = bench->options->keep || bench->options->result >= 0;
    reeve_keep keep = {.age_ms = kept ? -1 : 0, .count = kept ? -1 : 0};
    reeve_queue_settings settings = {.size = sizeof(settings), .completed = &keep};

    return call(bench, reeve_queue_set(bench->cli->client, queue, &settings));
}

/* ---- workers ---------------------------------------------------------------------------------------------------- */

static reeve_outcome noop(reeve_task *task, void *user)
{
    const bench_run *bench = user;

    if (bench->options->result < 0) return reeve_task_done(task, NULL, 0);
    return reeve_task_done(task, bench->bytes, (size_t)bench->options->result);
}

static reeve_status add_pool(bench_run *bench, reeve_worker *worker, const bench_crew *crew)
{
    size_t count = crew->queues > 0 ? (size_t)crew->queues : 1;
    char(*names)[BENCH_QUEUE_NAME] = rv_zalloc_array(count, sizeof(*names));
    const char **queues = rv_zalloc_array(count, sizeof(*queues));
    reeve_pool_options pool = {
        .size = sizeof(pool),
        .name = "bench",
        .queues = queues,
        .queue_count = count,
        .threads = crew->threads > 0 ? crew->threads : (unsigned)bench->options->threads,
        .batch = (unsigned)bench->options->batch,
    };
    reeve_status status = REEVE_ENOMEM;

    if (names != NULL && queues != NULL) {
        for (size_t i = 0; i < count; i++)
            queues[i] = crew->queues > 0 ? bench_queue_name(names[i], (int)i) : crew->queue;
        status = reeve_worker_add_pool(worker, &pool);
    }
    rv_free(queues);
    rv_free(names);
    return status;
}

static reeve_status prepare(bench_run *bench, reeve_worker *worker, const bench_crew *crew)
{
    reeve_status status = bench->options->handler != NULL ? reeve_worker_load_plugin(worker, bench->options->handler)
                                                          : reeve_worker_handle(worker, BENCH_NOOP, noop, bench);

    for (size_t i = 0; status == REEVE_OK && i < crew->handler_count; i++)
        status = reeve_worker_register(worker, &crew->handlers[i]);
    if (status == REEVE_OK) status = add_pool(bench, worker, crew);
    return status == REEVE_OK ? reeve_worker_start(worker) : status;
}

int bench_hire(bench_run *bench, const bench_crew *crew, reeve_worker **ret)
{
    reeve_worker_options options = {.size = sizeof(options),
                                    .redis = bench->cli->redis,
                                    .ns = bench->cli->ns,
                                    .name = "reeve-bench",
                                    .session_ms = crew->session_ms};
    char words[512] = "";
    reeve_status status = reeve_worker_create(ret, &options, words, sizeof(words));
    int code;

    if (status != REEVE_OK) return cli_fail(bench->cli, cli_exit_of(status), "%s", words);
    status = prepare(bench, *ret, crew);
    if (status == REEVE_OK) return CLI_DONE;
    code = cli_fail(bench->cli, cli_exit_of(status), "the worker: %s", reeve_worker_error(*ret));
    reeve_worker_destroy(*ret);
    *ret = NULL;
    return code;
}

void bench_dismiss(reeve_worker *worker)
{
    if (worker != NULL) (void)reeve_worker_stop(worker, 1000);
    reeve_worker_destroy(worker);
}

int bench_settle(bench_run *bench, reeve_worker *worker)
{
    int64_t deadline = rv_deadline(PATIENCE_MS), quiet_since = rv_now_ms();
    uint64_t completed = 0;
    int status = CLI_DONE;

    while (status == CLI_DONE) {
        reeve_worker_stats stats;

        reeve_worker_get_stats(worker, &stats);
        if (!stats.connected || stats.busy > 0 || stats.completed != completed) quiet_since = rv_now_ms();
        if (rv_now_ms() - quiet_since >= QUIET_MS) return CLI_DONE;
        if (rv_now_ms() >= deadline) return cli_fail(bench->cli, CLI_NO_REDIS, "the worker does not come to rest");
        completed = stats.completed;
        (void)poll(NULL, 0, 2);
        status = bench_go_on(bench);
    }
    return status;
}

/* Sleeps for half of what the rest takes at the pace so far: looking costs time that is measured. Not for long, because
 * many tasks may end at the same time, the last ones too. */
static void nap(double began, uint64_t done, uint64_t total)
{
    double spent = bench_now() - began, left = done == 0 ? 0.001 : spent * (double)(total - done) / (double)done;
    double pause = left / 2 < 0.0002 ? 0.0002 : left / 2 > 0.002 ? 0.002 : left / 2;

    (void)ppoll(NULL, 0, &(struct timespec){.tv_nsec = (long)(pause * 1e9)}, NULL);
}

int bench_await(bench_run *bench, reeve_worker *worker, int64_t completed)
{
    double began = bench_now();
    int status = CLI_DONE;
    reeve_worker_stats first, stats;

    reeve_worker_get_stats(worker, &first);
    for (stats = first; status == CLI_DONE && stats.completed < (uint64_t)completed;) {
        nap(began, stats.completed - first.completed, (uint64_t)completed - first.completed);
        reeve_worker_get_stats(worker, &stats);
        if (stats.failed > 0) return cli_fail(bench->cli, CLI_REFUSED, "a task failed, which none should");
        status = bench_go_on(bench);
    }
    return status;
}

/* ---- filling and draining --------------------------------------------------------------------------------------- */

/* The first tasks find cold caches and a thread that takes them one by one. */
static int warm_up(bench_run *bench, const bench_load *load, reeve_worker *worker, int64_t *ret_count)
{
    bench_load some = *load;
    int status;

    some.count = load->count / 10 < WARM_UP_MAX ? load->count / 10 : WARM_UP_MAX;
    *ret_count = some.count;
    status = bench_fill(bench, &some);
    if (status == CLI_DONE) status = bench_await(bench, worker, some.count);
    return status == CLI_DONE ? bench_settle(bench, worker) : status;
}

/* What is measured was all done, and nothing else. */
static int check_drained(bench_run *bench, const char *queue)
{
    reeve_queue_info info;
    reeve_status result = reeve_queue(bench->cli->client, queue, &info);

    if (result != REEVE_OK) return cli_fail_call(bench->cli, result, queue);
    if (info.count[REEVE_STATE_READY] == 0 && info.count[REEVE_STATE_RUNNING] == 0 && info.count[REEVE_STATE_DEAD] == 0)
        return CLI_DONE;
    return cli_fail(bench->cli, CLI_REFUSED, "the counts are wrong: %llu tasks are ready, %llu run, %llu are dead",
                    (unsigned long long)info.count[REEVE_STATE_READY],
                    (unsigned long long)info.count[REEVE_STATE_RUNNING],
                    (unsigned long long)info.count[REEVE_STATE_DEAD]);
}

int bench_measure_drain(bench_run *bench, const bench_load *load, const bench_crew *crew, bench_meter *meter)
{
    reeve_worker *worker = NULL;
    int64_t before = 0;
    int status = bench_set_keep(bench, load->queue);

    if (status == CLI_DONE) status = bench_hire(bench, crew, &worker);
    if (status == CLI_DONE) status = warm_up(bench, load, worker, &before);
    if (status == CLI_DONE) status = bench_pause(bench, load->queue);
    if (status == CLI_DONE) status = bench_fill(bench, load);
    if (status == CLI_DONE) status = bench_settle(bench, worker);
    if (crew->on_begin != NULL) crew->on_begin(crew->on_begin_user);
    if (status == CLI_DONE) status = bench_meter_begin(bench, meter);
    if (status == CLI_DONE) status = bench_resume(bench, load->queue);
    if (status == CLI_DONE) status = bench_await(bench, worker, before + load->count);
    if (status == CLI_DONE) status = bench_meter_end(bench, meter);
    bench_dismiss(worker);
    return status == CLI_DONE ? check_drained(bench, load->queue) : status;
}
