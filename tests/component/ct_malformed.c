/* Tasks whose envelopes nobody understands, among others: no other task is lost or stuck. */
#include <stdio.h>
#include <string.h>

#include "protocol/end_session_call.h"
#include "protocol/heartbeat_call.h"
#include "reeve/dead.h"
#include "support/depend.h"
#include "support/foreign.h"
#include "support/limits.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* One of each kind, in a set of q, with scores from `first` on, one apart: "m00", "m01", ... */
static void put_malformed(const char *set, double first)
{
    for (size_t i = 0; i < test_malformed_count; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "m%02zu", i);
        test_foreign("q", set, first + (double)i, id, test_malformed[i]);
    }
}

static void leave(void)
{
    uint64_t back = 0;
    const rv_reply *reply;
    for (bool more = true; more;) {
        rv_end_session_call_build(test_conn, &hand.prefixes[0], hand.sessions[0], 200);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_true(rv_end_session_call_read(reply, &back, &more));
    }
}

/* All of them came to the dead letters, alone, and say why. */
static void expect_buried(void)
{
    test_maintain_all("q");
    for (size_t i = 0; i < test_malformed_count; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "m%02zu", i);
        if (strcmp(test_state("q", id), "dead") != 0)
            fail_msg("%s is %s: %s", id, test_state("q", id), test_malformed[i]);
        reeve_task_info *info = test_show("q", id);
        assert_string_equal(info->error_kind, "malformed");
        assert_non_null(info->error_message);
        reeve_task_info_free(info);
    }
    assert_int_equal(test_count("q", "dead"), test_malformed_count);
    assert_int_equal(test_number("HGET " Q "counters dead"), test_malformed_count);
    assert_int_equal(test_number("ZCARD " Q "failures:malformed"), test_malformed_count);
}

#define SCORE 1099511628032.0 /* of the first task in an empty queue */

static void due_neighbours_become_ready(void **state)
{
    (void)state;
    put_malformed("scheduled", 1);
    test_foreign("q", "scheduled", 0, "first", "{\"at\":1,\"type\":\"t\"}\n");
    test_foreign("q", "scheduled", 1000, "last", "{\"at\":1,\"type\":\"t\"}\n");
    expect_buried();
    assert_string_equal(test_state("q", "first"), "ready");
    assert_string_equal(test_state("q", "last"), "ready");
}

static void neighbours_of_a_reaped_session_come_back(void **state)
{
    (void)state;
    put_malformed("ready", SCORE - 100);
    test_put("q", "x y");
    (void)test_lease(&hand, 100);
    assert_string_equal(test_state("q", "y"), "running");
    test_expire(&hand);
    expect_buried();
    assert_string_equal(test_state("q", "x"), "ready");
    assert_string_equal(test_state("q", "y"), "ready");
}

static void neighbours_of_a_session_that_leaves_come_back(void **state)
{
    (void)state;
    put_malformed("ready", SCORE - 100);
    test_put("q", "x y");
    (void)test_lease(&hand, 100);
    leave();
    expect_buried();
    assert_string_equal(test_state("q", "x"), "ready");
    assert_string_equal(test_state("q", "y"), "ready");
    assert_int_equal(test_count("q", "running"), 0);
}

static void neighbours_under_limits_of_groups_are_leased(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    put_malformed("ready", SCORE - 100);
    test_put_in("x y", "g", 0);
    assert_in_range(test_lease(&hand, 100), 1, test_malformed_count + 1);
    assert_string_equal(test_state("q", "x"), "running");
    assert_string_equal(test_state("q", "y"), "parked");
    test_expire(&hand);
    expect_buried();
}

static void neighbours_are_swept(void **state)
{
    (void)state;
    reeve_bulk_result swept = {0};
    put_malformed("ready", SCORE - 100);
    test_put("q", "x y");
    const reeve_filter filter = {.state = REEVE_STATE_READY, .type = "t"};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &filter, NULL, NULL, &swept));
    assert_in_range(swept.done, 2, test_malformed_count);
    assert_string_equal(test_state("q", "x"), "");
    assert_string_equal(test_state("q", "y"), "");
}

/* ---- ids ------------------------------------------------------------------------------------------------------- */

#define GOOD "{\"at\":1,\"type\":\"t\"}\n"
static const char *const bad_ids[] = {"#", "#flushed", "+5", "a b", "a\nb", "", "\"", "a/b", "\xc3\xa4"};
#define BAD_IDS (sizeof(bad_ids) / sizeof(bad_ids[0]))

static void expect_ids_buried(void)
{
    test_expire(&hand);
    test_maintain_all("q");
    assert_int_equal(test_count("q", "dead"), BAD_IDS);
    assert_int_equal(test_number("ZCARD " Q "failures:malformed"), BAD_IDS);
    assert_string_equal(test_state("q", "x"), "ready");
    assert_string_equal(test_state("q", "y"), "ready");
}

static void ids_that_are_none_harm_no_session(void **state)
{
    (void)state;
    for (size_t i = 0; i < BAD_IDS; i++) test_foreign("q", "ready", SCORE - 50 + (double)i, bad_ids[i], GOOD);
    test_put("q", "x y");
    for (size_t i = 0; i < BAD_IDS; i++) (void)test_lease(&hand, 100);
    assert_string_equal(test_state("q", "x"), "running");
    assert_string_equal(test_state("q", "y"), "running");
    rv_heartbeat_reply heartbeat;
    const rv_reply *reply;
    rv_heartbeat_call_build(test_conn, &hand.prefixes[0], hand.sessions[0], 60000);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_heartbeat_call_read(&heartbeat, reply) && heartbeat.alive);
    expect_ids_buried();
}

