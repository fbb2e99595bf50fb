/* reeve check, of tasks that wait for others: edges in the same queue and to another one, and what is told in steps. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/check.h"
#include "support/depend.h"
#include "support/script.h"

#define Q "reeve:{q}:"
#define P "reeve:{p}:"

static void is_repaired(const char *findings)
{
    test_check_finds("q", findings);
    test_check_repairs("q", findings);
}

static void nothing_is_found_while_tasks_wait(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put("p", "x");
    test_put_after("q", "b", "f:q/a w:p/x");
    test_put_after("q", "c", "x:q/b fg:p/y");
    test_check_finds("q", "");
    test_settle_queues("p q");
    test_check_finds("q", "");
    test_check_finds("p", "");
    test_complete("p", "x");
    test_check_finds("q", "");
    test_complete("q", "a");
    test_settle_queues("p q");
    test_check_finds("q", "");
    test_complete("q", "b");
    test_check_finds("q", "");
    test_settle_all();
}

/* ---- the number of parents ------------------------------------------------------------------------------------- */

static void parents_are_counted_again(void **state)
{
    static const char *const wrong[] = {"HSET " Q "info:b pending 1", "HSET " Q "info:b pending 5",
                                        "HDEL " Q "info:b pending", "HSET " Q "info:b restoring 7 pending 1"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        (void)test_place_empty(state);
        test_put("q", "a c");
        test_put_after("q", "b", "f:q/a f:q/c");
        test_cmd(test_conn, "%s", wrong[i]);
        is_repaired("blocked_pending b");
        test_settle_queues("q");
        test_complete("q", "a");
        test_state_is("q", "b", "blocked");
        test_complete("q", "c");
        test_check_drains("q", 1);
    }
}

static void a_task_without_parents_is_released(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_cmd(test_conn, "DEL " Q "parents:b");
    test_check_finds("q", "blocked_pending b, child_stray q/b children:a");
    test_check_repairs_all("q");
    test_check_drains("q", 2);
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static void a_child_that_its_parent_does_not_know_is_registered_again(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_cmd(test_conn, "DEL " Q "children:a");
    test_check_finds("q", "edge_untold q/a parents:b, linked_stale a");
    test_check_repairs_all("q");
    test_settle_queues("q");
    test_check_finds("q", "");
    test_complete("q", "a");
    test_state_is("q", "b", "ready");
    test_check_drains("q", 1);
}

static void a_child_is_told_of_parents_that_have_ended(void **state)
{
    (void)state;
    test_put("q", "a b c");
    test_put_after("q", "x", "f:q/a");
    test_put_after("q", "y", "f:q/b");
    test_put_after("q", "z", "g:q/c");
    test_cmd(test_conn, "DEL " Q "children:a " Q "children:b " Q "children:c " Q "linked");
    test_complete("q", "a");
    test_kill("q", "b");
    test_cmd(test_conn, "HDEL " Q "tasks c");
    test_cmd(test_conn, "ZREM " Q "ready c");
    test_check_finds("q", "edge_untold q/a parents:x, edge_untold q/b parents:y, edge_untold q/c parents:z");
    test_check_repairs_all("q");
    test_settle_queues("q");
    test_state_is("q", "y", "dead");
    test_check_drains("q", 2);
}

/* The parents stand among the completed tasks, and their children were not told. */
static void children_of_completed_tasks_are_told(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "x", "f:q/a");
    test_put_after("q", "y", "w:q/b");
    test_put_after("p", "far", "f:q/b");
    test_settle_queues("p q");
    test_check_finds("q", "");
    long long now_ms = (long long)time(NULL) * 1000;
    test_cmd(test_conn, "ZREM " Q "ready a b");
    test_cmd(test_conn, "ZADD " Q "completed %lld a %lld b", now_ms, now_ms);
    test_check_finds("q", "child_untold a, child_untold b, counter completed");
    test_check_repairs_all("q");
    test_settle_queues("p q");
    test_state_is("q", "x", "ready");
    test_state_is("q", "y", "ready");
    test_state_is("p", "far", "ready");
    test_check_drains("q", 2);
}

