/* ut_testing.c - reeve/testing.h: what a handler under test meets, and what the report tells of it. */
#include "reeve/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "support/cmocka.h"

static char directory[4000]; /* of the test plugins */

static int set_up_group(void **state)
{
    const char *build = getenv("REEVE_BUILD");

    (void)state;
    snprintf(directory, sizeof(directory), "%s/tests/plugins", build != NULL ? build : ".");
    return 0;
}

static reeve_test_report *run(reeve_handler_fn handler, void *user, const reeve_test_options *options)
{
    reeve_test_report *report = reeve_test_run(&(reeve_handler){.run = handler, .user = user}, options);

    assert_non_null(report);
    if (report->status != REEVE_OK) fail_msg("%s", report->message);
    return report;
}

/* ---- the task -------------------------------------------------------------------------------------------------- */

static reeve_outcome describe(reeve_task *task, void *user)
{
    char text[512];
    const char *group = reeve_task_group(task), *trace = reeve_task_meta(task, "traceparent");
    int length =
        snprintf(text, sizeof(text), "%s %s %s %u %u %lld %s %s %.*s", reeve_task_handle(task), reeve_task_type(task),
                 reeve_task_id(task), reeve_task_attempt(task), reeve_task_crashes(task),
                 (long long)reeve_task_enqueued_ms(task), group ? group : "-", trace ? trace : "-",
                 (int)reeve_task_payload(task).length, (const char *)reeve_task_payload(task).data);

    (void)user;
    return reeve_task_done(task, text, (size_t)length);
}

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
    reeve_test_report *report = run(describe, NULL, &options);

    (void)state;
    assert_string_equal(report->result.data, "media/7 media/resize 7 3 1 1700000000123 acme 00-\"ab\" pay\nload");
    reeve_test_report_free(report);
    report = run(describe, NULL, NULL);
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
    reeve_test_report *report = run(take_minutes, &clock, &(reeve_test_options){.clock = &clock});

    (void)state;
    assert_string_equal(report->result.data, "120000");
    assert_int_equal(report->began_ms, 1700000000000);
    assert_int_equal(report->ended_ms, 1700000120000);
    assert_int_equal(report->progress[0].at_ms, 1700000120000);
    assert_int_equal(clock.now_ms, 1700000120000);
    reeve_test_report_free(report);

    report = run(take_minutes, NULL, &(reeve_test_options){.clock = &steps});
    assert_string_equal(report->result.data, "10");
    assert_int_equal(report->ended_ms, REEVE_TEST_BEGIN_MS + 20);
    reeve_test_report_free(report);

    report = run(take_minutes, NULL, NULL);
    assert_string_equal(report->result.data, "0");
    assert_int_equal(report->began_ms, REEVE_TEST_BEGIN_MS);
    reeve_test_report_free(report);

    report = run(take_minutes, NULL, &(reeve_test_options){.clock = &real});
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
        reeve_test_report *report = run(work, NULL, &(reeve_test_options){.stop_at = cases[i].stop_at});

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
    reeve_test_report *report = run(work_unless_cancelled, NULL, &(reeve_test_options){.cancel_at = 8});

    (void)state;
    assert_true(report->cancelled);
    assert_false(report->dead);
    assert_string_equal(report->kind, "cancelled");
    reeve_test_report_free(report);
    report = run(work, NULL, &(reeve_test_options){.cancel_at = 8});
    assert_false(report->cancelled);
    assert_string_equal(report->result.data, "7");
    reeve_test_report_free(report);
    report = run(retry_if_cancelled, NULL, &(reeve_test_options){.cancel_at = 1, .attempt = 20});
    assert_true(report->cancelled);
    assert_false(report->dead);
    reeve_test_report_free(report);
    report = run(work_unless_cancelled, NULL, NULL);
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
    report = run(work, NULL, &(reeve_test_options){.clock = &clock, .timeout_ms = 2000, .max_attempts = 1});
    assert_true(report->late && report->dead);
    reeve_test_report_free(report);
    report = run(work, NULL, &(reeve_test_options){.timeout_ms = INT64_MAX});
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
    reeve_test_report *report = run(report_progress, answers, NULL);

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
    reeve_test_report *report = run(report_progress, answers, &(reeve_test_options){.tell_status = REEVE_EREFUSED});

    (void)state;
    assert_int_equal(answers[0], REEVE_EREFUSED);
    assert_int_equal(report->outcome, REEVE_OUTCOME_SNOOZE);
    reeve_test_report_free(report);
    report = run(report_progress, answers, &(reeve_test_options){.tell_status = REEVE_ELOST});
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
    reeve_test_report *report = run(report_progress, answers, &options);

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
    reeve_test_report *report = run(report_much, NULL, NULL);

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
    reeve_test_report *first = run(go_on, NULL, NULL), *second, *third;

    (void)state;
    assert_int_equal(first->outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(first->checkpoint.data, "5");
    assert_int_equal(first->log_count, 2);
    assert_string_equal(first->log[0].text, "begins at 0");
    assert_string_equal(first->log[1].text, "leaves off at 5");
    assert_int_equal(first->log[1].at_ms, REEVE_TEST_BEGIN_MS);

    second = run(go_on, NULL, &(reeve_test_options){.attempt = 2, .checkpoint = first->checkpoint});
    assert_int_equal(second->outcome, REEVE_OUTCOME_DONE);
    assert_string_equal(second->log[0].text, "begins at 5");
    assert_int_equal(second->checkpoint.length, 2);

    third = run(go_on, NULL, &(reeve_test_options){.checkpoint = {"7", 1}, .tell_status = REEVE_EREFUSED});
    assert_int_equal(third->outcome, REEVE_OUTCOME_SNOOZE);
    assert_string_equal(third->checkpoint.data, "7");
    reeve_test_report_free(first);
    reeve_test_report_free(second);
    reeve_test_report_free(third);
}

