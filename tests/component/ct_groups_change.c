/* Limits of groups that change, that open with time, and holds. The clock is the test's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

/* ---- changes --------------------------------------------------------------------------------------------------- */

static void raised_and_removed(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_group("x", 30, "g");
    assert_int_equal(test_lease(&a, 100), 1);
    test_limit_groups(4, NULL);
    test_maintain_all("q");
    test_limits_agree();
    assert_int_equal(test_count("q", "parked"), 26);
    TEST_EXPECT_LEASE(&a, 100, "x001 x002 x003");
    test_limit_groups(2, NULL); /* those that run go on */
    TEST_SETTLE(&a, TEST_DONE("x001"));
    TEST_SETTLE(&a, TEST_DONE("x002"));
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 100, "");
    TEST_SETTLE(&a, TEST_DONE("x003"));
    TEST_EXPECT_LEASE(&a, 100, "x004");
    test_limit_groups(-1, NULL);
    test_maintain_all("q");
    assert_int_equal(test_lease(&a, 100), 25);
    for (size_t i = 0; i < 25; i++) assert_int_equal(atoi(a.leased[i].id + 1), 5 + i);
    test_groups_forgotten();
}

/* Many groups with many tasks: looked at in steps, each of which touches few. */
static void reopened_in_steps(void **state)
{
    (void)state;
    char name[16], group[16];
    test_limit_groups(1, NULL);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof(name), "x%d-", i);
        (void)snprintf(group, sizeof(group), "g%d", i);
        test_put_group(name, 30, group);
    }
    test_put_group("y", 1000, "large");
    while (test_lease(&a, 100) > 0) continue;
    while (test_number("ZCARD " Q "ready") > 0) (void)test_lease(&a, 100);
    uint64_t parked = test_count("q", "parked");
    assert_int_equal(parked, 40 * 29 + 999);
    test_limit_groups(-1, NULL);
    assert_int_equal(test_count("q", "parked"), parked);
    int steps = 0;
    for (bool more = true; more; steps++) {
        test_maintained maintained = test_maintain("q", 50);
        more = maintained.more || maintained.next_in_ms == 0;
        uint64_t now = test_count("q", "parked");
        assert_true(parked - now <= 100);
        parked = now;
        if (steps % 8 == 0) test_limits_agree();
    }
    assert_int_equal(parked, 0);
    assert_true(steps > 20);
    test_limits_agree();
    int next[41] = {0};
    while (test_lease(&b, 100) > 0) {
        for (size_t i = 0; i < b.count; i++) {
            bool large = b.leased[i].id[0] == 'y';
            int which = large ? 40 : atoi(b.leased[i].id + 1);
            int number = atoi(large ? b.leased[i].id + 1 : strchr(b.leased[i].id, '-') + 1);
            assert_int_equal(number, ++next[which]); /* (the first runs) */
        }
    }
    test_groups_forgotten();
}

/* Set anew before all groups have been looked at. */
static void changed_again_before_it_is_through(void **state)
{
    (void)state;
    char name[16], group[16];
    test_limit_groups(1, NULL);
    for (int i = 0; i < 30; i++) {
        (void)snprintf(name, sizeof(name), "x%d-", i);
        (void)snprintf(group, sizeof(group), "g%d", i);
        test_put_group(name, 10, group);
    }
    while (test_lease(&a, 100) > 0) continue;
    for (int round = 0; round < 12; round++) {
        static const int64_t limits[] = {-1, 1, 3, -1, 2, 1};
        test_limit_groups(limits[round % 6], NULL);
        (void)test_maintain("q", 20);
        test_limits_agree();
        (void)test_lease(&b, 7);
        test_limits_agree();
        test_done(&b);
        test_limits_agree();
    }
    test_expire(&a);
    test_maintain_all("q");
    for (int i = 0; i < 400 && test_count("q", "completed") < 300; i++) {
        test_maintain_all("q");
        (void)test_run_all(&b);
        test_clock_advance(500);
    }
    assert_int_equal(test_count("q", "completed"), 300);
    test_groups_forgotten();
}

