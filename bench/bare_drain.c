/*
 * bare_drain.c - the yardstick of a drain: the data model with nothing around it. Threads settle a batch and lease the
 * next with one script call; no header is parsed, no handler runs, nothing is checked. What reeve does more, it does on
 * top of this.
 *
 *     bench-bare-drain SOCKET [TASKS [THREADS [BATCH [KEEP [BACKLOG]]]]]
 *
 * KEEP 1: completed tasks are kept. With BACKLOG: the tasks are drained from queues of ten thousand, one after the
 * other, and then from the front of one of so many. It flushes that Redis.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define BATCH_MAX 256
#define THREADS_MAX 64
#define ID_LENGTH 16
#define PAYLOAD 100
#define AT_ONCE 64
#define SHORT 10000

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
static char sha[41], max[24];
static atomic_long done;
static long goal; /* so many are to be done */
static pthread_barrier_t start;

static void fill(redisContext *redis, long tasks)
{
    static char ids[AT_ONCE][ID_LENGTH + 1], scores[AT_ONCE][24], payload[PAYLOAD + 1];
    const char *hset[2 + 2 * AT_ONCE] = {"HSET", "tasks"}, *zadd[2 + 2 * AT_ONCE] = {"ZADD", "ready"};

    memset(payload, 'x', PAYLOAD);
    for (long first = 0; first < tasks; first += AT_ONCE) {
        int count = tasks - first < AT_ONCE ? (int)(tasks - first) : AT_ONCE;

        for (int i = 0; i < count; i++) {
            unsigned long long number = (unsigned long long)(first + i);

            /* Spread, as ids are. */
            (void)snprintf(ids[i], sizeof(ids[i]), "%016llx", number * 2654435761u & 0xffffffffffffu);
            (void)snprintf(scores[i], sizeof(scores[i]), "%llu", number);
            hset[2 + 2 * i] = zadd[3 + 2 * i] = ids[i];
            hset[3 + 2 * i] = payload;
            zadd[2 + 2 * i] = scores[i];
        }
        redisAppendCommandArgv(redis, 2 + 2 * count, hset, NULL);
        redisAppendCommandArgv(redis, 2 + 2 * count, zadd, NULL);
        skip_reply(redis);
        skip_reply(redis);
    }
}

/* Settles what held has and leases the next: {id, payload, ...}. */
static redisReply *turn(redisContext *redis, const char *session, const redisReply *held)
{
    const char *words[9 + BATCH_MAX] = {"EVALSHA", sha, "4", "ready", "tasks", "running:", "completed", max, session};
    size_t lengths[9 + BATCH_MAX];
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
        more = next->elements > 0 && atomic_load(&done) < goal;
    }
    freeReplyObject(held);
    redisFree(redis);
    return NULL;
}

/* What a drain took, or several. */
typedef struct cost {
    long tasks;
    double seconds, redis, own;
} cost;

/* `tasks` are drained from what is there. */
static void measure(redisContext *redis, long tasks, long threads, cost *sum)
{
    static char names[THREADS_MAX][24];
    pthread_t ids[THREADS_MAX];
    double cpu, own, began;

    goal = tasks;
    atomic_store(&done, 0);

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
    sum->seconds += now() - began;
    sum->own += own_cpu_seconds() - own;
    sum->redis += redis_cpu_seconds(redis) - cpu;
    sum->tasks += atomic_load(&done);
    (void)pthread_barrier_destroy(&start);
    if (atomic_load(&done) < tasks) fail("bench-bare-drain", "the counts are wrong");
}

static void print(const char *prefix, const cost *sum)
{
    print_rate(prefix, sum->tasks, sum->seconds, sum->redis, sum->own);
}

static void drain(redisContext *redis, long tasks, long threads)
{
    double memory = info(redis, "memory", "used_memory");
    cost sum = {0};

    fill(redis, tasks);
    memory = (info(redis, "memory", "used_memory") - memory) / (double)tasks;
    measure(redis, tasks, threads, &sum);
    print("", &sum);
    (void)printf("task_bytes=%.0f\n", memory);
}

static void drain_backlog(redisContext *redis, long tasks, long threads, long backlog)
{
    cost few = {0}, many = {0}, warm_up = {0};

    for (long i = -SHORT; i < tasks; i += SHORT) {
        fill(redis, SHORT);
        measure(redis, SHORT, threads, i < 0 ? &warm_up : &few);
    }
    fill(redis, backlog);
    measure(redis, SHORT, threads, &warm_up);
    measure(redis, tasks, threads, &many);
    print("short_", &few);
    print("long_", &many);
    (void)printf("ratio=%.3f\n", (double)many.tasks / many.seconds / ((double)few.tasks / few.seconds));
}

int main(int argc, char **argv)
{
    char script[2048];
    long tasks = number_argument(argc, argv, 2, 300000, 1), threads = number_argument(argc, argv, 3, 4, 1);
    long batch = number_argument(argc, argv, 4, 64, 1), keep = number_argument(argc, argv, 5, 0, 0);
    long backlog = number_argument(argc, argv, 6, 0, 0);
    redisContext *redis;

    if (argc < 2 || threads > THREADS_MAX || batch > BATCH_MAX || (backlog > 0 && backlog < 2 * tasks))
        fail("bench-bare-drain", "see the head of its source");
    socket_path = argv[1];
    redis = dial(socket_path);
    must(redis, "FLUSHALL");
    (void)snprintf(script, sizeof(script), SETTLE LEASE, keep ? KEEP : FORGET);
    (void)snprintf(max, sizeof(max), "%ld", batch);
    load_script(redis, script, sha);
    if (backlog == 0) drain(redis, tasks, threads);
    if (backlog > 0) drain_backlog(redis, tasks, threads, backlog);
    must(redis, "FLUSHALL ASYNC");
    redisFree(redis);
    return 0;
}
