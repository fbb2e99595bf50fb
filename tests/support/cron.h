/*
 * cron.h - what tests of recurring entries share: entry n of queue q, and a worker that fires it on a clock that the
 * test moves. Needs a place (queue.h) with test_options.clock, and test_cron_zone("UTC"), both in main.
 */
#ifndef TEST_CRON_H
#define TEST_CRON_H

#include "reeve/cron.h"
#include "support/clock.h"
#include "support/worker.h"

#define TEST_NOON 1700049600000 /* 2023-11-15T12:00:00Z */
#define TEST_MINUTE 60000LL
#define TEST_HOUR (60 * TEST_MINUTE)

/* For each test: an empty place at noon; and afterwards, no worker. */
int test_cron_set_up(void **state);
int test_cron_tear_down(void **state);
/* The local zone of this process. */
void test_cron_zone(const char *name);

/* A worker for these queues, one at a time. Its sessions outlive what the tests do to the clock. It is stopped by the
 * other, or by the tear-down. */
reeve_worker *test_cron_start_worker(const char *queues);
void test_cron_stop_worker(void);

/* Sets an entry: n, unless it has a name, of tasks of this type in q, unless it has a task. */
void test_cron_set(reeve_cron_entry entry, const char *type);
/* The one entry of queue q; the caller frees it. */
reeve_cron_info *test_cron_only(void);
/* When the entry is to be looked at; -1: not at all. */
int64_t test_cron_due(void);

/* Has the workers look, and waits until they have: the entry is due later then. */
void test_cron_look(void);
/* The same, so many milliseconds later. */
void test_cron_later(int64_t ms);

/* There is a task of this slot; how many tasks q has. */
bool test_cron_is_made(int64_t slot);
long long test_cron_tasks(void);

#endif