static void set_while_they_run(void **state)
{
    (void)state;
    static test_hand hands[5];
    for (size_t i = 0; i < 5; i++) {
        test_hand_init(&hands[i], "1", "q");
        char name[8];
        (void)snprintf(name, sizeof(name), "x%zu-", i);
        test_put_group(name, 250, i % 2 ? "g" : "h");
        assert_int_equal(test_lease(&hands[i], 250), 250);
    }
    test_put_in("a b", "g", 0);
    test_put_in("c d", "h", 0);
    test_limit_groups(501, NULL);
    test_limits_agree();
    assert_int_equal(test_number("HGET " Q "group_running g"), 500);
    assert_int_equal(test_number("HGET " Q "group_running h"), 750);
    TEST_EXPECT_LEASE(&a, 9, "a");
    assert_string_equal(test_state("q", "b"), "parked");
    test_done(&hands[1]);
    TEST_EXPECT_LEASE(&a, 9, "b");
    test_done(&hands[0]);
    TEST_EXPECT_LEASE(&a, 9, "c");
}

static const char *limit_step(const char *cursor)
{
    const rv_reply *reply;
    rv_cmd_script(test_conn, &rv_script_limit, 1, 3);
    rv_args(test_conn, "reeve:{q}:");
    rv_args(test_conn, cursor);
    rv_args(test_conn, "group_concurrency");
    rv_args(test_conn, "2");
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return test_reply_text(reply);
}

/* The reply of its first call is lost, or whoever called it is: the next call counts all the same. */
static void counted_although_a_reply_is_lost(void **state)
{
    (void)state;
    static test_hand hands[3];
    for (size_t i = 0; i < 3; i++) {
        char name[8];
        test_hand_init(&hands[i], "1", "q");
        (void)snprintf(name, sizeof(name), "x%zu-", i);
        test_put_group(name, 250, "g");
        assert_int_equal(test_lease(&hands[i], 250), 250);
    }
    assert_string_not_equal(limit_step(""), "");
    char cursor[64];
    rv_copy_text(cursor, sizeof(cursor), limit_step(""));
    assert_string_not_equal(cursor, "");
    for (int i = 0; i < 2; i++) rv_copy_text(cursor, sizeof(cursor), limit_step(cursor));
    assert_string_not_equal(cursor, "");
    assert_in_range(test_number("HGET " Q "group_running g"), 1, 749);
    test_settle(&hands[0], TEST_DONE("x0-000"));
    test_settle(&hands[1], TEST_DONE("x1-000"));
    test_settle(&hands[2], TEST_DONE("x2-000"));
    test_limit_groups(2, NULL); /* another client */
    test_limits_agree();
    assert_int_equal(test_number("HGET " Q "group_running g"), 747);
    assert_string_equal(limit_step(cursor), ""); /* the first one goes on where it was */
    test_limits_agree();
}

static void taken_away_and_set_again_while_they_run(void **state)
{
    (void)state;
    test_limit_groups(2, NULL);
    test_put_group("x", 10, "g");
    assert_int_equal(test_lease(&a, 100), 2);
    test_limit_groups(-1, NULL);
    assert_int_equal(test_number("EXISTS " Q "running_group " Q "group_running"), 0);
    test_settle(&a, TEST_DONE("x000"));
    test_limit_groups(3, NULL); /* before anybody has looked at the parked ones */
    test_limits_agree();
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 100, "x002 x003");
    TEST_SETTLE(&a, TEST_DONE("x001"));
    TEST_EXPECT_LEASE(&a, 100, "x004");
}

/* ---- rates and holds ------------------------------------------------------------------------------------------- */

static void a_rate_of_groups(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(10, 1000, 2));
    test_put_group("x", 30, "g");
    test_put_group("y", 3, "h");
    assert_int_equal(test_lease(&a, 100), 4);
    test_limits_agree();
    test_done(&a);
    assert_int_equal(test_maintain("q", 200).next_in_ms, 100);
    test_clock_advance(99);
    test_maintain_all("q");
    assert_int_equal(test_run_all(&a), 0);
    test_clock_advance(1);
    test_maintain_all("q");
    test_limits_agree();
    TEST_EXPECT_LEASE(&a, 100, "x002 y002");
    size_t ran = 0;
    for (int i = 0; i < 200; i++) {
        test_clock_advance(10);
        test_maintain_all("q");
        ran += test_run_all(&a);
    }
    assert_int_equal(ran, 20);
    test_limits_agree();
    for (int i = 0; i < 200; i++) {
        test_clock_advance(10);
        test_maintain_all("q");
        (void)test_run_all(&a);
    }
    assert_int_equal(test_count("q", "ready") + test_count("q", "parked"), 0);
    test_groups_forgotten();
}

