/* Layers in a worker: what they make of outcomes reaches Redis, by whichever way the handler came. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/worker.h"

static atomic_uint around_all, around_act, told;

static int set_up(void **state)
{
    test_close_gate();
    around_all = around_act = told = 0;
    return test_place_empty(state);
}

/* Layers are called by worker threads: assertions are not for them. */
static reeve_outcome count(reeve_task *task, reeve_next *next, void *user)
{
    atomic_fetch_add((atomic_uint *)user, 1);
    return reeve_next_run(next, task);
}

/* Another retry policy: what is "again" waits for long, what is "bad" is tried again; the result is signed. */
static reeve_outcome steer(reeve_task *task, reeve_next *next, void *user)
{
    reeve_outcome outcome = reeve_next_run(next, task);
    const char *kind = reeve_task_error_kind(task);
    char text[64];

    (void)user;
    if (outcome == REEVE_OUTCOME_RETRY && strcmp(kind, "again") == 0)
        return reeve_task_retry(task, 90000, kind, "%s", reeve_task_error_message(task));
    if (outcome == REEVE_OUTCOME_FAIL && strcmp(kind, "bad") == 0) return reeve_task_retry(task, 80000, kind, "tamed");
    if (outcome != REEVE_OUTCOME_DONE) return outcome;
    int length = snprintf(text, sizeof(text), "signed %.*s", (int)reeve_task_result(task).length,
                          (const char *)reeve_task_result(task).data);
    return reeve_task_done(task, text, (size_t)length);
}

static reeve_outcome hide(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    if (reeve_task_meta(task, "hidden") == NULL) return reeve_next_run(next, task);
    return reeve_task_snooze(task, 60000);
}

static reeve_outcome run_twice(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    if (strcmp(reeve_task_id(task), "twice") == 0) (void)reeve_next_run(next, task);
    return reeve_next_run(next, task);
}

static void add(reeve_worker *worker, const char *name, const char *type, reeve_layer_fn run, void *user)
{
    reeve_layer layer = {REEVE_LAYER, .name = name, .type = type, .run = run, .user = user};
    if (reeve_worker_add_layer(worker, &layer) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
}

static void put(const char *id, const char *type, const char *payload)
{
    test_put_spec((reeve_task_spec){.id = id, .type = type, .payload = {payload, strlen(payload)}});
}

static void expect_waits(const char *id, int64_t delay_ms, const char *kind, const char *message)
{
    TEST_AWAIT_STATE(id, "scheduled");
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->due_ms - info->failed_ms, delay_ms);
    assert_string_equal(info->error_kind, kind);
    if (!strstr(info->error_message, message)) fail_msg("%s", info->error_message);
    reeve_task_info_free(info);
}

static void they_decide_what_becomes_of_tasks(void **state)
{
    (void)state;
    const reeve_meta hidden = {"hidden", "1"};
    reeve_worker *worker = test_worker_new(NULL);
    add(worker, "count", NULL, count, &around_all);
    add(worker, "hide", NULL, hide, NULL);
    add(worker, "count act", "act", count, &around_act);
    add(worker, "steer", NULL, steer, NULL);
    test_worker_pool(worker, "q", 2, 0);
    put("done", "act", "result of it");
    put("retry", "act", "retry 5");
    put("fail", "act", "fail");
    put("other", "t", "");
    put("unknown", "no/such", "");
    test_put_spec((reeve_task_spec){.id = "hidden", .type = "act", .meta = &hidden, .meta_count = 1});
    test_worker_start(worker);
    TEST_AWAIT_STATE("done", "completed");
    TEST_AWAIT_STATE("other", "completed");
    TEST_AWAIT_STATE("hidden", "scheduled");
    TEST_AWAIT_STATE("unknown", "scheduled");
    expect_waits("retry", 90000, "again", "said \"retry 5\"");
    expect_waits("fail", 80000, "bad", "tamed");
    reeve_task_info *info = test_show("q", "done");
    assert_string_equal(info->result.data, "signed of it");
    reeve_task_info_free(info);
    info = test_show("q", "hidden");
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
    assert_int_equal(around_all, 5);
    assert_int_equal(around_act, 3);
    reeve_layer late = {REEVE_LAYER, .name = "late", .run = hide};
    assert_int_equal(reeve_worker_add_layer(worker, &late), REEVE_ESTATE);
    reeve_worker_destroy(worker);
}

