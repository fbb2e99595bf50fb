/* Limits of groups: what they let start, what is parked, in which order it goes on, and that nothing stays behind. The clock
 * is the test's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/scripts.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    test_clock_set(NOW); /* it stands still */
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "2", "q");
    return test_place_empty(state);
}

static void put(const char *ids, const char *group, int priority)
{
    char copy[400], *rest = NULL;
    rv_copy_text(copy, sizeof(copy), ids);
    for (char *id = strtok_r(copy, " ", &rest); id; id = strtok_r(NULL, " ", &rest))
        test_put_spec((reeve_task_spec){.id = id, .group = group, .priority = priority});
}

#define EXPECT_LEASE(hand, want, ids)                                                              \
    do {                                                                                           \
        (void)test_lease(hand, want);                                                              \
        assert_string_equal(test_leased_ids(hand), ids);                                           \
        test_limits_agree();                                                                       \
    } while (0)

#define SETTLE(hand, ...)                                                                          \
    do {                                                                                           \
        test_settle(hand, __VA_ARGS__);                                                            \
        assert_string_equal((hand)->refused, "");                                                  \
        test_limits_agree();                                                                       \
    } while (0)

static void expect_order(const char *const *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)test_lease(&a, 100);
        if (strcmp(test_leased_ids(&a), ids[i]) != 0) fail_msg("%zu: \"%s\" and not %s", i, test_leased_ids(&a), ids[i]);
        SETTLE(&a, TEST_DONE(ids[i]));
    }
    EXPECT_LEASE(&a, 100, "");
}

static void expect_numbered(const char *name, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        char id[REEVE_ID_MAX];
        (void)snprintf(id, sizeof(id), "%s%03zu", name, i);
        (void)test_lease(&a, 100);
        assert_string_equal(test_leased_ids(&a), id);
        test_settle(&a, TEST_DONE(id));
    }
    test_limits_agree();
}

static void done(test_hand *hand)
{
    test_outcome outcomes[2 * RV_BATCH_MAX];
    size_t count = hand->count;
    for (size_t i = 0; i < count; i++)
        outcomes[i] = (test_outcome){0, {.id = hand->leased[i].id, .verb = REEVE_OUTCOME_DONE, .has_info = hand->leased[i].has_info}};
    test_hand reply = *hand;
    (void)test_turn(&reply, 0, outcomes, count);
    assert_string_equal(reply.refused, "");
}

static size_t run_all(test_hand *hand)
{
    size_t all = 0;
    while (test_lease(hand, 100) > 0) {
        all += hand->count;
        done(hand);
    }
    return all;
}

static void hold(const char *group, int64_t delay_ms)
{
    test_ok(test_client, reeve_hold(test_client, "q", group, delay_ms, NULL));
}

/* ---- one at a time --------------------------------------------------------------------------------------------- */

static void one_at_a_time_in_order(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_group("x", 50, "g");
    EXPECT_LEASE(&a, 100, "x000");
    EXPECT_LEASE(&b, 100, "");
    assert_int_equal(test_count("q", "parked"), 49);
    SETTLE(&a, TEST_DONE("x000"));
    assert_int_equal(test_count("q", "parked"), 48);
    expect_numbered("x", 1, 49);
    test_groups_forgotten();
}

static void every_end_lets_the_next_start(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c d e f g h", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    SETTLE(&a, TEST_DONE("a"));
    EXPECT_LEASE(&a, 9, "b");
    SETTLE(&a, TEST_RESULT("b", "r"));
    EXPECT_LEASE(&b, 9, "c");
    SETTLE(&b, TEST_RETRY("c", 60000));
    EXPECT_LEASE(&a, 9, "d");
    SETTLE(&a, TEST_FAIL("d"));
    EXPECT_LEASE(&a, 9, "e");
    SETTLE(&a, TEST_SNOOZE("e", 60000));
    EXPECT_LEASE(&b, 9, "f");
    const test_outcome f[] = {TEST_DONE("f")};
    assert_int_equal(test_turn(&b, 9, f, 1), 1); /* in the same turn */
    assert_string_equal(test_leased_ids(&b), "g");
    test_limits_agree();
}

