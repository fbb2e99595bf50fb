/* Tasks that are changed by hand: their leases end, they die, they run again. */
#include "reeve/change.h"

#include <string.h>

#include "protocol/regain_call.h"
#include "protocol/scripts.h"
#include "reeve/dead.h"
#include "reeve/limits.h"
#include "support/clock.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand hand, other;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    test_hand_init(&other, "1", "q");
    hand.session_ms = other.session_ms = 1000000;
    test_clock_set(1700000000000);
    return test_place_empty(state);
}

static void lease_one(test_hand *by, const char *id)
{
    assert_int_equal(test_lease(by, 1), 1);
    assert_string_equal(by->leased[0].id, id);
}

/* ---- expire ---------------------------------------------------------------------------------------------------- */

static void an_expired_lease_refuses_its_outcome_and_the_task_is_next(void **state)
{
    (void)state;
    test_put("q", "a b");
    lease_one(&hand, "a");
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    assert_string_equal(test_state("q", "a"), "ready");
    lease_one(&other, "a");
    assert_int_equal(other.leased[0].failures, 0);
    assert_int_equal(other.leased[0].crashes, 0);
    test_settle(&hand, TEST_DONE("a"));
    assert_string_equal(hand.refused, "a");
    assert_string_equal(test_state("q", "a"), "running");
    test_settle(&other, TEST_DONE("a"));
    assert_string_equal(other.refused, "");
    assert_string_equal(test_state("q", "a"), "completed");
}

/* What a worker says when none of its threads has an outcome of the lease. */
static void let_go(test_hand *by, const char *id)
{
    const rv_reply *reply;
    rv_regain_call_build(test_conn, &by->prefixes[0], by->sessions[0], 1);
    rv_regain_call_add(test_conn, &(rv_lease){.id = id, .since_ms = 1}, "1");
    assert_int_equal(rv_conn_call(test_conn, test_patience(), &reply), REEVE_OK);
}

static bool is_put_off(const char *id)
{
    return test_lease(&hand, 2) == 0 && strcmp(test_state("q", id), "scheduled") == 0;
}

/* The outcome that is on its way names the session, not the lease. */
static void an_outcome_on_its_way_does_not_settle_a_later_lease(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        test_put("q", "a");
        lease_one(&hand, "a");
        if (fails) test_ok(test_client, reeve_fail(test_client, "q", "a", "odd", "enough"));
        if (fails) test_ok(test_client, reeve_retry(test_client, "q", "a"));
        if (!fails) test_ok(test_client, reeve_expire(test_client, "q", "a"));
        assert_true(is_put_off("a"));
        test_settle(&hand, TEST_DONE("a"));
        assert_string_equal(hand.refused, "a");
        let_go(&other, "a");
        test_clock_advance(1000);
        test_maintain_all("q");
        assert_true(is_put_off("a"));
        let_go(&hand, "a");
        test_clock_advance(1000);
        test_maintain_all("q");
        lease_one(&hand, "a");
        test_settle(&hand, TEST_DONE("a"));
        assert_string_equal(hand.refused, "");
        test_ok(test_client, reeve_delete(test_client, "q", "a"));
    }
}

/* It has no such outcome, or was cut off when it was told. */
static void a_worker_that_says_nothing_leases_the_task_after_a_minute(void **state)
{
    (void)state;
    test_put("q", "a");
    lease_one(&hand, "a");
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    test_clock_advance(60001);
    assert_true(is_put_off("a"));
    test_clock_advance(1000);
    test_maintain_all("q");
    lease_one(&hand, "a");
}

static void only_a_running_task_has_a_lease_that_expires(void **state)
{
    (void)state;
    test_put("q", "a");
    test_refused(test_client, reeve_expire(test_client, "q", "a"), REEVE_ESTATE, "it is ready");
    test_refused(test_client, reeve_expire(test_client, "q", "b"), REEVE_ENOTFOUND, "q/b");
    test_refused(test_client, reeve_expire(test_client, "q", ""), REEVE_EINVAL, "");
}

static void an_expired_lease_leaves_its_place_under_a_limit(void **state)
{
    (void)state;
    const reeve_limit_change limit = {.concurrency = 1};
    test_ok(test_client, reeve_limit(test_client, "q", &limit));
    test_put("q", "a b");
    lease_one(&hand, "a");
    assert_int_equal(test_lease(&other, 1), 0);
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    lease_one(&other, "a");
    assert_int_equal(test_number("HGET " Q "limit_state running"), 1);
}

static void a_cancelled_task_ends_when_its_lease_expires(void **state)
{
    (void)state;
    test_put("q", "a");
    lease_one(&hand, "a");
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    assert_string_equal(test_state("q", "a"), "cancelled");
}

static void its_history_says_whose_lease_expired(void **state)
{
    (void)state;
    test_put("q", "a");
    lease_one(&hand, "a");
    (void)test_cmd(test_conn, "HSET " Q "running:%s # {\"worker\":\"w7\"}", hand.sessions[0]);
    test_ok(test_client, reeve_expire(test_client, "q", "a"));
    reeve_task_info *info = test_show("q", "a");
    assert_non_null(strstr(info->history, "\"what\":\"lease_expired\",\"worker\":\"w7\""));
    reeve_task_info_free(info);
}

