/* The ways in which tasks may come to enqueue.lua, as any language may send them: plainly, to threads that are idle,
 * and wrongly; and what that costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "reeve/watch.h"
#include "support/costs.h"
#include "support/queue.h"

#define Q "reeve:{q}:"
#define REST "\"type\":\"t\"}\n"
#define ARGS(...)                                                                            \
    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), (const char *const[]) \
    {                                                                                        \
        __VA_ARGS__                                                                          \
    }

static const char *const ways[] = {"plain", "idle"};
static test_hand first, second;

static const char *send(size_t count, const char *const args[])
{
    const rv_reply *reply = NULL;
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, count);
    rv_args(test_conn, Q);
    for (size_t i = 0; i < count; i++) rv_args(test_conn, args[i]);
    (void)rv_conn_call(test_conn, 0, &reply);
    assert_non_null(reply);
    return test_reply_text(reply);
}

static const char *send_one(const char *way, const char *id)
{
    return send(ARGS(way, id, REST));
}

static void go_idle(test_hand *hand)
{
    hand->hand = RV_HAND_IDLE;
    assert_int_equal(test_lease(hand, 1), 0);
    assert_true(hand->idle);
}

/* Two threads with nothing to do, the second one first in line. */
static void place_two(void)
{
    (void)test_place_empty(NULL);
    test_hand_begin(&first, "1", "q");
    test_hand_begin(&second, "1", "q");
    go_idle(&first);
    go_idle(&second);
}

static const char *idle_list(void)
{
    return test_cmd(test_conn, "LRANGE " Q "idle 0 -1");
}

static const char *handed(const test_hand *hand)
{
    return test_cmd(test_conn, "LRANGE " Q "hand:%s:1 0 -1", hand->sessions[0]);
}

static void expect_handed(const test_hand *hand, const char *id)
{
    char words[64];
    (void)snprintf(words, sizeof(words), " %s\n{\"at\":", id);
    if (strstr(handed(hand), words) == NULL) fail_msg("%s was not handed over: %s", id, handed(hand));
    assert_string_equal(test_state("q", id), "running");
}

/* What nobody was handed is ready, in `order`, and a token tells of it. */
static void expect_ready(const char *id)
{
    assert_string_equal(test_state("q", id), "ready");
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_string_equal(idle_list(), "[]");
}

/* ---- wrong calls ------------------------------------------------------------------------------------------------- */

/* Nothing is done, nobody is forgotten, and it is said why. */
static void wrong_calls(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        const char *args[6];
        const char *said;
    } rows[] = {
        {0, {NULL}, "ARGV[1] is none of"},
        {1, {""}, "ARGV[1] is none of"},
        {4, {"2", "a", "", REST}, "ARGV[1] is none of"},
        {3, {"Plain", "a", REST}, "ARGV[1] is none of"},
        {2, {"plain", "a"}, "1 arguments after ARGV[1], which are 2 for each task"},
        {2, {"idle", "a"}, "1 arguments after ARGV[1], which are 2"},
        {4, {"plain", "a", "b", REST}, "3 arguments after ARGV[1], which are 2"},
        {4, {"idle", "a", "b", REST}, "3 arguments after ARGV[1], which are 2"},
        {6, {"plain", "a", "b", "c", REST, REST}, "5 arguments after ARGV[1], which are 2"},
        {2, {"0", "a"}, "1 arguments after ARGV[1], which are 3"},
        {3, {"1", "a", ""}, "2 arguments after ARGV[1], which are 3"},
        {6, {"0", "a", "", REST, "b", REST}, "5 arguments after ARGV[1], which are 3"},
    };
    place_two();
    char before[64];
    rv_copy_text(before, sizeof(before), test_digest());
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *said = send(rows[i].count, rows[i].args);
        if (strstr(said, rows[i].said) == NULL) fail_msg("%zu: %s", i, said);
        if (strcmp(test_digest(), before) != 0) fail_msg("%zu: it changed something", i);
    }
}

static void no_tasks(void **state)
{
    (void)state;
    static const char *const each[] = {"0", "1", "plain", "idle"};
    place_two();
    char before[64];
    rv_copy_text(before, sizeof(before), test_digest());
    for (size_t i = 0; i < 4; i++) assert_string_equal(send(1, &each[i]), "[]");
    assert_string_equal(test_digest(), before);
}

/* ---- to threads that are idle ------------------------------------------------------------------------------------ */

