/* A search by a filter: what each of its fields selects, in which order, and how far a call looks. */
#include <stdio.h>
#include <string.h>

#include "reeve/dead.h"
#include "reeve/search.h"
#include "support/bulk_update.h"
#include "support/clock.h"

#define Q "reeve:{q}:"
#define NOW 1900000000000

/* The ids of all that a filter selects, parted by blanks, in their order, gathered in pages of `limit`. */
static const char *found_by(reeve_filter filter, size_t limit)
{
    static char ids[4000];
    char cursor[REEVE_CURSOR_MAX] = "";
    size_t at = 0;
    ids[0] = '\0';
    do {
        reeve_task_info **page;
        size_t count;
        test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, limit, &page, &count, NULL));
        assert_true(count <= limit);
        for (size_t i = 0; i < count; i++)
            at += (size_t)snprintf(ids + at, sizeof(ids) - at, "%s%s", at > 0 ? " " : "", page[i]->id);
        reeve_task_list_free(page, count);
    } while (cursor[0] != '\0');
    return ids;
}

static void selects(reeve_filter filter, const char *ids)
{
    assert_string_equal(found_by(filter, 1000), ids);
    assert_string_equal(found_by(filter, 1), ids);
}

static void put_with(const char *id, reeve_task_spec spec)
{
    spec.id = id;
    test_put_spec(spec);
}

static void by_each_field(void **state)
{
    (void)state;
    static const reeve_meta red[] = {{"color", "red"}, {"size", "9"}}, blue[] = {{"color", "blue"}};
    put_with("a-1", (reeve_task_spec){.type = "mail", .group = "g", .meta = red, .meta_count = 2});
    put_with("a-2", (reeve_task_spec){.type = "mail", .meta = blue, .meta_count = 1, .payload = {"x\nyzw", 5}});
    put_with("b-1", (reeve_task_spec){.type = "sms", .group = "h", .payload = {"{\"type\":\"mail\"}", 15}});
    put_with("b-2", (reeve_task_spec){.type = "sms", .tags = (const char *const[]){"vip"}, .tag_count = 1});
#define READY(...) ((reeve_filter){.state = REEVE_STATE_READY, __VA_ARGS__})
    selects(READY(.limit = 0), "a-1 a-2 b-1 b-2");
    selects(READY(.type = "mail"), "a-1 a-2");
    selects(READY(.tag = "vip"), "b-2");
    selects(READY(.group = "h"), "b-1");
    selects(READY(.id_prefix = "b-"), "b-1 b-2");
    selects(READY(.id_prefix = "-"), "");
    selects(READY(.payload_has = "zw"), "a-2");
    selects(READY(.payload_has = "mail"), "b-1"); /* not where it is the type */
    selects(READY(.meta = red, .meta_count = 1), "a-1");
    selects(READY(.meta = red, .meta_count = 2), "a-1");
    selects(READY(.meta = &(reeve_meta){"color", "re"}, .meta_count = 1), "");
    selects(READY(.type = "mail", .group = "h"), "");
    selects(READY(.worker = "0123456789abcdef"), "");
    selects(READY(.ended_from_ms = 1), "");
    selects(READY(.due_to_ms = INT64_MAX), "");
    selects(READY(.kind = "k"), "");
    selects(READY(.failed = REEVE_FAILED_NO, .type = "sms"), "b-1 b-2");
}

static void by_times(void **state)
{
    (void)state;
    put_with("s1", (reeve_task_spec){.in_ms = 1000});
    put_with("s2", (reeve_task_spec){.in_ms = 2000});
    test_clock_set(NOW + 500);
    put_with("s3", (reeve_task_spec){.in_ms = 2500});
#define LATER(...) ((reeve_filter){.state = REEVE_STATE_SCHEDULED, __VA_ARGS__})
    selects(LATER(.due_from_ms = NOW + 2000), "s2 s3");
    selects(LATER(.due_from_ms = NOW + 1000, .due_to_ms = NOW + 3000), "s1 s2");
    selects(LATER(.enqueued_to_ms = NOW + 500), "s1 s2");
    selects(LATER(.enqueued_from_ms = NOW + 500), "s3");
    selects(LATER(.older_ms = 500), "s1 s2");
    test_clock_set(NOW);
}

