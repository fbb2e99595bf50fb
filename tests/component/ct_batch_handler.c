/* Handlers that take many tasks in a call: when a call is made, with which tasks, and what runs beside them. */
#include <stdio.h>
#include <string.h>

#include "support/collect.h"
#include "support/proxy.h"

/* ---- when a call is made ---------------------------------------------------------------------------------------- */

static void as_soon_as_there_are_enough(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(3, TEST_LONG_MS);
    test_collect_put("n1", "");
    TEST_AWAIT_STATE("n1", "running");
    test_collect_put("n2", "");
    TEST_AWAIT_STATE("n2", "running");
    assert_int_equal(test_collected.calls, 0);
    test_collect_put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 3);
    assert_int_equal(test_collected.calls, 1);
    test_expect_result("n1", "3");
    test_expect_result("n3", "3");
    test_collect_put_numbers(10, 8);
    TEST_AWAIT(test_count("q", "completed") == 9);
    TEST_AWAIT(test_count("q", "running") == 2);
    assert_int_equal(test_collected.calls, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(test_collected.sizes[i], 3);
    TEST_AWAIT(test_worker_stats(worker).completed == 9);
    test_collect_stop(worker);
    assert_int_equal(test_count("q", "ready"), 2);
}

static void when_the_first_has_waited_enough(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(10, 2000);
    int64_t begin = rv_now_ms();
    test_collect_put("n1", "");
    TEST_AWAIT_STATE("n1", "running");
    test_collect_put("n2", "");
    TEST_AWAIT_STATE("n2", "running");
    test_collect_put("n3", "");
    TEST_AWAIT_STATE("n1", "completed");
    assert_true(rv_now_ms() - begin >= 2000);
    assert_int_equal(test_count("q", "completed"), 3);
    assert_int_equal(test_collected.calls, 1);
    test_expect_result("n2", "3");
    test_collect_put("n4", ""); /* the age is counted anew */
    TEST_AWAIT_STATE("n4", "completed");
    test_expect_result("n4", "1");
    test_collect_stop(worker);
}

/* Also the first time, when the thread has learnt nothing, and beyond the pool's batch. */
static void without_a_wait_with_what_is_there(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_worker(NULL, 100, 0, 0);
    test_worker_pool(worker, "q", 1, 8);
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_collect_put_numbers(0, 230);
    test_worker_start(worker);
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(test_count("q", "completed") == 230);
    assert_int_equal(test_collected.calls, 3);
    assert_int_equal(test_collected.sizes[0], 100);
    assert_int_equal(test_collected.sizes[1], 100);
    assert_int_equal(test_collected.sizes[2], 30);
    test_collect_put("n500", "");
    TEST_AWAIT_STATE("n500", "completed");
    test_expect_result("n500", "1");
    test_collect_stop(worker);
}

/* What the configuration says holds over what the handler says. */
static void a_policy_says_otherwise(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_worker(NULL, 0, 0, 0);
    const reeve_handler_policy two = {.type = "collect", .batch_size = 2, .batch_wait_ms = TEST_LONG_MS};
    const reeve_handler_policy wrong = {.type = "collect", .batch_size = 257}, none = {.type = "t", .batch_size = 2};
    assert_int_equal(reeve_worker_set_policy(worker, &wrong), REEVE_EINVAL);
    assert_string_equal(reeve_worker_error(worker), "type collect: it: batch_size is 257: at most 256");
    assert_int_equal(reeve_worker_set_policy(worker, &none), REEVE_EINVAL);
    assert_non_null(strstr(reeve_worker_error(worker), "type t: it takes one task at a time"));
    assert_int_equal(reeve_worker_set_policy(worker, &two), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_collect_put_numbers(1, 3);
    TEST_AWAIT(test_count("q", "completed") == 2);
    test_expect_result("n2", "2");
    TEST_AWAIT(test_count("q", "running") == 1);
    test_collect_stop(worker);
}

/* ---- beside other tasks ----------------------------------------------------------------------------------------- */

static void others_run_meanwhile(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(3, TEST_LONG_MS);
    test_collect_put("n1", "");
    TEST_AWAIT_STATE("n1", "running");
    test_put("q", "n100 n101");
    TEST_AWAIT_STATE("n100", "completed"); /* and they are settled, too */
    TEST_AWAIT_STATE("n101", "completed");
    assert_string_equal(test_state("q", "n1"), "running");
    test_collect_put("n2", "");
    test_put("q", "n102");
    test_collect_put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 6);
    assert_int_equal(test_collected.calls, 1);
    test_expect_result("n1", "3");
    test_collect_stop(worker);
}

