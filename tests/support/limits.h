/*
 * limits.h - limits for tests: set in a word, and checked: what Redis has about limits and groups agrees with what runs
 * and waits.
 */
#ifndef TEST_LIMITS_H
#define TEST_LIMITS_H

#include "reeve/limits.h"
#include "support/queue.h"

/* Of queue q, by test_client. concurrency and rate as in limits.h. */
void test_limit_queue(int64_t concurrency, const reeve_rate *rate);
void test_limit_groups(int64_t concurrency, const reeve_rate *rate);
void test_limit_group(const char *group, int64_t concurrency, const reeve_rate *rate);
void test_limit_type(const char *type, int64_t concurrency, const reeve_rate *rate);
void test_limit_key(const char *key, int64_t concurrency, const reeve_rate *rate);
void test_limit_strict(const char *group, int strict); /* NULL: of all groups */
void test_limit_forget(const char *group);
#define TEST_RATE(n, period, b) (&(const reeve_rate){.count = (n), .period_ms = (period), .burst = (b)})
#define TEST_ANY_RATE (&(const reeve_rate){0})

/* The limits of queue q with all of its groups; the caller frees them. */
reeve_limits *test_limits(void);
/* How many tasks of q run, as its limit counts them. */
int64_t test_limits_running(void);

/* Holds queue q, or a group in it, as reeve_pause_for does. */
void test_hold(const char *group, int64_t delay_ms);

/* Enqueues tasks with these ids, separated by blanks, into q. */
void test_put_in(const char *ids, const char *group, int priority);
/* Enqueues count tasks "<name>000", ... into q. */
void test_put_group(const char *name, size_t count, const char *group);

/*
 * Fails the test unless in queue q: the counts of running tasks are right; each parked task stands in its group's set,
 * each called one in `ready`; each group with such tasks is to be looked at again; every task stands in one place; and
 * segments are as segments.h says.
 */
void test_limits_agree(void);
/* And nothing about groups is left, but what limits name. */
void test_groups_forgotten(void);

/* Leases: these ids, separated by blanks, come and no others. */
#define TEST_EXPECT_LEASE(hand, want, ids)               \
    do {                                                 \
        (void)test_lease(hand, want);                    \
        assert_string_equal(test_leased_ids(hand), ids); \
        test_limits_agree();                             \
    } while (0)

/* Settles, and nothing is refused. */
#define TEST_SETTLE(hand, ...)                    \
    do {                                          \
        test_settle(hand, __VA_ARGS__);           \
        assert_string_equal((hand)->refused, ""); \
        test_limits_agree();                      \
    } while (0)

/* Leases until nothing more comes; returns how many. */
size_t test_lease_all(test_hand *hand);
/* So many run, by all that says how many. */
void test_expect_running(int64_t count);
/* Whether a wake-up stands in queue q; and takes it away. */
bool test_is_awake(void);
void test_sleep_again(void);

/* Completes all that the hand's last turn leased. */
void test_done(const test_hand *hand);
/* Leases all that comes, and completes it; how many these were. */
size_t test_run_all(test_hand *hand);
/* Tasks come one at a time, in this order; and, of the first of these, no others after them. */
void test_expect_order(test_hand *hand, const char *const *ids, size_t count);
void test_expect_numbered(test_hand *hand, const char *name, size_t first, size_t count); /* "<name>000", ... */

/* For set-up functions: an empty place, at a time that stands still, and two hands, of threads "1" and "2", in queue
 * q. */
int test_limits_begin(void **state, int64_t now_ms, test_hand *a, test_hand *b);

#endif
