/* What a queue needs from time to time: due tasks, expired sessions, retention, waking up, the time to come again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/queue.h"

static test_hand a, b;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "2", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* ---- due tasks ------------------------------------------------------------------------------------------------- */

static void due_tasks_become_ready(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "soon", .in_ms = 30});
    test_put_spec((reeve_task_spec){.id = "late", .in_ms = 90000});
    test_maintained maintained = test_maintain("q", 200);
    if (maintained.promoted == 0) {
        assert_in_range(maintained.next_in_ms, 0, 30);
        assert_false(maintained.more);
        usleep(1000 * (unsigned)maintained.next_in_ms + 1000);
        maintained = test_maintain("q", 200);
    }
    assert_int_equal(maintained.promoted, 1);
    assert_in_range(maintained.next_in_ms, 80000, 90000);
    assert_string_equal(test_state("q", "soon"), "ready");
    assert_string_equal(test_state("q", "late"), "scheduled");
}

static void many_due_tasks_come_in_steps(void **state)
{
    (void)state;
    static reeve_task_spec specs[450];
    static reeve_enqueued results[450];
    static char ids[450][16];
    for (size_t i = 0; i < 450; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "x%03zu", 449 - i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i], .in_ms = 1 + (int64_t)(i / 50)};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 450, results));
    usleep(15000);
    for (uint64_t left = 450; left > 0;) {
        test_maintained maintained = test_maintain("q", 200);
        assert_in_range(maintained.promoted, left < 100 ? left : 100, 200);
        left -= maintained.promoted;
        assert_int_equal(maintained.more, left > 0);
    }
    /* In the order of their times. */
    assert_int_equal(test_lease(&a, 256), 256);
    for (size_t i = 0; i < 256; i++) assert_int_equal((449 - atoi(a.leased[i].id + 1)) / 50, i / 50);
}

static void a_due_task_without_an_envelope(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "ZADD " Q "scheduled 1 ghost");
    test_maintained maintained = test_maintain("q", 200);
    assert_false(maintained.more);
    assert_int_equal(test_number("EXISTS " Q "scheduled " Q "ready"), 0);
}

/* ---- expired sessions ------------------------------------------------------------------------------------------ */

static void an_expired_session_is_reaped(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 2);
    (void)test_lease(&b, 1);
    test_maintained maintained = test_maintain("q", 200);
    assert_int_equal(maintained.recovered, 0);
    assert_string_equal(maintained.session, "");
    assert_in_range(maintained.next_in_ms, 50000, 60000);
    test_expire(&a);
    maintained = test_maintain("q", 200);
    assert_int_equal(maintained.recovered, 2);
    assert_true(maintained.more);
    assert_string_equal(maintained.session, a.sessions[0]);
    assert_int_equal(test_number("EXISTS " Q "running:%s " Q "lost:%s", a.sessions[0], a.sessions[0]), 0);
    assert_int_equal(test_number("ZCARD " Q "sessions"), 1); /* b lives */
    maintained = test_maintain("q", 200);
    assert_false(maintained.more);
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->crashes, 1);
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    assert_int_equal(test_number("HGET " Q "counters crashed"), 2);
}

static void a_real_expiry(void **state)
{
    (void)state;
    test_put("q", "x");
    a.session_ms = 60;
    (void)test_lease(&a, 1);
    test_maintained maintained = test_maintain("q", 200);
    if (maintained.recovered == 0) assert_in_range(maintained.next_in_ms, 0, 60);
    TEST_AWAIT(maintained.recovered == 1 || (maintained = test_maintain("q", 200)).recovered == 1);
}

static void many_leases_come_back_in_steps(void **state)
{
    (void)state;
    test_put_many("q", 1000, "x%03zu");
    for (int i = 0; i < 4; i++) assert_int_equal(test_lease(&a, 250), 250);
    test_expire(&a);
    uint64_t back = 0;
    unsigned steps = 0;
    for (bool more = true; more; steps++) {
        test_maintained maintained = test_maintain("q", 200);
        /* HSCAN gives about as many as it is asked for. */
        assert_in_range(maintained.recovered, 0, 200);
        back += maintained.recovered;
        more = maintained.more;
        /* Each task stands in one place. */
        assert_int_equal(test_count("q", "ready") + test_count("q", "running"), 1000);
        assert_int_equal(test_count("q", "ready"), back);
    }
    assert_int_equal(back, 1000);
    assert_in_range(steps, 5, 30);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
    for (size_t i = 0; i < 1000; i += 99) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%03zu", i);
        reeve_task_info *info = test_show("q", id);
        assert_int_equal(info->crashes, 1);
        reeve_task_info_free(info);
    }
}

