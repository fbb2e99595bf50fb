/* Redis's clock is set back by an hour, as when a node takes over whose clock is behind. */
#include <string.h>

#include "protocol/end_session_call.h"
#include "protocol/heartbeat_call.h"
#include "support/clock.h"
#include "support/cron.h"
#include "support/limits.h"

#define HOUR 3600000

static test_hand hand;

static int set_up(void **state)
{
    test_clock_set(test_clock_now());
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
            test_maintain_all("q");
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
    test_maintain_all("q");
    test_clock_advance(10000);
    test_maintain_all("q");
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
        test_maintain_all("q");
        test_clock_advance(hand.session_ms / 2);
    }
    test_maintain_all("q");
    assert_string_equal(test_state("q", "a"), "ready");
}

static bool heartbeat(void)
{
    const rv_reply *reply;
    rv_heartbeat_reply heartbeat;
    rv_heartbeat_call_build(test_conn, &hand.prefixes[0], hand.sessions[0], hand.session_ms);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_true(rv_heartbeat_call_read(&heartbeat, reply));
    return heartbeat.alive;
}

/* One that was renewed since is of the new time. */
static void a_session_that_was_renewed_lives(void **state)
{
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_maintain_all("q");
    test_clock_advance(-HOUR);
    assert_true(heartbeat());
    test_maintain_all("q");
    assert_string_equal(test_state("q", "a"), "running");
    for (int i = 0; i < 4; i++) {
        test_clock_advance(hand.session_ms / 2);
        test_maintain_all("q");
    }
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
        test_maintain_all("q");
        assert_string_equal(test_state("q", after[i]), "completed");
        test_clock_advance(10);
    }
    assert_int_equal(test_count("q", "completed"), 2);
    assert_string_equal(test_state("q", "y"), "completed");
}

/* ---- tasks that were put off ----------------------------------------------------------------------------------- */

enum { WAIT = 5000 };

static void put_off(const char *id, bool fails)
{
    test_put("q", id);
    assert_int_equal(test_lease(&hand, 1), 1);
    if (fails)
        test_settle(&hand, TEST_RETRY(id, WAIT));
    else
        test_settle(&hand, TEST_SNOOZE(id, WAIT));
}

/* The clock is set back and seen to be, by somebody who looks a moment later. */
static void set_back_an_hour(void)
{
    test_maintain_all("q");
    test_clock_advance(-HOUR);
    test_maintain_all("q");
}

static void expect_all(const char *const *ids, size_t count, const char *state)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(test_state("q", ids[i]), state) != 0) fail_msg("%s: %s", ids[i], test_state("q", ids[i]));
}

/* The time of a look is noted once in an eighth of a session: so long before the step it may have been. */
static void expect_in(const char *const *ids, size_t count, int64_t wait_ms)
{
    expect_all(ids, count, "scheduled");
    test_clock_advance(wait_ms - 1);
    test_maintain_all("q");
    expect_all(ids, count, "scheduled");
    test_clock_advance(1 + hand.session_ms / 8);
    test_maintain_all("q");
    expect_all(ids, count, "ready");
}

static void leave(void)
{
    const rv_reply *reply;
    rv_end_session_call_build(test_conn, &hand.prefixes[0], hand.sessions[0], 100);
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_int_equal(test_number("ZCARD reeve:{q}:sessions"), 0);
}

