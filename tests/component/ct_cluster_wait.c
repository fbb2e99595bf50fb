/*
 * A wait for several hash slots (rv_conn_wait_any) of a server in cluster mode that holds commands back (CLIENT PAUSE), as
 * a planned failover does.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "support/redis.h"

enum { PAUSE_MS = 400 };

static rv_test_redis *server;
static rv_conn *direct; /* to the server itself */
static rv_conn *conn;   /* to the cluster */
static rv_url url;

static int set_up(void **state)
{
    char text[64];
    (void)state;
    server = test_redis_start_cluster();
    direct = test_conn_open(server);
    (void)snprintf(text, sizeof(text), "redis-cluster://127.0.0.1:%d", test_redis_tcp_port(server));
    assert_int_equal(rv_url_parse(&url, text, NULL), REEVE_OK);
    const rv_conn_options connection = {.url = &url, .name = "test", .command_ms = 60000};
    assert_int_equal(rv_conn_create(&conn, &connection, NULL), REEVE_OK);
    if (rv_conn_open(conn, rv_deadline(60000)) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rv_conn_destroy(conn);
    rv_conn_destroy(direct);
    rv_url_fini(&url);
    test_redis_stop(server);
    return 0;
}

static void wait_for_both(int64_t deadline, bool *answered)
{
    for (int i = 0; i < 2; i++) {
        rv_cmd(conn, 3);
        rv_args(conn, "BLPOP");
        rv_args(conn, i == 0 ? "{a}list" : "{b}list");
        rv_argi(conn, 0);
    }
    reeve_status status = rv_conn_wait_any(conn, deadline, answered);
    if (status != REEVE_OK) fail_msg("%d: %s", (int)status, rv_conn_error(conn)->text);
}

/* CLIENT UNBLOCK of a command that is held back ends a Redis before 8.2. */
static void waits_that_are_held_back_end_behind_the_pause(void **state)
{
    bool answered[2];
    int64_t began = rv_now_ms();
    (void)state;
    assert_string_equal(test_cmd(direct, "CLIENT PAUSE %d WRITE", PAUSE_MS), "OK");
    wait_for_both(rv_deadline(50), answered);
    assert_true(rv_now_ms() - began >= PAUSE_MS - 1);
    assert_false(answered[0] || answered[1]);
    assert_string_equal(test_cmd(direct, "PING"), "PONG");
}

static void none_is_left_that_takes_what_comes_later(void **state)
{
    bool answered[2];
    (void)state;
    assert_string_equal(test_cmd(direct, "RPUSH {b}list x"), "1");
    assert_string_equal(test_cmd(direct, "LLEN {b}list"), "1");
    wait_for_both(rv_deadline(60000), answered);
    assert_true(!answered[0] && answered[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_that_are_held_back_end_behind_the_pause),
        cmocka_unit_test(none_is_left_that_takes_what_comes_later),
    };
    return cmocka_run_group_tests_name("ct_cluster_wait", tests, set_up, tear_down);
}
