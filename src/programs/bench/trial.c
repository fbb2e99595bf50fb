#include "trial.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "cli/stop.h"

#define TASKS_MAX 30000
#define BYTES_MAX ((size_t)64 * 1024 * 1024)
#define AT_ONCE 500
#define OVERHEAD_US 20 /* of a task that does nothing */
#define QUEUE_SIZE 32
#define START_MS 10000

/* The times of one task: seconds, monotonic; 0: that did not happen. */
typedef struct times {
    double came, began;
    _Atomic double ended;
} times;

typedef struct running {
    bench_subject *subject;
    bench_trial *trial;
    reeve_client *client;
    reeve_worker *worker;
    char queue[QUEUE_SIZE];
    times *tasks;
    size_t count; /* of them that were enqueued */
    size_t max;
    atomic_size_t done;
    double began, ended; /* the measured stretch */
    double used;         /* processor time of the process */
} running;

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double processor_time(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int fail(const running *in, reeve_status status)
{
    return cli_fail(in->subject->cli, cli_exit_of(status), "the scratch Redis: %s", reeve_client_error(in->client));
}

static int go_on(const running *in)
{
    int signal = cli_stop_signal();

    return signal == 0 ? CLI_DONE : cli_signalled(in->subject->cli, signal);
}

/* ---- around the handler ---------------------------------------------------------------------------------------- */

/* Its ids are "t" and the index. A task that the handler chains is none of the step's. */
static times *find(running *in, const reeve_task *task)
{
    const char *id = reeve_task_id(task);
    size_t index = id[0] == 't' ? strtoul(id + 1, NULL, 10) : in->max;

    return index < in->max ? &in->tasks[index] : NULL;
}

static void note_end(running *in, times *task)
{
    atomic_store(&task->ended, now());
    atomic_fetch_add(&in->done, 1);
}

static reeve_outcome around(reeve_task *task, reeve_next *next, void *user)
{
    times *of = find(user, task);

    if (of != NULL) of->began = now();
    reeve_outcome outcome = reeve_next_run(next, task);
    if (of != NULL) note_end(user, of);
    return outcome;
}

static void around_many(reeve_task *const *tasks, size_t count, reeve_next_batch *next, void *user)
{
    double began = now();

    reeve_next_run_batch(next, tasks, count);
    for (size_t i = 0; i < count; i++) {
        times *of = find(user, tasks[i]);

        if (of != NULL) of->began = began;
        if (of != NULL) note_end(user, of);
    }
}

/* ---- the worker ------------------------------------------------------------------------------------------------ */

static reeve_status furnish(running *in)
{
    const char *queues[] = {in->queue};
    const reeve_layer layer = {REEVE_LAYER, .name = "reeve-tune", .run = around, .run_batch = around_many, .user = in};
    const reeve_pool_options pool = {.size = sizeof(pool),
                                     .name = "tune",
                                     .queues = queues,
                                     .queue_count = 1,
                                     .threads = in->trial->threads,
                                     .batch = in->trial->batch};
    reeve_status status = reeve_worker_add_layer(in->worker, &layer);

    if (status == REEVE_OK) status = reeve_worker_load_plugin(in->worker, in->subject->plugin);
    if (status == REEVE_OK) status = reeve_worker_add_pool(in->worker, &pool);
    return status == REEVE_OK ? reeve_worker_start(in->worker) : status;
}

static int start_worker(running *in)
{
    const reeve_worker_options options = {.size = sizeof(options),
                                          .redis = in->subject->redis,
                                          .name = "reeve-tune",
                                          .plugin_dir = in->subject->plugin_dir};
    char words[512] = "";
    reeve_status status = reeve_worker_create(&in->worker, &options, words, sizeof(words));

    if (status != REEVE_OK) return cli_fail(in->subject->cli, cli_exit_of(status), "%s", words);
    status = furnish(in);
    if (status != REEVE_OK)
        return cli_fail(in->subject->cli, cli_exit_of(status), "the worker: %s", reeve_worker_error(in->worker));
    for (int waited = 0; waited < START_MS; waited++) {
        reeve_worker_stats stats;

        reeve_worker_get_stats(in->worker, &stats);
        if (stats.connected) break;
        (void)poll(NULL, 0, 1);
    }
    return go_on(in);
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

static int enqueue(running *in, size_t count, double came)
{
    reeve_task_spec specs[AT_ONCE];
    reeve_enqueued results[AT_ONCE];
    char ids[AT_ONCE][24];

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "t%zu", in->count + i);
        specs[i] = (reeve_task_spec){.queue = in->queue,
                                     .type = in->subject->type,
                                     .id = ids[i],
                                     .payload = in->subject->payload,
                                     .attempts = 1};
        in->tasks[in->count + i].came = came;
    }
    reeve_status status = reeve_enqueue_many(in->client, specs, count, results);
    in->count += count;
    return status == REEVE_OK ? go_on(in) : fail(in, status);
}

static int enqueue_all(running *in)
{
    int status = CLI_DONE;

    while (status == CLI_DONE && in->count < in->max)
        status = enqueue(in, in->max - in->count < AT_ONCE ? in->max - in->count : AT_ONCE, 0);
    return status;
}

