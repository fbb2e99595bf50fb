/*
 * collect.h - a handler that takes many tasks in a call, of type "collect", and what its tests share. Needs a place
 * (queue.h); uses worker.h's count of runs for tasks "n0" and on.
 *
 * Of each task it does what the payload says; a call in which one says hold waits as a whole:
 *
 *     (else)   ends well; the result is the number of tasks in the call
 *     retry    asks for another attempt after TEST_LONG_MS, of kind "again"
 *     fail     fails for good, of kind "bad"
 *     snooze   asks to be run again after TEST_LONG_MS
 *     none     says nothing
 *     hold     waits until test_collected.go, or until all tasks of the call are told to stop; then it ends well
 *
 * A task that was told to stop meanwhile asks for another attempt, whatever it was to do, of kind "told". What fails
 * without saying when to come again comes after TEST_LONG_MS.
 */
#ifndef TEST_COLLECT_H
#define TEST_COLLECT_H

#include <string.h>

#include "support/worker.h"

/* Longer than any test. */
#define TEST_LONG_MS 600000

/* What the handler saw, since test_collect_begin. */
#define TEST_CALLS 4096
typedef struct test_collect_calls {
    atomic_uint calls;
    atomic_uint sizes[TEST_CALLS]; /* tasks in each */
    atomic_uint in_call;           /* calls that have looked at their tasks, and wait or end */
    atomic_uint told;              /* tasks that were told to stop while their call waited */
    atomic_bool go;                /* set by the test: what holds may end */
} test_collect_calls;
extern test_collect_calls test_collected;

/* For set-up functions: an empty place, and all is counted anew. */
int test_collect_begin(void **state);

/* A worker with this handler, which has neither pool nor was started. options may be NULL. */
reeve_worker *test_collect_worker(const reeve_worker_options *options, unsigned many, int64_t wait_ms,
                                  int64_t timeout_ms);
/* All of it: it serves queue q with one thread. */
reeve_worker *test_collect_run(unsigned many, int64_t wait_ms);
/* Stops it, and destroys it. */
void test_collect_stop(reeve_worker *worker);

/* Enqueues a task for it; into q. */
void test_collect_put_to(const char *queue, const char *id, const char *payload);
void test_collect_put(const char *id, const char *payload);
/* "n<first>" and on, with nothing to say. */
void test_collect_put_numbers(size_t first, size_t count);

/* Of tasks of q. */
#define TEST_AWAIT_STATE(id, state) TEST_AWAIT(strcmp(test_state("q", id), state) == 0)
void test_expect_counted(const char *id, unsigned failures, unsigned crashes);
void test_expect_result(const char *id, const char *result);
void test_expect_kind(const char *id, const char *kind);

#endif
