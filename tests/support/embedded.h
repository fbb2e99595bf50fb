/*
 * embedded.h - users of an embedded server, for tests: they join it by its directory, talk to it, and leave.
 */
#ifndef TEST_EMBEDDED_H
#define TEST_EMBEDDED_H

#include "redis/embedded.h"
#include "support/redis.h"

#define TEST_JOIN_MS 30000

typedef struct test_user {
    rv_embedded *embedded;
    rv_url socket;
    rv_conn *conn;
} test_user;

/* For main: servers that a failing test leaves behind are killed when this process (not one of its children) exits. */
void test_embedded_begin(void);

/* Joins, waiting so many milliseconds at most; no connection is made. */
reeve_status test_try_join_for(test_user *who, const char *dir, int db, int64_t ms, rv_error *error);
reeve_status test_try_join(test_user *who, const char *dir, int db, rv_error *error);
/* Joins and connects, or the test fails. */
void test_join(test_user *who, const char *dir);
void test_end_session(test_user *who);

/* The server's process, from its own mouth: what the pid file says may be old. */
pid_t test_server_pid(test_user *who);
/* A server's program still runs. */
bool test_is_alive(pid_t pid);

#endif
