/*
 * measure_pull.c - what it costs to take tasks without a worker: the same full queue is emptied by a worker, and by as
 * many threads with a consumer each, which settle the tasks of one call with the next one.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "bench.h"

#define QUEUE "pull"
#define WAIT_MS 200 /* also how soon a thread sees that it is to end */
#define BATCH_MAX REEVE_CONSUMER_MAX

typedef struct hand {
    struct crew_of_hands *crew;
    pthread_t thread;
    reeve_consumer *consumer;
    bool started;
} hand;

typedef struct crew_of_hands {
    bench_run *bench;
    hand *hands;
    int count;
    unsigned batch;
    atomic_llong settled;
    atomic_bool ends;
    atomic_bool failed;
} crew_of_hands;

static void settle_all(hand *h, reeve_task *const *tasks, unsigned count)
{
    const bench_run *bench = h->crew->bench;
    size_t length = bench->options->result < 0 ? 0 : (size_t)bench->options->result;

    for (unsigned i = 0; i < count; i++) {
        reeve_outcome outcome = reeve_task_done(tasks[i], length > 0 ? bench->bytes : NULL, length);
        if (reeve_consumer_settle_later(h->consumer, tasks[i], outcome) != REEVE_OK)
            atomic_store(&h->crew->failed, true);
    }
}

static void *pull(void *argument)
{
    hand *h = argument;
    crew_of_hands *crew = h->crew;
    reeve_task *tasks[BATCH_MAX];
    unsigned count = 0, pending = 0;

    while (!atomic_load(&crew->ends)) {
        int64_t wait_ms = pending > 0 ? 0 : WAIT_MS; /* what is done is told before it waits */
        if (reeve_consumer_lease(h->consumer, tasks, crew->batch, wait_ms, &count) != REEVE_OK)
            atomic_store(&crew->failed, true);
        atomic_fetch_add(&crew->settled, pending);
        settle_all(h, tasks, count);
        pending = count;
    }
    return NULL;
}

static int open_all(crew_of_hands *crew)
{
    const char *const queues[] = {QUEUE};
    const cli_context *cli = crew->bench->cli;
    const reeve_consumer_options options = {
        .size = sizeof(options), .redis = cli->redis, .ns = cli->ns, .queues = queues, .queue_count = 1};
    char words[512] = "";

    for (int i = 0; i < crew->count; i++) {
        hand *h = &crew->hands[i];
        reeve_status status = reeve_consumer_open(&h->consumer, &options, words, sizeof(words));
        if (status != REEVE_OK) return cli_fail(cli, cli_exit_of(status), "a consumer: %s", words);
        h->crew = crew;
        h->started = pthread_create(&h->thread, NULL, pull, h) == 0;
        if (!h->started) return cli_fail(cli, CLI_REFUSED, "a thread cannot be started");
    }
    return CLI_DONE;
}

static void close_all(crew_of_hands *crew)
{
    atomic_store(&crew->ends, true);
    for (int i = 0; crew->hands != NULL && i < crew->count; i++)
        if (crew->hands[i].started) (void)pthread_join(crew->hands[i].thread, NULL);
    for (int i = 0; crew->hands != NULL && i < crew->count; i++) (void)reeve_consumer_close(crew->hands[i].consumer);
    rv_free(crew->hands);
}

static int await(crew_of_hands *crew, int64_t count)
{
    int status = CLI_DONE;

    while (status == CLI_DONE && atomic_load(&crew->settled) < count) {
        if (atomic_load(&crew->failed)) return cli_fail(crew->bench->cli, CLI_REFUSED, "a consumer failed");
        (void)poll(NULL, 0, 2);
        status = bench_go_on(crew->bench);
    }
    return status;
}

static int drain(crew_of_hands *crew, bench_meter *meter)
{
    bench_run *bench = crew->bench;
    bench_load load = {.queue = QUEUE, .count = bench->tasks}, some = {.queue = QUEUE, .count = bench->tasks / 10 + 1};
    int status = bench_fill(bench, &some);

    if (status == CLI_DONE) status = await(crew, some.count);
    if (status == CLI_DONE) status = bench_pause(bench, QUEUE);
    if (status == CLI_DONE) status = bench_fill(bench, &load);
    if (status == CLI_DONE) status = bench_meter_begin(bench, meter);
    if (status == CLI_DONE) status = bench_resume(bench, QUEUE);
    if (status == CLI_DONE) status = await(crew, some.count + load.count);
    return status == CLI_DONE ? bench_meter_end(bench, meter) : status;
}

static int measure_pull(bench_run *bench, bench_meter *meter)
{
    crew_of_hands crew = {.bench = bench, .count = bench->options->threads};
    int status = bench_set_keep(bench, QUEUE);

    crew.batch = bench->options->batch > 0 ? (unsigned)bench->options->batch : 64;
    crew.hands = rv_zalloc_array((size_t)crew.count, sizeof(*crew.hands));
    if (crew.hands == NULL) return cli_no_memory(bench->cli);
    if (status == CLI_DONE) status = open_all(&crew);
    if (status == CLI_DONE) status = drain(&crew, meter);
    close_all(&crew);
    return status == CLI_DONE ? bench_remove_keys(bench) : status;
}

static int round_of(bench_run *bench)
{
    bench_load load = {.queue = QUEUE, .count = bench->tasks};
    bench_crew crew = {.queue = QUEUE};
    bench_meter worker = {0}, pulled = {0};
    int status = bench_measure_drain(bench, &load, &crew, &worker);

    if (status == CLI_DONE) status = bench_remove_keys(bench);
    if (status == CLI_DONE) status = measure_pull(bench, &pulled);
    if (status != CLI_DONE) return status;
    bench_meter_note(bench, &worker, "worker_", "worker_us", bench->tasks);
    bench_meter_note(bench, &pulled, "pull_", "program_us", bench->tasks);
    bench_note(&bench->figures, "", "ratio", "pull/worker", worker.seconds / pulled.seconds);
    return CLI_DONE;
}

const bench_kind bench_pull = {"pull", "drain rate of consumers, and of a worker", 200000, round_of};
