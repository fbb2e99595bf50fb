/* An open connection: pipelines, values of every size, error replies, scripts, memory. */
#include "redis/conn.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/link.h"
#include "support/redis.h"

static rv_test_redis *redis;

/* ---- pipelines and values -------------------------------------------------------------------------------------- */

static void count_up(size_t index, const rv_reply *reply, void *context)
{
    size_t *next = context;
    assert_int_equal(index, *next);
    assert_int_equal(rv_reply_int(reply, -1), (int64_t)++ * next);
}

static void a_pipeline_of_1000(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(redis);
    size_t next = 0;
    assert_int_equal(rv_conn_exec(conn, 0, count_up, &next), REEVE_OK); /* nothing to send */
    for (int i = 0; i < 1000; i++) {
        rv_cmd(conn, 2);
        rv_args(conn, "INCR");
        rv_args(conn, "pipeline");
    }
    assert_int_equal(rv_conn_pending(conn), 1000);
    assert_int_equal(rv_conn_exec(conn, 0, count_up, &next), REEVE_OK);
    assert_int_equal(next, 1000);
    assert_int_equal(rv_conn_pending(conn), 0);
    rv_conn_destroy(conn);
}

static void big_values_both_ways(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 31 * 1024, 32 * 1024, 33 * 1024, 1024 * 1024, 20 * 1024 * 1024};
    rv_conn *conn = test_conn_open(redis);
    const rv_reply *reply;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *value = malloc(sizes[i]);
        assert_non_null(value);
        for (size_t at = 0; at < sizes[i]; at++) value[at] = (unsigned char)(at * 7 + at / 251);
        rv_cmd(conn, 2);
        rv_args(conn, "ECHO");
        rv_arg(conn, value, sizes[i]);
        if (rv_conn_call(conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
        assert_int_equal(reply->length, sizes[i]);
        assert_int_equal(memcmp(reply->text, value, sizes[i]), 0);
        assert_int_equal(reply->text[sizes[i]], 0);
        free(value);
    }
    rv_conn_destroy(conn);
}

static void add_length(size_t index, const rv_reply *reply, void *context)
{
    (void)index;
    *(size_t *)context += reply->length;
}

/* More in both directions than any socket holds. */
static void big_pipelines_do_not_lock_up(void **state)
{
    (void)state;
    enum { COMMANDS = 40, SIZE = 1000000 };
    static char value[SIZE];
    size_t total = 0;
    test_link at;
    test_link_begin(&at, test_redis_tcp_url(redis), NULL, 0);
    test_link_open(&at);
    for (int i = 0; i < COMMANDS; i++) {
        rv_cmd(at.conn, 2);
        rv_args(at.conn, "ECHO");
        rv_arg(at.conn, value, SIZE);
    }
    assert_int_equal(rv_conn_exec(at.conn, 0, add_length, &total), REEVE_OK);
    assert_int_equal(total, (size_t)COMMANDS * SIZE);
    test_link_end(&at);
}

static void error_replies(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(redis);
    const rv_reply *reply;
    assert_string_equal(test_cmd(conn, "SET text abc"), "OK");
    rv_cmd(conn, 2);
    rv_args(conn, "INCR");
    rv_args(conn, "text");
    assert_int_equal(rv_conn_call(conn, 0, &reply), REEVE_EREDIS);
    assert_true(rv_reply_is(reply, RV_ERROR));
    assert_non_null(strstr(rv_conn_error(conn)->text, "not an integer"));
    assert_true(rv_conn_is_open(conn));
    assert_string_equal(test_cmd(conn, "PING"), "PONG");
    rv_conn_destroy(conn);
}

static void misuse_sends_nothing(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(redis);
    const rv_reply *reply;
    rv_cmd(conn, 3);
    rv_args(conn, "SET");
    rv_args(conn, "a");
    assert_int_equal(rv_conn_exec(conn, 0, NULL, NULL), REEVE_EINVAL);
    assert_true(rv_conn_is_open(conn));
    assert_int_equal(rv_conn_call(conn, 0, &reply), REEVE_EINVAL);
    rv_cmd(conn, 1);
    rv_args(conn, "PING");
    rv_cmd(conn, 1);
    rv_args(conn, "PING");
    assert_int_equal(rv_conn_call(conn, 0, &reply), REEVE_EINVAL);
    assert_int_equal(rv_conn_pending(conn), 0);
    assert_string_equal(test_cmd(conn, "PING"), "PONG");
    rv_conn_destroy(conn);
}

static void a_taken_reply_lives_on(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(redis);
    const rv_reply *first, *second;
    rv_arena mine;
    rv_arena_init(&mine);
    for (int round = 0; round < 10; round++) {
        rv_cmd(conn, 2);
        rv_args(conn, "ECHO");
        rv_args(conn, round % 2 ? "odd" : "even");
        assert_int_equal(rv_conn_call(conn, 0, &first), REEVE_OK);
        rv_conn_take_reply(conn, &mine);
        rv_cmd(conn, 2);
        rv_args(conn, "ECHO");
        rv_args(conn, "another");
        assert_int_equal(rv_conn_call(conn, 0, &second), REEVE_OK);
        assert_string_equal(first->text, round % 2 ? "odd" : "even");
        assert_string_equal(second->text, "another");
    }
    rv_arena_fini(&mine);
    rv_conn_destroy(conn);
}