static void given_back_it_is_first_again(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c d", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    for (int i = 0; i < 3; i++) {
        SETTLE(&a, TEST_SNOOZE("a", 0));
        EXPECT_LEASE(&a, 9, "a");
    }
    SETTLE(&a, TEST_DONE("a"));
    EXPECT_LEASE(&a, 9, "b");
    SETTLE(&a, TEST_SNOOZE("b", 0));
    const char *const order[] = {"b", "c", "d"};
    expect_order(order, 3);
    test_groups_forgotten();
}

static void leave(const test_hand *hand)
{
    const rv_reply *reply;
    uint64_t given_back;
    bool more = true;
    while (more) {
        rv_leave_build(test_conn, &hand->prefixes[0], hand->sessions[0], 2);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_leave_read(reply, &given_back, &more));
        test_limits_agree();
    }
}

static void left_by_a_session_it_is_first_again(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c", "g", 0);
    put("u v w", "h", 0);
    EXPECT_LEASE(&b, 9, "a u");
    leave(&b);
    for (const char *pair = "aubvcw"; *pair; pair += 2) {
        const char ids[] = {pair[0], ' ', pair[1], '\0'};
        EXPECT_LEASE(&a, 9, ids);
        done(&a);
    }
    test_groups_forgotten();
}

static void after_a_crash_it_is_first_again(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c", "g", 0);
    EXPECT_LEASE(&b, 9, "a");
    test_expire(&b);
    test_tend_all("q");
    test_limits_agree();
    EXPECT_LEASE(&a, 9, "a");
    assert_int_equal(a.leased[0].crashes, 1);
    done(&a);
    const char *const order[] = {"b", "c"};
    expect_order(order, 2);
    test_groups_forgotten();
}

/* A session that has a task that crashed already takes no other: the group waits for it, and keeps its order. */
static void a_suspect_that_is_put_off(void **state)
{
    (void)state;
    put("x", NULL, -1);
    test_limit_groups(1, NULL);
    put("a b c", "g", 0);
    EXPECT_LEASE(&b, 9, "x a");
    test_expire(&b);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "x");
    EXPECT_LEASE(&a, 9, "");
    assert_string_equal(test_state("q", "a"), "parked");
    assert_string_equal(test_state("q", "b"), "parked");
    test_settle(&a, {0, {.id = "x", .verb = REEVE_OUTCOME_DONE, .has_info = true}});
    EXPECT_LEASE(&a, 9, "");
    assert_in_range(test_tend("q", 100).next_in_ms, 1, 1000);
    test_clock_advance(1000);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "a");
    done(&a);
    const char *const order[] = {"b", "c"};
    expect_order(order, 2);
}

static void by_priority_within_a_group(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b", "g", 0);
    put("l", "g", 9);
    EXPECT_LEASE(&a, 9, "a");
    put("u v", "g", -5);
    EXPECT_LEASE(&a, 9, "");
    SETTLE(&a, TEST_DONE("a"));
    const char *const order[] = {"u", "v", "b", "l"};
    expect_order(order, 4);
}

/* One that comes when another has been called, and goes first by its priority. */
static void a_more_urgent_one_takes_the_turn(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    SETTLE(&a, TEST_DONE("a")); /* b is called */
    assert_string_equal(test_state("q", "b"), "ready");
    put("u", "g", -1);
    const char *const order[] = {"u", "b", "c"};
    expect_order(order, 3);
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
    done(&a);
    for (size_t left = 74; left > 0; left -= a.count) {
        (void)test_lease(&a, 100);
        assert_int_equal(a.count, left >= 6 ? 6 : left);
        done(&a);
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
    EXPECT_LEASE(&a, 9, "x000 x001 x002 x003");
    SETTLE(&a, TEST_DONE("x002"));
    SETTLE(&a, TEST_DONE("x000"));
    SETTLE(&a, TEST_DONE("x003"));
    SETTLE(&a, TEST_SNOOZE("x001", 0));
    EXPECT_LEASE(&a, 9, "x001 x004 x005 x006");
}

static void a_batch_takes_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    test_limit_groups(2, NULL);
    put("a b c", "g", 0);
    put("x y z", NULL, 0);
    EXPECT_LEASE(&a, 1, "a");
    EXPECT_LEASE(&b, 3, "x b y");
    EXPECT_LEASE(&a, 3, "z");
    assert_string_equal(test_state("q", "c"), "parked");
}

