/* ut_layers.c - layers around a handler: their order, what they see and replace, what they must not do. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "handlers/layers_run.h"
#include "handlers/task.h"
#include "reeve/testing.h"
#include "support/cmocka.h"

/* Who was called, one sign each. */
static char seen[256];

static void note(const char *sign)
{
    size_t used = strlen(seen);

    snprintf(seen + used, sizeof(seen) - used, "%s", sign);
}

static int set_up(void **state)
{
    (void)state;
    seen[0] = '\0';
    return 0;
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

static reeve_outcome done(reeve_task *task, void *user)
{
    (void)user;
    note("h");
    return reeve_task_done(task, "result", 6);
}

static reeve_outcome retry(reeve_task *task, void *user)
{
    (void)user;
    note("h");
    return reeve_task_retry(task, -1, "smtp", "greylisted for %d s", 300);
}

static reeve_outcome silent(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
    return REEVE_OUTCOME_DONE;
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static reeve_outcome pass(reeve_task *task, reeve_next *next, void *user)
{
    const char *signs = user;
    char sign[2] = {signs[0], '\0'};
    reeve_outcome outcome;

    note(sign);
    outcome = reeve_next_run(next, task);
    sign[0] = signs[1];
    note(sign);
    return outcome;
}

/* Its user is the outcome that it expects to read. */
static reeve_outcome look(reeve_task *task, reeve_next *next, void *user)
{
    reeve_outcome outcome = reeve_next_run(next, task);
    char text[256];
    reeve_bytes result = reeve_task_result(task);

    assert_int_equal(reeve_task_outcome(task), outcome);
    snprintf(text, sizeof(text), "%s|%s|%s|%lld|%.*s", reeve_outcome_name(outcome), reeve_task_error_kind(task),
             reeve_task_error_message(task), (long long)reeve_task_delay_ms(task), (int)result.length,
             result.length > 0 ? (const char *)result.data : "");
    assert_string_equal(text, (const char *)user);
    return outcome;
}

static reeve_outcome refuse(reeve_task *task, reeve_next *next, void *user)
{
    (void)next;
    (void)user;
    return reeve_task_fail(task, "closed", "not today");
}

static reeve_outcome later(reeve_task *task, reeve_next *next, void *user)
{
    reeve_outcome outcome = reeve_next_run(next, task);

    (void)user;
    if (outcome != REEVE_OUTCOME_RETRY) return outcome;
    return reeve_task_retry(task, 7000, reeve_task_error_kind(task), "%s (%s)", reeve_task_error_message(task),
                            reeve_task_error_kind(task));
}

static reeve_outcome shorten(reeve_task *task, reeve_next *next, void *user)
{
    reeve_bytes result;

    (void)user;
    (void)reeve_next_run(next, task);
    result = reeve_task_result(task);
    return reeve_task_done(task, (const char *)result.data + 2, result.length - 2);
}

static reeve_outcome repeat(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    (void)reeve_next_run(next, task);
    return reeve_task_done(task, reeve_task_result(task).data, reeve_task_result(task).length);
}

static reeve_outcome speak_first(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    (void)reeve_task_done(task, "early", 5);
    return reeve_next_run(next, task);
}

static reeve_outcome twice(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    (void)reeve_next_run(next, task);
    (void)reeve_next_run(next, task);
    return reeve_task_done(task, "all is well", 11);
}

static reeve_outcome twice_and_honest(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    (void)reeve_next_run(next, task);
    return reeve_next_run(next, task);
}

static reeve_outcome say_nothing(reeve_task *task, reeve_next *next, void *user)
{
    (void)task;
    (void)next;
    (void)user;
    return REEVE_OUTCOME_DONE;
}

static reeve_outcome lie(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    (void)reeve_next_run(next, task);
    return REEVE_OUTCOME_FAIL;
}

static reeve_outcome with_another_task(reeve_task *task, reeve_next *next, void *user)
{
    (void)task;
    (void)user;
    return reeve_next_run(next, NULL);
}

/* ---- running --------------------------------------------------------------------------------------------------- */

static reeve_test_report *run(reeve_handler_fn handler, const reeve_layer *layers, size_t count)
{
    reeve_test_report *report = reeve_test_run(&(reeve_handler){.type = "t", .run = handler},
                                               &(reeve_test_options){.layers = layers, .layer_count = count});

    assert_non_null(report);
    if (report->status != REEVE_OK) fail_msg("%s", report->message);
    return report;
}

#define LAYER(fn)                           \
    {                                       \
        REEVE_LAYER, .name = #fn, .run = fn \
    }

static void the_first_is_the_outermost(void **state)
{
    const reeve_layer layers[] = {
        {REEVE_LAYER, .name = "one", .run = pass, .user = (void *)"1a"},
        {REEVE_LAYER, .name = "other", .type = "other", .run = pass, .user = (void *)"xx"},
        {REEVE_LAYER, .name = "two", .type = "t", .run = pass, .user = (void *)"2b"},
        {REEVE_LAYER, .name = "three", .run = pass, .user = (void *)"3c"},
    };
    reeve_test_report *report = run(done, layers, 4);

    (void)state;
    assert_string_equal(seen, "123hcba");
    assert_string_equal(report->result.data, "result");
    reeve_test_report_free(report);
}

static void what_came_out_can_be_read(void **state)
{
    const reeve_layer of_done[] = {{.name = "look", .run = look, .user = (void *)"done|||-1|result"}};
    const reeve_layer of_retry[] = {
        {.name = "look", .run = look, .user = (void *)"retry|smtp|greylisted for 300 s|-1|"}};
    const reeve_layer of_silence[] = {{.name = "look",
                                       .run = look,
                                       .user = (void *)"retry|handler|the handler of \"t\" returned 1 without calling "
                                                       "an outcome function (reeve_task_done and so "
                                                       "on)|-1|"}};

    (void)state;
    reeve_test_report_free(run(done, of_done, 1));
    reeve_test_report_free(run(retry, of_retry, 1));
    reeve_test_report_free(run(silent, of_silence, 1));
}

static void it_can_be_replaced_by_what_is_made_of_it(void **state)
{
    const reeve_layer later_layer[] = {LAYER(later)}, short_layer[] = {LAYER(repeat), LAYER(shorten), LAYER(shorten)};
    reeve_test_report *report = run(retry, later_layer, 1);

    (void)state;
    assert_int_equal(report->outcome, REEVE_OUTCOME_RETRY);
    assert_int_equal(report->delay_ms, 7000);
    assert_string_equal(report->kind, "smtp");
    assert_string_equal(report->message, "greylisted for 300 s (smtp)");
    reeve_test_report_free(report);

    report = run(done, short_layer, 3);
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(report->result.length, 2);
    assert_string_equal(report->result.data, "lt");
    reeve_test_report_free(report);
}

static void the_handler_need_not_run(void **state)
{
    const reeve_layer layers[] = {{.name = "pass", .run = pass, .user = (void *)"()"}, LAYER(refuse)};
    reeve_test_report *report = run(done, layers, 2);

    (void)state;
    assert_string_equal(seen, "()");
    assert_int_equal(report->outcome, REEVE_OUTCOME_FAIL);
    assert_true(report->dead);
    assert_string_equal(report->kind, "closed");
    reeve_test_report_free(report);
}

/* A verb that a layer called before does not count as the handler's. */
static void next_begins_without_an_outcome(void **state)
{
    const reeve_layer layers[] = {LAYER(speak_first)};
    reeve_test_report *report = run(silent, layers, 1);

    (void)state;
    assert_int_equal(report->outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(report->kind, "handler");
    assert_int_equal(report->result.length, 0);
    reeve_test_report_free(report);
}

static void expect_misuse(const reeve_layer *layers, size_t count, const char *words, const char *calls)
{
    reeve_test_report *report;

    seen[0] = '\0';
    report = run(done, layers, count);
    assert_int_equal(report->outcome, REEVE_OUTCOME_RETRY);
    assert_string_equal(report->kind, "layer");
    if (strstr(report->message, words) == NULL) fail_msg("\"%s\" is not in: %s", words, report->message);
    assert_int_equal(report->result.length, 0);
    assert_string_equal(seen, calls);
    reeve_test_report_free(report);
}

static void misuse_is_a_failure_that_names_the_layer(void **state)
{
    const reeve_layer all[] = {LAYER(twice), LAYER(twice_and_honest), LAYER(say_nothing), LAYER(lie),
                               LAYER(with_another_task)};
    const reeve_layer inside[] = {{.name = "pass", .run = pass, .user = (void *)"()"}, LAYER(twice)};

    (void)state;
    expect_misuse(&all[0], 1, "the layer \"twice\" ran what is further in twice", "h");
    expect_misuse(&all[1], 1, "the layer \"twice_and_honest\" ran what is further in twice", "h");
    expect_misuse(&all[2], 1, "the layer \"say_nothing\" returned 1 without calling an outcome function", "");
    expect_misuse(&all[3], 1, "the layer \"lie\" returned 3, but the last outcome function returned 1", "h");
    expect_misuse(&all[4], 1, "the layer \"with_another_task\" ran what is further in with another task", "");
    expect_misuse(inside, 2, "the layer \"twice\" ran", "(h)");
}

static void outcomes_have_names(void **state)
{
    (void)state;
    assert_string_equal(reeve_outcome_name(REEVE_OUTCOME_NONE), "none");
    assert_string_equal(reeve_outcome_name(REEVE_OUTCOME_DONE), "done");
    assert_string_equal(reeve_outcome_name(REEVE_OUTCOME_RETRY), "retry");
    assert_string_equal(reeve_outcome_name(REEVE_OUTCOME_FAIL), "fail");
    assert_string_equal(reeve_outcome_name(REEVE_OUTCOME_SNOOZE), "snooze");
    assert_string_equal(reeve_outcome_name((reeve_outcome)77), "none");
}

/* ---- what it costs --------------------------------------------------------------------------------------------- */

static void run_all(const reeve_layer *const *layers, reeve_task *task)
{
    const reeve_handler handler = {.type = "t", .run = silent};

    rv_task_begin(task);
    (void)rv_layers_run(layers, task, &handler);
}

static void a_run_with_layers_takes_no_memory(void **state)
{
    const reeve_layer one = {.name = "one", .run = pass, .user = (void *)"12"};
    const reeve_layer *const layers[] = {&one, &one, &one, NULL};
    reeve_task task;

    (void)state;
    rv_task_init(&task);
    (void)rv_mem_fail_at(0);
    run_all(layers, &task);
    assert_int_equal(rv_mem_fail_at(0), 0);
    assert_string_equal(seen, "111222");
    run_all(NULL, &task);
    run_all(layers + 3, &task);
    assert_string_equal(seen, "111222");
    rv_task_fini(&task);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

/* ---- before and after an attempt ------------------------------------------------------------------------------- */

static void before(reeve_task *task, void *user)
{
    const char *signs = user;
    note((char[]){signs[0], '\0'});
    if (signs[2] == '!') (void)reeve_task_fail(task, "closed", "not today");
}

static void after(reeve_task *task, void *user)
{
    const char *signs = user;
    note((char[]){signs[1], '\0'});
    if (signs[2] == '+') (void)reeve_task_done(task, signs, 1);
}

static void note_count(reeve_task *const *tasks, size_t count, void *user)
{
    (void)tasks;
    (void)user;
    note((char[]){(char)('0' + count), '\0'});
}

static void one_layer_has_all_functions(void **state)
{
    const reeve_layer layers[] = {
        {REEVE_LAYER, .name = "a", .before = before, .run = pass, .after = after, .user = (void *)"aA "},
        {REEVE_LAYER, .name = "b", .before = before, .after = after, .user = (void *)"bB+"}};
    reeve_test_report *report;
    (void)state;
    report = run(done, layers, 2);
    assert_string_equal(seen, "aabhBAA");
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    assert_memory_equal(report->result.data, "b", 1);
    reeve_test_report_free(report);
}

static void a_layer_before_ends_the_attempt(void **state)
{
    const reeve_layer layers[] = {
        {REEVE_LAYER, .name = "a", .before = before, .after = after, .user = (void *)"aA "},
        {REEVE_LAYER, .name = "b", .before = before, .run = pass, .after = after, .user = (void *)"bB!"}};
    reeve_test_report *report;
    (void)state;
    report = run(done, layers, 2);
    assert_string_equal(seen, "abA");
    assert_int_equal(report->outcome, REEVE_OUTCOME_FAIL);
    assert_string_equal(report->kind, "closed");
    reeve_test_report_free(report);
}

/* For the tasks of a pattern, `before` and `after` are chosen by the type of the task, as at its enqueue. */
static void a_pattern_has_the_layers_of_its_tasks(void **state)
{
    const reeve_layer layers[] = {
        {REEVE_LAYER, .name = "n", .type = "mail.news", .before = before, .run = pass, .after = after,
         .user = (void *)"nN "},
        {REEVE_LAYER, .name = "m", .type = "mail.*", .before = before, .run = pass, .after = after,
         .user = (void *)"mM "},
        {REEVE_LAYER, .name = "o", .type = "mail.other", .before = before, .after = after, .user = (void *)"oO "}};
    const reeve_handler handler = {.type = "mail.*", .run = done};
    (void)state;
    reeve_test_report_free(
        reeve_test_run(&handler, &(reeve_test_options){.layers = layers, .layer_count = 3, .type = "mail.news"}));
    assert_string_equal(seen, "nmmhMMN");
    seen[0] = '\0';
    reeve_test_report_free(
        reeve_test_run(&handler, &(reeve_test_options){.layers = layers, .layer_count = 3, .type = "mail.other"}));
    assert_string_equal(seen, "mmohOMM");
}

/* A batch has tasks of several types. */
static void each_task_of_a_batch_has_the_layers_of_its_type(void **state)
{
    const reeve_layer layer = {.name = "n", .type = "m.n", .before = before, .after = after, .user = (void *)"nN "};
    const reeve_layer *const layers[] = {&layer, NULL};
    const reeve_handler handler = {.type = "m.*", .run_batch = note_count};
    reeve_task tasks[3], *list[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rv_task_init(&tasks[i]);
        rv_task_begin(&tasks[i]);
        tasks[i].type = i == 1 ? "m.n" : "m.o";
        list[i] = &tasks[i];
    }
    rv_layers_run_batch(layers, list, 3, &handler);
    assert_string_equal(seen, "n3N");
    for (size_t i = 0; i < 3; i++) rv_task_fini(&tasks[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_is_the_outermost),
        TEST(what_came_out_can_be_read),
        TEST(it_can_be_replaced_by_what_is_made_of_it),
        TEST(the_handler_need_not_run),
        TEST(next_begins_without_an_outcome),
        TEST(misuse_is_a_failure_that_names_the_layer),
        TEST(outcomes_have_names),
        TEST(a_run_with_layers_takes_no_memory),
        TEST(one_layer_has_all_functions),
        TEST(a_layer_before_ends_the_attempt),
        TEST(a_pattern_has_the_layers_of_its_tasks),
        TEST(each_task_of_a_batch_has_the_layers_of_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
