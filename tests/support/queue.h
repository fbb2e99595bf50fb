/*
 * queue.h - what tests of queues and workers share: a place with a server and a client, tasks put in by hand, a
 * worker's thread played by hand, and waiting for what will be.
 */
#ifndef TEST_QUEUE_H
#define TEST_QUEUE_H

#include "base/clock.h"
#include "protocol/begin_session_call.h"
#include "protocol/envelope.h"
#include "protocol/keys.h"
#include "protocol/lease.h"
#include "protocol/settlement.h"
#include "protocol/turn_build.h"
#include "reeve/client.h"
#include "support/maintain.h"
#include "support/redis.h"

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* Waits until a condition holds; the test fails when it does not within a minute, which is long also for a machine that
 * is busy with other things, and for a sanitizer. (REEVE_TEST_PATIENCE: so many seconds instead.) */
#define TEST_AWAIT(condition)                                                              \
    do {                                                                                   \
        int64_t await_until = test_patience();                                             \
        while (!(condition)) {                                                             \
            if (rv_now_ms() > await_until) fail_msg("waited in vain for: %s", #condition); \
            test_pause();                                                                  \
        }                                                                                  \
    } while (0)

int64_t test_patience(void); /* a deadline */
void test_pause(void);       /* 2 ms */

/* ---- a place --------------------------------------------------------------------------------------------------- */

/* The server of a group of tests, emptied before each; a connection and a client to it. For cmocka's set-up functions;
 * test_options (zeroed at first) may be set by main. */
extern rv_test_redis *test_redis;
extern rv_conn *test_conn;
extern reeve_client *test_client;
extern test_redis_options test_options;

int test_place_start(void **state);
int test_place_stop(void **state);
int test_place_empty(void **state);

reeve_client *test_client_open(int64_t timeout_ms);
/* Connects test_conn again, after the server was restarted. */
void test_conn_again(void);

/* What stands in Redis, as one text; two are equal when the data are. Expiries are not looked at. */
const char *test_digest(void);

/* Makes a task of the queue "q" appear as enqueued long ago, in January 1970. */
void test_age(const char *id);

/* A number that a command answers. */
long long test_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The numbers of tasks in a state: test_count("q", "ready"). */
uint64_t test_count(const char *queue, const char *state);
/* "ready", ...; "" when there is no such task. Stays valid for some calls. */
const char *test_state(const char *queue, const char *id);
/* Of a task of queue q. (string.h) */
#define TEST_AWAIT_STATE(id, state) TEST_AWAIT(strcmp(test_state("q", id), state) == 0)

/* Fails the test with the client's words when a call failed. */
#define test_ok(client, call)                                                                                \
    do {                                                                                                     \
        reeve_status ok_status = (call);                                                                     \
        if (ok_status != REEVE_OK) fail_msg("%s: %d %s", #call, (int)ok_status, reeve_client_error(client)); \
    } while (0)

/* The call fails with a status, and the client's words contain some. */
#define test_refused(client, call, status, words)                                          \
    do {                                                                                   \
        reeve_status refused_status = (call);                                              \
        if (refused_status != (status) || !strstr(reeve_client_error(client), words))      \
            fail_msg("%s: %d %s", #call, (int)refused_status, reeve_client_error(client)); \
    } while (0)

/* Enqueues tasks without options, of type "t", with the ids that stand in a text, separated by blanks. */
void test_put(const char *queue, const char *ids);
void test_put_many(const char *queue, size_t count, const char *format); /* ids by number, from 0: "a%03zu" */
void test_put_spec(reeve_task_spec spec);
reeve_task_info *test_show(const char *queue, const char *id); /* the caller frees it */

/* ---- a worker's thread, played by hand ------------------------------------------------------------------------- */

#define TEST_QUEUES 4

typedef struct test_leased {
    size_t queue;
    char id[REEVE_ID_MAX];
    unsigned failures;
    unsigned crashes;
    bool crashed_alone;
    bool has_info;
    int64_t wait_ms; /* as rv_lease_wait has it */
} test_leased;

typedef struct test_hand {
    const char *thread;
    int64_t session_ms;
    size_t queue_count;
    rv_prefix prefixes[TEST_QUEUES];
    char sessions[TEST_QUEUES][RV_SESSION_LENGTH + 1];
    bool begun[TEST_QUEUES];
    rv_hand hand; /* of its next turns that lease */
    /* what the last turn said */
    bool idle;
    int64_t now_ms;
    test_leased leased[2 * RV_BATCH_MAX];
    size_t count;
    size_t bad;
    char refused[4096]; /* ids, separated by blanks */
    char gone[64];      /* indexes of queues, from 1 */
} test_hand;

/* What a queue's task came to. */
typedef struct test_outcome {
    size_t queue;
    rv_settlement is;
} test_outcome;

#define TEST_DONE(task)                                 \
    {                                                   \
        0,                                              \
        {                                               \
            .id = (task), .outcome = REEVE_OUTCOME_DONE \
        }                                               \
    }
#define TEST_KEPT(task)                                                       \
    {                                                                         \
        0,                                                                    \
        {                                                                     \
            .id = (task), .outcome = REEVE_OUTCOME_DONE, .keeps_record = true \
        }                                                                     \
    }
#define TEST_RESULT(task, text)                                                                                    \
    {                                                                                                              \
        0,                                                                                                         \
        {                                                                                                          \
            .id = (task), .outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {(text), sizeof(text) - 1 } \
        }                                                                                                          \
    }
#define TEST_RETRY(task, delay)                                                                            \
    {                                                                                                      \
        0,                                                                                                 \
        {                                                                                                  \
            .id = (task), .outcome = REEVE_OUTCOME_RETRY, .delay_ms = (delay), .kind = "k", .message = "m" \
        }                                                                                                  \
    }
#define TEST_FAIL(task)                                                                              \
    {                                                                                                \
        0,                                                                                           \
        {                                                                                            \
            .id = (task), .outcome = REEVE_OUTCOME_FAIL, .counts = true, .kind = "k", .message = "m" \
        }                                                                                            \
    }
#define TEST_SNOOZE(task, delay)                                               \
    {                                                                          \
        0,                                                                     \
        {                                                                      \
            .id = (task), .outcome = REEVE_OUTCOME_SNOOZE, .delay_ms = (delay) \
        }                                                                      \
    }

/* A new session of 60 s in each of some queues, none begun. queues: names, separated by blanks. */
void test_hand_init(test_hand *hand, const char *thread, const char *queues);

/* The same of one queue, in a session that has begun, with nothing to do. */
void test_hand_begin(test_hand *hand, const char *thread, const char *queue);

/* Whether the process of the worker that all hands are of lives: it does from test_place_start on. */
void test_heed(void);
void test_heed_no_more(void);

/* One turn on test_conn. Returns how many tasks it leased. */
size_t test_turn(test_hand *hand, unsigned want, const test_outcome *outcomes, size_t count);
#define test_settle(hand, ...)                                                   \
    do {                                                                         \
        const test_outcome settled[] = {__VA_ARGS__};                            \
        (void)test_turn(hand, 0, settled, sizeof(settled) / sizeof(settled[0])); \
    } while (0)
size_t test_lease(test_hand *hand, unsigned want);
/* The ids that the last turn leased, separated by blanks. */
const char *test_leased_ids(const test_hand *hand);

/* Begins a hand's session in one of its queues; false: it has ended. A turn that leases does so where a task is ready. */
bool test_begin(test_hand *hand, size_t queue);

/* Puts a task in each of these states into queue q, named after it. The hand holds the running one. */
#define TEST_STATES 6
extern const char *const test_states[TEST_STATES];
void test_one_of_each(test_hand *hand);

/* Builds the turn on a connection, without sending it. */
void test_turn_build(rv_conn *conn, test_hand *hand, unsigned want, const test_outcome *outcomes, size_t count);

/* Makes a hand's session in its first queue look expired. */
void test_expire(const test_hand *hand);
/* What a worker says of how the first task that it leased runs: see suspect.lua. Returns whether it holds that task. */
bool test_says_it_runs(const test_hand *hand, const char *how);
/* Takes a live worker's session in queue q away, with all that it holds, as if it had been frozen for too long. */
void test_take_session_away(const char *session);
/* The session in queue q that expires first. Stays valid for some calls. */
const char *test_first_session(void);

#endif
