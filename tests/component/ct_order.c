/* The order of a queue: first in first out, priorities, groups that take turns by weight, and what goes to the
 * front. */
#include <stdio.h>
#include <string.h>

#include "protocol/definition.h"
#include "support/queue.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* Enqueues count tasks "<name>000", ... of a group with a weight and a priority. */
static void put(const char *name, size_t count, const char *group, unsigned weight, int priority)
{
    static char ids[1000][REEVE_ID_MAX];
    static reeve_task_spec specs[1000];
    static reeve_enqueued results[1000];
    assert_true(count <= 1000);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], REEVE_ID_MAX, "%s%03zu", name, i);
        specs[i] = (reeve_task_spec){
            .queue = "q", .type = "t", .id = ids[i], .group = group, .weight = weight, .priority = priority};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
}

/* What is leased next, one by one, as the first letters of ids: "aabab". */
static const char *next(size_t count)
{
    static char letters[2001];
    assert_true(count <= 2000);
    memset(letters, 0, sizeof(letters));
    for (size_t at = 0; at < count;) {
        size_t got = test_lease(&hand, count - at < 100 ? (unsigned)(count - at) : 100);
        if (got == 0) break;
        for (size_t i = 0; i < got; i++) letters[at++] = hand.leased[i].id[0];
    }
    return letters;
}

static size_t count_of(const char *letters, char letter, size_t first)
{
    size_t count = 0;
    for (size_t i = 0; i < first && letters[i]; i++) count += letters[i] == letter;
    return count;
}

static void expect_in_order(const char *name, size_t count)
{
    for (size_t at = 0; at < count;) {
        size_t got = test_lease(&hand, 77);
        if (got == 0) fail_msg("only %zu of %zu of %s", at, count, name);
        for (size_t i = 0; i < got; i++, at++) {
            char id[REEVE_ID_MAX];
            (void)snprintf(id, sizeof(id), "%s%03zu", name, at);
            assert_string_equal(hand.leased[i].id, id);
        }
    }
}

/* ---- without groups -------------------------------------------------------------------------------------------- */

static void first_in_first_out(void **state)
{
    (void)state;
    put("a", 1000, NULL, 0, 0);
    expect_in_order("a", 1000);
}

static void whatever_the_ids(void **state)
{
    (void)state;
    char id[16];
    for (int i = 999; i >= 0; i--) {
        (void)snprintf(id, sizeof(id), "x%03d", i);
        test_put("q", id);
    }
    for (int i = 999; i >= 0; i--) {
        (void)snprintf(id, sizeof(id), "x%03d", i);
        assert_int_equal(test_lease(&hand, 1), 1);
        assert_string_equal(hand.leased[0].id, id);
    }
}

static void the_same_group_is_first_in_first_out(void **state)
{
    (void)state;
    put("a", 500, "g", 0, 0);
    expect_in_order("a", 500);
}

/* ---- priorities ------------------------------------------------------------------------------------------------ */

static void lower_runs_sooner(void **state)
{
    (void)state;
    static const int priorities[] = {5, -128, 0, 127, -1, 1, 126, -127};
    static const char *const names[] = {"f", "a", "d", "h", "c", "e", "g", "b"};
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < 8; i++) {
            char name[8];
            (void)snprintf(name, sizeof(name), "%s%zu", names[i], round);
            put(name, 100, NULL, 0, priorities[i]);
        }
    }
    for (char letter = 'a'; letter <= 'h'; letter++) {
        for (size_t round = 0; round < 3; round++) {
            char name[8];
            (void)snprintf(name, sizeof(name), "%c%zu", letter, round);
            for (size_t at = 0; at < 100; at += 20) {
                assert_int_equal(test_lease(&hand, 20), 20);
                for (size_t i = 0; i < 20; i++) {
                    char id[16];
                    (void)snprintf(id, sizeof(id), "%s%03zu", name, at + i);
                    assert_string_equal(hand.leased[i].id, id);
                }
            }
        }
    }
}

