/* reeve check, of limits: what waits for a group, and what is counted. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/limits.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand hand;

/* g is at its limit of 1: x runs, y and z are parked. */
static int set_up(void **state)
{
    int failed = test_place_empty(state);
    test_hand_begin(&hand, "1", "q");
    test_limit_groups(1, NULL);
    test_put_in("x y z", "g", 0);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_int_equal(test_lease(&hand, 1), 0);
    assert_int_equal(test_number("ZCARD " Q "parked"), 2);
    return failed;
}

/* All that waits starts, one after the other. */
static void assert_all_run(void)
{
    test_limits_agree();
    test_settle(&hand, TEST_DONE("x"));
    test_check_drains("q", 2);
    test_limits_agree();
}

static void nothing_is_found_while_limits_hold(void **state)
{
    (void)state;
    test_check_finds("q", "");
    assert_all_run();
}

static void parked_tasks_join_their_groups_again(void **state)
{
    (void)state;
    test_cmd(test_conn, "ZREM " Q "parked:g y");
    test_check_finds("q", "parked_alone y");
    test_check_repairs("q", "parked_alone y");
    assert_all_run();
}

static void a_parked_task_without_a_group_is_made_ready(void **state)
{
    (void)state;
    TEST_WORDS("HSET", Q "tasks", "y", "{\"at\":1,\"type\":\"t\"}\n");
    test_cmd(test_conn, "ZREM " Q "parked:g y");
    test_check_repairs("q", "parked_alone y");
    assert_all_run();
}

static void a_group_that_nobody_looks_at_is_looked_at(void **state)
{
    (void)state;
    test_cmd(test_conn, "ZREM " Q "limit_due g");
    test_check_finds("q", "group_unwatched g");
    test_check_repairs("q", "group_unwatched g");
    assert_all_run();
}

static void strays_leave_their_groups(void **state)
{
    (void)state;
    test_cmd(test_conn, "ZADD " Q "parked:g 5 stray");
    test_cmd(test_conn, "ZADD " Q "unparked:g 5 stray");
    test_check_finds("q", "group_stray stray parked:g, group_stray stray unparked:g");
    test_check_repairs("q", "group_stray stray parked:g, group_stray stray unparked:g");
    test_maintain_all("q");
    assert_all_run();
}

static void counts_are_made_again(void **state)
{
    (void)state;
    test_cmd(test_conn, "HSET " Q "running_group y g");
    test_check_finds("q", "group_count , slot_stale y");
    test_check_repairs("q", "group_count , slot_stale y");
    test_cmd(test_conn, "HSET " Q "group_running g 7 h 2");
    test_check_repairs("q", "group_count ");
    test_cmd(test_conn, "DEL " Q "running_group " Q "group_running");
    char words[128];
    (void)snprintf(words, sizeof(words), "slot_missing running:%s x", hand.sessions[0]);
    test_check_finds("q", words);
    test_check_repairs("q", words);
    assert_all_run();
}

static void the_queue_is_counted_again(void **state)
{
    (void)state;
    test_limit_queue(3, NULL);
    test_check_finds("q", "");
    test_cmd(test_conn, "HSET " Q "limit_state running 3");
    test_check_finds("q", "running_count ");
    test_check_repairs("q", "running_count ");
    assert_int_equal(test_limits_running(), 1);
    assert_all_run();
}

static void limits_that_are_there_are_in_force(void **state)
{
    static const char *const wrong[] = {"g", "s", "gsc", "gse", "gsq", "x"};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        test_cmd(test_conn, "HSET " Q "settings in_force %s", wrong[i]);
        test_check_repairs("q", "in_force ");
        assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), "gs");
    }
    assert_all_run();
}

static void own_limits_are_listed(void **state)
{
    (void)state;
    test_limit_group("h", 2, NULL);
    test_cmd(test_conn, "DEL " Q "limited");
    test_cmd(test_conn, "ZADD " Q "limited 0 i");
    test_check_finds("q", "limit_index h, limit_index i");
    test_check_repairs("q", "limit_index h, limit_index i");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "limited 0 -1"), "[h]");
    assert_all_run();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_found_while_limits_hold, set_up),
        cmocka_unit_test_setup(parked_tasks_join_their_groups_again, set_up),
        cmocka_unit_test_setup(a_parked_task_without_a_group_is_made_ready, set_up),
        cmocka_unit_test_setup(a_group_that_nobody_looks_at_is_looked_at, set_up),
        cmocka_unit_test_setup(strays_leave_their_groups, set_up),
        cmocka_unit_test_setup(counts_are_made_again, set_up),
        cmocka_unit_test_setup(the_queue_is_counted_again, set_up),
        cmocka_unit_test_setup(limits_that_are_there_are_in_force, set_up),
        cmocka_unit_test_setup(own_limits_are_listed, set_up),
    };
    return cmocka_run_group_tests_name("ct_check_limits", tests, test_place_start, test_place_stop);
}
