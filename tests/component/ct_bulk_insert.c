/*
 * Many plain tasks that a client lays by a transaction (client/bulk_insert.h): they are enqueued like any others,
 * once, in their order, whatever goes wrong on the way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/partitions.h"
#include "protocol/scripts.h"
#include "reeve/partition.h"
#include "reeve/watch.h"
#include "support/costs.h"
#include "support/proxy.h"
#include "support/segments.h"

#define Q "reeve:{q}:"
enum { MANY = 64, MAX = 2000 };

static test_proxy *proxy;
static reeve_client *client; /* behind the proxy */
static reeve_enqueued results[MAX];

static int set_up(void **state)
{
    char words[512];
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 10000};
    reeve_client_close(client);
    client = NULL;
    (void)test_place_empty(state);
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return 0;
}

static int start(void **state)
{
    test_place_start(state);
    proxy = test_proxy_start(test_redis);
    return 0;
}

static int stop(void **state)
{
    reeve_client_close(client);
    test_proxy_stop(proxy);
    return test_place_stop(state);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static reeve_status put(const char *queue, size_t count, reeve_task_spec like)
{
    static reeve_task_spec specs[MAX];
    for (size_t i = 0; i < count; i++) {
        specs[i] = like;
        specs[i].queue = queue;
        specs[i].type = "t";
    }
    memset(results, 0xff, sizeof(results));
    return reeve_enqueue_many(client, specs, count, results);
}

static int transactions(void)
{
    test_costs now = test_costs_read();
    for (size_t i = 0; i < now.count; i++)
        if (strcmp(now.of[i].name, "exec") == 0) return now.of[i].calls;
    return 0;
}

/* A first call, by which the client learns what time it is; it is leased. */
static void begin(void)
{
    test_hand hand;
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    test_hand_init(&hand, "begin", "q");
    assert_int_equal(test_lease(&hand, 250), MANY);
    test_costs_reset();
}

/* What the last call enqueued is ready behind so many others, in its order. */
static void expect_behind(size_t others, size_t count)
{
    test_hand hand;
    assert_int_equal(test_ready_count("q"), others + count);
    test_hand_init(&hand, "look", "q");
    for (size_t at = 0; at < others + count;) {
        size_t got = test_lease(&hand, 250);
        assert_true(got > 0);
        for (size_t i = 0; i < got; i++, at++) {
            if (at >= others) assert_string_equal(hand.leased[i].id, results[at - others].id);
        }
    }
    test_no_segments();
}

/* ---- the common way ---------------------------------------------------------------------------------------------- */

static void from_the_second_call_on(void **state)
{
    (void)state;
    test_costs_reset();
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 1); /* (of nothing: whether it may) */
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    test_costs_reset();
    test_ok(client, put("q", MANY, (reeve_task_spec){.payload = {"payload", 7}}));
    test_costs now = test_costs_read();
    /* SADD counts with what a client says of a queue, and is left out. */
    assert_string_equal(test_costs_text(&now),
                        "del=1 evalsha=1 exec=1 hincrby=1 hset=2 llen=1 multi=1 rpush=1 time=1 watch=1 zadd=1");
    assert_int_equal(test_segments("q"), 3);
    expect_behind(2 * MANY, MANY);
}

static void what_they_say_of_their_time(void **state)
{
    (void)state;
    begin();
    int64_t before = rv_wall_ms();
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    int64_t after = rv_wall_ms();
    reeve_task_info *info = test_show("q", results[7].id);
    assert_in_range(info->enqueued_ms, before - 1000, after); /* (what is older is not believed) */
    reeve_task_info_free(info);
    assert_int_equal(transactions(), 1);
}