static void every_priority_has_its_band(void **state)
{
    (void)state;
    for (int priority = REEVE_PRIORITY_MAX; priority >= REEVE_PRIORITY_MIN; priority--) {
        char id[16];
        (void)snprintf(id, sizeof(id), "p%03d", priority + 128);
        test_put_spec((reeve_task_spec){.id = id, .priority = priority, .group = priority % 2 ? "g" : NULL});
        test_put_spec((reeve_task_spec){.priority = priority, .group = "other"});
    }
    for (int priority = REEVE_PRIORITY_MIN; priority <= REEVE_PRIORITY_MAX; priority++) {
        reeve_task_info *one, *two;
        assert_int_equal(test_lease(&hand, 2), 2);
        one = test_show("q", hand.leased[0].id);
        two = test_show("q", hand.leased[1].id);
        assert_int_equal(one->priority, priority);
        assert_int_equal(two->priority, priority);
        reeve_task_info_free(one);
        reeve_task_info_free(two);
    }
    assert_int_equal(test_number("ZCARD " Q "ready"), 0);
}

/* A band that is used up does not run over into the next: far beyond what can happen. */
static void a_full_band_does_not_run_over(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .priority = 3});
    assert_int_equal(test_number("HSET " Q "sequence 3 281474976710650"), 0); /* 6 before the end of the band */
    test_put_spec((reeve_task_spec){.id = "b", .priority = 3});
    test_put_spec((reeve_task_spec){.id = "c", .priority = 3});
    test_put_spec((reeve_task_spec){.id = "d", .priority = 4});
    assert_string_equal(next(4), "abcd");
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

static void a_million_tasks_hold_nobody_up(void **state)
{
    (void)state;
    put("a", 1000, "A", 0, 0);
    (void)next(300);
    put("b", 10, "B", 0, 0);
    assert_int_equal(count_of(next(25), 'b', 25), 10);
    assert_int_equal(strlen(next(1000)), 685);
}

static void three_groups_take_turns(void **state)
{
    (void)state;
    put("a", 100, "A", 0, 0);
    put("b", 100, "B", 0, 0);
    put("c", 100, "C", 0, 0);
    const char *order = next(300);
    for (size_t i = 0; i < 300; i += 3) {
        assert_int_equal(count_of(order + i, 'a', 3), 1);
        assert_int_equal(count_of(order + i, 'b', 3), 1);
        assert_int_equal(count_of(order + i, 'c', 3), 1);
    }
}

static void shares_by_weight(void **state)
{
    (void)state;
    put("a", 400, "A", 1, 0);
    put("b", 400, "B", 3, 0);
    const char *order = next(800);
    for (size_t window = 100; window <= 500; window += 100) {
        size_t heavy = count_of(order, 'b', window);
        assert_in_range(heavy, window * 3 / 4 - 3, window * 3 / 4 + 3);
    }
    assert_int_equal(strlen(order), 800);
}

static void the_heaviest(void **state)
{
    (void)state;
    put("a", 20, "A", 1, 0);
    put("b", 1000, "B", 256, 0);
    const char *order = next(1020);
    assert_in_range(count_of(order, 'a', 1000), 3, 5); /* one in 257 */
}

static void an_idle_group_gets_no_credit(void **state)
{
    (void)state;
    put("b", 1, "B", 0, 0);
    put("a", 1000, "A", 0, 0);
    (void)next(800); /* B was idle nearly all the time */
    put("B", 100, "B", 0, 0);
    const char *order = next(100);
    assert_in_range(count_of(order, 'B', 100), 49, 51);
}

static void tasks_without_a_group_are_one(void **state)
{
    (void)state;
    put("u", 300, NULL, 0, 0);
    (void)next(50);
    put("g", 10, "G", 0, 0);
    assert_int_equal(count_of(next(25), 'g', 25), 10);
    put("h", 300, "H", 0, 0);
    put("v", 300, NULL, 0, 0);
    const char *order = next(100);
    assert_in_range(count_of(order, 'h', 100), 48, 52);
}

static void they_wait_for_no_group(void **state)
{
    (void)state;
    put("g", 500, "G", 0, 0);
    (void)next(100);
    put("u", 10, NULL, 0, 0);
    assert_int_equal(count_of(next(25), 'u', 25), 10);
}

