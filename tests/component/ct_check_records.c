/* reeve check, of what tasks leave and ask for: results, indexes, readers, unique keys, tags, deadlines, numbers. */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/depend.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    int failed = test_place_empty(state);
    test_hand_begin(&hand, "1", "q");
    return failed;
}

static void is_repaired(const char *findings)
{
    test_check_finds("q", findings);
    test_check_repairs("q", findings);
}

/* ---- results --------------------------------------------------------------------------------------------------- */

static void results_of_nothing_go(void **state)
{
    (void)state;
    test_put("q", "a");
    test_lease(&hand, 1);
    test_settle(&hand, TEST_RESULT("a", "r"));
    test_cmd(test_conn, "HSET " Q "results ghost x +77 y");
    test_cmd(test_conn, "ZADD " Q "result_blocks 78 78");
    is_repaired("result_block 78, result_stale +77, result_stale ghost");
    assert_string_equal(test_cmd(test_conn, "HKEYS " Q "results"), "[a]");
}

static void bytes_of_results_are_counted_again(void **state)
{
    (void)state;
    const int64_t bytes = 1000;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed_bytes = &bytes}));
    test_maintain_all("q");
    test_put("q", "a b c");
    test_lease(&hand, 3);
    test_settle(&hand, TEST_RESULT("a", "r"), TEST_RESULT("b", "rr"), TEST_RESULT("c", "rrr"));
    test_maintain_all("q");
    test_check_finds("q", "");
    test_cmd(test_conn, "HSET " Q "result_sizes a 5 ghost 9");
    test_cmd(test_conn, "HDEL " Q "result_sizes b");
    test_check_repairs("q", "result_size a, result_size b, result_size ghost, result_sum ");
    test_cmd(test_conn, "HSET " Q "result_sizes # 99");
    is_repaired("result_sum ");
    assert_int_equal(test_number("HGET " Q "result_sizes #"), 6);
}

/* ---- indexes of ended tasks ------------------------------------------------------------------------------------ */

static void dead_tasks_are_found_by_their_kind(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_lease(&hand, 2);
    test_settle(&hand, TEST_FAIL("a"), TEST_FAIL("b"));
    test_cmd(test_conn, "DEL " Q "failures:k");
    test_check_finds("q", "failure_kind k, failure_missing a, failure_missing b");
    test_check_repairs("q", "failure_missing a, failure_missing b");
    test_cmd(test_conn, "HDEL " Q "info:a kind");
    is_repaired("failure_missing a, failure_stray a failures:k");
    test_cmd(test_conn, "ZADD " Q "failures:z 5 ghost");
    is_repaired("failure_stray ghost failures:z");
    test_cmd(test_conn, "ZADD " Q "failures 5 y");
    is_repaired("failure_kind y");
    assert_int_equal(test_number("ZCARD " Q "failures"), 2);
}

static void further_keys_of_completed_tasks_are_known(void **state)
{
    (void)state;
    test_put("q", "a");
    test_lease(&hand, 1);
    test_settle(&hand, TEST_DONE("a"));
    test_cmd(test_conn, "HSET " Q "info:a progress 5");
    test_cmd(test_conn, "SADD " Q "completed_extra ghost");
    is_repaired("extra_missing a, extra_stale ghost");
}

static void records_are_kept_for_readers_only(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_complete("q", "a");
    test_check_finds("q", "");
    test_cmd(test_conn, "ZADD " Q "readers:a 0 q/ghost 0 #77");
    is_repaired("reader_stray #77 readers:a, reader_stray q/ghost readers:a");
    test_cmd(test_conn, "SREM " Q "read a");
    test_cmd(test_conn, "SADD " Q "read ghost");
    is_repaired("read_stale ghost, readers_unlisted a");
    test_cmd(test_conn, "HDEL " Q "settings reads");
    is_repaired("reads_uncounted b");
    test_check_drains("q", 1);
}

static void a_record_without_readers_is_not_kept(void **state)
{
    const reeve_keep nothing = {.count = 0, .age_ms = 0};
    (void)state;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &nothing}));
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_complete("q", "a");
    assert_int_equal(test_number("ZCARD " Q "retained"), 1);
    test_cmd(test_conn, "SREM " Q "read a");
    test_check_repairs("q", "readers_unlisted a");
    test_cmd(test_conn, "DEL " Q "readers:a " Q "read");
    is_repaired("retained_unread a");
    assert_int_equal(test_number("EXISTS " Q "retained"), 0);
    test_check_drains("q", 1);
}

static void a_record_is_kept_for_its_own_time(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .keep_ms = 3600000});
    test_put_spec((reeve_task_spec){.id = "b", .keep_ms = 3600000});
    test_lease(&hand, 2);
    test_settle(&hand, TEST_KEPT("a"), TEST_KEPT("b"));
    test_check_finds("q", "");
    test_cmd(test_conn, "ZREM " Q "readers:a @");
    test_cmd(test_conn, "ZADD " Q "keep_until 5 ghost");
    test_check_finds("q", "keep_stale a, keep_stale ghost, read_stale a");
    test_check_repairs("q", "keep_stale a, keep_stale ghost, read_stale a");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "keep_until 0 -1"), "[a b]");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "readers:a 0 -1"), "[@]");
    test_cmd(test_conn, "ZREM " Q "keep_until b");
    is_repaired("reader_stray @ readers:b");
    assert_int_equal(test_number("EXISTS " Q "readers:b"), 0);
}

