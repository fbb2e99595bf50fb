/* Tasks that must have begun by a time. */
#include <stdio.h>
#include <string.h>

#include "reeve/limits.h"
#include "support/script.h"
#include "support/worker.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    test_close_gate();
    return test_place_empty(state);
}

#define Q "reeve:{q}:"
#define HOUR 3600000

static void assert_expired(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_DEAD);
    assert_string_equal(info->error_kind, "expired");
    assert_string_equal(info->error_message, "not begun by its deadline");
    assert_int_equal(info->failures, 0);
    assert_int_equal(info->deadline_ms, -1);
    assert_true(info->failed_ms >= info->enqueued_ms);
    reeve_task_info_free(info);
    assert_int_equal(test_number("EXISTS " Q "deadlines"), 0);
}

static bool has_deadline(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    bool has = info->deadline_ms >= 0;
    reeve_task_info_free(info);
    assert_int_equal(test_number("EXISTS " Q "deadlines"), has);
    return has;
}

/* ---- tend ------------------------------------------------------------------------------------------------------ */

static void waiting_tasks_die(void **state)
{
    (void)state;
    reeve_limit_change change = {.of = REEVE_LIMIT_GROUPS, .concurrency = 1};
    test_ok(test_client, reeve_limit(test_client, "q", &change));
    test_put_spec((reeve_task_spec){.id = "first", .group = "g"});
    test_put_spec((reeve_task_spec){.id = "parked", .group = "g", .expires_in_ms = 1});
    assert_int_equal(test_lease(&hand, 2), 1);
    assert_string_equal(test_state("q", "parked"), "parked");
    test_put_spec((reeve_task_spec){.id = "ready", .deadline_ms = 1000, .unique = "k"});
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = HOUR, .deadline_ms = rv_wall_ms() + 1});
    test_put_spec((reeve_task_spec){.id = "not", .expires_in_ms = HOUR});
    TEST_AWAIT(strcmp(test_state("q", "parked"), "dead") == 0 || (test_maintain_all("q"), false));
    TEST_AWAIT(strcmp(test_state("q", "later"), "dead") == 0 || (test_maintain_all("q"), false));
    TEST_AWAIT(strcmp(test_state("q", "ready"), "dead") == 0 || (test_maintain_all("q"), false));
    assert_true(has_deadline("not"));
    test_ok(test_client, reeve_delete(test_client, "q", "not"));
    assert_expired("parked");
    assert_expired("ready");
    assert_expired("later");
    assert_int_equal(test_number("EXISTS " Q "unique:k " Q "parked " Q "parked:g"), 0);
    assert_int_equal(test_number("ZCARD " Q "failures:expired"), 3);
}

static void maintain_knows_when_to_come(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "x", .expires_in_ms = HOUR});
    test_maintained maintained = test_maintain("q", 200);
    assert_in_range(maintained.next_in_ms, HOUR - 60000, HOUR);
    assert_string_equal(test_state("q", "x"), "ready");
}

static void few_at_a_time(void **state)
{
    (void)state;
    for (int i = 0; i < 30; i++) test_put_spec((reeve_task_spec){.deadline_ms = 1});
    assert_true(test_maintain("q", 10).more);
    assert_int_equal(test_count("q", "dead"), 10);
    test_maintain_all("q");
    assert_int_equal(test_count("q", "dead"), 30);
}

/* ---- what has begun, or is gone -------------------------------------------------------------------------------- */

static void a_task_that_has_begun_is_not_held_to_it(void **state)
{
    (void)state;
    static const test_outcome outcomes[] = {
        TEST_RETRY("x", 0),
        TEST_RETRY("x", HOUR),
        {0, {.id = "x", .outcome = REEVE_OUTCOME_SNOOZE, .begun = true}},
        {0, {.id = "x", .outcome = REEVE_OUTCOME_SNOOZE, .begun = true, .delay_ms = HOUR}}};
    for (size_t i = 0; i < 4; i++) {
        test_put_spec((reeve_task_spec){.id = "x", .expires_in_ms = HOUR});
        assert_true(has_deadline("x"));
        (void)test_lease(&hand, 1);
        (void)test_turn(&hand, 0, &outcomes[i], 1);
        assert_false(has_deadline("x"));
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
    }
    test_put_spec((reeve_task_spec){.id = "x", .expires_in_ms = HOUR});
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_SNOOZE("x", 0)); /* given back without having begun */
    assert_true(has_deadline("x"));
    (void)test_lease(&hand, 1);
    test_expire(&hand);
    test_maintain_all("q");
    assert_false(has_deadline("x")); /* a crash is a beginning */
    assert_string_equal(test_state("q", "x"), "ready");
}

