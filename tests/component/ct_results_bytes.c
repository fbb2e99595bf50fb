/* Completed tasks kept by how many bytes their results have, and results refused for theirs. */
#include <stdlib.h>
#include <string.h>

#include "protocol/turn_reply.h"
#include "reeve/dead.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static char bytes[4096];
static test_hand hand;

static int set_up(void **state)
{
    int failed = test_place_empty(state);
    test_close_gate();
    test_hand_init(&hand, "1", "q");
    return failed;
}

static void keep_bytes(int64_t max)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &max}));
}

static void keep(int64_t age_ms, int64_t count)
{
    const reeve_keep completed = {.age_ms = age_ms, .count = count};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &completed}));
}

/* Makes a task with that id and completes it, with a result of so many bytes (0: without). */
static void complete(const char *id, size_t length)
{
    const test_outcome done = {
        0, {.id = id, .outcome = REEVE_OUTCOME_DONE, .has_result = length > 0, .result = {bytes, length}}};
    test_put("q", id);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, id);
    (void)test_turn(&hand, 0, &done, 1);
    assert_string_equal(hand.refused, "");
}

/* What is counted is what there is: the results of completed tasks. */
static long long counted(void)
{
    long long sum = 0, ids = 0;
    reeve_task_info **list;
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_COMPLETED, 0, 1000, &list, &count, &total));
    assert_int_equal(count, total);
    for (size_t i = 0; i < count; i++) {
        if (list[i]->result.data == NULL) continue;
        assert_int_equal(test_number("HGET " Q "result_sizes %s", list[i]->id), list[i]->result.length);
        sum += (long long)list[i]->result.length;
        ids++;
    }
    reeve_task_list_free(list, count);
    assert_int_equal(test_number("HLEN " Q "results"), ids);
    assert_int_equal(test_number("HLEN " Q "result_sizes") - test_number("HEXISTS " Q "result_sizes #") -
                         test_number("HEXISTS " Q "result_sizes @"),
                     ids);
    if (test_number("HEXISTS " Q "result_sizes #") == 1) assert_int_equal(test_number("HGET " Q "result_sizes #"), sum);
    assert_int_equal(test_number("HLEN " Q "tasks"), total);
    return sum;
}

#define STATE(id, state) assert_string_equal(test_state("q", id), state)

/* ---- the edges ------------------------------------------------------------------------------------------------- */

static void up_to_the_limit(void **state)
{
    (void)state;
    keep_bytes(100);
    complete("a", 40);
    complete("b", 59);
    assert_int_equal(counted(), 99);
    complete("c", 1);
    assert_int_equal(counted(), 100);
    STATE("a", "completed");
    complete("d", 1);
    STATE("a", "");
    STATE("b", "completed");
    assert_int_equal(counted(), 61);
    assert_int_equal(test_number("HEXISTS " Q "results a"), 0);
    complete("e", 98);
    STATE("b", "");
    assert_int_equal(counted(), 100);
    complete("f", 100);
    assert_int_equal(counted(), 100);
    STATE("f", "completed");
    assert_int_equal(test_count("q", "completed"), 1);
}

static void larger_than_all(void **state)
{
    (void)state;
    keep_bytes(100);
    complete("a", 10);
    complete("b", 101);
    STATE("a", "");
    STATE("b", "");
    assert_int_equal(counted(), 0);
    complete("c", 100);
    STATE("c", "completed");
}

/* What is kept is the newest, with a result or without. */
static void those_without(void **state)
{
    (void)state;
    keep_bytes(100);
    complete("a", 0);
    complete("b", 100);
    complete("c", 0);
    complete("d", 0);
    assert_int_equal(test_count("q", "completed"), 4);
    complete("e", 1);
    STATE("a", "");
    STATE("b", "");
    STATE("c", "completed");
    assert_int_equal(counted(), 1);
}

static void without_a_limit(void **state)
{
    (void)state;
    complete("a", 1000);
    complete("b", 1000);
    assert_int_equal(test_number("EXISTS " Q "result_sizes"), 0);
    assert_int_equal(test_count("q", "completed"), 2);
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    assert_int_equal(test_number("EXISTS " Q "result_sizes"), 0);
}

