/* reeve check: each way in which data of a queue can disagree is found, told in words and repaired; nothing else is. */
#include <stdio.h>
#include <string.h>

#include "reeve/check.h"
#include "support/check.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* ---- states ---------------------------------------------------------------------------------------------------- */

static void nothing_is_found_in_a_healthy_queue(void **state)
{
    (void)state;
    test_put_many("q", 300, "a%03zu");
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = 60000});
    test_lease(&hand, 3);
    test_settle(&hand, TEST_DONE("a000"), TEST_RETRY("a001", 1000), TEST_FAIL("a002"));
    test_lease(&hand, 2);
    test_check_finds("q", "");
}

static void a_task_in_no_state_runs_again(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_cmd(test_conn, "ZREM " Q "ready a");
    test_check_finds("q", "task_lost a");
    test_check_repairs("q", "task_lost a");
    test_check_drains("q", 2);
}

static void a_task_in_no_state_returns_to_the_state_that_its_data_show(void **state)
{
    (void)state;
    test_put("q", "a b c d");
    test_put_spec((reeve_task_spec){.id = "once", .at_most_once = true});
    test_lease(&hand, 3);
    test_settle(&hand, TEST_RESULT("a", "r"), TEST_FAIL("b"));
    test_ok(test_client, reeve_cancel(test_client, "q", "d"));
    test_cmd(test_conn, "DEL " Q "completed " Q "dead " Q "cancelled " Q "ready " Q "failures " Q "failures:k");
    test_check_repairs("q", "task_lost a, task_lost b, task_lost d, task_lost once");
    assert_string_equal(test_state("q", "a"), "completed");
    assert_string_equal(test_state("q", "b"), "dead");
    assert_string_equal(test_state("q", "c"), "running");
    assert_string_equal(test_state("q", "d"), "cancelled");
    assert_string_equal(test_state("q", "once"), "dead");
}

static void a_task_in_two_states_stays_in_the_safe_one(void **state)
{
    (void)state;
    test_put("q", "a b c d");
    test_lease(&hand, 2);
    test_settle(&hand, TEST_DONE("b"));
    test_cmd(test_conn, "ZADD " Q "ready 1099511627776 a 1099511627776 b");
    test_cmd(test_conn, "ZADD " Q "scheduled 1 c");
    test_check_finds("q", "task_twice a, task_twice b, task_twice c");
    test_check_repairs("q", "task_twice a, task_twice b, task_twice c");
    assert_string_equal(test_state("q", "a"), "running");
    assert_string_equal(test_state("q", "b"), "completed");
    assert_string_equal(test_state("q", "c"), "scheduled");
    test_settle(&hand, TEST_DONE("a"));
    test_check_drains("q", 2);
}

static void of_two_leases_the_newer_one_stays(void **state)
{
    (void)state;
    test_put("q", "a");
    test_lease(&hand, 1);
    test_cmd(test_conn, "ZADD " Q "sessions 9000000000000 0123456789abcdef-00000001");
    test_cmd(test_conn, "HSET " Q "running:0123456789abcdef-00000001 # {}");
    TEST_WORDS("HSET", Q "running:0123456789abcdef-00000001", "a", "17 1");
    test_check_repairs("q", "task_twice a");
    test_settle(&hand, TEST_DONE("a"));
    assert_string_equal(hand.refused, "");
}

static void ids_without_tasks_leave_each_state(void **state)
{
    static const char *const sets[][2] = {{"ready", ""},
                                          {"scheduled", ""},
                                          {"parked", ""},
                                          {"blocked", ""},
                                          {"dead", "counter dead, "},
                                          {"completed", "counter completed, "},
                                          {"cancelled", ""},
                                          {"retained", "counter completed, "}};
    (void)state;
    test_put("q", "a");
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        test_cmd(test_conn, "ZADD " Q "%s 1099511627776 ghost", sets[i][0]);
        char words[96];
        size_t length = (size_t)snprintf(words, sizeof(words), "%s", sets[i][1]);
        (void)snprintf(words + length, sizeof(words) - length, "state_without_task %s ghost", sets[i][0]);
        test_check_finds("q", words);
        test_check_repairs("q", words + length);
    }
    test_check_drains("q", 1);
}

static void a_lease_without_a_task_goes(void **state)
{
    (void)state;
    char words[128];
    test_hand_begin(&hand, "1", "q");
    TEST_WORDS("HSET", test_check_key("running", hand.sessions[0]), "ghost", "17 1");
    (void)snprintf(words, sizeof(words), "state_without_task running:%s ghost", hand.sessions[0]);
    test_check_repairs("q", words);
}

static void a_malformed_lease_goes(void **state)
{
    (void)state;
    char words[128];
    test_put("q", "a");
    test_lease(&hand, 1);
    TEST_WORDS("HSET", test_check_key("running", hand.sessions[0]), "a", "x");
    (void)snprintf(words, sizeof(words), "lease_malformed running:%s a", hand.sessions[0]);
    test_check_finds("q", words);
    test_check_repairs("q", words);
    test_check_drains("q", 1);
}

/* ---- segments -------------------------------------------------------------------------------------------------- */