static void which_are_not(void **state)
{
    (void)state;
    static char large[40000];
    begin();
    test_ok(client, put("q", MANY - 1, (reeve_task_spec){0}));
    test_ok(client, put("q", MANY, (reeve_task_spec){.priority = 1}));
    test_ok(client, put("q", 25, (reeve_task_spec){.payload = {large, sizeof(large)}}));
    test_ok(client, put("q", MANY, (reeve_task_spec){.payload = {large, sizeof(large)}}));
    test_ok(client, put("q", 3, (reeve_task_spec){.payload = {large, sizeof(large) / 2}}));
    test_ok(client, put("q", 4, (reeve_task_spec){.payload = {large, 4095}}));
    assert_int_equal(transactions(), 0);
    static char odd[11001]; /* (each byte is six in the envelope) */
    memset(odd, 1, sizeof(odd) - 1);
    const reeve_meta meta = {"k", odd};
    test_ok(client, put("q", MANY, (reeve_task_spec){.payload = {large, 1000}, .meta = &meta, .meta_count = 1}));
    assert_int_equal(transactions(), 0);
    (void)put("q", MANY, (reeve_task_spec){.id = "same"});
    assert_int_equal(results[0].status, REEVE_OK);
    assert_int_equal(results[1].status, REEVE_EEXISTS);
    test_ok(client, put("q", MANY, (reeve_task_spec){.payload = {large, 100}}));
    test_ok(client, put("q", 4, (reeve_task_spec){.payload = {large, 4096}}));
    assert_int_equal(transactions(), 2);
}

static void several_calls_in_one_pipeline(void **state)
{
    (void)state;
    begin();
    test_ok(client, put("q", MAX, (reeve_task_spec){0}));
    assert_int_equal(transactions(), MAX / 250);
    expect_behind(0, MAX);
}

/* ---- where it is not common -------------------------------------------------------------------------------------- */

static void where_there_are_groups(void **state)
{
    (void)state;
    begin();
    test_put_spec((reeve_task_spec){.id = "x", .group = "g"});
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 1);
    assert_int_equal(test_ready_count("q"), MANY + 1);
    test_no_segments();
    test_ok(client, put("q", MANY, (reeve_task_spec){0})); /* (it was told) */
    assert_int_equal(transactions(), 1);
    test_ok(client, put("other", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 2);
    assert_int_equal(test_ready_count("other"), MANY);
    for (int i = 0; i < 63; i++) test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 2);
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 3);
}

/* It is told once for all partitions, which have the same settings. */
static void where_a_divided_queue_tells_events(void **state)
{
    (void)state;
    begin();
    test_ok(test_client, reeve_partition_set(test_client, "wide", 4));
    test_ok(test_client, reeve_events_keep(test_client, "wide", 100));
    test_ok(client, rv_partitions_renew(client));
    test_costs_reset();
    for (int i = 0; i < 8; i++) test_ok(client, put("wide", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 1);
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 2);
}

/* Whoever looks at segments by pages passes them all: few tasks do not make one where there are very many. */
static void where_there_are_many_segments(void **state)
{
    (void)state;
    static char payload[4096];
    begin();
    for (int i = 0; i < 1000; i++) (void)test_cmd(test_conn, "SADD " Q "segments x%d", i);
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    test_ok(client, put("q", 4, (reeve_task_spec){.payload = {payload, sizeof(payload)}}));
    assert_int_equal(transactions(), 2);
    assert_int_equal(test_number("SCARD " Q "segments"), 1001);
    assert_int_equal(test_number("ZCARD " Q "ready"), 5);
}

static void where_events_are_told(void **state)
{
    (void)state;
    begin();
    test_ok(test_client, reeve_events_keep(test_client, "q", 100));
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 1);
    assert_int_equal(test_number("XLEN " Q "events"), 1);
    expect_behind(0, MANY);
}

