/* What is done to parked tasks, and how they keep their order. The clock is the test's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/end_session_call.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

/* ---- what is done to parked tasks ------------------------------------------------------------------------------- */

static void parked_tasks_are_seen(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c", "g", 0);
    test_put_in("u", "g", -1);
    TEST_EXPECT_LEASE(&a, 1, "u");
    TEST_EXPECT_LEASE(&a, 9, "");
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
    test_put_in("a b c d e f g", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_limits_agree();
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    test_limits_agree();
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "d", 50000));
    test_limits_agree();
    test_ok(test_client, reeve_set_priority(test_client, "q", "g", -1));
    test_limits_agree();
    assert_string_equal(test_state("q", "d"), "scheduled");
    TEST_SETTLE(&a, TEST_DONE("a"));
    const char *const order[] = {"g", "e", "f"};
    test_expect_order(&a, order, 3);
    test_clock_advance(50000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "d");
    test_done(&a);
    test_groups_forgotten();
}

static void all_parked_ones_go(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    test_limits_agree();
    assert_int_equal(test_number("EXISTS " Q "limit_due"), 0);
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_groups_forgotten();
}

/* It was its turn, and it goes before anybody takes it: the next one's turn comes. */
static void who_was_called_and_goes(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a b c d e f", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    TEST_SETTLE(&a, TEST_DONE("a"));
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    test_limits_agree();
    test_maintain_all("q");
    assert_string_equal(test_state("q", "c"), "ready");
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    test_maintain_all("q");
    test_limits_agree();
    assert_string_equal(test_state("q", "d"), "ready");
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "d", 1000));
    test_maintain_all("q");
    test_limits_agree();
    assert_string_equal(test_state("q", "e"), "ready");
    test_ok(test_client, reeve_set_priority(test_client, "q", "e", 5));
    test_maintain_all("q");
    test_limits_agree();
    const char *const order[] = {"f", "e"};
    test_expect_order(&a, order, 2);
    test_clock_advance(1000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 9, "d");
    test_done(&a);
    test_groups_forgotten();
}

static void a_parked_one_is_replaced(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_in("a", "g", 0);
    test_put_spec((reeve_task_spec){.id = "b", .group = "g", .unique = "k"});
    test_put_in("c", "g", 0);
    TEST_EXPECT_LEASE(&a, 9, "a");
    test_put_spec((reeve_task_spec){.id = "B", .group = "g", .unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE});
    test_limits_agree();
    TEST_EXPECT_LEASE(&a, 9, "");
    TEST_SETTLE(&a, TEST_DONE("a"));
    TEST_EXPECT_LEASE(&a, 9, "B");
    test_settle(&a, {0, {.id = "B", .outcome = REEVE_OUTCOME_DONE, .unique = true}});
    TEST_EXPECT_LEASE(&a, 9, "c");
}

/* ---- time and order --------------------------------------------------------------------------------------------- */

/* With nothing ready, virtual time would begin anew: not while tasks are parked, or who comes now would stand before
 * them. */
static void parked_tasks_keep_their_time(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    test_put_group("x", 20, "g");
    TEST_EXPECT_LEASE(&a, 9, "x000");
    test_maintain_all("q");
    test_put_group("y", 3, "g");
    TEST_SETTLE(&a, TEST_DONE("x000"));
    test_expect_numbered(&a, "x", 1, 19);
    test_expect_numbered(&a, "y", 0, 3);
}

/* The same where others are ready, for a group of great weight, whose tasks stand close together. */
static void groups_with_parked_tasks_are_not_forgotten(void **state)
{
    (void)state;
    test_limit_group("g", 1, NULL);
    for (int i = 0; i < 5; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%03d", i);
        test_put_spec((reeve_task_spec){.id = id, .group = "g", .weight = 256});
    }
    TEST_EXPECT_LEASE(&a, 9, "x000");
    test_put_group("o", 100, "other");
    for (int i = 0; i < 50; i++) {
        assert_int_equal(test_lease(&b, 1), 1);
        test_done(&b);
        test_maintain_all("q");
    }
    test_put_spec((reeve_task_spec){.id = "x005", .group = "g", .weight = 256});
    (void)test_run_all(&b);
    assert_int_equal(test_count("q", "parked"), 5);
    TEST_SETTLE(&a, TEST_DONE("x000"));
    test_expect_numbered(&a, "x", 1, 5);
    test_limit_forget("g");
    test_groups_forgotten();
}