static void those_that_are_there(const char *way)
{
    place_two();
    assert_string_equal(send_one(way, "a"), "2");
    expect_handed(&second, "a");
    assert_string_equal(send(ARGS("1", "a", "", REST)), "[1]"); /* (its reply was lost) */
    assert_string_equal(send_one(way, "b"), "2");
    expect_handed(&first, "b");
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", second.sessions[0]), 1);
    assert_string_equal(send_one(way, "c"), "1");
    expect_ready("c");
    assert_string_equal(send_one(way, "d"), "1");
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "ready 0 -1"), "[c d]");
}

static void whoever_is_not_told_stays(const char *way)
{
    char before[256];
    place_two();
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 3600000});
    rv_copy_text(before, sizeof(before), idle_list());
    assert_string_equal(send_one(way, "a"), "[0]");
    assert_string_equal(idle_list(), before);
    assert_string_equal(send_one(way, "b"), "2");
    expect_handed(&second, "b");
}

/* It is not for an idle thread alone: somebody is told to look. */
static void several(const char *way)
{
    place_two();
    assert_true(atoll(send(ARGS(way, "a", "b", REST, REST))) > 1000000); /* (the time) */
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "ready 0 -1"), "[a b]");
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", second.sessions[0]), 1);
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", first.sessions[0]), 0);
    assert_string_equal(send(ARGS(way, "c", "b", "d", "c", REST, REST, REST, REST)), "[1 0 1 0]");
    assert_string_equal(send(ARGS(way, "e", "f", "e", REST, REST, REST)), "[1 1 0]");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "ready 0 -1"), "[a b c d e f]");
}

/* Nothing is handed over before it; somebody is told of both. A session that is over is told nothing. */
static void something_is_ready(const char *way)
{
    place_two();
    (void)test_cmd(test_conn, "HSET " Q "tasks z {\"at\":1,");
    (void)test_cmd(test_conn, "ZADD " Q "ready 1 z");
    (void)test_cmd(test_conn, "DEL " Q "running:%s", second.sessions[0]);
    assert_string_equal(send_one(way, "a"), "1");
    assert_string_equal(test_state("q", "a"), "ready");
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", first.sessions[0]), 1);
    assert_int_equal(test_number("EXISTS " Q "hand:%s:1", second.sessions[0]), 0);
    assert_string_equal(idle_list(), "[]");
}

static void a_session_that_is_over(const char *way)
{
    place_two();
    (void)test_cmd(test_conn, "DEL " Q "running:%s", second.sessions[0]);
    assert_string_equal(send_one(way, "a"), "2");
    expect_handed(&first, "a");
    place_two();
    (void)test_cmd(test_conn, "DEL " Q "running:%s " Q "running:%s", second.sessions[0], first.sessions[0]);
    assert_string_equal(send_one(way, "a"), "1");
    expect_ready("a");
}

/* All are told to look, as they may be there after all; another's session is told by its own worker's channel. */
static void a_worker_that_is_gone(const char *way)
{
    place_two();
    test_heed_no_more();
    assert_string_equal(send_one(way, "a"), "1");
    expect_ready("a");
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", second.sessions[0]), 1);
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", first.sessions[0]), 1);
    place_two();
    assert_true(atoll(send(ARGS(way, "a", "b", REST, REST))) > 1000000);
    expect_ready("a");
    test_heed();
    place_two();
    char alien[] = "alien-00000001";
    (void)test_cmd(test_conn, "COPY " Q "running:%s " Q "running:%s", second.sessions[0], alien);
    (void)test_cmd(test_conn, "LPUSH " Q "idle %s:1", alien);
    assert_string_equal(send_one(way, "a"), "2");
    expect_handed(&second, "a");
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", alien), 1);
}

/* An access list that does not let producers ask who listens. */
static void who_may_not_ask(const char *way)
{
    place_two();
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -pubsub"), "OK");
    assert_string_equal(send_one(way, "a"), "1");
    expect_ready("a");
    (void)test_cmd(test_conn, "DEL " Q "wake");
    (void)test_cmd(test_conn, "LPUSH " Q "idle %s:1", first.sessions[0]);
    assert_true(atoll(send(ARGS(way, "b", "c", REST, REST))) > 1000000);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +pubsub"), "OK");
    expect_ready("b");
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", second.sessions[0]), 1);
}

static void where_events_are_told(const char *way)
{
    place_two();
    test_ok(test_client, reeve_events_keep(test_client, "q", 100));
    assert_string_equal(send_one(way, "a"), "[1]");
    expect_ready("a");
    assert_string_equal(send(ARGS(way, "b", "c", REST, REST)), "[1 1]");
    assert_int_equal(test_number("XLEN " Q "events"), 2);
    test_ok(test_client, reeve_pause(test_client, "q"));
    assert_string_equal(send_one(way, "d"), "[1]");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "ready 0 -1"), "[a b c d]");
}

