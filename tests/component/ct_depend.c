/* Tasks that wait for others in the same queue: how parents end, what each policy makes of it, edges by hand, and
 * cancelling. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/dead.h"
#include "support/depend.h"

#define Q "reeve:{q}:"

/* ---- how it becomes ready -------------------------------------------------------------------------------------- */

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

/* ---- policies -------------------------------------------------------------------------------------------------- */

static void fails_with_its_parent(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a f:q/b");
    test_put_after("q", "d", "f:q/c");
    test_kill("q", "a");
    test_settle_queues("q");
    test_died_of("c", "q/a");
    test_died_of("d", "q/c");
    test_no_edges_left("q");
    /* Retried it waits for both again; by hand it runs after all. */
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    test_state_is("q", "c", "blocked");
    test_complete("q", "b");
    test_state_is("q", "c", "blocked");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "c", (const char *[]){"q/a"}, 1));
    test_state_is("q", "c", "ready");
}

static void goes_on_without_it(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "g:q/a f:q/b");
    test_kill("q", "a");
    test_settle_queues("q");
    test_state_is("q", "c", "blocked");
    test_complete("q", "b");
    test_state_is("q", "c", "ready");
}

static void waits_for_a_retry(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "w:q/a");
    test_kill("q", "a");
    test_settle_queues("q");
    test_state_is("q", "b", "blocked");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_complete("q", "a");
    test_state_is("q", "b", "ready");
    test_complete("q", "b");
    test_no_edges_left("q");
}

static void waits_for_one_that_is_dead_already(void **state)
{
    (void)state;
    test_put("q", "a");
    test_kill("q", "a");
    test_put_after("q", "w", "w:q/a");
    test_put_after("q", "g", "g:q/a");
    test_put_after("q", "f", "f:q/a");
    test_put_after("q", "x", "x:q/a");
    test_state_is("q", "w", "blocked");
    test_state_is("q", "g", "ready");
    test_state_is("q", "x", "ready");
    test_died_of("f", "q/a");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_complete("q", "g");
    test_complete("q", "x");
    test_complete("q", "a");
    test_state_is("q", "w", "ready");
}

static void a_dead_parent_s_record_goes(void **state)
{
    (void)state;
    const reeve_keep one = {-1, 1};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.dead = &one}));
    test_put("q", "a b");
    test_put_after("q", "c", "w:q/a");
    test_kill("q", "a");
    test_settle_queues("q");
    test_state_is("q", "c", "blocked");
    test_kill("q", "b");
    test_settle_queues("q");
    test_state_is("q", "a", "");
    test_died_of("c", "deleted");
}

static void at_the_first_death(void **state)
{
    (void)state;
    test_put("q", "a b c");
    test_put_after("q", "x", "x:q/a x:q/b x:q/c");
    test_complete("q", "a");
    test_state_is("q", "x", "blocked");
    test_kill("q", "b");
    test_settle_queues("q");
    test_state_is("q", "x", "ready");
    test_complete("q", "c");
    test_complete("q", "x");
}

static void removed_without_a_death(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_spec((reeve_task_spec){
        .id = "x", .unique = "u", .after = &(reeve_parent){.handle = "q/a", .on_death = 3}, .after_count = 1});
    test_add_edges("q", "x", "x:q/b");
    test_complete("q", "a");
    test_complete("q", "b");
    test_settle_queues("q");
    test_state_is("q", "x", "");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "unique:*"), "[]");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "parents:*"), "[]");
    test_no_edges_left("q");
}

/* ---- edges by hand --------------------------------------------------------------------------------------------- */

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

/* ---- shown ----------------------------------------------------------------------------------------------------- */

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

/* ---- cancel and delete ----------------------------------------------------------------------------------------- */

static void refused_while_others_wait(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_put_after("q", "c", "w:q/a");
    test_refused(test_client, reeve_cancel(test_client, "q", "a"), REEVE_ESTATE, "others wait for it (2)");
    test_refused(test_client, reeve_delete(test_client, "q", "a"), REEVE_ESTATE, "others wait for it (2)");
    test_state_is("q", "a", "ready");
    /* Those that do not wait any more do not count. */
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_refused(test_client, reeve_cancel(test_client, "q", "a"), REEVE_ESTATE, "others wait for it (1)");
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_no_edges_left("q");
    assert_string_equal(test_cmd(test_conn, "EXISTS " Q "parents:c"), "0");
}

static void cancelled_with_all_that_follow(void **state)
{
    (void)state;
    test_put("q", "a z");
    test_put_after("q", "b", "f:q/a");
    test_put_after("q", "c", "g:q/b f:q/z");
    test_put_after("q", "d", "w:q/c");
    test_ok(test_client, reeve_cancel_cascade(test_client, "q", "a"));
    test_settle_queues("q");
    test_state_is("q", "a", "cancelled");
    test_state_is("q", "b", "cancelled");
    test_state_is("q", "c", "cancelled");
    test_state_is("q", "d", "cancelled");
    test_state_is("q", "z", "ready");
    test_no_edges_left("q");
}

static void deleted_with_all_that_follow(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_ok(test_client, reeve_delete_cascade(test_client, "q", "a"));
    test_settle_queues("q");
    test_state_is("q", "a", "");
    test_state_is("q", "b", "cancelled");
    test_no_edges_left("q");
}