static void ended_ones_newest_first(void **state)
{
    (void)state;
    static const char *const ids[] = {"d1", "d2", "d3", "d4"};
    for (int i = 0; i < 4; i++) {
        test_clock_set(NOW + i / 2 * 1000);
        test_put_ended((reeve_task_spec){.id = ids[i]}, REEVE_STATE_DEAD, i == 1 ? "io" : "net");
    }
#define DEAD(...) ((reeve_filter){.state = REEVE_STATE_DEAD, __VA_ARGS__})
    selects(DEAD(.limit = 0), "d4 d3 d2 d1");
    selects(DEAD(.kind = "net"), "d4 d3 d1");
    selects(DEAD(.ended_to_ms = NOW + 1000), "d2 d1");
    selects(DEAD(.ended_from_ms = NOW + 1000), "d4 d3");
    selects(DEAD(.failed = REEVE_FAILED_YES), "d4 d3 d2 d1");
    selects(DEAD(.failed = REEVE_FAILED_NO), "");
    test_clock_set(NOW);
}

/* What ends while a search goes on is not in it, and does not move its place; what goes is not missed by it. */
static void while_others_end(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        char id[8];
        test_clock_set(NOW + i);
        (void)snprintf(id, sizeof(id), "d%d", i);
        test_put_ended((reeve_task_spec){.id = id}, REEVE_STATE_DEAD, "k");
    }
    const reeve_filter filter = {.state = REEVE_STATE_DEAD};
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_task_info **page;
    size_t count;
    uint64_t seen;
    test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, 2, &page, &count, &seen));
    assert_int_equal(count, 2);
    assert_int_equal(seen, 2);
    assert_string_equal(page[1]->id, "d2");
    reeve_task_list_free(page, count);
    test_put_ended((reeve_task_spec){.id = "new"}, REEVE_STATE_DEAD, "k");
    test_ok(test_client, reeve_delete(test_client, "q", "d2"));
    test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, 9, &page, &count, &seen));
    assert_int_equal(count, 2);
    assert_string_equal(page[0]->id, "d1");
    assert_string_equal(page[1]->id, "d0");
    assert_string_equal(cursor, "");
    reeve_task_list_free(page, count);
    test_clock_set(NOW);
}

static void retries_apart_from_scheduled(void **state)
{
    (void)state;
    put_with("later", (reeve_task_spec){.in_ms = 60000});
    test_put("q", "again snoozed");
    assert_int_equal(test_lease(&test_bulk_update_hand, 2), 2);
    test_settle(&test_bulk_update_hand, TEST_RETRY("again", 1000));
    test_settle(&test_bulk_update_hand, TEST_SNOOZE("snoozed", 2000));
    selects(LATER(.failed = REEVE_FAILED_YES), "again");
    selects(LATER(.failed = REEVE_FAILED_NO), "snoozed later");
    selects(LATER(.kind = "k"), "again");
    selects(LATER(.kind = "other"), "");
}

static void running_ones(void **state)
{
    (void)state;
    static char many[100][8];
    char all[1000] = "";
    test_put_many("q", 100, "r%02zu");
    assert_int_equal(test_lease(&test_bulk_update_hand, 100), 100);
    for (int i = 0; i < 100; i++) (void)snprintf(many[i], sizeof(many[i]), "r%02d", i);
    const reeve_filter filter = {.state = REEVE_STATE_RUNNING};
    rv_copy_text(all, sizeof(all), found_by(filter, 7));
    for (int i = 0; i < 100; i++) assert_non_null(strstr(all, many[i]));
    assert_int_equal(strlen(all), 100 * 4 - 1);
    selects((reeve_filter){.state = REEVE_STATE_RUNNING, .worker = "by_hand", .id_prefix = "r42"}, "r42");
    selects((reeve_filter){.state = REEVE_STATE_RUNNING, .worker = "0000000000000000"}, "");
}

/* Segments stand in `ready` as one member. */
static void in_segments(void **state)
{
    (void)state;
    test_put_many("q", 300, "a%03zu");
    test_put_many("q", 300, "b%03zu");
    long long segments = test_number("SCARD " Q "segments");
    assert_true(segments > 0);
    assert_string_equal(found_by(READY(.id_prefix = "b29"), 3), "b290 b291 b292 b293 b294 b295 b296 b297 b298 b299");
    assert_string_equal(found_by(READY(.id_prefix = "a00"), 1000), "a000 a001 a002 a003 a004 a005 a006 a007 a008 a009");
    assert_int_equal(test_number("SCARD " Q "segments"), segments);
}

static void with_parents(void **state)
{
    (void)state;
    put_with("p", (reeve_task_spec){.in_ms = 1000});
    put_with("c", (reeve_task_spec){.after = &(reeve_parent){.handle = "q/p"}, .after_count = 1});
    reeve_filter filter = {.state = REEVE_STATE_BLOCKED};
    for (int i = 0; i < 2; i++) {
        char cursor[REEVE_CURSOR_MAX] = "";
        reeve_task_info **page;
        size_t count;
        filter.parents = i == 1;
        test_ok(test_client, reeve_find(test_client, "q", &filter, cursor, 10, &page, &count, NULL));
        assert_int_equal(count, 1);
        assert_int_equal(page[0]->parent_count, i == 1 ? 1 : -1);
        if (i == 1) assert_non_null(strstr(page[0]->parents, "\"handle\":\"q/p\""));
        reeve_task_list_free(page, count);
    }
}

