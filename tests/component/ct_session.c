/* A session's begin, its heartbeats, and its end in good order. */
#include <stdio.h>
#include <string.h>

#include "protocol/end_session_call.h"
#include "protocol/heartbeat_call.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand a, b;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "2", "q");
    return test_place_empty(state);
}

static rv_heartbeat_reply last_heartbeat;

static void heartbeat(const test_hand *hand, int64_t session_ms)
{
    const rv_reply *reply;
    rv_heartbeat_call_build(test_conn, &hand->prefixes[0], hand->sessions[0], session_ms);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_true(rv_heartbeat_call_read(&last_heartbeat, reply));
}

static uint64_t leave(const test_hand *hand, unsigned max, bool *ret_more)
{
    const rv_reply *reply;
    uint64_t given_back;
    rv_end_session_call_build(test_conn, &hand->prefixes[0], hand->sessions[0], max);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_true(rv_end_session_call_read(reply, &given_back, ret_more));
    return given_back;
}

static const char *counters(void)
{
    return test_cmd(test_conn, "HMGET " Q "counters completed failed dead");
}

/* ---- heartbeats ------------------------------------------------------------------------------------------------ */

static void a_heartbeat_pushes_the_expiry(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 2);
    heartbeat(&a, 500000);
    assert_true(last_heartbeat.alive);
    assert_int_equal(last_heartbeat.held, 2);
    assert_in_range(test_number("ZSCORE " Q "sessions %s", a.sessions[0]), a.now_ms + 500000, a.now_ms + 510000);
    assert_int_equal(test_number("EXISTS " Q "counters"), 0);
    test_settle(&a, TEST_DONE("x"), TEST_DONE("y"));
    heartbeat(&a, 1000);
    assert_true(last_heartbeat.alive);
    assert_int_equal(last_heartbeat.held, 0);
}

static void an_expired_session_is_revived_before_the_reaper(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_expire(&a);
    heartbeat(&a, 60000);
    assert_true(last_heartbeat.alive);
    assert_int_equal(test_maintain("q", 200).recovered, 0);
    test_settle(&a, TEST_DONE("x"));
    assert_string_equal(a.refused, "");
}

/* Each outcome counts where it is accepted, whether its worker lives on or not. */
static void outcomes_are_counted_when_they_are_accepted(void **state)
{
    (void)state;
    test_put("q", "x y z d e f g");
    (void)test_lease(&a, 7);
    test_settle(&a, TEST_DONE("x"), TEST_DONE("y"), TEST_RESULT("z", "r"));
    assert_string_equal(counters(), "[3 (nil) (nil)]");
    test_settle(&a, TEST_FAIL("d"), TEST_RETRY("e", 0), TEST_SNOOZE("f", 0), TEST_DONE("g"), TEST_DONE("x"));
    assert_string_equal(a.refused, "x");
    assert_string_equal(counters(), "[4 2 1]");
    test_settle(&a, TEST_FAIL("d"));
    assert_string_equal(counters(), "[4 2 1]");
    test_maintain_all("q");
    (void)test_lease(&b, 1);
    test_ok(test_client, reeve_cancel(test_client, "q", b.leased[0].id));
    test_settle(&b, TEST_RETRY(b.leased[0].id, 0)); /* it failed, and ends as cancelled */
    assert_string_equal(counters(), "[4 3 1]");
    reeve_queue_info info;
    test_ok(test_client, reeve_queue(test_client, "q", &info));
    assert_int_equal(info.completed_total, 4);
    assert_int_equal(info.failed_total, 3);
    assert_int_equal(info.dead_total, 1);
}

static void a_session_that_is_gone(void **state)
{
    (void)state;
    heartbeat(&a, 60000);
    assert_false(last_heartbeat.alive);
    assert_int_equal(last_heartbeat.held, 0);
    assert_int_equal(test_number("DBSIZE"), 0);
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_expire(&a);
    (void)test_maintain("q", 200);
    heartbeat(&a, 60000);
    assert_false(last_heartbeat.alive);
    assert_int_equal(test_number("EXISTS " Q "sessions " Q "running:%s", a.sessions[0]), 0); /* it does not come back */
}

/* ---- beginning ------------------------------------------------------------------------------------------------- */

/* A turn tells where a session is needed, and begins none. */
static void it_begins_where_a_task_is_ready(void **state)
{
    (void)state;
    test_put("q", "x");
    const char *args[] = {Q, "1", "1", "1", "", a.sessions[0], NULL};
    assert_non_null(strstr(test_script_text(&rv_script_turn, args), " [] [1] []]"));
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
    assert_true(test_begin(&a, 0));
    assert_non_null(strstr(test_script_text(&rv_script_turn, args), "[1 x "));
}

static void it_begins_once(void **state)
{
    (void)state;
    test_put("q", "x");
    assert_true(test_begin(&a, 0));
    long long ends = test_number("ZSCORE " Q "sessions %s", a.sessions[0]);
    (void)test_lease(&a, 1);
    a.session_ms = 1000000;
    assert_true(test_begin(&a, 0));
    assert_int_equal(test_number("ZSCORE " Q "sessions %s", a.sessions[0]), ends);
    assert_string_equal(test_state("q", "x"), "running");
}

