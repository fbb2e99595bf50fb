/*
 * drain.c - how fast one worker drains a queue of tasks whose handler does nothing: leased, run and settled, with
 * sessions, fencing and counters. The queue is filled before the clock starts.
 *
 *     bench-drain SOCKET [TASKS [THREADS [BATCH [KEEP]]]]     KEEP 1: completed tasks are kept; flushes that Redis
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <reeve/reeve.h>

#include "figures.h"

#define CHUNK 1000

static atomic_long ran;

static reeve_outcome noop(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return reeve_task_done(task, NULL, 0);
}

static void check(reeve_status status, const char *words)
{
    if (status == REEVE_OK) return;
    fprintf(stderr, "bench-drain: %s: %s\n", reeve_status_text(status), words);
    exit(1);
}

static void fill(reeve_client *client, long tasks)
{
    static reeve_task_spec specs[CHUNK];
    static reeve_enqueued results[CHUNK];
    static char payload[100];
    memset(payload, 'x', sizeof(payload));
    for (int i = 0; i < CHUNK; i++)
        specs[i] = (reeve_task_spec){.queue = "bench", .type = "noop", .payload = {payload, sizeof(payload)}};
    for (long i = 0; i < tasks; i += CHUNK) {
        size_t count = tasks - i < CHUNK ? (size_t)(tasks - i) : CHUNK;
        check(reeve_enqueue_many(client, specs, count, results), reeve_client_error(client));
    }
}

static reeve_worker *start(const char *url, long threads, long batch)
{
    char words[256];
    const char *queues[] = {"bench"};
    reeve_worker *worker;
    reeve_worker_options options = {.redis = url};
    reeve_pool_options pool = {
        .queues = queues, .queue_count = 1, .threads = (unsigned)threads, .batch = (unsigned)batch};
    check(reeve_worker_create(&worker, &options, words, sizeof(words)), words);
    check(reeve_worker_handle(worker, "noop", noop, NULL), reeve_worker_error(worker));
    check(reeve_worker_add_pool(worker, &pool), reeve_worker_error(worker));
    check(reeve_worker_start(worker), reeve_worker_error(worker));
    return worker;
}

int main(int argc, char **argv)
{
    char url[300];
    reeve_client *client;
    reeve_queue_info info_before, info_after;
    reeve_worker_stats stats;
    long tasks = number_argument(argc, argv, 2, 300000), threads = number_argument(argc, argv, 3, 4);
    long batch = number_argument(argc, argv, 4, 64), keep = number_argument(argc, argv, 5, 0);
    if (argc < 2) return 2;
    snprintf(url, sizeof(url), "unix://%s", argv[1]);
    redisContext *redis = dial(argv[1]);
    must(redis, "FLUSHALL");
    reeve_client_options options = {.redis = url};
    char words[256] = "";
    check(reeve_client_open_or_say(&client, &options, words, sizeof(words)), words);
    reeve_queue_settings settings = {.completed = &(reeve_keep){.age_ms = -1, .count = keep ? -1 : 0}};
    check(reeve_queue_set(client, "bench", &settings), reeve_client_error(client));
    fill(client, tasks);
    check(reeve_queue(client, "bench", &info_before), reeve_client_error(client));

    double redis_cpu = redis_cpu_seconds(redis), cpu = own_cpu_seconds();
    int64_t began = now_us();
    reeve_worker *worker = start(url, threads, batch);
    do {
        usleep(500);
        reeve_worker_get_stats(worker, &stats);
    } while (stats.completed < (uint64_t)tasks);
    double seconds = (double)(now_us() - began) / 1e6;
    redis_cpu = redis_cpu_seconds(redis) - redis_cpu;
    cpu = own_cpu_seconds() - cpu;
    reeve_worker_stop(worker, 5000);
    check(reeve_queue(client, "bench", &info_after), reeve_client_error(client));
    bool exact = info_before.count[REEVE_STATE_READY] == (uint64_t)tasks && info_after.count[REEVE_STATE_READY] == 0 &&
                 info_after.count[REEVE_STATE_RUNNING] == 0 && info_after.completed_total == (uint64_t)tasks &&
                 atomic_load(&ran) == tasks;
    printf(
        "reeve   %8.0f tasks/s   redis %.2f us/task   worker %.2f us/task   (%ld tasks, %ld threads, batch %ld%s)%s\n",
        (double)tasks / seconds, redis_cpu / (double)tasks * 1e6, cpu / (double)tasks * 1e6, tasks, threads, batch,
        keep ? ", kept" : "", exact ? "" : "   COUNTS ARE WRONG");
    reeve_worker_destroy(worker);
    reeve_client_close(client);
    redisFree(redis);
    return exact ? 0 : 1;
}