/* ---- the same filter in bulk operations ------------------------------------------------------------------------- */

static void bulk_with_a_limit(void **state)
{
    (void)state;
    reeve_bulk_result found;
    test_put_many("q", 500, "r%03zu");
    const reeve_filter some = READY(.id_prefix = "r1", .limit = 30);
    test_ok(test_client, reeve_bulk_update_preview(test_client, "q", REEVE_ACTION_CANCEL, &some, &found, NULL, NULL));
    assert_int_equal(found.done, 30);
    assert_true(found.seen >= 130 && found.seen < 500);
    test_bulk_update(REEVE_ACTION_CANCEL, some, 30);
    test_states_are("ready:470 cancelled:30");
    test_bulk_update(REEVE_ACTION_CANCEL, READY(.id_prefix = "r1", .limit = 71), 70);
    test_bulk_update(REEVE_ACTION_DELETE, READY(.payload_has = "nothing has this"), 0);
    test_states_are("ready:400 cancelled:100");
}

static void bulk_of_retries_only(void **state)
{
    (void)state;
    put_with("later", (reeve_task_spec){.in_ms = 60000});
    test_put("q", "again");
    assert_int_equal(test_lease(&test_bulk_update_hand, 1), 1);
    test_settle(&test_bulk_update_hand, TEST_RETRY("again", 1000));
    test_bulk_update(REEVE_ACTION_RETRY, LATER(.failed = REEVE_FAILED_YES), 1);
    assert_string_equal(test_state("q", "later"), "scheduled");
}

/* ---- asked wrongly ---------------------------------------------------------------------------------------------- */

static void misuse(void **state)
{
    (void)state;
    static const struct {
        reeve_filter filter;
        const char *words;
    } bad[] = {{{.state = REEVE_STATE_DEAD, .group = ""}, "group is empty"},
               {{.state = REEVE_STATE_DEAD, .payload_has = ""}, "payload is empty"},
               {{.state = REEVE_STATE_DEAD, .meta_count = 1}, "metadata"},
               {{.state = REEVE_STATE_DEAD, .meta_count = 9}, "at most 8"},
               {{.state = REEVE_STATE_DEAD, .due_to_ms = -1}, "must not be negative"},
               {{.state = REEVE_STATE_DEAD, .failed = (reeve_filter_failed)3}, "failed"},
               {{.state = (reeve_state)99}, "no such state"}};
    char cursor[REEVE_CURSOR_MAX] = "";
    reeve_task_info **page;
    size_t count;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        test_refused(test_client, reeve_find(test_client, "q", &bad[i].filter, cursor, 9, &page, &count, NULL),
                     REEVE_EINVAL, bad[i].words);
    const reeve_filter good = {.state = REEVE_STATE_DEAD};
    test_refused(test_client, reeve_find(test_client, "q", &good, cursor, 0, &page, &count, NULL), REEVE_EINVAL,
                 "a page has");
    (void)snprintf(cursor, sizeof(cursor), "mangled");
    test_refused(test_client, reeve_find(test_client, "q", &good, cursor, 9, &page, &count, NULL), REEVE_EREDIS,
                 "cursor");
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(by_each_field, test_bulk_update_begin),
        cmocka_unit_test_setup(by_times, test_bulk_update_begin),
        cmocka_unit_test_setup(ended_ones_newest_first, test_bulk_update_begin),
        cmocka_unit_test_setup(while_others_end, test_bulk_update_begin),
        cmocka_unit_test_setup(retries_apart_from_scheduled, test_bulk_update_begin),
        cmocka_unit_test_setup(running_ones, test_bulk_update_begin),
        cmocka_unit_test_setup(in_segments, test_bulk_update_begin),
        cmocka_unit_test_setup(with_parents, test_bulk_update_begin),
        cmocka_unit_test_setup(bulk_with_a_limit, test_bulk_update_begin),
        cmocka_unit_test_setup(bulk_of_retries_only, test_bulk_update_begin),
        cmocka_unit_test_setup(misuse, test_bulk_update_begin),
    };
    test_clock_set(NOW); /* it stands still */
    return cmocka_run_group_tests_name("ct_find", tests, test_place_start, test_place_stop);
}
