/* Limits of limit keys: of one key, of several of a task, and together with those of groups and types. The clock is the
 * test's. */
#include <stdio.h>
#include <string.h>

#include "reeve/change.h"
#include "reeve/inspect.h"
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

/* Splits a list, changing it; returns how many there are. */
static size_t split(char *list, const char *ret[REEVE_LIMIT_KEYS_MAX])
{
    char *rest = NULL;
    size_t count = 0;
    for (char *one = strtok_r(list, " ", &rest); one && count < REEVE_LIMIT_KEYS_MAX; one = strtok_r(NULL, " ", &rest))
        ret[count++] = one;
    return count;
}

/* Tasks with these ids, limit keys, type (NULL: "t") and group (NULL: none). */
static void put_as(const char *ids, const char *keys, const char *type, const char *group)
{
    char id_list[400], key_list[400], *rest = NULL;
    const char *of[REEVE_LIMIT_KEYS_MAX];
    rv_copy_text(id_list, sizeof(id_list), ids);
    rv_copy_text(key_list, sizeof(key_list), keys);
    size_t count = split(key_list, of);
    for (char *id = strtok_r(id_list, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
        test_put_spec((reeve_task_spec){
            .id = id, .type = type ? type : "t", .group = group, .limit_keys = of, .limit_key_count = count});
}

static void put(const char *ids, const char *keys)
{
    put_as(ids, keys, NULL, NULL);
}

static void forget(const char *key)
{
    const reeve_limit_change change = {.of = REEVE_LIMIT_KEY, .key = key, .forget = true};
    test_ok(test_client, reeve_limit(test_client, "q", &change));
    test_limits_agree();
}

static void expect_flags(const char *flags)
{
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), flags);
}

static void expect_slots(const char *key, const char *count)
{
    assert_string_equal(test_cmd(test_conn, "HGET " Q "group_running key:%s", key), count);
}

/* ---- one key --------------------------------------------------------------------------------------------------- */

static void a_key_at_its_limit_delays_no_other(void **state)
{
    (void)state;
    test_limit_key("gpu", 2, NULL);
    put("a b c d", "gpu");
    put("x", "cpu");
    put("y", "");
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
    test_limit_key("gpu", 1, NULL);
    put("a b c d e f g h i", "gpu customer:7");
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
    test_ok(test_client, reeve_move(test_client, "q", "h", "other"));
    test_limits_agree();
    TEST_SETTLE(&b, TEST_DONE("g"));
    TEST_EXPECT_LEASE(&b, 9, "i");
    TEST_SETTLE(&b, TEST_DONE("i"));
    forget("gpu");
    for (int i = 0; i < 2; i++) test_maintain_all("q");
    test_limits_agree();
}

static void a_rate(void **state)
{
    (void)state;
    test_limit_key("api", 0, TEST_RATE(2, 1000, 2));
    put("a b c d", "api");
    put("x", "");
    TEST_EXPECT_LEASE(&a, 9, "a b x");
    test_clock_advance(500);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "c");
    test_clock_advance(500);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "d");
}

static void a_cost(void **state)
{
    (void)state;
    test_limit_key("api", 0, TEST_RATE(10, 1000, 10));
    static const char *const keys[] = {"api"};
    test_put_spec((reeve_task_spec){.id = "a", .cost = 20, .limit_keys = keys, .limit_key_count = 1});
    put("b", "api");
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_clock_advance(1099);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "");
    test_clock_advance(1);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "b");
}

/* ---- several --------------------------------------------------------------------------------------------------- */

/* What one refuses takes nothing of the others. */
static void all_keys_must_have_room(void **state)
{
    (void)state;
    test_limit_key("gpu", 1, NULL);
    test_limit_key("customer:7", 1, TEST_RATE(2, 1000, 2));
    put("a", "gpu");
    put("b", "customer:7 gpu");
    put("c", "customer:7");
    TEST_EXPECT_LEASE(&a, 9, "a c");
    assert_string_equal(test_state("q", "b"), "parked");
    expect_slots("gpu", "1");
    expect_slots("customer:7", "1");
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("c"));
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "b");
    expect_slots("gpu", "1");
    expect_slots("customer:7", "1");
    TEST_SETTLE(&b, TEST_DONE("b"));
    assert_int_equal(test_number("EXISTS " Q "group_running"), 0);
}

