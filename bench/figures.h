/*
 * figures.h - what the benchmarks share: time, a plain Redis connection, and Redis's own figures.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <hiredis/hiredis.h>
#include <stdint.h>

int64_t now_us(void);
double own_cpu_seconds(void);

/* Ends the program, with words, when there is no Redis behind the socket. */
redisContext *dial(const char *socket);
/* Runs a command whose reply does not matter; ends the program when it fails. */
void must(redisContext *redis, const char *format, ...);
/* A number of INFO, 0 when it is not there. */
double info(redisContext *redis, const char *section, const char *field);
double redis_cpu_seconds(redisContext *redis);

/* The p-th percentile (0 to 100) of count values; sorts them. */
int64_t percentile(int64_t *values, int count, int p);

/* The whole-number argument at index, or a fallback. */
long number_argument(int argc, char **argv, int index, long fallback);

#endif