/* Of each way to be put off for a time: whether there are sessions does not matter. */
static void what_was_put_off_comes_in_time(void **state)
{
    (void)state;
    const char *const ids[] = {"retried", "again", "napped", "napped2", "later", "moved", "due"};
    put_off("retried", true);
    put_off("again", true);
    put_off("napped", false);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "due", .at_ms = test_clock_now() + 1});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "later", .in_ms = WAIT});
    test_put("q", "moved");
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "moved", WAIT));
    put_off("napped2", false);
    test_clock_advance(WAIT);
    test_maintain_all("q");
    /* Some once more, so that they have a past. */
    assert_int_equal(test_lease(&hand, 7), 7);
    test_settle(&hand, TEST_RETRY("again", WAIT));
    test_settle(&hand, TEST_RETRY("retried", WAIT));
    test_settle(&hand, TEST_SNOOZE("napped", WAIT));
    test_settle(&hand, TEST_SNOOZE("napped2", WAIT));
    test_settle(&hand, TEST_SNOOZE("later", WAIT));
    test_settle(&hand, TEST_RETRY("moved", WAIT));
    test_settle(&hand, TEST_RETRY("due", WAIT));
    leave();
    set_back_an_hour();
    expect_in(ids, 7, WAIT);
}

/* Soon after the time that its header says: that of its enqueue, or when its last parent ended. */
static void a_short_retry_comes_in_time(void **state)
{
    (void)state;
    enum { SHORT = 500 };
    const char *const ids[] = {"timed", "child"};
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "timed", .at_ms = test_clock_now() + 1});
    test_put("q", "parent");
    test_put_spec((reeve_task_spec){
        .queue = "q", .type = "t", .id = "child", .after = &(reeve_parent){.handle = "q/parent"}, .after_count = 1});
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("parent"));
    test_clock_advance(1);
    test_maintain_all("q");
    assert_int_equal(test_lease(&hand, 2), 2);
    test_settle(&hand, TEST_RETRY("timed", SHORT));
    test_settle(&hand, TEST_RETRY("child", SHORT));
    set_back_an_hour();
    expect_in(ids, 2, SHORT);
}

static void what_was_put_off_the_first_time_comes_in_time(void **state)
{
    (void)state;
    const char *const ids[] = {"retried", "napped", "later", "moved"};
    put_off("retried", true);
    put_off("napped", false);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "later", .in_ms = WAIT});
    test_put("q", "moved");
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "moved", WAIT));
    leave();
    set_back_an_hour();
    expect_in(ids, 4, WAIT);
}

static void what_has_a_time_that_was_named_keeps_it(void **state)
{
    (void)state;
    const char *const ids[] = {"named", "moved", "napped"};
    put_off("napped", false);
    test_put("q", "moved");
    int64_t at = test_clock_now() + WAIT + 1;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "named", .at_ms = at});
    test_ok(test_client, reeve_reschedule(test_client, "q", "moved", at));
    test_ok(test_client, reeve_reschedule(test_client, "q", "napped", at));
    set_back_an_hour();
    expect_in(ids, 3, WAIT + 1 + HOUR);
}

/* What is put off after the step waits as long as it was told, also before anybody has seen it. */
static void what_is_put_off_since_waits_its_time(void **state)
{
    (void)state;
    const char *const ids[] = {"retried", "napped", "later"};
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("a"));
    test_maintain_all("q");
    test_clock_advance(-HOUR);
    put_off("retried", true);
    put_off("napped", false);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "later", .in_ms = WAIT});
    test_maintain_all("q");
    expect_in(ids, 3, WAIT);
}

/* A call does a part of it. */
static void many_come_in_time(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static reeve_task_spec specs[MANY];
    static reeve_enqueued results[MANY];
    for (size_t i = 0; i < MANY; i++)
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .in_ms = i % 3 ? WAIT : 0, .at_ms = 0};
    for (size_t i = 0; i < MANY; i += 3) specs[i].at_ms = test_clock_now() + WAIT;
    test_ok(test_client, reeve_enqueue_many(test_client, specs, MANY, results));
    test_maintain_all("q");
    test_clock_advance(-HOUR);
    for (test_maintained maintained = test_maintain("q", 100); maintained.more; maintained = test_maintain("q", 100))
        assert_int_equal(maintained.promoted, 0);
    test_clock_advance(WAIT - 1);
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), 0);
    test_clock_advance(1 + 2); /* equal times stand behind each other */
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), MANY / 3 * 2);
    assert_int_equal(test_number("HEXISTS reeve:{q}:settings back"), 0);
    test_clock_advance(HOUR);
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), MANY);
    test_clock_advance(hand.session_ms);
    test_maintain_all("q");
    assert_int_equal(test_number("HEXISTS reeve:{q}:settings upkeep"), 0);
}

