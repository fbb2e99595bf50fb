/* Limits of groups: what they let start, and in which order. The clock is the test's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/end_session_call.h"
#include "support/clock.h"
#include "support/limits.h"
#include "support/segments.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

/* ---- one at a time --------------------------------------------------------------------------------------------- */

static void one_at_a_time_in_order(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_group("x", 50, "g");
    TEST_EXPECT_LEASE(&a, 100, "x000");
    TEST_EXPECT_LEASE(&b, 100, "");
    assert_int_equal(test_count("q", "parked"), 49);
    TEST_SETTLE(&a, TEST_DONE("x000"));
    assert_int_equal(test_count("q", "parked"), 48);
    test_expect_numbered(&a, "x", 1, 49);
    test_groups_forgotten();
}

static void every_end_lets_the_next_start(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c d e f g h", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    TEST_SETTLE(&a, TEST_DONE("a"));
    TEST_EXPECT_LEASE(&a, 9, "b");
    TEST_SETTLE(&a, TEST_RESULT("b", "r"));
    TEST_EXPECT_LEASE(&b, 9, "c");
    TEST_SETTLE(&b, TEST_RETRY("c", 60000));
    TEST_EXPECT_LEASE(&a, 9, "d");
    TEST_SETTLE(&a, TEST_FAIL("d"));
    TEST_EXPECT_LEASE(&a, 9, "e");
    TEST_SETTLE(&a, TEST_SNOOZE("e", 60000));
    TEST_EXPECT_LEASE(&b, 9, "f");
    const test_outcome f[] = {TEST_DONE("f")};
    assert_int_equal(test_turn(&b, 9, f, 1), 1); /* in the same turn */
    assert_string_equal(test_leased_ids(&b), "g");
    test_limits_agree();
}

static void given_back_it_is_first_again(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c d", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    for (int i = 0; i < 3; i++) {
        TEST_SETTLE(&a, TEST_SNOOZE("a", 0));
        TEST_EXPECT_LEASE(&a, 9, "a");
    }
    TEST_SETTLE(&a, TEST_DONE("a"));
    TEST_EXPECT_LEASE(&a, 9, "b");
    TEST_SETTLE(&a, TEST_SNOOZE("b", 0));
    const char *const order[] = {"b", "c", "d"};
    test_expect_order(&a, order, 3);
    test_groups_forgotten();
}

static void leave(const test_hand *hand)
{
    const rv_reply *reply;
    uint64_t given_back;
    bool more = true;
    while (more) {
        rv_end_session_call_build(test_conn, &hand->prefixes[0], hand->sessions[0], 100);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_end_session_call_read(reply, &given_back, &more));
        test_limits_agree();
    }
}

static void left_by_a_session_it_is_first_again(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c", "g", 0);
    test_put_in("u v w", "h", 0);
    TEST_EXPECT_LEASE(&b, 9, "a u");
    leave(&b);
    for (const char *pair = "aubvcw"; *pair; pair += 2) {
        const char ids[] = {pair[0], ' ', pair[1], '\0'};
        TEST_EXPECT_LEASE(&a, 9, ids);
        test_done(&a);
    }
    test_groups_forgotten();
}

static void after_a_crash_it_is_first_again(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c", "g", 0);
    TEST_EXPECT_LEASE(&b, 9, "a");
    test_expire(&b);
    test_maintain_all("q");
    test_limits_agree();
    TEST_EXPECT_LEASE(&a, 9, "a");
    assert_int_equal(a.leased[0].crashes, 1);
    test_done(&a);
    const char *const order[] = {"b", "c"};
    test_expect_order(&a, order, 2);
    test_groups_forgotten();
}

