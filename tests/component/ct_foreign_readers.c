/* What another program wrote to keys of reeve, as calls that only read meet it: one such value hides nothing but what
 * it replaced, and is not taken for a setting. */
#include <stdio.h>
#include <string.h>

#include "reeve/cron.h"
#include "reeve/dead.h"
#include "reeve/limits.h"
#include "reeve/tags.h"
#include "reeve/why.h"
#include "support/bulk_update.h"

#define Q "reeve:{q}:"

static void put_dead(void)
{
    const char *tag = "t";
    test_put_ended((reeve_task_spec){.id = "a"}, REEVE_STATE_DEAD, "boom");
    test_put_ended((reeve_task_spec){.id = "b"}, REEVE_STATE_DEAD, "bang");
    test_put_spec((reeve_task_spec){.id = "tagged", .tags = &tag, .tag_count = 1});
}

static void expect_dead(size_t expected)
{
    reeve_task_info **tasks;
    size_t count;
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_DEAD, 0, 10, &tasks, &count, NULL));
    assert_int_equal(count, expected);
    reeve_task_list_free(tasks, count);
}

static uint64_t dead_of_kind(const char *kind)
{
    reeve_failure *kinds;
    size_t count;
    uint64_t found = 0;
    test_ok(test_client, reeve_failures(test_client, "q", 0, 10, &kinds, &count, NULL));
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kinds[i].kind, kind) == 0) found = kinds[i].count;
    reeve_failures_free(kinds);
    return found;
}

static void a_foreign_key_hides_only_what_it_replaced(void **state)
{
    static const char *const keys[] = {"info:a", "failures:boom", "tag:t", "parents:a", "reads:a", "children:a"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        reeve_task_info *info;
        reeve_tag *tags;
        reeve_why *why;
        size_t count;
        (void)test_bulk_update_begin(state);
        put_dead();
        assert_string_equal(test_cmd(test_conn, "SET " Q "%s x", keys[i]), "OK");
        expect_dead(2);
        assert_int_equal(dead_of_kind("bang"), 1);
        assert_int_equal(dead_of_kind("boom"), strcmp(keys[i], "failures:boom") == 0 ? 0 : 1);
        test_ok(test_client, reeve_show(test_client, "q", "a", &info));
        reeve_task_info_free(info);
        test_ok(test_client, reeve_task_why(test_client, "q", "a", &why));
        reeve_why_free(why);
        test_ok(test_client, reeve_tags(test_client, "q", 0, 10, &tags, &count, NULL));
        assert_int_equal(count, 1);
        reeve_tags_free(tags);
    }
}

static void a_kind_without_tasks_stops_no_list(void **state)
{
    (void)state;
    put_dead();
    assert_int_equal(test_number("DEL " Q "failures:boom"), 1);
    assert_int_equal(dead_of_kind("boom"), 0);
    assert_int_equal(dead_of_kind("bang"), 1);
}

static void malformed_edges_are_shown_or_left_out(void **state)
{
    static const char *const edges[] = {"", "f", "f-x", "z-1 1", "\xff", "f-1e400"};
    (void)state;
    test_put("q", "x");
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        const rv_reply *reply;
        char handle[16];
        (void)snprintf(handle, sizeof(handle), "q/p%zu", i);
        rv_cmd(test_conn, 6);
        rv_args(test_conn, "HSET");
        rv_args(test_conn, Q "parents:x");
        rv_args(test_conn, handle);
        rv_args(test_conn, edges[i]);
        rv_args(test_conn, i == 0 ? "\"" : "no handle");
        rv_args(test_conn, "f-1 1");
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    }
    reeve_task_info *info = test_show("q", "x");
    assert_int_equal(info->parent_count, sizeof(edges) / sizeof(edges[0]) + 2);
    reeve_task_info_free(info);
}

static void a_foreign_name_of_a_queue_stops_no_list_of_entries(void **state)
{
    reeve_cron_info *entries;
    size_t count;
    const reeve_task_spec task = {.queue = "q", .type = "t"};
    const reeve_cron_entry entry = {.name = "e", .spec = "@daily", .task = &task};
    (void)state;
    test_ok(test_client, reeve_cron_set(test_client, &entry, NULL));
    assert_int_equal(test_number("SADD reeve:queues no{queue} %%"), 2);
    test_ok(test_client, reeve_cron_list(test_client, NULL, &entries, &count));
    assert_int_equal(count, 1);
    reeve_cron_free(entries, count);
}

static void expect_lease(const char *id)
{
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put("q", id);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE(id));
}

static void a_foreign_time_is_no_pause(void **state)
{
    static const char *const times[] = {"inf", "1e308", "99999999999999999999", "nan", "x", ""};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        const rv_reply *reply;
        (void)test_place_empty(state);
        rv_cmd(test_conn, 6);
        rv_args(test_conn, "HSET");
        rv_args(test_conn, Q "settings");
        rv_args(test_conn, "paused_until");
        rv_args(test_conn, times[i]);
        rv_args(test_conn, "in_force");
        rv_args(test_conn, "q");
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        expect_lease("a");
        /* A pause by hand replaces it, although it would not shorten one. */
        test_ok(test_client, reeve_pause_for(test_client, "q", NULL, 60000, NULL));
        reeve_why *why;
        test_put("q", "b");
        test_ok(test_client, reeve_task_why(test_client, "q", "b", &why));
        assert_int_equal(why->reasons[0].kind, REEVE_REASON_PAUSED_FOR);
        reeve_why_free(why);
    }
}

static void a_foreign_clock_of_a_rate_shuts_no_queue(void **state)
{
    static const char *const clocks[] = {"nan", "-nan", "inf", "1e308", "x"};
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        const reeve_rate rate = {.count = 10};
        (void)test_place_empty(state);
        test_ok(test_client, reeve_limit(test_client, "q", &(reeve_limit_change){.rate = &rate}));
        (void)test_cmd(test_conn, "HSET " Q "limit_state tat %s", clocks[i]);
        expect_lease("a");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_foreign_key_hides_only_what_it_replaced, test_bulk_update_begin),
        cmocka_unit_test_setup(a_kind_without_tasks_stops_no_list, test_bulk_update_begin),
        cmocka_unit_test_setup(malformed_edges_are_shown_or_left_out, test_place_empty),
        cmocka_unit_test_setup(a_foreign_name_of_a_queue_stops_no_list_of_entries, test_place_empty),
        cmocka_unit_test_setup(a_foreign_time_is_no_pause, test_place_empty),
        cmocka_unit_test_setup(a_foreign_clock_of_a_rate_shuts_no_queue, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_foreign_readers", tests, test_place_start, test_place_stop);
}
