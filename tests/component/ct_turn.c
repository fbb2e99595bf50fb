/* A thread's turn against a real Redis: leasing, every outcome, refusals, sessions that begin and go. */
#include <stdio.h>
#include <string.h>

#include "protocol/turn_build.h"
#include "support/queue.h"

static test_hand a, b;

static int set_up(void **state)
{
    test_hand_init(&a, "1", "q");
    test_hand_init(&b, "7", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* ---- leasing --------------------------------------------------------------------------------------------------- */

static void a_lease_moves_the_task(void **state)
{
    (void)state;
    test_put("q", "x y z");
    assert_int_equal(test_lease(&a, 2), 2);
    assert_string_equal(test_leased_ids(&a), "x y");
    assert_string_equal(test_state("q", "x"), "running");
    assert_string_equal(test_state("q", "z"), "ready");
    assert_int_equal(test_number("ZCARD " Q "ready"), 1);
    char lease[64];
    (void)snprintf(lease, sizeof(lease), "%lld 1", (long long)a.now_ms);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "running:%s y", a.sessions[0]), lease);
    assert_int_equal(test_number("HLEN " Q "running:%s", a.sessions[0]), 5); /* with #, #flushed and #suspect */
    assert_in_range(test_number("ZSCORE " Q "sessions %s", a.sessions[0]), a.now_ms + 50000, a.now_ms + 60000);
    reeve_task_info *info = test_show("q", "x");
    assert_string_equal(info->session, a.sessions[0]);
    assert_string_equal(info->worker, "by_hand");
    assert_int_equal(info->started_ms, a.now_ms);
    reeve_task_info_free(info);
}

static void a_lease_takes_what_there_is(void **state)
{
    (void)state;
    assert_int_equal(test_lease(&a, 5), 0);
    assert_int_equal(test_number("EXISTS " Q "running:%s", a.sessions[0]), 0); /* nothing began */
    test_put("q", "x y");
    assert_int_equal(test_lease(&a, 0), 0);
    assert_int_equal(test_lease(&a, 5), 2);
    assert_int_equal(test_lease(&b, 5), 0);
}

static void a_full_batch_goes_through(void **state)
{
    (void)state;
    static test_outcome done[RV_BATCH_MAX];
    test_put_many("q", RV_BATCH_MAX + 1, "id%03zu");
    assert_int_equal(test_lease(&a, RV_BATCH_MAX), RV_BATCH_MAX);
    for (size_t i = 0; i < RV_BATCH_MAX; i++) done[i] = (test_outcome)TEST_DONE(a.leased[i].id);
    test_hand reply = a;
    assert_int_equal(test_turn(&reply, 10, done, RV_BATCH_MAX), 1);
    assert_string_equal(reply.refused, "");
    assert_int_equal(test_count("q", "completed"), RV_BATCH_MAX);
    assert_int_equal(test_count("q", "running"), 1);
}

static void an_id_without_a_task_is_dropped(void **state)
{
    (void)state;
    test_put("q", "x y z");
    assert_int_equal(test_number("HDEL " Q "tasks y"), 1);
    assert_int_equal(test_lease(&a, 5), 2);
    assert_string_equal(test_leased_ids(&a), "x z");
    assert_int_equal(test_number("ZCARD " Q "ready"), 0);
    assert_int_equal(test_count("q", "running"), 2);
}

static void a_malformed_task_is_leased_to_be_settled(void **state)
{
    (void)state;
    test_put("q", "x y");
    assert_int_equal(test_number("HSET " Q "tasks x {\"type\":\"t\"}"), 0);
    assert_int_equal(test_lease(&a, 5), 2);
    assert_string_equal(test_leased_ids(&a), "x y");
    assert_int_equal(a.bad, 0);
}