static void where_none_are_kept(void **state)
{
    (void)state;
    keep_bytes(100);
    complete("a", 60);
    keep(0, -1);
    complete("b", 60);
    STATE("b", "");
    assert_int_equal(test_number("HEXISTS " Q "results b"), 0);
    test_maintain_all("q");
    STATE("a", "");
    keep(3600000, 0);
    complete("c", 60);
    STATE("c", "");
    assert_int_equal(counted(), 0);
}

/* ---- said later, changed, taken away ---------------------------------------------------------------------------- */

static void those_before(void **state)
{
    (void)state;
    char id[16];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(id, sizeof(id), "n%03d", i);
        complete(id, i % 3 == 0 ? 0 : 10);
    }
    keep_bytes(1000);
    complete("new", 10);
    test_maintained maintained = test_maintain("q", 50);
    assert_true(maintained.more);
    assert_true(test_number("HLEN " Q "result_sizes") < 150);
    test_maintain_all("q");
    assert_int_equal(counted(), 1000);
    STATE("new", "completed");
    STATE("n299", "completed");
    STATE("n100", "");
    assert_false(test_maintain("q", 50).more);
    keep_bytes(500);
    assert_true(test_maintain("q", 50).more);
    test_maintain_all("q");
    assert_int_equal(counted(), 500);
    keep_bytes(2000);
    complete("more", 100);
    assert_int_equal(counted(), 600);
}

static void taken_away(void **state)
{
    (void)state;
    keep_bytes(100);
    complete("a", 60);
    keep_bytes(0);
    assert_int_equal(test_number("EXISTS " Q "result_sizes"), 0);
    assert_int_equal(test_number("HEXISTS " Q "settings completed_bytes"), 0);
    complete("b", 60);
    STATE("a", "completed");
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "result_sizes"), 0);
    keep_bytes(100);
    test_maintain_all("q");
    STATE("a", "");
    assert_int_equal(counted(), 60);
}

static void much_at_once(void **state)
{
    (void)state;
    char id[16];
    keep_bytes(1000);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(id, sizeof(id), "n%03d", i);
        complete(id, 5);
    }
    assert_int_equal(counted(), 1000);
    /* A few in the step itself; the rest is for whoever tends. */
    complete("z", 900);
    assert_in_range(test_count("q", "completed"), 180, 190);
    test_maintain_all("q");
    assert_int_equal(counted(), 1000);
    assert_int_equal(test_count("q", "completed"), 21);
}

/* ---- what goes frees its bytes --------------------------------------------------------------------------------- */

static void what_goes(void **state)
{
    (void)state;
    keep_bytes(1000);
    complete("a", 10);
    complete("b", 20);
    complete("c", 40);
    complete("d", 80);
    complete("e", 160);
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    assert_int_equal(counted(), 290);
    keep(-1, 3);
    test_maintain_all("q");
    STATE("a", "");
    assert_int_equal(counted(), 280);
    complete("f", 5);
    STATE("c", "");
    assert_int_equal(counted(), 245);
    keep(1, 3);
    TEST_AWAIT((test_maintain_all("q"), test_count("q", "completed") == 0));
    assert_int_equal(counted(), 0);
    assert_int_equal(test_number("HGET " Q "result_sizes #"), 0);
}

static void with_tags(void **state)
{
    (void)state;
    const char *tags[] = {"x"};
    keep_bytes(50);
    test_put_spec((reeve_task_spec){.id = "tagged", .tags = tags, .tag_count = 1});
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_RESULT("tagged", "0123456789"));
    assert_int_equal(test_number("ZCARD " Q "tag:x"), 1);
    complete("z", 45);
    STATE("tagged", "");
    assert_int_equal(test_number("EXISTS " Q "tag:x"), 0);
    assert_int_equal(counted(), 45);
}

