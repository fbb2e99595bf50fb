/* A queue goes, with its settings and name, and with its tasks where that is asked for. */
#include <string.h>

#include "reeve/change.h"
#include "reeve/cron.h"
#include "reeve/limits.h"
#include "reeve/watch.h"
#include "support/queue.h"

#define Q "reeve:{q}:"
#define ALL (REEVE_FORGET_TASKS | REEVE_FORGET_CRON | REEVE_FORGET_SERVED)

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* All keys of q but those that expire by themselves. */
static long long keys_left(void)
{
    return test_number("EVAL return#redis.call('KEYS','" Q "*')-#redis.call('KEYS','" Q "received:*') 0");
}

static bool is_known(void)
{
    return test_number("SISMEMBER reeve:queues q") == 1;
}

static void expect_gone(void)
{
    assert_int_equal(keys_left(), 0);
    assert_false(is_known());
}

static void an_empty_queue_goes_with_its_settings(void **state)
{
    (void)state;
    const reeve_keep none = {0, 0};
    const reeve_limit_change limit = {.of = REEVE_LIMIT_GROUP, .group = "g", .concurrency = 2};
    test_put("q", "a");
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_ok(test_client, reeve_limit(test_client, "q", &limit));
    test_ok(test_client, reeve_events_keep(test_client, "q", 100));
    test_ok(test_client, reeve_pause_for(test_client, "q", "h", 60000, NULL));
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_ok(test_client, reeve_queue_forget(test_client, "q", 0, NULL));
    expect_gone();
    test_refused(test_client, reeve_queue_forget(test_client, "q", 0, NULL), REEVE_ENOTFOUND, "no such queue: q");
}

static void a_queue_with_tasks_workers_or_entries_stays(void **state)
{
    (void)state;
    const reeve_task_spec task = {.queue = "q", .type = "t"};
    const reeve_cron_entry entry = {.name = "e", .spec = "every 60s", .task = &task};
    test_put("q", "a");
    test_refused(test_client, reeve_queue_forget(test_client, "q", 0, NULL), REEVE_ESTATE, "1 tasks");
    (void)test_lease(&hand, 1);
    test_refused(test_client, reeve_queue_forget(test_client, "q", REEVE_FORGET_TASKS, NULL), REEVE_ESTATE, "sessions");
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
    test_refused(test_client, reeve_queue_forget(test_client, "q", REEVE_FORGET_TASKS | REEVE_FORGET_SERVED, NULL),
                 REEVE_ESTATE, "entries");
    assert_string_equal(test_state("q", "a"), "running");
    test_refused(test_client, reeve_queue_forget(test_client, "q", 8, NULL), REEVE_EINVAL, "8");
    test_ok(test_client, reeve_queue_forget(test_client, "q", ALL, NULL));
    expect_gone();
    assert_int_equal(test_number("HLEN reeve:cron"), 0);
}

static void tasks_of_all_states_go_and_outcomes_are_refused(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/w1"};
    uint64_t deleted;
    const char *const tags[] = {"x"};
    test_put("q", "r c d k");
    assert_int_equal(test_lease(&hand, 4), 4);
    test_settle(&hand, TEST_RESULT("c", "result"), TEST_FAIL("d"));
    test_ok(test_client, reeve_cancel(test_client, "q", "k"));
    test_put_many("q", 700, "w%zu");
    test_put_spec((reeve_task_spec){.id = "u", .unique = "k", .tags = tags, .tag_count = 1, .group = "g"});
    test_put_spec((reeve_task_spec){.id = "s", .in_ms = 60000, .expires_in_ms = 90000, .on_dead = "t"});
    test_put_spec((reeve_task_spec){.id = "b", .after = &parent, .after_count = 1});
    test_ok(test_client, reeve_queue_forget(test_client, "q", ALL, &deleted));
    assert_true(deleted >= 707);
    expect_gone();
    test_settle(&hand, TEST_DONE("r"));
    assert_int_equal(test_number("EXISTS " Q "tasks"), 0);
}

static void tasks_of_other_queues_hear_of_it(void **state)
{
    (void)state;
    const reeve_parent parents[] = {{.handle = "q/a"}, {.handle = "q/later", .unknown = REEVE_UNKNOWN_EXPECTED}};
    test_put("q", "a");
    for (int i = 0; i < 2; i++) {
        const reeve_task_spec child = {
            .queue = "far", .type = "t", .id = i ? "c1" : "c0", .after = &parents[i], .after_count = 1};
        test_ok(test_client, reeve_enqueue(test_client, &child, NULL));
    }
    assert_string_equal(test_state("far", "c1"), "blocked");
    test_ok(test_client, reeve_queue_forget(test_client, "q", REEVE_FORGET_TASKS, NULL));
    assert_string_equal(test_state("far", "c0"), "dead");
    assert_string_equal(test_state("far", "c1"), "dead");
    expect_gone();
}

/* What is set for a queue that never had a task does not enter its name. */
static void a_name_that_was_only_mistyped_does_not_stay(void **state)
{
    (void)state;
    const reeve_limit_change limit = {.concurrency = 2};
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_ok(test_client, reeve_resume(test_client, "q"));
    test_ok(test_client, reeve_limit(test_client, "q", &limit));
    test_ok(test_client, reeve_pause_for(test_client, "q", NULL, 60000, NULL));
    test_ok(test_client, reeve_events_keep(test_client, "q", 10));
    assert_false(is_known());
    test_ok(test_client, reeve_queue_forget(test_client, "q", 0, NULL));
    expect_gone();
}

static void what_was_set_before_applies_to_the_first_task(void **state)
{
    (void)state;
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_put("q", "a");
    assert_true(is_known());
    assert_int_equal(test_lease(&hand, 1), 0);
    test_ok(test_client, reeve_resume(test_client, "q"));
    assert_int_equal(test_lease(&hand, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_empty_queue_goes_with_its_settings, set_up),
        cmocka_unit_test_setup(a_queue_with_tasks_workers_or_entries_stays, set_up),
        cmocka_unit_test_setup(tasks_of_all_states_go_and_outcomes_are_refused, set_up),
        cmocka_unit_test_setup(tasks_of_other_queues_hear_of_it, set_up),
        cmocka_unit_test_setup(a_name_that_was_only_mistyped_does_not_stay, set_up),
        cmocka_unit_test_setup(what_was_set_before_applies_to_the_first_task, set_up),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