static void a_key_that_is_given_twice_is_one(void **state)
{
    (void)state;
    test_limit_key("gpu", 2, NULL);
    put("a b", "gpu gpu");
    TEST_EXPECT_LEASE(&a, 9, "a b");
    expect_slots("gpu", "2");
    /* Another program may write it so. */
    test_cmd(test_conn, "HSET " Q "tasks c {\"at\":1,\"type\":\"t\",\"limit_keys\":[\"gpu\",\"gpu\"]}\n");
    test_cmd(test_conn, "ZADD " Q "ready 5 c");
    TEST_SETTLE(&a, TEST_DONE("a"));
    TEST_EXPECT_LEASE(&a, 9, "c");
    assert_int_equal(test_number("HGET " Q "group_running key:gpu"), 2);
    TEST_SETTLE(&a, TEST_DONE("c"));
    expect_slots("gpu", "1");
}

static void with_a_group_and_a_type(void **state)
{
    (void)state;
    test_limit_groups(2, NULL);
    test_limit_type("slow", 3, NULL);
    test_limit_key("gpu", 1, NULL);
    expect_flags("gstk");
    put_as("a", "gpu", "slow", "g");
    put_as("b", "gpu", "slow", "g");
    put_as("c", "", "slow", "g");
    put_as("d", "", "slow", "g");
    TEST_EXPECT_LEASE(&a, 9, "a c");
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_maintain_all("q");
    size_t ran = 0;
    for (int i = 0; i < 9; i++) {
        ran += test_lease(&b, 9);
        test_limits_agree();
        test_done(&b);
        test_maintain_all("q");
    }
    assert_int_equal(ran, 2);
    TEST_SETTLE(&a, TEST_DONE("c"));
    test_groups_forgotten();
}

/* A task of a strict group that waits again keeps its slot there, and none of its limit keys. */
static void a_strict_group(void **state)
{
    (void)state;
    test_limit_strict("g", 1);
    test_limit_key("gpu", 1, NULL);
    put_as("a b", "gpu", NULL, "g");
    put("c", "gpu");
    TEST_EXPECT_LEASE(&a, 9, "a");
    TEST_SETTLE(&a, TEST_RETRY("a", 1000));
    TEST_EXPECT_LEASE(&b, 9, "c");
    test_clock_advance(1000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "");
    TEST_SETTLE(&b, TEST_DONE("c"));
    test_maintain_all("q");
    const char *const order[] = {"a", "b"};
    test_expect_order(&a, order, 2);
}

/* 150 tasks with 8 keys each, none of them with room: a call does not look at all of them. */
static void a_call_looks_at_a_limited_number_of_keys(void **state)
{
    (void)state;
    char names[8][32];
    const char *keys[8];
    for (int i = 0; i < 150; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "t%03d", i);
        for (int j = 0; j < 8; j++) {
            (void)snprintf(names[j], sizeof(names[j]), "k%d-%d", i, j);
            keys[j] = names[j];
        }
        test_put_spec((reeve_task_spec){.id = id, .limit_keys = keys, .limit_key_count = 8});
        test_limit_key(names[7], i < 149 ? 1 : 5, NULL);
        test_cmd(test_conn, "HSET " Q "limits c:key:%s %d", names[7], i < 149 ? 0 : 5);
    }
    (void)test_lease(&a, 100);
    assert_string_equal(test_leased_ids(&a), "");
    assert_in_range(test_number("ZCARD " Q "parked"), 20, 60);
    for (int i = 0; i < 9 && a.count == 0; i++) (void)test_lease(&a, 100);
    assert_string_equal(test_leased_ids(&a), "t149");
    test_limits_agree();
}

/* ---- limits come and go ---------------------------------------------------------------------------------------- */

