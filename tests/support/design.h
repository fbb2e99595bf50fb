/*
 * design.h - what the tests of other queues' designs share (docs/designs.md): queue "q" with two consumers, each on an
 * empty server. Needs a place (queue.h).
 */
#ifndef TEST_DESIGN_H
#define TEST_DESIGN_H

#include "support/consumer.h"

/* Two consumers of queue q. */
extern reeve_consumer *test_one, *test_two;

/* For cmocka's set-up and tear-down functions. The tear-down closes both consumers. Then no task runs, and reeve_check
 * finds nothing in queue q. */
int test_design_begin(void **state);
int test_design_end(void **state);
#define TEST_OPERATION(function) cmocka_unit_test_setup_teardown(function, test_design_begin, test_design_end)

/* Waits for a task, leases it, and fails the test if it is not the one with this id. */
reeve_task *test_take(reeve_consumer *consumer, const char *id);
/* No task is ready now. */
void test_take_nothing(reeve_consumer *consumer);
/* The outcomes, settled at once. */
void test_complete_task(reeve_consumer *consumer, reeve_task *task, const char *result);
void test_fail_task(reeve_consumer *consumer, reeve_task *task, const char *kind, const char *message);
void test_retry_task(reeve_consumer *consumer, reeve_task *task, int64_t delay_ms);

/* The lease of a task ends, as if its holder had been silent for too long: the task waits again. */
void test_end_lease(const char *id);
/* A third consumer takes the task and is never seen again; then its lease ends. */
void test_take_and_die(const char *id);

/* Whether a thread waits in Redis for a task or an event. */
bool test_is_blocked(void);

/* Fields of a task of queue q. */
int64_t test_failures(const char *id);
int64_t test_crashes(const char *id);
void test_expect_error(const char *id, const char *kind, const char *message);

#endif
