/*
 * pickup.c - how long an idle worker takes from an enqueue to the handler: the raw blocking pop of a list beside it.
 *
 *     bench-pickup SOCKET [SAMPLES [THREADS]]        flushes that Redis; the producer is this process's main thread
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <reeve/reeve.h>

#include "figures.h"

static atomic_llong entered_us;

static reeve_outcome note(reeve_task *task, void *user)
{
    (void)user;
    atomic_store(&entered_us, now_us());
    return reeve_task_done(task, NULL, 0);
}

/* The time until somebody notes that the thing arrived. */
static int64_t wait_for_entry(int64_t sent_us)
{
    int64_t entered;
    while ((entered = atomic_load(&entered_us)) == 0) usleep(50);
    atomic_store(&entered_us, 0);
    return entered - sent_us;
}

static void *pop(void *argument)
{
    redisContext *redis = argument;
    for (;;) {
        redisReply *reply = redisCommand(redis, "BLPOP raw 0");
        atomic_store(&entered_us, now_us());
        if (reply == NULL) return NULL;
        bool last = strcmp(reply->element[1]->str, "last") == 0;
        freeReplyObject(reply);
        if (last) return NULL;
    }
}

static void measure_raw(const char *socket, int64_t *values, int samples)
{
    pthread_t thread;
    redisContext *consumer = dial(socket), *producer = dial(socket);
    pthread_create(&thread, NULL, pop, consumer);
    usleep(100000);
    for (int i = 0; i < samples; i++) {
        usleep(1000 + (useconds_t)(random() % 2000));
        int64_t sent = now_us();
        must(producer, "LPUSH raw %s", i + 1 < samples ? "x" : "last");
        values[i] = wait_for_entry(sent);
    }
    pthread_join(thread, NULL);
    redisFree(consumer);
    redisFree(producer);
}

static void measure_reeve(const char *socket, int64_t *values, int samples, long threads)
{
    char url[300];
    const char *queues[] = {"bench"};
    reeve_client *client;
    reeve_worker *worker;
    snprintf(url, sizeof(url), "unix://%s", socket);
    reeve_client_options options = {.redis = url};
    reeve_worker_options worker_options = {.redis = url};
    reeve_pool_options pool = {.queues = queues, .queue_count = 1, .threads = (unsigned)threads};
    if (reeve_client_open(&client, &options) != REEVE_OK ||
        reeve_worker_create(&worker, &worker_options, NULL, 0) != REEVE_OK)
        exit(1);
    if (reeve_worker_handle(worker, "note", note, NULL) != REEVE_OK || reeve_worker_add_pool(worker, &pool) != REEVE_OK)
        exit(1);
    if (reeve_worker_start(worker) != REEVE_OK) exit(1);
    usleep(200000);
    reeve_task_spec spec = {.queue = "bench", .type = "note"};
    for (int i = 0; i < samples; i++) {
        usleep(1000 + (useconds_t)(random() % 2000));
        int64_t sent = now_us();
        if (reeve_enqueue(client, &spec, NULL) != REEVE_OK) exit(1);
        values[i] = wait_for_entry(sent);
    }
    reeve_worker_destroy(worker);
    reeve_client_close(client);
}

static void print(const char *name, int64_t *values, int samples)
{
    printf("%-7s pickup   median %4lld us   90th %4lld   99th %4lld   (%d samples)\n", name,
           (long long)percentile(values, samples, 50), (long long)percentile(values, samples, 90),
           (long long)percentile(values, samples, 99), samples);
}

int main(int argc, char **argv)
{
    int samples = (int)number_argument(argc, argv, 2, 500);
    if (argc < 2 || samples < 1 || samples > 100000) return 2;
    int64_t *values = calloc((size_t)samples, sizeof(*values));
    redisContext *redis = dial(argv[1]);
    if (values == NULL) return 1;
    must(redis, "FLUSHALL");
    measure_raw(argv[1], values, samples);
    print("raw", values, samples);
    measure_reeve(argv[1], values, samples, number_argument(argc, argv, 3, 4));
    print("reeve", values, samples);
    free(values);
    redisFree(redis);
    return 0;
}
