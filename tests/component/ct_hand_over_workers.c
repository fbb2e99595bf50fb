/* Tasks that are handed to idle threads of workers that lose their connections, stop, go quiet, or lose their session. */
#include <stdio.h>

#include "support/worker.h"

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

/* Whatever becomes of the connections, each task is run once and accepted. */
static void workers_that_are_cut_off(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    reeve_worker *worker = test_worker_run(4, 0);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    TEST_AWAIT(test_threads_are_idle(4));
    for (int i = 1; i < COUNT; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "t"});
        if (i % 20 == 0) test_kill_connections();
    }
    TEST_AWAIT(test_count("q", "completed") == COUNT);
    TEST_AWAIT(test_number("LLEN " Q "idle") == 4);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_destroy(worker);
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "hand:*"), "[]");
    assert_int_equal(test_number("EXISTS " Q "idle " Q "sessions"), 0);
}

/* Stopped while tasks come: what was handed to threads that leave is somebody else's, with nothing counted. */
static void stopped_while_tasks_come(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    for (int i = 0; i < COUNT;) {
        reeve_worker *worker = test_worker_run(3, 0);
        for (int j = 0; j < 20 && i < COUNT; j++, i++) {
            char id[16];
            (void)snprintf(id, sizeof(id), "n%d", i);
            test_put_spec((reeve_task_spec){.id = id, .type = "t"});
            if (j == 15) reeve_worker_quiet(worker);
        }
        assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
        reeve_worker_destroy(worker);
    }
    reeve_worker *last = test_worker_run(3, 0);
    TEST_AWAIT(test_count("q", "completed") == COUNT);
    assert_int_equal(reeve_worker_stop(last, 10000), REEVE_OK);
    reeve_worker_destroy(last);
    for (int i = 0; i < COUNT; i++) assert_int_equal(test_runs[i], 1);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "counters crashed"), "(nil)");
}

/* A worker goes quiet at any moment: what its threads were handed since does not stay with them. */
static void quiet_at_any_moment(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 40; round++) {
        reeve_worker *worker = test_worker_run(3, 0);
        test_put_spec((reeve_task_spec){.type = "t"});
        TEST_AWAIT(test_count("q", "completed") > round);
        for (unsigned i = 0; i < round % 8; i++) test_put_spec((reeve_task_spec){.type = "t"});
        reeve_worker_quiet(worker);
        for (int i = 0; i < 4; i++) test_put_spec((reeve_task_spec){.type = "t"});
        TEST_AWAIT(test_count("q", "running") == 0);
        assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
        reeve_worker_destroy(worker);
    }
}

/* The session goes while its threads wait: they hear of it, and wait in the next one. */
static void a_session_that_is_lost(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.session_ms = 1000});
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    TEST_AWAIT(test_threads_are_idle(2));
    assert_string_equal(test_cmd(test_conn, "FLUSHALL"), "OK");
    test_put_spec((reeve_task_spec){.id = "n1", .type = "t"});
    TEST_AWAIT(test_count("q", "completed") == 1);
    TEST_AWAIT(test_threads_are_idle(2));
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(workers_that_are_cut_off, set_up),
        cmocka_unit_test_setup(stopped_while_tasks_come, set_up),
        cmocka_unit_test_setup(quiet_at_any_moment, set_up),
        cmocka_unit_test_setup(a_session_that_is_lost, set_up),
    };
    return cmocka_run_group_tests_name("ct_hand_over_workers", tests, test_place_start, test_place_stop);
}
