/* ut_testing_report.c - reeve/testing.h: what the report tells: what the handler said, and what becomes of its task. */
#include <stdio.h>
#include <stdlib.h>

#include "support/attempt.h"
#include "support/cmocka.h"

/* ---- what is written down -------------------------------------------------------------------------------------- */

static reeve_outcome report_progress(reeve_task *task, void *user)
{
    reeve_status *answers = user;

    for (int i = 0; i < 3; i++) answers[i] = reeve_task_progress(task, 10 * i, i == 1 ? NULL : "words");
    if (reeve_task_should_stop(task)) return reeve_task_give_back(task);
    return reeve_task_done(task, NULL, 0);
}

static void progress_is_written_down(void **state)
{
    reeve_status answers[3];
    reeve_test_report *report = test_attempt(report_progress, answers, NULL);

    (void)state;
    assert_int_equal(report->progress_count, 3);
    assert_int_equal(report->progress[1].percent, 10);
    assert_string_equal(report->progress[1].words, "");
    assert_int_equal(report->progress[2].percent, 20);
    assert_string_equal(report->progress[2].words, "words");
    assert_int_equal(answers[2], REEVE_OK);
    reeve_test_report_free(report);
}

static void a_lost_lease_is_told(void **state)
{
    reeve_status answers[3];
    reeve_test_report *report =
        test_attempt(report_progress, answers, &(reeve_test_options){.tell_status = REEVE_EREFUSED});

    (void)state;
    assert_int_equal(answers[0], REEVE_EREFUSED);
    assert_int_equal(report->outcome, REEVE_OUTCOME_SNOOZE);
    reeve_test_report_free(report);
    report = test_attempt(report_progress, answers, &(reeve_test_options){.tell_status = REEVE_ELOST});
    assert_int_equal(answers[0], REEVE_ELOST);
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    reeve_test_report_free(report);
}

static void move_on(int percent, const char *words, void *user)
{
    (void)words;
    if (percent == 10) reeve_test_clock_move(user, 60000);
}

static void progress_can_move_the_clock_past_the_limit(void **state)
{
    reeve_status answers[3];
    reeve_test_clock clock = {0};
    reeve_test_options options = {.clock = &clock, .timeout_ms = 60000, .on_progress = move_on, .user = &clock};
    reeve_test_report *report = test_attempt(report_progress, answers, &options);

    (void)state;
    assert_int_equal(answers[0], REEVE_OK);
    assert_int_equal(answers[1], REEVE_EREFUSED);
    assert_int_equal(answers[2], REEVE_EREFUSED);
    assert_true(report->late);
    reeve_test_report_free(report);
}

static reeve_outcome report_much(reeve_task *task, void *user)
{
    (void)user;
    for (int i = 0; i < REEVE_TEST_LIST_MAX + 5; i++) (void)reeve_task_progress(task, i % 101, "much");
    return reeve_task_done(task, NULL, 0);
}

static void lists_are_bounded(void **state)
{
    reeve_test_report *report = test_attempt(report_much, NULL, NULL);

    (void)state;
    assert_int_equal(report->progress_count, REEVE_TEST_LIST_MAX);
    assert_int_equal(report->progress[REEVE_TEST_LIST_MAX - 1].percent, (REEVE_TEST_LIST_MAX - 1) % 101);
    reeve_test_report_free(report);
}

/* Goes on from the number in its checkpoint, in steps, and leaves off at the fifth. */
static reeve_outcome go_on(reeve_task *task, void *user)
{
    reeve_bytes last;
    char text[32];
    int at, length;

    (void)user;
    if (reeve_task_last_checkpoint(task, &last) != REEVE_OK) return reeve_task_retry(task, -1, "checkpoint", "lost");
    at = last.length > 0 ? atoi(last.data) : 0;
    (void)reeve_task_log(task, "begins at %d", at);
    for (int step = 0; step < 5; step++) {
        length = snprintf(text, sizeof(text), "%d", ++at);
        if (reeve_task_checkpoint(task, text, (size_t)length) == REEVE_EREFUSED) return reeve_task_give_back(task);
    }
    (void)reeve_task_log(task, "leaves off at %d", at);
    return at >= 10 ? reeve_task_done(task, NULL, 0) : reeve_task_retry(task, 0, "more", "at %d", at);
}