static void lost_segments_are_put_last(void **state)
{
    (void)state;
    test_put_many("q", 10, "a%03zu");
    assert_int_equal(test_number("SCARD " Q "segments"), 1);
    test_cmd(test_conn, "DEL " Q "ready");
    test_check_finds_kind("q", "segment_lost");
    test_check_repairs_kind("q", "segment_lost");
    test_check_drains("q", 10);
}

static void empty_segments_go_and_unlisted_ones_are_listed(void **state)
{
    (void)state;
    test_put_many("q", 10, "a%03zu");
    test_cmd(test_conn, "ZADD " Q "ready 5 +77");
    test_cmd(test_conn, "SADD " Q "segments 78");
    test_check_repairs("q", "segment_empty 77, segment_empty 78");
    test_cmd(test_conn, "DEL " Q "segments");
    test_check_repairs_kind("q", "segment_unlisted");
    test_check_drains("q", 10);
}

static void ids_without_tasks_leave_segments(void **state)
{
    (void)state;
    test_put_many("q", 10, "a%03zu");
    test_cmd(test_conn, "HDEL " Q "tasks a004");
    test_check_repairs_kind("q", "segment_without_task");
    test_check_drains("q", 9);
}

/* ---- sessions -------------------------------------------------------------------------------------------------- */

static void a_session_that_is_not_listed_is_listed_again(void **state)
{
    (void)state;
    test_put("q", "a");
    test_lease(&hand, 1);
    test_cmd(test_conn, "DEL " Q "sessions");
    test_check_repairs_kind("q", "session_unlisted");
    test_expire(&hand);
    test_check_drains("q", 1);
}

static void a_session_without_a_hash_goes(void **state)
{
    (void)state;
    test_cmd(test_conn, "ZADD " Q "sessions 9000000000000 0123456789abcdef-00000001");
    test_check_repairs("q", "session_empty 0123456789abcdef-00000001");
}

static void keys_of_sessions_that_are_gone_are_freed(void **state)
{
    (void)state;
    TEST_WORDS("HSET", Q "lost:0123456789abcdef-00000001", "a", "17 1");
    TEST_WORDS("HSET", Q "once:0123456789abcdef-00000002", "b", "key");
    TEST_WORDS("SET", Q "unique:key", "b", "EX", "1000");
    TEST_WORDS("RPUSH", Q "hand:0123456789abcdef-00000003:1", "");
    TEST_WORDS("SADD", Q "woken:0123456789abcdef-00000003", "0123456789abcdef-00000003:1");
    test_put("q", "a");
    test_cmd(test_conn, "ZREM " Q "ready a");
    test_check_repairs_kind("q", "session_unlisted");
    test_maintain_all("q");
    assert_int_equal(test_number("EXISTS " Q "unique:key " Q "sessions " Q "lost:0123456789abcdef-00000001"), 0);
    test_check_drains("q", 1);
}

/* ---- keys ------------------------------------------------------------------------------------------------------ */

static void keys_of_another_type_go(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_cmd(test_conn, "SET " Q "ready x");
    test_check_finds("q", "key_type ready");
    test_check_repairs("q", "key_type ready, task_lost a, task_lost b");
    TEST_WORDS("SET", Q "segment:77", "x");
    test_check_repairs("q", "key_type segment:77");
    test_check_drains("q", 2);
}

static void keys_of_tasks_that_are_gone_go(void **state)
{
    (void)state;
    test_cmd(test_conn, "HSET " Q "info:ghost failures 1");
    test_cmd(test_conn, "HSET " Q "parents:ghost q/a f-0");
    test_cmd(test_conn, "ZADD " Q "reads:ghost 0 q/a");
    test_cmd(test_conn, "ZADD " Q "readers:ghost 0 q/a");
    test_check_repairs("q", "key_without_task info:ghost, key_without_task parents:ghost, "
                            "key_without_task readers:ghost, key_without_task reads:ghost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_found_in_a_healthy_queue, set_up),
        cmocka_unit_test_setup(a_task_in_no_state_runs_again, set_up),
        cmocka_unit_test_setup(a_task_in_no_state_returns_to_the_state_that_its_data_show, set_up),
        cmocka_unit_test_setup(a_task_in_two_states_stays_in_the_safe_one, set_up),
        cmocka_unit_test_setup(of_two_leases_the_newer_one_stays, set_up),
        cmocka_unit_test_setup(ids_without_tasks_leave_each_state, set_up),
        cmocka_unit_test_setup(a_lease_without_a_task_goes, set_up),
        cmocka_unit_test_setup(a_malformed_lease_goes, set_up),
        cmocka_unit_test_setup(lost_segments_are_put_last, set_up),
        cmocka_unit_test_setup(empty_segments_go_and_unlisted_ones_are_listed, set_up),
        cmocka_unit_test_setup(ids_without_tasks_leave_segments, set_up),
        cmocka_unit_test_setup(a_session_that_is_not_listed_is_listed_again, set_up),
        cmocka_unit_test_setup(a_session_without_a_hash_goes, set_up),
        cmocka_unit_test_setup(keys_of_sessions_that_are_gone_are_freed, set_up),
        cmocka_unit_test_setup(keys_of_another_type_go, set_up),
        cmocka_unit_test_setup(keys_of_tasks_that_are_gone_go, set_up),
    };
    return cmocka_run_group_tests_name("ct_check", tests, test_place_start, test_place_stop);
}
