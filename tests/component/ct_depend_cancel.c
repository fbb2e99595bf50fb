/* Tasks for which others wait are cancelled and deleted. */
#include "reeve/dead.h"
#include "support/depend.h"

#define Q "reeve:{q}:"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(refused_while_others_wait, test_place_empty),
        cmocka_unit_test_setup(cancelled_with_all_that_follow, test_place_empty),
        cmocka_unit_test_setup(deleted_with_all_that_follow, test_place_empty),
        cmocka_unit_test_setup(deleted_after_its_death, test_place_empty),
        cmocka_unit_test_setup(a_filter_leaves_them_alone, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_cancel", tests, test_place_start, test_place_stop);
}
