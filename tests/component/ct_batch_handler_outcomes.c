/* Handlers that take many tasks in a call: what becomes of each, and of those that wait when the worker ends. */
#include <stdio.h>
#include <string.h>

#include "support/collect.h"
#include "support/user.h"

#define Q "reeve:{q}:"

/* ---- outcomes --------------------------------------------------------------------------------------------------- */

static void each_has_its_own(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(7, TEST_LONG_MS);
    test_collect_put("done", "");
    test_collect_put("retry", "retry");
    test_collect_put("fail", "fail");
    test_collect_put("snooze", "snooze");
    test_collect_put("none", "none");
    test_put_spec((reeve_task_spec){.id = "last", .type = "collect", .payload = {"retry", 5}, .attempts = 1});
    test_collect_put("too", "");
    TEST_AWAIT_STATE("too", "completed");
    assert_int_equal(test_collected.calls, 1);
    test_expect_result("done", "7");
    assert_string_equal(test_state("q", "done"), "completed");
    assert_string_equal(test_state("q", "retry"), "scheduled");
    test_expect_kind("retry", "again");
    assert_string_equal(test_state("q", "fail"), "dead");
    test_expect_kind("fail", "bad");
    assert_string_equal(test_state("q", "snooze"), "scheduled");
    assert_string_equal(test_state("q", "none"), "scheduled");
    test_expect_kind("none", "handler");
    assert_string_equal(test_state("q", "last"), "dead");
    test_expect_counted("snooze", 0, 0);
    test_expect_counted("none", 1, 0);
    TEST_AWAIT(test_worker_stats(worker).completed == 2); /* (counted once the reply is there) */
    reeve_worker_stats stats = test_worker_stats(worker);
    assert_int_equal(stats.failed, 4);
    assert_int_equal(stats.dead, 2);
    assert_int_equal(stats.given_back, 1);
    test_collect_stop(worker);
}

/* Each has its own limit; only whose time is up is told, and only that one has failed. */
static void each_has_its_own_time_limit(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(3, TEST_LONG_MS);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "collect", .payload = {"hold", 4}});
    test_put_spec((reeve_task_spec){.id = "n2", .type = "collect", .timeout_ms = 100});
    test_put_spec((reeve_task_spec){.id = "n3", .type = "collect", .timeout_ms = 200});
    TEST_AWAIT_STATE("n2", "scheduled");
    TEST_AWAIT_STATE("n3", "scheduled");
    test_expect_kind("n2", "timeout");
    test_expect_kind("n3", "timeout");
    TEST_AWAIT(test_collected.told == 2);
    assert_string_equal(test_state("q", "n1"), "running");
    atomic_store(&test_collected.go, true);
    TEST_AWAIT_STATE("n1", "completed");
    test_expect_counted("n2", 1, 0);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_collect_stop(worker);
}

static void all_are_late_with_the_handlers_limit(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_worker(NULL, 3, TEST_LONG_MS, 100);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    for (int i = 1; i <= 3; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_collect_put(id, "hold");
    }
    TEST_AWAIT(test_count("q", "scheduled") == 3);
    TEST_AWAIT(test_collected.told == 3);
    test_collect_stop(worker);
    assert_int_equal(test_count("q", "scheduled"), 3);
}

/* They are done before the call begins, each by itself. */
static void at_most_once(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_worker(NULL, 3, TEST_LONG_MS, 0);
    const reeve_handler_policy once = {.type = "collect", .at_most_once = true};
    assert_int_equal(reeve_worker_set_policy(worker, &once), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_collect_put("n1", "hold");
    test_collect_put("n2", "retry");
    test_collect_put("n3", "fail");
    TEST_AWAIT(test_collected.in_call == 1);
    assert_int_equal(test_count("q", "completed"), 3);
    atomic_store(&test_collected.go, true);
    test_collect_stop(worker);
    assert_int_equal(test_collected.calls, 1);
    assert_int_equal(test_collected.sizes[0], 3);
    assert_int_equal(test_count("q", "completed"), 3);
}

/* One that runs at most once is settled before the call, which takes as long as Redis refuses it. */
static void their_time_counts_from_the_call(void **state)
{
    (void)state;
    enum { LIMIT_MS = 100 };
    test_user_set("on >p ~* &* +@all");
    reeve_worker *worker = test_collect_worker(&(reeve_worker_options){.redis = test_user_url}, 3, TEST_LONG_MS, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "collect", .timeout_ms = LIMIT_MS});
    test_put_spec((reeve_task_spec){.id = "n2", .type = "collect", .timeout_ms = LIMIT_MS});
    TEST_AWAIT_STATE("n1", "running");
    TEST_AWAIT_STATE("n2", "running");
    (void)test_cmd(test_conn, "ACL SETUSER w -hdel");
    test_put_spec((reeve_task_spec){.id = "n3", .type = "collect", .at_most_once = true});
    TEST_AWAIT_STATE("n3", "running");
    int64_t end_ms = rv_now_ms() + 5 * LIMIT_MS;
    TEST_AWAIT(rv_now_ms() > end_ms);
    (void)test_cmd(test_conn, "ACL SETUSER w +hdel");
    TEST_AWAIT_STATE("n1", "completed");
    TEST_AWAIT_STATE("n2", "completed");
    TEST_AWAIT_STATE("n3", "completed");
    assert_int_equal(test_collected.sizes[0], 3);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "counters failed"), "(nil)");
    test_collect_stop(worker);
}