static void ids_that_are_none_under_limits_of_groups(void **state)
{
    (void)state;
    test_limit_groups(1, NULL);
    for (size_t i = 0; i < BAD_IDS; i++) test_foreign("q", "ready", SCORE - 50 + (double)i, bad_ids[i], GOOD);
    test_put("q", "x y");
    (void)test_lease(&hand, 100);
    assert_string_equal(test_state("q", "x"), "running");
    assert_string_equal(test_state("q", "y"), "running");
    expect_ids_buried();
}

/* ---- what people do to them ------------------------------------------------------------------------------------ */

static void a_malformed_task_can_be_seen_and_deleted(void **state)
{
    (void)state;
    test_foreign("q", "scheduled", 1, "m", "no JSON\npayload");
    test_maintain_all("q");
    reeve_task_info *info = test_show("q", "m");
    assert_string_equal(info->type, "?");
    assert_int_equal(info->payload.length, 15);
    assert_memory_equal(info->payload.data, "no JSON\npayload", 15);
    assert_string_equal(info->error_message, "its header is not a JSON object");
    reeve_task_info_free(info);
    test_refused(test_client, reeve_retry(test_client, "q", "m"), REEVE_ESTATE, "cannot retry q/m: it is malformed");
    assert_string_equal(test_state("q", "m"), "dead");
    test_ok(test_client, reeve_delete(test_client, "q", "m"));
    assert_string_equal(test_state("q", "m"), "");
    assert_int_equal(test_number("EXISTS " Q "failures " Q "failures:malformed " Q "info:m"), 0);
}

static void a_waiting_one_is_not_moved_but_cancelled(void **state)
{
    (void)state;
    test_foreign("q", "scheduled", 9e15, "m", test_malformed[3]);
    test_refused(test_client, reeve_reschedule_in(test_client, "q", "m", 1000), REEVE_ESTATE, "it is malformed");
    test_refused(test_client, reeve_set_priority(test_client, "q", "m", 1), REEVE_ESTATE, "it is malformed");
    test_refused(test_client, reeve_retry(test_client, "q", "m"), REEVE_ESTATE, "it is malformed");
    assert_string_equal(test_state("q", "m"), "scheduled");
    test_ok(test_client, reeve_cancel(test_client, "q", "m"));
    assert_string_equal(test_state("q", "m"), "cancelled");
}

static void all_of_the_kind_are_swept(void **state)
{
    (void)state;
    reeve_bulk_result swept;
    reeve_filter filter = {.state = REEVE_STATE_DEAD, .kind = "malformed"};
    put_malformed("scheduled", 1);
    test_maintain_all("q");
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_RETRY, &filter, NULL, NULL, &swept));
    assert_int_equal(swept.done, 0);
    assert_int_equal(swept.refused, test_malformed_count);
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &filter, NULL, NULL, &swept));
    assert_int_equal(swept.done, test_malformed_count);
    assert_int_equal(test_number("EXISTS " Q "tasks " Q "dead " Q "failures"), 0);
}

static void its_death_is_told_as_the_queue_wants(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "HSET " Q "settings on_dead mourn");
    test_foreign("q", "scheduled", 1, "\"m", "no JSON\npayload");
    test_maintain_all("q");
    assert_int_equal(test_lease(&hand, 9), 1);
    assert_int_equal(hand.bad, 0);
    (void)test_cmd(test_conn, "HSET " Q "settings on_dead a\"b");
    test_foreign("q", "scheduled", 1, "n", "no JSON\npayload");
    test_maintain_all("q");
    assert_int_equal(test_lease(&hand, 9), 0);
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static void children_that_are_malformed_hold_up_no_others(void **state)
{
    (void)state;
    test_put("q", "p");
    test_put_after("q", "first", "f:q/p");
    for (size_t i = 0; i < test_malformed_count; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "m%02zu", i);
        test_put_after("q", id, "f:q/p");
        test_foreign("q", "blocked", 1, id, test_malformed[i]);
    }
    test_put_after("q", "last", "f:q/p");
    test_complete("q", "p");
    expect_buried();
    assert_string_equal(test_state("q", "first"), "ready");
    assert_string_equal(test_state("q", "last"), "ready");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(due_neighbours_become_ready, set_up),
        cmocka_unit_test_setup(neighbours_of_a_reaped_session_come_back, set_up),
        cmocka_unit_test_setup(neighbours_of_a_session_that_leaves_come_back, set_up),
        cmocka_unit_test_setup(neighbours_under_limits_of_groups_are_leased, set_up),
        cmocka_unit_test_setup(neighbours_are_swept, set_up),
        cmocka_unit_test_setup(ids_that_are_none_harm_no_session, set_up),
        cmocka_unit_test_setup(ids_that_are_none_under_limits_of_groups, set_up),
        cmocka_unit_test_setup(a_malformed_task_can_be_seen_and_deleted, set_up),
        cmocka_unit_test_setup(a_waiting_one_is_not_moved_but_cancelled, set_up),
        cmocka_unit_test_setup(all_of_the_kind_are_swept, set_up),
        cmocka_unit_test_setup(its_death_is_told_as_the_queue_wants, set_up),
        cmocka_unit_test_setup(children_that_are_malformed_hold_up_no_others, set_up),
    };
    return cmocka_run_group_tests_name("ct_malformed", tests, test_place_start, test_place_stop);
}
