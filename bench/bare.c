/*
 * bare.c - the yardstick: the data model with nothing around it. Threads lease and complete batches with one script
 * call each; no header is parsed, no handler runs, nothing is checked. What reeve does more, it does on top of this.
 *
 *     bench-bare SOCKET [TASKS [THREADS [BATCH]]]        flushes the Redis that it is pointed at
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define BATCH_MAX 256
#define ID_LENGTH 16

/* KEYS: ready, tasks, running:. ARGV: how many, session, finished ids. */
static const char script[] = "local now = redis.call('TIME') local running = KEYS[3] .. ARGV[2]\n"
                             "if #ARGV > 2 then\n"
                             "  if redis.call('HDEL', running, unpack(ARGV, 3)) == #ARGV - 2 then redis.call('HDEL', "
                             "KEYS[2], unpack(ARGV, 3)) end\n"
                             "end\n"
                             "local ids = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)\n"
                             "if #ids == 0 then return {} end\n"
                             "local last = redis.call('ZSCORE', KEYS[1], ids[#ids])\n"
                             "redis.call('ZREMRANGEBYRANK', KEYS[1], 0, #ids - 1)\n"
                             "redis.call('HSET', 'order', 'v', last)\n"
                             "local tasks, reply, leases = redis.call('HMGET', KEYS[2], unpack(ids)), {}, {}\n"
                             "for i = 1, #ids do\n"
                             "  reply[2 * i - 1], reply[2 * i] = ids[i], tasks[i]\n"
                             "  leases[2 * i - 1], leases[2 * i] = ids[i], now[1]\n"
                             "end\n"
                             "redis.call('HSET', running, unpack(leases))\n"
                             "return reply\n";

static const char *socket_path;
static char sha[41];
static long batch;
static atomic_long done;
static pthread_barrier_t start;

static void fill(redisContext *redis, long tasks)
{
    char id[ID_LENGTH + 1], payload[101];
    memset(payload, 'x', sizeof(payload) - 1);
    payload[100] = '\0';
    for (long i = 0; i < tasks; i++) {
        snprintf(id, sizeof(id), "%016lx", i);
        redisAppendCommand(redis, "HSET tasks %s %s", id, payload);
        redisAppendCommand(redis, "ZADD ready %ld %s", i, id);
        if (i % 128 != 127 && i != tasks - 1) continue;
        for (long left = 2 * (i % 128 + 1); left > 0; left--) {
            redisReply *reply;
            if (redisGetReply(redis, (void **)&reply) != REDIS_OK) exit(1);
            freeReplyObject(reply);
        }
    }
}

static redisReply *turn(redisContext *redis, const char *session, const redisReply *before)
{
    const char *words[BATCH_MAX + 8] = {"EVALSHA", sha, "3", "ready", "tasks", "running:"};
    size_t lengths[BATCH_MAX + 8];
    char want[12];
    int count = 6;
    snprintf(want, sizeof(want), "%ld", batch);
    words[count++] = want;
    words[count++] = session;
    for (int i = 0; i < count; i++) lengths[i] = strlen(words[i]);
    for (size_t i = 0; before != NULL && i < before->elements; i += 2) {
        words[count] = before->element[i]->str;
        lengths[count++] = before->element[i]->len;
    }
    return redisCommandArgv(redis, count, words, lengths);
}

static void *work(void *argument)
{
    redisContext *redis = dial(socket_path);
    redisReply *held = NULL;
    pthread_barrier_wait(&start);
    for (;;) {
        redisReply *next = turn(redis, argument, held);
        if (next == NULL || next->type == REDIS_REPLY_ERROR) exit(1);
        if (held != NULL) atomic_fetch_add(&done, (long)held->elements / 2);
        bool last = next->elements == 0;
        freeReplyObject(held);
        held = last ? NULL : next;
        if (!last) continue;
        freeReplyObject(next);
        break;
    }
    redisFree(redis);
    return NULL;
}

int main(int argc, char **argv)
{
    static char names[64][24];
    pthread_t ids[64];
    long tasks = number_argument(argc, argv, 2, 300000), threads = number_argument(argc, argv, 3, 4);
    batch = number_argument(argc, argv, 4, 64);
    if (argc < 2 || tasks < 1 || threads < 1 || threads > 64 || batch < 1 || batch > BATCH_MAX) {
        fprintf(stderr, "usage: %s SOCKET [TASKS [THREADS [BATCH]]]\n", argv[0]);
        return 2;
    }
    socket_path = argv[1];
    redisContext *redis = dial(socket_path);
    must(redis, "FLUSHALL");
    redisReply *loaded = redisCommand(redis, "SCRIPT LOAD %s", script);
    if (loaded == NULL || loaded->type != REDIS_REPLY_STRING) return 1;
    memcpy(sha, loaded->str, 41);
    freeReplyObject(loaded);
    fill(redis, tasks);
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (long i = 0; i < threads; i++) {
        snprintf(names[i], sizeof(names[i]), "s%ld", i);
        pthread_create(&ids[i], NULL, work, names[i]);
    }
    double cpu = redis_cpu_seconds(redis);
    pthread_barrier_wait(&start);
    int64_t began = now_us();
    for (long i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    double seconds = (double)(now_us() - began) / 1e6;
    cpu = redis_cpu_seconds(redis) - cpu;
    printf("bare    %8.0f tasks/s   redis %.2f us/task   (%ld tasks, %ld threads, batch %ld)\n",
           (double)atomic_load(&done) / seconds, cpu / (double)tasks * 1e6, tasks, threads, batch);
    redisFree(redis);
    return 0;
}