static void one_is_cancelled(void **state)
{
    (void)state;
    bool running = false;
    reeve_worker *worker = test_collect_worker(NULL, 3, TEST_LONG_MS, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_pool(worker, "z", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.queue = "z", .id = "other", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_collect_put("n1", "hold");
    TEST_AWAIT_STATE("n1", "running");
    test_collect_put("n0", ""); /* while it waits for company: it is not run */
    TEST_AWAIT_STATE("n0", "running");
    test_ok(test_client, reeve_cancel_with_running(test_client, "q", "n0", &running));
    /* What a worker is told it hears in order. */
    test_ok(test_client, reeve_cancel_with_running(test_client, "z", "other", &running));
    TEST_AWAIT(test_announced == 1);
    test_collect_put("n2", "");
    TEST_AWAIT(test_collected.in_call == 1);
    test_ok(test_client, reeve_cancel_with_running(test_client, "q", "n2", &running));
    TEST_AWAIT(test_collected.told == 1);
    atomic_store(&test_collected.go, true);
    TEST_AWAIT_STATE("n1", "completed");
    assert_string_equal(test_state("q", "n2"), "cancelled");
    assert_string_equal(test_state("q", "n0"), "cancelled");
    assert_int_equal(test_runs[0], 0);
    assert_int_equal(test_collected.told, 1);
    test_collect_stop(worker);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void a_stop_gives_back_what_waits(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(10, TEST_LONG_MS);
    test_collect_put("n1", "");
    test_collect_put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    int64_t begin = rv_now_ms();
    assert_int_equal(reeve_worker_stop(worker, 60000), REEVE_OK);
    assert_true(rv_now_ms() - begin < 30000);
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(test_collected.calls, 0);
    test_expect_counted("n1", 0, 0);
    assert_int_equal(test_worker_stats(worker).given_back, 2);
    reeve_worker_destroy(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    (void)test_lease(&hand, 5);
    assert_string_equal(test_leased_ids(&hand), "n1 n2"); /* in their order */
}

static void quiet_gives_back_what_waits(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(10, TEST_LONG_MS);
    test_collect_put("n1", "");
    TEST_AWAIT_STATE("n1", "running");
    reeve_worker_quiet(worker);
    TEST_AWAIT_STATE("n1", "ready");
    test_expect_counted("n1", 0, 0);
    test_collect_stop(worker);
    assert_int_equal(test_collected.calls, 0);
}

static void all_are_told_at_the_deadline(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(3, TEST_LONG_MS);
    test_collect_put("n1", "hold");
    test_collect_put("n2", "hold");
    test_collect_put("n3", "hold");
    TEST_AWAIT(test_collected.in_call == 1);
    assert_int_equal(reeve_worker_stop(worker, 50), REEVE_OK);
    assert_int_equal(test_collected.told, 3);
    assert_int_equal(test_count("q", "scheduled"), 3);
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_has_its_own, test_collect_begin),
        cmocka_unit_test_setup(each_has_its_own_time_limit, test_collect_begin),
        cmocka_unit_test_setup(all_are_late_with_the_handlers_limit, test_collect_begin),
        cmocka_unit_test_setup(at_most_once, test_collect_begin),
        cmocka_unit_test_setup(their_time_counts_from_the_call, test_collect_begin),
        cmocka_unit_test_setup(one_is_cancelled, test_collect_begin),
        cmocka_unit_test_setup(a_stop_gives_back_what_waits, test_collect_begin),
        cmocka_unit_test_setup(quiet_gives_back_what_waits, test_collect_begin),
        cmocka_unit_test_setup(all_are_told_at_the_deadline, test_collect_begin),
    };
    return cmocka_run_group_tests_name("ct_batch_handler_outcomes", tests, test_place_start, test_place_stop);
}
