/* Limits of a queue in time: how many tasks start in a period, and before when none does; the clock is the test's. */
#include <stdio.h>
#include <string.h>

#include "protocol/handler_call.h"
#include "protocol/scripts.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

static test_hand a, b;

static int set_up(void **state)
{
    return test_limits_begin(state, NOW, &a, &b);
}

/* ---- rates ----------------------------------------------------------------------------------------------------- */

static void a_burst_and_then_so_many(void **state)
{
    (void)state;
    test_put_many("q", 100, "x%03zu");
    test_limit_queue(0, TEST_RATE(10, 1000, 4));
    assert_int_equal(test_run_all(&a), 4);
    test_clock_advance(99);
    assert_int_equal(test_run_all(&a), 0);
    test_clock_advance(1);
    assert_int_equal(test_run_all(&a), 1);
    size_t ran = 0;
    for (int i = 0; i < 300; i++) { /* three seconds, at all of their tens of milliseconds */
        test_clock_advance(10);
        ran += test_run_all(&a);
    }
    assert_int_equal(ran, 30);
    test_clock_advance(3600000);
    assert_int_equal(test_run_all(&a), 4); /* not what was not used */
}

static void of_batches_what_is_allowed(void **state)
{
    (void)state;
    test_put_many("q", 100, "x%03zu");
    test_limit_queue(0, TEST_RATE(10, 1000, 0));
    assert_int_equal(test_lease(&a, 7), 7);
    assert_int_equal(test_lease(&b, 7), 3);
    test_clock_advance(500);
    assert_int_equal(test_lease(&b, 7), 5);
}

/* Groups that come and go leave nothing behind, however many they are. */
static void clocks_that_stand_are_forgotten(void **state)
{
    (void)state;
    test_limit_groups(0, TEST_RATE(1000, 1000, 1));
    for (int i = 0; i < 25; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%02d", i);
        test_put_in(id, id, 0);
    }
    assert_int_equal(test_run_all(&a), 25);
    assert_int_equal(test_number("ZCARD " Q "rates"), 25);
    test_clock_advance(1000);
    assert_true(test_maintain("q", 10).more);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "rates"), 0);
}

static void it_ends_when_the_rate_says(void **state)
{
    (void)state;
    test_put_many("q", 10, "x%03zu");
    test_limit_queue(0, TEST_RATE(1, 3000, 1));
    assert_int_equal(test_lease(&a, 5), 1);
    test_sleep_again();
    assert_int_equal(test_lease(&a, 5), 0);
    assert_false(test_is_awake());
    test_maintained maintained = test_maintain("q", 200);
    assert_int_equal(maintained.next_in_ms, 3000);
    test_sleep_again();
    test_clock_advance(2999);
    assert_int_equal(test_maintain("q", 200).next_in_ms, 1);
    test_sleep_again();
    assert_int_equal(test_lease(&a, 5), 0);
    test_clock_advance(1);
    (void)test_maintain("q", 200);
    assert_true(test_is_awake());
    assert_int_equal(test_lease(&a, 5), 1);
}

/* Counts what starts in a second whose every millisecond is looked at. */
static size_t in_a_second(void)
{
    size_t ran = 0;
    for (int ms = 0; ms < 1000; ms++) {
        test_clock_advance(1);
        ran += test_run_all(&a);
    }
    return ran;
}

static void less_than_a_millisecond_each(void **state)
{
    (void)state;
    test_put_many("q", 9000, "x%04zu");
    test_limit_queue(0, TEST_RATE(2000, 1000, 1));
    (void)test_run_all(&a);
    assert_in_range(in_a_second(), 1999, 2001);
    test_limit_queue(0, TEST_RATE(3000, 1000, 500));
    (void)test_run_all(&a);
    assert_in_range(in_a_second(), 2999, 3001);
}