/* Its tasks are being brought back. */
static void one_that_is_reaped_does_not_begin_again(void **state)
{
    (void)state;
    assert_int_equal(test_number("ZADD " Q "sessions 0 %s", a.sessions[0]), 1);
    assert_false(test_begin(&a, 0));
    assert_int_equal(test_number("EXISTS " Q "running:%s", a.sessions[0]), 0);
}

static void calls_that_begin_none(void **state)
{
    (void)state;
    const char *const calls[][4] = {{Q, "", "60000", "{}"},
                                    {Q, "w-1", "x", "{}"},
                                    {Q, "w-1", "-1", "{}"},
                                    {Q, "w-1", "1.5", "{}"},
                                    {Q, "w-1", "1"}};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const char *args[] = {calls[i][0], calls[i][1], calls[i][2], calls[i][3], NULL};
        assert_non_null(strstr(test_script_text(&rv_script_begin_session, args), "(error) ERR begin_session: "));
    }
    assert_int_equal(test_number("DBSIZE"), 0);
}

/* ---- leaving --------------------------------------------------------------------------------------------------- */

static void leaving_gives_back_in_order(void **state)
{
    (void)state;
    bool more;
    test_put_many("q", 60, "x%02zu");
    test_put_spec((reeve_task_spec){.id = "urgent", .priority = -1});
    (void)test_lease(&a, 10); /* at three moments */
    int64_t first = a.now_ms;
    while (a.now_ms == first) (void)test_lease(&a, 1);
    (void)test_lease(&a, 20);
    long long leased = test_number("HLEN " Q "running:%s", a.sessions[0]) - 3;
    assert_int_equal(leave(&a, 200, &more), leased);
    assert_false(more);
    test_hand_init(&b, "1", "q");
    (void)test_lease(&b, 100);
    assert_string_equal(b.leased[0].id, "urgent");
    for (size_t i = 0; i < 60; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%02zu", i);
        assert_string_equal(b.leased[i + 1].id, id);
        assert_false(b.leased[i + 1].has_info); /* nothing was counted */
    }
}

static void leaving_removes_every_trace(void **state)
{
    (void)state;
    bool more;
    test_put("q", "x y");
    (void)test_lease(&a, 2);
    heartbeat(&a, 60000);
    (void)leave(&a, 200, &more);
    assert_int_equal(test_number("EXISTS " Q "sessions " Q "running:%s " Q "lost:%s", a.sessions[0], a.sessions[0]), 0);
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_string_equal(counters(), "[(nil) (nil) (nil)]");
    test_settle(&a, TEST_DONE("x"));
    assert_string_equal(a.refused, "x");
    assert_int_equal(leave(&a, 200, &more), 0); /* again is fine */
    assert_false(more);
    assert_int_equal(leave(&b, 200, &more), 0); /* and for one that never began */
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

static void leaving_in_steps(void **state)
{
    (void)state;
    test_put_many("q", 500, "x%03zu");
    (void)test_lease(&a, 250);
    (void)test_lease(&a, 250);
    uint64_t back = 0;
    unsigned steps = 0;
    for (bool more = true; more; steps++) {
        back += leave(&a, 100, &more);
        assert_int_equal(test_count("q", "ready"), back);
        assert_int_equal(test_count("q", "ready") + test_count("q", "running"), 500);
    }
    assert_int_equal(back, 500);
    assert_in_range(steps, 4, 20);
    assert_int_equal(test_number("EXISTS " Q "sessions " Q "info:x000"), 0);
}

static void only_its_own_tasks(void **state)
{
    (void)state;
    bool more;
    test_put("q", "x y");
    (void)test_lease(&a, 1);
    (void)test_lease(&b, 1);
    assert_int_equal(leave(&a, 200, &more), 1);
    assert_string_equal(test_state("q", "y"), "running");
    test_settle(&b, TEST_DONE("y"));
    assert_string_equal(b.refused, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_heartbeat_pushes_the_expiry, set_up),
        cmocka_unit_test_setup(an_expired_session_is_revived_before_the_reaper, set_up),
        cmocka_unit_test_setup(outcomes_are_counted_when_they_are_accepted, set_up),
        cmocka_unit_test_setup(a_session_that_is_gone, set_up),
        cmocka_unit_test_setup(it_begins_where_a_task_is_ready, set_up),
        cmocka_unit_test_setup(it_begins_once, set_up),
        cmocka_unit_test_setup(one_that_is_reaped_does_not_begin_again, set_up),
        cmocka_unit_test_setup(calls_that_begin_none, set_up),
        cmocka_unit_test_setup(leaving_gives_back_in_order, set_up),
        cmocka_unit_test_setup(leaving_removes_every_trace, set_up),
        cmocka_unit_test_setup(leaving_in_steps, set_up),
        cmocka_unit_test_setup(only_its_own_tasks, set_up),
    };
    return cmocka_run_group_tests_name("ct_session", tests, test_place_start, test_place_stop);
}
