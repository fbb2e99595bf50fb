/* A queue's own heartbeat limit, and its grace: how long an attempt may still end by itself after a limit. */
#include <stdio.h>
#include <string.h>

#include "support/consumer.h"
#include "support/worker.h"

/* Ends well when it is told to stop. */
static reeve_outcome saving(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&test_begun, 1);
    while (!reeve_task_should_stop(task)) test_pause();
    return reeve_task_done(task, "saved", 5);
}

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void set_policy(int64_t heartbeat_ms, int64_t grace_ms)
{
    const reeve_queue_policy policy = {.attempts = 1, .heartbeat_ms = heartbeat_ms, .grace_ms = grace_ms};
    assert_int_equal(reeve_queue_set(test_client, "q", &(reeve_queue_settings){.policy = &policy}), REEVE_OK);
    reeve_queue_settings *got;
    assert_int_equal(reeve_queue_settings_get(test_client, "q", &got), REEVE_OK);
    assert_int_equal(got->policy->heartbeat_ms, heartbeat_ms);
    assert_int_equal(got->policy->grace_ms, grace_ms);
    reeve_queue_settings_free(got);
}

static reeve_worker *start(void)
{
    const reeve_handler handler = {REEVE_HANDLER, .type = "saving", .run = saving};
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void expect_error(const char *id, const char *kind)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_DEAD);
    assert_string_equal(info->error_kind, kind);
    reeve_task_info_free(info);
}

static void an_attempt_that_ends_in_time_counts(void **state)
{
    (void)state;
    set_policy(0, 60000);
    reeve_worker *worker = start();
    test_put_spec((reeve_task_spec){.id = "s", .type = "saving", .timeout_ms = 50});
    TEST_AWAIT_STATE("s", "completed");
    reeve_task_info *info = test_show("q", "s");
    assert_int_equal(info->failures, 0);
    assert_int_equal(info->result.length, 5);
    reeve_task_info_free(info);
    test_worker_end(worker);
}

static void one_that_goes_on_has_failed(void **state)
{
    (void)state;
    set_policy(0, 100);
    reeve_worker *worker = start();
    test_put_spec((reeve_task_spec){.id = "s", .type = "stubborn", .timeout_ms = 50});
    TEST_AWAIT_STATE("s", "dead");
    expect_error("s", "timeout");
    test_open_gate();
    test_worker_end(worker);
}

/* The queue's heartbeat limit; the task's own goes before it. */
static void the_queue_has_a_heartbeat_limit(void **state)
{
    (void)state;
    set_policy(50, 0);
    reeve_worker *worker = start();
    test_put_spec((reeve_task_spec){.id = "s", .type = "saving"});
    TEST_AWAIT_STATE("s", "dead");
    expect_error("s", "silent");
    unsigned begun = test_begun;
    test_put_spec((reeve_task_spec){.id = "own", .type = "hold", .heartbeat_ms = 3600000});
    TEST_AWAIT(test_begun == begun + 1);
    test_open_gate();
    TEST_AWAIT_STATE("own", "completed");
    test_worker_end(worker);
    set_policy(50, 60000); /* (a worker that runs would hear of it some time later) */
    worker = start();
    test_put_spec((reeve_task_spec){.id = "again", .type = "saving"});
    TEST_AWAIT_STATE("again", "completed");
    test_worker_end(worker);
}

static void a_consumer_has_it_too(void **state)
{
    (void)state;
    set_policy(0, 60000);
    reeve_consumer *c = test_consumer_open("q", NULL);
    test_put_spec((reeve_task_spec){.id = "p", .timeout_ms = 30});
    assert_string_equal(test_pull(c, 1, true), "p");
    TEST_AWAIT(reeve_task_should_stop(test_pulled[0]));
    test_good(c, test_settle_done(c, 0, NULL));
    assert_string_equal(test_state("q", "p"), "completed");
    test_good(c, reeve_consumer_close(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_attempt_that_ends_in_time_counts, set_up),
        cmocka_unit_test_setup(one_that_goes_on_has_failed, set_up),
        cmocka_unit_test_setup(the_queue_has_a_heartbeat_limit, set_up),
        cmocka_unit_test_setup(a_consumer_has_it_too, set_up),
    };
    return cmocka_run_group_tests_name("ct_grace", tests, test_place_start, test_place_stop);
}
