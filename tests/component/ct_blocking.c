/* Blocking commands and messages, and the waker that ends the wait for them. */
#include "redis/conn.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "support/link.h"
#include "support/redis.h"

static rv_test_redis *redis;

typedef struct helper {
    pthread_t thread;
    test_link *at;
    int64_t delay_ms;
} helper;

static void *ring_later(void *context)
{
    helper *help = context;
    usleep((useconds_t)help->delay_ms * 1000);
    rv_waker_ring(&help->at->waker);
    return NULL;
}

static void build_blpop(rv_conn *conn, const char *key)
{
    rv_cmd(conn, 3);
    rv_args(conn, "BLPOP");
    rv_args(conn, key);
    rv_args(conn, "0");
}

static void the_waker_interrupts_a_blocking_call(void **state)
{
    (void)state;
    test_link at;
    const rv_reply *reply;
    rv_conn *other = test_conn_open(redis);
    test_link_begin(&at, test_redis_url(redis), NULL, 0);
    test_link_open(&at);
    helper help = {.at = &at, .delay_ms = 50};
    assert_int_equal(pthread_create(&help.thread, NULL, ring_later, &help), 0);
    build_blpop(at.conn, "bell");
    assert_int_equal(rv_conn_call_blocking(at.conn, RV_FOREVER, &reply), REEVE_EINTERRUPTED);
    assert_null(reply);
    assert_true(rv_conn_is_open(at.conn));
    pthread_join(help.thread, NULL);

    /* Still under way: nothing else can be asked meanwhile. */
    rv_cmd(at.conn, 1);
    rv_args(at.conn, "PING");
    assert_int_equal(rv_conn_exec(at.conn, 0, NULL, NULL), REEVE_ESTATE);
    assert_string_equal(test_cmd(other, "RPUSH bell ding"), "1");
    assert_int_equal(rv_conn_resume(at.conn, rv_deadline(10000), &reply), REEVE_OK);
    assert_string_equal(test_reply_text(reply), "[bell ding]");
    assert_int_equal(rv_conn_resume(at.conn, rv_deadline(10000), &reply), REEVE_ESTATE);

    /* Rung already: what is there comes first. */
    assert_string_equal(test_cmd(other, "RPUSH bell dong"), "1");
    build_blpop(at.conn, "bell");
    reeve_status status = rv_conn_call_blocking(at.conn, RV_FOREVER, &reply);
    if (status == REEVE_EINTERRUPTED) status = rv_conn_resume(at.conn, 0, &reply);
    assert_int_equal(status, REEVE_OK);
    assert_string_equal(test_reply_text(reply), "[bell dong]");

    rv_waker_silence(&at.waker);
    build_blpop(at.conn, "bell");
    assert_int_equal(rv_conn_call_blocking(at.conn, rv_deadline(50), &reply), REEVE_ETIMEOUT);
    assert_false(rv_conn_is_open(at.conn));
    test_link_end(&at);
    rv_conn_destroy(other);
}

static void an_interrupted_call_can_be_dropped(void **state)
{
    (void)state;
    test_link at;
    const rv_reply *reply;
    rv_conn *other = test_conn_open(redis);
    test_link_begin(&at, test_redis_tcp_url(redis), NULL, 0);
    test_link_open(&at);
    rv_waker_ring(&at.waker);
    build_blpop(at.conn, "dropped");
    assert_int_equal(rv_conn_call_blocking(at.conn, RV_FOREVER, &reply), REEVE_EINTERRUPTED);
    while (!strstr(test_cmd(other, "INFO clients"), "blocked_clients:1")) usleep(1000);
    rv_conn_close(at.conn);
    while (!strstr(test_cmd(other, "INFO clients"), "blocked_clients:0")) usleep(1000);
    assert_string_equal(test_cmd(other, "RPUSH dropped x"), "1");
    assert_string_equal(test_cmd(other, "LPOP dropped"), "x");
    test_link_open(&at);
    assert_string_equal(test_cmd(at.conn, "PING"), "PONG");
    test_link_end(&at);
    rv_conn_destroy(other);
}

static void messages(void **state)
{
    (void)state;
    test_link at;
    const rv_reply *reply;
    rv_conn *other = test_conn_open(redis);
    test_link_begin(&at, test_redis_url(redis), NULL, 0);
    test_link_open(&at);
    assert_string_equal(test_cmd(at.conn, "SUBSCRIBE news"), "[subscribe news 1]");
    assert_int_equal(rv_conn_receive(at.conn, rv_deadline(20), &reply), REEVE_ETIMEOUT);
    assert_true(rv_conn_is_open(at.conn));
    for (int i = 0; i < 100; i++) assert_string_equal(test_cmd(other, "PUBLISH news %d", i), "1");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rv_conn_receive(at.conn, rv_deadline(10000), &reply), REEVE_OK);
        assert_string_equal(rv_reply_at(reply, 1)->text, "news");
        assert_int_equal(rv_reply_int(rv_reply_at(reply, 2), -1), i);
    }
    rv_waker_ring(&at.waker);
    assert_int_equal(rv_conn_receive(at.conn, RV_FOREVER, &reply), REEVE_EINTERRUPTED);
    assert_true(rv_conn_is_open(at.conn));
    rv_waker_silence(&at.waker);
    assert_string_equal(test_cmd(other, "CLIENT KILL TYPE pubsub"), "1");
    assert_int_equal(rv_conn_receive(at.conn, RV_FOREVER, &reply), REEVE_ELOST);
    assert_false(rv_conn_is_open(at.conn));
    test_link_end(&at);
    rv_conn_destroy(other);
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
        cmocka_unit_test(the_waker_interrupts_a_blocking_call),
        cmocka_unit_test(an_interrupted_call_can_be_dropped),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests_name("ct_blocking", tests, start, stop);
}