static void at_random(void **state)
{
    (void)state;
    char id[16];
    unsigned chance = 12345;
    for (int i = 0; i < 400; i++) {
        chance = chance * 1103515245u + 12345u;
        unsigned what = chance >> 16;
        (void)snprintf(id, sizeof(id), "n%d", (int)(what % 60));
        if (what % 41 == 0) keep_bytes(what % 3 == 0 ? 0 : 200 + what % 500);
        if (what % 37 == 0) keep(-1, what % 40);
        if (what % 5 == 0) {
            (void)reeve_delete(test_client, "q", id);
        } else if (strcmp(test_state("q", id), "") == 0) {
            complete(id, what % 4 == 0 ? 0 : what % 90);
        }
        if (what % 7 == 0) test_maintain_all("q");
        if (what % 7 == 0 && test_number("EXISTS " Q "result_sizes") == 1) (void)counted();
    }
}

/* ---- results that are refused ---------------------------------------------------------------------------------- */

/* Its payload is how long its result is; when that is refused, and there is a second number, that is the next try. */
static reeve_outcome answer(reeve_task *task, void *user)
{
    char *rest;
    size_t length = strtoul(reeve_task_payload(task).data, &rest, 10);
    (void)user;
    reeve_outcome outcome = reeve_task_done(task, bytes, length);
    if (outcome == REEVE_OUTCOME_DONE || *rest == '\0') return outcome;
    TEST_MUST(outcome == REEVE_OUTCOME_FAIL);
    TEST_MUST(strstr(reeve_task_call_error(task), "result_max of the queue q") != NULL);
    return reeve_task_done(task, bytes, strtoul(rest, NULL, 10));
}

static void say_result_max(int64_t max)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.result_max = &max}));
}

static void put_answer(const char *id, const char *payload)
{
    test_put_spec((reeve_task_spec){.id = id, .type = "answer", .payload = {payload, strlen(payload)}});
}

static void check_answer(const char *id, size_t length)
{
    reeve_task_info *info;
    test_ok(test_client, reeve_wait(test_client, "q", id, 15000, &info));
    assert_int_equal(info->result.length, length);
    reeve_task_info_free(info);
}

static void check_refused(const char *id, const char *words)
{
    reeve_task_info *info;
    assert_int_equal(reeve_wait(test_client, "q", id, 15000, &info), REEVE_EDEAD);
    assert_string_equal(info->error_kind, "result");
    assert_string_equal(info->error_message, words);
    assert_null(info->result.data);
    reeve_task_info_free(info);
}

