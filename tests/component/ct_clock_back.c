/* Redis's clock is set back by an hour, as when a node takes over whose clock is behind. */
#include <string.h>

#include "support/clock.h"
#include "support/limits.h"

#define HOUR 3600000

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void run(const char *id, bool fails)
{
    test_put("q", id);
    assert_int_equal(test_lease(&hand, 1), 1);
    if (fails)
        test_settle(&hand, TEST_FAIL(id));
    else
        test_settle(&hand, TEST_RESULT(id, "r"));
}

/* What ended before goes instead. */
static void what_just_ended_stays(void **state)
{
    (void)state;
    const reeve_keep two = {-1, 2};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &two, .dead = &two}));
    const char *const before[] = {"a", "b", "c"}, *const after[] = {"x", "y", "z"};
    for (int kind = 0; kind < 2; kind++) {
        const char *state_name = kind ? "dead" : "completed";
        for (int i = 0; i < 3; i++) {
            run(before[i], kind == 1);
            test_clock_advance(10);
        }
        test_clock_advance(-HOUR);
        for (int i = 0; i < 3; i++) {
            run(after[i], kind == 1);
            assert_string_equal(test_state("q", after[i]), state_name);
            test_tend_all("q");
            assert_string_equal(test_state("q", after[i]), state_name);
            test_clock_advance(10);
        }
        assert_string_equal(test_state("q", "x"), "");
        assert_string_equal(test_state("q", "y"), state_name);
        test_ok(test_client, reeve_delete(test_client, "q", "y"));
        test_ok(test_client, reeve_delete(test_client, "q", "z"));
        test_clock_advance(HOUR);
    }
}

static void a_rate_starts_tasks_in_time(void **state)
{
    (void)state;
    test_limit_queue(-1, TEST_RATE(1, 10000, 1));
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_int_equal(test_lease(&hand, 1), 0);
    test_clock_advance(-HOUR);
    assert_int_equal(test_lease(&hand, 1), 1); /* (the rate begins anew) */
    test_put("q", "c");
    assert_int_equal(test_lease(&hand, 1), 0);
}

static void a_groups_rate_starts_tasks_in_time(void **state)
{
    (void)state;
    test_limit_groups(-1, TEST_RATE(1, 10000, 1));
    test_put_in("a b", "g", 0);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_int_equal(test_lease(&hand, 1), 0);
    test_clock_advance(-HOUR);
    test_tend_all("q");
    test_clock_advance(10000);
    test_tend_all("q");
    assert_int_equal(test_lease(&hand, 1), 1);
}

/* A session that nobody renews ends no more than a life later. */
static void a_dead_session_is_reaped_in_time(void **state)
{
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_clock_advance(-HOUR);
    for (int i = 0; i < 4; i++) {
        test_tend_all("q");
        test_clock_advance(hand.session_ms / 2);
    }
    test_tend_all("q");
    assert_string_equal(test_state("q", "a"), "ready");
}

/* By bytes, what ended before goes instead, too. */
static void a_result_that_just_came_stays(void **state)
{
    (void)state;
    const reeve_keep all = {-1, -1};
    const int64_t bytes = 2;
    test_ok(test_client,
            reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &all, .completed_bytes = &bytes}));
    const char *const before[] = {"a", "b"}, *const after[] = {"x", "y", "z"};
    for (int i = 0; i < 2; i++) run(before[i], false);
    test_clock_advance(-HOUR);
    for (int i = 0; i < 3; i++) {
        run(after[i], false);
        assert_string_equal(test_state("q", after[i]), "completed");
        test_tend_all("q");
        assert_string_equal(test_state("q", after[i]), "completed");
        test_clock_advance(10);
    }
    assert_int_equal(test_count("q", "completed"), 2);
    assert_string_equal(test_state("q", "y"), "completed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_just_ended_stays, set_up),
        cmocka_unit_test_setup(a_result_that_just_came_stays, set_up),
        cmocka_unit_test_setup(a_rate_starts_tasks_in_time, set_up),
        cmocka_unit_test_setup(a_groups_rate_starts_tasks_in_time, set_up),
        cmocka_unit_test_setup(a_dead_session_is_reaped_in_time, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_clock_back", tests, test_place_start, test_place_stop);
}