static void with_a_limit_of_the_queue(void **state)
{
    (void)state;
    test_limit_queue(3, NULL);
    test_limit_groups(2, NULL);
    put("a b c d", "g", 0);
    put("u v w x", "h", 0);
    size_t ran = 0;
    while (test_lease(&a, 100) > 0) ran += a.count;
    assert_int_equal(ran, 3);
    test_limits_agree();
    test_hand_init(&b, "2", "q");
    test_expire(&a);
    for (int i = 0; i < 20; i++) {
        test_tend_all("q");
        (void)run_all(&b);
        test_limits_agree();
        test_clock_advance(500);
    }
    assert_int_equal(test_count("q", "completed"), 8);
    test_groups_forgotten();
}

/* ---- others ---------------------------------------------------------------------------------------------------- */

/* 100,000 tasks of one group at its limit: each is looked at once, some hundred in a turn, and those of others go on. */
static void a_group_at_its_limit_blocks_nobody(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    test_limit_groups(1, NULL);
    test_put_group("a", MANY, "A");
    EXPECT_LEASE(&a, 1, "a000");
    test_put_group("b", 20, "B");
    size_t ran = 0;
    for (int turns = 0; ran < 20; turns++) {
        assert_true(turns < 60);
        uint64_t before = test_count("q", "parked");
        (void)test_lease(&b, 10);
        assert_in_range(test_count("q", "parked") - before, 0, 600);
        ran += b.count;
        if (b.count > 0) {
            assert_int_equal(b.leased[0].id[0], 'b');
            done(&b);
        }
    }
    for (int turns = 0; test_number("ZCARD " Q "ready") > 0; turns++) {
        assert_true(turns < MANY / 400);
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
        done(&b);
    }
    test_settle(&a, TEST_DONE("a000"));
    EXPECT_LEASE(&a, 9, "a001");
}

