/* A Redis that freezes, dies, and comes back: deadlines, losses, reconnecting. */
#include "redis/conn.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/link.h"
#include "support/redis.h"

#define PASSWORD "hunter2-very-secret"

static rv_test_redis *redis;

/* ---- what was logged ------------------------------------------------------------------------------------------- */

static atomic_int downs, ups;
static char logged[65536];
static size_t logged_length;

static void note(const char *text)
{
    size_t length = strlen(text);
    if (logged_length + length + 2 > sizeof(logged)) return;
    memcpy(logged + logged_length, text, length);
    logged[logged_length + length] = '\n';
    logged_length += length + 1;
    logged[logged_length] = '\0';
}

static void on_log(const reeve_log_record *record, void *user)
{
    (void)user;
    note(record->event);
    note(record->message);
    for (size_t i = 0; i < record->field_count; i++) note(record->fields[i].value);
    if (strcmp(record->event, "redis.down") == 0) {
        assert_int_equal(record->level, REEVE_LOG_WARN);
        atomic_fetch_add(&downs, 1);
    }
    if (strcmp(record->event, "redis.up") == 0) {
        assert_int_equal(record->level, REEVE_LOG_INFO);
        atomic_fetch_add(&ups, 1);
    }
}

/* ---- deadlines and losses -------------------------------------------------------------------------------------- */

static void a_frozen_server(void **state)
{
    (void)state;
    test_link at, other;
    test_link_begin(&at, test_redis_url(redis), NULL, 150);
    test_link_begin(&other, test_redis_url(redis), NULL, 150);
    test_link_open(&at);
    test_redis_freeze(redis);
    int64_t begun = rv_now_ms();
    assert_int_equal(strncmp(test_cmd(at.conn, "PING"), "(6)", 3), 0);
    assert_in_range(rv_now_ms() - begun, 150, 30000);
    assert_false(rv_conn_is_open(at.conn));
    begun = rv_now_ms();
    assert_int_equal(rv_conn_open(other.conn, rv_deadline(100)), REEVE_ECONNECT);
    assert_in_range(rv_now_ms() - begun, 100, 30000);
    assert_non_null(strstr(test_link_error(&other), "in time"));
    test_redis_thaw(redis);
    test_link_open(&at);
    assert_string_equal(test_cmd(at.conn, "PING"), "PONG");
    test_link_end(&other);
    test_link_end(&at);
}

/* A frozen server takes in what the sockets hold, and then no more. */
static void a_frozen_server_in_a_big_send(void **state)
{
    (void)state;
    enum { SIZE = 40000000 };
    test_link at;
    char *value = calloc(1, SIZE);
    test_link_begin(&at, test_redis_tcp_url(redis), NULL, 200);
    test_link_open(&at);
    test_redis_freeze(redis);
    rv_cmd(at.conn, 2);
    rv_args(at.conn, "ECHO");
    rv_arg(at.conn, value, SIZE);
    assert_int_equal(rv_conn_exec(at.conn, 0, NULL, NULL), REEVE_ETIMEOUT);
    test_redis_thaw(redis);
    free(value);
    test_link_end(&at);
}

static volatile sig_atomic_t pipe_signals;

static void on_pipe(int number)
{
    (void)number;
    pipe_signals++;
}

static void a_killed_server(void **state)
{
    (void)state;
    rv_test_redis *victim = test_redis_start(NULL);
    void (*before)(int) = signal(SIGPIPE, on_pipe);
    for (int round = 0; round < 2; round++) {
        static char value[3000000];
        rv_conn *conn = test_conn_open(victim);
        test_redis_kill(victim);
        for (int i = 0; i < 3; i++) {
            rv_cmd(conn, 2);
            rv_args(conn, "ECHO");
            rv_arg(conn, value, round == 0 ? 1 : sizeof(value));
        }
        assert_int_equal(rv_conn_exec(conn, 0, NULL, NULL), REEVE_ELOST);
        assert_non_null(strstr(rv_conn_error(conn)->text, "Redis closed the connection"));
        assert_false(rv_conn_is_open(conn));
        rv_cmd(conn, 1);
        rv_args(conn, "PING");
        assert_int_equal(rv_conn_exec(conn, 0, NULL, NULL), REEVE_ECONNECT);
        test_redis_launch(victim);
        assert_int_equal(rv_conn_open(conn, 0), REEVE_OK);
        rv_conn_destroy(conn);
    }
    assert_int_equal(pipe_signals, 0);
    signal(SIGPIPE, before);
    test_redis_stop(victim);
}

