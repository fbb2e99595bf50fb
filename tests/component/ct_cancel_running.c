/* A task that is cancelled while it runs: what its handler hears, what its outcome becomes, and where else it may end.
 */
#include <stdio.h>
#include <string.h>

#include "protocol/end_session_call.h"
#include "reeve/change.h"
#include "reeve/limits.h"
#include "support/worker.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    test_close_gate();
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

static void cancel_running(const char *id)
{
    bool running = false;
    test_ok(test_client, reeve_cancel_with_running(test_client, "q", id, &running));
    assert_true(running);
}

static void lease_and_cancel(const char *id)
{
    test_put("q", id);
    assert_int_equal(test_lease(&hand, 1), 1);
    cancel_running(id);
    assert_string_equal(test_state("q", id), "running");
}

/* Nothing of the tasks is anywhere but in a set of ended ones. */
static void assert_tidy(void)
{
    assert_int_equal(test_number("EXISTS " Q "ready " Q "scheduled " Q "parked " Q "failures " Q "waiters"), 0);
}

/* ---- what the outcome becomes ---------------------------------------------------------------------------------- */

static void done_stays_done(void **state)
{
    (void)state;
    lease_and_cancel("a");
    test_settle(&hand, TEST_DONE("a"));
    assert_string_equal(test_state("q", "a"), "completed");
    lease_and_cancel("b");
    test_settle(&hand, TEST_RESULT("b", "r"));
    assert_string_equal(test_state("q", "b"), "completed");
    assert_tidy();
}

static void anything_else_cancels(void **state)
{
    (void)state;
    static const test_outcome outcomes[] = {TEST_RETRY("x", 0), TEST_RETRY("x", 5000), TEST_FAIL("x"),
                                            TEST_SNOOZE("x", 0), TEST_SNOOZE("x", 5000)};
    for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++) {
        lease_and_cancel("x");
        (void)test_turn(&hand, 0, &outcomes[i], 1);
        assert_string_equal(hand.refused, "");
        assert_string_equal(test_state("q", "x"), "cancelled");
        assert_tidy();
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
        assert_int_equal(test_number("EXISTS " Q "info:x"), 0);
    }
}

static void nothing_is_left_where_nothing_is_kept(void **state)
{
    (void)state;
    const reeve_keep none = {.age_ms = 0, .count = -1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    lease_and_cancel("x");
    test_settle(&hand, TEST_RETRY("x", 0));
    lease_and_cancel("x");
    test_settle(&hand, TEST_DONE("x"));
    assert_int_equal(test_number("EXISTS " Q "tasks " Q "info:x " Q "cancelled " Q "completed"), 0);
    assert_tidy();
}

static void its_unique_key_is_free(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "x", .unique = "k", .unique_for_ms = 90000});
    (void)test_lease(&hand, 1);
    cancel_running("x");
    test_put_spec((reeve_task_spec){.id = "other"});
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 1);
    test_settle(&hand, TEST_FAIL("x"));
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 0);
}

static void it_takes_its_turn_with_its_group(void **state)
{
    (void)state;
    reeve_limit_change change = {.of = REEVE_LIMIT_GROUPS, .concurrency = 1};
    test_ok(test_client, reeve_limit(test_client, "q", &change));
    for (int i = 0; i < 3; i++) {
        char id[2] = {(char)('a' + i), '\0'};
        test_put_spec((reeve_task_spec){.id = id, .group = "g"});
    }
    (void)test_lease(&hand, 3);
    assert_string_equal(test_leased_ids(&hand), "a");
    cancel_running("a");
    test_settle(&hand, TEST_SNOOZE("a", 0));
    assert_string_equal(test_state("q", "a"), "cancelled");
    test_maintain_all("q");
    (void)test_lease(&hand, 3);
    assert_string_equal(test_leased_ids(&hand), "b");
    cancel_running("b");
    test_expire(&hand);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "b"), "cancelled");
    test_hand_init(&hand, "1", "q");
    (void)test_lease(&hand, 3);
    assert_string_equal(test_leased_ids(&hand), "c");
    test_settle(&hand, TEST_DONE("c"));
    assert_int_equal(test_number("EXISTS " Q "running_group " Q "group_running " Q "parked:g " Q "unparked:g"), 0);
}

/* ---- its session ends ------------------------------------------------------------------------------------------ */

static void a_crash_cancels(void **state)
{
    (void)state;
    lease_and_cancel("x");
    test_expire(&hand);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "x"), "cancelled");
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->crashes, 1);
    assert_false(info->cancelling);
    reeve_task_info_free(info);
    assert_tidy();
}

static void leaving_cancels(void **state)
{
    (void)state;
    lease_and_cancel("x");
    test_put("q", "y");
    assert_int_equal(test_lease(&hand, 1), 1);
    const rv_reply *reply;
    rv_end_session_call_build(test_conn, &hand.prefixes[0], hand.sessions[0], 200);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_int_equal(rv_reply_int(rv_reply_at(reply, 0), -1), 1);
    assert_string_equal(test_state("q", "x"), "cancelled");
    assert_string_equal(test_state("q", "y"), "ready");
}

/* ---- again ----------------------------------------------------------------------------------------------------- */

static void retried_it_runs_as_if_nothing_had_been(void **state)
{
    (void)state;
    lease_and_cancel("x");
    cancel_running("x"); /* again */
    reeve_task_info *info = test_show("q", "x");
    assert_true(info->cancelling);
    reeve_task_info_free(info);
    test_settle(&hand, TEST_SNOOZE("x", 0));
    test_refused(test_client, reeve_cancel(test_client, "q", "x"), REEVE_ESTATE, "it is cancelled");
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    assert_int_equal(test_lease(&hand, 1), 1);
    info = test_show("q", "x");
    assert_false(info->cancelling);
    reeve_task_info_free(info);
    test_settle(&hand, TEST_RETRY("x", 60000));
    assert_string_equal(test_state("q", "x"), "scheduled");
}

