/*
 * costs.h - what something costs Redis, in commands, counted by Redis itself. Needs a place (queue.h).
 */
#ifndef TEST_COSTS_H
#define TEST_COSTS_H

#include "support/queue.h"

#define TEST_COMMANDS 64

/* Calls of commands since the last reset, by name. */
typedef struct test_costs {
    struct {
        char name[24];
        int calls;
    } of[TEST_COMMANDS];
    size_t count;
} test_costs;

/*
 * What is no part of a call is left out: the counting, how a new connection begins, and SADD, by which a client makes a
 * queue's name known once a minute at most. After test_costs_count_all, for cmocka's set-up functions, SADD counts,
 * too; the calls are then those of a client that made the queues q and far known just before.
 */
int test_costs_count_all(void **state);

/* A thread of queue q, to prepare and to measure with: begins anew, with both queues known; leases so many, no less;
 * completes one that it holds. */
extern test_hand test_costs_hand;
void test_costs_begin(void);
void test_costs_lease(unsigned count);
void test_costs_done(const char *id);

void test_costs_reset(void);
test_costs test_costs_read(void);

/* "evalsha=1 hset=2 ...", by name. */
const char *test_costs_text(const test_costs *from);

/* What is more, or less, than in another: "hget+1 hset-2 ...", by name; "" when nothing is. */
const char *test_costs_difference(const test_costs *from, const test_costs *than);

/* Notes a line of a table that does not hold; all are told, then the test fails. */
void test_costs_check(const char *feature, const char *what, const char *actual, const char *expected);
void test_costs_hold(void);

/* A table of calls, each measured in an empty place. */
typedef struct test_costs_row {
    const char *name;
    void (*prepare)(void); /* NULL: nothing */
    void (*act)(void);
    void (*than)(void); /* after the same preparation: what it is compared with; NULL: with nothing */
    const char *expected;
} test_costs_row;

void test_costs_check_rows(const test_costs_row *rows, size_t count);

#endif
