/* Strict groups: a group waits for the task that started last until it has ended, whatever becomes of it meanwhile. */
#include <stdio.h>
#include <string.h>

#include "support/clock.h"
#include "support/depend.h"
#include "support/limits.h"
#include "support/script.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

/* s1 has started and left; s2 and s3 wait for it. */
static void begin_with(test_outcome left)
{
    test_limit_strict(NULL, 1);
    test_put_in("s1 s2 s3", "g", 0);
    test_put_in("x1", "h", 0);
    TEST_EXPECT_LEASE(&a, 1, "s1");
    TEST_SETTLE(&a, left);
}

static void pass(int64_t ms)
{
    test_clock_advance(ms);
    test_maintain_all("q");
    test_limits_agree();
}

/* s2 and s3 run, one after the other, and nothing is left of the group. */
static void the_others_go_on(void)
{
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "s2");
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("s2"));
    TEST_EXPECT_LEASE(&a, 9, "s3");
    TEST_SETTLE(&a, TEST_DONE("s3"));
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "running_group " Q "group_running " Q "limit_due " Q "parked"), 0);
}

static void only_another_group_runs(void)
{
    TEST_EXPECT_LEASE(&b, 9, "x1");
    TEST_SETTLE(&b, TEST_DONE("x1"));
    TEST_EXPECT_LEASE(&b, 9, "");
}

static void a_retry_holds_its_group_up(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 5000));
    only_another_group_runs();
    pass(4999);
    TEST_EXPECT_LEASE(&b, 9, "");
    pass(1);
    TEST_EXPECT_LEASE(&b, 9, "s1");
    TEST_SETTLE(&b, TEST_RETRY("s1", 5000));
    pass(5000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_DONE("s1"));
    the_others_go_on();
}

static void a_snooze_holds_its_group_up(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_SNOOZE("s1", 5000));
    only_another_group_runs();
    pass(5000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_SNOOZE("s1", 0));
    TEST_EXPECT_LEASE(&b, 9, "s1");
    TEST_SETTLE(&b, TEST_DONE("s1"));
    the_others_go_on();
}

static void a_death_lets_its_group_go_on(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 5000));
    only_another_group_runs();
    pass(5000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_FAIL("s1"));
    the_others_go_on();
}

static void a_cancel_lets_its_group_go_on(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 5000));
    only_another_group_runs();
    test_ok(test_client, reeve_cancel(test_client, "q", "s1"));
    the_others_go_on();
}

static void a_delete_lets_its_group_go_on(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 5000));
    only_another_group_runs();
    test_ok(test_client, reeve_delete(test_client, "q", "s1"));
    the_others_go_on();
}

static void one_that_was_cancelled_while_it_ran_lets_its_group_go_on(void **state)
{
    (void)state;
    test_limit_strict(NULL, 1);
    test_put_in("s1 s2 s3", "g", 0);
    TEST_EXPECT_LEASE(&a, 1, "s1");
    TEST_EXPECT_LEASE(&b, 1, "");
    test_ok(test_client, reeve_cancel(test_client, "q", "s1"));
    TEST_SETTLE(&a, TEST_RETRY("s1", 5000));
    assert_string_equal(test_state("q", "s1"), "cancelled");
    the_others_go_on();
}

static void a_crash_holds_its_group_up(void **state)
{
    (void)state;
    test_limit_strict(NULL, 1);
    test_put_in("s1 s2 s3", "g", 0);
    TEST_EXPECT_LEASE(&b, 1, "s1");
    TEST_EXPECT_LEASE(&a, 9, "");
    test_expire(&b);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_DONE("s1"));
    TEST_EXPECT_LEASE(&a, 1, "s2");
    TEST_SETTLE(&a, TEST_DONE("s2"));
    TEST_EXPECT_LEASE(&a, 1, "s3");
}

/* A hold on the group, or its rate, holds the retry back, too; and then it is the first. */
static void a_hold_is_for_the_retry_too(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 1000));
    only_another_group_runs();
    test_hold("g", 60000);
    pass(2000);
    TEST_EXPECT_LEASE(&a, 9, "");
    assert_string_equal(test_state("q", "s1"), "parked");
    test_hold("g", 0);
    pass(1);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_DONE("s1"));
    the_others_go_on();
}