/* What waits for company is for others when the thread is held up. */
static void a_long_one_lets_them_go(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(3, TEST_LONG_MS);
    test_collect_put("n1", "");
    test_collect_put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    test_put_spec((reeve_task_spec){.id = "long", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    TEST_AWAIT_STATE("n1", "ready");
    TEST_AWAIT_STATE("n2", "ready");
    test_open_gate();
    TEST_AWAIT_STATE("n2", "running");
    test_collect_put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 4);
    assert_int_equal(test_collected.calls, 1);
    for (int i = 1; i <= 3; i++) assert_int_equal(test_runs[i], 1);
    test_collect_stop(worker);
}

/* Not to the thread that runs its batch, whose wait for more tasks ended. */
static void a_task_is_handed_to_an_idle_thread(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_worker(NULL, 3, 200, 0);
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    for (int i = 1; i <= 5; i++) {
        char id[8], next[8];
        (void)snprintf(id, sizeof(id), "n%d", 10 * i);
        (void)snprintf(next, sizeof(next), "n%d", 10 * i + 1);
        atomic_store(&test_collected.go, false);
        unsigned calls = atomic_load(&test_collected.in_call);
        test_collect_put(id, "hold");
        TEST_AWAIT(atomic_load(&test_collected.in_call) == calls + 1);
        test_collect_put(next, "");
        TEST_AWAIT_STATE(next, "completed");
        assert_string_equal(test_state("q", id), "running");
        atomic_store(&test_collected.go, true);
        TEST_AWAIT_STATE(id, "completed");
    }
    test_collect_stop(worker);
}

/* The batch is due; what came meanwhile is a part of it. */
static void a_task_handed_before_the_call_joins_it(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy)};
    reeve_worker *worker = test_collect_worker(&options, 3, 900, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_proxy_keep_back_next(proxy, "\r\n$5\r\n0."); /* the wait's seconds, its last argument */
    test_collect_put("n1", "");
    TEST_AWAIT(test_proxy_keeps_back(proxy));
    (void)test_cmd(test_conn, "PING"); /* Redis has read the wait, too, when it reads the next command */
    TEST_AWAIT(strstr(test_cmd(test_conn, "INFO clients"), "blocked_clients:0") != NULL);
    test_collect_put("n2", ""); /* the worker has not heard that the wait ended */
    test_proxy_pass_on(proxy);
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(test_collected.calls, 1);
    test_expect_result("n1", "2");
    test_collect_stop(worker);
    test_proxy_stop(proxy);
}

/* The wait ended when the batch was due, and the worker does not hear of it: the thread may still be handed tasks. */
static void a_lost_wait_leaves_no_task_behind_the_call(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .command_ms = 1000};
    reeve_worker *worker = test_collect_worker(&options, 3, 500, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_proxy_mute(proxy, "\r\n$5\r\n0.", false); /* the wait's seconds, its last argument */
    test_collect_put("n1", "hold");
    TEST_AWAIT(test_proxy_mutes(proxy));
    TEST_AWAIT(atomic_load(&test_collected.in_call) == 1);
    assert_int_equal(test_number("LLEN reeve:{q}:idle"), 0);
    test_collect_put("n2", "");
    assert_string_equal(test_state("q", "n2"), "ready");
    atomic_store(&test_collected.go, true);
    TEST_AWAIT(test_count("q", "completed") == 2);
    test_collect_stop(worker);
    test_proxy_stop(proxy);
}

static void queues_are_not_mixed(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_worker(NULL, 2, TEST_LONG_MS, 0);
    test_worker_pool(worker, "q r", 1, 0);
    test_worker_start(worker);
    test_collect_put_to("r", "n1", "");
    TEST_AWAIT(test_count("r", "running") == 1);
    test_collect_put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 1);
    assert_int_equal(test_collected.calls, 0);
    test_collect_put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(test_count("r", "running"), 1);
    test_collect_put_to("r", "n4", "");
    TEST_AWAIT(test_count("r", "completed") == 2);
    assert_int_equal(test_collected.calls, 2);
    test_collect_stop(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_soon_as_there_are_enough, test_collect_begin),
        cmocka_unit_test_setup(when_the_first_has_waited_enough, test_collect_begin),
        cmocka_unit_test_setup(without_a_wait_with_what_is_there, test_collect_begin),
        cmocka_unit_test_setup(a_policy_says_otherwise, test_collect_begin),
        cmocka_unit_test_setup(others_run_meanwhile, test_collect_begin),
        cmocka_unit_test_setup(a_long_one_lets_them_go, test_collect_begin),
        cmocka_unit_test_setup(a_task_is_handed_to_an_idle_thread, test_collect_begin),
        cmocka_unit_test_setup(a_task_handed_before_the_call_joins_it, test_collect_begin),
        cmocka_unit_test_setup(a_lost_wait_leaves_no_task_behind_the_call, test_collect_begin),
        cmocka_unit_test_setup(queues_are_not_mixed, test_collect_begin),
    };
    return cmocka_run_group_tests_name("ct_batch_handler", tests, test_place_start, test_place_stop);
}
