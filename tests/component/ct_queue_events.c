/* Events of a queue itself: its pauses, limits and settings. */
#include <stdio.h>
#include <string.h>

#include "reeve/limits.h"
#include "reeve/watch.h"
#include "support/limits.h"

static reeve_watch *watch;
static const reeve_event *event;

static int set_up(void **state)
{
    return test_place_empty(state);
}

static void begin(const char *id)
{
    assert_int_equal(reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q", .id = id}), REEVE_OK);
}

static void expect_next(const char *what, const char *message)
{
    assert_int_equal(reeve_watch_next(watch, 10000, &event), REEVE_OK);
    assert_string_equal(event->what, what);
    assert_null(event->id);
    if (message == NULL) assert_true(event->message == NULL || event->message[0] == '\0');
    if (message != NULL) assert_string_equal(event->message, message);
}

static void expect_nothing(void)
{
    test_put("q", "mark");
    assert_int_equal(reeve_watch_next(watch, 10000, &event), REEVE_OK);
    assert_string_equal(event->id, "mark");
}

static void pauses(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(reeve_pause(test_client, "q"), REEVE_OK);
    expect_next("paused", NULL);
    assert_int_equal(event->due_ms, -1);
    assert_int_equal(reeve_pause(test_client, "q"), REEVE_OK); /* changes nothing */
    assert_int_equal(reeve_resume(test_client, "q"), REEVE_OK);
    expect_next("resumed", NULL);
    assert_int_equal(reeve_resume(test_client, "q"), REEVE_OK);
    assert_int_equal(reeve_pause_for(test_client, "q", "g", 60000, NULL), REEVE_OK);
    expect_next("paused", "g");
    assert_true(event->due_ms > event->at_ms);
    assert_int_equal(reeve_pause_for(test_client, "q", "g", 0, NULL), REEVE_OK);
    expect_next("resumed", "g");
    expect_nothing();
    reeve_watch_close(watch);
}

static void limits_and_settings(void **state)
{
    (void)state;
    const int64_t result_max = 1000;
    begin(NULL);
    test_limit_queue(3, NULL);
    assert_int_equal(reeve_watch_next(watch, 10000, &event), REEVE_OK);
    assert_string_equal(event->what, "limits");
    assert_non_null(strstr(event->message, "concurrency 3"));
    test_limit_group("g", 2, NULL);
    assert_int_equal(reeve_watch_next(watch, 10000, &event), REEVE_OK);
    assert_non_null(strstr(event->message, "c:g 2"));
    assert_int_equal(reeve_queue_set(test_client, "q", &(reeve_queue_settings){.result_max = &result_max}), REEVE_OK);
    expect_next("settings", "result_max 1000");
    assert_int_equal(reeve_queue_set(test_client, "q", &(reeve_queue_settings){.result_max = &result_max}), REEVE_OK);
    expect_nothing();
    reeve_watch_close(watch);
}

/* Who follows one task hears nothing of its queue. */
static void a_task_alone(void **state)
{
    (void)state;
    begin("mark");
    assert_int_equal(reeve_pause(test_client, "q"), REEVE_OK);
    expect_nothing();
    reeve_watch_close(watch);
}

/* Nobody asked for events. */
static void none_are_kept(void **state)
{
    (void)state;
    assert_int_equal(reeve_pause(test_client, "q"), REEVE_OK);
    test_limit_queue(3, NULL);
    assert_int_equal(test_number("EXISTS reeve:{q}:events"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pauses, set_up),
        cmocka_unit_test_setup(limits_and_settings, set_up),
        cmocka_unit_test_setup(a_task_alone, set_up),
        cmocka_unit_test_setup(none_are_kept, set_up),
    };
    return cmocka_run_group_tests_name("ct_queue_events", tests, test_place_start, test_place_stop);
}