static void a_paused_queue_hands_nothing_out(void **state)
{
    (void)state;
    test_put("q", "x y");
    assert_int_equal(test_lease(&a, 1), 1);
    test_ok(test_client, reeve_pause(test_client, "q"));
    assert_int_equal(test_lease(&a, 1), 0);
    test_settle(&a, TEST_DONE("x")); /* what runs goes on */
    assert_string_equal(a.refused, "");
    test_ok(test_client, reeve_resume(test_client, "q"));
    assert_int_equal(test_lease(&a, 1), 1);
}

/* ---- outcomes -------------------------------------------------------------------------------------------------- */

static void done(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_settle(&a, TEST_DONE("x"));
    assert_string_equal(a.refused, "");
    assert_int_equal(test_number("ZSCORE " Q "completed x"), a.now_ms);
    assert_int_equal(test_number("HEXISTS " Q "running:%s x", a.sessions[0]), 0);
    assert_int_equal(test_number("EXISTS " Q "info:x"), 0);
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    assert_int_equal(info->ended_ms, a.now_ms);
    assert_null(info->result.data);
    assert_int_equal(info->started_ms, -1);
    reeve_task_info_free(info);
}

static void done_with_a_result_of_any_bytes(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_settle(&a, TEST_RESULT("x", "a\0\r\n\xff"));
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    assert_int_equal(info->result.length, 5);
    assert_memory_equal(info->result.data, "a\0\r\n\xff", 6);
    reeve_task_info_free(info);
}

static void a_retry_waits_and_is_told(void **state)
{
    (void)state;
    test_put("q", "x");
    (void)test_lease(&a, 1);
    test_settle(&a, TEST_RETRY("x", 60000));
    assert_int_equal(test_number("ZSCORE " Q "scheduled x"), a.now_ms + 60000);
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(info->failures, 1);
    assert_int_equal(info->crashes, 0);
    assert_int_equal(info->failed_ms, a.now_ms);
    assert_int_equal(info->due_ms, a.now_ms + 60000);
    assert_string_equal(info->error_kind, "k");
    assert_string_equal(info->error_message, "m");
    assert_string_equal(info->type, "t");
    reeve_task_info_free(info);
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    assert_int_equal(test_lease(&a, 1), 1);
    assert_true(a.leased[0].has_info);
    assert_int_equal(a.leased[0].failures, 1);
    test_settle(&a, TEST_RETRY("x", 0)); /* at once: as soon as somebody looks */
    assert_int_equal(test_maintain("q", 10).promoted, 1);
    assert_int_equal(test_lease(&a, 1), 1);
    assert_int_equal(a.leased[0].failures, 2);
    test_settle(&a, {0, {.id = "x", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    info = test_show("q", "x");
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    assert_int_equal(info->failures, 2); /* its history stays to be read */
    reeve_task_info_free(info);
}

static void fail_counts_or_not(void **state)
{
    (void)state;
    test_put("q", "x y");
    (void)test_lease(&a, 2);
    test_settle(
        &a, TEST_FAIL("x"),
        {0, {.id = "y", .outcome = REEVE_OUTCOME_FAIL, .counts = false, .kind = "crash", .message = "3 workers"}});
    assert_int_equal(test_number("ZSCORE " Q "dead x"), a.now_ms);
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->state, REEVE_STATE_DEAD);
    assert_int_equal(info->failures, 1);
    assert_int_equal(info->ended_ms, a.now_ms);
    assert_string_equal(info->error_kind, "k");
    reeve_task_info_free(info);
    info = test_show("q", "y");
    assert_int_equal(info->state, REEVE_STATE_DEAD);
    assert_int_equal(info->failures, 0);
    assert_string_equal(info->error_kind, "crash");
    assert_string_equal(info->error_message, "3 workers");
    reeve_task_info_free(info);
}

static void snooze_to_the_front_or_later(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 2);
    test_settle(&a, TEST_SNOOZE("y", 0), TEST_SNOOZE("x", 50000));
    assert_int_equal(test_number("ZSCORE " Q "scheduled x"), a.now_ms + 50000);
    assert_int_equal(test_lease(&b, 9), 2);
    assert_string_equal(test_leased_ids(&b), "y z");
    assert_false(b.leased[0].has_info); /* nothing was counted */
    assert_int_equal(test_number("EXISTS " Q "info:x " Q "info:y"), 0);
}

static void a_delay_without_end(void **state)
{
    (void)state;
    test_put("q", "x y");
    (void)test_lease(&a, 2);
    test_settle(&a, TEST_SNOOZE("x", INT64_MAX), TEST_RETRY("y", INT64_MAX));
    (void)test_maintain("q", 200);
    assert_int_equal(test_count("q", "scheduled"), 2);
}

static void what_is_given_back_keeps_its_priority(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "urgent", .priority = -1});
    test_put_spec((reeve_task_spec){.id = "lazy", .priority = 5});
    test_put("q", "plain");
    (void)test_lease(&a, 3);
    test_settle(&a, TEST_SNOOZE("lazy", 0), TEST_SNOOZE("plain", 0), TEST_SNOOZE("urgent", 0));
    assert_int_equal(test_lease(&b, 3), 3);
    assert_string_equal(test_leased_ids(&b), "urgent plain lazy");
}