static void several_sessions_one_after_the_other(void **state)
{
    (void)state;
    test_put_many("q", 90, "x%02zu");
    for (int i = 0; i < 9; i++) {
        test_hand_init(&a, "1", "q");
        (void)test_lease(&a, 10);
        test_expire(&a);
    }
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), 90);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
    test_hand_init(&a, "1", "q");
    (void)test_lease(&a, 1);
    assert_int_equal(a.leased[0].crashes, 1); /* each of them once */
}

static void a_session_that_holds_nothing(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_settle(&a, TEST_DONE("x"));
    test_expire(&a);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "sessions " Q "running:%s " Q "lost:%s", a.sessions[0], a.sessions[0]), 0);
    /* Nor one whose hash is gone. */
    (void)test_cmd(test_conn, "ZADD " Q "sessions 1 ghost");
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* ---- retention ------------------------------------------------------------------------------------------------- */

static void keep(int64_t age_ms, int64_t count, bool dead)
{
    const reeve_keep limits = {age_ms, count};
    reeve_queue_settings settings = {0};
    if (dead)
        settings.dead = &limits;
    else
        settings.completed = &limits;
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
}

/* Ends count tasks in one turn: "x00", ... */
static void end_all(size_t count, bool dead)
{
    static test_outcome outcomes[256];
    test_put_many("q", count, "x%02zu");
    (void)test_lease(&a, 256);
    test_hand leased = a;
    assert_int_equal(leased.count, count);
    for (size_t i = 0; i < count; i++) {
        const test_outcome fail = TEST_FAIL(leased.leased[i].id), done = TEST_DONE(leased.leased[i].id);
        outcomes[i] = dead ? fail : done;
    }
    (void)test_turn(&a, 0, outcomes, count);
    assert_string_equal(a.refused, "");
}

static void by_count(void **state)
{
    (void)state;
    for (int dead = 0; dead < 2; dead++) {
        (void)set_up(NULL);
        keep(-1, 7, dead == 1);
        end_all(50, dead == 1);
        for (int i = 0; i < 20 && test_maintain("q", 200).more; i++) continue;
        assert_int_equal(test_count("q", dead ? "dead" : "completed"), 7);
        assert_int_equal(test_number("HLEN " Q "tasks"), 7);
        assert_int_equal(test_number("EXISTS " Q "info:x00 " Q "info:x20"), 0);
    }
}

/* The end of each task trims at once: none of it waits for the scheduler. */
static void by_count_as_they_end(void **state)
{
    (void)state;
    keep(-1, 3, false);
    test_put_many("q", 30, "x%02zu");
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(test_lease(&a, 1), 1);
        test_outcome done = TEST_RESULT(a.leased[0].id, "r");
        (void)test_turn(&a, 0, &done, 1);
        assert_true(test_count("q", "completed") <= 3);
    }
    assert_string_equal(test_state("q", "x29"), "completed"); /* the newest stay */
    assert_string_equal(test_state("q", "x26"), "");
    assert_int_equal(test_number("HLEN " Q "results"), 3);
    assert_int_equal(test_number("HEXISTS " Q "results x29"), 1);
}

/* Such a count is none: the default holds. */
static void by_a_count_that_is_no_whole_number(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "HSET " Q "settings completed_count 1.5 dead_count 0.5 completed_bytes 1MB");
    test_put_many("q", 30, "x%02zu");
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(test_lease(&a, 1), 1);
        const test_outcome done = TEST_DONE(a.leased[0].id), fail = TEST_FAIL(a.leased[0].id);
        (void)test_turn(&a, 0, i % 3 == 0 ? &fail : &done, 1);
        test_maintain_all("q");
    }
    assert_int_equal(test_count("q", "completed"), 20);
    assert_int_equal(test_count("q", "dead"), 10);
}

/* Of many, a 64th more may stand, and those of the turn. */
static void by_count_as_batches_end(void **state)
{
    (void)state;
    static test_outcome done[13];
    uint64_t max = 0;
    keep(-1, 640, false);
    test_put_many("q", 1500, "x%04zu");
    for (size_t i = 0, ended = 0; ended < 1500; i++) {
        size_t n = test_lease(&a, i % 3 == 0 ? 1 : i % 3 == 1 ? 7 : 13);
        for (size_t j = 0; j < n; j++) done[j] = (test_outcome)TEST_DONE(a.leased[j].id);
        (void)test_turn(&a, 0, done, n);
        ended += n;
        uint64_t now = test_count("q", "completed");
        assert_true(now <= 640 + 10 + n && now >= (ended < 640 ? ended : 640));
        if (now > max) max = now;
    }
    assert_true(max > 640);
    assert_int_equal(test_number("HLEN " Q "tasks"), test_count("q", "completed"));
    assert_int_equal(test_number("HGET " Q "counters completed"), 1500);
}

