/*
 * consumer.h - consumers in the test's own process, on the test's server. Needs a place (queue.h).
 */
#ifndef TEST_CONSUMER_H
#define TEST_CONSUMER_H

#include "reeve/consumer.h"
#include "support/queue.h"

#define TEST_TASKS 256

/* The call succeeds. */
#define test_good(consumer, call)                                                                                    \
    do {                                                                                                             \
        reeve_status good_status = (call);                                                                           \
        if (good_status != REEVE_OK) fail_msg("%s: %d %s", #call, (int)good_status, reeve_consumer_error(consumer)); \
    } while (0)

/* queues: names, separated by blanks. options may be NULL; a URL in it is kept. */
reeve_consumer *test_consumer_open(const char *queues, const reeve_consumer_options *options);

/* What the last call of test_pull leased. */
extern reeve_task *test_pulled[TEST_TASKS];
extern unsigned test_pulled_count;

/* Leases up to max tasks; returns their ids, separated by blanks. Waits for up to a minute for the first if `waits`. */
const char *test_pull(reeve_consumer *consumer, unsigned max, bool waits);

/* Settles test_pulled[i]. */
reeve_status test_settle_done(reeve_consumer *consumer, unsigned i, const char *result);

/* The consumer's session in queue q. Stays valid for some calls. */
const char *test_consumer_session(void);

#endif