/* ---- scripts --------------------------------------------------------------------------------------------------- */

static const rv_script script_key = {"key", "return {KEYS[1], ARGV[1]}", 25,
                                     "0ec73b1f5a38f7d1c2ef92fc4ab09e0c28dbc4bb"};
static const rv_script script_incr = {"incr", "return redis.call('incr', KEYS[1])", 34,
                                      "f7dbd6b90b3a4b4b9b7d7a46b4c3dbad1c8fdeb1"};
static const rv_script script_bad = {"bad", "return (", 8, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

/* The names that Redis gives the scripts, so that this file need not compute a SHA1. */
static rv_script with_sha(rv_conn *conn, const rv_script *plain, char sha[41])
{
    const rv_reply *reply;
    rv_script script = *plain;
    rv_cmd(conn, 3);
    rv_args(conn, "SCRIPT");
    rv_args(conn, "LOAD");
    rv_arg(conn, plain->text, plain->length);
    assert_int_equal(rv_conn_call(conn, 0, &reply), REEVE_OK);
    assert_int_equal(reply->length, 40);
    memcpy(sha, reply->text, 41);
    script.sha = sha;
    return script;
}

static void a_forgotten_script_is_loaded(void **state)
{
    (void)state;
    char sha[41];
    rv_conn *conn = test_conn_open(redis);
    const rv_reply *reply;
    rv_script script = with_sha(conn, &script_key, sha);
    for (int round = 0; round < 3; round++) {
        assert_string_equal(test_cmd(conn, "SCRIPT FLUSH"), "OK");
        rv_cmd_script(conn, &script, 1, 1);
        rv_args(conn, "k");
        rv_argi(conn, round);
        if (rv_conn_call(conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(conn)->text);
        assert_int_equal(rv_reply_int(rv_reply_at(reply, 1), -1), round);
    }
    rv_conn_destroy(conn);
}

typedef struct tally {
    size_t calls[300];
    int64_t values[300];
    size_t errors;
} tally;

static void tally_reply(size_t index, const rv_reply *reply, void *context)
{
    tally *all = context;
    assert_true(index < 300);
    all->calls[index]++;
    all->values[index] = rv_reply_int(reply, -1);
    if (rv_reply_is(reply, RV_ERROR)) all->errors++;
}

static void build_ping(rv_conn *conn, const char *text)
{
    rv_cmd(conn, 2);
    rv_args(conn, "PING");
    rv_args(conn, text);
}

static void keep_number(size_t index, const rv_reply *reply, void *context)
{
    int64_t *numbers = context;
    numbers[index] = rv_reply_is(reply, RV_TEXT) ? -2 : rv_reply_int(rv_reply_at(reply, 1), -1);
}

/* The reply of the last command lives on; an error before it is that of the call. */
static void the_last_of_several_is_the_reply(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(redis);
    const rv_reply *reply;
    char sha[41];
    int64_t numbers[3] = {0, 0, 0};
    rv_script script = with_sha(conn, &script_key, sha);
    assert_string_equal(test_cmd(conn, "SCRIPT FLUSH"), "OK");
    build_ping(conn, "one");
    rv_cmd_script_text(conn, &script, 1, 1);
    rv_args(conn, "k");
    rv_argi(conn, 5);
    rv_cmd_script(conn, &script, 1, 1);
    rv_args(conn, "k");
    rv_argi(conn, 7);
    assert_int_equal(rv_conn_call_last(conn, 0, keep_number, numbers, &reply), REEVE_OK);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 1), -1), 7);
    assert_int_equal(numbers[0], -2);
    assert_int_equal(numbers[1], 5);
    assert_int_equal(numbers[2], 0);
    build_ping(conn, "one");
    rv_cmd(conn, 1);
    rv_args(conn, "NONSENSE");
    build_ping(conn, "three");
    assert_int_equal(rv_conn_call_last(conn, 0, NULL, NULL, &reply), REEVE_EREDIS);
    assert_null(reply);
    assert_non_null(strstr(rv_conn_error(conn)->text, "NONSENSE"));
    build_ping(conn, "one");
    rv_cmd(conn, 1);
    rv_args(conn, "NONSENSE");
    assert_int_equal(rv_conn_call_last(conn, 0, NULL, NULL, &reply), REEVE_EREDIS);
    assert_true(rv_reply_is(reply, RV_ERROR));
    assert_int_equal(rv_conn_call_last(conn, 0, NULL, NULL, &reply), REEVE_EINVAL);
    rv_conn_destroy(conn);
}

