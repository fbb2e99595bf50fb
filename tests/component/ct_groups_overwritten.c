/* Another program overwrites the envelope of a task that is parked or called at its group's limit: its group, which
 * only the envelope named, is not held up. The clock is the test's. */
#include <stdio.h>
#include <string.h>

#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000
#define PLAIN "{\"at\":1,\"type\":\"t\"}\n"
#define OTHER "{\"at\":1,\"type\":\"t\",\"group\":\"h\"}\n"
#define MALFORMED "{\"at\":1,\"type\":\"t\",\"group\":null}\n"

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

static void overwrite(const char *id, const char *envelope)
{
    const rv_reply *reply;
    rv_cmd(test_conn, 4);
    rv_args(test_conn, "HSET");
    rv_args(test_conn, Q "tasks");
    rv_args(test_conn, id);
    rv_args(test_conn, envelope);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
}

/* "a" runs, "b" is called, "c" and "d" are parked: all in group g, of which one runs at a time. */
static void call_one(void)
{
    test_limit_groups(1, NULL);
    test_put_in("z b c d", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "z");
    TEST_SETTLE(&a, TEST_DONE("z"));
    assert_string_equal(test_state("q", "b"), "ready");
    assert_string_equal(test_state("q", "c"), "parked");
    assert_int_equal(test_number("ZCARD " Q "unparked:g"), 1);
}

static void expect_group_goes_on(const char *first, const char *second)
{
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, first);
    TEST_SETTLE(&a, TEST_DONE(first));
    if (second) {
        TEST_EXPECT_LEASE(&a, 9, second);
        TEST_SETTLE(&a, TEST_DONE(second));
    }
    test_maintain_all("q");
    test_groups_forgotten();
}

static void a_called_task_that_names_no_group_any_more_is_leased(void **state)
{
    (void)state;
    call_one();
    overwrite("b", PLAIN);
    assert_int_equal(test_lease(&b, 1), 1);
    assert_string_equal(test_leased_ids(&b), "b");
    test_settle(&b, TEST_DONE("b"));
    expect_group_goes_on("c", "d");
}

static void a_called_task_that_names_another_group_is_leased(void **state)
{
    (void)state;
    call_one();
    overwrite("b", OTHER);
    assert_int_equal(test_lease(&b, 1), 1);
    assert_string_equal(test_leased_ids(&b), "b");
    test_settle(&b, TEST_DONE("b"));
    expect_group_goes_on("c", "d");
}

static void a_called_task_that_nobody_understands_dies(void **state)
{
    (void)state;
    call_one();
    overwrite("b", MALFORMED);
    (void)test_lease(&b, 1);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "b"), "dead");
    expect_group_goes_on("c", "d");
}

static void a_called_task_is_deleted(void **state)
{
    (void)state;
    call_one();
    overwrite("b", PLAIN);
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    expect_group_goes_on("c", "d");
}

/* While it waits in `ready` it does not count for the group that it was called in. */
static void a_called_task_waits_at_the_limit_of_another_group(void **state)
{
    (void)state;
    call_one();
    test_hold("h", 60000);
    overwrite("b", OTHER);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "c");
    assert_string_equal(test_state("q", "b"), "parked");
}

