/* A key of one task at which another program has put a value of another type: that task alone dies as malformed. */
#include <stdio.h>
#include <string.h>

#include "support/depend.h"
#include "support/foreign.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void overwrite(const char *key)
{
    assert_string_equal(test_cmd(test_conn, "SET " Q "%s text", key), "OK");
}

static void expect_malformed(const char *id)
{
    test_state_is("q", id, "dead");
    reeve_task_info *info = test_show("q", id);
    assert_string_equal(info->error_kind, "malformed");
    assert_non_null(strstr(info->error_message, "had another type"));
    reeve_task_info_free(info);
}

static void a_due_task_dies_and_its_neighbours_become_ready(void **state)
{
    (void)state;
    test_foreign("q", "scheduled", 1, "first", "{\"at\":1,\"type\":\"t\"}\n");
    test_foreign("q", "scheduled", 2, "x", "{\"info\":1,\"at\":1,\"type\":\"t\"}\n");
    test_foreign("q", "scheduled", 3, "last", "{\"at\":1,\"type\":\"t\"}\n");
    overwrite("info:x");
    test_maintain_all("q");
    expect_malformed("x");
    test_state_is("q", "first", "ready");
    test_state_is("q", "last", "ready");
    assert_int_equal(test_number("EXISTS " Q "deadlines"), 0);
}

static void a_child_dies_and_its_siblings_become_ready(void **state)
{
    (void)state;
    test_put("q", "p");
    test_put_after("q", "a", "f:q/p");
    test_put_after("q", "b", "f:q/p");
    test_put_after("q", "c", "f:q/p");
    test_put_after("q", "d", "f:q/p");
    overwrite("parents:a");
    overwrite("info:c");
    test_complete("q", "p");
    test_maintain_all("q");
    expect_malformed("a");
    test_state_is("q", "b", "ready");
    expect_malformed("c");
    test_state_is("q", "d", "ready");
    assert_int_equal(test_count("q", "blocked"), 0);
}

static void tasks_of_a_dead_session_come_back(void **state)
{
    (void)state;
    test_put("q", "x y");
    (void)test_lease(&hand, 2);
    overwrite("info:x");
    test_expire(&hand);
    test_maintain_all("q");
    test_state_is("q", "y", "ready");
    assert_string_not_equal(test_state("q", "x"), "running");
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

static void a_task_that_ends_in_a_turn_holds_up_no_other(void **state)
{
    (void)state;
    test_foreign("q", "ready", 1, "x", "{\"info\":1,\"at\":1,\"type\":\"t\"}\n");
    test_put("q", "y");
    overwrite("info:x");
    assert_int_equal(test_lease(&hand, 2), 2);
    test_state_is("q", "y", "running");
    test_expire(&hand);
    test_maintain_all("q");
    test_state_is("q", "y", "ready");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_due_task_dies_and_its_neighbours_become_ready, set_up),
        cmocka_unit_test_setup(a_child_dies_and_its_siblings_become_ready, set_up),
        cmocka_unit_test_setup(tasks_of_a_dead_session_come_back, set_up),
        cmocka_unit_test_setup(a_task_that_ends_in_a_turn_holds_up_no_other, set_up),
    };
    return cmocka_run_group_tests_name("ct_foreign_task_keys", tests, test_place_start, test_place_stop);
}
