/*
 * clock.h - the wall clock of the redis-servers that a test starts with test_redis_options.clock: it stands still where
 * the test puts it, and is moved. One for all servers of a test program. It begins in real time.
 *
 *     test_options.clock = true;        (in main, before test_place_start)
 *     test_clock_set(1700000000000);
 *     test_clock_advance(60000);        a minute later
 *
 * TIME (inside scripts, too), expiry of keys, and the timeouts of blocking commands follow it; the next command that
 * the server reads sees the new time. The server's event loop and the test itself live in real time. (So does
 * the kernel: a thread that sleeps until a time of the day does so by the real one. redis.c keeps Redis from it.)
 */
#ifndef TEST_CLOCK_H
#define TEST_CLOCK_H

#include <stdint.h>

void test_clock_set(int64_t ms);     /* stands still at this time; ms since the epoch */
void test_clock_advance(int64_t ms); /* moves it, backwards when negative; frozen or not as it was */
void test_clock_run(void);           /* goes on in real time from where it stands */
int64_t test_clock_now(void);        /* what the servers see, ms */

/* For redis.c: "VARIABLE=value" for the environment of a server, made at the first call. */
const char *test_clock_preload(void);
const char *test_clock_file(void);

#endif