static void all_outcomes_in_one_turn(void **state)
{
    (void)state;
    test_put("q", "p1 result p2 retry fail snooze p3 next");
    (void)test_lease(&a, 7);
    const test_outcome all[] = {
        TEST_DONE("p1"),   TEST_RESULT("result", "r"), TEST_DONE("p2"), TEST_RETRY("retry", 1000),
        TEST_FAIL("fail"), TEST_SNOOZE("snooze", 0),   TEST_DONE("p3")};
    assert_int_equal(test_turn(&a, 2, all, 7), 2);
    assert_string_equal(a.refused, "");
    assert_string_equal(test_leased_ids(&a), "snooze next"); /* settled before it leases */
    assert_int_equal(test_count("q", "completed"), 4);
    assert_int_equal(test_count("q", "scheduled"), 1);
    assert_int_equal(test_count("q", "dead"), 1);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void settle_each(test_hand *hand, const char *refused)
{
    const test_outcome each[] = {TEST_DONE("x"), TEST_RESULT("x", "r"), TEST_RETRY("x", 0), TEST_FAIL("x"),
                                 TEST_SNOOZE("x", 0)};
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        char before[64];
        rv_copy_text(before, sizeof(before), test_digest());
        (void)test_turn(hand, 0, &each[i], 1);
        assert_string_equal(hand->refused, refused);
        assert_string_equal(test_digest(), before);
    }
}

static void only_the_holder_settles(void **state)
{
    (void)state;
    settle_each(&a, "x"); /* no such task */
    test_put("q", "x y");
    settle_each(&a, "x"); /* not leased */
    (void)test_lease(&b, 1);
    (void)test_lease(&a, 1);
    settle_each(&a, "x"); /* another's */
    test_settle(&b, TEST_DONE("x"));
    settle_each(&b, "x"); /* ended */
    settle_each(&a, "x");
}

/* An expired session that nobody has reaped still holds its tasks. */
static void late_is_not_too_late_before_the_reaper(void **state)
{
    (void)state;
    test_put("q", "x y");
    (void)test_lease(&a, 2);
    test_expire(&a);
    test_settle(&a, TEST_DONE("x"));
    assert_string_equal(a.refused, "");
}

/* Reaps a session that holds tasks until some of them are back, but not all. */
static void reap_in_part(size_t held)
{
    size_t back = 0;
    test_expire(&a);
    while (back == 0) back = test_maintain("q", 5).recovered;
    assert_true(back < held);
}

