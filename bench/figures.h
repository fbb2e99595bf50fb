/*
 * figures.h - what the programs of bench/compare share: time, a plain Redis connection, the figures of a server.
 *
 * Each of them prints one line of "name=value" pairs, and ends with words on standard error when something is wrong:
 * they are run by a script on servers that it started for them, and nowhere else.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <hiredis/hiredis.h>
#include <sys/types.h>

double now(void);             /* seconds, monotonic */
double own_cpu_seconds(void); /* of this process */

/* What a handler does: sleeps so many microseconds; 0: nothing. */
void run_handler(long us);

/* Ends the program with status 1. */
_Noreturn void fail(const char *what, const char *why);

/* Whole number of an argument; a fallback where there is none; ends the program below least. */
long number_argument(int argc, char **argv, int index, long fallback, long min);

/* ---- Redis ------------------------------------------------------------------------------------------------------ */

redisContext *dial(const char *socket);
/* Runs a command whose reply does not matter. */
void must(redisContext *redis, const char *format, ...);
/* Reads a reply and forgets it. */
void skip_reply(redisContext *redis);
void load_script(redisContext *redis, const char *script, char ret_sha[41]);
/* A number of INFO, 0 when it is not there. */
double info(redisContext *redis, const char *section, const char *field);
double redis_cpu_seconds(redisContext *redis);

/* ---- a server that is a process --------------------------------------------------------------------------------- */

double process_cpu_seconds(pid_t pid); /* its user and system time, in steps of the kernel's clock */
double process_bytes(pid_t pid);       /* resident */

/* ---- printing --------------------------------------------------------------------------------------------------- */

/* A drain or the like: PREFIXtasks_per_s, PREFIXredis_us (of whatever server), PREFIXredis_busy, PREFIXworker_us. */
void print_rate(const char *prefix, long tasks, double seconds, double server_cpu, double own_cpu);

/* Producing, measured: fill(tasks, at_once) enqueues; a tenth of the tasks one by one, then all of them `max` at once. */
void print_enqueue(pid_t server, long tasks, long max, void (*fill)(long tasks, long at_once));

/* Sorts samples of microseconds and prints p50, p90, p99 and max. */
void print_percentiles(double *samples, long count);

#endif