static void checkpoints_and_log_are_written_down(void **state)
{
    reeve_test_report *first = test_attempt(go_on, NULL, NULL), *second, *third;

    (void)state;
    assert_int_equal(first->outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(first->checkpoint.data, "5");
    assert_int_equal(first->log_count, 2);
    assert_string_equal(first->log[0].text, "begins at 0");
    assert_string_equal(first->log[1].text, "leaves off at 5");
    assert_int_equal(first->log[1].at_ms, REEVE_TEST_BEGIN_MS);

    second = test_attempt(go_on, NULL, &(reeve_test_options){.attempt = 2, .checkpoint = first->checkpoint});
    assert_int_equal(second->outcome, REEVE_OUTCOME_DONE);
    assert_string_equal(second->log[0].text, "begins at 5");
    assert_int_equal(second->checkpoint.length, 2);

    third = test_attempt(go_on, NULL, &(reeve_test_options){.checkpoint = {"7", 1}, .tell_status = REEVE_EREFUSED});
    assert_int_equal(third->outcome, REEVE_OUTCOME_SNOOZE);
    assert_string_equal(third->checkpoint.data, "7");
    reeve_test_report_free(first);
    reeve_test_report_free(second);
    reeve_test_report_free(third);
}

static reeve_outcome hold(reeve_task *task, void *user)
{
    reeve_status *answers = user;

    answers[0] = reeve_task_pause_for(task, "acme", 5000);
    answers[1] = reeve_task_pause_for(task, NULL, 7000);
    return reeve_task_snooze(task, 250);
}

static void holds_are_written_down(void **state)
{
    reeve_status answers[2];
    reeve_test_report *report = test_attempt(hold, answers, &(reeve_test_options){.pause_status = REEVE_ELOST});

    (void)state;
    assert_int_equal(answers[1], REEVE_ELOST);
    assert_int_equal(report->pause_count, 2);
    assert_string_equal(report->pauses[0].group, "acme");
    assert_int_equal(report->pauses[0].delay_ms, 5000);
    assert_null(report->pauses[1].group);
    assert_int_equal(report->outcome, REEVE_OUTCOME_SNOOZE);
    assert_int_equal(report->delay_ms, 250);
    reeve_test_report_free(report);
}

/* ---- what becomes of it ---------------------------------------------------------------------------------------- */

static reeve_outcome retry(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_retry(task, -1, "smtp", "try %s", "later");
}

static reeve_outcome give_up(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_fail(task, "gone", "404");
}

static void delays_are_in_the_middle_of_the_jitter(void **state)
{
    const reeve_backoff own = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 70000, .jitter = 1};
    reeve_test_report *report;

    (void)state;
    for (unsigned attempt = 1; attempt < 5; attempt++) {
        report = test_attempt(retry, NULL, &(reeve_test_options){.attempt = attempt});
        assert_int_equal(report->delay_ms, 1000 << (attempt - 1));
        assert_false(report->dead);
        reeve_test_report_free(report);
    }
    report = test_attempt(retry, NULL, &(reeve_test_options){.backoff = &own});
    assert_int_equal(report->delay_ms, 70000);
    assert_string_equal(report->kind, "smtp");
    assert_string_equal(report->message, "try later");
    reeve_test_report_free(report);
    report = reeve_test_run(&(reeve_handler){.run = retry, .backoff = {.base_ms = 300}}, NULL);
    assert_int_equal(report->delay_ms, 300);
    reeve_test_report_free(report);
}

static void the_last_attempt_is_the_end(void **state)
{
    static const struct {
        reeve_handler_fn run;
        int handlers, own;
        unsigned attempt;
        bool dead;
    } cases[] = {
        {give_up, 0, 0, 1, true}, {retry, 0, 0, 19, false}, {retry, 0, 0, 20, true},
        {retry, 3, 0, 2, false},  {retry, 3, 0, 3, true},   {retry, 3, 5, 4, false},
        {retry, 9, 2, 2, true},   {hold, 1, 1, 1, false},   {test_describe, 1, 1, 1, false},
    };
    reeve_status answers[2];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reeve_handler handler = {.run = cases[i].run, .user = answers, .attempts = cases[i].handlers};
        reeve_test_options options = {.attempts = cases[i].own, .attempt = cases[i].attempt};
        reeve_test_report *report = reeve_test_run(&handler, &options);

        if (report->status != REEVE_OK || report->dead != cases[i].dead) fail_msg("case %zu", i);
        reeve_test_report_free(report);
        handler.at_most_once = true;
        report = reeve_test_run(&handler, &options);
        if (report->status != REEVE_OK || report->dead) fail_msg("case %zu, at most once", i);
        reeve_test_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_is_written_down),
        cmocka_unit_test(a_lost_lease_is_told),
        cmocka_unit_test(progress_can_move_the_clock_past_the_limit),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(checkpoints_and_log_are_written_down),
        cmocka_unit_test(holds_are_written_down),
        cmocka_unit_test(delays_are_in_the_middle_of_the_jitter),
        cmocka_unit_test(the_last_attempt_is_the_end),
    };
    return cmocka_run_group_tests_name("ut_testing_report", tests, NULL, NULL);
}