/* A task whose workers died goes to the front, also when it was put off in between. */
static void put_off_without_limits(void **state)
{
    (void)state;
    test_put_group("x", 20, NULL);
    assert_int_equal(test_lease(&b, 3), 3);
    test_expire(&b);
    test_maintain_all("q");
    for (int i = 0; i < 3; i++) (void)test_number("HSET " Q "info:x00%d crashes 2", i);
    TEST_EXPECT_LEASE(&a, 5, "x000");
    TEST_EXPECT_LEASE(&a, 5, ""); /* not another one of those for this session */
    TEST_EXPECT_LEASE(&a, 5, "");
    assert_int_equal(test_count("q", "scheduled"), 2);
    TEST_EXPECT_LEASE(&a, 2, "x003 x004");
    test_settle(&a, {0, {.id = "x000", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    test_clock_advance(1000);
    test_maintain_all("q");
    test_hand_init(&b, "2", "q");
    TEST_EXPECT_LEASE(&a, 5, "x001");
    TEST_EXPECT_LEASE(&b, 5, "x002"); /* another session has it at once */
    assert_int_equal(test_number("HEXISTS " Q "info:x001 place"), 0);
    TEST_EXPECT_LEASE(&b, 2, "x005 x006");
}

/* The queue was empty meanwhile, and its order began again: what was put off comes before all that came since. */
static void put_off_while_the_queue_was_empty(void **state)
{
    (void)state;
    test_put_group("w", 600, NULL);
    assert_int_equal(test_run_all(&a), 600);
    test_put("q", "x0 x1");
    assert_int_equal(test_lease(&b, 2), 2);
    test_expire(&b);
    test_maintain_all("q");
    for (int i = 0; i < 2; i++) (void)test_number("HSET " Q "info:x%d crashes 2", i);
    TEST_EXPECT_LEASE(&a, 1, "x0");
    TEST_EXPECT_LEASE(&a, 1, "");
    assert_string_equal(test_state("q", "x1"), "scheduled");
    test_settle(&a, {0, {.id = "x0", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    test_maintain_all("q"); /* (the order begins again) */
    test_put_group("y", 1000, NULL);
    test_clock_advance(1000);
    test_maintain_all("q");
    TEST_EXPECT_LEASE(&a, 1, "x1");
}

/* ---- given back -------------------------------------------------------------------------------------------------- */

static unsigned leave_max = 1000; /* tasks a call */

static void leave(test_hand *hand)
{
    uint64_t given_back;
    rv_end_session_turns turns = "";
    for (bool more = true; more;) {
        rv_end_session_call_build_next(test_conn, &hand->prefixes[0], hand->sessions[0], leave_max, turns);
        const rv_reply *reply;
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_end_session_call_read(reply, &given_back, &more));
        assert_true(given_back <= leave_max);
        rv_end_session_call_read_turns(reply, turns);
    }
}

/* The place of the last one whose id begins so, when all are leased one by one; done: what was leased. */
static int last_place(test_hand *hand, char first, int count)
{
    int place = 0, last = 0;
    while (count > 0 && test_lease(hand, 1) == 1) {
        place++;
        if (hand->leased[0].id[0] != first) continue;
        last = place;
        count--;
    }
    assert_int_equal(count, 0);
    return last;
}

static void groups_take_turns_among_what_is_given_back(void **state)
{
    (void)state;
    test_put_group("b", 246, "big");
    test_put_group("s", 10, "small");
    assert_int_equal(test_lease(&b, 256), 256);
    leave(&b);
    assert_in_range(last_place(&a, 's', 10), 10, 21);
}

static void who_comes_takes_turns_with_what_was_given_back(void **state)
{
    (void)state;
    test_put_group("b", 500, "big");
    assert_int_equal(test_lease(&b, 256), 256);
    leave(&b);
    test_put_group("s", 10, "small");
    assert_in_range(last_place(&a, 's', 10), 10, 21);
}

static void who_waits_takes_turns_with_what_is_given_back(void **state)
{
    (void)state;
    test_put_group("b", 256, "big");
    assert_int_equal(test_lease(&b, 256), 256);
    test_put_group("s", 10, "small");
    leave(&b);
    assert_in_range(last_place(&a, 's', 10), 10, 21);
}

static void what_is_given_back_keeps_its_order(void **state)
{
    (void)state;
    test_put_many("q", 300, "%zu");
    assert_int_equal(test_lease(&b, 250), 250);
    leave(&b);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(test_lease(&a, 1), 1);
        assert_int_equal(atoi(a.leased[0].id), i);
    }
}

/* Several calls come to the same as one. */
static void it_is_the_same_in_several_calls(void **state)
{
    static void (*const cases[])(void **) = {
        groups_take_turns_among_what_is_given_back, who_comes_takes_turns_with_what_was_given_back,
        who_waits_takes_turns_with_what_is_given_back, what_is_given_back_keeps_its_order};
    static const unsigned mosts[] = {1, 7, 48, 200};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t j = 0; j < sizeof(mosts) / sizeof(mosts[0]); j++) {
            (void)set_up(state);
            leave_max = mosts[j];
            cases[i](state);
        }
    }
    leave_max = 1000;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(parked_tasks_are_seen, set_up),
        cmocka_unit_test_setup(parked_tasks_are_steered, set_up),
        cmocka_unit_test_setup(all_parked_ones_go, set_up),
        cmocka_unit_test_setup(who_was_called_and_goes, set_up),
        cmocka_unit_test_setup(a_parked_one_is_replaced, set_up),
        cmocka_unit_test_setup(parked_tasks_keep_their_time, set_up),
        cmocka_unit_test_setup(groups_with_parked_tasks_are_not_forgotten, set_up),
        cmocka_unit_test_setup(put_off_without_limits, set_up),
        cmocka_unit_test_setup(put_off_while_the_queue_was_empty, set_up),
        cmocka_unit_test_setup(groups_take_turns_among_what_is_given_back, set_up),
        cmocka_unit_test_setup(who_comes_takes_turns_with_what_was_given_back, set_up),
        cmocka_unit_test_setup(who_waits_takes_turns_with_what_is_given_back, set_up),
        cmocka_unit_test_setup(what_is_given_back_keeps_its_order, set_up),
        cmocka_unit_test_setup(it_is_the_same_in_several_calls, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_groups_parked", tests, test_place_start, test_place_stop);
}
