/* Limits of a queue: what may be set, and how many tasks run at once; the clock is the test's. */
#include <stdio.h>
#include <string.h>

#include "protocol/end_session_call.h"
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
    REFUSED("the limits: size 3", .size = 3);
    REFUSED("not of 5", .of = (reeve_limit_of)5, .concurrency = 1);
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
    test_refused(test_client, reeve_pause_for(test_client, "no queue", NULL, 1, NULL), REEVE_EINVAL,
                 "queue \"no queue\"");
    test_refused(test_client, reeve_pause_for(test_client, "q", "", 1, NULL), REEVE_EINVAL, "group \"\"");
    test_refused(test_client, reeve_pause_for(test_client, "q", NULL, -1, NULL), REEVE_EINVAL, "a pause of -1 ms");
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
    assert_int_equal(limits->pause_until_ms, 0);
    assert_int_equal(limits->running, -1);
    assert_int_equal(limits->group_total, 0);
    assert_int_equal(limits->group_count, 0);
    reeve_limits_free(limits);
    test_limit_queue(7, TEST_RATE(5, 2000, 3));
    test_limit_groups(2, TEST_RATE(9, 0, 0));
    int64_t until = 0;
    test_ok(test_client, reeve_pause_for(test_client, "q", NULL, 5000, &until));
    assert_int_equal(until, NOW + 5000);
    limits = test_limits();
    assert_int_equal(limits->concurrency, 7);
    assert_int_equal(limits->rate.count, 5);
    assert_int_equal(limits->rate.period_ms, 2000);
    assert_int_equal(limits->rate.burst, 3);
    assert_int_equal(limits->pause_until_ms, NOW + 5000);
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
    assert_int_equal(limits->pause_until_ms, 0);
    assert_int_equal(limits->rate.count, 0);
    assert_int_equal(limits->group_concurrency, 0);
    assert_int_equal(limits->group_rate.count, 0);
    reeve_limits_free(limits);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "settings " Q "limit_state " Q "limits " Q "paused_groups"),
                     0); /* nothing is left */
}

static void a_limit_does_not_enter_the_name_of_a_queue(void **state)
{
    (void)state;
    test_limit_queue(1, NULL);
    reeve_queue_info *list;
    size_t count;
    test_ok(test_client, reeve_queues(test_client, &list, &count));
    assert_int_equal(count, 0);
    reeve_queues_free(list);
    test_put("entered", "a");
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
    assert_int_equal(test_lease_all(&a), 3);
    assert_int_equal(test_lease_all(&b), 0);
    test_expect_running(3);
    test_settle(&a, TEST_DONE("x000"));
    assert_int_equal(test_lease_all(&b), 1);
    test_settle(&b, TEST_DONE("x003"));
    const test_outcome done[] = {TEST_DONE("x001")};
    assert_int_equal(test_turn(&a, 100, done, 1), 1); /* settled before it leases: its own place and, then, the other */
    assert_int_equal(test_lease_all(&a), 1);
    test_expect_running(3);
}

static void every_end_gives_its_place_back(void **state)
{
    (void)state;
    test_put_many("q", 60, "x%03zu");
    test_limit_queue(6, NULL);
    assert_int_equal(test_lease_all(&a), 6);
    test_settle(&a, TEST_DONE("x000"), TEST_DONE("x001"), TEST_RESULT("x002", "r"), TEST_RETRY("x003", 60000),
                TEST_FAIL("x004"), TEST_SNOOZE("x005", 60000));
    test_expect_running(0);
    assert_int_equal(test_lease_all(&a), 6);
    test_settle(&a, TEST_SNOOZE("x011", 0), TEST_SNOOZE("x010", 0));
    test_expect_running(4);
    assert_int_equal(test_lease_all(&b), 2);
    test_expect_running(6);
}

static void refused_outcomes_give_nothing_back(void **state)
{
    (void)state;
    test_put_many("q", 20, "x%03zu");
    test_limit_queue(4, NULL);
    assert_int_equal(test_lease_all(&a), 4);
    for (int i = 0; i < 3; i++) {
        test_settle(&a, TEST_DONE("x000"), TEST_RETRY("x001", 60000), TEST_DONE("nothing"));
        test_settle(&b, TEST_DONE("x002"), TEST_SNOOZE("x003", 0), TEST_FAIL("x003"));
        test_expect_running(2);
    }
}

