/* A task's history: what was done to it, by whom, why; bounded; none of a task that just completes. */
#include <stdio.h>
#include <string.h>

#include "support/clock.h"
#include "support/queue.h"

#define Q "reeve:{q}:"
#define START 1900000000000

static test_hand hand;

static int set_up(void **state)
{
    test_clock_set(START);
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

/* As reeve_show has it; "" for none. */
static const char *history(const char *id)
{
    static char text[16384];
    reeve_task_info *info = test_show("q", id);
    (void)snprintf(text, sizeof(text), "%s", info->history != NULL ? info->history : "");
    reeve_task_info_free(info);
    return text;
}

static void lease_one(const char *id)
{
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, id);
    (void)test_cmd(test_conn, "HSET " Q "running:%s # {\"worker\":\"w7\"}", hand.sessions[0]);
}

static void a_plain_task_has_none(void **state)
{
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(history("a"), "");
    test_settle(&hand, TEST_DONE("a"));
    assert_string_equal(history("a"), "");
    assert_string_equal(test_cmd(test_conn, "EXISTS " Q "info:a"), "0");
}

static void failures(void **state)
{
    (void)state;
    test_put("q", "a");
    lease_one("a");
    test_settle(&hand, TEST_RETRY("a", 60));
    assert_string_equal(
        history("a"),
        "[{\"at\":1900000000000,\"what\":\"retry\",\"worker\":\"w7\",\"kind\":\"k\",\"message\":\"m\",\"delay\":60}]");
    test_clock_advance(100);
    test_maintain_all("q");
    lease_one("a");
    test_settle(&hand, TEST_FAIL("a"));
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    assert_string_equal(
        history("a"),
        "[{\"at\":1900000000000,\"what\":\"retry\",\"worker\":\"w7\",\"kind\":\"k\",\"message\":\"m\",\"delay\":60},"
        "{\"at\":1900000000100,\"what\":\"dead\",\"worker\":\"w7\",\"kind\":\"k\",\"message\":\"m\"},"
        "{\"at\":1900000000100,\"what\":\"retried\",\"from\":\"dead\"}]");
    lease_one("a");
    test_settle(&hand, {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    assert_non_null(strstr(history("a"), "retried"));
}

static void crashes(void **state)
{
    (void)state;
    test_put("q", "a");
    lease_one("a");
    test_expire(&hand);
    test_maintain_all("q");
    assert_string_equal(history("a"), "[{\"at\":1900000000000,\"what\":\"recovered\",\"worker\":\"w7\"}]");
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->crashes, 1);
    reeve_task_info_free(info);
}

static void by_hand(void **state)
{
    (void)state;
    test_put("q", "a");
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", -7));
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", START + 5000));
    test_ok(test_client, reeve_reschedule(test_client, "q", "a", START + 5000)); /* (changes nothing) */
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    assert_string_equal(history("a"), "[{\"at\":1900000000000,\"what\":\"priority\",\"priority\":-7},"
                                      "{\"at\":1900000000000,\"what\":\"rescheduled\",\"due\":1900000005000},"
                                      "{\"at\":1900000000000,\"what\":\"cancelled\"}]");
}

/* A failure of a task that was cancelled while it ran leads to nothing more. */
static void cancelled_while_it_runs(void **state)
{
    (void)state;
    test_put("q", "a");
    lease_one("a");
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_settle(&hand, TEST_FAIL("a"));
    assert_string_equal(
        history("a"), "[{\"at\":1900000000000,\"what\":\"failed\",\"worker\":\"w7\",\"kind\":\"k\",\"message\":\"m\"},"
                      "{\"at\":1900000000000,\"what\":\"cancelled\",\"worker\":\"w7\"}]");
}

static void a_deadline_that_passes(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .expires_in_ms = 1000});
    test_clock_advance(1000);
    test_maintain_all("q");
    assert_string_equal(history("a"), "[{\"at\":1900000001000,\"what\":\"dead\",\"kind\":\"expired\","
                                      "\"message\":\"not begun by its deadline\"}]");
}

/* The first entry stays, and the last ones; the oldest between them go. */
static void it_is_bounded(void **state)
{
    char expected[64];
    const char *at;
    int entries = 0;
    (void)state;
    test_put("q", "a");
    for (int i = 1; i <= 50; i++) test_ok(test_client, reeve_set_priority(test_client, "q", "a", i));
    for (at = history("a"); (at = strstr(at, "\"what\"")) != NULL; at++) entries++;
    assert_int_equal(entries, 20);
    assert_non_null(strstr(history("a"), "[{\"at\":1900000000000,\"what\":\"priority\",\"priority\":1},"
                                         "{\"at\":1900000000000,\"what\":\"priority\",\"priority\":32},"));
    (void)snprintf(expected, sizeof(expected), "\"priority\":50}]");
    assert_non_null(strstr(history("a"), expected));
}

/* Long words are cut on a character, and whatever is in them stays one line. */
static void words_of_any_kind(void **state)
{
    char message[600] = "\"quoted\"\nline ";
    char expected[300];
    (void)state;
    while (strlen(message) < 500) strcat(message, "\xc3\xa9");
    test_put("q", "a");
    lease_one("a");
    test_settle(&hand,
                {0, {.id = "a", .outcome = REEVE_OUTCOME_RETRY, .delay_ms = 1, .kind = "a/b", .message = message}});
    (void)snprintf(expected, sizeof(expected), "\"message\":\"\\\"quoted\\\"\\nline %.186s\",\"delay\":1}]",
                   message + strlen("\"quoted\"\nline "));
    assert_non_null(strstr(history("a"), expected));
    assert_non_null(strstr(history("a"), "\"kind\":\"a\\/b\""));
}

/* A record that goes takes its history along, also where completed tasks are not kept. */
static void it_goes_with_the_record(void **state)
{
    static const reeve_keep none = {0, 0};
    (void)state;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none}));
    test_put("q", "a");
    test_ok(test_client, reeve_set_priority(test_client, "q", "a", 3));
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_true(hand.leased[0].has_info);
    test_settle(&hand, {0, {.id = "a", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    test_put("q", "b");
    test_ok(test_client, reeve_cancel(test_client, "q", "b"));
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "info:*"), "[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_plain_task_has_none, set_up),
        cmocka_unit_test_setup(failures, set_up),
        cmocka_unit_test_setup(crashes, set_up),
        cmocka_unit_test_setup(by_hand, set_up),
        cmocka_unit_test_setup(cancelled_while_it_runs, set_up),
        cmocka_unit_test_setup(a_deadline_that_passes, set_up),
        cmocka_unit_test_setup(it_is_bounded, set_up),
        cmocka_unit_test_setup(words_of_any_kind, set_up),
        cmocka_unit_test_setup(it_goes_with_the_record, set_up),
    };
    test_options.clock = true;
    test_clock_set(START);
    return cmocka_run_group_tests_name("ct_history", tests, test_place_start, test_place_stop);
}