static void what_runs_when_the_limit_comes_counts(void **state)
{
    (void)state;
    put("a b c", "gpu customer:7");
    TEST_EXPECT_LEASE(&a, 1, "a");
    test_limit_groups(3, NULL);
    test_limit_key("gpu", 2, NULL);
    expect_slots("gpu", "1");
    expect_slots("customer:7", "1");
    TEST_EXPECT_LEASE(&b, 9, "b");
    test_limit_key("customer:7", 2, NULL);
    TEST_EXPECT_LEASE(&b, 9, "");
    TEST_SETTLE(&a, TEST_DONE("a"));
    TEST_EXPECT_LEASE(&b, 9, "c");
}

static void a_pause(void **state)
{
    (void)state;
    put("a b", "gpu");
    test_hold("key:gpu", 1000);
    expect_flags("gk");
    TEST_EXPECT_LEASE(&a, 9, "");
    test_clock_advance(1000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "a b");
    test_groups_forgotten();
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
}

static void a_limit_goes(void **state)
{
    (void)state;
    test_limit_key("gpu", 1, NULL);
    test_limit_key("tape", 1, NULL);
    expect_flags("gsk");
    put("a b c", "gpu");
    put("x y", "tape");
    TEST_EXPECT_LEASE(&a, 9, "a x");
    forget("gpu");
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "b c");
    forget("tape");
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&b, 9, "y");
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_maintain_all("q");
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
    assert_int_equal(test_number("HEXISTS " Q "settings keys"), 0);
    test_groups_forgotten();
}

/* ---- the option ------------------------------------------------------------------------------------------------ */

static void edit_keys(const char *id, const char *const *keys, size_t count)
{
    const reeve_task_edit edit = {.fields = REEVE_EDIT_LIMIT_KEYS, .limit_keys = keys, .limit_key_count = count};
    test_ok(test_client, reeve_edit(test_client, "q", id, &edit));
    test_limits_agree();
}

static void expect_keys(const char *id, const char *keys)
{
    reeve_task_info *info;
    test_ok(test_client, reeve_show(test_client, "q", id, &info));
    assert_string_equal(info->limit_keys ? info->limit_keys : "", keys);
    reeve_task_info_free(info);
}

static void it_can_be_changed(void **state)
{
    (void)state;
    static const char *const others[] = {"cpu", "customer:7"};
    test_limit_key("gpu", 1, NULL);
    put("a b c", "gpu");
    TEST_EXPECT_LEASE(&a, 9, "a");
    assert_string_equal(test_state("q", "b"), "parked");
    expect_keys("b", "[\"gpu\"]");
    edit_keys("b", others, 2);
    expect_keys("b", "[\"cpu\",\"customer:7\"]");
    assert_string_equal(test_state("q", "b"), "ready");
    edit_keys("c", NULL, 0);
    expect_keys("c", "");
    TEST_EXPECT_LEASE(&b, 9, "b c");
}

#define TOO_MANY (REEVE_LIMIT_KEYS_MAX + 1)
#define BAD(words, ...)                                                                         \
    do {                                                                                        \
        const reeve_task_spec bad = {.queue = "q", .type = "t", __VA_ARGS__};                   \
        test_refused(test_client, reeve_enqueue(test_client, &bad, NULL), REEVE_EINVAL, words); \
    } while (0)
#define REFUSED(words, ...)                                                                      \
    do {                                                                                         \
        const reeve_limit_change refused = {.of = REEVE_LIMIT_KEY, __VA_ARGS__};                 \
        test_refused(test_client, reeve_limit(test_client, "q", &refused), REEVE_EINVAL, words); \
    } while (0)

