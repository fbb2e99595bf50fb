/* ut_testing_chain.c - reeve/testing.h: tasks that a handler under test chains. */
#include <string.h>

#include "base/mem.h"
#include "reeve/depend.h"
#include "reeve/testing.h"
#include "support/cmocka.h"

static reeve_test_report *run(reeve_handler_fn handler, const char *payload, const reeve_test_options *options)
{
    reeve_test_options with = options != NULL ? *options : (reeve_test_options){0};
    with.payload = reeve_test_text(payload);
    reeve_test_report *report = reeve_test_run(&(reeve_handler){.run = handler}, &with);
    assert_non_null(report);
    if (report->status != REEVE_OK) fail_msg("%s", report->message);
    return report;
}

/* Hands two on, and ends as the payload says. */
static reeve_outcome hand_two(reeve_task *task, void *user)
{
    const reeve_task_spec first = {.queue = "mail", .type = "send", .payload = {"a\0b", 3}};
    const reeve_task_spec second = {.queue = "web",
                                    .type = "index/page",
                                    .id = "seven",
                                    .group = "acme",
                                    .unique = "page 7",
                                    .priority = -3,
                                    .in_ms = 5000};
    char id[REEVE_ID_MAX];
    (void)user;
    if (reeve_task_chain(task, &first, id) != REEVE_OK) return reeve_task_retry(task, -1, "memory", "none");
    assert_string_equal(id, "chained-1");
    if (reeve_task_chain(task, &second, id) != REEVE_OK) return reeve_task_retry(task, -1, "memory", "none");
    assert_string_equal(id, "seven");
    switch (*(const char *)reeve_task_payload(task).data) {
    case 'd':
        return reeve_task_done(task, NULL, 0);
    case 'r':
        return reeve_task_retry(task, 0, "k", "m");
    case 'f':
        return reeve_task_fail(task, "k", "m");
    default:
        return reeve_task_snooze(task, 1);
    }
}

static void they_stand_in_the_report(void **state)
{
    reeve_test_report *report = run(hand_two, "done", NULL);
    (void)state;
    assert_int_equal(report->chained_count, 2);
    const reeve_test_chained *one = &report->chained[0], *other = &report->chained[1];
    assert_string_equal(one->handle, "mail/chained-1");
    assert_string_equal(one->type, "send");
    assert_int_equal(one->payload.length, 3);
    assert_memory_equal(one->payload.data, "a\0b", 4);
    assert_null(one->group);
    assert_null(one->unique);
    assert_string_equal(other->handle, "web/seven");
    assert_string_equal(other->type, "index/page");
    assert_string_equal(other->payload.data, "");
    assert_string_equal(other->group, "acme");
    assert_string_equal(other->unique, "page 7");
    assert_int_equal(other->priority, -3);
    assert_int_equal(other->delay_ms, 5000);
    assert_int_equal(other->at_ms, 0);
    reeve_test_report_free(report);
}

/* They are enqueued with its completion, or not at all. */
static void only_when_it_is_done(void **state)
{
    static const char *const ends[] = {"retry", "fail", "snooze"};
    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        reeve_test_report *report = run(hand_two, ends[i], NULL);
        assert_int_equal(report->chained_count, 0);
        reeve_test_report_free(report);
    }
}

static reeve_outcome hand_late(reeve_task *task, void *user)
{
    assert_int_equal(reeve_task_chain(task, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL), REEVE_OK);
    reeve_test_clock_move(user, 2000);
    return reeve_task_done(task, NULL, 0);
}

static void not_after_the_time_limit(void **state)
{
    reeve_test_clock clock = {0};
    const reeve_handler handler = {.run = hand_late, .user = &clock};
    reeve_test_report *report = reeve_test_run(&handler, &(reeve_test_options){.clock = &clock, .timeout_ms = 1000});
    (void)state;
    assert_true(report->late);
    assert_int_equal(report->chained_count, 0);
    reeve_test_report_free(report);
}

static reeve_outcome hand_what_cannot_be(reeve_task *task, void *user)
{
    (void)user;
    assert_int_equal(reeve_task_chain(task, &(reeve_task_spec){.queue = "no queue", .type = "t"}, NULL), REEVE_EINVAL);
    for (int i = 0; i < REEVE_CHAIN_MAX; i++)
        assert_int_equal(reeve_task_chain(task, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL), REEVE_OK);
    assert_int_equal(reeve_task_chain(task, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL), REEVE_ETOOBIG);
    return reeve_task_done(task, NULL, 0);
}

static void what_was_refused_is_not_there(void **state)
{
    reeve_test_report *report = run(hand_what_cannot_be, "", NULL);
    (void)state;
    assert_int_equal(report->chained_count, REEVE_CHAIN_MAX);
    assert_string_equal(report->chained[REEVE_CHAIN_MAX - 1].handle, "q/chained-1000");
    reeve_test_report_free(report);
}

static reeve_outcome hand_too_late(reeve_task *task, void *user)
{
    (void)user;
    assert_int_equal(reeve_task_chain(task, &(reeve_task_spec){.queue = "q", .type = "t"}, NULL), REEVE_EREFUSED);
    return reeve_task_done(task, NULL, 0);
}

/* One that runs at most once was completed before: nothing goes with it any more. */
static void not_at_most_once(void **state)
{
    const reeve_handler handler = {.run = hand_too_late, .at_most_once = true};
    reeve_test_report *report = reeve_test_run(&handler, NULL);
    (void)state;
    assert_int_equal(report->outcome, REEVE_OUTCOME_DONE);
    assert_int_equal(report->chained_count, 0);
    reeve_test_report_free(report);
}

static void without_memory_it_is_told(void **state)
{
    bool whole = false;
    (void)state;
    for (unsigned long nth = 1; !whole; nth++) {
        assert_true(nth < 40);
        (void)rv_mem_fail_at(nth);
        reeve_test_report *report =
            reeve_test_run(&(reeve_handler){.run = hand_two}, &(reeve_test_options){.payload = {"done", 4}});
        (void)rv_mem_fail_at(0);
        whole = report != NULL && report->outcome == REEVE_OUTCOME_DONE;
        if (whole) assert_int_equal(report->chained_count, 2);
        if (report != NULL && !whole) assert_int_equal(report->chained_count, 0);
        reeve_test_report_free(report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_stand_in_the_report), cmocka_unit_test(only_when_it_is_done),
        cmocka_unit_test(not_after_the_time_limit), cmocka_unit_test(what_was_refused_is_not_there),
        cmocka_unit_test(not_at_most_once),         cmocka_unit_test(without_memory_it_is_told),
    };
    return cmocka_run_group_tests_name("ut_testing_chain", tests, NULL, NULL);
}
