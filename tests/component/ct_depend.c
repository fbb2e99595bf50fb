/* Tasks that wait for others in the same queue: how they become ready, and how they are shown. */
#include "support/depend.h"

#define Q "reeve:{q}:"

/* ---- how it becomes ready ---------------------------------------------------------------------------------------- */

static void waits_for_all_its_parents(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a f:q/b");
    test_state_is("q", "c", "blocked");
    test_complete("q", "a");
    test_state_is("q", "c", "blocked");
    test_complete("q", "b");
    test_state_is("q", "c", "ready");
    test_complete("q", "c");
    test_state_is("q", "c", "completed");
    test_no_edges_left("q");
}

static void one_parent_for_many(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_put_after("q", "c", "f:q/a");
    test_complete("q", "a");
    test_complete("q", "b");
    test_complete("q", "c");
}

static void its_priority_and_its_time(void **state)
{
    (void)state;
    const reeve_parent after = {.handle = "q/a"};
    test_put("q", "a z");
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = 3600000, .after = &after, .after_count = 1});
    test_put_spec((reeve_task_spec){.id = "first", .priority = -1, .after = &after, .after_count = 1});
    test_state_is("q", "later", "blocked");
    test_complete("q", "a");
    test_state_is("q", "later", "scheduled");
    test_complete("q", "first");
    test_complete("q", "z");
}

static void parents_that_have_ended(void **state)
{
    (void)state;
    test_put("q", "a");
    test_complete("q", "a");
    test_put_after("q", "b", "f:q/a fg:q/never");
    test_state_is("q", "b", "ready");
    test_complete("q", "b");
    test_no_edges_left("q");
}

static void parents_of_the_same_call(void **state)
{
    (void)state;
    const reeve_parent first = {.handle = "q/a"}, second = {.handle = "q/b"};
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .id = "c", .after = &second, .after_count = 1},
                                     {.queue = "q", .type = "t", .id = "b", .after = &first, .after_count = 1},
                                     {.queue = "q", .type = "t", .id = "a"}};
    reeve_enqueued results[3];
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 3, results));
    test_state_is("q", "c", "blocked");
    test_state_is("q", "b", "blocked");
    test_complete("q", "a");
    test_complete("q", "b");
    test_complete("q", "c");
}

static void nothing_kept(void **state)
{
    (void)state;
    const reeve_keep none = {0, 0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none, .dead = &none}));
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_put_after("q", "c", "w:q/b");
    test_complete("q", "a");
    test_complete("q", "b");
    test_complete("q", "c");
    test_no_edges_left("q");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "parents:*"), "[]");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "info:*"), "[]");
    /* A dead one that is not kept cannot be retried: who waits for that waits no longer. */
    test_put("q", "d");
    test_put_after("q", "e", "w:q/d");
    test_kill("q", "d");
    test_settle_queues("q");
    test_state_is("q", "e", "");
    test_no_edges_left("q");
}

static void a_snoozed_parent_has_not_ended(void **state)
{
    (void)state;
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_RETRY("a", 0));
    test_state_is("q", "b", "blocked");
}

static void flag_goes_with_the_last_edge(void **state)
{
    (void)state;
    test_put("q", "a");
    (void)test_maintain("q", 200);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings waiters"), "(nil)");
    test_put_after("q", "b", "f:q/a");
    (void)test_maintain("q", 200);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings waiters"), "1");
    test_complete("q", "a");
    (void)test_maintain("q", 200);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings waiters"), "(nil)");
}

/* ---- shown ------------------------------------------------------------------------------------------------------- */

static void shown(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a w:q/b");
    test_complete("q", "a");
    reeve_task_info *child = test_show("q", "c"), *parent = test_show("q", "b");
    assert_string_equal(child->parents, "[{\"handle\":\"q/a\",\"on_death\":\"fail\",\"ended\":\"completed\"},"
                                        "{\"handle\":\"q/b\",\"on_death\":\"wait\",\"state\":\"ready\"}]");
    assert_int_equal(child->parent_count, 2);
    assert_null(child->children);
    assert_string_equal(parent->children, "[\"q/c\"]");
    assert_int_equal(parent->child_count, 1);
    reeve_task_info_free(child);
    reeve_task_info_free(parent);
}

/* One that died is not shown as if it were to end yet. */
static void the_state_of_a_parent_is_shown(void **state)
{
    test_hand hand;
    (void)state;
    test_put("q", "b");
    test_put("other", "x");
    test_put_after("q", "c", "w:q/b w:other/x");
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_FAIL("b"));
    assert_string_equal(test_state("q", "b"), "dead");
    reeve_task_info *child = test_show("q", "c");
    assert_string_equal(child->parents, "[{\"handle\":\"q/b\",\"on_death\":\"wait\",\"state\":\"dead\"},"
                                        "{\"handle\":\"other/x\",\"on_death\":\"wait\"}]");
    reeve_task_info_free(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waits_for_all_its_parents, test_place_empty),
        cmocka_unit_test_setup(one_parent_for_many, test_place_empty),
        cmocka_unit_test_setup(its_priority_and_its_time, test_place_empty),
        cmocka_unit_test_setup(parents_that_have_ended, test_place_empty),
        cmocka_unit_test_setup(parents_of_the_same_call, test_place_empty),
        cmocka_unit_test_setup(nothing_kept, test_place_empty),
        cmocka_unit_test_setup(a_snoozed_parent_has_not_ended, test_place_empty),
        cmocka_unit_test_setup(flag_goes_with_the_last_edge, test_place_empty),
        cmocka_unit_test_setup(shown, test_place_empty),
        cmocka_unit_test_setup(the_state_of_a_parent_is_shown, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend", tests, test_place_start, test_place_stop);
}