/* The worker dies while another task runs alone: this one waited for that to end. */
static void a_crash_of_the_task_that_ran_alone_leaves_the_deadlines_of_others(void **state)
{
    (void)state;
    test_put("q", "s");
    for (int crash = 0; crash < 2; crash++) {
        assert_int_equal(test_lease(&hand, 1), 1);
        test_expire(&hand);
        test_maintain_all("q");
        test_hand_init(&hand, "1", "q");
    }
    test_put_spec((reeve_task_spec){.id = "x", .expires_in_ms = HOUR});
    test_put_spec((reeve_task_spec){.id = "late", .deadline_ms = 1000});
    assert_int_equal(test_lease(&hand, 1), 1);
    test_hand other = hand;
    other.thread = "2";
    assert_int_equal(test_lease(&other, 2), 2);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "late"), "running");
    assert_true(test_says_it_runs(&hand, "alone"));
    test_expire(&hand);
    test_maintain_all("q");
    assert_true(has_deadline("x"));
    reeve_task_info *late = test_show("q", "late");
    assert_int_equal(late->state, REEVE_STATE_DEAD);
    assert_string_equal(late->error_kind, "expired");
    reeve_task_info_free(late);
    test_hand_init(&hand, "1", "q");
}

/* Its time was over while a thread had it that did not begin it. */
static void a_task_given_back_unbegun_is_held_to_it_still(void **state)
{
    (void)state;
    for (int64_t delay = 0; delay <= HOUR; delay += HOUR) {
        test_put_spec((reeve_task_spec){.id = "x", .deadline_ms = 1000});
        (void)test_lease(&hand, 1);
        test_maintain_all("q");
        assert_string_equal(test_state("q", "x"), "running");
        test_settle(&hand, TEST_SNOOZE("x", delay));
        test_ok(test_client, reeve_pause(test_client, "q"));
        test_maintain_all("q");
        assert_expired("x");
        test_ok(test_client, reeve_resume(test_client, "q"));
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
    }
}

static void the_envelope_stays_whole(void **state)
{
    (void)state;
    const char *payload = "{\"at\":1,\"deadline\":2,\"type\":\"no\"}";
    test_put_spec((reeve_task_spec){.id = "x",
                                    .expires_in_ms = HOUR,
                                    .priority = 3,
                                    .unique = "k",
                                    .unique_until_started = true,
                                    .payload = {payload, strlen(payload)}});
    (void)test_lease(&hand, 1);
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    assert_true(has_deadline("x"));
    test_settle(&hand, TEST_RETRY("x", 0));
    test_ok(test_client, reeve_retry(test_client, "q", "x"));
    assert_false(has_deadline("x"));
    test_ok(test_client, reeve_set_priority(test_client, "q", "x", 4));
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->priority, 4);
    assert_string_equal(info->type, "t");
    assert_string_equal(info->payload.data, payload);
    reeve_task_info_free(info);
}

static void nothing_is_left_of_what_ends(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "deleted", .expires_in_ms = HOUR});
    test_put_spec((reeve_task_spec){.id = "cancelled", .expires_in_ms = HOUR});
    test_put_spec((reeve_task_spec){.id = "replaced", .expires_in_ms = HOUR, .unique = "k"});
    assert_int_equal(test_number("ZCARD " Q "deadlines"), 3);
    test_ok(test_client, reeve_delete(test_client, "q", "deleted"));
    test_ok(test_client, reeve_cancel(test_client, "q", "cancelled"));
    test_put_spec((reeve_task_spec){.id = "new", .unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE});
    assert_int_equal(test_number("EXISTS " Q "deadlines"), 0);
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "done", .expires_in_ms = HOUR});
    test_put_spec((reeve_task_spec){.id = "failed", .type = "act", .payload = {"fail", 4}, .expires_in_ms = HOUR});
    TEST_AWAIT_STATE("done", "completed");
    TEST_AWAIT_STATE("failed", "dead");
    assert_int_equal(test_number("EXISTS " Q "deadlines"), 0);
    test_worker_end(worker);
}

/* ---- workers --------------------------------------------------------------------------------------------------- */