typedef struct helper {
    pthread_t thread;
    rv_test_redis *redis;
    test_link *at;
    int64_t delay_ms;
} helper;

static void *launch_later(void *context)
{
    helper *help = context;
    usleep((useconds_t)help->delay_ms * 1000);
    test_redis_launch(help->redis);
    /* Its father is this thread (PR_SET_PDEATHSIG), so wait until it is not needed any more. */
    rv_waker_wait(&help->at->waker, RV_FOREVER);
    return NULL;
}

static void persists_until_it_is_back(void **state)
{
    (void)state;
    const test_redis_options options = {.password = PASSWORD, .persist = true};
    rv_test_redis *victim = test_redis_start(&options);
    test_link at, bell;
    test_link_begin(&at, test_redis_url(victim), NULL, 1000);
    test_link_begin(&bell, test_redis_url(victim), NULL, 1000);
    reeve_log_set(on_log, NULL, REEVE_LOG_DEBUG);
    assert_int_equal(rv_conn_persist(at.conn), REEVE_OK);
    assert_int_equal(atomic_load(&downs), 0);
    assert_string_equal(test_cmd(at.conn, "SET kept yes"), "OK");
    test_redis_kill(victim);
    assert_int_equal(strncmp(test_cmd(at.conn, "PING"), "(5)", 3), 0);
    helper help = {.redis = victim, .at = &bell, .delay_ms = 300};
    assert_int_equal(pthread_create(&help.thread, NULL, launch_later, &help), 0);
    assert_int_equal(rv_conn_persist(at.conn), REEVE_OK);
    assert_int_equal(atomic_load(&downs), 1);
    assert_int_equal(atomic_load(&ups), 1);
    assert_string_equal(test_cmd(at.conn, "GET kept"), "yes");
    assert_int_equal(rv_conn_epoch(at.conn), 2);
    assert_int_equal(rv_conn_persist(at.conn), REEVE_OK);
    assert_int_equal(atomic_load(&ups), 1);
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    assert_non_null(strstr(logged, ":***@"));
    assert_null(strstr(logged, PASSWORD));
    rv_waker_ring(&bell.waker);
    pthread_join(help.thread, NULL);
    test_link_end(&bell);
    test_link_end(&at);
    test_redis_stop(victim);
}

static void *ring_later(void *context)
{
    helper *help = context;
    usleep((useconds_t)help->delay_ms * 1000);
    rv_waker_ring(&help->at->waker);
    return NULL;
}

static void the_waker_ends_persisting(void **state)
{
    (void)state;
    static const char *const urls[] = {"unix:///nowhere/redis.sock", NULL};
    test_redis_freeze(redis); /* the second one hangs in its handshake */
    for (size_t i = 0; i < 2; i++) {
        test_link at;
        test_link_begin(&at, urls[i] ? urls[i] : test_redis_url(redis), NULL, 60000);
        helper help = {.at = &at, .delay_ms = 50};
        int64_t begun = rv_now_ms();
        assert_int_equal(pthread_create(&help.thread, NULL, ring_later, &help), 0);
        assert_int_equal(rv_conn_persist(at.conn), REEVE_EINTERRUPTED);
        assert_in_range(rv_now_ms() - begun, 40, 30000);
        assert_false(rv_conn_is_open(at.conn));
        pthread_join(help.thread, NULL);
        test_link_end(&at);
    }
    test_redis_thaw(redis);
}

static void persisting_gives_up_on_the_hopeless(void **state)
{
    (void)state;
    test_link at;
    test_link_begin(&at, "embedded:/x", NULL, 0);
    assert_int_equal(rv_conn_persist(at.conn), REEVE_EUNSUPPORTED);
    test_link_end(&at);
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
        cmocka_unit_test(a_frozen_server),           cmocka_unit_test(a_frozen_server_in_a_big_send),
        cmocka_unit_test(a_killed_server),           cmocka_unit_test(persists_until_it_is_back),
        cmocka_unit_test(the_waker_ends_persisting), cmocka_unit_test(persisting_gives_up_on_the_hopeless),
    };
    return cmocka_run_group_tests_name("ct_outage", tests, start, stop);
}