static void groups_are_apart_by_priority(void **state)
{
    (void)state;
    put("a", 100, "A", 0, 1);
    put("b", 50, "A", 0, 0);
    put("c", 50, "B", 0, 1);
    const char *order = next(200);
    assert_int_equal(count_of(order, 'b', 50), 50);
    assert_in_range(count_of(order, 'c', 150), 49, 50);
}

static void names_of_any_text(void **state)
{
    (void)state;
    put("a", 50, "1:A", 0, 0);
    put("b", 50, "A\"\\\n\x01 \xc3\xa9 {}", 0, 0);
    put("c", 50, "%s [x] '", 0, 0);
    const char *order = next(30);
    assert_int_equal(count_of(order, 'b', 30), 10);
    assert_int_equal(count_of(order, 'c', 30), 10);
}

/* ---- the front ------------------------------------------------------------------------------------------------- */

static void back_in_the_order_in_which_they_stood(void **state)
{
    (void)state;
    put("a", 20, NULL, 0, 0);
    put("p", 20, NULL, 0, -5);
    assert_int_equal(test_lease(&hand, 30), 30); /* all p, half of a */
    test_hand gone = hand;
    test_expire(&gone);
    test_maintain_all("q");
    test_hand_init(&hand, "1", "q");
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(test_lease(&hand, 1), 1); /* alone, after a crash */
        assert_string_equal(hand.leased[0].id, gone.leased[i].id);
        test_settle(&hand, {0, {.id = gone.leased[i].id, .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    }
    assert_string_equal(next(10), "aaaaaaaaaa");
}

/* Tasks that go back into an empty band must not set its time back: a group that had its share before would wait for
 * all that a new one brings. */
static void giving_back_does_not_set_time_back(void **state)
{
    (void)state;
    put("a", 500, "A", 0, 0);
    (void)next(499);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_SNOOZE("a499", 0));
    put("b", 100, "B", 0, 0);
    put("A", 100, "A", 0, 0);
    const char *order = next(101);
    assert_int_equal(order[0], 'a');
    assert_in_range(count_of(order, 'A', 101), 48, 52);
}

static void before_all_others_of_its_band(void **state)
{
    (void)state;
    put("a", 3, "A", 0, 0);
    put("b", 3, NULL, 0, 0);
    put("p", 1, NULL, 0, -1);
    assert_int_equal(test_lease(&hand, 3), 3);
    char first[REEVE_ID_MAX];
    rv_copy_text(first, sizeof(first), hand.leased[2].id);
    test_settle(&hand, {0, {.id = first, .outcome = REEVE_OUTCOME_SNOOZE}});
    test_put_spec((reeve_task_spec){.id = "q", .priority = -1});
    assert_int_equal(test_lease(&hand, 2), 2);
    assert_string_equal(hand.leased[0].id, "q");
    assert_string_equal(hand.leased[1].id, first);
}

/* ---- tending --------------------------------------------------------------------------------------------------- */

static void an_empty_queue_begins_again(void **state)
{
    (void)state;
    put("a", 50, "A", 0, 0);
    put("u", 50, NULL, 0, 0);
    assert_int_equal(test_number("EXISTS " Q "sequence " Q "groups"), 2);
    (void)next(99);
    (void)test_maintain("q", 200);
    assert_int_equal(test_number("EXISTS " Q "sequence " Q "groups"), 2);
    (void)next(1);
    (void)test_maintain("q", 200);
    assert_int_equal(test_number("EXISTS " Q "sequence " Q "groups"), 0);
    test_put("q", "x");
    assert_int_equal(test_number("ZSCORE " Q "ready x"), RV_SCORE_START + RV_SCORE_STEP);
}

static void groups_behind_the_head_are_forgotten(void **state)
{
    (void)state;
    char name[32], group[16];
    for (int i = 0; i < 50; i++) {
        (void)snprintf(name, sizeof(name), "g%d-", i);
        (void)snprintf(group, sizeof(group), "G%d", i);
        put(name, 1, group, 0, 0);
    }
    put("a", 200, "A", 0, 0);
    (void)next(150);
    assert_int_equal(test_number("ZCARD " Q "groups"), 51);
    test_maintain_all("q");
    assert_int_equal(test_number("ZCARD " Q "groups"), 1); /* A has tasks that wait */
    put("u", 30, NULL, 0, 0);
    const char *order = next(80);
    assert_in_range(count_of(order, 'u', 60), 29, 30); /* neither credit nor debt */
    assert_int_equal(count_of(order, 'a', 80), 50);
}

/* However long something more urgent stands before them. */
static void so_are_those_of_priorities_behind(void **state)
{
    (void)state;
    char name[32], group[16];
    for (int priority = 2; priority <= 4; priority++) {
        for (int i = 0; i < 30; i++) {
            (void)snprintf(name, sizeof(name), "p%dg%d-", priority, i);
            (void)snprintf(group, sizeof(group), "G%d", i);
            put(name, 1, group, 0, priority);
        }
    }
    (void)next(90);
    put("a", 3, "A", 0, 3);
    put("u", 2, NULL, 0, 0);
    assert_int_equal(test_number("ZCARD " Q "groups"), 91);
    assert_true(test_maintain("q", 10).more);
    test_maintain_all("q");
    assert_int_equal(test_number("ZCARD " Q "groups"), 1); /* A has tasks that wait */
    (void)next(3);
    put("b", 3, "B", 0, 3);
    assert_string_equal(next(5), "ababb");
}

static void due_tasks_take_their_place(void **state)
{
    (void)state;
    put("a", 100, "A", 0, 0);
    test_put_spec((reeve_task_spec){.id = "urgent", .priority = -1, .in_ms = 1});
    for (int i = 0; i < 5; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "b%d", i);
        test_put_spec((reeve_task_spec){.id = id, .group = "B", .in_ms = 1 + i});
    }
    for (uint64_t promoted = 0; promoted < 6;) promoted += test_maintain("q", 200).promoted;
    const char *order = next(12);
    assert_int_equal(order[0], 'u');
    assert_int_equal(count_of(order, 'b', 12), 5);
}