static void what_was_never_bulk_inserted(void **state)
{
    static const struct {
        const char *words;
        const char *args[5];
        size_t count;
    } rows[] = {
        {"its segment and how many tasks", {"bulk"}, 1},
        {"its segment and how many tasks", {"bulk", "1", "2"}, 3},
        {"its segment and how many tasks", {"bulk", "1", "2", "x"}, 4},
        {"its segment and how many tasks", {"bulk", "1", "2", "1025"}, 4},
        {"its segment and how many tasks", {"bulk", "1", "2", "4", "5"}, 5},
        {"segment 2 does not end with 4 tasks", {"bulk", "1", "2", "4"}, 4},
        {"segment 3 does not end with 4 tasks", {"bulk", "1", "3", "4"}, 4},
    };
    (void)state;
    begin();
    (void)test_cmd(test_conn, "RPUSH " Q "segment:3 a b c d");
    (void)test_cmd(test_conn, "HSET " Q "tasks a {\"at\":1,\"p\":3,} b {\"at\":1,\"p\":3,} c {\"at\":1,\"p\":3,}");
    char before[64];
    rv_copy_text(before, sizeof(before), test_digest());
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const rv_reply *reply;
        rv_cmd_script(test_conn, &rv_script_enqueue, 1, rows[i].count);
        rv_args(test_conn, Q);
        for (size_t j = 0; j < rows[i].count; j++) rv_args(test_conn, rows[i].args[j]);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_EREDIS);
        if (strstr(reply->text, rows[i].words) == NULL) fail_msg("%zu: %s", i, reply->text);
        assert_string_equal(test_digest(), before);
    }
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

static void lost_replies(void **state)
{
    static const size_t passed[] = {0, 5, 14, 40, 60};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        unsigned lost = test_proxy_lost(proxy);
        test_proxy_lose(proxy, "EXEC", passed[i]);
        test_ok(client, put("q", MAX, (reeve_task_spec){0}));
        assert_int_equal(test_proxy_lost(proxy), lost + 1);
        expect_behind(0, MAX);
        test_ok(client, put("q", MANY, (reeve_task_spec){0})); /* (what time it is on the new connection) */
        expect_behind(0, MANY);
    }
}

/* On the connection that was given up Redis comes to the transaction only after it was sent again. */
static void a_transaction_that_comes_late(void **state)
{
    (void)state;
    for (int may_kill = 0; may_kill < 2; may_kill++) {
        begin();
        /* Who may, ends that connection before. */
        (void)test_cmd(test_conn, may_kill ? "ACL SETUSER default +client|kill" : "ACL SETUSER default -client|kill");
        long long before = transactions();
        test_proxy_hold_and_lose(proxy, "EXEC");
        test_ok(client, put("q", MANY, (reeve_task_spec){0}));
        assert_true(test_proxy_holds(proxy));
        assert_int_equal(transactions(), before);
        test_proxy_release(proxy);
        if (!may_kill) TEST_AWAIT(transactions() == before + 1);
        expect_behind(0, MANY);
        assert_int_equal(transactions(), before + !may_kill);
    }
}

static void a_transaction_that_comes_as_a_whole(void **state)
{
    (void)state;
    begin();
    for (int forbidden = 0; forbidden < 2; forbidden++) {
        if (forbidden) (void)test_cmd(test_conn, "SET " Q "bulk_closed:5 1 EX 3600");
        (void)test_cmd(test_conn, "WATCH " Q "bulk_closed:5");
        (void)test_cmd(test_conn, "DEL " Q "bulk_closed:5");
        (void)test_cmd(test_conn, "MULTI");
        (void)test_cmd(test_conn, "PING");
        assert_string_equal(test_cmd(test_conn, "EXEC"), forbidden ? "(nil)" : "[PONG]");
    }
}

/* They stand there without a place, until the call is sent again. */
static void a_script_that_is_gone(void **state)
{
    (void)state;
    begin();
    (void)test_cmd(test_conn, "SCRIPT FLUSH");
    test_ok(client, put("q", 250, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 1);
    expect_behind(0, 250);
    (void)test_cmd(test_conn, "SCRIPT FLUSH");
    test_proxy_lose(proxy, "EXEC", 0);
    test_ok(client, put("q", 250, (reeve_task_spec){0}));
    expect_behind(0, 250);
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    expect_behind(0, MANY);
}

/* Nor does what comes behind them get its place before. */
static void a_script_that_is_gone_for_all(void **state)
{
    static const size_t passed[] = {0, 20, 100, 200, 300, 400, 500, 1000};
    (void)state;
    begin();
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        (void)test_cmd(test_conn, "SCRIPT FLUSH");
        if (passed[i] > 0) test_proxy_lose(proxy, "EXEC", passed[i]);
        test_ok(client, put("q", 510, (reeve_task_spec){0}));
        expect_behind(0, 510);
        test_ok(client, put("q", MANY, (reeve_task_spec){0}));
        expect_behind(0, MANY);
    }
}

