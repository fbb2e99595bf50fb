/* Opening a connection: addresses, passwords, databases, and what can be wrong with them. */
#include "redis/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/link.h"
#include "support/peer.h"
#include "support/redis.h"

#define PASSWORD "hunter2-very-secret"

static rv_test_redis *redis;

static void opens_and_names_itself(void **state)
{
    (void)state;
    test_link at;
    test_link_begin(&at, test_redis_url(redis), "a name\twith\nblanks", 0);
    assert_false(rv_conn_is_open(at.conn));
    assert_int_equal(rv_conn_epoch(at.conn), 0);
    test_link_open(&at);
    assert_true(rv_conn_is_open(at.conn));
    assert_int_equal(rv_conn_epoch(at.conn), 1);
    assert_string_equal(test_cmd(at.conn, "CLIENT GETNAME"), "a-name-with-blanks");
    assert_int_equal(atoll(test_cmd(at.conn, "CLIENT ID")), rv_conn_id(at.conn));
    assert_true(rv_conn_id(at.conn) > 0);
    test_link_open(&at);
    assert_int_equal(rv_conn_epoch(at.conn), 1);
    rv_conn_close(at.conn);
    rv_conn_close(at.conn);
    assert_false(rv_conn_is_open(at.conn));
    test_link_open(&at);
    assert_int_equal(rv_conn_epoch(at.conn), 2);
    test_link_end(&at);
    rv_conn_destroy(NULL);
}

static void opens_over_tcp(void **state)
{
    (void)state;
    test_link at;
    char url[256];
    test_link_begin(&at, test_redis_tcp_url(redis), NULL, 0);
    test_link_open(&at);
    assert_string_equal(test_cmd(at.conn, "PING"), "PONG");
    test_link_end(&at);
    (void)snprintf(url, sizeof(url), "redis://localhost%s", strrchr(test_redis_tcp_url(redis), ':'));
    test_link_begin(&at, url, NULL, 0);
    test_link_open(&at); /* whatever localhost is first: all addresses are tried */
    test_link_end(&at);
}

static void selects_a_database(void **state)
{
    (void)state;
    test_link at;
    char url[300];
    (void)snprintf(url, sizeof(url), "%s?db=3", test_redis_url(redis));
    test_link_begin(&at, url, NULL, 0);
    test_link_open(&at);
    assert_string_equal(test_cmd(at.conn, "SET only-in-3 x"), "OK");
    assert_string_equal(test_cmd(at.conn, "SELECT 0"), "OK");
    assert_string_equal(test_cmd(at.conn, "EXISTS only-in-3"), "0");
    test_link_end(&at);
    (void)snprintf(url, sizeof(url), "%s?db=9999", test_redis_url(redis));
    test_link_begin(&at, url, NULL, 0);
    assert_int_equal(rv_conn_open(at.conn, 0), REEVE_ECONNECT);
    assert_non_null(strstr(test_link_error(&at), "out of range"));
    test_link_end(&at);
}

static void fails_to_open(const char *url, reeve_status status, const char *words)
{
    test_link at;
    test_link_begin(&at, url, NULL, 2000);
    assert_int_equal(rv_conn_open(at.conn, 0), status);
    assert_false(rv_conn_is_open(at.conn));
    if (!strstr(test_link_error(&at), words)) fail_msg("%s", test_link_error(&at));
    assert_null(strstr(test_link_error(&at), PASSWORD));
    assert_null(strstr(test_link_error(&at), "wrong-pw"));
    assert_int_equal(rv_conn_error(at.conn)->status, status);
    test_link_end(&at);
}

static void nobody_listens(void **state)
{
    (void)state;
    fails_to_open("unix:///nowhere/redis.sock", REEVE_ECONNECT, "unix:///nowhere/redis.sock: No such file");
    fails_to_open("redis://127.0.0.1:1", REEVE_ECONNECT, "redis://127.0.0.1:1: Connection refused");
    fails_to_open("redis://no.such.host.invalid", REEVE_ECONNECT, "looked up");
    /* Its TLS was not set up: it is not spoken to in plain text. */
    fails_to_open("rediss://127.0.0.1:1", rv_tls_is_built() ? REEVE_ECONNECT : REEVE_EUNSUPPORTED, "TLS");
    fails_to_open("redis-cluster://127.0.0.1:1", REEVE_ECONNECT, "the Redis Cluster at redis-cluster://127.0.0.1:1");
}

/* What the server says to AUTH. */
static void auth_is_answered(const char *answer, bool denied, const char *words)
{
    const peer_step script[] = {{PEER_COMMANDS, 1, NULL, 0},
                                {PEER_SEND, strlen(answer), answer, 0},
                                {PEER_CLOSE, 0, NULL, 0},
                                {PEER_END, 0, NULL, 0}};
    test_peer *peer = test_peer_start(script);
    test_link at;
    char url[300];
    (void)snprintf(url, sizeof(url), "unix://bob:" PASSWORD "@%s", test_peer_url(peer) + strlen("unix://"));
    test_link_begin(&at, url, NULL, 5000);
    assert_int_equal(rv_conn_open(at.conn, 0), REEVE_ECONNECT);
    assert_int_equal(rv_conn_is_denied(at.conn), denied);
    if (!strstr(test_link_error(&at), words)) fail_msg("%s", test_link_error(&at));
    assert_null(strstr(test_link_error(&at), "hunter2"));
    test_link_end(&at);
    test_peer_stop(peer);
}