static void an_edge_to_another_queue_is_made_again(void **state)
{
    (void)state;
    test_put("p", "x");
    test_put_after("q", "b", "f:p/x");
    test_settle_queues("p q");
    test_check_finds("q", "");
    test_cmd(test_conn, "DEL " P "children:x " P "linked");
    test_check_finds_kind("q", "edge_far");
    test_check_repairs_kind("q", "edge_far");
    test_settle_queues("p q");
    test_check_finds("q", "");
    test_complete("p", "x");
    test_settle_queues("p q");
    test_state_is("q", "b", "ready");
    test_check_drains("q", 1);
    test_settle_all();
}

static void an_end_that_did_not_reach_another_queue_is_asked_for_again(void **state)
{
    (void)state;
    test_put("p", "x");
    test_put_after("q", "b", "f:p/x");
    test_settle_queues("p q");
    test_complete("p", "x");
    test_check_finds("q", "");
    test_cmd(test_conn, "DEL " P "outbox");
    test_check_repairs_kind("q", "edge_far");
    test_settle_queues("p q");
    test_check_drains("q", 1);
}

static void children_that_do_not_wait_go(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_cmd(test_conn, "ZADD " Q "children:a 5 q/ghost");
    test_cmd(test_conn, "ZADD " Q "awaiting_retry:a 5 q/other");
    is_repaired("child_stray q/ghost children:a, child_stray q/other awaiting_retry:a");
    test_cmd(test_conn, "DEL " Q "linked");
    test_cmd(test_conn, "SADD " Q "linked ghost");
    is_repaired("linked_missing a, linked_stale ghost");
    test_check_drains("q", 2);
}

/* ---- what is told in steps ------------------------------------------------------------------------------------- */

/* Many children of a are to be told of its end, and so many wait. */
static void complete_with_children(int count)
{
    test_put("q", "a");
    for (int i = 0; i < count; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "c%03d", i);
        test_put_after("q", id, "f:q/a");
    }
    test_complete("q", "a");
    assert_int_equal(test_number("LLEN " Q "fanout"), 1);
}

static void nothing_is_found_while_children_are_told(void **state)
{
    (void)state;
    complete_with_children(50);
    test_check_finds("q", "");
    (void)test_fan("q", 20);
    test_check_finds("q", "");
    test_check_drains("q", 50);
}

static void children_of_a_lost_step_are_told(void **state)
{
    (void)state;
    complete_with_children(30);
    test_cmd(test_conn, "DEL " Q "fanout");
    test_check_repairs_all("q");
    test_check_drains("q", 30);
}

static void a_child_of_many_parents_is_restored(void **state)
{
    enum { COUNT = 100 };
    static char handles[COUNT][16];
    static reeve_parent parents[COUNT];
    (void)state;
    test_put_many("q", COUNT, "p%03zu");
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(handles[i], sizeof(handles[i]), "q/p%03zu", i);
        parents[i] = (reeve_parent){.handle = handles[i]};
    }
    test_put_spec((reeve_task_spec){.id = "c", .after = parents, .after_count = COUNT});
    test_check_finds("q", "");
    test_cmd(test_conn, "HSET " Q "info:c pending 3");
    test_check_repairs("q", "blocked_pending c");
    (void)test_fan("q", 10);
    test_check_finds("q", "");
    test_check_drains("q", COUNT + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_found_while_tasks_wait, test_place_empty),
        cmocka_unit_test_setup(parents_are_counted_again, test_place_empty),
        cmocka_unit_test_setup(a_task_without_parents_is_released, test_place_empty),
        cmocka_unit_test_setup(a_child_that_its_parent_does_not_know_is_registered_again, test_place_empty),
        cmocka_unit_test_setup(a_child_is_told_of_parents_that_have_ended, test_place_empty),
        cmocka_unit_test_setup(children_of_completed_tasks_are_told, test_place_empty),
        cmocka_unit_test_setup(an_edge_to_another_queue_is_made_again, test_place_empty),
        cmocka_unit_test_setup(an_end_that_did_not_reach_another_queue_is_asked_for_again, test_place_empty),
        cmocka_unit_test_setup(children_that_do_not_wait_go, test_place_empty),
        cmocka_unit_test_setup(nothing_is_found_while_children_are_told, test_place_empty),
        cmocka_unit_test_setup(children_of_a_lost_step_are_told, test_place_empty),
        cmocka_unit_test_setup(a_child_of_many_parents_is_restored, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_check_edges", tests, test_place_start, test_place_stop);
}