static void a_reaped_session_is_refused(void **state)
{
    (void)state;
    static test_outcome done[100];
    test_put_many("q", 100, "x%03zu");
    (void)test_lease(&a, 100);
    test_hand dead = a;
    reap_in_part(100);
    size_t lost = test_count("q", "running");
    assert_int_equal(test_number("HLEN " Q "lost:%s", a.sessions[0]), lost);
    for (size_t i = 0; i < 100; i++) {
        done[i] = (test_outcome)TEST_DONE(dead.leased[i].id);
        test_settle(&a, TEST_RETRY(dead.leased[i].id, 0));
        assert_string_equal(a.refused, dead.leased[i].id);
    }
    (void)test_turn(&a, 0, done, 100);
    assert_int_equal(strlen(a.refused), 100 * 5 - 1);
    assert_int_equal(test_count("q", "running"), lost);
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), 100);
    (void)test_lease(&b, 1);
    test_settle(&a, TEST_DONE(b.leased[0].id)); /* and when another holds it again */
    assert_string_equal(a.refused, b.leased[0].id);
}

static void of_many_some_are_gone(void **state)
{
    (void)state;
    test_put("q", "v w x y z");
    (void)test_lease(&a, 5);
    test_settle(&a, TEST_DONE("w"), TEST_RETRY("y", 60000));
    test_settle(&a, TEST_DONE("v"), TEST_DONE("w"), TEST_DONE("x"), TEST_DONE("y"), TEST_DONE("z"));
    assert_string_equal(a.refused, "w y");
    assert_int_equal(test_count("q", "completed"), 4);
    assert_string_equal(test_state("q", "y"), "scheduled");
    assert_int_equal(test_count("q", "running"), 0);
}

static void of_many_one_is_with_another(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 3);
    test_settle(&a, TEST_SNOOZE("y", 0));
    (void)test_lease(&b, 1);
    test_settle(&a, TEST_DONE("x"), TEST_DONE("y"), TEST_DONE("z"));
    assert_string_equal(a.refused, "y");
    assert_string_equal(test_state("q", "y"), "running");
    test_settle(&b, TEST_DONE("y"));
    assert_string_equal(b.refused, "");
}

/* An outcome that is sent again names its lease: the session may have given the task back and leased it anew since. */
static void only_the_lease_that_is_meant(void **state)
{
    (void)state;
    static const test_outcome outcomes[] = {TEST_DONE("x"), TEST_RESULT("x", "r"), TEST_RETRY("x", 0), TEST_FAIL("x"),
                                            TEST_SNOOZE("x", 0)};
    char lease[64], before[64];
    test_put("q", "x y");
    (void)test_lease(&a, 2);
    (void)snprintf(lease, sizeof(lease), "%lld 1", (long long)a.now_ms);
    for (size_t i = 0; i < 5; i++) {
        static const char *const others[] = {"1 1", "x", "1763712000123 2"};
        const rv_settlement *const items[] = {&outcomes[i].is};
        for (size_t j = 0; j < 3; j++) {
            const rv_turn_group group = {
                .prefix = &a.prefixes[0], .session = a.sessions[0], .lease = others[j], .items = items, .count = 1};
            const rv_turn turn = {.thread = "k", .groups = &group, .group_count = 1};
            const rv_reply *reply;
            rv_copy_text(before, sizeof(before), test_digest());
            rv_turn_build(test_conn, &turn);
            assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
            assert_string_equal(test_reply_text(rv_reply_at(reply, 1)), "[x]");
            assert_string_equal(test_digest(), before);
        }
    }
    const rv_settlement x = {.id = "x", .outcome = REEVE_OUTCOME_DONE},
                        y = {.id = "y", .outcome = REEVE_OUTCOME_SNOOZE};
    const rv_settlement *const both[] = {&x, &y};
    const rv_turn_group group = {
        .prefix = &a.prefixes[0], .session = a.sessions[0], .lease = lease, .items = both, .count = 2};
    const rv_turn turn = {.thread = "k", .groups = &group, .group_count = 1};
    const rv_reply *reply;
    rv_turn_build(test_conn, &turn);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_int_equal(reply->count, 1); /* nothing is refused, and nothing else to say */
    assert_string_equal(test_state("q", "x"), "completed");
    assert_string_equal(test_state("q", "y"), "ready");
}

