/*
 * disque.c - Disque, measured as reeve is: one queue on one node, filled and then drained by threads that take jobs in
 * batches, one producer, and the pickup of an idle consumer.
 *
 *     bench-disque SOCKET PID drain|enqueue|pickup [TASKS [THREADS [BATCH [HANDLER_US]]]]
 *
 * SOCKET: a unix socket's path. HANDLER_US: how long each handler of a drain sleeps.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "figures.h"

#define PAYLOAD 100
#define AT_ONCE 256
#define BATCH_MAX 1000
#define THREADS_MAX 256
#define WARM_UP 50
#define QUEUE "bench"

static const char *socket_path;
static long batch, handler_us;

/* ---- filling ---------------------------------------------------------------------------------------------------- */

static void add_job(redisContext *disque)
{
    static char payload[PAYLOAD + 1];

    if (payload[0] == '\0') memset(payload, 'x', PAYLOAD);
    if (redisAppendCommand(disque, "ADDJOB %s %s 0 REPLICATE 1", QUEUE, payload) != REDIS_OK)
        fail("disque", disque->errstr);
}

static void fill(long tasks, long at_once)
{
    redisContext *disque = dial(socket_path);

    for (long done = 0; done < tasks;) {
        long count = tasks - done < at_once ? tasks - done : at_once;

        for (long i = 0; i < count; i++) add_job(disque);
        for (long i = 0; i < count; i++) skip_reply(disque);
        done += count;
    }
    redisFree(disque);
}

/* ---- draining --------------------------------------------------------------------------------------------------- */

static atomic_long done;
static pthread_barrier_t start;

static redisReply *next_reply(redisContext *disque)
{
    void *reply = NULL;

    if (redisGetReply(disque, &reply) != REDIS_OK) fail("disque", disque->errstr);
    if (((redisReply *)reply)->type == REDIS_REPLY_ERROR) fail("disque", ((redisReply *)reply)->str);
    return reply;
}

/* A job of a reply of GETJOB is {queue, id, payload}. */
static void add_acknowledgement(redisContext *disque, const redisReply *held)
{
    const char *words[1 + BATCH_MAX] = {"FASTACK"};

    for (size_t i = 0; i < held->elements; i++) words[1 + i] = held->element[i]->element[1]->str;
    if (redisAppendCommandArgv(disque, 1 + (int)held->elements, words, NULL) != REDIS_OK)
        fail("disque", disque->errstr);
}

/* Acknowledges what it has and asks for the next, in one go. NULL: the queue is empty. */
static redisReply *turn(redisContext *disque, redisReply *held)
{
    redisReply *next;

    if (held != NULL) add_acknowledgement(disque, held);
    if (redisAppendCommand(disque, "GETJOB NOHANG COUNT %ld FROM %s", batch, QUEUE) != REDIS_OK)
        fail("disque", disque->errstr);
    if (held != NULL) {
        skip_reply(disque);
        atomic_fetch_add(&done, (long)held->elements);
        freeReplyObject(held);
    }
    next = next_reply(disque);
    if (next->type == REDIS_REPLY_ARRAY) return next;
    freeReplyObject(next);
    return NULL;
}

static void *work(void *unused)
{
    redisContext *disque = dial(socket_path);
    redisReply *held = NULL;

    (void)unused;
    (void)pthread_barrier_wait(&start);
    while ((held = turn(disque, held)) != NULL)
        for (size_t i = 0; i < held->elements; i++) run_handler(handler_us);
    redisFree(disque);
    return NULL;
}

static void drain(pid_t pid, long tasks, long threads)
{
    redisContext *disque = dial(socket_path);
    pthread_t ids[THREADS_MAX];
    double cpu, own, began, seconds, memory = info(disque, "memory", "used_memory");

    fill(tasks, AT_ONCE);
    memory = (info(disque, "memory", "used_memory") - memory) / (double)tasks;
    (void)pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, NULL) != 0) fail("bench-disque", "no thread");
    cpu = process_cpu_seconds(pid);
    own = own_cpu_seconds();
    (void)pthread_barrier_wait(&start);
    began = now();
    for (long i = 0; i < threads; i++) (void)pthread_join(ids[i], NULL);
    seconds = now() - began;
    own = own_cpu_seconds() - own;
    if (atomic_load(&done) != tasks) fail("bench-disque", "the counts are wrong");
    print_rate("", tasks, seconds, process_cpu_seconds(pid) - cpu, own);
    (void)printf("task_bytes=%.0f\n", memory);
    redisFree(disque);
}

/* ---- pickup ----------------------------------------------------------------------------------------------------- */

static sem_t seen;
static double seen_at;

static void *pop(void *count)
{
    redisContext *disque = dial(socket_path);

    for (long i = 0; i < *(long *)count; i++) {
        redisReply *job;

        if (redisAppendCommand(disque, "GETJOB FROM %s", QUEUE) != REDIS_OK) fail("disque", disque->errstr);
        job = next_reply(disque);
        if (job->type != REDIS_REPLY_ARRAY) fail("disque", "no job");
        seen_at = now();
        add_acknowledgement(disque, job);
        skip_reply(disque);
        freeReplyObject(job);
        (void)sem_post(&seen);
    }
    redisFree(disque);
    return NULL;
}

static void pickup(long samples)
{
    redisContext *disque = dial(socket_path);
    double *values = calloc((size_t)samples, sizeof(*values));
    long count = samples + WARM_UP;
    pthread_t thread;

    if (values == NULL || sem_init(&seen, 0, 0) != 0) fail("bench-disque", "no memory");
    if (pthread_create(&thread, NULL, pop, &count) != 0) fail("bench-disque", "no thread");
    for (long i = -WARM_UP; i < samples; i++) {
        struct timespec pause = {.tv_nsec = 1000000 + random() % 3000000};
        double sent;

        (void)nanosleep(&pause, NULL);
        sent = now();
        add_job(disque);
        skip_reply(disque);
        while (sem_wait(&seen) != 0) {}
        if (i >= 0) values[i] = (seen_at - sent) * 1e6;
    }
    (void)pthread_join(thread, NULL);
    print_percentiles(values, samples);
    free(values);
    redisFree(disque);
}

int main(int argc, char **argv)
{
    long tasks = number_argument(argc, argv, 4, 100000, 1), threads = number_argument(argc, argv, 5, 4, 1);
    const char *what = argc > 3 ? argv[3] : "";
    pid_t pid;

    batch = number_argument(argc, argv, 6, 64, 1);
    handler_us = number_argument(argc, argv, 7, 0, 0);
    if (argc < 4 || batch > BATCH_MAX || threads > THREADS_MAX) fail("bench-disque", "see the head of its source");
    socket_path = argv[1];
    pid = (pid_t)number_argument(argc, argv, 2, 0, 1);
    if (strcmp(what, "drain") == 0)
        drain(pid, tasks, threads);
    else if (strcmp(what, "enqueue") == 0)
        print_enqueue(pid, tasks, AT_ONCE, fill);
    else if (strcmp(what, "pickup") == 0)
        pickup(tasks);
    else
        fail(what, "drain, enqueue or pickup");
    return 0;
}