static reeve_outcome hold(reeve_task *task, void *user)
{
    reeve_status *answers = user;

    answers[0] = reeve_task_hold(task, "acme", 5000);
    answers[1] = reeve_task_hold(task, NULL, 7000);
    return reeve_task_snooze(task, 250);
}

static void holds_are_written_down(void **state)
{
    reeve_status answers[2];
    reeve_test_report *report = run(hold, answers, &(reeve_test_options){.hold_status = REEVE_ELOST});

    (void)state;
    assert_int_equal(answers[1], REEVE_ELOST);
    assert_int_equal(report->hold_count, 2);
    assert_string_equal(report->holds[0].group, "acme");
    assert_int_equal(report->holds[0].delay_ms, 5000);
    assert_null(report->holds[1].group);
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
        report = run(retry, NULL, &(reeve_test_options){.attempt = attempt});
        assert_int_equal(report->delay_ms, 1000 << (attempt - 1));
        assert_false(report->dead);
        reeve_test_report_free(report);
    }
    report = run(retry, NULL, &(reeve_test_options){.backoff = &own});
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
        {retry, 9, 2, 2, true},   {hold, 1, 1, 1, false},   {describe, 1, 1, 1, false},
    };
    reeve_status answers[2];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reeve_handler handler = {.run = cases[i].run, .user = answers, .max_attempts = cases[i].handlers};
        reeve_test_options options = {.max_attempts = cases[i].own, .attempt = cases[i].attempt};
        reeve_test_report *report = reeve_test_run(&handler, &options);

        if (report->dead != cases[i].dead) fail_msg("case %zu", i);
        reeve_test_report_free(report);
        handler.at_most_once = true;
        report = reeve_test_run(&handler, &options);
        if (report->dead) fail_msg("case %zu, at most once", i);
        reeve_test_report_free(report);
    }
}

/* ---- hooks, plugins -------------------------------------------------------------------------------------------- */

