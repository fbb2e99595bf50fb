/* Tasks that wait for others in the same queue: what each policy makes of the end of a parent, and of an unknown
 * one. */
#include <stdio.h>

#include "support/depend.h"

#define Q "reeve:{q}:"

/* ---- policies ---------------------------------------------------------------------------------------------------- */

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
        cmocka_unit_test_setup(fails_with_its_parent, test_place_empty),
        cmocka_unit_test_setup(an_unknown_parent_is_refused, test_place_empty),
        cmocka_unit_test_setup(a_parent_whose_record_is_gone, test_place_empty),
        cmocka_unit_test_setup(goes_on_without_it, test_place_empty),
        cmocka_unit_test_setup(waits_for_a_retry, test_place_empty),
        cmocka_unit_test_setup(waits_for_one_that_is_dead_already, test_place_empty),
        cmocka_unit_test_setup(a_dead_parent_s_record_goes, test_place_empty),
        cmocka_unit_test_setup(at_the_first_death, test_place_empty),
        cmocka_unit_test_setup(removed_without_a_death, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_policy", tests, test_place_start, test_place_stop);
}