static void no_memory(void **state)
{
    char before[64];
    (void)state;
    begin();
    rv_copy_text(before, sizeof(before), test_digest());
    (void)test_cmd(test_conn, "CONFIG SET maxmemory 1");
    test_refused(client, put("q", MANY, (reeve_task_spec){0}), REEVE_EREDIS, "OOM");
    for (size_t i = 0; i < MANY; i++) assert_int_equal(results[i].status, REEVE_EREDIS);
    (void)test_cmd(test_conn, "CONFIG SET maxmemory 0");
    assert_string_equal(test_digest(), before);
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    expect_behind(0, MANY);
}

static void a_key_of_another_kind(void **state)
{
    (void)state;
    begin();
    (void)test_cmd(test_conn, "DEL " Q "sequence");
    (void)test_cmd(test_conn, "SET " Q "sequence x");
    test_refused(client, put("q", MANY, (reeve_task_spec){0}), REEVE_EREDIS, "WRONGTYPE");
}

static void a_user_without_transactions(void **state)
{
    (void)state;
    begin();
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -multi"), "OK");
    reeve_status status = put("q", MANY, (reeve_task_spec){0});
    reeve_status next = put("q", MANY, (reeve_task_spec){0});
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +multi"), "OK");
    test_ok(client, status);
    test_ok(client, next);
    test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_int_equal(transactions(), 1); /* (an end without a beginning) */
    expect_behind(2 * MANY, MANY);
}

static void who_may_not_is_asked_first(void **state)
{
    static const char *const names[] = {"watch", "multi", "exec", "del"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)set_up(NULL);
        (void)test_cmd(test_conn, "ACL SETUSER default -%s", names[i]);
        reeve_status first = put("q", MANY, (reeve_task_spec){0});
        reeve_status next = put("q", MANY, (reeve_task_spec){0});
        reeve_status last = put("q", MANY, (reeve_task_spec){0});
        (void)test_cmd(test_conn, "ACL SETUSER default +%s", names[i]);
        test_ok(client, first);
        test_ok(client, next);
        test_ok(client, last);
        assert_int_equal(test_segments("q"), 1); /* (of one that is bulk-inserted nothing goes into the one before) */
        expect_behind(2 * MANY, MANY);
    }
}

/* How many commands were called since the last one of this name with a key that begins so. */
static size_t last_called(const char *name, const char *key)
{
    const rv_reply *log;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "SLOWLOG");
    rv_args(test_conn, "GET");
    rv_args(test_conn, "-1");
    assert_int_equal(rv_conn_call(test_conn, 0, &log), REEVE_OK);
    for (size_t i = 0; i < log->count; i++) {
        const rv_reply *words = rv_reply_at(rv_reply_at(log, i), 3);
        if (!rv_reply_is_text(rv_reply_at(words, 0), name)) continue;
        if (strncmp(rv_reply_at(words, 1)->text, key, strlen(key)) == 0) return i;
    }
    fail_msg("%s was not called", name);
    return 0;
}

/* Without a transaction whatever is known has its place in the list, so that it is found when it is sent again. */
static void the_list_comes_first(void **state)
{
    (void)state;
    begin();
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -multi"), "OK");
    (void)test_cmd(test_conn, "CONFIG SET slowlog-log-slower-than 0");
    (void)test_cmd(test_conn, "SLOWLOG RESET");
    reeve_status status = put("q", MANY, (reeve_task_spec){0});
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +multi"), "OK");
    (void)test_cmd(test_conn, "CONFIG SET slowlog-log-slower-than -1");
    test_ok(client, status);
    assert_true(last_called("RPUSH", Q "segment:") > last_called("HSET", Q "tasks"));
}

