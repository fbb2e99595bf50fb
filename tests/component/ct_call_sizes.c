/* What one call does at most, so that Redis soon serves others: of large envelopes few, and of tasks with many tags. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/dead.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"
#define LARGE ((size_t)1024 * 1024)

static void put_large(size_t count, int64_t in_ms)
{
    char *payload = calloc(1, LARGE);
    assert_non_null(payload);
    for (size_t i = 0; i < count; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%zu", i);
        test_put_spec((reeve_task_spec){.id = id, .payload = {payload, LARGE}, .in_ms = in_ms});
    }
    free(payload);
}

/* ---- large envelopes ------------------------------------------------------------------------------------------- */

static void bulk_commands_take_one_at_a_time(void **state)
{
    (void)state;
    put_large(3, 0);
    const char *said = strrchr(TEST_SCRIPT(bulk_look, Q, "ready", "", "1000", "", "", "", "0"), '[');
    assert_string_equal(said, "[x0]]"); /* those that are meant */
    (void)TEST_SCRIPT(bulk_update, Q, "cancel", "ready", "", "1000", "", "", "", "0");
    assert_int_equal(test_count("q", "cancelled"), 1);
    reeve_bulk_result result;
    const reeve_filter filter = {.state = REEVE_STATE_READY};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_CANCEL, &filter, NULL, NULL, &result));
    assert_int_equal(result.done, 2);
}

static void maintenance_promotes_one_at_a_time(void **state)
{
    (void)state;
    put_large(3, 1);
    for (int i = 1; i <= 3; i++) {
        TEST_AWAIT((TEST_SCRIPT(maintain, Q, "1000", "15000"), test_number("ZCARD " Q "ready") == i));
        assert_int_equal(test_number("ZCARD " Q "scheduled"), 3 - i);
    }
}

static void tasks_of_a_dead_session_come_back_one_at_a_time(void **state)
{
    test_hand hand;
    (void)state;
    test_hand_begin(&hand, "t1", "q");
    put_large(3, 0);
    assert_int_equal(test_lease(&hand, 3), 3);
    test_expire(&hand);
    for (int i = 1; i <= 3; i++) {
        (void)TEST_SCRIPT(reap, Q, "1000", "15000");
        assert_int_equal(test_number("ZCARD " Q "ready"), i);
    }
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

static void a_page_of_large_ones_is_short(void **state)
{
    (void)state;
    reeve_task_info **page;
    size_t count;
    put_large(5, 0);
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_READY, 0, 1000, &page, &count, NULL));
    assert_true(count >= 1 && count <= 3);
    reeve_task_list_free(page, count);
}

/* ---- many tags ------------------------------------------------------------------------------------------------- */

enum { COUNT = 100, TAGS = 64 };
static char ids[COUNT][16], parents[COUNT][16], tags[TAGS][16];
static const char *tag_list[TAGS];
static reeve_task_spec specs[COUNT];
static reeve_parent after[COUNT];
static reeve_enqueued results[COUNT];

static void make_tagged(void)
{
    for (size_t i = 0; i < TAGS; i++) {
        (void)snprintf(tags[i], sizeof(tags[i]), "tag%zu", i);
        tag_list[i] = tags[i];
    }
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "n%zu", i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i], .tags = tag_list, .tag_count = TAGS};
    }
}

static long calls_made(void)
{
    const char *stats = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    return stats == NULL ? 0 : atol(strchr(stats, '=') + 1);
}

static void tasks_with_many_tags_come_in_several_calls(void **state)
{
    (void)state;
    make_tagged();
    (void)test_cmd(test_conn, "CONFIG RESETSTAT");
    test_ok(test_client, reeve_enqueue_many(test_client, specs, COUNT, results));
    long calls = calls_made();
    if (calls < COUNT * TAGS / 500) fail_msg("%ld calls", calls);
    assert_int_equal(test_count("q", "ready"), COUNT);
}

/* A parent may come behind its child. */
static void children_come_together_with_their_parents(void **state)
{
    (void)state;
    make_tagged();
    for (size_t i = 0; i + 1 < COUNT; i++) {
        (void)snprintf(parents[i], sizeof(parents[i]), "q/n%zu", i + 1);
        after[i] = (reeve_parent){.handle = parents[i]};
        specs[i].after = &after[i];
        specs[i].after_count = 1;
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, COUNT, results));
    assert_int_equal(test_count("q", "blocked"), COUNT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(bulk_commands_take_one_at_a_time, test_place_empty),
        cmocka_unit_test_setup(maintenance_promotes_one_at_a_time, test_place_empty),
        cmocka_unit_test_setup(tasks_of_a_dead_session_come_back_one_at_a_time, test_place_empty),
        cmocka_unit_test_setup(a_page_of_large_ones_is_short, test_place_empty),
        cmocka_unit_test_setup(tasks_with_many_tags_come_in_several_calls, test_place_empty),
        cmocka_unit_test_setup(children_come_together_with_their_parents, test_place_empty),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
