/*
 * worker.h - workers in the test's own process, with handlers that do as they are told. Needs a place (queue.h).
 *
 *     t         ends well at once
 *     act       does what its payload says, words separated by blanks:
 *                   result R | retry MS | fail | snooze MS | none | wrong | done
 *     slot      ends well with the time for which an entry made it, as its result
 *     nap       sleeps as many milliseconds as its payload says, then ends well
 *     hold      waits until test_open_gate, or until it is told to stop; then it asks for another attempt
 *     stubborn  waits until test_open_gate, whatever it is told, and ends well with the result "late"
 */
#ifndef TEST_WORKER_H
#define TEST_WORKER_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "reeve/worker.h"
#include "support/queue.h"

/* Handlers of hold and stubborn that have begun, and how many of hold were told to stop. */
extern atomic_uint test_begun, test_announced;
/* Why the last one of hold was cancelled; "": that is not known. Read once it was told. */
extern char test_reason[REEVE_REASON_MAX + 1];
/* How many times each of the tasks "n0" to "n99999" was run by t, act or nap. */
#define TEST_RUNS 100000
extern atomic_uchar test_runs[TEST_RUNS];
/* All runs of t, act, nap. */
extern atomic_ulong test_ran;

/* For other threads than the test's own: cmocka's assertions are not for them. */
#define TEST_MUST(condition)                                                      \
    do {                                                                          \
        if (!(condition)) {                                                       \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                              \
        }                                                                         \
    } while (0)

void test_open_gate(void);
/* Closes it, and begins to count anew. For a test's set-up, with no handler running. */
void test_close_gate(void);

/* A worker with these handlers on the test's server. options may be NULL; a URL in it is kept. */
reeve_worker *test_worker_new(const reeve_worker_options *options);
/* queues: names, separated by blanks. */
void test_worker_pool(reeve_worker *worker, const char *queues, unsigned threads, unsigned batch);
void test_worker_start(reeve_worker *worker);
/* All of it: a worker that serves queue q. */
reeve_worker *test_worker_run(unsigned threads, unsigned batch);
/* Stops it, which must go well, and destroys it. */
void test_worker_end(reeve_worker *worker);
/* The same, of one whose sessions have lived all the time: it has run each of "n0" to "n<count - 1>" once, completed
 * so many, and been refused none. */
void test_worker_end_after(reeve_worker *worker, size_t count);
reeve_worker_stats test_worker_stats(reeve_worker *worker);
/* Whether so many threads of workers that serve queue q alone are idle: tasks are handed to them. A thread whose first
 * turn came before its session had begun waits for a wake-up instead; it gets one when this returns false. */
bool test_threads_are_idle(long long threads);

/* From now on Redis remembers the calls, so that test_shared_calls can count those of several threads among the last
 * 5,000. How many they are depends on how busy the machine is: a test asks only whether there were any. */
void test_remember_calls(void);
long long test_shared_calls(void);

/* The way to the server, for a worker alone: a link to its socket that can be taken away. */
const char *test_link_url(void);
void test_link_make(void);
void test_link_remove(void);
/* Removes it, and kills all connections but the test's own. */
void test_link_cut(void);

/* Kills all connections but the test's own; each type that Redis knows. */
void test_kill_connections(void);

#endif