/* A cancelled task does not run. */
static void a_parked_task_is_cancelled(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("z b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "z");
    overwrite("b", PLAIN);
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_settle(&a, TEST_DONE("z"));
    assert_string_equal(test_state("q", "b"), "cancelled");
    assert_int_equal(test_number("ZCARD " Q "ready"), test_count("q", "ready"));
    expect_group_goes_on("c", NULL);
    assert_string_equal(test_state("q", "b"), "cancelled");
}

static void a_parked_task_is_deleted_and_comes_again(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("z b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "z");
    overwrite("b", OTHER);
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    test_put_in("b", "g", 0);
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("z"));
    expect_group_goes_on("c", "b");
}

/* A strict group waits for the task that started, which keeps its slot meanwhile. */
static void a_task_of_a_strict_group_that_waits_for_a_retry_is_deleted(void **state)
{
    (void)state;
    test_limit_strict(NULL, 1);
    test_put_in("b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "b");
    TEST_SETTLE(&a, TEST_RETRY("b", 1000));
    overwrite("b", PLAIN);
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    for (int i = 0; i < 3; i++) test_maintain_all("q");
    expect_group_goes_on("c", NULL);
}

static void a_task_of_a_strict_group_that_waits_for_a_retry_names_another_group(void **state)
{
    (void)state;
    test_limit_strict("g", 1);
    test_limit_group("h", 5, NULL);
    test_put_in("b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "b");
    TEST_SETTLE(&a, TEST_RETRY("b", 1000));
    overwrite("b", OTHER);
    test_clock_advance(1000);
    test_maintain_all("q");
    assert_int_equal(test_lease(&b, 1), 1);
    assert_string_equal(test_leased_ids(&b), "b");
    test_settle(&b, TEST_DONE("b"));
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "c");
}

/* However many others wait for a retry as well, and have been there for longer. */
static void one_of_many_tasks_of_strict_groups_is_deleted(void **state)
{
    (void)state;
    enum { STRICT_GROUPS = 60 };
    char group[16], id[16];
    test_limit_strict(NULL, 1);
    for (int i = 0; i < STRICT_GROUPS; i++) {
        (void)snprintf(group, sizeof(group), "g%d", i);
        (void)snprintf(id, sizeof(id), "b%d", i);
        test_put_in(id, group, 0);
        TEST_EXPECT_LEASE(&a, 1, id);
        TEST_SETTLE(&a, TEST_RETRY(id, 3600000));
    }
    test_put_in("c", group, 0);
    TEST_EXPECT_LEASE(&a, 1, "");
    overwrite(id, PLAIN);
    test_ok(test_client, reeve_delete(test_client, "q", id));
    for (int i = 0; i < 1000 && test_number("HEXISTS " Q "running_group %s", id); i++) {
        test_clock_advance(1);
        test_maintain_all("q");
    }
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 1, "c");
}

/* However many groups there are. */
static void many_groups_are_tidied(void **state)
{
    (void)state;
    enum { GROUPS_HELD_UP = 60 };
    char group[16], first[16], second[16], both[40];
    test_limit_groups(1, NULL);
    for (int i = 0; i < GROUPS_HELD_UP; i++) {
        (void)snprintf(group, sizeof(group), "g%d", i);
        (void)snprintf(both, sizeof(both), "z%d b%d c%d", i, i, i);
        test_put_in(both, group, 0);
    }
    assert_int_equal(test_lease_all(&a), GROUPS_HELD_UP);
    for (int i = 0; i < GROUPS_HELD_UP; i++) {
        (void)snprintf(first, sizeof(first), "z%d", i);
        (void)snprintf(second, sizeof(second), "b%d", i);
        overwrite(second, PLAIN);
        test_settle(&a, TEST_DONE(first));
    }
    assert_int_equal(test_lease(&b, 64), GROUPS_HELD_UP);
    test_done(&b);
    size_t leased = 0;
    for (int i = 0; i < 1000 && leased < GROUPS_HELD_UP; i++) {
        test_maintain_all("q");
        leased += test_lease(&b, 64);
    }
    assert_int_equal(leased, GROUPS_HELD_UP);
    test_limits_agree();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_called_task_that_names_no_group_any_more_is_leased, set_up),
        cmocka_unit_test_setup(a_called_task_that_names_another_group_is_leased, set_up),
        cmocka_unit_test_setup(a_called_task_that_nobody_understands_dies, set_up),
        cmocka_unit_test_setup(a_called_task_is_deleted, set_up),
        cmocka_unit_test_setup(a_called_task_waits_at_the_limit_of_another_group, set_up),
        cmocka_unit_test_setup(a_parked_task_is_cancelled, set_up),
        cmocka_unit_test_setup(a_parked_task_is_deleted_and_comes_again, set_up),
        cmocka_unit_test_setup(a_task_of_a_strict_group_that_waits_for_a_retry_is_deleted, set_up),
        cmocka_unit_test_setup(a_task_of_a_strict_group_that_waits_for_a_retry_names_another_group, set_up),
        cmocka_unit_test_setup(one_of_many_tasks_of_strict_groups_is_deleted, set_up),
        cmocka_unit_test_setup(many_groups_are_tidied, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_groups_overwritten", tests, test_place_start, test_place_stop);
}