/* ---- workers --------------------------------------------------------------------------------------------------- */

static void the_handler_is_told_at_once(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    test_put_spec((reeve_task_spec){.id = "other", .type = "hold"});
    TEST_AWAIT(test_begun == 2);
    int64_t began = rv_now_ms();
    cancel_running("x");
    TEST_AWAIT(test_announced == 1);
    assert_in_range(rv_now_ms() - began, 0, 5000); /* (100 ms where the machine has time) */
    TEST_AWAIT_STATE("x", "cancelled");
    assert_string_equal(test_state("q", "other"), "running");
    assert_int_equal(test_worker_stats(worker).failed, 0);
    test_open_gate();
    TEST_AWAIT_STATE("other", "completed");
    test_worker_end(worker);
}

static void the_handler_is_told_the_reason(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    bool running = false;
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_ok(test_client, reeve_cancel_with_reason(test_client, "q", "x", "no use any more", false, &running));
    assert_true(running);
    TEST_AWAIT(test_announced == 1);
    assert_string_equal(test_reason, "no use any more");
    test_put_spec((reeve_task_spec){.id = "y", .type = "hold"});
    TEST_AWAIT(test_begun == 2);
    cancel_running("y");
    TEST_AWAIT(test_announced == 2);
    assert_string_equal(test_reason, "");
    test_worker_end(worker);
}

/* A worker whose lease ended by hand: its handler is told to stop, and it sends no outcome. */
static void a_lease_that_expires_by_hand_stops_its_handler(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_ok(test_client, reeve_fail(test_client, "q", "x", "odd", "enough"));
    TEST_AWAIT(test_announced == 1);
    assert_string_equal(test_reason, "");
    assert_string_equal(test_state("q", "x"), "dead");
    test_put_spec((reeve_task_spec){.id = "y", .type = "t"});
    TEST_AWAIT_STATE("y", "completed");
    assert_int_equal(test_worker_stats(worker).refused, 0);
    assert_int_equal(test_worker_stats(worker).failed, 0);
    test_worker_end(worker);
}

/* Its worker says at once that no outcome will come: it is the only one, and runs the task again. */
static void a_task_whose_lease_expired_runs_again_in_the_same_worker(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    test_ok(test_client, reeve_expire(test_client, "q", "x"));
    TEST_AWAIT(test_begun == 2);
    assert_int_equal(test_number("HEXISTS " Q "info:x revoked"), 0);
    test_open_gate();
    TEST_AWAIT_STATE("x", "completed");
    test_worker_end(worker);
}

/* It says "done" in spite of all. */
static void a_stubborn_one_is_done(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    cancel_running("x");
    test_open_gate();
    TEST_AWAIT_STATE("x", "completed");
    reeve_task_info *info = test_show("q", "x");
    assert_memory_equal(info->result.data, "late", 4);
    reeve_task_info_free(info);
    test_worker_end(worker);
}

static void who_waits_for_it_is_told(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    cancel_running("x");
    test_refused(test_client, reeve_wait(test_client, "q", "x", 20000, NULL), REEVE_ECANCELLED, "was cancelled");
    test_worker_end(worker);
}

/* A time limit that passes after it was cancelled is no failure that would be tried again. */
static void its_time_is_up(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stubborn", .timeout_ms = 300});
    TEST_AWAIT(test_begun == 1);
    cancel_running("x");
    TEST_AWAIT_STATE("x", "cancelled");
    test_open_gate();
    test_worker_end(worker);
}

/* A worker that lost a lease: its handler hears of it, and is not cancelled. */
static void a_lease_that_was_taken_away_stops_its_handler(void **state)
{
    (void)state;
    reeve_worker_options options = {.session_ms = 1500};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold", .max_crashes = 100});
    TEST_AWAIT(test_begun == 1);
    test_take_session_away(test_first_session());
    TEST_AWAIT(test_announced >= 1);
    test_open_gate();
    TEST_AWAIT_STATE("x", "completed");
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(done_stays_done, set_up),
        cmocka_unit_test_setup(anything_else_cancels, set_up),
        cmocka_unit_test_setup(nothing_is_left_where_nothing_is_kept, set_up),
        cmocka_unit_test_setup(its_unique_key_is_free, set_up),
        cmocka_unit_test_setup(it_takes_its_turn_with_its_group, set_up),
        cmocka_unit_test_setup(a_crash_cancels, set_up),
        cmocka_unit_test_setup(leaving_cancels, set_up),
        cmocka_unit_test_setup(retried_it_runs_as_if_nothing_had_been, set_up),
        cmocka_unit_test_setup(the_handler_is_told_at_once, set_up),
        cmocka_unit_test_setup(the_handler_is_told_the_reason, set_up),
        cmocka_unit_test_setup(a_lease_that_expires_by_hand_stops_its_handler, set_up),
        cmocka_unit_test_setup(a_task_whose_lease_expired_runs_again_in_the_same_worker, set_up),
        cmocka_unit_test_setup(a_stubborn_one_is_done, set_up),
        cmocka_unit_test_setup(who_waits_for_it_is_told, set_up),
        cmocka_unit_test_setup(its_time_is_up, set_up),
        cmocka_unit_test_setup(a_lease_that_was_taken_away_stops_its_handler, set_up),
    };
    return cmocka_run_group_tests_name("ct_cancel_running", tests, test_place_start, test_place_stop);
}