static void a_rate_is_for_the_retry_too(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(1, 10000, 1));
    begin_with((test_outcome)TEST_RETRY("s1", 1000));
    only_another_group_runs();
    pass(1000);
    TEST_EXPECT_LEASE(&a, 9, "");
    pass(9000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_DONE("s1"));
    TEST_EXPECT_LEASE(&a, 9, "");
    pass(10000);
    TEST_EXPECT_LEASE(&a, 9, "s2");
}

/* The retry is parked as before, and a task that is more urgent comes to stand before it. */
static void a_hold_lets_no_urgent_task_go_before_the_retry(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 1000));
    only_another_group_runs();
    test_hold("g", 60000);
    pass(2000);
    TEST_EXPECT_LEASE(&a, 9, "");
    test_put_in("u1", "g", -1);
    TEST_EXPECT_LEASE(&a, 9, "");
    assert_string_equal(test_state("q", "u1"), "parked");
    pass(60000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_DONE("s1"));
    TEST_EXPECT_LEASE(&a, 9, "u1");
    TEST_SETTLE(&a, TEST_DONE("u1"));
    the_others_go_on();
}

/* The same where the urgent one was parked first. */
static void a_rate_lets_no_urgent_task_go_before_the_retry(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(1, 10000, 1));
    test_limit_strict(NULL, 1);
    test_put_in("s1", "g", 0);
    TEST_EXPECT_LEASE(&a, 1, "s1");
    test_put_in("u1", "g", -1);
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_RETRY("s1", 1));
    pass(1);
    TEST_EXPECT_LEASE(&a, 9, "");
    assert_string_equal(test_state("q", "s1"), "parked");
    pass(10000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_SETTLE(&a, TEST_DONE("s1"));
    pass(10000);
    TEST_EXPECT_LEASE(&a, 9, "u1");
    TEST_SETTLE(&a, TEST_DONE("u1"));
    assert_int_equal(test_number("EXISTS " Q "running_group " Q "group_running " Q "parked_first:g " Q "parked"), 0);
}

/* Two ran when the group became strict: it waits for both. */
static void a_hold_is_for_two_retries_too(void **state)
{
    (void)state;
    test_limit_groups(2, NULL);
    test_put_in("s1 s2 s3", "g", 0);
    TEST_EXPECT_LEASE(&a, 2, "s1 s2");
    test_limit_strict(NULL, 1);
    TEST_SETTLE(&a, TEST_RETRY("s1", 1000), TEST_RETRY("s2", 1000));
    test_hold("g", 60000);
    test_put_in("u1", "g", -1);
    pass(2000);
    TEST_EXPECT_LEASE(&a, 9, "");
    pass(60000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("s1"));
    TEST_EXPECT_LEASE(&a, 9, "s2");
    TEST_SETTLE(&a, TEST_DONE("s2"));
    TEST_EXPECT_LEASE(&a, 9, "u1");
}

static void a_retry_that_waits_for_a_parent_holds_its_group_up(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 1000));
    test_put("q", "p");
    test_add_edges("q", "s1", "f:q/p");
    assert_string_equal(test_state("q", "s1"), "blocked");
    pass(2000);
    TEST_EXPECT_LEASE(&b, 9, "p x1");
    TEST_SETTLE(&b, TEST_DONE("x1"), TEST_FAIL("p"));
    test_maintain_all("q");
    assert_string_equal(test_state("q", "s1"), "dead");
    the_others_go_on();
}

/* Who has waited does not wait any longer; what runs still has the group for itself. */
static void a_group_that_is_not_strict_any_more_goes_on(void **state)
{
    (void)state;
    begin_with((test_outcome)TEST_RETRY("s1", 30000));
    only_another_group_runs();
    test_limit_groups(1, NULL);
    test_limit_strict(NULL, -1);
    the_others_go_on();
    pass(30000);
    TEST_EXPECT_LEASE(&a, 9, "s1");
}

/* Who changes the limits dies after the first call: upkeep does the rest. */
static void a_group_goes_on_where_the_change_was_not_completed(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    begin_with((test_outcome)TEST_RETRY("s1", 30000));
    only_another_group_runs();
    if (*TEST_SCRIPT(limit, Q, "", "group_strict", "") == '\0') fail_msg("there is nothing to count");
    test_maintain_all("q");
    assert_int_equal(test_number("HEXISTS " Q "limit_state counting"), 0);
    the_others_go_on();
}