static void a_session_that_leaves(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    test_limit_queue(200, NULL);
    assert_int_equal(test_lease_all(&a), 200);
    for (int64_t held = 200; held > 0;) {
        const rv_reply *reply;
        uint64_t given_back = 0;
        bool more = false;
        rv_end_session_call_build(test_conn, &a.prefixes[0], a.sessions[0], 30);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_end_session_call_read(reply, &given_back, &more));
        held -= (int64_t)given_back;
        test_expect_running(held);
        assert_true(test_is_awake());
    }
    assert_int_equal(test_lease_all(&b), 200);
}

static void a_session_that_dies(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    test_limit_queue(200, NULL);
    assert_int_equal(test_lease_all(&a), 200);
    test_expire(&a);
    bool between = false;
    for (bool more = true; more;) {
        more = test_maintain("q", 30).more;
        test_limits_agree();
        int64_t running = test_limits_running();
        between = between || (running > 0 && running < 200);
    }
    assert_true(between); /* in steps */
    test_expect_running(0);
    assert_int_equal(test_lease_all(&b), 200); /* one by one, after a crash */
    test_expect_running(200);
}

static void those_that_run_when_it_is_set(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    assert_int_equal(test_lease(&a, 5), 5);
    assert_int_equal(test_lease(&b, 150), 150);
    test_limit_queue(157, NULL);
    test_expect_running(155);
    assert_int_equal(test_lease_all(&a), 2);
    test_limit_queue(155, NULL); /* fewer than run: these go on */
    test_settle(&a, TEST_DONE("x000"));
    test_settle(&a, TEST_DONE("x001"));
    assert_int_equal(test_lease_all(&a), 0);
    test_settle(&a, TEST_DONE("x002"));
    assert_int_equal(test_lease_all(&a), 1);
    test_expect_running(155);
    test_limit_queue(-1, NULL);
    assert_int_equal(test_lease(&a, 100), 100);
    assert_int_equal(test_limits_running(), -1); /* not counted any more */
    test_limit_queue(1, NULL);
    test_expect_running(255);
}

static void set_while_a_session_is_reaped(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    assert_int_equal(test_lease(&a, 250), 250);
    test_expire(&a);
    while (test_maintain("q", 30).recovered == 0) continue;
    test_limit_queue(1, NULL);
    assert_true(test_limits_running() > 0);
    test_limits_agree();
    test_maintain_all("q");
    test_expect_running(0);
}

/* What a dead session's hash has about itself does not run. */
static void set_while_a_session_with_a_suspect_is_reaped(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    assert_int_equal(test_lease(&a, 250), 250);
    (void)test_cmd(test_conn, "HSET " Q "running:%s #suspect x000", a.sessions[0]);
    test_expire(&a);
    while (test_maintain("q", 30).recovered == 0) continue;
    assert_int_equal(test_number("HEXISTS " Q "lost:%s #suspect", a.sessions[0]), 1);
    test_limit_queue(1, NULL);
    test_limits_agree();
    assert_int_equal(test_limits_running(), test_number("HLEN " Q "lost:%s", a.sessions[0]) - 1);
    test_maintain_all("q");
    test_expect_running(0);
    assert_int_equal(test_lease(&b, 1), 1);
}

/* Whatever made it so. */
static void counts_that_are_too_high_are_counted_anew(void **state)
{
    (void)state;
    test_limit_queue(2, NULL);
    test_put_many("q", 4, "x%03zu");
    assert_int_equal(test_lease(&a, 1), 1);
    (void)test_cmd(test_conn, "HINCRBY " Q "limit_state running 3");
    assert_int_equal(test_lease(&b, 1), 0);
    test_sleep_again();
    test_maintain_all("q");
    test_expect_running(1);
    assert_true(test_is_awake());
    assert_int_equal(test_lease(&b, 1), 1);
    /* Groups, when nobody is there who might run something. */
    const reeve_limit_change serial = {.of = REEVE_LIMIT_GROUPS, .concurrency = 1};
    test_ok(test_client, reeve_limit(test_client, "q", &serial));
    (void)test_cmd(test_conn, "HSET " Q "running_group ghost g");
    (void)test_cmd(test_conn, "HSET " Q "group_running g 1 h 7");
    test_put_in("g1", "g", 5);
    test_put_in("h1", "h", 5);
    test_limit_queue(5, NULL);
    assert_int_equal(test_lease_all(&a), 2);
    assert_string_equal(test_state("q", "g1"), "parked");
    assert_string_equal(test_state("q", "h1"), "parked");
    test_expire(&a);
    test_expire(&b);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "running_group " Q "group_running"), 0);
    assert_string_equal(test_state("q", "g1"), "ready");
    assert_string_equal(test_state("q", "h1"), "ready");
}

