/* Limits of types of tasks: alone, and together with those of groups; the clock is the test's. */
#include <stdio.h>
#include <string.h>

#include "reeve/change.h"
#include "reeve/why.h"
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

/* Tasks with these ids, of a type and a group (NULL: none). */
static void put(const char *ids, const char *type, const char *group)
{
    char copy[400], *rest = NULL;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
        test_put_spec((reeve_task_spec){.id = id, .type = type, .group = group});
}

static void forget(const char *type)
{
    const reeve_limit_change change = {.of = REEVE_LIMIT_TYPE, .type = type, .forget = true};
    test_ok(test_client, reeve_limit(test_client, "q", &change));
    test_limits_agree();
}

static void expect_flags(const char *flags)
{
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), flags);
}

/* ---- a type alone ---------------------------------------------------------------------------------------------- */

static void a_type_at_its_limit_delays_no_other(void **state)
{
    (void)state;
    test_limit_type("slow", 2, NULL);
    put("a b c d", "slow", NULL);
    put("x y", "quick", NULL);
    TEST_EXPECT_LEASE(&a, 9, "a b x y");
    assert_string_equal(test_state("q", "c"), "parked");
    TEST_SETTLE(&a, TEST_DONE("b"));
    TEST_EXPECT_LEASE(&b, 9, "c");
    TEST_SETTLE(&b, TEST_FAIL("c"));
    TEST_EXPECT_LEASE(&b, 9, "d");
}

static void every_end_lets_the_next_start(void **state)
{
    (void)state;
    test_limit_type("slow", 1, NULL);
    put("a b c d e f g h", "slow", NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    TEST_SETTLE(&a, TEST_DONE("a"));
    TEST_EXPECT_LEASE(&a, 9, "b");
    TEST_SETTLE(&a, TEST_RETRY("b", 60000));
    TEST_EXPECT_LEASE(&a, 9, "c");
    TEST_SETTLE(&a, TEST_SNOOZE("c", 60000));
    TEST_EXPECT_LEASE(&a, 9, "d");
    TEST_SETTLE(&a, TEST_SNOOZE("d", 0));
    TEST_EXPECT_LEASE(&a, 9, "d");
    test_ok(test_client, reeve_expire(test_client, "q", "d"));
    TEST_EXPECT_LEASE(&b, 9, "d");
    test_ok(test_client, reeve_fail(test_client, "q", "d", "kind", "words"));
    TEST_EXPECT_LEASE(&a, 9, "e");
    test_expire(&a);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "e");
    TEST_SETTLE(&b, TEST_DONE("e"));
    test_ok(test_client, reeve_cancel(test_client, "q", "f"));
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "g");
    test_limits_agree();
}

static void a_rate(void **state)
{
    (void)state;
    test_limit_type("slow", 0, TEST_RATE(2, 1000, 2));
    put("a b c d", "slow", NULL);
    put("x", "quick", NULL);
    TEST_EXPECT_LEASE(&a, 9, "a b x");
    test_clock_advance(500);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "c");
    test_clock_advance(500);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "d");
}

static void what_runs_when_the_limit_comes_counts(void **state)
{
    (void)state;
    put("a b c", "slow", "g");
    put("d", "slow", NULL);
    TEST_EXPECT_LEASE(&a, 2, "a d");
    test_limit_groups(3, NULL);
    test_limit_type("slow", 2, NULL);
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("d"));
    TEST_EXPECT_LEASE(&b, 9, "b");
}

/* A pause is in force for types, too, before there is a limit. */
static void what_runs_when_a_pause_comes_counts(void **state)
{
    (void)state;
    test_limit_groups(5, NULL);
    put("a b c", "slow", NULL);
    TEST_EXPECT_LEASE(&a, 1, "a");
    test_hold("type:slow", 1000);
    test_maintain_all("q");
    test_limits_agree();
    test_limit_type("slow", 1, NULL);
    test_clock_advance(1000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("a"));
    TEST_EXPECT_LEASE(&b, 9, "b");
}

static void a_limit_goes(void **state)
{
    (void)state;
    test_limit_type("slow", 1, NULL);
    test_limit_type("quick", 1, NULL);
    expect_flags("gst");
    put("a b c", "slow", NULL);
    put("x y", "quick", "g");
    TEST_EXPECT_LEASE(&a, 9, "a x");
    forget("slow");
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "b c");
    forget("quick");
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "y");
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_maintain_all("q");
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
    test_groups_forgotten();
}

/* ---- with groups ----------------------------------------------------------------------------------------------- */

static void a_group_and_a_type_must_both_have_room(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_limit_type("slow", 1, NULL);
    put("a b", "slow", "g");
    put("c", "slow", "h");
    put("d", "quick", "h");
    TEST_EXPECT_LEASE(&a, 9, "a d");
    TEST_SETTLE(&a, TEST_DONE("d"));
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_maintain_all("q");
    size_t ran = 0;
    for (int i = 0; i < 10; i++) {
        assert_in_range(test_lease(&b, 9), 0, 1);
        ran += b.count;
        test_limits_agree();
        test_done(&b);
        test_maintain_all("q");
    }
    assert_int_equal(ran, 2);
    forget("slow");
    test_maintain_all("q");
    expect_flags("gs");
}

