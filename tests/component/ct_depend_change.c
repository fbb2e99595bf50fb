/* Edges that are added and removed by hand. */
#include "support/depend.h"

static void added_while_it_waits(void **state)
{
    (void)state;
    test_put("q", "a b c");
    test_add_edges("q", "a", "f:q/b");
    test_state_is("q", "a", "blocked");
    test_add_edges("q", "a", "f:q/b f:q/c fg:q/gone");
    test_complete("q", "b");
    test_state_is("q", "a", "blocked");
    test_complete("q", "c");
    test_state_is("q", "a", "ready");
    test_refused(test_client, reeve_add_dependency(test_client, "q", "b", &(reeve_parent){.handle = "q/a"}, 1),
                 REEVE_ESTATE, "completed");
    test_refused(test_client, reeve_add_dependency(test_client, "q", "no", &(reeve_parent){.handle = "q/a"}, 1),
                 REEVE_ENOTFOUND, "q/no");
    test_refused(test_client, reeve_add_dependency(test_client, "q", "a", &(reeve_parent){.handle = "q/a"}, 1),
                 REEVE_EINVAL, "itself");
}

static void a_scheduled_one_keeps_its_time(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_spec((reeve_task_spec){.id = "b", .in_ms = 3600000});
    reeve_task_info *before = test_show("q", "b");
    test_add_edges("q", "b", "f:q/a");
    test_state_is("q", "b", "blocked");
    test_complete("q", "a");
    reeve_task_info *after = test_show("q", "b");
    assert_int_equal(after->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(after->due_ms, before->due_ms);
    reeve_task_info_free(before);
    reeve_task_info_free(after);
}

static void added_to_one_that_is_dead(void **state)
{
    (void)state;
    test_put("q", "a");
    test_kill("q", "a");
    test_put("q", "b");
    test_add_edges("q", "b", "f:q/a");
    test_died_of("b", "q/a");
    assert_int_equal(test_count("q", "ready"), 0);
}

static void taken_away(void **state)
{
    (void)state;
    const char *both[] = {"q/a", "q/b"};
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a f:q/b");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "c", both, 1));
    test_state_is("q", "c", "blocked");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "c", both, 1));
    test_state_is("q", "c", "blocked");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "c", both, 2));
    test_state_is("q", "c", "ready");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "c", both, 2));
    test_no_edges_left("q");
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
}

static void held_until_all_are_named(void **state)
{
    (void)state;
    const char *open = REEVE_PARENT_OPEN;
    test_put_after("q", "c", "f:!");
    test_settle_queues("q");
    test_state_is("q", "c", "blocked");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "c", &open, 1));
    test_state_is("q", "c", "ready");
}

static void malformed(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "q", "/a", "q/", "q/a b", "q /a", "q/a/b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const reeve_parent after = {.handle = bad[i]};
        const reeve_task_spec spec = {.queue = "q", .type = "t", .after = &after, .after_count = 1};
        test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_EINVAL, "must be a handle");
    }
    const reeve_parent rule = {.handle = "q/a", .on_death = (reeve_on_parent_death)4};
    const reeve_task_spec spec = {.queue = "q", .type = "t", .after = &rule, .after_count = 1};
    test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_EINVAL, "no rule 4");
}

static void not_taken_from_what_does_not_wait(void **state)
{
    (void)state;
    test_hand hand;
    test_put("q", "a b");
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_refused(test_client, reeve_remove_dependency(test_client, "q", "a", (const char *[]){"q/b"}, 1), REEVE_ESTATE,
                 "it is running");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(not_taken_from_what_does_not_wait, test_place_empty),
        cmocka_unit_test_setup(added_while_it_waits, test_place_empty),
        cmocka_unit_test_setup(a_scheduled_one_keeps_its_time, test_place_empty),
        cmocka_unit_test_setup(added_to_one_that_is_dead, test_place_empty),
        cmocka_unit_test_setup(taken_away, test_place_empty),
        cmocka_unit_test_setup(held_until_all_are_named, test_place_empty),
        cmocka_unit_test_setup(malformed, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_change", tests, test_place_start, test_place_stop);
}