static int start(void *user, void **ret_state)
{
    *ret_state = user;
    return *(int *)user == 7 ? 3 : 0;
}

static void stop(void *user, void *state)
{
    if (state == user) ++*(int *)user;
}

static reeve_outcome use_state(reeve_task *task, void *user)
{
    if (reeve_task_thread_state(task) != user) return reeve_task_fail(task, "state", "another");
    ++*(int *)user;
    return reeve_task_done(task, NULL, 0);
}

static void hooks_surround_the_run(void **state)
{
    int count = 0;
    reeve_handler handler = {REEVE_HANDLER,  .type = "t",           .run = use_state,
                             .user = &count, .thread_start = start, .thread_stop = stop};
    reeve_test_report *report = reeve_test_run(&handler, NULL);

    (void)state;
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(count, 2);
    reeve_test_report_free(report);
    count = 7;
    report = reeve_test_run(&handler, NULL);
    assert_string_equal(report->kind, "setup");
    assert_int_equal(count, 7);
    reeve_test_report_free(report);
}

static reeve_outcome star(reeve_task *task, reeve_next *next, void *user)
{
    char text[64];
    reeve_outcome outcome = reeve_next_run(next, task);

    (void)user;
    if (outcome != REEVE_OUTCOME_DONE) return outcome;
    int length = snprintf(text, sizeof(text), "*%s*", (const char *)reeve_task_result(task).data);
    return reeve_task_done(task, text, (size_t)length);
}

static void a_plugins_handler_runs_in_its_layers(void **state)
{
    const reeve_layer layers[] = {{.name = "star", .run = star}};
    reeve_test_options options = {.type = "layered:in", .layers = layers, .layer_count = 1};
    reeve_plugin_handle *plugin;
    reeve_test_report *report;

    (void)state;
    assert_int_equal(reeve_plugin_open(&plugin, "layered", directory, NULL, 0), REEVE_OK);
    report = reeve_test_run_plugin(plugin, &options);
    assert_string_equal(report->result.data, "*<(in)>*");
    reeve_test_report_free(report);
    report = reeve_test_run_plugin(plugin, &(reeve_test_options){.type = "none"});
    assert_int_equal(report->status, REEVE_ENOTFOUND);
    assert_non_null(strstr(report->message, "has no type \"none\""));
    reeve_test_report_free(report);
    report = reeve_test_run_plugin(plugin, NULL);
    assert_int_equal(report->status, REEVE_EINVAL);
    assert_non_null(strstr(report->message, "has 2 types: say which"));
    reeve_test_report_free(report);
    reeve_plugin_close(plugin);

    assert_int_equal(reeve_plugin_open(&plugin, "old_abi1_hooks", directory, NULL, 0), REEVE_OK);
    report = reeve_test_run_plugin(plugin, NULL);
    assert_int_equal(report->status, REEVE_OK);
    reeve_test_report_free(report);
    reeve_plugin_close(plugin);
}

/* ---- what cannot be run ---------------------------------------------------------------------------------------- */

static void refused(const reeve_handler *handler, const reeve_test_options *options, reeve_status status,
                    const char *words)
{
    reeve_test_report *report = reeve_test_run(handler, options);

    assert_non_null(report);
    assert_int_equal(report->status, status);
    assert_int_equal(report->outcome, REEVE_OUTCOME_NONE);
    if (strstr(report->message, words) == NULL) fail_msg("\"%s\" is not in: %s", words, report->message);
    assert_string_equal(report->kind, "");
    reeve_test_report_free(report);
}