/* A session that has a task of two crashes already takes no other: the group waits for it, and keeps its order. */
static void a_suspect_that_is_put_off(void **state)
{
    (void)state;
    test_put_in("x", NULL, -1);
    test_limit_groups(1, NULL);
    test_put_in("a b c", "g", 0);
    TEST_EXPECT_LEASE(&b, 9, "x a");
    test_expire(&b);
    test_maintain_all("q");
    (void)test_number("HSET " Q "info:x crashes 2");
    (void)test_number("HSET " Q "info:a crashes 2");
    TEST_EXPECT_LEASE(&a, 9, "x");
    TEST_EXPECT_LEASE(&a, 9, "");
    assert_string_equal(test_state("q", "a"), "parked");
    assert_string_equal(test_state("q", "b"), "parked");
    test_settle(&a, {0, {.id = "x", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    TEST_EXPECT_LEASE(&a, 9, "");
    assert_in_range(test_maintain("q", 100).next_in_ms, 1, 1000);
    test_clock_advance(1000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_done(&a);
    const char *const order[] = {"b", "c"};
    test_expect_order(&a, order, 2);
}

static void by_priority_within_a_group(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b", "g", 0);
    test_put_in("l", "g", 9);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_put_in("u v", "g", -5);
    TEST_EXPECT_LEASE(&a, 9, "");
    TEST_SETTLE(&a, TEST_DONE("a"));
    const char *const order[] = {"u", "v", "b", "l"};
    test_expect_order(&a, order, 4);
}

/* One that comes when another has been called, and goes first by its priority. */
static void a_more_urgent_one_takes_the_turn(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    TEST_SETTLE(&a, TEST_DONE("a")); /* b is called */
    assert_string_equal(test_state("q", "b"), "ready");
    test_put_in("u", "g", -1);
    const char *const order[] = {"u", "b", "c"};
    test_expect_order(&a, order, 3);
    test_groups_forgotten();
}

/* ---- more than one --------------------------------------------------------------------------------------------- */

static void so_many_of_each(void **state)
{
    (void)state;
    test_limit_groups(3, NULL);
    test_put_group("x", 40, "g");
    test_put_group("y", 40, "h");
    test_put_group("z", 5, NULL);
    (void)test_lease(&a, 50);
    assert_int_equal(a.count, 3 + 3 + 5);
    assert_int_equal(test_count("q", "parked"), 74);
    test_limits_agree();
    test_done(&a);
    for (size_t left = 74; left > 0; left -= a.count) {
        (void)test_lease(&a, 100);
        assert_int_equal(a.count, left >= 6 ? 6 : left);
        test_done(&a);
        test_limits_agree();
    }
    test_groups_forgotten();
}

/* Called one after the other, they stand in their order. */
static void called_one_by_one(void **state)
{
    (void)state;
    test_limit_groups(4, NULL);
    test_put_group("x", 12, "g");
    TEST_EXPECT_LEASE(&a, 9, "x000 x001 x002 x003");
    TEST_SETTLE(&a, TEST_DONE("x002"));
    TEST_SETTLE(&a, TEST_DONE("x000"));
    TEST_SETTLE(&a, TEST_DONE("x003"));
    TEST_SETTLE(&a, TEST_SNOOZE("x001", 0));
    TEST_EXPECT_LEASE(&a, 9, "x001 x004 x005 x006");
}

static void a_batch_takes_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    test_limit_groups(2, NULL);
    test_put_in("a b c", "g", 0);
    test_put_in("x y z", NULL, 0);
    TEST_EXPECT_LEASE(&a, 1, "a");
    TEST_EXPECT_LEASE(&b, 3, "x b y");
    TEST_EXPECT_LEASE(&a, 3, "z");
    assert_string_equal(test_state("q", "c"), "parked");
}

static void with_a_limit_of_the_queue(void **state)
{
    (void)state;
    test_limit_queue(3, NULL);
    test_limit_groups(2, NULL);
    test_put_in("a b c d", "g", 0);
    test_put_in("u v w x", "h", 0);
    size_t ran = 0;
    while (test_lease(&a, 100) > 0) ran += a.count;
    assert_int_equal(ran, 3);
    test_limits_agree();
    test_hand_init(&b, "2", "q");
    test_expire(&a);
    for (int i = 0; i < 20; i++) {
        test_maintain_all("q");
        (void)test_run_all(&b);
        test_limits_agree();
        test_clock_advance(500);
    }
    assert_int_equal(test_count("q", "completed"), 8);
    test_groups_forgotten();
}

/* ---- others ---------------------------------------------------------------------------------------------------- */

/* 100,000 tasks of one group at its limit: each is looked at once, some hundred in a turn, and those of others go on.
 */
static void a_group_at_its_limit_blocks_nobody(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    test_limit_groups(1, NULL);
    test_put_group("a", MANY, "A");
    TEST_EXPECT_LEASE(&a, 1, "a000");
    test_put_group("b", 20, "B");
    size_t ran = 0;
    for (int turns = 0; ran < 20; turns++) {
        assert_true(turns < 60);
        uint64_t before = test_count("q", "parked");
        (void)test_lease(&b, 10);
        assert_in_range(test_count("q", "parked") - before, 0, 200);
        ran += b.count;
        if (b.count > 0) {
            assert_int_equal(b.leased[0].id[0], 'b');
            test_done(&b);
        }
    }
    for (int turns = 0; test_number("ZCARD " Q "ready") > 0; turns++) {
        assert_true(turns < MANY / 80);
        assert_int_equal(test_lease(&b, 10), 0);
    }
    assert_int_equal(test_count("q", "parked"), MANY - 1);
    (void)test_cmd(test_conn, "CONFIG RESETSTAT");
    for (int i = 0; i < 20; i++) assert_int_equal(test_lease(&b, 10), 0);
    assert_null(strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_zadd")); /* nothing moves any more */
    test_put_group("c", 20, "C");
    for (ran = 0; ran < 20; ran += b.count) {
        assert_int_equal(test_lease(&b, 10), 1);
        assert_int_equal(b.leased[0].id[0], 'c');
        test_done(&b);
    }
    test_settle(&a, TEST_DONE("a000"));
    TEST_EXPECT_LEASE(&a, 9, "a001");
}

/* Its tasks that were parked long do not go before those of others that wait now: they take turns. */
static void who_was_parked_takes_turns(void **state)
{
    (void)state;
    test_limit_group("A", 1, NULL);
    test_put_group("a", 300, "A");
    TEST_EXPECT_LEASE(&a, 1, "a000");
    TEST_EXPECT_LEASE(&a, 1, "");
    test_put_group("b", 300, "B");
    (void)test_lease(&b, 100); /* B's time goes on */
    test_done(&b);
    test_limit_forget("A");
    for (int i = 0; i < 50; i++) (void)test_maintain("q", 40);
    assert_int_equal(test_count("q", "parked"), 0);
    test_put_group("c", 50, "C");
    size_t of_a = 0, of_b = 0, of_c = 0, next = 1;
    for (int i = 0; i < 150; i++) {
        assert_int_equal(test_lease(&b, 1), 1);
        of_a += b.leased[0].id[0] == 'a';
        of_b += b.leased[0].id[0] == 'b';
        of_c += b.leased[0].id[0] == 'c';
        if (b.leased[0].id[0] == 'a') assert_int_equal(atoi(b.leased[0].id + 1), next++);
        test_done(&b);
    }
    assert_in_range(of_a, 48, 52);
    assert_in_range(of_b, 48, 52);
    assert_in_range(of_c, 48, 50);
}

/* A serial group and one thread: the group's next is not before all others. */
static void called_ones_are_not_before_all_others(void **state)
{
    (void)state;
    test_limit_group("A", 1, NULL);
    test_put_group("a", 30, "A");
    TEST_EXPECT_LEASE(&a, 1, "a000");
    TEST_EXPECT_LEASE(&b, 1, "");
    test_put_group("b", 30, "B");
    test_done(&a);
    char letters[41] = "";
    for (int i = 0; i < 40; i++) {
        assert_int_equal(test_lease(&a, 1), 1);
        letters[i] = a.leased[0].id[0];
        test_done(&a);
    }
    size_t of_a = 0;
    for (size_t i = 0; i < 40; i++) of_a += letters[i] == 'a';
    assert_in_range(of_a, 19, 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_at_a_time_in_order, set_up),
        cmocka_unit_test_setup(every_end_lets_the_next_start, set_up),
        cmocka_unit_test_setup(given_back_it_is_first_again, set_up),
        cmocka_unit_test_setup(left_by_a_session_it_is_first_again, set_up),
        cmocka_unit_test_setup(after_a_crash_it_is_first_again, set_up),
        cmocka_unit_test_setup(a_suspect_that_is_put_off, set_up),
        cmocka_unit_test_setup(by_priority_within_a_group, set_up),
        cmocka_unit_test_setup(a_more_urgent_one_takes_the_turn, set_up),
        cmocka_unit_test_setup(so_many_of_each, set_up),
        cmocka_unit_test_setup(called_one_by_one, set_up),
        cmocka_unit_test_setup(a_batch_takes_no_more_than_there_is_room_for, set_up),
        cmocka_unit_test_setup(with_a_limit_of_the_queue, set_up),
        cmocka_unit_test_setup(a_group_at_its_limit_blocks_nobody, set_up),
        cmocka_unit_test_setup(who_was_parked_takes_turns, set_up),
        cmocka_unit_test_setup(called_ones_are_not_before_all_others, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_groups", tests, test_place_start, test_place_stop);
}