/* Its tasks that were parked long do not go before those of others that wait now: they take turns. */
static void who_was_parked_takes_turns(void **state)
{
    (void)state;
    test_limit_group("A", 1, NULL);
    test_put_group("a", 300, "A");
    EXPECT_LEASE(&a, 1, "a000");
    EXPECT_LEASE(&a, 1, "");
    test_put_group("b", 300, "B");
    (void)test_lease(&b, 100); /* B's time goes on */
    done(&b);
    test_limit_forget("A");
    for (int i = 0; i < 50; i++) (void)test_tend("q", 40);
    assert_int_equal(test_count("q", "parked"), 0);
    test_put_group("c", 50, "C");
    size_t of_a = 0, of_b = 0, of_c = 0, next = 1;
    for (int i = 0; i < 150; i++) {
        assert_int_equal(test_lease(&b, 1), 1);
        of_a += b.leased[0].id[0] == 'a';
        of_b += b.leased[0].id[0] == 'b';
        of_c += b.leased[0].id[0] == 'c';
        if (b.leased[0].id[0] == 'a') assert_int_equal(atoi(b.leased[0].id + 1), next++);
        done(&b);
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
    EXPECT_LEASE(&a, 1, "a000");
    EXPECT_LEASE(&b, 1, "");
    test_put_group("b", 30, "B");
    done(&a);
    char letters[41] = "";
    for (int i = 0; i < 40; i++) {
        assert_int_equal(test_lease(&a, 1), 1);
        letters[i] = a.leased[0].id[0];
        done(&a);
    }
    size_t of_a = 0;
    for (size_t i = 0; i < 40; i++) of_a += letters[i] == 'a';
    assert_in_range(of_a, 19, 21);
}

/* ---- own limits ------------------------------------------------------------------------------------------------ */

static void own_limits_count_more(void **state)
{
    (void)state;
    test_limit_groups(2, NULL);
    test_limit_group("one", 1, NULL);
    test_limit_group("any", -1, NULL);
    test_put_group("a", 10, "one");
    test_put_group("b", 10, "two");
    test_put_group("c", 10, "any");
    (void)test_lease(&a, 100);
    size_t count[3] = {0};
    for (size_t i = 0; i < a.count; i++) count[a.leased[i].id[0] - 'a']++;
    assert_int_equal(count[0], 1);
    assert_int_equal(count[1], 2);
    assert_int_equal(count[2], 10);
    test_limits_agree();
    test_limit_forget("one");
    test_tend_all("q");
    assert_int_equal(test_lease(&a, 100), 1);
    assert_int_equal(a.leased[0].id[0], 'a');
    test_limit_groups(-1, NULL);
    test_limit_group("two", 3, NULL);
    test_limit_forget("any");
    test_tend_all("q");
    (void)test_lease(&b, 100);
    assert_int_equal(b.count, 8 + 1);
    test_limits_agree();
    test_limit_forget("two");
    test_tend_all("q");
    assert_int_equal(test_lease(&b, 100), 7);
    test_groups_forgotten(); /* while they run: nobody counts them */
    assert_int_equal(test_number("HEXISTS " Q "settings gate"), 0);
}

static void what_is_set_is_told(void **state)
{
    (void)state;
    test_limit_group("b", 3, TEST_RATE(5, 0, 0));
    test_limit_group("c", -1, TEST_ANY_RATE);
    test_limit_groups(1, NULL);
    hold("a", 9000);
    put("x0 x1 x2 x3 x4 x5", "b", 0);
    put("y0 y1 y2", "d", 0);
    (void)test_lease(&a, 100);
    assert_int_equal(a.count, 4);
    reeve_limits *limits = test_limits();
    assert_int_equal(limits->group_count, 4);
    assert_int_equal(limits->group_total, 4);
    const reeve_group_limits *g = limits->groups;
    assert_string_equal(g[0].group, "a");
    assert_int_equal(g[0].concurrency, 0);
    assert_int_equal(g[0].rate.count, 0);
    assert_int_equal(g[0].hold_ms, NOW + 9000);
    assert_string_equal(g[1].group, "b");
    assert_int_equal(g[1].concurrency, 3);
    assert_int_equal(g[1].rate.count, 5);
    assert_int_equal(g[1].rate.period_ms, 1000);
    assert_int_equal(g[1].running, 3);
    assert_int_equal(g[1].parked, 3);
    assert_string_equal(g[2].group, "c");
    assert_int_equal(g[2].concurrency, -1);
    assert_int_equal(g[2].rate.count, -1);
    assert_int_equal(g[2].running, 0);
    assert_string_equal(g[3].group, "d");
    assert_int_equal(g[3].concurrency, 0);
    assert_int_equal(g[3].running, 1);
    assert_int_equal(g[3].parked, 2);
    reeve_limits_free(limits);
    test_ok(test_client, reeve_limits_get(test_client, "q", 1, 2, &limits));
    assert_int_equal(limits->group_count, 2);
    assert_int_equal(limits->group_total, 4);
    assert_string_equal(limits->groups[0].group, "b");
    reeve_limits_free(limits);
    test_ok(test_client, reeve_limits_get(test_client, "q", 9, 2, &limits));
    assert_int_equal(limits->group_count, 0);
    reeve_limits_free(limits);
}

static void names_of_any_text(void **state)
{
    (void)state;
    static const char *const names[] = {"a:b", "c:", "-1:x", "{q}", "new\nline", "\xc3\xa9 \"quoted\" \\", "%s;5", "0"};
    test_limit_groups(1, NULL);
    for (size_t i = 0; i < 8; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "%c", (char)('a' + i));
        test_put_group(name, 3, names[i]);
    }
    assert_int_equal(test_lease(&a, 100), 8);
    for (size_t i = 0; i < 8; i++) test_limit_group(names[i], 2, NULL);
    test_limits_agree();
    test_tend_all("q");
    assert_int_equal(test_lease(&b, 100), 8);
    done(&a);
    done(&b);
    assert_int_equal(run_all(&a), 8);
    test_limits_agree();
    for (size_t i = 0; i < 8; i++) test_limit_forget(names[i]);
    test_groups_forgotten();
    assert_int_equal(test_number("EXISTS " Q "limits"), 0);
}

/* ---- changes --------------------------------------------------------------------------------------------------- */

