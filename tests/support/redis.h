/*
 * redis.h - a redis-server of a test's own: its own directory, a unix socket in it, a loopback port when asked for.
 *
 *     rv_test_redis *redis = test_redis_start(NULL);
 *     rv_conn *conn = test_conn_open(redis);
 *     assert_string_equal(test_cmd(conn, "SET a 1"), "OK");
 *     rv_conn_destroy(conn);
 *     test_redis_stop(redis);
 *
 * A step that fails ends the running test (cmocka's fail_msg) with the server's log. A server that a test left behind
 * is killed and its directory removed when the process exits; when the process is killed, the server is too.
 */
#ifndef TEST_REDIS_H
#define TEST_REDIS_H

#include <stdbool.h>
#include <sys/types.h>

#include "redis/conn.h"
#include "support/cmd.h"
#include "support/cmocka.h"
#include "support/dirs.h"

typedef struct rv_test_redis rv_test_redis;

typedef struct test_redis_options {
    bool persist;         /* append-only file, written through at each command: survives a kill */
    bool tcp;             /* listens on a free port of 127.0.0.1 too */
    bool clock;           /* its wall clock is the one of clock.h, which the test moves */
    const char *tls;      /* with tcp: that port speaks TLS, with server.pem and ca.pem of this directory (certs.h) */
    const char *password; /* requirepass; NULL: none */
    const char *const *extra; /* more arguments ("--maxclients", "4"), ended by NULL; must outlive the server */
} test_redis_options;

/* Starts a server and waits until it answers. options NULL: neither persistent nor on TCP. */
rv_test_redis *test_redis_start(const test_redis_options *options);
/* A cluster of one node, on TCP, that serves all hash slots. */
rv_test_redis *test_redis_start_cluster(void);
void test_redis_stop(rv_test_redis *redis); /* kills it and removes the directory; NULL is fine */

const char *test_redis_url(const rv_test_redis *redis); /* unix://, with the password */
/* redis://127.0.0.1:port, with the password; with TLS rediss://127.0.0.1:port?ca=..., without one */
const char *test_redis_tcp_url(const rv_test_redis *redis);
int test_redis_tcp_port(const rv_test_redis *redis);
const char *test_redis_dir(const rv_test_redis *redis);
pid_t test_redis_pid(const rv_test_redis *redis);

void test_redis_kill(rv_test_redis *redis);    /* SIGKILL; returns when it is gone */
void test_redis_launch(rv_test_redis *redis);  /* starts it again on the same data; returns when it answers */
void test_redis_restart(rv_test_redis *redis); /* kill and launch */
void test_redis_freeze(rv_test_redis *redis);  /* SIGSTOP */
void test_redis_thaw(rv_test_redis *redis);    /* SIGCONT */

/* Opens a connection to it, by its unix URL; freed by rv_conn_destroy. The URL lives as long as the server's handle. */
rv_conn *test_conn_open(rv_test_redis *redis);
/* The parsed form of test_redis_url, for rv_conn_create. */
const rv_url *test_redis_parsed_url(const rv_test_redis *redis);

#endif