static void a_layer_that_runs_it_twice_has_failed(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    add(worker, "doubler", NULL, run_twice, NULL);
    test_worker_pool(worker, "q", 1, 0);
    test_put("q", "twice once");
    test_worker_start(worker);
    TEST_AWAIT_STATE("once", "completed");
    TEST_AWAIT_STATE("twice", "scheduled");
    reeve_task_info *info = test_show("q", "twice");
    assert_int_equal(info->failures, 1);
    assert_string_equal(info->error_kind, "layer");
    assert_non_null(strstr(info->error_message, "\"doubler\""));
    reeve_task_info_free(info);
    assert_int_equal(test_ran, 2);
    reeve_worker_destroy(worker);
}

/* A layer that waits is as long under the task's time limit as its handler. */
static reeve_outcome wait_for_stop(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    while (!reeve_task_should_stop(task)) test_pause();
    atomic_fetch_add(&told, 1);
    return reeve_next_run(next, task);
}

static void the_time_limit_holds_for_layers(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    add(worker, "wait", NULL, wait_for_stop, NULL);
    test_worker_pool(worker, "q", 1, 0);
    test_put_spec((reeve_task_spec){.id = "slow", .type = "t", .timeout_ms = 50});
    test_worker_start(worker);
    TEST_AWAIT_STATE("slow", "scheduled");
    reeve_task_info *info = test_show("q", "slow");
    assert_string_equal(info->error_kind, "timeout");
    reeve_task_info_free(info);
    TEST_AWAIT(told == 1);
    reeve_worker_destroy(worker);
}

/* ---- of a plugin ----------------------------------------------------------------------------------------------- */

static const char *result_of(const char *id)
{
    static char text[64];
    TEST_AWAIT_STATE(id, "completed");
    reeve_task_info *info = test_show("q", id);
    rv_copy_text(text, sizeof(text), info->result.data ? info->result.data : "");
    reeve_task_info_free(info);
    return text;
}

static void a_plugins_layers_are_active_when_it_is_loaded(void **state)
{
    (void)state;
    const char *build = getenv("REEVE_BUILD");
    char directory[4000];
    snprintf(directory, sizeof(directory), "%s/tests/plugins", build ? build : ".");
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.plugin_dir = directory});
    add(worker, "steer", NULL, steer, NULL);
    if (reeve_worker_load_plugin(worker, "layered") != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    assert_int_equal(reeve_worker_load_plugin(worker, "layered"), REEVE_EDUPLICATE);
    if (reeve_worker_load_plugin(worker, "old_abi1_hooks") != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    test_worker_pool(worker, "q", 2, 0);
    put("in", "layered:in", "");
    put("out", "layered:out", "");
    put("act", "act", "result of it");
    put("hooks", "old:hooks", "");
    test_worker_start(worker);
    assert_string_equal(result_of("in"), "signed <(in)>");
    assert_string_equal(result_of("out"), "signed <in>");
    assert_string_equal(result_of("act"), "signed <of it>");
    assert_string_equal(result_of("hooks"), "signed <state>");
    reeve_worker_destroy(worker);
}

static void a_plugin_with_more_layers_than_can_be_is_refused(void **state)
{
    (void)state;
    const char *build = getenv("REEVE_BUILD");
    char directory[4000];
    snprintf(directory, sizeof(directory), "%s/tests/plugins", build ? build : ".");
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.plugin_dir = directory});
    for (int i = 0; i < REEVE_LAYERS_MAX - 1; i++) add(worker, "some", "none", hide, NULL);
    assert_int_equal(reeve_worker_load_plugin(worker, "layered"), REEVE_EINVAL);
    if (!strstr(reeve_worker_error(worker), "would have 65: at most 64")) fail_msg("%s", reeve_worker_error(worker));
    assert_int_equal(reeve_worker_handle(worker, "layered:in", NULL, NULL), REEVE_EINVAL);
    reeve_handler_policy policy = {.type = "layered:in", .attempts = 1};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_ENOTFOUND);
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(they_decide_what_becomes_of_tasks, set_up),
        cmocka_unit_test_setup(a_layer_that_runs_it_twice_has_failed, set_up),
        cmocka_unit_test_setup(the_time_limit_holds_for_layers, set_up),
        cmocka_unit_test_setup(a_plugins_layers_are_active_when_it_is_loaded, set_up),
        cmocka_unit_test_setup(a_plugin_with_more_layers_than_can_be_is_refused, set_up),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