static void put_many(size_t count, int64_t delay_ms)
{
    enum { MAX = 3000 };
    static reeve_task_spec specs[MAX];
    static reeve_enqueued results[MAX];
    assert_true(count <= MAX);
    for (size_t i = 0; i < count; i++) specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .in_ms = delay_ms};
    test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
}

/* Before the delays are moved by the first step, the clock goes back again. */
static void two_steps_are_both_worked_off(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    put_many(MANY, WAIT);
    test_maintain_all("q");
    test_clock_advance(-HOUR);
    assert_true(test_maintain("q", 100).more);
    assert_int_equal(test_number("HEXISTS reeve:{q}:settings back"), 1);
    test_clock_advance(-2 * HOUR);
    test_maintain_all("q");
    assert_int_equal(test_number("HEXISTS reeve:{q}:settings back"), 0);
    test_clock_advance(WAIT - 1);
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), 0);
    test_clock_advance(1 + 2); /* equal times stand behind each other */
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), MANY);
}

/* An interval begins again; a time of the day comes when it comes. */
static void intervals_go_on_without_sessions(void **state)
{
    (void)state;
    int64_t now = test_clock_now();
    test_cron_set((reeve_cron_entry){.name = "every", .spec = "every 90s"}, "t");
    test_cron_set((reeve_cron_entry){.name = "daily", .spec = "@daily"}, "t");
    (void)test_cmd(test_conn, "ZADD reeve:{q}:cron:due %lld every %lld daily", (long long)now + 5000,
                   (long long)now + 6000);
    set_back_an_hour();
    assert_int_equal(test_number("ZSCORE reeve:{q}:cron:due every"), now - HOUR + 1);
    assert_int_equal(test_number("ZSCORE reeve:{q}:cron:due daily"), now + 6000);
}

static void holds_end_in_time_without_sessions(void **state)
{
    (void)state;
    test_put_in("a", "g", 0);
    test_hold(NULL, WAIT);
    test_hold("g", WAIT);
    set_back_an_hour();
    test_clock_advance(WAIT - 1);
    test_maintain_all("q");
    assert_int_equal(test_lease(&hand, 1), 0);
    test_clock_advance(1);
    test_maintain_all("q");
    assert_int_equal(test_lease(&hand, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_just_ended_stays, set_up),
        cmocka_unit_test_setup(a_result_that_just_came_stays, set_up),
        cmocka_unit_test_setup(a_rate_starts_tasks_in_time, set_up),
        cmocka_unit_test_setup(a_groups_rate_starts_tasks_in_time, set_up),
        cmocka_unit_test_setup(a_dead_session_is_reaped_in_time, set_up),
        cmocka_unit_test_setup(a_session_that_was_renewed_lives, set_up),
        cmocka_unit_test_setup(what_was_put_off_comes_in_time, set_up),
        cmocka_unit_test_setup(a_short_retry_comes_in_time, set_up),
        cmocka_unit_test_setup(what_was_put_off_the_first_time_comes_in_time, set_up),
        cmocka_unit_test_setup(what_has_a_time_that_was_named_keeps_it, set_up),
        cmocka_unit_test_setup(what_is_put_off_since_waits_its_time, set_up),
        cmocka_unit_test_setup(many_come_in_time, set_up),
        cmocka_unit_test_setup(two_steps_are_both_worked_off, set_up),
        cmocka_unit_test_setup(holds_end_in_time_without_sessions, set_up),
        cmocka_unit_test_setup(intervals_go_on_without_sessions, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_clock_back", tests, test_place_start, test_place_stop);
}
