/* Handlers that take many tasks in a call: connections and sessions are lost while tasks wait for company or run. */
#include <stdio.h>
#include <unistd.h>

#include "support/collect.h"

#define Q "reeve:{q}:"

static void a_lost_connection_loses_and_doubles_nothing(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(3, TEST_LONG_MS);
    test_collect_put("n1", "");
    test_collect_put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    for (int i = 0; i < 5; i++) {
        test_kill_connections();
        usleep(20000);
    }
    assert_int_equal(test_count("q", "running"), 2);
    test_collect_put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 3);
    assert_int_equal(test_collected.calls, 1);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_collect_stop(worker);
}

static void connections_are_killed_again_and_again(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    reeve_worker *worker = test_collect_worker(NULL, 20, 10, 0);
    test_worker_pool(worker, "q", 3, 0);
    test_worker_start(worker);
    size_t kills = 0;
    for (size_t i = 0; i < COUNT; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%zu", i);
        if (i % 4 == 0) {
            test_put("q", id);
        } else {
            test_collect_put(id, "");
        }
        if (i % 40 != 0) continue;
        test_kill_connections();
        kills++;
    }
    for (; test_number("ZCARD " Q "completed") < COUNT && kills < 300; kills++) {
        test_kill_connections();
        usleep(20000);
    }
    TEST_AWAIT(test_number("ZCARD " Q "completed") == COUNT);
    test_worker_end_after(worker, COUNT); /* not even a second run is needed */
}

/* What it held back is not run under the old session; and as suspects of a crash they come alone. */
static void a_lost_session_while_they_wait(void **state)
{
    (void)state;
    const reeve_worker_options options = {.session_ms = 1500};
    reeve_worker *worker = test_collect_worker(&options, 3, TEST_LONG_MS, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_collect_put("n1", "");
    test_collect_put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    test_take_session_away(test_first_session());
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(test_collected.calls, 2);
    test_expect_result("n1", "1");
    assert_int_equal(test_runs[1], 1);
    assert_int_equal(test_runs[2], 1);
    test_collect_stop(worker);
}

static void a_suspect_that_comes_to_company(void **state)
{
    (void)state;
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_collect_put("n9", "");
    assert_int_equal(test_lease(&hand, 1), 1);
    reeve_worker *worker = test_collect_run(3, TEST_LONG_MS);
    test_collect_put("n1", "");
    test_collect_put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 3);
    test_expire(&hand);
    test_maintain_all("q");
    TEST_AWAIT_STATE("n9", "completed");
    test_expect_result("n9", "1");
    TEST_AWAIT_STATE("n1", "completed"); /* they did not wait on: they ended before it began */
    test_expect_result("n1", "2");
    assert_int_equal(test_collected.sizes[0], 2);
    assert_int_equal(test_collected.sizes[1], 1);
    test_collect_stop(worker);
}

static void a_lost_session_while_they_run(void **state)
{
    (void)state;
    const reeve_worker_options options = {.session_ms = 1500};
    reeve_worker *worker = test_collect_worker(&options, 2, TEST_LONG_MS, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_collect_put("n1", "hold");
    test_collect_put("n2", "hold");
    TEST_AWAIT(test_collected.in_call == 1);
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_take_session_away(test_first_session());
    TEST_AWAIT(test_collected.told == 2); /* a heartbeat found it */
    TEST_AWAIT(test_worker_stats(worker).refused == 2);
    assert_int_equal(test_count("q", "ready"), 2);
    test_collect_stop(worker);
    test_expect_counted("n1", 0, 1);
}

/* They are still the thread's own; and where Redis forgot that it waits, it says so again. */
static void redis_restarts_while_they_wait(void **state)
{
    (void)state;
    reeve_worker *worker = test_collect_run(2, TEST_LONG_MS);
    test_collect_put("n1", "");
    TEST_AWAIT_STATE("n1", "running");
    TEST_AWAIT(test_number("LLEN " Q "idle") == 1);
    (void)test_cmd(test_conn, "DEL " Q "idle"); /* (as if it was not yet on the disk) */
    test_redis_restart(test_redis);
    test_conn_again();
    test_collect_put("n2", "");
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(test_collected.calls, 1);
    test_collect_stop(worker);
}

int main(void)
{
    test_options.persist = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_lost_connection_loses_and_doubles_nothing, test_collect_begin),
        cmocka_unit_test_setup(connections_are_killed_again_and_again, test_collect_begin),
        cmocka_unit_test_setup(a_lost_session_while_they_wait, test_collect_begin),
        cmocka_unit_test_setup(a_suspect_that_comes_to_company, test_collect_begin),
        cmocka_unit_test_setup(a_lost_session_while_they_run, test_collect_begin),
        cmocka_unit_test_setup(redis_restarts_while_they_wait, test_collect_begin),
    };
    return cmocka_run_group_tests_name("ct_batch_handler_loss", tests, test_place_start, test_place_stop);
}
