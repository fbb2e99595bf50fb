/*
 * specs.h - many tasks to enqueue at once: n0000, n0001, ..., of type t, in queue q.
 */
#ifndef TEST_SPECS_H
#define TEST_SPECS_H

#include "support/queue.h"

enum { TEST_SPECS = 3000 };

extern reeve_task_spec test_specs[TEST_SPECS];
extern reeve_enqueued test_results[TEST_SPECS]; /* of enqueueing them */
extern char test_ids[TEST_SPECS][REEVE_ID_MAX];

/* Writes the first `count`, with ids; the results are no status then. */
void test_specs_make(size_t count);

/* The queue holds just these, ready and in their order, by test_ids. They are leased. */
void test_specs_expect_in_order(size_t count);

#endif