/* As many as one step needs; but not more than fit into memory. */
static size_t choose_count(const bench_subject *subject, const bench_trial *trial)
{
    double seconds = (double)subject->window_ms / 1e3, each = (double)(subject->run_us + OVERHEAD_US) / 1e6;
    double wanted = trial->arrivals > 0 ? seconds * trial->arrivals : 1.3 * trial->threads * (seconds / each + 1);
    size_t fits = BYTES_MAX / (subject->payload.length + 200);
    size_t max = fits < TASKS_MAX ? fits : TASKS_MAX;

    return wanted < 1 ? 1 : wanted > (double)max ? max : (size_t)wanted;
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

static void begin(running *in)
{
    in->used = -processor_time();
    in->began = now();
}

static void end(running *in)
{
    in->ended = now();
    in->used += processor_time();
}

static int wait_until_done(running *in, double deadline)
{
    int status = CLI_DONE;

    while (status == CLI_DONE && atomic_load(&in->done) < in->count && now() < deadline) {
        (void)poll(NULL, 0, 1);
        status = go_on(in);
    }
    return status;
}

static int run_full(running *in)
{
    reeve_status paused = reeve_pause(in->client, in->queue);
    int status = paused == REEVE_OK ? enqueue_all(in) : fail(in, paused);

    if (status == CLI_DONE) status = start_worker(in);
    if (status != CLI_DONE) return status;
    begin(in);
    reeve_status resumed = reeve_resume(in->client, in->queue);
    status =
        resumed == REEVE_OK ? wait_until_done(in, in->began + (double)in->subject->window_ms / 1e3) : fail(in, resumed);
    end(in);
    return status;
}

/* A task that is late to be enqueued has waited since it came. */
static int run_steadily(running *in)
{
    int status = start_worker(in);

    begin(in);
    while (status == CLI_DONE && in->count < in->max) {
        size_t due = (size_t)((now() - in->began) * in->trial->arrivals) + 1;
        size_t wanted = (due < in->max ? due : in->max) - in->count;

        if (wanted > 0)
            status =
                enqueue(in, wanted < AT_ONCE ? wanted : AT_ONCE, in->began + (double)in->count / in->trial->arrivals);
        else
            (void)poll(NULL, 0, 1);
    }
    if (status == CLI_DONE) status = wait_until_done(in, now() + (double)in->subject->window_ms / 2e3 + 0.1);
    end(in);
    return status;
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

/* What ended after the measured stretch ran for a part of it. */
static void sum_up(running *in)
{
    double busy = 0, run = 0, length = in->ended - in->began;
    size_t ended = 0, begun = 0;

    for (size_t i = 0; i < in->count; i++) {
        const times *task = &in->tasks[i];
        double until = atomic_load(&task->ended);

        if (task->began == 0 || task->began > in->ended) continue;
        begun++;
        busy += (until > 0 && until < in->ended ? until : in->ended) - task->began;
        if (until == 0 || until > in->ended) continue;
        ended++;
        run += until - task->began;
    }
    in->trial->rate = length > 0 ? (double)ended / length : 0;
    in->trial->cpu = length > 0 ? in->used / length : 0;
    in->trial->utilisation = length > 0 ? busy / length / in->trial->threads : 0;
    in->trial->run_ms = ended > 0 ? 1e3 * run / (double)ended : 0;
    in->trial->fell_behind = begun < in->count;
}

static int sum_up_waits(running *in)
{
    double *waits = rv_zalloc_array(in->count + 1, sizeof(*waits));

    if (waits == NULL) return cli_no_memory(in->subject->cli);
    for (size_t i = 0; i < in->count; i++) {
        const times *task = &in->tasks[i];
        double wait = (task->began > 0 ? task->began : in->ended) - task->came;

        waits[i] = wait > 0 ? 1e3 * wait : 0;
    }
    qsort(waits, in->count, sizeof(*waits), by_value);
    in->trial->wait_p50_ms = waits[in->count / 2];
    in->trial->wait_p95_ms = waits[in->count * 95 / 100];
    rv_free(waits);
    return CLI_DONE;
}

static void dismiss(running *in)
{
    reeve_worker_stats stats = {0};

    if (in->worker == NULL) return;
    reeve_worker_get_stats(in->worker, &stats);
    (void)reeve_worker_stop(in->worker, 1000);
    reeve_worker_destroy(in->worker);
    in->trial->failed = stats.failed;
}

static int open_client(running *in)
{
    const reeve_client_options options = {.size = sizeof(options), .redis = in->subject->redis, .name = "reeve-tune"};
    reeve_status status = reeve_client_open(&in->client, &options);

    if (status != REEVE_OK)
        return cli_fail(in->subject->cli, cli_exit_of(status), "the scratch Redis cannot be reached");
    in->max = choose_count(in->subject, in->trial);
    in->tasks = rv_zalloc_array(in->max, sizeof(*in->tasks));
    return in->tasks != NULL ? CLI_DONE : cli_no_memory(in->subject->cli);
}

int bench_trial_run(bench_subject *subject, bench_trial *trial)
{
    running in = {.subject = subject, .trial = trial};

    (void)snprintf(in.queue, sizeof(in.queue), "tune-%u", ++subject->steps);
    int status = open_client(&in);
    if (status == CLI_DONE) status = trial->arrivals > 0 ? run_steadily(&in) : run_full(&in);
    dismiss(&in); /* handlers write to the times until then */
    if (status == CLI_DONE) sum_up(&in);
    if (status == CLI_DONE) status = sum_up_waits(&in);
    if (status == CLI_DONE && trial->failed > 0)
        cli_note(subject->cli, "%llu of the tasks failed", (unsigned long long)trial->failed);
    reeve_client_close(in.client);
    rv_free(in.tasks);
    return status;
}
