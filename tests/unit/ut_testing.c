/* ut_testing.c - reeve/testing.h: what a handler under test meets: its task, the clock, and being told to stop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "support/attempt.h"
#include "support/cmocka.h"

/* ---- the task -------------------------------------------------------------------------------------------------- */

static void the_task_is_as_told(void **state)
{
    const reeve_meta meta[] = {{"traceparent", "00-\"ab\""}, {"customer", "17"}};
    reeve_test_options options = {.size = sizeof(options),
                                  .type = "media/resize",
                                  .payload = reeve_test_text("pay\nload"),
                                  .queue = "media",
                                  .id = "7",
                                  .group = "acme",
                                  .meta = meta,
                                  .meta_count = 2,
                                  .attempt = 3,
                                  .crashes = 1,
                                  .enqueued_ms = 1700000000123};
    reeve_test_report *report = test_attempt(test_describe, NULL, &options);

    (void)state;
    assert_string_equal(report->result.data, "media/7 media/resize 7 3 1 1700000000123 acme 00-\"ab\" pay\nload");
    reeve_test_report_free(report);
    report = test_attempt(test_describe, NULL, NULL);
    assert_string_equal(report->result.data, "test/task test task 1 0 946684800000 - - ");
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    assert_false(report->dead);
    assert_string_equal(report->kind, "");
    assert_string_equal(report->message, "");
    reeve_test_report_free(report);
    reeve_test_report_free(NULL);
}

/* ---- the clock ------------------------------------------------------------------------------------------------- */

static reeve_outcome take_minutes(reeve_task *task, void *user)
{
    reeve_test_clock *clock = user;
    int64_t began = reeve_task_now_ms(task);
    char text[32];

    if (clock != NULL) reeve_test_clock_move(clock, 120000);
    (void)reeve_task_progress(task, 50, "half");
    int length = snprintf(text, sizeof(text), "%lld", (long long)(reeve_task_now_ms(task) - began));
    return reeve_task_done(task, text, (size_t)length);
}

static void the_clock_is_the_tests(void **state)
{
    reeve_test_clock clock = {.now_ms = 1700000000000};
    reeve_test_clock steps = {.step_ms = 10};
    reeve_test_clock real = {.real = true};
    int64_t now = rv_wall_ms();
    reeve_test_report *report = test_attempt(take_minutes, &clock, &(reeve_test_options){.clock = &clock});

    (void)state;
    assert_string_equal(report->result.data, "120000");
    assert_int_equal(report->began_ms, 1700000000000);
    assert_int_equal(report->ended_ms, 1700000120000);
    assert_int_equal(report->progress[0].at_ms, 1700000120000);
    assert_int_equal(clock.now_ms, 1700000120000);
    reeve_test_report_free(report);

    report = test_attempt(take_minutes, NULL, &(reeve_test_options){.clock = &steps});
    assert_string_equal(report->result.data, "10");
    assert_int_equal(report->ended_ms, REEVE_TEST_BEGIN_MS + 20);
    reeve_test_report_free(report);

    report = test_attempt(take_minutes, NULL, NULL);
    assert_string_equal(report->result.data, "0");
    assert_int_equal(report->began_ms, REEVE_TEST_BEGIN_MS);
    reeve_test_report_free(report);

    report = test_attempt(take_minutes, NULL, &(reeve_test_options){.clock = &real});
    assert_true(report->began_ms >= now && report->began_ms <= rv_wall_ms());
    reeve_test_report_free(report);
}

/* ---- stopping -------------------------------------------------------------------------------------------------- */

/* Works in steps of a second, up to 100 of them, and says how many it did. */
static reeve_outcome work(reeve_task *task, void *user)
{
    char text[32];
    int steps = 0;

    while (steps < 100 && !reeve_task_should_stop(task)) {
        steps++;
        if (user != NULL) reeve_test_clock_move(user, 1000);
    }
    return reeve_task_done(task, text, (size_t)snprintf(text, sizeof(text), "%d", steps));
}