static void raised_and_removed(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_group("x", 30, "g");
    assert_int_equal(test_lease(&a, 100), 1);
    test_limit_groups(4, NULL);
    test_tend_all("q");
    test_limits_agree();
    assert_int_equal(test_count("q", "parked"), 26);
    EXPECT_LEASE(&a, 100, "x001 x002 x003");
    test_limit_groups(2, NULL); /* those that run go on */
    SETTLE(&a, TEST_DONE("x001"));
    SETTLE(&a, TEST_DONE("x002"));
    test_tend_all("q");
    EXPECT_LEASE(&a, 100, "");
    SETTLE(&a, TEST_DONE("x003"));
    EXPECT_LEASE(&a, 100, "x004");
    test_limit_groups(-1, NULL);
    test_tend_all("q");
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
        rv_tend_reply tended = test_tend("q", 50);
        more = tended.more || tended.next_in_ms == 0;
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
        (void)test_tend("q", 20);
        test_limits_agree();
        (void)test_lease(&b, 7);
        test_limits_agree();
        done(&b);
        test_limits_agree();
    }
    test_expire(&a);
    test_tend_all("q");
    for (int i = 0; i < 400 && test_count("q", "completed") < 300; i++) {
        test_tend_all("q");
        (void)run_all(&b);
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
    put("a b", "g", 0);
    put("c d", "h", 0);
    test_limit_groups(501, NULL);
    test_limits_agree();
    assert_int_equal(test_number("HGET " Q "taken g"), 500);
    assert_int_equal(test_number("HGET " Q "taken h"), 750);
    EXPECT_LEASE(&a, 9, "a");
    assert_string_equal(test_state("q", "b"), "parked");
    done(&hands[1]);
    EXPECT_LEASE(&a, 9, "b");
    done(&hands[0]);
    EXPECT_LEASE(&a, 9, "c");
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
    assert_in_range(test_number("HGET " Q "taken g"), 1, 749);
    test_settle(&hands[0], TEST_DONE("x0-000"));
    test_settle(&hands[1], TEST_DONE("x1-000"));
    test_settle(&hands[2], TEST_DONE("x2-000"));
    test_limit_groups(2, NULL); /* another client */
    test_limits_agree();
    assert_int_equal(test_number("HGET " Q "taken g"), 747);
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
    assert_int_equal(test_number("EXISTS " Q "slots " Q "taken"), 0);
    test_settle(&a, TEST_DONE("x000"));
    test_limit_groups(3, NULL); /* before anybody has looked at the parked ones */
    test_limits_agree();
    test_tend_all("q");
    EXPECT_LEASE(&a, 100, "x002 x003");
    SETTLE(&a, TEST_DONE("x001"));
    EXPECT_LEASE(&a, 100, "x004");
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
    done(&a);
    assert_int_equal(test_tend("q", 200).next_in_ms, 100);
    test_clock_advance(99);
    test_tend_all("q");
    assert_int_equal(run_all(&a), 0);
    test_clock_advance(1);
    test_tend_all("q");
    test_limits_agree();
    EXPECT_LEASE(&a, 100, "x002 y002");
    size_t ran = 0;
    for (int i = 0; i < 200; i++) {
        test_clock_advance(10);
        test_tend_all("q");
        ran += run_all(&a);
    }
    assert_int_equal(ran, 20);
    test_limits_agree();
    for (int i = 0; i < 200; i++) {
        test_clock_advance(10);
        test_tend_all("q");
        (void)run_all(&a);
    }
    assert_int_equal(test_count("q", "ready") + test_count("q", "parked"), 0);
    test_groups_forgotten();
}

/* New ones come at the moment at which the rate opens, before anybody has called those that wait. */
static void who_comes_later_waits_behind(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(1, 1000, 1));
    put("a b c", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    test_clock_advance(1000);
    put("d", "g", 0);
    EXPECT_LEASE(&a, 9, "b");
    test_clock_advance(500);
    put("e", "g", 0);
    EXPECT_LEASE(&a, 9, "");
    test_clock_advance(500);
    test_tend_all("q");
    put("f", "g", 0);
    EXPECT_LEASE(&a, 9, "c");
    for (const char *next = "def"; *next; next++) {
        char id[2] = {*next, '\0'};
        assert_int_equal(test_tend("q", 9).next_in_ms, 1000);
        test_clock_advance(1000);
        test_tend_all("q");
        EXPECT_LEASE(&a, 9, id);
    }
}

/* Nobody has time for what was called: it does not pile up in `ready`. */
static void no_more_are_called_than_may_start(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(100, 1000, 5));
    test_put_group("x", 50, "g");
    assert_int_equal(run_all(&a), 5);
    for (int i = 0; i < 100; i++) {
        test_clock_advance(10);
        test_tend_all("q");
        test_limits_agree();
        assert_true(test_count("q", "ready") <= 5);
    }
    assert_int_equal(run_all(&a), 5);
}

