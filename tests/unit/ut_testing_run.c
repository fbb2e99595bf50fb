/* ut_testing_run.c - reeve/testing.h: what surrounds a run: hooks, plugins with their layers; what cannot be run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/attempt.h"
#include "support/cmocka.h"

static char directory[4000]; /* of the test plugins */

static int set_up_group(void **state)
{
    const char *build = getenv("REEVE_BUILD");

    (void)state;
    snprintf(directory, sizeof(directory), "%s/tests/plugins", build != NULL ? build : ".");
    return 0;
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
    const reeve_handler handler = {.run = test_describe};
    const reeve_meta meta[] = {{"", "x"}};
    const reeve_layer idle[] = {{.name = "idle"}};

    (void)state;
    refused(NULL, NULL, REEVE_EINVAL, "no function");
    refused(&(reeve_handler){.type = "t"}, NULL, REEVE_EINVAL, "no function");
    refused(&(reeve_handler){.size = 3, .run = test_describe}, NULL, REEVE_EINVAL, "size 3");
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
    report = test_attempt(test_describe, NULL, &options);
    reeve_test_report_free(report);
}

static reeve_outcome progress_and_hold(reeve_task *task, void *user)
{
    (void)user;
    (void)reeve_task_progress(task, 1, "words");
    (void)reeve_task_pause_for(task, "group", 1);
    (void)reeve_task_log(task, "line");
    return reeve_task_done(task, "result", 6);
}

static void without_memory_there_is_no_report_or_less_in_it(void **state)
{
    const reeve_layer layers[] = {{.name = "star", .run = star}};
    const reeve_test_options options = {.layers = layers, .layer_count = 1, .group = "g"};
    unsigned long nth = 0, made = 0;
    bool whole = false;

    (void)state;
    while (made >= nth) {
        (void)rv_mem_fail_at(++nth);
        reeve_test_report *report = reeve_test_run(&(reeve_handler){.run = progress_and_hold}, &options);
        made = rv_mem_fail_at(0);
        whole = report != NULL && report->progress_count == 1 && report->pause_count == 1 && report->log_count == 1 &&
                report->outcome == REEVE_OUTCOME_DONE && strcmp(report->result.data, "*result*") == 0;
        if (whole && made >= nth) fail_msg("allocation %lu was not missed", nth);
        reeve_test_report_free(report);
    }
    assert_true(whole);
    assert_true(nth > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_surround_the_run),
        cmocka_unit_test(a_plugins_handler_runs_in_its_layers),
        cmocka_unit_test(what_cannot_be_is_refused_with_words),
        cmocka_unit_test(options_of_an_older_size_are_read_no_further),
        cmocka_unit_test(without_memory_there_is_no_report_or_less_in_it),
    };
    return cmocka_run_group_tests_name("ut_testing_run", tests, set_up_group, NULL);
}
