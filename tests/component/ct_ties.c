/* Equal times: tasks of one millisecond keep the order in which they came, whatever their ids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reeve/tags.h"
#include "support/clock.h"
#include "support/depend.h"
#include "support/queue.h"

static test_hand a;

/* Time stands still, however long the calls take. */
static int set_up(void **state)
{
    test_clock_set(test_clock_now());
    test_hand_init(&a, "1", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"
enum { DUE_MS = 1000 };

/* Ids "1", "2", ..., which are not in the order of their text; all due then, in one call, or in one call each. */
static void put_due(int64_t at_ms, size_t first, size_t count, bool together)
{
    reeve_task_spec *specs = calloc(count, sizeof(*specs));
    reeve_enqueued *results = calloc(count, sizeof(*results));
    char(*ids)[16] = calloc(count, sizeof(*ids));
    assert_true(specs && results && ids);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%zu", first + i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i], .at_ms = at_ms};
        if (!together) test_put_spec(specs[i]);
    }
    if (together) test_ok(test_client, reeve_enqueue_many(test_client, specs, count, results));
    free(specs);
    free(results);
    free(ids);
}

/* All of them are due, and run in the order of their numbers. */
static void run_in_order(size_t count, unsigned page)
{
    test_clock_advance(DUE_MS + 10);
    assert_true(test_maintain("q", page).promoted > 0);
    while (test_maintain("q", page).promoted > 0) continue;
    assert_int_equal(test_count("q", "scheduled"), 0);
    for (size_t next = 1; next <= count;) {
        test_outcome done[256];
        size_t leased = test_lease(&a, 256);
        assert_true(leased > 0);
        for (size_t i = 0; i < leased; i++, next++) {
            assert_int_equal(atoi(a.leased[i].id), next);
            done[i] = (test_outcome)TEST_DONE(a.leased[i].id);
        }
        (void)test_turn(&a, 0, done, leased);
    }
}

static void equal_due_times_run_in_the_order_of_their_calls(void **state)
{
    (void)state;
    put_due(test_clock_now() + DUE_MS, 1, 25, false);
    run_in_order(25, 4);
}

static void equal_due_times_run_in_the_order_of_their_call(void **state)
{
    (void)state;
    put_due(test_clock_now() + DUE_MS, 1, 450, true);
    run_in_order(450, 100);
}

/* More of them than have a place in one millisecond run in those that follow. */
static void more_equal_due_times_than_a_millisecond_has_places_for(void **state)
{
    (void)state;
    int64_t at_ms = test_clock_now() + DUE_MS;
    put_due(at_ms, 1, 3000, true);
    put_due(at_ms, 3001, 3000, true);
    put_due(at_ms, 6001, 20, false);
    assert_int_equal(test_number("ZCOUNT " Q "scheduled %lld (%lld", (long long)at_ms, (long long)at_ms + 3), 6020);
    run_in_order(6020, 1000);
}

/* What is told of a time is whole. */
static void a_due_time_is_told_as_it_was_given(void **state)
{
    (void)state;
    const int64_t at_ms = test_clock_now() + 100000;
    put_due(at_ms, 1, 3, false);
    reeve_task_info *info = test_show("q", "3");
    assert_int_equal(info->due_ms, at_ms);
    reeve_task_info_free(info);
    reeve_queue_info queue;
    test_ok(test_client, reeve_queue(test_client, "q", &queue));
    assert_int_equal(queue.next_due_ms, at_ms);
    test_ok(test_client, reeve_reschedule(test_client, "q", "3", at_ms)); /* (no change) */
    test_ok(test_client, reeve_cancel(test_client, "q", "2"));
    assert_int_equal(test_maintain("q", 10).next_in_ms, 100000);
}

/* A time beyond which fractions of a millisecond are not exact: in any order, but none is lost. */
static void the_latest_time_there_is_has_room_for_all(void **state)
{
    (void)state;
    put_due(INT64_MAX, 1, 20, true);
    put_due(INT64_MAX, 21, 5, false);
    assert_int_equal(test_count("q", "scheduled"), 25);
}

static void a_tag_lists_what_came_last_first(void **state)
{
    (void)state;
    static const char *const tags[] = {"red"};
    static reeve_task_spec specs[30];
    static reeve_enqueued results[30];
    static char ids[30][8];
    for (size_t i = 0; i < 30; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%zu", i + 1);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i], .tags = tags, .tag_count = 1};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 30, results));
    int expected = 30;
    for (int64_t next = 0; next >= 0;) {
        reeve_task_info **list = NULL;
        size_t count = 0;
        test_ok(test_client, reeve_list_tag(test_client, "q", "red", NULL, (uint64_t)next, 7, &list, &count, &next));
        for (size_t i = 0; i < count; i++) assert_int_equal(atoi(list[i]->id), expected--);
        reeve_task_list_free(list, count);
    }
    assert_int_equal(expected, 0);
}

static void children_run_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    static const reeve_parent after = {.handle = "q/parent"};
    static reeve_task_spec specs[30];
    static reeve_enqueued results[30];
    static char ids[30][8];
    test_put("q", "parent");
    for (size_t i = 0; i < 30; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%zu", i + 1);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "t", .id = ids[i], .after = &after, .after_count = 1};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 30, results));
    assert_int_equal(test_lease(&a, 1), 1);
    test_settle(&a, TEST_DONE("parent"));
    test_maintain_all("q");
    assert_int_equal(test_lease(&a, 64), 30);
    for (int i = 0; i < 30; i++) assert_int_equal(atoi(a.leased[i].id), i + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(equal_due_times_run_in_the_order_of_their_calls, set_up),
        cmocka_unit_test_setup(equal_due_times_run_in_the_order_of_their_call, set_up),
        cmocka_unit_test_setup(more_equal_due_times_than_a_millisecond_has_places_for, set_up),
        cmocka_unit_test_setup(a_due_time_is_told_as_it_was_given, set_up),
        cmocka_unit_test_setup(the_latest_time_there_is_has_room_for_all, set_up),
        cmocka_unit_test_setup(a_tag_lists_what_came_last_first, set_up),
        cmocka_unit_test_setup(children_run_in_the_order_in_which_they_came, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_ties", tests, test_place_start, test_place_stop);
}
