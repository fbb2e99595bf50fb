/*
 * costs_path.h - what the two calls of the hot path cost Redis: an enqueue, and a turn. Needs a place (queue.h).
 */
#ifndef TEST_COSTS_PATH_H
#define TEST_COSTS_PATH_H

#include "support/costs.h"

#define TEST_COSTS_PATH_BATCH 64

/* A thread of queue q; test_costs_path_begin empties Redis and begins it anew. */
extern test_hand test_costs_path_hand;
void test_costs_path_begin(void);
int test_costs_path_set_up(void **state);

/* Enqueues n tasks "<name>000", ... with the options of one; a unique key is made for each. At most three batches
 * and one task. */
void test_costs_path_put(const char *name, size_t n, reeve_task_spec like);

/* The cost of enqueueing n tasks into a queue in which tasks wait. */
test_costs test_costs_path_enqueue(size_t n, reeve_task_spec like);

/* The cost of a turn in the middle of a drain: it settles n tasks with an outcome and leases n, and more tasks wait. */
test_costs test_costs_path_turn(size_t n, reeve_task_spec like, rv_settlement how);

/* The same in an empty place: of plain tasks; of tasks with a priority, the cheapest of the options that enqueue
 * looks at. */
test_costs test_costs_path_plain_enqueue(size_t n);
test_costs test_costs_path_full_enqueue(size_t n);
test_costs test_costs_path_plain_turn(size_t n);

#endif