static void large_ones(const char *way)
{
    static char rest[65537 + 1];
    memset(rest, 'x', sizeof(rest) - 1);
    memcpy(rest, REST, strlen(REST));
    place_two();
    assert_string_equal(send_one(way, "s"), "2");
    assert_string_equal(send(ARGS(way, "l", rest)), "[1]");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings large"), "1");
    assert_string_equal(idle_list(), "[]"); /* (it was told to look) */
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", first.sessions[0]), 1);
    place_two();
    assert_string_equal(send(ARGS(way, "l", "m", REST, rest)), "[1 1]");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings large"), "1");
    place_two();
    rest[65536] = '\0';
    assert_string_equal(send(ARGS(way, "l", rest)), "2");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings large"), "(nil)");
    rest[65536] = 'x';
}

static void each_way(void **state)
{
    (void)state;
    static void (*const tries[])(const char *) = {
        those_that_are_there, whoever_is_not_told_stays, several,
        something_is_ready,   a_session_that_is_over,    a_worker_that_is_gone,
        who_may_not_ask,      where_events_are_told,     large_ones};
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        for (size_t way = 0; way < 2; way++) tries[i](ways[way]);
    }
}

/* ---- a client ---------------------------------------------------------------------------------------------------- */

/* Its next calls come the other way: what they are told is read the same. */
static void a_client_whose_task_was_handed_over(void **state)
{
    (void)state;
    reeve_enqueued results[3];
    reeve_task_spec specs[] = {{.queue = "q", .type = "no good", .id = "x"},
                               {.queue = "q", .type = "t", .id = "b"},
                               {.queue = "q", .type = "", .id = "y"}};
    place_two();
    test_put("q", "a");
    expect_handed(&second, "a");
    reeve_task_spec again = {.queue = "q", .type = "t", .id = "a"};
    test_refused(test_client, reeve_enqueue(test_client, &again, NULL), REEVE_EEXISTS, "a task q/a exists already");
    place_two();
    test_put("q", "a");
    assert_int_equal(reeve_enqueue_many(test_client, specs, 3, results), REEVE_EINVAL);
    expect_handed(&first, "b");
    assert_int_equal(results[0].status, REEVE_EINVAL);
    assert_int_equal(results[1].status, REEVE_OK);
    assert_int_equal(results[2].status, REEVE_EINVAL);
    assert_string_equal(results[1].id, "b");
    place_two();
    test_put("q", "a");
    specs[0].type = specs[2].type = "t";
    specs[2].id = "a";
    assert_int_equal(reeve_enqueue_many(test_client, specs, 3, results), REEVE_EEXISTS);
    assert_int_equal(results[0].status, REEVE_OK);
    assert_int_equal(results[1].status, REEVE_OK);
    assert_int_equal(results[2].status, REEVE_EEXISTS);
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "ready 0 -1"), "[x b]");
    assert_int_equal(test_number("LLEN " Q "hand:%s:1", first.sessions[0]), 1);
}

#define HANDED "evalsha=1 exists=1 hset=1 hsetnx=1 lpop=1 lpush=1 pubsub|numsub=1 time=1"
#define FIRST_HANDED "evalsha=1 exists=1 hincrby=1 hset=1 hsetnx=1 lpop=1 lpush=1 pubsub|numsub=1 time=1"
#define TOLD "evalsha=1 hincrby=1 hmget=1 hset=1 hsetnx=1 llen=2 lpop=2 lpush=1 time=1 zadd=1"
#define NOT_HANDED "evalsha=1 hincrby=1 hmget=1 hset=1 hsetnx=1 llen=1 lpop=1 time=1 zadd=1"
#define PLAIN "evalsha=1 hincrby=1 hsetnx=1 time=1 zadd=1"

static void expect_cost(const char *id, const char *expected)
{
    test_costs_reset();
    test_put("q", id);
    test_costs now = test_costs_read();
    assert_string_equal(test_costs_text(&now), expected);
}

/* It looks for idle threads first as long as there were any. */
static void what_it_costs(void **state)
{
    (void)state;
    place_two();
    (void)send_one("plain", "x"); /* (so that the script is known) */
    place_two();
    expect_cost("a", FIRST_HANDED);
    expect_cost("b", HANDED);
    expect_cost("c", TOLD);
    expect_cost("d", NOT_HANDED);
    expect_cost("e", PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_calls),   cmocka_unit_test(no_tasks),
        cmocka_unit_test(each_way),      cmocka_unit_test(a_client_whose_task_was_handed_over),
        cmocka_unit_test(what_it_costs),
    };
    return cmocka_run_group_tests_name("ct_enqueue_ways", tests, test_place_start, test_place_stop);
}