static void a_group_that_is_held(void **state)
{
    (void)state;
    put("a b", "g", 0);
    put("u v", "h", 0);
    EXPECT_LEASE(&b, 1, "a");
    hold("g", 5000);
    EXPECT_LEASE(&a, 9, "u v");
    assert_string_equal(test_state("q", "b"), "parked");
    SETTLE(&b, TEST_SNOOZE("a", 0)); /* and stands before b */
    EXPECT_LEASE(&a, 9, "");
    assert_string_equal(test_state("q", "a"), "parked");
    put("c", "g", 0);
    EXPECT_LEASE(&a, 9, "");
    assert_int_equal(test_tend("q", 9).next_in_ms, 5000);
    test_clock_advance(5000);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "a b c");
    test_groups_forgotten();
    assert_int_equal(test_number("HEXISTS " Q "settings gate"), 0);
}

static void a_hold_that_is_ended_early(void **state)
{
    (void)state;
    put("a b", "g", 0);
    hold("g", 60000);
    EXPECT_LEASE(&a, 9, "");
    hold("g", 70000);
    hold("g", 0);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "a b");
    test_groups_forgotten();
}

static void held_and_at_its_limit(void **state)
{
    (void)state;
    test_limit_groups(1, TEST_RATE(1, 1000, 1));
    put("a b c", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    hold("g", 500);
    SETTLE(&a, TEST_DONE("a"));
    test_clock_advance(500);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, ""); /* the rate */
    assert_int_equal(test_tend("q", 9).next_in_ms, 500);
    test_clock_advance(500);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "b");
    hold("g", 5000);
    test_clock_advance(5000);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, ""); /* b runs */
    SETTLE(&a, TEST_DONE("b"));
    EXPECT_LEASE(&a, 9, "c");
}

static void held_and_paused(void **state)
{
    (void)state;
    put("a b", "g", 0);
    hold("g", 5000);
    EXPECT_LEASE(&a, 9, "");
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_clock_advance(5000);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "");
    test_ok(test_client, reeve_resume(test_client, "q"));
    EXPECT_LEASE(&a, 9, "a b");
}

/* ---- what is done to parked tasks ------------------------------------------------------------------------------- */

static void parked_tasks_are_seen(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c", "g", 0);
    put("u", "g", -1);
    EXPECT_LEASE(&a, 1, "u");
    EXPECT_LEASE(&a, 9, "");
    assert_int_equal(test_count("q", "parked"), 3);
    assert_int_equal(test_count("q", "ready"), 0);
    reeve_task_info *info = test_show("q", "b"), **list;
    assert_int_equal(info->state, REEVE_STATE_PARKED);
    reeve_task_info_free(info);
    size_t count;
    uint64_t total;
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_PARKED, 0, 10, &list, &count, &total));
    assert_int_equal(count, 3);
    assert_int_equal(total, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list[i]->id[0], (char)('a' + i));
        assert_int_equal(list[i]->state, REEVE_STATE_PARKED);
    }
    reeve_task_list_free(list, count);
}

static void parked_tasks_are_steered(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c d e f g", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_limits_agree();
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    test_limits_agree();
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "d", 50000));
    test_limits_agree();
    test_ok(test_client, reeve_set_priority(test_client, "q", "g", -1));
    test_limits_agree();
    assert_string_equal(test_state("q", "d"), "scheduled");
    SETTLE(&a, TEST_DONE("a"));
    const char *const order[] = {"g", "e", "f"};
    expect_order(order, 3);
    test_clock_advance(50000);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "d");
    done(&a);
    test_groups_forgotten();
}

static void all_parked_ones_go(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    test_limits_agree();
    assert_int_equal(test_number("EXISTS " Q "opening"), 0);
    SETTLE(&a, TEST_DONE("a"));
    test_groups_forgotten();
}

/* It was its turn, and it goes before anybody takes it: the next one's turn comes. */
static void who_was_called_and_goes(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a b c d e f", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    SETTLE(&a, TEST_DONE("a"));
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_limits_agree();
    test_tend_all("q");
    assert_string_equal(test_state("q", "c"), "ready");
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    test_tend_all("q");
    test_limits_agree();
    assert_string_equal(test_state("q", "d"), "ready");
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "d", 1000));
    test_tend_all("q");
    test_limits_agree();
    assert_string_equal(test_state("q", "e"), "ready");
    test_ok(test_client, reeve_set_priority(test_client, "q", "e", 5));
    test_tend_all("q");
    test_limits_agree();
    const char *const order[] = {"f", "e"};
    expect_order(order, 2);
    test_clock_advance(1000);
    test_tend_all("q");
    EXPECT_LEASE(&a, 9, "d");
    done(&a);
    test_groups_forgotten();
}

