/* Sessions that are dead: maintain says so, reap brings their tasks back. */
#include <stdio.h>
#include <string.h>

#include "support/clock.h"
#include "support/queue.h"

#define Q "reeve:{q}:"

static test_hand a, b;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "2", "q");
    return test_place_empty(state);
}

/* Each of two workers holds a task; the queue was maintained. */
static void lease_both(void)
{
    test_put("q", "x y");
    assert_int_equal(test_lease(&a, 1), 1);
    assert_int_equal(test_lease(&b, 1), 1);
    assert_false(test_maintain_only("q", 200).dead);
}

static void maintain_says_that_a_session_is_dead_and_leaves_it(void **state)
{
    (void)state;
    lease_both();
    test_expire(&a);
    for (int i = 0; i < 3; i++) {
        const rv_maintain_reply maintained = test_maintain_only("q", 200);
        assert_true(maintained.dead);
        assert_false(maintained.more);
        assert_int_equal(maintained.next_in_ms, -1); /* it is to be reaped first */
        assert_string_equal(test_state("q", "x"), "running");
    }
    const rv_reap_reply reaped = test_reap("q", 200);
    assert_string_equal(reaped.session, a.sessions[0]);
    assert_int_equal(reaped.recovered, 1);
    assert_false(reaped.more);
    assert_string_equal(test_state("q", "x"), "ready");
    assert_false(test_maintain_only("q", 200).dead);
}

/* Another program has written the lease. */
static void a_task_with_a_malformed_lease_is_brought_back(void **state)
{
    (void)state;
    lease_both();
    test_cmd(test_conn, "HSET " Q "running:%s x what", a.sessions[0]);
    test_expire(&a);
    assert_int_equal(test_reap("q", 200).recovered, 1);
    assert_string_equal(test_state("q", "x"), "ready");
}

static void nothing_is_reaped_where_no_session_is_dead(void **state)
{
    (void)state;
    char before[65536];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(before, sizeof(before), "%s", test_digest());
        const rv_reap_reply reaped = test_reap("q", 200);
        assert_string_equal(reaped.session, "");
        assert_int_equal(reaped.recovered, 0);
        assert_false(reaped.more);
        assert_string_equal(test_digest(), before);
        if (i == 0) lease_both();
    }
}

/* Its heartbeat came between the two calls. */
static void a_session_that_was_renewed_is_not_reaped(void **state)
{
    (void)state;
    lease_both();
    test_expire(&a);
    assert_true(test_maintain_only("q", 200).dead);
    assert_int_equal(test_number("ZADD " Q "sessions XX CH %lld %s", (long long)rv_wall_ms() + 60000, a.sessions[0]),
                     1);
    assert_string_equal(test_reap("q", 200).session, "");
    test_settle(&a, TEST_DONE("x"));
    assert_string_equal(a.refused, "");
}

static void dead_sessions_are_reaped_one_after_the_other(void **state)
{
    (void)state;
    lease_both();
    test_expire(&a);
    test_expire(&b);
    bool more = true;
    for (int i = 0; i < 2; i++) {
        assert_true(more);
        const rv_reap_reply reaped = test_reap("q", 200);
        assert_int_equal(reaped.recovered, 1);
        more = reaped.more;
    }
    assert_false(more);
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* Nobody maintained the queue while both sessions expired: they have a life to send heartbeats. */
static void a_session_that_is_spared_is_not_reaped(void **state)
{
    (void)state;
    lease_both();
    test_clock_advance(70000);
    assert_string_equal(test_reap("q", 200).session, ""); /* before anybody else has seen the gap */
    const rv_maintain_reply maintained = test_maintain_only("q", 200);
    assert_false(maintained.dead);
    assert_in_range(maintained.spared_ms, 1, 60000);
    test_expire(&b); /* it had expired before */
    const rv_maintain_reply with_dead = test_maintain_only("q", 200);
    assert_true(with_dead.dead);
    assert_in_range(with_dead.spared_ms, 1, 60000);
    assert_string_equal(test_reap("q", 200).session, b.sessions[0]);
    assert_string_equal(test_reap("q", 200).session, "");
    assert_string_equal(test_state("q", "x"), "running");
}

/* In between, whoever maintains the queue hears that the session is dead. */
static void many_leases_go_back_in_pages_once_each(void **state)
{
    (void)state;
    uint64_t back = 0;
    test_put_many("q", 300, "x%03zu");
    assert_int_equal(test_lease(&a, 300), 300);
    assert_false(test_maintain_only("q", 200).dead);
    test_expire(&a);
    for (bool more = true; more;) {
        if (back > 0) assert_true(test_maintain_only("q", 200).dead);
        const rv_reap_reply reaped = test_reap("q", 200);
        assert_string_equal(reaped.session, a.sessions[0]);
        assert_in_range(reaped.recovered, 1, 60);
        back += reaped.recovered;
        more = reaped.more;
    }
    assert_int_equal(back, 300);
    assert_int_equal(test_count("q", "ready"), 300);
    assert_int_equal(test_number("HGET " Q "counters crashed"), 300);
    assert_int_equal(test_lease(&b, 1), 1);
    assert_string_equal(b.leased[0].id, "x000");
}

/* A thread of it was told to look for tasks, and did not. */
static void a_wake_up_of_a_dead_session_goes_to_another_thread(void **state)
{
    (void)state;
    lease_both();
    test_settle(&a, TEST_DONE("x"));
    test_put("q", "z");
    (void)test_cmd(test_conn, "DEL " Q "wake");
    assert_int_equal(test_number("SADD " Q "woken:%s %s:1", a.sessions[0], a.sessions[0]), 1);
    assert_int_equal(test_number("EVAL return(redis.call('RPUSH',KEYS[1],'')) 1 " Q "hand:%s:1", a.sessions[0]), 1);
    test_expire(&a);
    const rv_reap_reply reaped = test_reap("q", 200);
    assert_string_equal(reaped.session, a.sessions[0]);
    assert_int_equal(reaped.recovered, 0);
    assert_int_equal(test_number("EXISTS " Q "hand:%s:1", a.sessions[0]), 0);
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(maintain_says_that_a_session_is_dead_and_leaves_it, set_up),
        cmocka_unit_test_setup(a_task_with_a_malformed_lease_is_brought_back, set_up),
        cmocka_unit_test_setup(nothing_is_reaped_where_no_session_is_dead, set_up),
        cmocka_unit_test_setup(a_session_that_was_renewed_is_not_reaped, set_up),
        cmocka_unit_test_setup(dead_sessions_are_reaped_one_after_the_other, set_up),
        cmocka_unit_test_setup(a_session_that_is_spared_is_not_reaped, set_up),
        cmocka_unit_test_setup(a_wake_up_of_a_dead_session_goes_to_another_thread, set_up),
        cmocka_unit_test_setup(many_leases_go_back_in_pages_once_each, set_up),
    };
    return cmocka_run_group_tests_name("ct_reap", tests, test_place_start, test_place_stop);
}
