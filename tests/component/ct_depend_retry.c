/* Tasks that are retried wait again for those of their parents that have not completed. */
#include "reeve/dead.h"
#include "support/depend.h"

static void a_cancelled_task_that_is_retried_waits_again(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "c", "f:q/a");
    test_ok(test_client, reeve_cancel(test_client, "q", "c"));
    assert_int_equal(test_number("EXISTS reeve:{q}:children:a"), 0);
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    test_state_is("q", "c", "blocked");
    test_complete("q", "a");
    test_state_is("q", "c", "ready");
    test_no_edges_left("q");
}

static void a_pipeline_is_retried_in_order(void **state)
{
    (void)state;
    const reeve_filter dead = {.size = sizeof(dead), .state = REEVE_STATE_DEAD};
    reeve_bulk_result swept;
    test_put("q", "z");
    test_put_after("q", "m", "f:q/z");
    test_put_after("q", "a", "f:q/m");
    test_kill("q", "z");
    test_settle_queues("q");
    test_state_is("q", "a", "dead");
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &dead, NULL, NULL, &swept));
    assert_int_equal(swept.done, 3);
    assert_int_equal(test_count("q", "ready"), 1);
    test_complete("q", "z");
    test_complete("q", "m");
    test_complete("q", "a");
    test_no_edges_left("q");
}

/* Alone, too: it dies again when its parent does. */
static void a_retried_child_waits_for_its_dead_parent(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "c", "f:q/a");
    test_kill("q", "a");
    test_settle_queues("q");
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    test_state_is("q", "c", "blocked");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_kill("q", "a");
    test_settle_queues("q");
    test_died_of("c", "q/a");
    test_ok(test_client, reeve_retry(test_client, "q", "c"));
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_complete("q", "a");
    test_state_is("q", "c", "ready");
    test_no_edges_left("q");
}

static void an_edge_that_ended_is_made_anew(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "g:q/a");
    test_kill("q", "a");
    test_settle_queues("q");
    test_state_is("q", "c", "ready");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_add_edges("q", "c", "f:q/a");
    test_state_is("q", "c", "blocked");
    test_add_edges("q", "c", "g:q/a");
    test_complete("q", "b");
    test_kill("q", "a");
    test_settle_queues("q");
    test_state_is("q", "c", "ready");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_cancelled_task_that_is_retried_waits_again, test_place_empty),
        cmocka_unit_test_setup(a_pipeline_is_retried_in_order, test_place_empty),
        cmocka_unit_test_setup(a_retried_child_waits_for_its_dead_parent, test_place_empty),
        cmocka_unit_test_setup(an_edge_that_ended_is_made_anew, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_depend_retry", tests, test_place_start, test_place_stop);
}
