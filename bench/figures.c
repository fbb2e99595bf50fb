#include "figures.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double own_cpu_seconds(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

void run_handler(long us)
{
    struct timespec rest = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    while (us > 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {}
}

void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

long number_argument(int argc, char **argv, int index, long fallback, long min)
{
    long number = index < argc ? strtol(argv[index], NULL, 10) : fallback;

    if (number < min) fail(index < argc ? argv[index] : "argument", "too small, or no number");
    return number;
}

/* ---- Redis ------------------------------------------------------------------------------------------------------ */

redisContext *dial(const char *socket)
{
    redisContext *redis = redisConnectUnix(socket);

    if (redis == NULL || redis->err) fail(socket, redis != NULL ? redis->errstr : "no memory");
    return redis;
}

static redisReply *check(redisContext *redis, redisReply *reply)
{
    if (reply == NULL) fail("redis", redis->errstr);
    if (reply->type == REDIS_REPLY_ERROR) fail("redis", reply->str);
    return reply;
}

void must(redisContext *redis, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    freeReplyObject(check(redis, redisvCommand(redis, format, arguments)));
    va_end(arguments);
}

void skip_reply(redisContext *redis)
{
    void *reply = NULL;

    if (redisGetReply(redis, &reply) != REDIS_OK) fail("redis", redis->errstr);
    freeReplyObject(check(redis, reply));
}

void load_script(redisContext *redis, const char *script, char ret_sha[41])
{
    redisReply *reply = check(redis, redisCommand(redis, "SCRIPT LOAD %s", script));

    (void)snprintf(ret_sha, 41, "%s", reply->str);
    freeReplyObject(reply);
}

double info(redisContext *redis, const char *section, const char *field)
{
    redisReply *reply = check(redis, redisCommand(redis, "INFO %s", section));
    const char *at = strstr(reply->str, field);
    double value = at != NULL ? strtod(at + strlen(field) + 1, NULL) : 0;

    freeReplyObject(reply);
    return value;
}

double redis_cpu_seconds(redisContext *redis)
{
    return info(redis, "cpu", "used_cpu_sys") + info(redis, "cpu", "used_cpu_user");
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

/* The text of /proc/PID/NAME. */
static void read_proc(pid_t pid, const char *name, char *ret, size_t size)
{
    char path[64];
    FILE *file;
    size_t length = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    file = fopen(path, "re");
    if (file != NULL) {
        length = fread(ret, 1, size - 1, file);
        (void)fclose(file);
    }
    ret[length] = '\0';
}

double process_cpu_seconds(pid_t pid)
{
    char text[1024];
    unsigned long user = 0, kernel = 0;
    const char *at;

    read_proc(pid, "stat", text, sizeof(text));
    at = strrchr(text, ')'); /* behind the name, which may be anything */
    if (at == NULL || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
        fail("the server", "has no processor time");
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

double process_bytes(pid_t pid)
{
    char text[256];
    unsigned long pages = 0;

    read_proc(pid, "statm", text, sizeof(text));
    if (sscanf(text, "%*u %lu", &pages) != 1) fail("the server", "has no memory");
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

void print_rate(const char *prefix, long tasks, double seconds, double server_cpu, double own_cpu)
{
    double count = (double)tasks;

    (void)printf("%stasks_per_s=%.0f %sredis_us=%.3f %sredis_busy=%.3f %sworker_us=%.3f ", prefix, count / seconds,
                 prefix, server_cpu / count * 1e6, prefix, server_cpu / seconds, prefix, own_cpu / count * 1e6);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void print_enqueue(pid_t server, long tasks, long max, void (*fill)(long tasks, long at_once))
{
    for (int many = 0; many < 2; many++) {
        long count = many ? tasks : tasks / 10 + 1;
        double cpu = process_cpu_seconds(server), own = own_cpu_seconds(), began = now();

        fill(count, many ? max : 1);
        print_rate(many ? "many_" : "one_", count, now() - began, process_cpu_seconds(server) - cpu,
                   own_cpu_seconds() - own);
    }
    (void)printf("\n");
}

void print_percentiles(double *samples, long count)
{
    qsort(samples, (size_t)count, sizeof(*samples), ascending);
    (void)printf("p50=%.1f p90=%.1f p99=%.1f max=%.1f\n", samples[count / 2], samples[count * 9 / 10],
                 samples[count * 99 / 100], samples[count - 1]);
}
