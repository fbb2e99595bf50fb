/* Results: how large, how long they are kept, and whoever waits for them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/handler_call.h"
#include "reeve/tags.h"
#include "support/limits.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static char *much; /* one byte more than a result may have */

/* Its payload is how many bytes its result has. */
static reeve_outcome large(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, much, (size_t)atoll(reeve_task_payload(task).data));
}

static void put(const char *id, const char *type, const char *payload)
{
    test_put_spec((reeve_task_spec){.id = id, .type = type, .payload = {payload, strlen(payload)}});
}

static reeve_worker *start(void)
{
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "large", large, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

/* ---- size ------------------------------------------------------------------------------------------------------ */

static void as_large_as_there_may_be(void **state)
{
    (void)state;
    char max[32], more[32];
    (void)snprintf(max, sizeof(max), "%u", REEVE_RESULT_MAX);
    (void)snprintf(more, sizeof(more), "%u", REEVE_RESULT_MAX + 1);
    much = calloc(1, REEVE_RESULT_MAX + 1);
    assert_non_null(much);
    reeve_worker *worker = start();
    put("most", "large", max);
    put("more", "large", more);
    TEST_AWAIT_STATE("most", "completed");
    TEST_AWAIT_STATE("more", "dead");
    reeve_task_info *info = test_show("q", "most");
    assert_int_equal(info->result.length, REEVE_RESULT_MAX);
    reeve_task_info_free(info);
    info = test_show("q", "more");
    assert_string_equal(info->error_kind, "result");
    assert_null(info->result.data);
    reeve_task_info_free(info);
    test_worker_end(worker);
    free(much);
}

/* ---- retention ------------------------------------------------------------------------------------------------- */

static void the_newest_are_kept(void **state)
{
    (void)state;
    const reeve_keep two = {.age_ms = -1, .count = 2};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &two}));
    reeve_worker *worker = start();
    for (int i = 0; i < 5; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        put(id, "act", "result r");
        TEST_AWAIT(test_runs[i] == 1 && strcmp(test_state("q", id), "completed") == 0);
    }
    test_worker_end(worker);
    assert_string_equal(test_state("q", "n2"), "");
    assert_int_equal(test_number("HLEN " Q "results"), 2);
    reeve_task_info *info = test_show("q", "n4");
    assert_memory_equal(info->result.data, "r", 1);
    reeve_task_info_free(info);
}

/* ---- many in a turn, with and without; and what else completed tasks leave -------------------------------------- */

static test_hand hand;

/* result: "" where there is none. */
static void check_result(const char *id, const char *result)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    if (*result == '\0') assert_null(info->result.data);
    if (*result != '\0') assert_string_equal(info->result.data, result);
    reeve_task_info_free(info);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results %s", id), *result == '\0' ? "(nil)" : result);
}

/* As they come, each with what is its own; of c and e there is info. */
static const test_outcome mixed[] = {
    TEST_RESULT("a", "first"),
    TEST_DONE("b"),
    {0, {.id = "c", .outcome = REEVE_OUTCOME_DONE, .has_info = true, .has_result = true, .result = {"third", 5}}},
    {0, {.id = "d", .outcome = REEVE_OUTCOME_DONE, .unique = true, .has_result = true, .result = {"fourth", 6}}},
    {0, {.id = "e", .outcome = REEVE_OUTCOME_DONE, .has_info = true}},
    TEST_RESULT("f", "sixth"),
    TEST_DONE("g"),
};
#define MIXED (sizeof(mixed) / sizeof(mixed[0]))

static void settle_mixed(void)
{
    const rv_reply *reply;
    test_hand_init(&hand, "1", "q");
    test_put("q", "a b c");
    test_put_spec((reeve_task_spec){.id = "d", .unique = "k"});
    test_put("q", "e f g");
    assert_int_equal(test_lease(&hand, MIXED), MIXED);
    for (const char *id = "ce"; *id != '\0'; id++) {
        rv_handler_call_progress(test_conn, &hand.prefixes[0], hand.sessions[0], id[0] == 'c' ? "c" : "e", 50, "half");
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
    (void)test_turn(&hand, 0, mixed, MIXED);
    assert_string_equal(hand.refused, "");
}

static void check_mixed(void)
{
    check_result("a", "first");
    check_result("b", "");
    check_result("c", "third");
    check_result("d", "fourth");
    check_result("e", "");
    check_result("f", "sixth");
    check_result("g", "");
    assert_int_equal(test_number("HLEN " Q "results"), 4);
}

static void keep_completed(int64_t age_ms, int64_t count)
{
    const reeve_keep keep = {.age_ms = age_ms, .count = count};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &keep}));
}