static void retried_tasks_take_their_place(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "x", .priority = 7, .group = "X", .weight = 2});
    (void)next(1);
    test_settle(&hand, TEST_FAIL("x"));
    put("a", 10, "A", 0, 7);
    put("b", 1, NULL, 0, 8);
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    const char *order = next(12);
    assert_int_equal(count_of(order, 'x', 2), 1);
    assert_int_equal(order[11], 'b');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(first_in_first_out, set_up),
        cmocka_unit_test_setup(whatever_the_ids, set_up),
        cmocka_unit_test_setup(the_same_group_is_first_in_first_out, set_up),
        cmocka_unit_test_setup(lower_runs_sooner, set_up),
        cmocka_unit_test_setup(every_priority_has_its_band, set_up),
        cmocka_unit_test_setup(a_full_band_does_not_run_over, set_up),
        cmocka_unit_test_setup(a_million_tasks_hold_nobody_up, set_up),
        cmocka_unit_test_setup(three_groups_take_turns, set_up),
        cmocka_unit_test_setup(shares_by_weight, set_up),
        cmocka_unit_test_setup(the_heaviest, set_up),
        cmocka_unit_test_setup(an_idle_group_gets_no_credit, set_up),
        cmocka_unit_test_setup(tasks_without_a_group_are_one, set_up),
        cmocka_unit_test_setup(they_wait_for_no_group, set_up),
        cmocka_unit_test_setup(groups_are_apart_by_priority, set_up),
        cmocka_unit_test_setup(names_of_any_text, set_up),
        cmocka_unit_test_setup(back_in_the_order_in_which_they_stood, set_up),
        cmocka_unit_test_setup(giving_back_does_not_set_time_back, set_up),
        cmocka_unit_test_setup(before_all_others_of_its_band, set_up),
        cmocka_unit_test_setup(an_empty_queue_begins_again, set_up),
        cmocka_unit_test_setup(groups_behind_the_head_are_forgotten, set_up),
        cmocka_unit_test_setup(so_are_those_of_priorities_behind, set_up),
        cmocka_unit_test_setup(due_tasks_take_their_place, set_up),
        cmocka_unit_test_setup(retried_tasks_take_their_place, set_up),
    };
    return cmocka_run_group_tests_name("ct_order", tests, test_place_start, test_place_stop);
}