static void dead_ones_by_count_as_they_end(void **state)
{
    (void)state;
    keep(-1, 3, true);
    test_put_many("q", 30, "x%02zu");
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(test_lease(&a, 1), 1);
        test_outcome fail = TEST_FAIL(a.leased[0].id);
        (void)test_turn(&a, 0, &fail, 1);
        assert_true(test_count("q", "dead") <= 3);
    }
    assert_string_equal(test_state("q", "x29"), "dead");
    assert_int_equal(test_number("HLEN " Q "tasks"), 3);
}

static void none_at_all(void **state)
{
    (void)state;
    static const reeve_keep nothing[] = {{0, -1}, {-1, 0}, {0, 0}};
    for (int i = 0; i < 3; i++) {
        (void)set_up(NULL);
        keep(nothing[i].age_ms, nothing[i].count, false);
        keep(nothing[i].age_ms, nothing[i].count, true);
        test_put("q", "plain result dead marked");
        (void)test_lease(&a, 4);
        test_settle(&a, TEST_RETRY("marked", 0));
        test_settle(&a, TEST_DONE("plain"), TEST_RESULT("result", "r"), TEST_FAIL("dead"));
        test_maintain_all("q");
        (void)test_lease(&a, 4);
        test_settle(&a, {0, {.id = "marked", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
        assert_string_equal(a.refused, "");
        assert_int_equal(
            test_number("EXISTS " Q "tasks " Q "completed " Q "dead " Q "results " Q "info:dead " Q "info:marked"), 0);
    }
}

static void without_limits(void **state)
{
    (void)state;
    keep(-1, -1, false);
    keep(-1, -1, true);
    end_all(100, false);
    test_put_many("q", 100, "d%02zu");
    (void)test_lease(&a, 256);
    test_hand held = a;
    for (size_t i = 0; i < 100; i++) test_settle(&a, TEST_FAIL(held.leased[i].id));
    (void)test_cmd(test_conn, "ZADD " Q "completed 1000 x00"); /* long ago */
    test_maintained maintained = test_maintain("q", 200);
    assert_int_equal(maintained.trimmed, 0);
    assert_in_range(maintained.next_in_ms, 0, 60000); /* the session's expiry, and nothing else */
    assert_int_equal(test_count("q", "completed") + test_count("q", "dead"), 200);
}

static void by_age(void **state)
{
    (void)state;
    keep(3600000, -1, false);
    keep(7200000, -1, true);
    test_put("q", "c1 c2 d1 d2 k1 k2");
    test_ok(test_client, reeve_cancel(test_client, "q", "k1"));
    test_ok(test_client, reeve_cancel(test_client, "q", "k2"));
    (void)test_lease(&a, 4);
    test_settle(&a, TEST_RESULT("c1", "r"), TEST_DONE("c2"), TEST_FAIL("d1"), TEST_FAIL("d2"));
    (void)test_cmd(test_conn, "DEL " Q "sessions " Q "running:%s", a.sessions[0]);
    int64_t now = a.now_ms;
    test_maintained maintained = test_maintain("q", 200);
    assert_int_equal(maintained.trimmed, 0);
    assert_in_range(maintained.next_in_ms, 3500000, 3600000);
    (void)test_cmd(test_conn, "ZADD " Q "completed %lld c1", (long long)now - 3600000);
    (void)test_cmd(test_conn, "ZADD " Q "cancelled %lld k1", (long long)now - 3600001);
    (void)test_cmd(test_conn, "ZADD " Q "dead %lld d1", (long long)now - 7199000); /* a second to go */
    maintained = test_maintain("q", 200);
    assert_int_equal(maintained.trimmed, 2);
    assert_in_range(maintained.next_in_ms, 0, 1000);
    assert_string_equal(test_state("q", "c1"), "");
    assert_string_equal(test_state("q", "k1"), "");
    assert_string_equal(test_state("q", "c2"), "completed");
    assert_string_equal(test_state("q", "k2"), "cancelled");
    assert_int_equal(test_number("EXISTS " Q "results"), 0);
    TEST_AWAIT(test_maintain("q", 200).trimmed == 1);
    assert_string_equal(test_state("q", "d1"), "");
    assert_int_equal(test_number("EXISTS " Q "info:d1 " Q "info:d2"), 1);
}

static void those_who_wait_no_more_are_forgotten_in_steps(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "HSET " Q "settings waiters 1");
    for (int i = 0; i < 25; i++) (void)test_cmd(test_conn, "ZADD " Q "waiters %d w%d", 1 + i, i);
    assert_true(test_maintain("q", 10).more);
    assert_int_equal(test_number("ZCARD " Q "waiters"), 15);
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "waiters"), 0);
    assert_int_equal(test_number("HEXISTS " Q "settings waiters"), 0);
}