/* Until then the retry may use its own slot. */
static void a_retry_uses_its_slot_before_all_are_counted(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    begin_with((test_outcome)TEST_RETRY("s1", 0));
    (void)TEST_SCRIPT(limit, Q, "", "group_strict", "");
    (void)test_cmd(test_conn, "ZADD " Q "ready 1 s1");
    (void)test_cmd(test_conn, "ZREM " Q "scheduled s1");
    (void)test_lease(&a, 1);
    assert_string_equal(test_leased_ids(&a), "s1");
    assert_int_equal(test_number("HGET " Q "group_running g"), 1);
}

/* The same of tasks that ran before there were limits. */
static void what_ran_before_is_counted_by_upkeep(void **state)
{
    (void)state;
    test_put_in("s1 s2 s3", "g", 0);
    TEST_EXPECT_LEASE(&a, 2, "s1 s2");
    (void)TEST_SCRIPT(limit, Q, "", "group_concurrency", "1");
    test_maintain_all("q");
    assert_int_equal(test_number("HGET " Q "group_running g"), 2);
    TEST_EXPECT_LEASE(&b, 9, "");
}

static void one_group_may_be_strict(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_limit_strict("g", 1);
    test_put_in("s1 s2", "g", 0);
    test_put_in("x1 x2", "h", 0);
    TEST_EXPECT_LEASE(&a, 9, "s1 x1");
    TEST_SETTLE(&a, TEST_RETRY("s1", 1000), TEST_RETRY("x1", 1000));
    TEST_EXPECT_LEASE(&b, 9, "x2");
    reeve_limits *limits = test_limits();
    assert_int_equal(limits->group_count, 1);
    assert_int_equal(limits->groups[0].strict, 1);
    assert_int_equal(limits->groups[0].running, 1);
    assert_false(limits->group_strict);
    reeve_limits_free(limits);
    test_limit_forget("g");
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "s2");
}

static void wrong_ones_are_refused(void **state)
{
    (void)state;
    const reeve_limit_change queue = {.strict = 1}, two = {.of = REEVE_LIMIT_GROUPS, .strict = 2};
    test_refused(test_client, reeve_limit(test_client, "q", &queue), REEVE_EINVAL, "strict");
    test_refused(test_client, reeve_limit(test_client, "q", &two), REEVE_EINVAL, "strict");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_retry_holds_its_group_up, set_up),
        cmocka_unit_test_setup(a_snooze_holds_its_group_up, set_up),
        cmocka_unit_test_setup(a_death_lets_its_group_go_on, set_up),
        cmocka_unit_test_setup(a_cancel_lets_its_group_go_on, set_up),
        cmocka_unit_test_setup(a_delete_lets_its_group_go_on, set_up),
        cmocka_unit_test_setup(one_that_was_cancelled_while_it_ran_lets_its_group_go_on, set_up),
        cmocka_unit_test_setup(a_crash_holds_its_group_up, set_up),
        cmocka_unit_test_setup(a_hold_is_for_the_retry_too, set_up),
        cmocka_unit_test_setup(a_rate_is_for_the_retry_too, set_up),
        cmocka_unit_test_setup(a_hold_lets_no_urgent_task_go_before_the_retry, set_up),
        cmocka_unit_test_setup(a_rate_lets_no_urgent_task_go_before_the_retry, set_up),
        cmocka_unit_test_setup(a_hold_is_for_two_retries_too, set_up),
        cmocka_unit_test_setup(a_retry_that_waits_for_a_parent_holds_its_group_up, set_up),
        cmocka_unit_test_setup(a_group_that_is_not_strict_any_more_goes_on, set_up),
        cmocka_unit_test_setup(a_group_goes_on_where_the_change_was_not_completed, set_up),
        cmocka_unit_test_setup(a_retry_uses_its_slot_before_all_are_counted, set_up),
        cmocka_unit_test_setup(what_ran_before_is_counted_by_upkeep, set_up),
        cmocka_unit_test_setup(one_group_may_be_strict, set_up),
        cmocka_unit_test_setup(wrong_ones_are_refused, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_groups_strict", tests, test_place_start, test_place_stop);
}