static void what_is_refused(void **state)
{
    (void)state;
    char longest[REEVE_LIMIT_KEY_MAX + 2] = "";
    memset(longest, 'k', REEVE_LIMIT_KEY_MAX + 1);
    const char *keys[TOO_MANY] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"}, *empty[] = {""}, *no_text[] = {"\xff"};
    const char *too_long[] = {longest}, *fits[] = {longest + 1};
    BAD("at most 8", .limit_keys = keys, .limit_key_count = TOO_MANY);
    BAD("limit key", .limit_keys = empty, .limit_key_count = 1);
    BAD("UTF-8", .limit_keys = no_text, .limit_key_count = 1);
    BAD("limit key", .limit_keys = too_long, .limit_key_count = 1);
    BAD("limit keys", .limit_key_count = 1);
    test_put_spec((reeve_task_spec){.id = "a", .limit_keys = fits, .limit_key_count = 1});
    test_put_spec((reeve_task_spec){.id = "b", .limit_keys = fits, .limit_key_count = 1});
    REFUSED("limit key", .concurrency = 1);
    REFUSED("limit key", .key = "", .concurrency = 1);
    REFUSED("limit key", .key = longest, .concurrency = 1);
    REFUSED("a group is named", .key = "k", .group = "g", .concurrency = 1);
    REFUSED("strict", .key = "k", .strict = 1);
    test_limit_key(longest + 1, 1, NULL);
    TEST_EXPECT_LEASE(&a, 9, "a");
    reeve_why *why;
    test_ok(test_client, reeve_task_why(test_client, "q", "b", &why));
    assert_int_equal(why->reasons[0].kind, REEVE_REASON_GROUP_CONCURRENCY);
    assert_string_equal(why->reasons[0].group + 4, longest + 1);
    reeve_why_free(why);
}

static void keys_are_told_apart_from_groups_and_types(void **state)
{
    (void)state;
    test_limit_key("gpu", 1, TEST_RATE(5, 1000, 5));
    test_limit_type("slow", 3, NULL);
    test_limit_group("g", 2, NULL);
    put("a b", "gpu");
    TEST_EXPECT_LEASE(&a, 9, "a");
    reeve_limits *limits = test_limits();
    assert_int_equal(limits->group_count, 3);
    assert_string_equal(limits->groups[0].group, "g");
    assert_string_equal(limits->groups[0].key, "");
    assert_string_equal(limits->groups[1].group, "");
    assert_string_equal(limits->groups[1].type, "");
    assert_string_equal(limits->groups[1].key, "gpu");
    assert_int_equal(limits->groups[1].concurrency, 1);
    assert_int_equal(limits->groups[1].rate.count, 5);
    assert_int_equal(limits->groups[1].running, 1);
    assert_int_equal(limits->groups[1].parked, 1);
    assert_string_equal(limits->groups[2].type, "slow");
    reeve_limits_free(limits);
}

/* ---- check ----------------------------------------------------------------------------------------------------- */

static void check_finds_what_is_wrong(void **state)
{
    (void)state;
    test_limit_key("gpu", 1, NULL);
    put("a b c", "gpu tape");
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_check_finds("q", "");
    test_cmd(test_conn, "HSET " Q "running_group a key:tape");
    char finding[96];
    (void)snprintf(finding, sizeof(finding), "group_count , slot_missing running:%s a", a.sessions[0]);
    test_check_repairs("q", finding);
    test_limits_agree();
    test_cmd(test_conn, "HDEL " Q "settings keys in_force");
    test_check_repairs("q", "in_force ");
    expect_flags("gsk");
    test_cmd(test_conn, "ZREM " Q "parked:key:gpu b");
    test_check_repairs("q", "parked_alone b");
    test_limits_agree();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_key_at_its_limit_delays_no_other, set_up),
        cmocka_unit_test_setup(every_end_lets_the_next_start, set_up),
        cmocka_unit_test_setup(a_rate, set_up),
        cmocka_unit_test_setup(a_cost, set_up),
        cmocka_unit_test_setup(all_keys_must_have_room, set_up),
        cmocka_unit_test_setup(a_key_that_is_given_twice_is_one, set_up),
        cmocka_unit_test_setup(with_a_group_and_a_type, set_up),
        cmocka_unit_test_setup(a_strict_group, set_up),
        cmocka_unit_test_setup(a_call_looks_at_a_limited_number_of_keys, set_up),
        cmocka_unit_test_setup(what_runs_when_the_limit_comes_counts, set_up),
        cmocka_unit_test_setup(a_pause, set_up),
        cmocka_unit_test_setup(a_limit_goes, set_up),
        cmocka_unit_test_setup(it_can_be_changed, set_up),
        cmocka_unit_test_setup(what_is_refused, set_up),
        cmocka_unit_test_setup(keys_are_told_apart_from_groups_and_types, set_up),
        cmocka_unit_test_setup(check_finds_what_is_wrong, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_limits_keys", tests, test_place_start, test_place_stop);
}