/* In a plain queue; with somebody who waits, under a limit, with bytes counted: each takes another way. */
static void each_has_its_own(void **state)
{
    enum { PLAIN, WAITED, LIMITED, COUNTED, WAYS };
    for (int way = PLAIN; way < WAYS; way++) {
        (void)set_up(state);
        if (way == WAITED) (void)test_cmd(test_conn, "HSET " Q "settings waiters 1");
        if (way == LIMITED) test_limit_queue(1000, NULL);
        if (way == COUNTED) (void)test_cmd(test_conn, "HSET " Q "settings completed_bytes 1000");
        settle_mixed();
        check_mixed();
    }
}

static void they_go_with_their_tasks(void **state)
{
    settle_mixed();
    assert_int_equal(test_number("EXISTS " Q "info:c " Q "info:e"), 2);
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_ok(test_client, reeve_delete(test_client, "q", "d"));
    test_ok(test_client, reeve_delete(test_client, "q", "e"));
    assert_int_equal(test_number("EXISTS " Q "info:c " Q "info:e"), 1);
    assert_string_equal(test_cmd(test_conn, "SMEMBERS " Q "completed_extra"), "[c]");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "results a"), "(nil)");
    assert_int_equal(test_number("HLEN " Q "results"), 2);
    keep_completed(-1, 1); /* g is the last */
    test_maintain_all("q");
    assert_int_equal(test_count("q", "completed"), 1);
    assert_int_equal(test_number("EXISTS " Q "results " Q "completed_extra " Q "info:c"), 0);
    (void)set_up(state);
    keep_completed(-1, 2);
    settle_mixed();
    assert_int_equal(test_count("q", "completed"), 2);
    assert_int_equal(test_number("HLEN " Q "results"), 1);
    check_result("f", "sixth");
    assert_int_equal(test_number("EXISTS " Q "completed_extra " Q "info:c " Q "info:e"), 0);
    (void)set_up(state);
    settle_mixed();
    keep_completed(1, -1);
    TEST_AWAIT((test_maintain_all("q"), test_count("q", "completed") == 0));
    assert_int_equal(test_number("EXISTS " Q "results " Q "completed_extra " Q "info:c " Q "info:e"), 0);
}

static void none_where_none_are_kept(void **state)
{
    for (int counted = 0; counted < 2; counted++) {
        (void)set_up(state);
        keep_completed(counted ? -1 : 0, counted ? 0 : -1);
        if (counted) (void)test_cmd(test_conn, "HSET " Q "settings completed_bytes 1000 waiters 1");
        settle_mixed();
        assert_int_equal(test_number("EXISTS " Q "tasks " Q "completed " Q "results " Q "result_sizes " Q
                                     "completed_extra " Q "info:c " Q "info:e"),
                         0);
    }
}

/* What the session does not hold any more leaves nothing; those beside it do. */
static void not_of_one_that_is_refused(void **state)
{
    (void)state;
    test_hand_init(&hand, "1", "q");
    test_put("q", "a b c");
    assert_int_equal(test_lease(&hand, 3), 3);
    test_settle(&hand, TEST_DONE("b"));
    test_settle(&hand, TEST_RESULT("a", "one"), TEST_RESULT("b", "two"), TEST_RESULT("c", "three"));
    assert_string_equal(hand.refused, "b");
    check_result("a", "one");
    check_result("b", "");
    check_result("c", "three");
    assert_int_equal(test_number("HLEN " Q "results"), 2);
}

/* A reply has 2 MiB of envelopes and results, and what the last task has beyond that. */
static void a_page_of_large_ones_ends_early(void **state)
{
    (void)state;
    enum { SIZE = 1280 * 1024 };
    static const char *const tags[] = {"w"}, *const ids[] = {"a", "b", "c"};
    reeve_task_info **list;
    size_t count;
    uint64_t total;
    int64_t next;
    much = calloc(1, SIZE);
    assert_non_null(much);
    test_hand_init(&hand, "1", "q");
    for (int i = 0; i < 3; i++) {
        const test_outcome done = {
            0, {.id = ids[i], .outcome = REEVE_OUTCOME_DONE, .has_result = true, .result = {much, SIZE}}};
        test_put_spec((reeve_task_spec){.id = ids[i], .tags = tags, .tag_count = 1});
        assert_int_equal(test_lease(&hand, 1), 1);
        (void)test_turn(&hand, 0, &done, 1);
    }
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_COMPLETED, 0, 10, &list, &count, &total));
    assert_int_equal(total, 3);
    assert_int_equal(count, 2);
    reeve_task_list_free(list, count);
    test_ok(test_client, reeve_list_tag(test_client, "q", "w", NULL, 0, 10, &list, &count, &next));
    assert_int_equal(count, 2);
    assert_int_equal(next, 2);
    reeve_task_list_free(list, count);
    free(much);
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* Waits for q/x on a client of its own. */
typedef struct waiting {
    pthread_t thread;
    int64_t timeout_ms;
    reeve_status status;
    int64_t ended_us;
    char result[16];
} waiting;