/* ---- fail ------------------------------------------------------------------------------------------------------ */

static void expect_dead(const char *id, const char *kind, const char *message)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_DEAD);
    assert_string_equal(info->error_kind, kind);
    assert_string_equal(info->error_message, message);
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
}

static void waiting_tasks_die_by_hand(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/a"};
    test_put("q", "a x y z");
    test_put_spec((reeve_task_spec){.id = "s", .in_ms = 60000, .unique = "k"});
    test_put_spec((reeve_task_spec){.id = "c", .after = &parent, .after_count = 1});
    test_ok(test_client, reeve_fail(test_client, "q", "s", "odd", "no use"));
    test_ok(test_client, reeve_fail(test_client, "q", "y", "odd", NULL));
    test_ok(test_client, reeve_fail(test_client, "q", "c", "odd", "nobody waits"));
    expect_dead("s", "odd", "no use");
    expect_dead("y", "odd", "");
    expect_dead("c", "odd", "nobody waits");
    test_put_spec((reeve_task_spec){.id = "t", .unique = "k"}); /* the key is free */
    assert_int_equal(test_number("ZCARD " Q "failures:odd"), 3);
    assert_int_equal(test_number("EXISTS " Q "children:a"), 0);
    test_refused(test_client, reeve_fail(test_client, "q", "s", "odd", ""), REEVE_ESTATE, "it is dead");
    test_refused(test_client, reeve_fail(test_client, "q", "n", "odd", ""), REEVE_ENOTFOUND, "q/n");
    test_refused(test_client, reeve_fail(test_client, "q", "a", "", ""), REEVE_EINVAL, "kind");
}

static void a_running_task_dies_by_hand_and_its_outcome_is_refused(void **state)
{
    (void)state;
    test_put("q", "a");
    lease_one(&hand, "a");
    test_ok(test_client, reeve_fail(test_client, "q", "a", "odd", "enough"));
    expect_dead("a", "odd", "enough");
    test_settle(&hand, TEST_DONE("a"));
    assert_string_equal(hand.refused, "a");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    lease_one(&other, "a");
}

static void children_hear_that_a_task_died_by_hand(void **state)
{
    (void)state;
    const reeve_parent fails = {.handle = "q/a"}, goes = {.handle = "q/a", .on_death = REEVE_PARENT_GO};
    test_put("q", "a");
    test_put_spec((reeve_task_spec){.id = "f", .after = &fails, .after_count = 1});
    test_put_spec((reeve_task_spec){.id = "g", .after = &goes, .after_count = 1});
    test_ok(test_client, reeve_fail(test_client, "q", "a", "odd", ""));
    assert_string_equal(test_state("q", "f"), "dead");
    assert_string_equal(test_state("q", "g"), "ready");
}

/* ---- again ----------------------------------------------------------------------------------------------------- */

static void a_completed_task_runs_again_where_that_is_asked_for(void **state)
{
    (void)state;
    test_put("q", "a b");
    lease_one(&hand, "a");
    test_settle(&hand, TEST_RESULT("a", "old"));
    lease_one(&hand, "b");
    test_settle(&hand, TEST_RESULT("b", "kept"));
    test_refused(test_client, reeve_retry(test_client, "q", "a"), REEVE_ESTATE, "it is completed");
    test_ok(test_client, reeve_retry_completed(test_client, "q", "a"));
    lease_one(&hand, "a");
    test_settle(&hand, TEST_DONE("a"));
    reeve_task_info *again = test_show("q", "a"), *beside = test_show("q", "b");
    assert_int_equal(again->state, REEVE_STATE_COMPLETED);
    assert_int_equal(again->result.length, 0);
    assert_int_equal(beside->result.length, 4);
    reeve_task_info_free(again);
    reeve_task_info_free(beside);
}

static void a_completed_task_whose_result_may_be_read_does_not_run_again(void **state)
{
    (void)state;
    const reeve_parent parent = {.handle = "q/a"};
    test_put("q", "a");
    test_put_spec((reeve_task_spec){.id = "c", .after = &parent, .after_count = 1});
    lease_one(&hand, "a");
    test_settle(&hand, TEST_RESULT("a", "r"));
    test_refused(test_client, reeve_retry_completed(test_client, "q", "a"), REEVE_ESTATE, "may read it");
    lease_one(&hand, "c");
    test_settle(&hand, {0, {.id = "c", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    test_ok(test_client, reeve_retry_completed(test_client, "q", "a"));
}

static void completed_tasks_run_again_in_bulk(void **state)
{
    (void)state;
    const reeve_filter filter = {.state = REEVE_STATE_COMPLETED};
    reeve_bulk_result done;
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 2), 2);
    test_settle(&hand, TEST_DONE("a"), TEST_RESULT("b", "x"));
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &filter, NULL, NULL, &done));
    assert_int_equal(done.done, 2);
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(test_number("EXISTS " Q "results " Q "completed_extra"), 0);
}

