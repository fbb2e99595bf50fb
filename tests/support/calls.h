/*
 * calls.h - a call of every script that makes sense, and a queue in which it does. Needs a place (queue.h).
 */
#ifndef TEST_CALLS_H
#define TEST_CALLS_H

#include "protocol/scripts.h"
#include "support/queue.h"

#define TEST_CALL_ARGS 24

typedef struct test_script_call {
    const rv_script *script;
    const char *args[TEST_CALL_ARGS]; /* ended by NULL */
    bool in_session;                  /* it is a worker's, whose session has begun before */
} test_script_call;

extern const test_script_call test_calls[];
extern const size_t test_calls_count;

size_t test_call_args(const test_script_call *call);

/* An argument in place of another: the odd one, counted from 0. */
typedef struct test_odd {
    size_t at;
    const char *bytes;
    size_t length;
} test_odd;

/* Sends a call on a connection, with so many of its keys (at most 1) and arguments; odd may be NULL. Returns the
 * reply. */
const rv_reply *test_call_send(rv_conn *conn, const test_script_call *call, size_t keys, size_t args,
                               const test_odd *odd);

/* Queue q, emptied first, with tasks in all states: x runs by the lease "1 1", r and p are ready, b waits for p, f
 * for another queue's, d is dead, c completed; and an entry e that is due. */
void test_calls_prepare(void);

/* What stands in Redis, a line for each key, but for the order's numbers, some of which may be passed over. Valid
 * until the next call. */
const char *test_calls_digest(void);
/* The rest of the line in which two of these differ. */
const char *test_calls_difference(const char *before, const char *after);

/* The next command of Redis that a script's text calls: puts its name into ret_name. Returns where to go on, or
 * NULL. What goes to Redis has short names of functions, so that any call with a name in capitals counts. */
#define TEST_COMMAND_NAME 32
const char *test_calls_next_command(const char *text, char ret_name[TEST_COMMAND_NAME]);

#endif