static void a_server_without_transactions(void **state)
{
    (void)state;
    char words[512];
    static const char *const extra[] = {"--rename-command", "MULTI", "", NULL};
    rv_test_redis *redis = test_redis_start(&(test_redis_options){.extra = extra});
    rv_conn *conn = test_conn_open(redis);
    const reeve_client_options options = {.redis = test_redis_url(redis), .timeout_ms = 10000};
    reeve_client_close(client);
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    for (int i = 0; i < 4; i++) test_ok(client, put("q", MANY, (reeve_task_spec){0}));
    assert_string_equal(test_cmd(conn, "HLEN " Q "tasks"), "256");
    assert_non_null(strstr(test_cmd(conn, "INFO commandstats"), "cmdstat_watch:calls=1,"));
    reeve_client_close(client);
    client = NULL;
    rv_conn_destroy(conn);
    test_redis_stop(redis);
}

static void a_user_without_one_of_the_commands(void **state)
{
    char before[64];
    (void)state;
    begin();
    rv_copy_text(before, sizeof(before), test_digest());
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -rpush"), "OK");
    reeve_status status = put("q", MANY, (reeve_task_spec){0});
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +rpush"), "OK");
    test_refused(client, status, REEVE_EREDIS, "NOPERM");
    assert_string_equal(test_digest(), before);
}

/* A bulk insert that is neither given a place nor removed keeps its list, by which the next call finds it. */
static void what_cannot_be_removed_is_found_again(void **state)
{
    (void)state;
    begin();
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -sadd -lrange -hdel"), "OK");
    const reeve_status status = put("q", MANY, (reeve_task_spec){0});
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +sadd +lrange +hdel"), "OK");
    test_refused(client, status, REEVE_EREDIS, "grant this user the command");
    assert_int_equal(test_number("HLEN " Q "tasks"), 2 * MANY);
    const char *list = test_cmd(test_conn, "KEYS " Q "segment:*");
    if (strcmp(list, "[]") == 0) fail_msg("the list of the tasks is gone, and they stay");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(from_the_second_call_on, set_up),
        cmocka_unit_test_setup(what_they_say_of_their_time, set_up),
        cmocka_unit_test_setup(which_are_not, set_up),
        cmocka_unit_test_setup(several_calls_in_one_pipeline, set_up),
        cmocka_unit_test_setup(where_there_are_groups, set_up),
        cmocka_unit_test_setup(where_a_divided_queue_tells_events, set_up),
        cmocka_unit_test_setup(where_there_are_many_segments, set_up),
        cmocka_unit_test_setup(where_events_are_told, set_up),
        cmocka_unit_test_setup(what_was_never_bulk_inserted, set_up),
        cmocka_unit_test_setup(lost_replies, set_up),
        cmocka_unit_test_setup(a_transaction_that_comes_late, set_up),
        cmocka_unit_test_setup(a_transaction_that_comes_as_a_whole, set_up),
        cmocka_unit_test_setup(a_script_that_is_gone, set_up),
        cmocka_unit_test_setup(a_script_that_is_gone_for_all, set_up),
        cmocka_unit_test_setup(no_memory, set_up),
        cmocka_unit_test_setup(a_key_of_another_kind, set_up),
        cmocka_unit_test_setup(a_user_without_transactions, set_up),
        cmocka_unit_test_setup(who_may_not_is_asked_first, set_up),
        cmocka_unit_test_setup(the_list_comes_first, set_up),
        cmocka_unit_test_setup(what_cannot_be_removed_is_found_again, set_up),
        cmocka_unit_test_setup(a_server_without_transactions, set_up),
        cmocka_unit_test_setup(a_user_without_one_of_the_commands, set_up),
    };
    return cmocka_run_group_tests_name("ct_bulk_insert", tests, start, stop);
}
