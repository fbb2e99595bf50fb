/*
 * bare_enqueue.c - the yardstick of enqueueing: one connection, a script that puts tasks into one hash, unless their id
 * is there, and their ids into a list. Ids and payloads are made beforehand for the most part.
 *
 *     bench-bare-enqueue SOCKET [TASKS [A_CALL [CALLS]]]     so many tasks a call, so many calls on the way at once
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"

#define A_CALL_MAX 250
#define ID_LENGTH 16
#define PAYLOAD 100

static const char script[] = "local count = 0\n"
                             "for i = 1, #ARGV, 2 do\n"
                             "  if redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1]) == 1 then\n"
                             "    redis.call('LPUSH', KEYS[1], ARGV[i])\n"
                             "    count = count + 1\n"
                             "  end\n"
                             "end\n"
                             "return count\n";

static char sha[41], payload[PAYLOAD];

/* Adds a call with the tasks from number on. */
static void append(redisContext *redis, long number, long count)
{
    static char ids[A_CALL_MAX][ID_LENGTH + 1];
    const char *words[5 + 2 * A_CALL_MAX] = {"EVALSHA", sha, "2", "ready", "tasks"};
    size_t lengths[5 + 2 * A_CALL_MAX] = {7, 40, 1, 5, 5};
    int at = 5;

    for (long i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%016llx",
                       (unsigned long long)(number + i) * 2654435761u & 0xffffffffffffu);
        words[at] = ids[i];
        lengths[at++] = ID_LENGTH;
        words[at] = payload;
        lengths[at++] = PAYLOAD;
    }
    redisAppendCommandArgv(redis, at, words, lengths);
}

static void fill(redisContext *redis, long first, long tasks, long a_call, long calls)
{
    for (long done = 0; done < tasks;) {
        long sent = 0;

        for (; sent < calls && done < tasks; sent++) {
            long count = tasks - done < a_call ? tasks - done : a_call;

            append(redis, first + done, count);
            done += count;
        }
        for (; sent > 0; sent--) skip_reply(redis);
    }
}

int main(int argc, char **argv)
{
    long tasks = number_argument(argc, argv, 2, 200000, 10), a_call = number_argument(argc, argv, 3, 1, 1);
    long calls = number_argument(argc, argv, 4, 1, 1);
    redisContext *redis;
    double cpu, own, began, seconds;

    if (argc < 2 || a_call > A_CALL_MAX) fail("bench-bare-enqueue", "see the head of its source");
    redis = dial(argv[1]);
    must(redis, "FLUSHALL");
    load_script(redis, script, sha);
    memset(payload, 'x', sizeof(payload));
    fill(redis, tasks, tasks / 10, a_call, calls); /* warms up */
    cpu = redis_cpu_seconds(redis);
    own = own_cpu_seconds();
    began = now();
    fill(redis, 0, tasks, a_call, calls);
    seconds = now() - began;
    own = own_cpu_seconds() - own;
    print_rate("", tasks, seconds, redis_cpu_seconds(redis) - cpu, own);
    (void)printf("\n");
    must(redis, "FLUSHALL");
    redisFree(redis);
    return 0;
}