static void deleted_after_its_death(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "w:q/a");
    test_kill("q", "a");
    test_settle_queues("q");
    test_refused(test_client, reeve_delete(test_client, "q", "a"), REEVE_ESTATE, "others wait for it (1)");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "b", (const char *[]){"q/a"}, 1));
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_state_is("q", "b", "ready");
    test_no_edges_left("q");
}

static void a_filter_leaves_them_alone(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a");
    reeve_bulk_result swept;
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_CANCEL,
                                           &(reeve_filter){.state = REEVE_STATE_READY}, NULL, NULL, &swept));
    test_state_is("q", "a", "ready");
    test_state_is("q", "b", "cancelled");
}

/* ---- parents that are not known ---------------------------------------------------------------------------------- */

static void an_unknown_parent_is_refused(void **state)
{
    (void)state;
    const reeve_parent typo = {.handle = "q/typo"};
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "c", .after = &typo, .after_count = 1};
    test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_ENOTFOUND, "q/c cannot wait for q/typo");
    test_state_is("q", "c", "");
    test_put("q", "b");
    test_refused(test_client, reeve_add_dependency(test_client, "q", "b", &typo, 1), REEVE_ENOTFOUND, "q/typo");
    test_state_is("q", "b", "ready");
    /* Those of one call may wait for each other, in any order. */
    const reeve_parent later = {.handle = "q/e"};
    const reeve_task_spec both[] = {{.queue = "q", .type = "t", .id = "d", .after = &later, .after_count = 1},
                                    {.queue = "q", .type = "t", .id = "e"}};
    reeve_enqueued results[2];
    test_ok(test_client, reeve_enqueue_many(test_client, both, 2, results));
    test_state_is("q", "d", "blocked");
    test_put_after("q", "f", "fg:q/typo");
    test_state_is("q", "f", "ready");
}

/* Its id says when it was made, and the queue what it keeps: this one may be gone. */
static void a_parent_whose_record_is_gone(void **state)
{
    (void)state;
    static const char old[] = "q/01900000-0000-7000-8000-000000000000",
                      to_come[] = "q/f1900000-0000-7000-8000-000000000000";
    const reeve_keep none = {0, 0};
    const reeve_parent after[] = {{.handle = old}, {.handle = to_come}};
    test_put_spec((reeve_task_spec){.id = "c", .after = after, .after_count = 1});
    test_state_is("q", "c", "ready");
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "d", .after = &after[1], .after_count = 1};
    test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_ENOTFOUND, to_come);
    /* One that was made just now, and is not kept. */
    char id[REEVE_ID_MAX], handle[REEVE_HANDLE_MAX];
    test_ok(test_client, reeve_queue_set(test_client, "p", &(reeve_queue_settings){.completed = &none}));
    test_ok(test_client, reeve_enqueue(test_client, &(reeve_task_spec){.queue = "p", .type = "t"}, id));
    test_complete("p", id);
    (void)snprintf(handle, sizeof(handle), "p/%s", id);
    const reeve_parent gone = {.handle = handle};
    test_put_spec((reeve_task_spec){.queue = "p", .id = "e", .after = &gone, .after_count = 1});
    assert_string_equal(test_state("p", "e"), "ready");
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
        cmocka_unit_test_setup(fails_with_its_parent, test_place_empty),
        cmocka_unit_test_setup(an_unknown_parent_is_refused, test_place_empty),
        cmocka_unit_test_setup(a_parent_whose_record_is_gone, test_place_empty),
        cmocka_unit_test_setup(not_taken_from_what_does_not_wait, test_place_empty),
        cmocka_unit_test_setup(goes_on_without_it, test_place_empty),
        cmocka_unit_test_setup(waits_for_a_retry, test_place_empty),
        cmocka_unit_test_setup(waits_for_one_that_is_dead_already, test_place_empty),
        cmocka_unit_test_setup(a_dead_parent_s_record_goes, test_place_empty),
        cmocka_unit_test_setup(at_the_first_death, test_place_empty),
        cmocka_unit_test_setup(removed_without_a_death, test_place_empty),
        cmocka_unit_test_setup(added_while_it_waits, test_place_empty),
        cmocka_unit_test_setup(a_scheduled_one_keeps_its_time, test_place_empty),
        cmocka_unit_test_setup(added_to_one_that_is_dead, test_place_empty),
        cmocka_unit_test_setup(taken_away, test_place_empty),
        cmocka_unit_test_setup(held_until_all_are_named, test_place_empty),
        cmocka_unit_test_setup(malformed, test_place_empty),
        cmocka_unit_test_setup(shown, test_place_empty),
        cmocka_unit_test_setup(the_state_of_a_parent_is_shown, test_place_empty),
        cmocka_unit_test_setup(refused_while_others_wait, test_place_empty),
        cmocka_unit_test_setup(cancelled_with_all_that_follow, test_place_empty),
        cmocka_unit_test_setup(deleted_with_all_that_follow, test_place_empty),
        cmocka_unit_test_setup(deleted_after_its_death, test_place_empty),
        cmocka_unit_test_setup(a_filter_leaves_them_alone, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend", tests, test_place_start, test_place_stop);
}
