/*
 * bare_drain.c - the yardstick of a drain: the data model with nothing around it. Threads settle a batch and lease the
 * next with one script call; no header is parsed, no handler runs, nothing is checked. What reeve does more, it does on
 * top of this.
 *
 *     bench-bare-drain SOCKET [TASKS [THREADS [BATCH [KEEP]]]]     KEEP 1: completed tasks are kept; flushes that Redis
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define BATCH_MOST 256
#define THREADS_MOST 64
#define ID_LENGTH 16
#define PAYLOAD 100
#define AT_ONCE 128

/* KEYS: ready, tasks, running:, completed. ARGV: how many, session, then the ids that are finished. */
#define SETTLE                                                     \
    "local now = redis.call('TIME')\n"                             \
    "local running = KEYS[3] .. ARGV[2]\n"                         \
    "if #ARGV > 2 then\n"                                          \
    "  local hit = redis.call('HDEL', running, unpack(ARGV, 3))\n" \
    "%s"                                                           \
    "  redis.call('HINCRBY', 'counters', 'completed', hit)\n"      \
    "end\n"
#define FORGET "  if hit == #ARGV - 2 then redis.call('HDEL', KEYS[2], unpack(ARGV, 3)) end\n"
#define KEEP                                                                             \
    "  local ended = {}\n"                                                               \
    "  for i = 3, #ARGV do ended[#ended + 1] = now[1] ended[#ended + 1] = ARGV[i] end\n" \
    "  redis.call('ZADD', KEYS[4], unpack(ended))\n"
#define LEASE                                                                          \
    "local ids = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)\n"                      \
    "if #ids == 0 then return {} end\n"                                                \
    "local last = redis.call('ZSCORE', KEYS[1], ids[#ids])\n"                          \
    "redis.call('ZREMRANGEBYRANK', KEYS[1], 0, #ids - 1)\n"                            \
    "redis.call('HSET', 'order', 'v', last)\n"                                         \
    "local tasks, reply, leases = redis.call('HMGET', KEYS[2], unpack(ids)), {}, {}\n" \
    "for i = 1, #ids do\n"                                                             \
    "  reply[2 * i - 1], reply[2 * i] = ids[i], tasks[i]\n"                            \
    "  leases[2 * i - 1], leases[2 * i] = ids[i], now[1]\n"                            \
    "end\n"                                                                            \
    "redis.call('HSET', running, unpack(leases))\n"                                    \
    "return reply\n"

static const char *socket_path;
static char sha[41], most[24];
static atomic_long done;
static pthread_barrier_t start;

static void fill(redisContext *redis, long tasks)
{
    char id[ID_LENGTH + 1], payload[PAYLOAD + 1];

    memset(payload, 'x', PAYLOAD);
    payload[PAYLOAD] = '\0';
    for (long i = 0, sent = 0; i < tasks; i++) {
        /* (Spread, as ids are.) */
        (void)snprintf(id, sizeof(id), "%016llx", (unsigned long long)i * 2654435761u & 0xffffffffffffu);
        redisAppendCommand(redis, "HSET tasks %s %s", id, payload);
        redisAppendCommand(redis, "ZADD ready %ld %s", i, id);
        sent += 2;
        if (sent < AT_ONCE && i != tasks - 1) continue;
        for (; sent > 0; sent--) skip_reply(redis);
    }
}

/* Settles what held has and leases the next: {id, payload, ...}. */
static redisReply *turn(redisContext *redis, const char *session, const redisReply *held)
{
    const char *words[9 + BATCH_MOST] = {"EVALSHA", sha, "4", "ready", "tasks", "running:", "completed", most, session};
    size_t lengths[9 + BATCH_MOST];
    int count = 9;

    for (int i = 0; i < count; i++) lengths[i] = strlen(words[i]);
    for (size_t i = 0; held != NULL && i < held->elements; i += 2) {
        words[count] = held->element[i]->str;
        lengths[count++] = held->element[i]->len;
    }
    return redisCommandArgv(redis, count, words, lengths);
}

static void *work(void *session)
{
    redisContext *redis = dial(socket_path);
    redisReply *held = NULL;
    bool more = true;

    (void)pthread_barrier_wait(&start);
    while (more) {
        redisReply *next = turn(redis, session, held);

        if (next == NULL || next->type != REDIS_REPLY_ARRAY) fail("redis", next == NULL ? redis->errstr : next->str);
        if (held != NULL) atomic_fetch_add(&done, (long)held->elements / 2);
        freeReplyObject(held);
        held = next;
        more = next->elements > 0;
    }
    freeReplyObject(held);
    redisFree(redis);
    return NULL;
}

static void measure(redisContext *redis, long tasks, long threads)
{
    static char names[THREADS_MOST][24];
    pthread_t ids[THREADS_MOST];
    double cpu, own, began, seconds;

    (void)pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (long i = 0; i < threads; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "s%ld", i);
        if (pthread_create(&ids[i], NULL, work, names[i]) != 0) fail("bench-bare-drain", "no thread");
    }
    cpu = redis_cpu_seconds(redis);
    own = own_cpu_seconds();
    (void)pthread_barrier_wait(&start);
    began = now();
    for (long i = 0; i < threads; i++) (void)pthread_join(ids[i], NULL);
    seconds = now() - began;
    own = own_cpu_seconds() - own;
    if (atomic_load(&done) != tasks) fail("bench-bare-drain", "the counts are wrong");
    print_rate("", tasks, seconds, redis_cpu_seconds(redis) - cpu, own);
}

int main(int argc, char **argv)
{
    char script[2048];
    long tasks = number_argument(argc, argv, 2, 300000, 1), threads = number_argument(argc, argv, 3, 4, 1);
    long batch = number_argument(argc, argv, 4, 64, 1), keep = number_argument(argc, argv, 5, 0, 0);
    redisContext *redis;
    double memory;

    if (argc < 2 || threads > THREADS_MOST || batch > BATCH_MOST)
        fail("bench-bare-drain", "see the head of its source");
    socket_path = argv[1];
    redis = dial(socket_path);
    must(redis, "FLUSHALL");
    (void)snprintf(script, sizeof(script), SETTLE LEASE, keep ? KEEP : FORGET);
    (void)snprintf(most, sizeof(most), "%ld", batch);
    load_script(redis, script, sha);
    memory = info(redis, "memory", "used_memory");
    fill(redis, tasks);
    memory = (info(redis, "memory", "used_memory") - memory) / (double)tasks;
    measure(redis, tasks, threads);
    (void)printf("task_bytes=%.0f\n", memory);
    must(redis, "FLUSHALL");
    redisFree(redis);
    return 0;
}