static void what_cannot_be_is_refused_with_words(void **state)
{
    const reeve_handler handler = {.run = retry};
    const reeve_meta meta[] = {{"", "x"}};
    const reeve_layer idle[] = {{.name = "idle"}};

    (void)state;
    refused(NULL, NULL, REEVE_EINVAL, "no function");
    refused(&(reeve_handler){.type = "t"}, NULL, REEVE_EINVAL, "no function");
    refused(&(reeve_handler){.size = 8, .run = retry}, NULL, REEVE_EINVAL, "size 8");
    refused(&handler, &(reeve_test_options){.type = "no type"}, REEVE_EINVAL, "no type");
    refused(&handler, &(reeve_test_options){.queue = "no queue"}, REEVE_EINVAL, "no queue");
    refused(&handler, &(reeve_test_options){.id = "a/b"}, REEVE_EINVAL, "a/b");
    refused(&handler, &(reeve_test_options){.meta = meta, .meta_count = 1}, REEVE_EINVAL, "metadata");
    refused(&handler, &(reeve_test_options){.timeout_ms = -1}, REEVE_EINVAL, "timeout");
    refused(&handler, &(reeve_test_options){.payload = {"", (size_t)REEVE_PAYLOAD_MAX + 1}}, REEVE_ETOOBIG, "payload");
    refused(&handler, &(reeve_test_options){.layers = idle, .layer_count = 1}, REEVE_EINVAL, "\"idle\"");
    refused(&handler, &(reeve_test_options){.layers = idle, .layer_count = 65}, REEVE_EINVAL, "65 layers");
}

static void options_of_an_older_size_are_read_no_further(void **state)
{
    reeve_test_options options = {.size = offsetof(reeve_test_options, clock)};
    reeve_test_report *report;

    (void)state;
    memset((char *)&options + options.size, 0xff, sizeof(options) - options.size);
    report = run(describe, NULL, &options);
    reeve_test_report_free(report);
}

static reeve_outcome progress_and_hold(reeve_task *task, void *user)
{
    (void)user;
    (void)reeve_task_progress(task, 1, "words");
    (void)reeve_task_hold(task, "group", 1);
    (void)reeve_task_log(task, "line");
    return reeve_task_done(task, "result", 6);
}

static void without_memory_there_is_no_report_or_less_in_it(void **state)
{
    const reeve_layer layers[] = {{.name = "star", .run = star}};
    const reeve_test_options options = {.layers = layers, .layer_count = 1, .group = "g"};
    bool whole = false;

    (void)state;
    for (unsigned long nth = 1; !whole; nth++) {
        assert_true(nth < 30);
        (void)rv_mem_fail_at(nth);
        reeve_test_report *report = reeve_test_run(&(reeve_handler){.run = progress_and_hold}, &options);
        (void)rv_mem_fail_at(0);
        whole = report != NULL && report->progress_count == 1 && report->hold_count == 1 && report->log_count == 1 &&
                report->outcome == REEVE_OUTCOME_DONE;
        reeve_test_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_task_is_as_told),
        cmocka_unit_test(the_clock_is_the_tests),
        cmocka_unit_test(it_is_told_to_stop_when_asked),
        cmocka_unit_test(it_is_cancelled_when_asked),
        cmocka_unit_test(the_time_limit_holds),
        cmocka_unit_test(silence_is_a_failure),
        cmocka_unit_test(progress_is_written_down),
        cmocka_unit_test(a_lost_lease_is_told),
        cmocka_unit_test(progress_can_move_the_clock_past_the_limit),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(checkpoints_and_log_are_written_down),
        cmocka_unit_test(holds_are_written_down),
        cmocka_unit_test(delays_are_in_the_middle_of_the_jitter),
        cmocka_unit_test(the_last_attempt_is_the_end),
        cmocka_unit_test(hooks_surround_the_run),
        cmocka_unit_test(a_plugins_handler_runs_in_its_layers),
        cmocka_unit_test(what_cannot_be_is_refused_with_words),
        cmocka_unit_test(options_of_an_older_size_are_read_no_further),
        cmocka_unit_test(without_memory_there_is_no_report_or_less_in_it),
    };
    return cmocka_run_group_tests(tests, set_up_group, NULL);
}