static void *wait_for_x(void *argument)
{
    waiting *w = argument;
    reeve_client *client = test_client_open(20000);
    reeve_task_info *info = NULL;
    w->status = reeve_wait(client, "q", "x", w->timeout_ms, &info);
    w->ended_us = rv_now_us();
    if (info != NULL && info->result.data != NULL) rv_copy_text(w->result, sizeof(w->result), info->result.data);
    reeve_task_info_free(info);
    reeve_client_close(client);
    return NULL;
}

static void begin_waiting(waiting *w)
{
    *w = (waiting){.timeout_ms = 20000};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_x, w), 0);
    TEST_AWAIT(test_number("ZCARD " Q "waiters") == 1);
}

/* It hears of each end in less time than any poll would take. */
static void whoever_waits_hears_of_it_at_once(void **state)
{
    (void)state;
    static const struct {
        test_outcome outcome;
        reeve_status status;
        const char *result;
    } ends[] = {
        {TEST_RESULT("x", "r"), REEVE_OK, "r"}, {TEST_DONE("x"), REEVE_OK, ""}, {TEST_FAIL("x"), REEVE_EDEAD, ""}};
    int64_t best_us = INT64_MAX;
    for (int round = 0; round < 9; round++) {
        waiting w;
        test_hand_init(&hand, "1", "q");
        test_put("q", "x");
        (void)test_lease(&hand, 1);
        begin_waiting(&w);
        int64_t began_us = rv_now_us();
        (void)test_turn(&hand, 0, &ends[round % 3].outcome, 1);
        assert_int_equal(pthread_join(w.thread, NULL), 0);
        assert_int_equal(w.status, ends[round % 3].status);
        assert_string_equal(w.result, ends[round % 3].result);
        if (w.ended_us - began_us < best_us) best_us = w.ended_us - began_us;
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
    }
    assert_in_range(best_us, 0, 50000); /* (a fraction of a millisecond where the machine has time) */
}

static void what_is_gone_or_dead_fails_fast(void **state)
{
    (void)state;
    waiting w;
    test_hand_init(&hand, "1", "q");
    int64_t began = rv_now_ms();
    test_refused(test_client, reeve_wait(test_client, "q", "none", 60000, NULL), REEVE_ENOTFOUND, "no task q/none");
    test_put("q", "x");
    begin_waiting(&w);
    test_ok(test_client, reeve_delete(test_client, "q", "x"));
    assert_int_equal(pthread_join(w.thread, NULL), 0);
    assert_int_equal(w.status, REEVE_ENOTFOUND);
    test_put("q", "x");
    begin_waiting(&w);
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    assert_int_equal(pthread_join(w.thread, NULL), 0);
    assert_int_equal(w.status, REEVE_ECANCELLED);
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_FAIL("x"));
    test_refused(test_client, reeve_wait(test_client, "q", "x", 60000, NULL), REEVE_EDEAD, "k: m");
    test_put_spec((reeve_task_spec){.id = "late", .deadline_ms = 1});
    test_maintain_all("q");
    test_refused(test_client, reeve_wait(test_client, "q", "late", 60000, NULL), REEVE_EDEAD, "expired");
    assert_true(rv_now_ms() - began < 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_large_as_there_may_be, set_up),
        cmocka_unit_test_setup(the_newest_are_kept, set_up),
        cmocka_unit_test_setup(each_has_its_own, set_up),
        cmocka_unit_test_setup(they_go_with_their_tasks, set_up),
        cmocka_unit_test_setup(none_where_none_are_kept, set_up),
        cmocka_unit_test_setup(not_of_one_that_is_refused, set_up),
        cmocka_unit_test_setup(a_page_of_large_ones_ends_early, set_up),
        cmocka_unit_test_setup(whoever_waits_hears_of_it_at_once, set_up),
        cmocka_unit_test_setup(what_is_gone_or_dead_fails_fast, set_up),
    };
    return cmocka_run_group_tests_name("ct_results", tests, test_place_start, test_place_stop);
}