/* It is not asked each millisecond: the times at which tend looks are enough. */
static void as_often_as_it_is_told(void **state)
{
    (void)state;
    test_put_many("q", 9000, "x%04zu");
    test_limit_queue(0, TEST_RATE(2000, 1000, 100));
    (void)test_run_all(&a);
    size_t ran = 0, looks = 0;
    for (int64_t end = NOW + 1000; test_clock_now() < end; looks++) {
        test_maintained maintained = test_maintain("q", 200);
        assert_true(maintained.next_in_ms > 0);
        test_clock_advance(maintained.next_in_ms);
        (void)test_maintain("q", 200);
        ran += test_run_all(&a);
    }
    assert_in_range(ran, 1990, 2010);
    assert_in_range(looks, 25, 60);
}

static void over_long_periods(void **state)
{
    (void)state;
    test_put_many("q", 10, "x%03zu");
    test_limit_queue(0, TEST_RATE(3, 31622400000, 1)); /* three in 366 days */
    assert_int_equal(test_run_all(&a), 1);
    test_clock_advance(10540800000 - 1);
    assert_int_equal(test_run_all(&a), 0);
    test_clock_advance(1);
    assert_int_equal(test_run_all(&a), 1);
    test_clock_advance(5 * 31622400000);
    assert_int_equal(test_run_all(&a), 1);
}

static void another_rate_at_once(void **state)
{
    (void)state;
    test_put_many("q", 100, "x%03zu");
    test_limit_queue(0, TEST_RATE(1, 60000, 1));
    assert_int_equal(test_run_all(&a), 1);
    test_sleep_again();
    test_limit_queue(0, TEST_RATE(100, 1000, 5));
    assert_true(test_is_awake());
    test_clock_advance(60000);
    assert_int_equal(test_run_all(&a), 5);
    test_limit_queue(0, TEST_RATE(1, 1000, 1));
    assert_int_equal(test_run_all(&a), 0); /* what has started counts */
    test_clock_advance(1000);
    assert_int_equal(test_run_all(&a), 1);
    test_limit_queue(0, TEST_ANY_RATE);
    assert_int_equal(test_run_all(&a), 93);
    assert_int_equal(test_number("EXISTS " Q "limit_state"), 0);
}

static void a_rate_and_a_concurrency(void **state)
{
    (void)state;
    test_put_many("q", 100, "x%03zu");
    test_limit_queue(2, TEST_RATE(3, 1000, 0));
    assert_int_equal(test_lease_all(&a), 2);
    test_settle(&a, TEST_DONE("x000"), TEST_DONE("x001"));
    assert_int_equal(test_lease_all(&a), 1);
    test_clock_advance(334);
    assert_int_equal(test_lease_all(&a), 1);
    test_clock_advance(1000);
    assert_int_equal(test_lease_all(&a), 0); /* two run */
    test_expect_running(2);
}

/* ---- holds ----------------------------------------------------------------------------------------------------- */

static void hold(const char *group, int64_t delay_ms, int64_t until)
{
    int64_t said = -1;
    test_ok(test_client, reeve_pause_for(test_client, "q", group, delay_ms, &said));
    assert_int_equal(said, until);
}

static void not_before(void **state)
{
    (void)state;
    test_put_many("q", 10, "x%03zu");
    assert_int_equal(test_lease(&a, 1), 1);
    hold(NULL, 5000, NOW + 5000);
    test_sleep_again();
    assert_int_equal(test_lease(&a, 5), 0);
    assert_false(test_is_awake());
    test_settle(&a, TEST_DONE("x000")); /* what runs goes on */
    assert_string_equal(test_state("q", "x000"), "completed");
    test_clock_advance(4999);
    assert_int_equal(test_lease(&a, 5), 0);
    assert_int_equal(test_maintain("q", 200).next_in_ms, 1);
    test_clock_advance(1);
    test_sleep_again();
    (void)test_maintain("q", 200);
    assert_true(test_is_awake());
    assert_int_equal(test_lease(&a, 5), 5);
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
    assert_int_equal(test_number("EXISTS " Q "limit_state"), 0);
}