static void what_is_refused_for_other_reasons_is_no_wrong_password(void **state)
{
    (void)state;
    auth_is_answered("-ERR max number of clients reached\r\n", false, "max number of clients reached");
    auth_is_answered("-ERR max number of clients + cluster connections reached\r\n", false, "max number of clients");
    auth_is_answered("-ERR proxy is shutting down\r\n", false, "proxy is shutting down");
    auth_is_answered("-ERR unknown command 'AUTH', with args beginning with: 'bob' '" PASSWORD "'\r\n", false,
                     "refused");
    auth_is_answered("-ERR not " PASSWORD "\r\n", false, "AUTH");
    auth_is_answered("-WRONGPASS invalid username-password pair or user is disabled.\r\n", true, "WRONGPASS");
    auth_is_answered("-ERR invalid password\r\n", true, "WRONGPASS");
    auth_is_answered("-ERR AUTH <password> called without any password configured for the default user.\r\n", true,
                     "no password set");
}

static void passwords(void **state)
{
    (void)state;
    const test_redis_options options = {.password = PASSWORD};
    rv_test_redis *locked = test_redis_start(&options);
    char url[300];
    const char *socket = strstr(test_redis_url(locked), "@") + 1;
    rv_conn *conn = test_conn_open(locked);
    assert_string_equal(test_cmd(conn, "ACL SETUSER bob on >%s ~* +@all -client -select", PASSWORD), "OK");
    rv_conn_destroy(conn);

    (void)snprintf(url, sizeof(url), "unix://%s", socket);
    fails_to_open(url, REEVE_ECONNECT, "password");
    (void)snprintf(url, sizeof(url), "unix://:wrong-pw@%s", socket);
    fails_to_open(url, REEVE_ECONNECT, "WRONGPASS");
    (void)snprintf(url, sizeof(url), "unix://eve:%s@%s", PASSWORD, socket);
    fails_to_open(url, REEVE_ECONNECT, "eve:***@");
    (void)snprintf(url, sizeof(url), "unix://bob:%s@%s?db=1", PASSWORD, socket);
    fails_to_open(url, REEVE_ECONNECT, "SELECT");

    /* CLIENT is denied to him, and that is no harm. */
    test_link at;
    (void)snprintf(url, sizeof(url), "unix://bob:%s@%s", PASSWORD, socket);
    test_link_begin(&at, url, "named", 0);
    test_link_open(&at);
    assert_string_equal(test_cmd(at.conn, "ACL WHOAMI"), "bob");
    assert_int_equal(rv_conn_id(at.conn), 0);
    test_link_end(&at);
    test_redis_stop(locked);

    (void)snprintf(url, sizeof(url), "unix://:%s@%s", PASSWORD, strstr(test_redis_url(redis), "//") + 2);
    fails_to_open(url, REEVE_ECONNECT, "no password set");
}

/* A server that does not know AUTH says what it was given. */
static void a_renamed_auth_tells_nothing(void **state)
{
    (void)state;
    static const char *const extra[] = {"--rename-command", "AUTH", "", NULL};
    const test_redis_options options = {.extra = extra};
    rv_test_redis *odd = test_redis_start(&options);
    char url[300];
    (void)snprintf(url, sizeof(url), "unix://:%s@%s", PASSWORD, strstr(test_redis_url(odd), "//") + 2);
    fails_to_open(url, REEVE_ECONNECT, "refused");
    test_redis_stop(odd);
}

static void a_full_server_says_so(void **state)
{
    (void)state;
    test_link first, second;
    static const char *const extra[] = {"--maxclients", "1", NULL};
    const test_redis_options options = {.extra = extra};
    rv_test_redis *small = test_redis_start(&options);
    test_link_begin(&first, test_redis_url(small), NULL, 0);
    test_link_begin(&second, test_redis_url(small), NULL, 0);
    /* The fixture's own connection may be on its way out still. */
    while (rv_conn_open(first.conn, 0) != REEVE_OK) usleep(1000);
    assert_int_equal(rv_conn_open(second.conn, 0), REEVE_ECONNECT);
    assert_non_null(strstr(test_link_error(&second), "max number of clients"));
    test_link_end(&second);
    test_link_end(&first);
    test_redis_stop(small);
}

static int start(void **state)
{
    (void)state;
    const test_redis_options options = {.tcp = true};
    redis = test_redis_start(&options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    test_redis_stop(redis);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_and_names_itself),
        cmocka_unit_test(opens_over_tcp),
        cmocka_unit_test(selects_a_database),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(what_is_refused_for_other_reasons_is_no_wrong_password),
        cmocka_unit_test(passwords),
        cmocka_unit_test(a_renamed_auth_tells_nothing),
        cmocka_unit_test(a_full_server_says_so),
    };
    return cmocka_run_group_tests_name("ct_handshake", tests, start, stop);
}