/* ---- sessions -------------------------------------------------------------------------------------------------- */

static void a_session_begins_once(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 1);
    a.begun[0] = false; /* a second thread of the worker does not know yet */
    a.session_ms = 999999;
    assert_int_equal(test_lease(&a, 1), 1);
    assert_true(test_number("ZSCORE " Q "sessions %s", a.sessions[0]) < a.now_ms + 70000);
    assert_int_equal(test_number("ZCARD " Q "sessions"), 1);
}

static void a_session_that_is_gone_leases_nothing(void **state)
{
    (void)state;
    test_put("q", "x y z");
    (void)test_lease(&a, 1);
    assert_int_equal(test_number("DEL " Q "running:%s " Q "sessions", a.sessions[0]), 2);
    assert_int_equal(test_lease(&a, 5), 0);
    assert_string_equal(a.gone, "1");
    assert_int_equal(test_number("ZCARD " Q "ready"), 2);
    assert_int_equal(test_lease(&b, 5), 2);
    assert_string_equal(b.gone, "");
    assert_int_equal(test_lease(&a, 5), 0);
    assert_string_equal(a.gone, ""); /* nothing to lease: nobody need know */
}

/* A thread that still thinks that the session has to begin must not begin it again while it is being reaped. */
static void a_session_under_reaping_does_not_begin_again(void **state)
{
    (void)state;
    test_put_many("q", 100, "x%03zu");
    (void)test_lease(&a, 98);
    reap_in_part(98);
    a.begun[0] = false;
    assert_int_equal(test_lease(&a, 1), 0);
    assert_string_equal(a.gone, "1");
    test_maintain_all("q");
    assert_int_equal(test_count("q", "ready"), 100);
    assert_int_equal(test_count("q", "running"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_lease_moves_the_task, set_up),
        cmocka_unit_test_setup(a_lease_takes_what_there_is, set_up),
        cmocka_unit_test_setup(a_full_batch_goes_through, set_up),
        cmocka_unit_test_setup(an_id_without_a_task_is_dropped, set_up),
        cmocka_unit_test_setup(a_malformed_task_is_leased_to_be_settled, set_up),
        cmocka_unit_test_setup(a_paused_queue_hands_nothing_out, set_up),
        cmocka_unit_test_setup(done, set_up),
        cmocka_unit_test_setup(done_with_a_result_of_any_bytes, set_up),
        cmocka_unit_test_setup(a_retry_waits_and_is_told, set_up),
        cmocka_unit_test_setup(fail_counts_or_not, set_up),
        cmocka_unit_test_setup(snooze_to_the_front_or_later, set_up),
        cmocka_unit_test_setup(a_delay_without_end, set_up),
        cmocka_unit_test_setup(what_is_given_back_keeps_its_priority, set_up),
        cmocka_unit_test_setup(all_outcomes_in_one_turn, set_up),
        cmocka_unit_test_setup(only_the_holder_settles, set_up),
        cmocka_unit_test_setup(late_is_not_too_late_before_the_reaper, set_up),
        cmocka_unit_test_setup(a_reaped_session_is_refused, set_up),
        cmocka_unit_test_setup(of_many_some_are_gone, set_up),
        cmocka_unit_test_setup(of_many_one_is_with_another, set_up),
        cmocka_unit_test_setup(only_the_lease_that_is_meant, set_up),
        cmocka_unit_test_setup(a_session_begins_once, set_up),
        cmocka_unit_test_setup(a_session_that_is_gone_leases_nothing, set_up),
        cmocka_unit_test_setup(a_session_under_reaping_does_not_begin_again, set_up),
    };
    return cmocka_run_group_tests_name("ct_turn", tests, test_place_start, test_place_stop);
}