static void a_parked_one_is_replaced(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put("a", "g", 0);
    test_put_spec((reeve_task_spec){.id = "b", .group = "g", .unique = "k"});
    put("c", "g", 0);
    EXPECT_LEASE(&a, 9, "a");
    test_put_spec((reeve_task_spec){.id = "B", .group = "g", .unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE});
    test_limits_agree();
    EXPECT_LEASE(&a, 9, "");
    SETTLE(&a, TEST_DONE("a"));
    EXPECT_LEASE(&a, 9, "B");
    test_settle(&a, {0, {.id = "B", .verb = REEVE_OUTCOME_DONE, .unique = true}});
    EXPECT_LEASE(&a, 9, "c");
}

/* ---- time and order --------------------------------------------------------------------------------------------- */

/* With nothing ready, virtual time would begin anew: not while tasks are parked, or who comes now would stand before them. */
static void parked_tasks_keep_their_time(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_group("x", 20, "g");
    EXPECT_LEASE(&a, 9, "x000");
    test_tend_all("q");
    test_put_group("y", 3, "g");
    SETTLE(&a, TEST_DONE("x000"));
    expect_numbered("x", 1, 19);
    expect_numbered("y", 0, 3);
}

/* The same where others are ready, for a group of great weight, whose tasks stand close together. */
static void groups_with_parked_tasks_are_not_forgotten(void **state)
{
    (void)state;
    test_limit_group("g", 1, NULL);
    for (int i = 0; i < 5; i++) {
        char id[8];
        (void)snprintf(id, sizeof(id), "x%03d", i);
        test_put_spec((reeve_task_spec){.id = id, .group = "g", .weight = 256});
    }
    EXPECT_LEASE(&a, 9, "x000");
    test_put_group("o", 100, "other");
    for (int i = 0; i < 50; i++) {
        assert_int_equal(test_lease(&b, 1), 1);
        done(&b);
        test_tend_all("q");
    }
    test_put_spec((reeve_task_spec){.id = "x005", .group = "g", .weight = 256});
    (void)run_all(&b);
    assert_int_equal(test_count("q", "parked"), 5);
    SETTLE(&a, TEST_DONE("x000"));
    expect_numbered("x", 1, 5);
    test_limit_forget("g");
    test_groups_forgotten();
}

/* A task whose worker died goes to the front, also when it was put off in between. */
static void put_off_without_limits(void **state)
{
    (void)state;
    test_put_group("x", 20, NULL);
    assert_int_equal(test_lease(&b, 3), 3);
    test_expire(&b);
    test_tend_all("q");
    EXPECT_LEASE(&a, 5, "x000");
    EXPECT_LEASE(&a, 5, ""); /* not another one of those for this session */
    EXPECT_LEASE(&a, 5, "");
    assert_int_equal(test_count("q", "scheduled"), 2);
    EXPECT_LEASE(&a, 2, "x003 x004");
    test_settle(&a, {0, {.id = "x000", .verb = REEVE_OUTCOME_DONE, .has_info = true}});
    test_clock_advance(1000);
    test_tend_all("q");
    test_hand_init(&b, "2", "q");
    EXPECT_LEASE(&a, 5, "x001");
    EXPECT_LEASE(&b, 5, "x002"); /* another session has it at once */
    assert_int_equal(test_number("HEXISTS " Q "info:x001 place"), 0);
    EXPECT_LEASE(&b, 2, "x005 x006");
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
        cmocka_unit_test_setup(own_limits_count_more, set_up),
        cmocka_unit_test_setup(what_is_set_is_told, set_up),
        cmocka_unit_test_setup(names_of_any_text, set_up),
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
        cmocka_unit_test_setup(parked_tasks_are_seen, set_up),
        cmocka_unit_test_setup(parked_tasks_are_steered, set_up),
        cmocka_unit_test_setup(all_parked_ones_go, set_up),
        cmocka_unit_test_setup(who_was_called_and_goes, set_up),
        cmocka_unit_test_setup(a_parked_one_is_replaced, set_up),
        cmocka_unit_test_setup(parked_tasks_keep_their_time, set_up),
        cmocka_unit_test_setup(groups_with_parked_tasks_are_not_forgotten, set_up),
        cmocka_unit_test_setup(put_off_without_limits, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_groups", tests, test_place_start, test_place_stop);
}