/* A task of a strict group that waits again keeps its slot there, and not that of its type. */
static void a_strict_group(void **state)
{
    (void)state;
    test_limit_strict("g", 1);
    test_limit_type("slow", 1, NULL);
    put("a b", "slow", "g");
    put("c d", "slow", NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    TEST_SETTLE(&a, TEST_RETRY("a", 1000));
    TEST_EXPECT_LEASE(&b, 9, "c");
    test_clock_advance(1000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "");
    TEST_SETTLE(&b, TEST_DONE("c"));
    test_maintain_all("q");
    const char *const order[] = {"d", "a", "b"};
    test_expect_order(&a, order, 3);
    test_limits_agree();
}

static void limits_of_all_groups_are_not_those_of_types(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_limit_type("slow", 5, NULL);
    put("a b c", "quick", NULL);
    TEST_EXPECT_LEASE(&a, 9, "a b c");
}

/* ---- changes, and what is told --------------------------------------------------------------------------------- */

static void a_parked_task_gets_another_type(void **state)
{
    (void)state;
    test_limit_type("slow", 1, NULL);
    put("a b c", "slow", NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    const reeve_task_edit edit = {.fields = REEVE_EDIT_TYPE, .type = "quick"};
    test_ok(test_client, reeve_edit(test_client, "q", "b", &edit));
    test_limits_agree();
    TEST_EXPECT_LEASE(&b, 9, "b");
}

static void types_are_told_apart_from_groups(void **state)
{
    (void)state;
    test_limit_type("slow", 1, TEST_RATE(5, 1000, 5));
    test_limit_group("g", 2, NULL);
    put("a b", "slow", NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    reeve_limits *limits = test_limits();
    assert_int_equal(limits->group_count, 2);
    assert_string_equal(limits->groups[0].group, "g");
    assert_string_equal(limits->groups[0].type, "");
    assert_string_equal(limits->groups[1].group, "");
    assert_string_equal(limits->groups[1].type, "slow");
    assert_int_equal(limits->groups[1].concurrency, 1);
    assert_int_equal(limits->groups[1].rate.count, 5);
    assert_int_equal(limits->groups[1].running, 1);
    assert_int_equal(limits->groups[1].parked, 1);
    reeve_limits_free(limits);
}

#define REFUSED(words, ...)                                                                      \
    do {                                                                                         \
        const reeve_limit_change refused = {.of = REEVE_LIMIT_TYPE, __VA_ARGS__};                \
        test_refused(test_client, reeve_limit(test_client, "q", &refused), REEVE_EINVAL, words); \
    } while (0)

/* Also the longest one. */
static void why_names_the_type(void **state)
{
    (void)state;
    char type[REEVE_TYPE_MAX + 1], group[REEVE_TYPE_MAX + 8];
    reeve_why *why;
    memset(type, 'x', REEVE_TYPE_MAX);
    type[REEVE_TYPE_MAX] = '\0';
    (void)snprintf(group, sizeof(group), "type:%s", type);
    test_limit_type(type, 1, NULL);
    put("a b", type, NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_ok(test_client, reeve_task_why(test_client, "q", "b", &why));
    assert_int_equal(why->reasons[0].kind, REEVE_REASON_GROUP_CONCURRENCY);
    assert_string_equal(why->reasons[0].group, group);
    reeve_why_free(why);
}

static void what_is_refused(void **state)
{
    (void)state;
    REFUSED("type", .concurrency = 1);
    REFUSED("type", .type = "no type", .concurrency = 1);
    REFUSED("a group is named", .type = "t", .group = "g", .concurrency = 1);
    REFUSED("strict: only groups", .type = "t", .strict = 1);
}

/* ---- check ----------------------------------------------------------------------------------------------------- */

static void check_finds_what_is_wrong(void **state)
{
    (void)state;
    test_limit_type("slow", 1, NULL);
    put("a b c", "slow", "g");
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_check_finds("q", "");
    test_cmd(test_conn, "HSET " Q "running_group a g");
    char finding[96];
    (void)snprintf(finding, sizeof(finding), "group_count , slot_missing running:%s a", a.sessions[0]);
    test_check_repairs("q", finding);
    test_limits_agree();
    test_cmd(test_conn, "HDEL " Q "settings types in_force");
    test_check_repairs("q", "in_force ");
    expect_flags("gst");
    test_cmd(test_conn, "ZREM " Q "parked:type:slow b");
    test_check_repairs("q", "parked_alone b");
    test_limits_agree();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_type_at_its_limit_delays_no_other, set_up),
        cmocka_unit_test_setup(every_end_lets_the_next_start, set_up),
        cmocka_unit_test_setup(a_rate, set_up),
        cmocka_unit_test_setup(what_runs_when_the_limit_comes_counts, set_up),
        cmocka_unit_test_setup(what_runs_when_a_pause_comes_counts, set_up),
        cmocka_unit_test_setup(a_limit_goes, set_up),
        cmocka_unit_test_setup(a_group_and_a_type_must_both_have_room, set_up),
        cmocka_unit_test_setup(a_strict_group, set_up),
        cmocka_unit_test_setup(limits_of_all_groups_are_not_those_of_types, set_up),
        cmocka_unit_test_setup(a_parked_task_gets_another_type, set_up),
        cmocka_unit_test_setup(types_are_told_apart_from_groups, set_up),
        cmocka_unit_test_setup(why_names_the_type, set_up),
        cmocka_unit_test_setup(what_is_refused, set_up),
        cmocka_unit_test_setup(check_finds_what_is_wrong, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_limits_types", tests, test_place_start, test_place_stop);
}
