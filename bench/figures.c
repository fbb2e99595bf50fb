#include "figures.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

double own_cpu_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

redisContext *dial(const char *socket)
{
    redisContext *redis = redisConnectUnix(socket);
    if (redis == NULL || redis->err) fail(socket, redis != NULL ? redis->errstr : "no memory");
    return redis;
}

void must(redisContext *redis, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(redis, format, arguments);
    va_end(arguments);
    if (reply == NULL) fail("redis", redis->errstr);
    if (reply->type == REDIS_REPLY_ERROR) fail("redis", reply->str);
    freeReplyObject(reply);
}

double info(redisContext *redis, const char *section, const char *field)
{
    redisReply *reply = redisCommand(redis, "INFO %s", section);
    if (reply == NULL) fail("redis", redis->errstr);
    const char *at = strstr(reply->str, field);
    double value = at != NULL ? atof(at + strlen(field) + 1) : 0;
    freeReplyObject(reply);
    return value;
}

double redis_cpu_seconds(redisContext *redis)
{
    return info(redis, "cpu", "used_cpu_sys") + info(redis, "cpu", "used_cpu_user");
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t percentile(int64_t *values, int count, int p)
{
    qsort(values, (size_t)count, sizeof(*values), ascending);
    int at = (int)((int64_t)count * p / 100);
    return values[at < count ? at : count - 1];
}

long number_argument(int argc, char **argv, int index, long fallback)
{
    return index < argc ? strtol(argv[index], NULL, 10) : fallback;
}