static void much_is_trimmed_in_steps(void **state)
{
    (void)state;
    end_all(250, false);
    keep(-1, 10, false);
    test_maintained maintained = test_maintain("q", 100);
    assert_int_equal(maintained.trimmed, 100);
    assert_true(maintained.more);
    maintained = test_maintain("q", 100);
    maintained = test_maintain("q", 100);
    assert_int_equal(maintained.trimmed, 40);
    assert_false(maintained.more);
    keep(0, -1, false); /* what is kept already goes, too */
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "tasks " Q "completed"), 0);
}

static void a_day_and_ninety(void **state)
{
    (void)state;
    test_put("q", "c d");
    (void)test_lease(&a, 2);
    test_settle(&a, TEST_DONE("c"), TEST_FAIL("d"));
    (void)test_cmd(test_conn, "DEL " Q "sessions " Q "running:%s", a.sessions[0]);
    assert_in_range(test_maintain("q", 200).next_in_ms, 86300000, 86400000);
    test_ok(test_client, reeve_delete(test_client, "q", "c"));
    assert_in_range(test_maintain("q", 200).next_in_ms, 90 * 86400000LL - 100000, 90 * 86400000LL);
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */

static void nothing_is_due(void **state)
{
    (void)state;
    test_maintained maintained = test_maintain("q", 200);
    assert_false(maintained.more);
    assert_int_equal(maintained.next_in_ms, -1);
    assert_int_equal(test_number("DBSIZE"), 0);
    test_put("q", "x");
    assert_int_equal(test_maintain("q", 200).next_in_ms, -1);
}

/* A wake-up that went down with the thread that had it. */
static void a_lost_token_is_put_back(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_cmd(test_conn, "DEL " Q "wake");
    (void)test_maintain("q", 200);
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    (void)test_maintain("q", 200);
    assert_int_equal(test_number("LLEN " Q "wake"), 1);
    (void)test_cmd(test_conn, "DEL " Q "wake");
    test_ok(test_client, reeve_pause(test_client, "q"));
    (void)test_maintain("q", 200);
    assert_int_equal(test_number("LLEN " Q "wake"), 0); /* nobody may have it */
}

static void waiters_are_forgotten(void **state)
{
    (void)state;
    test_put("q", "x");
    assert_int_equal(reeve_wait(test_client, "q", "x", 0, NULL), REEVE_ETIMEOUT);
    assert_int_equal(test_number("HEXISTS " Q "settings waiters"), 1);
    (void)test_maintain("q", 200);
    assert_int_equal(test_number("ZCARD " Q "waiters"), 1);
    (void)test_cmd(test_conn, "ZADD " Q "waiters 1 x");
    (void)test_maintain("q", 200);
    assert_int_equal(test_number("EXISTS " Q "waiters"), 0);
    assert_int_equal(test_number("HEXISTS " Q "settings waiters"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(due_tasks_become_ready, set_up),
        cmocka_unit_test_setup(many_due_tasks_come_in_steps, set_up),
        cmocka_unit_test_setup(a_due_task_without_an_envelope, set_up),
        cmocka_unit_test_setup(an_expired_session_is_reaped, set_up),
        cmocka_unit_test_setup(a_real_expiry, set_up),
        cmocka_unit_test_setup(many_leases_come_back_in_steps, set_up),
        cmocka_unit_test_setup(several_sessions_one_after_the_other, set_up),
        cmocka_unit_test_setup(a_session_that_holds_nothing, set_up),
        cmocka_unit_test_setup(by_count, set_up),
        cmocka_unit_test_setup(by_count_as_they_end, set_up),
        cmocka_unit_test_setup(by_a_count_that_is_no_whole_number, set_up),
        cmocka_unit_test_setup(by_count_as_batches_end, set_up),
        cmocka_unit_test_setup(dead_ones_by_count_as_they_end, set_up),
        cmocka_unit_test_setup(none_at_all, set_up),
        cmocka_unit_test_setup(without_limits, set_up),
        cmocka_unit_test_setup(by_age, set_up),
        cmocka_unit_test_setup(those_who_wait_no_more_are_forgotten_in_steps, set_up),
        cmocka_unit_test_setup(much_is_trimmed_in_steps, set_up),
        cmocka_unit_test_setup(a_day_and_ninety, set_up),
        cmocka_unit_test_setup(nothing_is_due, set_up),
        cmocka_unit_test_setup(a_lost_token_is_put_back, set_up),
        cmocka_unit_test_setup(waiters_are_forgotten, set_up),
    };
    return cmocka_run_group_tests_name("ct_maintenance", tests, test_place_start, test_place_stop);
}