static void it_is_told_to_stop_when_asked(void **state)
{
    static const struct {
        unsigned stop_at;
        const char *steps;
    } cases[] = {{0, "100"}, {1, "0"}, {2, "1"}, {50, "49"}, {101, "100"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reeve_test_report *report = test_attempt(work, NULL, &(reeve_test_options){.stop_at = cases[i].stop_at});

        assert_string_equal(report->result.data, cases[i].steps);
        assert_false(report->late);
        reeve_test_report_free(report);
    }
}

static reeve_outcome retry_if_cancelled(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_is_cancelled(task) ? reeve_task_retry(task, 0, "k", "m") : reeve_task_done(task, NULL, 0);
}

static reeve_outcome work_unless_cancelled(reeve_task *task, void *user)
{
    reeve_outcome outcome = work(task, user);

    return reeve_task_is_cancelled(task) ? reeve_task_fail(task, "cancelled", "as asked") : outcome;
}

static void it_is_cancelled_when_asked(void **state)
{
    reeve_test_report *report = test_attempt(work_unless_cancelled, NULL, &(reeve_test_options){.cancel_at = 8});

    (void)state;
    assert_true(report->cancelled);
    assert_false(report->dead);
    assert_string_equal(report->kind, "cancelled");
    reeve_test_report_free(report);
    report = test_attempt(work, NULL, &(reeve_test_options){.cancel_at = 8});
    assert_false(report->cancelled);
    assert_string_equal(report->result.data, "7");
    reeve_test_report_free(report);
    report = test_attempt(retry_if_cancelled, NULL, &(reeve_test_options){.cancel_at = 1, .attempt = 20});
    assert_true(report->cancelled);
    assert_false(report->dead);
    reeve_test_report_free(report);
    report = test_attempt(work_unless_cancelled, NULL, NULL);
    assert_false(report->cancelled);
    reeve_test_report_free(report);
}

static void the_time_limit_holds(void **state)
{
    reeve_test_clock clock = {.now_ms = 1000};
    reeve_handler handler = {.type = "t", .run = work, .user = &clock, .timeout_ms = 5000};
    reeve_test_report *report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock});

    (void)state;
    assert_true(report->late);
    assert_int_equal(report->outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(report->kind, "timeout");
    assert_string_equal(report->message, "not done within 5000 ms");
    assert_int_equal(report->delay_ms, 1000);
    assert_int_equal(report->ended_ms, 6000);
    assert_int_equal(report->result.length, 0);
    reeve_test_report_free(report);

    /* the task's own comes before it; a step of the clock counts */
    clock = (reeve_test_clock){.now_ms = 1000};
    report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock, .timeout_ms = 1000000});
    assert_false(report->late);
    assert_string_equal(report->result.data, "100");
    reeve_test_report_free(report);
    clock = (reeve_test_clock){.step_ms = 500};
    report = test_attempt(work, NULL, &(reeve_test_options){.clock = &clock, .timeout_ms = 2000, .attempts = 1});
    assert_true(report->late && report->dead);
    reeve_test_report_free(report);
    clock = (reeve_test_clock){.step_ms = 500};
    report = test_attempt(work, NULL, &(reeve_test_options){.clock = &clock, .timeout_ms = 2000, .retry_for_ms = 2000});
    assert_true(report->late && report->dead);
    reeve_test_report_free(report);
    report = test_attempt(work, NULL, &(reeve_test_options){.timeout_ms = INT64_MAX});
    assert_false(report->late);
    reeve_test_report_free(report);
}

/* Says that it is alive every so many seconds, out of 20. */
static reeve_outcome speak(reeve_task *task, void *user)
{
    int every = *(int *)user;
    reeve_status status = REEVE_OK;
    char text[32];
    int second = 0;

    while (second < 20 && !reeve_task_should_stop(task)) {
        second++;
        (void)reeve_task_now_ms(task); /* (a look is half a second) */
        if (second % every == 0) status = reeve_task_heartbeat(task);
        if (status != REEVE_OK) return reeve_task_fail(task, "lost", "%s", reeve_status_text(status));
    }
    return reeve_task_done(task, text, (size_t)snprintf(text, sizeof(text), "%d", second));
}

static void silence_is_a_failure(void **state)
{
    int every = 4;
    reeve_test_clock clock = {.step_ms = 500};
    reeve_handler handler = {.type = "t", .run = speak, .user = &every, .heartbeat_ms = 5000};
    reeve_test_report *report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock});

    (void)state;
    assert_false(report->late);
    assert_string_equal(report->result.data, "20");
    reeve_test_report_free(report);
    every = 6;
    report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock});
    assert_true(report->late);
    assert_string_equal(report->kind, "silent");
    assert_string_equal(report->message, "silent for 5000 ms");
    assert_int_equal(report->delay_ms, 1000);
    reeve_test_report_free(report);
    report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock, .heartbeat_ms = 7000});
    assert_false(report->late);
    reeve_test_report_free(report);
    report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock, .tell_status = REEVE_EREFUSED});
    assert_string_equal(report->kind, "silent"); /* it was told to stop before it spoke */
    reeve_test_report_free(report);
    every = 2;
    report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock, .tell_status = REEVE_EREFUSED});
    assert_string_equal(report->kind, "lost");
    reeve_test_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_task_is_as_told),           cmocka_unit_test(the_clock_is_the_tests),
        cmocka_unit_test(it_is_told_to_stop_when_asked), cmocka_unit_test(it_is_cancelled_when_asked),
        cmocka_unit_test(the_time_limit_holds),          cmocka_unit_test(silence_is_a_failure),
    };
    return cmocka_run_group_tests_name("ut_testing", tests, NULL, NULL);
}