/* ---- options of tasks ------------------------------------------------------------------------------------------ */

static void unique_keys_are_held_by_their_tasks(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k"});
    test_put_spec((reeve_task_spec){.id = "b", .unique = "l"});
    test_check_finds("q", "");
    test_cmd(test_conn, "DEL " Q "unique:k");
    test_cmd(test_conn, "SET " Q "unique:l ghost");
    test_cmd(test_conn, "SET " Q "unique:m ghost");
    test_check_finds("q", "unique_missing a, unique_missing b, unique_stale l, unique_stale m");
    test_check_repairs("q", "unique_missing a, unique_missing b, unique_stale l, unique_stale m");
    assert_string_equal(test_cmd(test_conn, "MGET " Q "unique:k " Q "unique:l " Q "unique:m"), "[a b (nil)]");
}

static void tags_lead_to_their_tasks(void **state)
{
    static const char *const tags[] = {"red", "blue sky"};
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .tags = tags, .tag_count = 2});
    TEST_WORDS("DEL", Q "tag:blue sky");
    test_check_finds("q", "tag_index blue sky, tag_missing a");
    test_check_repairs_kind("q", "tag_missing");
    test_cmd(test_conn, "DEL " Q "tags");
    is_repaired("tag_index blue sky, tag_index red");
    test_cmd(test_conn, "ZADD " Q "tags 5 green");
    is_repaired("tag_index green");
    test_check_drains("q", 1);
}

static void deadlines_are_kept(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .expires_in_ms = 3600000});
    test_cmd(test_conn, "DEL " Q "deadlines");
    test_cmd(test_conn, "ZADD " Q "deadlines 9000000000000 ghost");
    is_repaired("deadline_missing a, deadline_stale ghost");
    assert_string_equal(test_cmd(test_conn, "ZRANGE " Q "deadlines 0 -1"), "[a]");
}

static void envelopes_tell_what_there_is(void **state)
{
    static char large[100000];
    (void)state;
    memset(large, 'x', sizeof(large));
    test_put_spec((reeve_task_spec){.id = "a", .payload = {large, sizeof(large)}});
    test_put("q", "b");
    test_cmd(test_conn, "HDEL " Q "settings large");
    test_cmd(test_conn, "HSET " Q "info:b failures 1");
    is_repaired("large_unset a, mark_missing b");
}

/* ---- numbers and settings -------------------------------------------------------------------------------------- */

static void counters_are_at_least_the_records(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_lease(&hand, 2);
    test_settle(&hand, TEST_DONE("a"), TEST_FAIL("b"));
    test_cmd(test_conn, "DEL " Q "counters");
    is_repaired("counter completed, counter dead");
    test_cmd(test_conn, "HSET " Q "counters failed x crashed -5");
    is_repaired("counter crashed, counter failed");
    assert_string_equal(test_cmd(test_conn, "HMGET " Q "counters completed dead failed crashed"), "[1 1 0 0]");
}

static void new_tasks_come_last(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_spec((reeve_task_spec){.id = "c", .priority = -3});
    test_cmd(test_conn, "DEL " Q "sequence");
    is_repaired("sequence ");
    test_put("q", "d");
    test_lease(&hand, 4);
    assert_string_equal(test_leased_ids(&hand), "c a b d");
}

static void settings_for_other_scripts_are_there(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .group = "g"});
    test_put_after("q", "b", "f:q/a");
    test_cmd(test_conn, "HDEL " Q "sequence groups");
    test_cmd(test_conn, "HDEL " Q "settings waiters");
    test_cmd(test_conn, "LPUSH " Q "wake 1 1");
    is_repaired("sequence_flag groups, waiters_unset , wake_tokens ");
    test_check_drains("q", 2);
}

static void entries_that_are_gone_are_not_due(void **state)
{
    (void)state;
    test_cmd(test_conn, "ZADD " Q "cron:due 5 ghost");
    test_cmd(test_conn, "HSET " Q "cron:last other x");
    is_repaired("cron_stale ghost, cron_stale other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(results_of_nothing_go, set_up),
        cmocka_unit_test_setup(bytes_of_results_are_counted_again, set_up),
        cmocka_unit_test_setup(dead_tasks_are_found_by_their_kind, set_up),
        cmocka_unit_test_setup(further_keys_of_completed_tasks_are_known, set_up),
        cmocka_unit_test_setup(records_are_kept_for_readers_only, set_up),
        cmocka_unit_test_setup(a_record_is_kept_for_its_own_time, set_up),
        cmocka_unit_test_setup(a_record_without_readers_is_not_kept, set_up),
        cmocka_unit_test_setup(unique_keys_are_held_by_their_tasks, set_up),
        cmocka_unit_test_setup(tags_lead_to_their_tasks, set_up),
        cmocka_unit_test_setup(deadlines_are_kept, set_up),
        cmocka_unit_test_setup(envelopes_tell_what_there_is, set_up),
        cmocka_unit_test_setup(counters_are_at_least_the_records, set_up),
        cmocka_unit_test_setup(new_tasks_come_last, set_up),
        cmocka_unit_test_setup(settings_for_other_scripts_are_there, set_up),
        cmocka_unit_test_setup(entries_that_are_gone_are_not_due, set_up),
    };
    return cmocka_run_group_tests_name("ct_check_records", tests, test_place_start, test_place_stop);
}
