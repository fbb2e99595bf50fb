/* Notices on the control channel that overtake their tasks: the reply that hands a task to a thread is still on its way
 * when the task is cancelled, or when its lease is ended by hand. */
#include <stdlib.h>
#include <string.h>

#include "reeve/change.h"
#include "support/proxy.h"
#include "support/worker.h"

static test_proxy *proxy;

static int start(void **state)
{
    test_place_start(state);
    proxy = test_proxy_start(test_redis);
    return 0;
}

static int stop(void **state)
{
    test_proxy_stop(proxy);
    return test_place_stop(state);
}

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static reeve_worker *run_worker(unsigned threads)
{
    const reeve_worker_options options = {.redis = test_proxy_url(proxy)};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", threads, 0);
    test_worker_start(worker);
    test_put("q", "first");
    TEST_AWAIT(test_threads_are_idle(threads));
    return worker;
}

static void put(const char *id)
{
    test_put_spec((reeve_task_spec){.id = id, .type = "hold"});
}

/* The next task is handed to the thread, and does not reach it before test_proxy_pass_on. */
static void hand_over_slowly(const char *id)
{
    test_proxy_keep_back(proxy, ":hand:");
    put(id);
    TEST_AWAIT_STATE(id, "running");
    assert_int_equal(test_number("EXISTS reeve:{q}:idle"), 0);
}

static void publish(const char *words)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 3);
    rv_args(test_conn, "PUBLISH");
    rv_args(test_conn, "reeve:control");
    rv_args(test_conn, words);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_reply_int(reply, 0) > 0);
}

static void a_task_that_is_cancelled_on_its_way_is_told(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    hand_over_slowly("x");
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    test_proxy_pass_on(proxy);
    TEST_AWAIT_STATE("x", "cancelled");
    assert_true(atomic_load(&test_announced) <= 1); /* 0: the thread was told before it began the task */
    test_worker_end(worker);
}

/* A notice about an earlier attempt does not concern a later one. */
static void a_task_that_was_cancelled_before_is_not_told(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(2);
    put("n0");
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    publish("cancel q n1");
    test_ok(test_client, reeve_cancel(test_client, "q", "n0")); /* who has heard of this has heard of that before */
    TEST_AWAIT_STATE("n0", "cancelled");
    TEST_AWAIT(test_threads_are_idle(2));
    put("n1");
    TEST_AWAIT(atomic_load(&test_begun) == 2);
    hand_over_slowly("n2");
    test_ok(test_client, reeve_cancel(test_client, "q", "n2"));
    test_proxy_pass_on(proxy);
    TEST_AWAIT_STATE("n2", "cancelled");
    assert_string_equal(test_state("q", "n1"), "running");
    test_open_gate();
    TEST_AWAIT_STATE("n1", "completed");
    test_worker_end(worker);
}

/* More notices than the worker remembers: it asks Redis. */
static void a_notice_that_makes_room_for_others_is_not_lost(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    hand_over_slowly("x");
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    for (int i = 0; i < 600; i++) {
        char words[64];
        (void)snprintf(words, sizeof(words), "cancel q other%d", i);
        publish(words);
    }
    test_proxy_pass_on(proxy);
    TEST_AWAIT_STATE("x", "cancelled");
    test_worker_end(worker);
}

static void a_lease_that_is_ended_on_its_way_is_told(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(1);
    hand_over_slowly("x");
    test_ok(test_client, reeve_expire(test_client, "q", "x"));
    test_proxy_pass_on(proxy);
    /* The only thread leases it again: its handler was told, or the thread was told before it began the task. */
    TEST_AWAIT_STATE("x", "running");
    assert_true(atomic_load(&test_announced) <= 1);
    test_open_gate();
    TEST_AWAIT_STATE("x", "completed");
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_task_that_is_cancelled_on_its_way_is_told, set_up),
        cmocka_unit_test_setup(a_task_that_was_cancelled_before_is_not_told, set_up),
        cmocka_unit_test_setup(a_notice_that_makes_room_for_others_is_not_lost, set_up),
        cmocka_unit_test_setup(a_lease_that_is_ended_on_its_way_is_told, set_up),
    };
    return cmocka_run_group_tests_name("ct_cancel_early", tests, start, stop);
}