static void forgotten_in_the_middle_of_a_pipeline(void **state)
{
    (void)state;
    char sha[41];
    static tally all;
    memset(&all, 0, sizeof(all));
    rv_conn *conn = test_conn_open(redis);
    rv_script script = with_sha(conn, &script_incr, sha);
    for (int i = 0; i < 100; i++) {
        rv_cmd_script(conn, &script, 1, 0);
        rv_args(conn, "scripted");
        rv_cmd(conn, 2);
        rv_args(conn, i == 50 ? "SCRIPT" : "ECHO");
        rv_args(conn, i == 50 ? "FLUSH" : "-2");
    }
    assert_int_equal(rv_conn_exec(conn, 0, tally_reply, &all), REEVE_OK);
    for (size_t i = 0; i < 200; i++) assert_int_equal(all.calls[i], 1);
    assert_int_equal(all.errors, 0);
    assert_string_equal(test_cmd(conn, "GET scripted"), "100");
    /* Those that had to be repeated ran in their order, behind the others. */
    for (size_t i = 0; i < 100; i++) assert_int_equal(all.values[2 * i], (int64_t)i + 1);
    rv_conn_destroy(conn);
}

static void a_script_that_does_not_compile(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(redis);
    const rv_reply *reply;
    rv_cmd_script(conn, &script_bad, 0, 0);
    assert_int_equal(rv_conn_call(conn, 0, &reply), REEVE_EREDIS);
    assert_non_null(strstr(rv_conn_error(conn)->text, "compiling script"));
    assert_string_equal(test_cmd(conn, "PING"), "PONG");
    rv_conn_destroy(conn);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void a_steady_load_allocates_nothing(void **state)
{
    (void)state;
    rv_conn *conn = test_conn_open(redis);
    for (int round = 0; round < 1000; round++) {
        size_t total = 0;
        if (round == 10) (void)rv_mem_fail_at(0);
        for (int i = 0; i < 64; i++) {
            rv_cmd(conn, 2);
            rv_args(conn, "ECHO");
            rv_args(conn, "a value of about a hundred bytes, as they come: 0123456789012345678901234567890123456789");
        }
        assert_int_equal(rv_conn_exec(conn, 0, add_length, &total), REEVE_OK);
    }
    assert_int_equal(rv_mem_fail_at(0), 0);
    rv_conn_destroy(conn);
}

/* The whole life of a connection. Whatever fails, it is ENOMEM or it did not matter. */
static reeve_status live(const rv_script *script)
{
    test_link at;
    rv_error error;
    const rv_reply *reply;
    reeve_status status = rv_url_parse(&at.url, test_redis_url(redis), &error);
    if (status != REEVE_OK) return status;
    const rv_conn_options options = {.url = &at.url, .name = "memory"};
    status = rv_conn_create(&at.conn, &options, &error);
    if (status == REEVE_OK) status = rv_conn_open(at.conn, 0);
    for (int i = 0; i < 20 && status == REEVE_OK; i++) {
        static char value[100000];
        rv_cmd(at.conn, 2);
        rv_args(at.conn, "ECHO");
        rv_arg(at.conn, value, i == 19 ? sizeof(value) : 100);
    }
    if (status == REEVE_OK) status = rv_conn_exec(at.conn, 0, NULL, NULL);
    if (status == REEVE_OK) {
        rv_cmd_script(at.conn, script, 1, 1);
        rv_args(at.conn, "k");
        rv_args(at.conn, "a");
        status = rv_conn_call(at.conn, 0, &reply);
    }
    rv_conn_destroy(at.conn);
    rv_url_fini(&at.url);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    char sha[41];
    rv_conn *conn = test_conn_open(redis);
    rv_script script = with_sha(conn, &script_key, sha);
    reeve_status status = REEVE_ENOMEM;
    unsigned long nth = 0, made = 0;
    while (made >= nth) {
        nth++;
        assert_string_equal(test_cmd(conn, "SCRIPT FLUSH"), "OK");
        (void)rv_mem_fail_at(nth);
        status = live(&script);
        made = rv_mem_fail_at(0);
        if (status != REEVE_OK && status != REEVE_ENOMEM) fail_msg("allocation %lu: status %d", nth, (int)status);
    }
    assert_int_equal(status, REEVE_OK);
    assert_true(nth > 15);
    rv_conn_destroy(conn);
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
        cmocka_unit_test(a_pipeline_of_1000),
        cmocka_unit_test(big_values_both_ways),
        cmocka_unit_test(big_pipelines_do_not_lock_up),
        cmocka_unit_test(error_replies),
        cmocka_unit_test(misuse_sends_nothing),
        cmocka_unit_test(a_taken_reply_lives_on),
        cmocka_unit_test(a_forgotten_script_is_loaded),
        cmocka_unit_test(the_last_of_several_is_the_reply),
        cmocka_unit_test(forgotten_in_the_middle_of_a_pipeline),
        cmocka_unit_test(a_script_that_does_not_compile),
        cmocka_unit_test(a_steady_load_allocates_nothing),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("ct_conn", tests, start, stop);
}