static void a_large_limit_is_shared(void **state)
{
    (void)state;
    test_put_many("q", 300, "x%03zu");
    test_limit_queue(160, NULL);
    assert_int_equal(test_lease(&a, 100), 10); /* what waits in a batch counts as running */
    assert_true(test_is_awake());              /* so there is something for others */
    assert_int_equal(test_lease_all(&b), 150);
}

/* Whoever finds no place wakes nobody; a place that becomes free wakes one. */
static void places_wake(void **state)
{
    (void)state;
    test_put_many("q", 20, "x%03zu");
    test_limit_queue(2, NULL);
    assert_int_equal(test_lease_all(&a), 2);
    test_sleep_again();
    assert_int_equal(test_lease(&b, 5), 0);
    assert_false(test_is_awake());
    test_settle(&a, TEST_DONE("x000"));
    assert_true(test_is_awake());
    test_sleep_again();
    const test_outcome done[] = {TEST_DONE("x001")};
    assert_int_equal(test_turn(&a, 1, done, 1), 1);
    assert_true(test_is_awake()); /* one was free before */
    test_sleep_again();
    assert_int_equal(test_lease(&b, 5), 1);
    assert_false(test_is_awake());
    test_limit_queue(3, NULL);
    assert_true(test_is_awake());
    test_sleep_again();
    assert_int_equal(test_lease(&b, 5), 1);
    assert_false(test_is_awake());
    test_limit_queue(-1, NULL);
    assert_true(test_is_awake());
}

static void a_paused_queue_with_a_limit(void **state)
{
    (void)state;
    test_put_many("q", 20, "x%03zu");
    test_limit_queue(2, NULL);
    assert_int_equal(test_lease_all(&a), 2);
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_sleep_again();
    test_settle(&a, TEST_DONE("x000"));
    test_expect_running(1);
    assert_false(test_is_awake());
    assert_int_equal(test_lease_all(&a), 0);
    test_ok(test_client, reeve_resume(test_client, "q"));
    assert_true(test_is_awake());
    assert_int_equal(test_lease_all(&a), 1);
}

/* ---- nothing, where there is no limit -------------------------------------------------------------------------- */

static void nothing_is_kept_without_limits(void **state)
{
    (void)state;
    test_put_group("x", 20, "g");
    assert_int_equal(test_run_all(&a), 20);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "limit_state " Q "running_group " Q "group_running " Q "rates " Q
                                 "limit_due " Q "parked"),
                     0);
    assert_string_equal(test_cmd(test_conn, "HKEYS " Q "settings"), "[upkeep]"); /* (of sessions) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(numbers_and_names, set_up),
        cmocka_unit_test_setup(the_widest, set_up),
        cmocka_unit_test_setup(what_is_set_is_told, set_up),
        cmocka_unit_test_setup(a_limit_does_not_enter_the_name_of_a_queue, set_up),
        cmocka_unit_test_setup(so_many_and_no_more, set_up),
        cmocka_unit_test_setup(every_end_gives_its_place_back, set_up),
        cmocka_unit_test_setup(refused_outcomes_give_nothing_back, set_up),
        cmocka_unit_test_setup(a_session_that_leaves, set_up),
        cmocka_unit_test_setup(a_session_that_dies, set_up),
        cmocka_unit_test_setup(those_that_run_when_it_is_set, set_up),
        cmocka_unit_test_setup(set_while_a_session_is_reaped, set_up),
        cmocka_unit_test_setup(set_while_a_session_with_a_suspect_is_reaped, set_up),
        cmocka_unit_test_setup(counts_that_are_too_high_are_counted_anew, set_up),
        cmocka_unit_test_setup(a_large_limit_is_shared, set_up),
        cmocka_unit_test_setup(places_wake, set_up),
        cmocka_unit_test_setup(a_paused_queue_with_a_limit, set_up),
        cmocka_unit_test_setup(nothing_is_kept_without_limits, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_limits", tests, test_place_start, test_place_stop);
}