/* ---- reasons, lines and keys ------------------------------------------------------------------------------------ */

static void a_cancel_has_a_reason(void **state)
{
    (void)state;
    bool running;
    test_put("q", "a b");
    test_put_spec((reeve_task_spec){.id = "s", .in_ms = 60000, .unique = "k"});
    lease_one(&hand, "a");
    test_ok(test_client, reeve_cancel_with_reason(test_client, "q", "a", "too \"late\"/\xc3\xa4", false, &running));
    assert_true(running);
    test_ok(test_client, reeve_cancel_with_reason(test_client, "q", "s", "old", false, &running));
    assert_false(running);
    test_refused(test_client, reeve_cancel_with_reason(test_client, "q", "s", "x", false, NULL), REEVE_ESTATE,
                 "cancelled");
    test_settle(&hand, TEST_SNOOZE("a", 5));
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->state, REEVE_STATE_CANCELLED);
    assert_string_equal(info->cancel_reason, "too \"late\"/\xc3\xa4");
    reeve_task_info_free(info);
    info = test_show("q", "s");
    assert_string_equal(info->cancel_reason, "old");
    assert_non_null(strstr(info->history, "\"what\":\"cancelled\",\"message\":\"old\""));
    reeve_task_info_free(info);
    test_refused(test_client, reeve_cancel_with_reason(test_client, "q", "b", "two\nlines", false, NULL), REEVE_EINVAL,
                 "line");
    assert_string_equal(test_state("q", "b"), "ready");
}

static void lines_are_added_to_the_log_by_hand(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_ok(test_client, reeve_add_log(test_client, "q", "b", "one"));
    test_ok(test_client, reeve_add_log(test_client, "q", "b", "two"));
    lease_one(&hand, "a");
    test_refused(test_client, reeve_add_log(test_client, "q", "a", "x"), REEVE_ESTATE, "it is running");
    test_settle(&hand, TEST_DONE("a"));
    test_ok(test_client, reeve_add_log(test_client, "q", "a", "three"));
    reeve_task_info *info = test_show("q", "b");
    assert_int_equal(info->log_count, 2);
    assert_string_equal(info->log[1].text, "two");
    reeve_task_info_free(info);
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    assert_int_equal(test_number("EXISTS " Q "info:a " Q "completed_extra"), 0);
    test_refused(test_client, reeve_add_log(test_client, "q", "n", "x"), REEVE_ENOTFOUND, "q/n");
}

static void a_unique_key_is_freed_by_hand(void **state)
{
    (void)state;
    char holder[REEVE_ID_MAX];
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k"});
    test_ok(test_client, reeve_unlock(test_client, "q", "k", holder));
    assert_string_equal(holder, "a");
    test_refused(test_client, reeve_unlock(test_client, "q", "k", NULL), REEVE_ENOTFOUND, "\"k\"");
    test_put_spec((reeve_task_spec){.id = "b", .unique = "k"});
    reeve_task_info *info = test_show("q", "a");
    assert_null(info->unique);
    reeve_task_info_free(info);
    lease_one(&hand, "a");
    test_settle(&hand, {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .unique = true}});
    assert_string_equal(test_cmd(test_conn, "GET " Q "unique:k"), "b"); /* it is that of b by now */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_expired_lease_refuses_its_outcome_and_the_task_is_next, set_up),
        cmocka_unit_test_setup(an_outcome_on_its_way_does_not_settle_a_later_lease, set_up),
        cmocka_unit_test_setup(a_worker_that_says_nothing_leases_the_task_after_a_minute, set_up),
        cmocka_unit_test_setup(only_a_running_task_has_a_lease_that_expires, set_up),
        cmocka_unit_test_setup(an_expired_lease_leaves_its_place_under_a_limit, set_up),
        cmocka_unit_test_setup(a_cancelled_task_ends_when_its_lease_expires, set_up),
        cmocka_unit_test_setup(its_history_says_whose_lease_expired, set_up),
        cmocka_unit_test_setup(waiting_tasks_die_by_hand, set_up),
        cmocka_unit_test_setup(a_running_task_dies_by_hand_and_its_outcome_is_refused, set_up),
        cmocka_unit_test_setup(children_hear_that_a_task_died_by_hand, set_up),
        cmocka_unit_test_setup(a_completed_task_runs_again_where_that_is_asked_for, set_up),
        cmocka_unit_test_setup(a_completed_task_whose_result_may_be_read_does_not_run_again, set_up),
        cmocka_unit_test_setup(completed_tasks_run_again_in_bulk, set_up),
        cmocka_unit_test_setup(a_cancel_has_a_reason, set_up),
        cmocka_unit_test_setup(lines_are_added_to_the_log_by_hand, set_up),
        cmocka_unit_test_setup(a_unique_key_is_freed_by_hand, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
