/* Limits of a queue: how many tasks run at once, how many start in a period, and holds; the clock is the test's. */
#include <stdio.h>
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

/* Leases until nothing more comes; returns how many. */
static size_t lease_all(test_hand *hand)
{
    size_t all = 0;
    while (test_lease(hand, 100) > 0) all += hand->count;
    return all;
}

static void expect_running(int64_t count)
{
    test_limits_agree();
    assert_int_equal(test_limits_running(), count);
    assert_int_equal(test_count("q", "running"), count);
}

static bool is_awake(void)
{
    return test_number("LLEN " Q "wake") == 1;
}

static void sleep_again(void)
{
    (void)test_cmd(test_conn, "DEL " Q "wake");
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

#define REFUSED(words, ...)                                                                      \
    do {                                                                                         \
        const reeve_limit_change refused = {__VA_ARGS__};                                        \
        test_refused(test_client, reeve_limit(test_client, "q", &refused), REEVE_EINVAL, words); \
    } while (0)

static void numbers_and_names(void **state)
{
    (void)state;
    char long_name[REEVE_GROUP_MAX + 2];
    memset(long_name, 'g', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    REFUSED("a concurrency of -2: must be from 1 to 1000000000, or -1 for any", .concurrency = -2);
    REFUSED("a concurrency of 1000000001", .concurrency = 1000000001);
    REFUSED("a count of -1: must be from 1 to 1000000000, or 0 for any rate", .rate = TEST_RATE(-1, 0, 0));
    REFUSED("a count of 1000000001", .rate = TEST_RATE(1000000001, 0, 0));
    REFUSED("a period of -1 ms: must be from 1 ms to 366 days", .rate = TEST_RATE(1, -1, 0));
    REFUSED("a period of 31622400001 ms", .rate = TEST_RATE(1, 31622400001, 0));
    REFUSED("a burst of -1: must be from 1 to 1000000000", .rate = TEST_RATE(1, 1, -1));
    REFUSED("a burst of 1000000001", .rate = TEST_RATE(1, 1, 1000000001));
    REFUSED("the limits have size 3", .size = 3);
    REFUSED("not of 3", .of = (reeve_limit_of)3, .concurrency = 1);
    REFUSED("group \"\": a group's name has 1 to 100 bytes", .of = REEVE_LIMIT_GROUP, .concurrency = 1);
    REFUSED("group \"\"", .of = REEVE_LIMIT_GROUP, .group = "", .concurrency = 1);
    REFUSED("1 to 100 bytes", .of = REEVE_LIMIT_GROUP, .group = long_name, .concurrency = 1);
    REFUSED("must be UTF-8", .of = REEVE_LIMIT_GROUP, .group = "\xff", .concurrency = 1);
    REFUSED("a group is named", .of = REEVE_LIMIT_GROUPS, .group = "g", .concurrency = 1);
    REFUSED("a group is named", .group = "g", .concurrency = 1);
    REFUSED("only a group's own limits can be forgotten", .of = REEVE_LIMIT_GROUPS, .forget = true);
    REFUSED("either forgotten or set", .of = REEVE_LIMIT_GROUP, .group = "g", .forget = true, .concurrency = 1);
    const reeve_limit_change fine = {.concurrency = 1};
    test_refused(test_client, reeve_limit(test_client, "no queue", &fine), REEVE_EINVAL, "queue \"no queue\"");
    test_refused(test_client, reeve_hold(test_client, "no queue", NULL, 1, NULL), REEVE_EINVAL, "queue \"no queue\"");
    test_refused(test_client, reeve_hold(test_client, "q", "", 1, NULL), REEVE_EINVAL, "group \"\"");
    test_refused(test_client, reeve_hold(test_client, "q", NULL, -1, NULL), REEVE_EINVAL, "a hold of -1 ms");
    reeve_limits *limits;
    test_refused(test_client, reeve_limits_get(test_client, "q", 0, 1001, &limits), REEVE_EINVAL,
                 "at most 1000 groups");
    assert_int_equal(test_number("DBSIZE"), 0);
}

static void the_widest(void **state)
{
    (void)state;
    test_limit_queue(1000000000, TEST_RATE(1000000000, 31622400000, 1000000000));
    test_put("q", "x y");
    assert_int_equal(test_run_all(&a), 2);
    test_limit_queue(0, TEST_RATE(1, 31622400000, 1));
    test_put("q", "u v");
    (void)test_run_all(&a);
    assert_string_equal(test_state("q", "v"), "ready");
}

static void what_is_set_is_told(void **state)
{
    (void)state;
    reeve_limits *limits = test_limits();
    assert_int_equal(limits->concurrency, 0);
    assert_int_equal(limits->rate.count, 0);
    assert_int_equal(limits->hold_ms, 0);
    assert_int_equal(limits->running, -1);
    assert_int_equal(limits->group_total, 0);
    assert_int_equal(limits->group_count, 0);
    reeve_limits_free(limits);
    test_limit_queue(7, TEST_RATE(5, 2000, 3));
    test_limit_groups(2, TEST_RATE(9, 0, 0));
    int64_t until = 0;
    test_ok(test_client, reeve_hold(test_client, "q", NULL, 5000, &until));
    assert_int_equal(until, NOW + 5000);
    limits = test_limits();
    assert_int_equal(limits->concurrency, 7);
    assert_int_equal(limits->rate.count, 5);
    assert_int_equal(limits->rate.period_ms, 2000);
    assert_int_equal(limits->rate.burst, 3);
    assert_int_equal(limits->hold_ms, NOW + 5000);
    assert_int_equal(limits->running, 0);
    assert_int_equal(limits->group_concurrency, 2);
    assert_int_equal(limits->group_rate.count, 9);
    assert_int_equal(limits->group_rate.period_ms, 1000);
    assert_int_equal(limits->group_rate.burst, 9);
    reeve_limits_free(limits);
    test_limit_queue(-1, NULL);
    limits = test_limits();
    assert_int_equal(limits->concurrency, 0);
    assert_int_equal(limits->rate.count, 5); /* as it was */
    reeve_limits_free(limits);
    test_limit_queue(0, TEST_ANY_RATE);
    test_limit_groups(-1, TEST_ANY_RATE);
    test_clock_advance(5000);
    limits = test_limits();
    assert_int_equal(limits->hold_ms, 0);
    assert_int_equal(limits->rate.count, 0);
    assert_int_equal(limits->group_concurrency, 0);
    assert_int_equal(limits->group_rate.count, 0);
    reeve_limits_free(limits);
    test_tend_all("q");
    assert_int_equal(test_number("EXISTS " Q "settings " Q "gate " Q "limits " Q "holds"), 0); /* nothing is left */
}

static void a_limited_queue_is_known(void **state)
{
    (void)state;
    test_limit_queue(1, NULL);
    reeve_queue_info *list;
    size_t count;
    test_ok(test_client, reeve_queues(test_client, &list, &count));
    assert_int_equal(count, 1);
    reeve_queues_free(list);
}

/* ---- concurrency ----------------------------------------------------------------------------------------------- */

static void so_many_and_no_more(void **state)
{
    (void)state;
    test_put_many("q", 20, "x%03zu");
    test_limit_queue(3, NULL);
    assert_int_equal(lease_all(&a), 3);
    assert_int_equal(lease_all(&b), 0);
    expect_running(3);
    test_settle(&a, TEST_DONE("x000"));
    assert_int_equal(lease_all(&b), 1);
    test_settle(&b, TEST_DONE("x003"));
    const test_outcome done[] = {TEST_DONE("x001")};
    assert_int_equal(test_turn(&a, 100, done, 1), 1); /* settled before it leases: its own place and, then, the other */
    assert_int_equal(lease_all(&a), 1);
    expect_running(3);
}

static void every_end_gives_its_place_back(void **state)
{
    (void)state;
    test_put_many("q", 60, "x%03zu");
    test_limit_queue(6, NULL);
    assert_int_equal(lease_all(&a), 6);
    test_settle(&a, TEST_DONE("x000"), TEST_DONE("x001"), TEST_RESULT("x002", "r"), TEST_RETRY("x003", 60000),
                TEST_FAIL("x004"), TEST_SNOOZE("x005", 60000));
    expect_running(0);
    assert_int_equal(lease_all(&a), 6);
    test_settle(&a, TEST_SNOOZE("x011", 0), TEST_SNOOZE("x010", 0));
    expect_running(4);
    assert_int_equal(lease_all(&b), 2);
    expect_running(6);
}

static void refused_outcomes_give_nothing_back(void **state)
{
    (void)state;
    test_put_many("q", 20, "x%03zu");
    test_limit_queue(4, NULL);
    assert_int_equal(lease_all(&a), 4);
    for (int i = 0; i < 3; i++) {
        test_settle(&a, TEST_DONE("x000"), TEST_RETRY("x001", 60000), TEST_DONE("nothing"));
        test_settle(&b, TEST_DONE("x002"), TEST_SNOOZE("x003", 0), TEST_FAIL("x003"));
        expect_running(2);
    }
}

static void a_session_that_leaves(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    test_limit_queue(200, NULL);
    assert_int_equal(lease_all(&a), 200);
    for (int64_t held = 200; held > 0;) {
        const rv_reply *reply;
        uint64_t given_back = 0;
        bool more = false;
        rv_leave_build(test_conn, &a.prefixes[0], a.sessions[0], 30);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_leave_read(reply, &given_back, &more));
        held -= (int64_t)given_back;
        expect_running(held);
        assert_true(is_awake());
    }
    assert_int_equal(lease_all(&b), 200);
}

static void a_session_that_dies(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    test_limit_queue(200, NULL);
    assert_int_equal(lease_all(&a), 200);
    test_expire(&a);
    bool between = false;
    for (bool more = true; more;) {
        more = test_tend("q", 30).more;
        test_limits_agree();
        int64_t running = test_limits_running();
        between = between || (running > 0 && running < 200);
    }
    assert_true(between); /* in steps */
    expect_running(0);
    assert_int_equal(lease_all(&b), 200); /* one by one, after a crash */
    expect_running(200);
}

static void those_that_run_when_it_is_set(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    assert_int_equal(test_lease(&a, 5), 5);
    assert_int_equal(test_lease(&b, 150), 150);
    test_limit_queue(157, NULL);
    expect_running(155);
    assert_int_equal(lease_all(&a), 2);
    test_limit_queue(155, NULL); /* fewer than run: these go on */
    test_settle(&a, TEST_DONE("x000"));
    test_settle(&a, TEST_DONE("x001"));
    assert_int_equal(lease_all(&a), 0);
    test_settle(&a, TEST_DONE("x002"));
    assert_int_equal(lease_all(&a), 1);
    expect_running(155);
    test_limit_queue(-1, NULL);
    assert_int_equal(test_lease(&a, 100), 100);
    assert_int_equal(test_limits_running(), -1); /* not counted any more */
    test_limit_queue(1, NULL);
    expect_running(255);
}

static void set_while_a_session_is_reaped(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    assert_int_equal(test_lease(&a, 250), 250);
    test_expire(&a);
    while (test_tend("q", 30).recovered == 0) continue;
    test_limit_queue(1, NULL);
    assert_true(test_limits_running() > 0);
    test_limits_agree();
    test_tend_all("q");
    expect_running(0);
}

static void a_large_limit_is_shared(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    test_limit_queue(160, NULL);
    assert_int_equal(test_lease(&a, 100), 10); /* what waits in a batch counts as running */
    assert_true(is_awake());                   /* so there is something for others */
    assert_int_equal(lease_all(&b), 150);
}

/* Whoever finds no place wakes nobody; a place that becomes free wakes one. */
static void places_wake(void **state)
{
    (void)state;
    test_put_many("q", 20, "x%03zu");
    test_limit_queue(2, NULL);
    assert_int_equal(lease_all(&a), 2);
    sleep_again();
    assert_int_equal(test_lease(&b, 5), 0);
    assert_false(is_awake());
    test_settle(&a, TEST_DONE("x000"));
    assert_true(is_awake());
    sleep_again();
    const test_outcome done[] = {TEST_DONE("x001")};
    assert_int_equal(test_turn(&a, 1, done, 1), 1);
    assert_true(is_awake()); /* one was free before */
    sleep_again();
    assert_int_equal(test_lease(&b, 5), 1);
    assert_false(is_awake());
    test_limit_queue(3, NULL);
    assert_true(is_awake());
    sleep_again();
    assert_int_equal(test_lease(&b, 5), 1);
    assert_false(is_awake());
    test_limit_queue(-1, NULL);
    assert_true(is_awake());
}

static void a_paused_queue_with_a_limit(void **state)
{
    (void)state;
    test_put_many("q", 20, "x%03zu");
    test_limit_queue(2, NULL);
    assert_int_equal(lease_all(&a), 2);
    test_ok(test_client, reeve_pause(test_client, "q"));
    sleep_again();
    test_settle(&a, TEST_DONE("x000"));
    expect_running(1);
    assert_false(is_awake());
    assert_int_equal(lease_all(&a), 0);
    test_ok(test_client, reeve_resume(test_client, "q"));
    assert_true(is_awake());
    assert_int_equal(lease_all(&a), 1);
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

static void it_ends_when_the_rate_says(void **state)
{
    (void)state;
    test_put_many("q", 10, "x%03zu");
    test_limit_queue(0, TEST_RATE(1, 3000, 1));
    assert_int_equal(test_lease(&a, 5), 1);
    sleep_again();
    assert_int_equal(test_lease(&a, 5), 0);
    assert_false(is_awake());
    rv_tend_reply tended = test_tend("q", 200);
    assert_int_equal(tended.next_in_ms, 3000);
    sleep_again();
    test_clock_advance(2999);
    assert_int_equal(test_tend("q", 200).next_in_ms, 1);
    sleep_again();
    assert_int_equal(test_lease(&a, 5), 0);
    test_clock_advance(1);
    (void)test_tend("q", 200);
    assert_true(is_awake());
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
        rv_tend_reply tended = test_tend("q", 200);
        assert_true(tended.next_in_ms > 0);
        test_clock_advance(tended.next_in_ms);
        (void)test_tend("q", 200);
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
    sleep_again();
    test_limit_queue(0, TEST_RATE(100, 1000, 5));
    assert_true(is_awake());
    test_clock_advance(60000);
    assert_int_equal(test_run_all(&a), 5);
    test_limit_queue(0, TEST_RATE(1, 1000, 1));
    assert_int_equal(test_run_all(&a), 0); /* what has started counts */
    test_clock_advance(1000);
    assert_int_equal(test_run_all(&a), 1);
    test_limit_queue(0, TEST_ANY_RATE);
    assert_int_equal(test_run_all(&a), 93);
    assert_int_equal(test_number("EXISTS " Q "gate"), 0);
}

static void a_rate_and_a_concurrency(void **state)
{
    (void)state;
    test_put_many("q", 100, "x%03zu");
    test_limit_queue(2, TEST_RATE(3, 1000, 0));
    assert_int_equal(lease_all(&a), 2);
    test_settle(&a, TEST_DONE("x000"), TEST_DONE("x001"));
    assert_int_equal(lease_all(&a), 1);
    test_clock_advance(334);
    assert_int_equal(lease_all(&a), 1);
    test_clock_advance(1000);
    assert_int_equal(lease_all(&a), 0); /* two run */
    expect_running(2);
}

/* ---- holds ----------------------------------------------------------------------------------------------------- */

static void hold(const char *group, int64_t delay_ms, int64_t until)
{
    int64_t said = -1;
    test_ok(test_client, reeve_hold(test_client, "q", group, delay_ms, &said));
    assert_int_equal(said, until);
}

static void not_before(void **state)
{
    (void)state;
    test_put_many("q", 10, "x%03zu");
    assert_int_equal(test_lease(&a, 1), 1);
    hold(NULL, 5000, NOW + 5000);
    sleep_again();
    assert_int_equal(test_lease(&a, 5), 0);
    assert_false(is_awake());
    test_settle(&a, TEST_DONE("x000")); /* what runs goes on */
    assert_string_equal(test_state("q", "x000"), "completed");
    test_clock_advance(4999);
    assert_int_equal(test_lease(&a, 5), 0);
    assert_int_equal(test_tend("q", 200).next_in_ms, 1);
    test_clock_advance(1);
    sleep_again();
    (void)test_tend("q", 200);
    assert_true(is_awake());
    assert_int_equal(test_lease(&a, 5), 5);
    assert_int_equal(test_number("HEXISTS " Q "settings gate"), 0);
    assert_int_equal(test_number("EXISTS " Q "gate"), 0);
}

/* Nobody asked for a task while it held. */
static void it_ends_by_itself(void **state)
{
    (void)state;
    test_put("q", "x");
    hold(NULL, 5000, NOW + 5000);
    assert_int_equal(test_tend("q", 200).next_in_ms, 5000);
    test_clock_advance(5000);
    sleep_again();
    (void)test_tend("q", 200);
    assert_true(is_awake());
}

static void ended_early(void **state)
{
    (void)state;
    test_put("q", "x y");
    hold(NULL, 5000, NOW + 5000);
    assert_int_equal(test_lease(&a, 5), 0);
    sleep_again();
    hold(NULL, 0, 0);
    assert_true(is_awake());
    assert_int_equal(test_lease(&a, 5), 2);
    hold(NULL, 0, 0);
    assert_int_equal(test_number("HEXISTS " Q "settings gate"), 0);
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
    rv_hold_build(test_conn, &a.prefixes[0], group, delay_ms);
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
    sleep_again();
    test_settle(&a, TEST_DONE("x000"));
    assert_int_equal(lease_all(&a), 0);
    test_clock_advance(5000);
    sleep_again();
    (void)test_tend("q", 200);
    assert_true(is_awake());
    assert_int_equal(lease_all(&a), 1);
    expect_running(1);
}

/* ---- nothing, where there is no limit -------------------------------------------------------------------------- */

static void nothing_is_kept_without_limits(void **state)
{
    (void)state;
    test_put_group("x", 20, "g");
    assert_int_equal(test_run_all(&a), 20);
    test_tend_all("q");
    assert_int_equal(test_number("EXISTS " Q "gate " Q "slots " Q "taken " Q "rates " Q "opening " Q "parked"), 0);
    assert_int_equal(test_number("HLEN " Q "settings"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(numbers_and_names, set_up),
        cmocka_unit_test_setup(the_widest, set_up),
        cmocka_unit_test_setup(what_is_set_is_told, set_up),
        cmocka_unit_test_setup(a_limited_queue_is_known, set_up),
        cmocka_unit_test_setup(so_many_and_no_more, set_up),
        cmocka_unit_test_setup(every_end_gives_its_place_back, set_up),
        cmocka_unit_test_setup(refused_outcomes_give_nothing_back, set_up),
        cmocka_unit_test_setup(a_session_that_leaves, set_up),
        cmocka_unit_test_setup(a_session_that_dies, set_up),
        cmocka_unit_test_setup(those_that_run_when_it_is_set, set_up),
        cmocka_unit_test_setup(set_while_a_session_is_reaped, set_up),
        cmocka_unit_test_setup(a_large_limit_is_shared, set_up),
        cmocka_unit_test_setup(places_wake, set_up),
        cmocka_unit_test_setup(a_paused_queue_with_a_limit, set_up),
        cmocka_unit_test_setup(a_burst_and_then_so_many, set_up),
        cmocka_unit_test_setup(of_batches_what_is_allowed, set_up),
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
        cmocka_unit_test_setup(nothing_is_kept_without_limits, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_limits", tests, test_place_start, test_place_stop);
}
