/* Nobody serves the queues: whoever ends or changes a task tells the tasks of other queues at once. */
#include "protocol/scripts.h"
#include "reeve/change.h"
#include "reeve/dead.h"
#include "reeve/signal.h"
#include "support/depend.h"
#include "support/script.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void nothing_is_left_to_tell(void)
{
    assert_int_equal(test_number("EXISTS reeve:{q}:outbox reeve:{q}:fanout reeve:{q}:fanout_far"), 0);
    assert_int_equal(test_number("EXISTS reeve:{p}:outbox reeve:{p}:fanout reeve:{p}:fanout_far"), 0);
}

/* q/child is dead, because p/parent, for which it waits again when it is retried, died and was retried. */
static void put_dead_child(void)
{
    test_put("p", "parent");
    test_put_after("q", "child", "f:p/parent");
    test_ok(test_client, reeve_fail(test_client, "p", "parent", "k", "m"));
    test_state_is("q", "child", "dead");
    test_ok(test_client, reeve_retry(test_client, "p", "parent"));
}

static void has_registered(void)
{
    test_state_is("q", "child", "blocked");
    assert_int_equal(test_number("ZCARD reeve:{p}:children:parent"), 1);
    nothing_is_left_to_tell();
}

static void a_retried_task_waits_for_its_parents_again(void **state)
{
    (void)state;
    put_dead_child();
    test_ok(test_client, reeve_retry(test_client, "q", "child"));
    has_registered();
}

static void so_do_several(void **state)
{
    (void)state;
    const reeve_filter dead = {.state = REEVE_STATE_DEAD}, blocked = {.state = REEVE_STATE_BLOCKED};
    put_dead_child();
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &dead, NULL, NULL, NULL));
    has_registered();
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_CANCEL, &blocked, NULL, NULL, NULL));
    test_state_is("q", "child", "cancelled");
    assert_int_equal(test_number("ZCARD reeve:{p}:children:parent"), 0);
    nothing_is_left_to_tell();
}

static void a_lease_of_a_cancelled_task_ends(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("p", "child", "g:q/a");
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(TEST_SCRIPT(cancel, "reeve:{q}:", "a", "tell", ""), "running");
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    test_state_is("q", "a", "cancelled");
    test_state_is("p", "child", "ready");
    nothing_is_left_to_tell();
}

/* It waited for a death that has not come. */
static void a_signal_ends_a_task(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "undo", "x:q/a f:!go");
    test_put_after("p", "child", "g:q/undo");
    test_complete("q", "a");
    test_settle_queues("p q");
    test_state_is("p", "child", "blocked");
    test_ok(test_client, reeve_signal_task(test_client, "q", "undo", "go", (reeve_bytes){0}));
    test_state_is("p", "child", "ready");
    nothing_is_left_to_tell();
}

static void a_parent_that_is_dead_is_added(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put("q", "parent");
    test_put_after("q", "b", "f:q/parent");
    test_put_after("p", "child", "g:q/b");
    test_ok(test_client, reeve_fail(test_client, "q", "a", "k", "m"));
    test_add_edges("q", "b", "f:q/a");
    test_state_is("q", "b", "dead");
    test_state_is("p", "child", "ready");
    nothing_is_left_to_tell();
}

static void the_last_parent_is_removed(void **state)
{
    (void)state;
    const char *parents[] = {"p/a"};
    test_put("p", "a");
    test_put_after("q", "undo", "x:p/a");
    test_put_after("p", "child", "g:q/undo");
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "undo", parents, 1));
    test_state_is("p", "child", "ready");
    nothing_is_left_to_tell();
}

/* A task dies at once, which another one waited for before it was enqueued. */
static void a_task_with_a_dead_parent_is_enqueued(void **state)
{
    (void)state;
    test_put("p", "a");
    test_ok(test_client, reeve_fail(test_client, "p", "a", "k", "m"));
    const reeve_parent late = {.handle = "q/late", .on_death = REEVE_PARENT_GO, .unknown = REEVE_UNKNOWN_EXPECTED};
    test_put_spec((reeve_task_spec){.queue = "r", .id = "child", .after = &late, .after_count = 1});
    test_state_is("r", "child", "blocked");
    test_put_after("q", "late", "f:p/a");
    test_state_is("q", "late", "dead");
    test_state_is("r", "child", "ready");
    nothing_is_left_to_tell();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_retried_task_waits_for_its_parents_again, set_up),
        cmocka_unit_test_setup(so_do_several, set_up),
        cmocka_unit_test_setup(a_lease_of_a_cancelled_task_ends, set_up),
        cmocka_unit_test_setup(a_signal_ends_a_task, set_up),
        cmocka_unit_test_setup(a_parent_that_is_dead_is_added, set_up),
        cmocka_unit_test_setup(the_last_parent_is_removed, set_up),
        cmocka_unit_test_setup(a_task_with_a_dead_parent_is_enqueued, set_up),
    };
    return cmocka_run_group_tests_name("ct_unserved", tests, test_place_start, test_place_stop);
}