static void a_worker_sees_to_it(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "long", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_put_spec((reeve_task_spec){.id = "x", .expires_in_ms = 50});
    TEST_AWAIT_STATE("x", "dead"); /* while the only thread is busy */
    assert_expired("x");
    assert_int_equal(test_ran, 0);
    test_open_gate();
    test_worker_end(worker);
}

/* Nobody tends the queue, and a turn comes first: it is not run all the same. */
static void leased_too_late_it_is_not_run(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_spec((reeve_task_spec){.id = id, .deadline_ms = 1 + i % 2 * (rv_wall_ms() + HOUR)});
    }
    (void)test_cmd(test_conn, "DEL " Q "deadlines");
    reeve_worker *worker = test_worker_run(2, 0);
    TEST_AWAIT(test_count("q", "dead") == 10 && test_count("q", "completed") == 10);
    for (int i = 0; i < 20; i++) assert_int_equal(test_runs[i], i % 2);
    assert_expired("n0");
    assert_int_equal(test_worker_stats(worker).failed, 0);
    test_ok(test_client, reeve_retry(test_client, "q", "n0")); /* by hand: without a deadline */
    TEST_AWAIT_STATE("n0", "completed");
    test_worker_end(worker);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static void what_makes_no_sense(void **state)
{
    (void)state;
    static const struct {
        reeve_task_spec spec;
        const char *words;
    } table[] = {
        {{.deadline_ms = -1}, "negative"},
        {{.expires_in_ms = -1}, "negative"},
        {{.deadline_ms = 5, .expires_in_ms = 5}, "not both"},
        {{.deadline_ms = 5, .at_ms = 5}, "never run"},
        {{.expires_in_ms = 5, .in_ms = 6}, "never run"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        reeve_task_spec spec = table[i].spec;
        spec.queue = "q";
        spec.type = "t";
        test_refused(test_client, reeve_enqueue(test_client, &spec, NULL), REEVE_EINVAL, table[i].words);
    }
}

/* Times that no header can have are the nearest that it can: the task is not malformed from its birth. */
static void a_deadline_out_of_range_is_the_nearest_one(void **state)
{
    (void)state;
    static const char far[] = "{\"deadline\":9223372036854774784}", rest[] = "\"type\":\"t\"}\n{}";
    assert_string_equal(TEST_SCRIPT(enqueue, "reeve:{q}:", "0", "past", "{\"deadline\":-5}", rest), "[1]");
    if (!strstr(TEST_WORDS("HGET", "reeve:{q}:tasks", "past"), "\"deadline\":0,")) fail_msg("it has another");
    test_maintain_all("q");
    assert_string_equal(test_state("q", "past"), "dead");
    assert_int_equal(test_number("EXISTS reeve:{q}:failures:malformed"), 0);

    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    (void)TEST_SCRIPT(turn, "reeve:{q}:", "1", "0", "0", "", "1", hand.sessions[0], "", "0", "2", "chain", "a", "q/far",
                      far, rest, "done", "a", "", "", "");
    if (!strstr(TEST_WORDS("HGET", "reeve:{q}:tasks", "far"), "\"deadline\":9007199254740991,"))
        fail_msg("it has another");
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_int_equal(hand.bad, 0);
    assert_string_equal(test_leased_ids(&hand), "far");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waiting_tasks_die, set_up),
        cmocka_unit_test_setup(maintain_knows_when_to_come, set_up),
        cmocka_unit_test_setup(few_at_a_time, set_up),
        cmocka_unit_test_setup(a_task_that_has_begun_is_not_held_to_it, set_up),
        cmocka_unit_test_setup(a_crash_of_the_task_that_ran_alone_leaves_the_deadlines_of_others, set_up),
        cmocka_unit_test_setup(a_task_given_back_unbegun_is_held_to_it_still, set_up),
        cmocka_unit_test_setup(the_envelope_stays_whole, set_up),
        cmocka_unit_test_setup(nothing_is_left_of_what_ends, set_up),
        cmocka_unit_test_setup(a_worker_sees_to_it, set_up),
        cmocka_unit_test_setup(leased_too_late_it_is_not_run, set_up),
        cmocka_unit_test_setup(what_makes_no_sense, set_up),
        cmocka_unit_test_setup(a_deadline_out_of_range_is_the_nearest_one, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_deadline", tests, test_place_start, test_place_stop);
}