/* Nobody asked for a task while it held. */
static void it_ends_by_itself(void **state)
{
    (void)state;
    test_put("q", "x");
    hold(NULL, 5000, NOW + 5000);
    assert_int_equal(test_maintain("q", 200).next_in_ms, 5000);
    test_clock_advance(5000);
    test_sleep_again();
    (void)test_maintain("q", 200);
    assert_true(test_is_awake());
}

static void ended_early(void **state)
{
    (void)state;
    test_put("q", "x y");
    hold(NULL, 5000, NOW + 5000);
    assert_int_equal(test_lease(&a, 5), 0);
    test_sleep_again();
    hold(NULL, 0, 0);
    assert_true(test_is_awake());
    assert_int_equal(test_lease(&a, 5), 2);
    hold(NULL, 0, 0);
    assert_int_equal(test_number("HEXISTS " Q "settings in_force"), 0);
}

static void shorter_and_longer(void **state)
{
    (void)state;
    test_put("q", "x");
    hold(NULL, 5000, NOW + 5000);
    hold(NULL, 1000, NOW + 1000);
    hold(NULL, 3000, NOW + 3000);
    test_clock_advance(2999);
    assert_int_equal(test_lease(&a, 1), 0);
    test_clock_advance(1);
    assert_int_equal(test_lease(&a, 1), 1);
    hold(NULL, INT64_MAX, 9007199254740991);
    hold(NULL, 1, NOW + 3001);
}

/* As a handler holds: never less than others did. */
static long long handler_holds(const char *group, int64_t delay_ms)
{
    const rv_reply *reply;
    rv_handler_call_pause_for(test_conn, &a.prefixes[0], group, delay_ms);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    return rv_reply_int(reply, -1);
}

static void handlers_do_not_shorten(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *group = i == 0 ? NULL : "g";
        assert_int_equal(handler_holds(group, 5000), NOW + 5000);
        assert_int_equal(handler_holds(group, 1000), NOW + 5000);
        assert_int_equal(handler_holds(group, 0), NOW + 5000);
        assert_int_equal(handler_holds(group, 6000), NOW + 6000);
    }
}

static void a_hold_and_a_full_queue(void **state)
{
    (void)state;
    test_put_many("q", 10, "x%03zu");
    test_limit_queue(1, NULL);
    assert_int_equal(test_lease(&a, 5), 1);
    hold(NULL, 5000, NOW + 5000);
    test_sleep_again();
    test_settle(&a, TEST_DONE("x000"));
    assert_int_equal(test_lease_all(&a), 0);
    test_clock_advance(5000);
    test_sleep_again();
    (void)test_maintain("q", 200);
    assert_true(test_is_awake());
    assert_int_equal(test_lease_all(&a), 1);
    test_expect_running(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_burst_and_then_so_many, set_up),
        cmocka_unit_test_setup(of_batches_what_is_allowed, set_up),
        cmocka_unit_test_setup(clocks_that_stand_are_forgotten, set_up),
        cmocka_unit_test_setup(it_ends_when_the_rate_says, set_up),
        cmocka_unit_test_setup(less_than_a_millisecond_each, set_up),
        cmocka_unit_test_setup(as_often_as_it_is_told, set_up),
        cmocka_unit_test_setup(over_long_periods, set_up),
        cmocka_unit_test_setup(another_rate_at_once, set_up),
        cmocka_unit_test_setup(a_rate_and_a_concurrency, set_up),
        cmocka_unit_test_setup(not_before, set_up),
        cmocka_unit_test_setup(it_ends_by_itself, set_up),
        cmocka_unit_test_setup(ended_early, set_up),
        cmocka_unit_test_setup(shorter_and_longer, set_up),
        cmocka_unit_test_setup(handlers_do_not_shorten, set_up),
        cmocka_unit_test_setup(a_hold_and_a_full_queue, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_limits_time", tests, test_place_start, test_place_stop);
}
