/* The cost of tasks: how many units of a rate each start takes; the clock is the test's. */
#include <stdio.h>
#include <string.h>

#include "reeve/change.h"
#include "reeve/inspect.h"
#include "support/check.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

/* Tasks with these ids, of a cost and a group (NULL: none). */
static void put(const char *ids, int cost, const char *group)
{
    char copy[400], *rest = NULL;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
        test_put_spec((reeve_task_spec){.id = id, .cost = cost, .group = group});
}

static void expect_after(int64_t ms, const char *ids)
{
    test_clock_advance(ms - 1);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "");
    test_clock_advance(1);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, ids);
}

/* ---- a queue --------------------------------------------------------------------------------------------------- */

static void a_start_takes_all_units(void **state)
{
    (void)state;
    test_limit_queue(0, TEST_RATE(10, 1000, 10));
    put("a b", 4, NULL);
    put("c d", 0, NULL);
    put("e f", 7, NULL);
    put("g", 0, NULL);
    TEST_EXPECT_LEASE(&a, 9, "a b c d"); /* 4 + 4 + 1 + 1 */
    expect_after(100, "e");
    expect_after(700, "f");
    expect_after(700, "g");
}

static void one_free_unit_starts_any_task(void **state)
{
    (void)state;
    test_limit_queue(0, TEST_RATE(10, 1000, 3));
    put("a", 0, NULL);
    put("b", 50, NULL);
    put("c", 0, NULL);
    TEST_EXPECT_LEASE(&a, 9, "a b"); /* of three units: one, and then fifty */
    expect_after(4900, "c");
}

static void what_does_not_fit_any_more_waits(void **state)
{
    (void)state;
    test_limit_queue(0, TEST_RATE(5, 1000, 5));
    put("a b c d", 3, NULL);
    assert_int_equal(test_lease(&a, 9), 2); /* 3 + 3 of 5 */
    assert_string_equal(test_leased_ids(&a), "a b");
    assert_int_equal(test_lease(&b, 9), 0);
    expect_after(400, "c");
    expect_after(600, "d");
}

static void concurrency_counts_tasks(void **state)
{
    (void)state;
    test_limit_queue(3, NULL);
    put("a b c d", 100, NULL);
    test_lease(&a, 1);
    test_lease(&a, 1);
    assert_int_equal(test_lease(&a, 1), 1);
    assert_int_equal(test_lease(&b, 1), 0);
}

static void each_attempt_pays(void **state)
{
    (void)state;
    test_limit_queue(0, TEST_RATE(10, 1000, 10));
    put("a", 10, NULL);
    put("b", 0, NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    TEST_SETTLE(&a, TEST_SNOOZE("a", 0));
    expect_after(100, "a");
    expect_after(1000, "b");
}

/* ---- groups and types ------------------------------------------------------------------------------------------ */

static void a_group_pays_for_itself(void **state)
{
    (void)state;
    test_limit_group("g", 0, TEST_RATE(10, 1000, 10));
    put("a b c", 8, "g");
    put("x y", 8, "h");
    TEST_EXPECT_LEASE(&a, 9, "a x b y"); /* 8 + 8 of 10 */
    assert_string_equal(test_state("q", "c"), "parked");
    expect_after(700, "c");
    test_maintain_all("q");
}

static void a_type_pays_for_itself(void **state)
{
    (void)state;
    test_limit_type("slow", 0, TEST_RATE(10, 1000, 10));
    test_put_spec((reeve_task_spec){.id = "a", .type = "slow", .cost = 20});
    test_put_spec((reeve_task_spec){.id = "b", .type = "slow", .group = "g"});
    test_put_spec((reeve_task_spec){.id = "c", .type = "quick", .cost = 20});
    TEST_EXPECT_LEASE(&a, 9, "a c");
    expect_after(1100, "b");
}

static void queue_and_group_both_have_a_rate(void **state)
{
    (void)state;
    test_limit_queue(0, TEST_RATE(10, 1000, 4));
    test_limit_groups(0, TEST_RATE(10, 1000, 10));
    put("a b c", 3, "g");
    TEST_EXPECT_LEASE(&a, 9, "a b"); /* 3 + 3 of 4, so that two are owed */
    expect_after(300, "c");
}

/* ---- debts ----------------------------------------------------------------------------------------------------- */

/* A clock may stand so far ahead because of a cost, but not for another reason. */
static void a_debt_is_kept_and_no_more(void **state)
{
    (void)state;
    test_limit_queue(0, TEST_RATE(10, 1000, 1));
    put("a", 100, NULL);
    put("b", 0, NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "limit_state debt"), "99");
    test_ok(test_client, reeve_limit(test_client, "q", &(reeve_limit_change){.rate = TEST_RATE(1000, 1000, 1)}));
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "b"); /* ten seconds were owed; of a rate of 1000 a second it cannot be more than 100 ms */
}

static void no_rate_and_no_debt(void **state)
{
    (void)state;
    test_limit_queue(0, TEST_RATE(10, 1000, 1));
    put("a", 5, NULL);
    put("b", 5, NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_limit_queue(-1, TEST_ANY_RATE);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "limit_state"), 0);
    TEST_EXPECT_LEASE(&a, 9, "b");
}

/* ---- the option ------------------------------------------------------------------------------------------------ */

static void it_can_be_changed(void **state)
{
    (void)state;
    reeve_task_info *info;
    put("a", 5, NULL);
    put("b", 0, NULL);
    test_limit_queue(0, TEST_RATE(10, 1000, 1));
    test_ok(test_client, reeve_show(test_client, "q", "a", &info));
    assert_int_equal(info->cost, 5);
    reeve_task_info_free(info);
    test_ok(test_client, reeve_edit(test_client, "q", "a", &(reeve_task_edit){.fields = REEVE_EDIT_COST, .cost = 20}));
    TEST_EXPECT_LEASE(&a, 9, "a");
    expect_after(2000, "b");
    assert_int_equal(
        reeve_edit(test_client, "q", "b", &(reeve_task_edit){.fields = REEVE_EDIT_COST, .cost = REEVE_COST_MAX + 1}),
        REEVE_EINVAL);
    const reeve_task_spec bad = {.queue = "q", .type = "t", .cost = -1};
    assert_int_equal(reeve_enqueue(test_client, &bad, NULL), REEVE_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_start_takes_all_units, set_up),
        cmocka_unit_test_setup(one_free_unit_starts_any_task, set_up),
        cmocka_unit_test_setup(what_does_not_fit_any_more_waits, set_up),
        cmocka_unit_test_setup(concurrency_counts_tasks, set_up),
        cmocka_unit_test_setup(each_attempt_pays, set_up),
        cmocka_unit_test_setup(a_group_pays_for_itself, set_up),
        cmocka_unit_test_setup(a_type_pays_for_itself, set_up),
        cmocka_unit_test_setup(queue_and_group_both_have_a_rate, set_up),
        cmocka_unit_test_setup(a_debt_is_kept_and_no_more, set_up),
        cmocka_unit_test_setup(no_rate_and_no_debt, set_up),
        cmocka_unit_test_setup(it_can_be_changed, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_limits_cost", tests, test_place_start, test_place_stop);
}