/* New ones come at the moment at which the rate opens, before anybody has called those that wait. */
static void who_comes_later_waits_behind(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(1, 1000, 1));
    test_put_in("a b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_clock_advance(1000);
    test_put_in("d", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "b");
    test_clock_advance(500);
    test_put_in("e", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "");
    test_clock_advance(500);
    test_maintain_all("q");
    test_put_in("f", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "c");
    for (const char *next = "def"; *next; next++) {
        char id[2] = {*next, '\0'};
        assert_int_equal(test_maintain("q", 9).next_in_ms, 1000);
        test_clock_advance(1000);
        test_maintain_all("q");
        TEST_EXPECT_LEASE(&a, 9, id);
    }
}

/* Nobody has time for what was called: it does not pile up in `ready`. */
static void no_more_are_called_than_may_start(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(100, 1000, 5));
    test_put_group("x", 50, "g");
    assert_int_equal(test_run_all(&a), 5);
    for (int i = 0; i < 100; i++) {
        test_clock_advance(10);
        test_maintain_all("q");
        test_limits_agree();
        assert_true(test_count("q", "ready") <= 5);
    }
    assert_int_equal(test_run_all(&a), 5);
}

static void a_group_that_is_held(void **state)
{
    (void)state;
    test_put_in("a b", "g", 0);
    test_put_in("u v", "h", 0);
    TEST_EXPECT_LEASE(&b, 1, "a");
    test_hold("g", 5000);
    TEST_EXPECT_LEASE(&a, 9, "u v");
    assert_string_equal(test_state("q", "b"), "parked");
    TEST_SETTLE(&b, TEST_SNOOZE("a", 0)); /* and stands before b */
    TEST_EXPECT_LEASE(&a, 9, "");
    assert_string_equal(test_state("q", "a"), "parked");
    test_put_in("c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "");
    assert_int_equal(test_maintain("q", 9).next_in_ms, 5000);
    test_clock_advance(5000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "a b c");
    test_groups_forgotten();
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
}

static void a_hold_that_is_ended_early(void **state)
{
    (void)state;
    test_put_in("a b", "g", 0);
    test_hold("g", 60000);
    TEST_EXPECT_LEASE(&a, 9, "");
    test_hold("g", 70000);
    test_hold("g", 0);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "a b");
    test_groups_forgotten();
}

static void held_and_at_its_limit(void **state)
{
    (void)state;
    test_limit_groups(1, TEST_RATE(1, 1000, 1));
    test_put_in("a b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_hold("g", 500);
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_clock_advance(500);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, ""); /* the rate */
    assert_int_equal(test_maintain("q", 9).next_in_ms, 500);
    test_clock_advance(500);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "b");
    test_hold("g", 5000);
    test_clock_advance(5000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, ""); /* b runs */
    TEST_SETTLE(&a, TEST_DONE("b"));
    TEST_EXPECT_LEASE(&a, 9, "c");
}

static void held_and_paused(void **state)
{
    (void)state;
    test_put_in("a b", "g", 0);
    test_hold("g", 5000);
    TEST_EXPECT_LEASE(&a, 9, "");
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_clock_advance(5000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "");
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_EXPECT_LEASE(&a, 9, "a b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(raised_and_removed, set_up),
        cmocka_unit_test_setup(reopened_in_steps, set_up),
        cmocka_unit_test_setup(changed_again_before_it_is_through, set_up),
        cmocka_unit_test_setup(set_while_they_run, set_up),
        cmocka_unit_test_setup(counted_although_a_reply_is_lost, set_up),
        cmocka_unit_test_setup(taken_away_and_set_again_while_they_run, set_up),
        cmocka_unit_test_setup(a_rate_of_groups, set_up),
        cmocka_unit_test_setup(who_comes_later_waits_behind, set_up),
        cmocka_unit_test_setup(no_more_are_called_than_may_start, set_up),
        cmocka_unit_test_setup(a_group_that_is_held, set_up),
        cmocka_unit_test_setup(a_hold_that_is_ended_early, set_up),
        cmocka_unit_test_setup(held_and_at_its_limit, set_up),
        cmocka_unit_test_setup(held_and_paused, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_groups_change", tests, test_place_start, test_place_stop);
}