static reeve_worker *start(int64_t result_limit)
{
    const reeve_worker_options options = {.size_limits = {.result = result_limit}};
    reeve_worker *worker = test_worker_new(&options);
    assert_int_equal(reeve_worker_handle(worker, "answer", answer, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void too_large(void **state)
{
    (void)state;
    say_result_max(100);
    reeve_worker *worker = start(0);
    put_answer("below", "99");
    put_answer("at", "100");
    put_answer("above", "101");
    put_answer("shorter", "101 100");
    put_answer("none", "0");
    check_answer("below", 99);
    check_answer("at", 100);
    check_refused("above",
                  "the result has 101 bytes: at most 100 (result_max of the queue q raises it, up to 16777216)");
    check_answer("shorter", 100);
    check_answer("none", 0);
    reeve_worker_destroy(worker);
}

static bool is_refused_now(int round)
{
    char id[32];
    reeve_task_info *info;
    (void)snprintf(id, sizeof(id), "r%d", round);
    put_answer(id, "150");
    reeve_status status = reeve_wait(test_client, "q", id, 15000, &info);
    reeve_task_info_free(info);
    return status == REEVE_EDEAD;
}

/* Said to a worker that runs. */
static void changed(void **state)
{
    (void)state;
    int round = 0;
    reeve_worker *worker = start(0);
    assert_false(is_refused_now(round++));
    say_result_max(149);
    TEST_AWAIT(is_refused_now(round++));
    say_result_max(150);
    TEST_AWAIT(!is_refused_now(round++));
    say_result_max(149);
    TEST_AWAIT(is_refused_now(round++));
    say_result_max(0);
    TEST_AWAIT(!is_refused_now(round++));
    assert_int_equal(test_number("HEXISTS " Q "settings result_max"), 0);
    reeve_worker_destroy(worker);
}

/* With the beginning of the session, and when the queue is tended; the setting says that it is to be. */
static void told(void **state)
{
    (void)state;
    const rv_reply *reply;
    rv_begin_session_reply begun;
    assert_string_equal(test_cmd(test_conn, "CONFIG RESETSTAT"), "OK");
    say_result_max(100);
    assert_non_null(strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_publish:calls=1,"));
    rv_begin_session_call_build(test_conn, &hand.prefixes[0], hand.sessions[0], 60000, "{}");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_begin_session_call_read(&begun, reply));
    assert_int_equal(begun.policy->length, 0);
    assert_int_equal(begun.result_max, 100);
    assert_int_equal(begun.payload_max, 0);
    assert_int_equal(test_maintain("q", 100).result_max, 100);
    say_result_max(0);
    assert_int_equal(test_maintain("q", 100).result_max, 0);
}

/* The lower one holds. */
static void and_a_guard(void **state)
{
    (void)state;
    say_result_max(100);
    reeve_worker *worker = start(50);
    put_answer("a", "51");
    check_refused("a", "the result has 51 bytes: at most 50 (size_limits.result raises it, up to 16777216)");
    put_answer("b", "101");
    check_refused("b", "the result has 101 bytes: at most 50 (size_limits.result raises it, up to 16777216)");
    put_answer("c", "50");
    check_answer("c", 50);
    reeve_worker_destroy(worker);
}

/* It is told with a policy, or alone. */
static void with_a_policy(void **state)
{
    (void)state;
    const reeve_queue_policy policy = {.attempts = 2};
    const int64_t max = 100;
    test_ok(test_client,
            reeve_queue_set(test_client, "q", &(reeve_queue_settings){.policy = &policy, .result_max = &max}));
    reeve_worker *worker = start(0);
    put_answer("a", "101");
    check_refused("a", "the result has 101 bytes: at most 100 (result_max of the queue q raises it, up to 16777216)");
    reeve_worker_destroy(worker);
}

/* ---- settings -------------------------------------------------------------------------------------------------- */

static void settings(void **state)
{
    (void)state;
    reeve_queue_settings *held;
    test_ok(test_client, reeve_queue_settings_get(test_client, "q", &held));
    assert_int_equal(*held->result_max, 0);
    assert_int_equal(*held->completed_bytes, 0);
    reeve_queue_settings_free(held);
    say_result_max(REEVE_RESULT_MAX);
    keep_bytes(1);
    test_ok(test_client, reeve_queue_settings_get(test_client, "q", &held));
    assert_int_equal(*held->result_max, REEVE_RESULT_MAX);
    assert_int_equal(*held->completed_bytes, 1);
    assert_int_equal(held->completed->count, 10000);
    test_ok(test_client, reeve_queue_set(test_client, "p", held));
    reeve_queue_settings_free(held);
    assert_int_equal(test_number("HGET reeve:{p}:settings completed_bytes"), 1);
    assert_int_equal(test_number("HGET reeve:{p}:settings result_max"), REEVE_RESULT_MAX);
    static const int64_t bad[] = {-1, (int64_t)REEVE_RESULT_MAX + 1, INT64_C(1000000000000001)};
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.result_max = &bad[0]}),
                 REEVE_EINVAL, "result_max -1: must be from 1 to 16777216, or 0");
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.result_max = &bad[1]}),
                 REEVE_EINVAL, "result_max 16777217: must be");
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &bad[0]}),
                 REEVE_EINVAL, "keep.completed.bytes -1: must be from 1 to 1000000000000000");
    test_refused(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &bad[2]}),
                 REEVE_EINVAL, "keep.completed.bytes 1000000000000001: must");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {TEST(up_to_the_limit),
                                       TEST(larger_than_all),
                                       TEST(those_without),
                                       TEST(without_a_limit),
                                       TEST(where_none_are_kept),
                                       TEST(those_before),
                                       TEST(taken_away),
                                       TEST(much_at_once),
                                       TEST(what_goes),
                                       TEST(with_tags),
                                       TEST(at_random),
                                       TEST(too_large),
                                       TEST(changed),
                                       TEST(and_a_guard),
                                       TEST(with_a_policy),
                                       TEST(told),
                                       TEST(settings)};
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
