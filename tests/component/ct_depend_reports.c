/* What is told of tasks that wait for others: events, history, statistics, and to whoever waits for them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "reeve/stats.h"
#include "support/announced.h"
#include "support/clock.h"
#include "support/depend.h"

#define Q "reeve:{q}:"
#define START 1900000000000
#define DAY_MS INT64_C(86400000)

static int set_up(void **state)
{
    test_clock_set(START);
    test_announced_anew(START);
    return test_place_empty(state);
}

static const char *history(const char *id)
{
    static char text[4096];
    reeve_task_info *info = test_show("q", id);
    (void)snprintf(text, sizeof(text), "%s", info->history != NULL ? info->history : "");
    reeve_task_info_free(info);
    return text;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

static void blocked_and_ready(void **state)
{
    (void)state;
    const reeve_parent after = {.handle = "q/a"};
    test_keep_events(1000);
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_put_spec((reeve_task_spec){.id = "late", .in_ms = 5000, .after = &after, .after_count = 1});
    assert_string_equal(test_announced(), "enqueued:a blocked:b blocked:late");
    test_complete("q", "a");
    assert_string_equal(test_announced(), "leased:a completed:a unblocked:b unblocked:late@5000");
    test_put_after("q", "c", "f:q/a");
    assert_string_equal(test_announced(), "enqueued:c"); /* (which had ended) */
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = 7000, .after = &after, .after_count = 1});
    assert_string_equal(test_announced(), "scheduled:later@7000");
}

static void by_hand(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b");
    (void)test_announced();
    test_add_edges("q", "a", "f:q/b");
    test_add_edges("q", "a", "fg:q/elsewhere");
    assert_string_equal(test_announced(), "blocked:a");
    const char *const parents[] = {"q/b"};
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "a", parents, 1));
    assert_string_equal(test_announced(), "unblocked:a");
    assert_string_equal(history("a"), "[{\"at\":1900000000000,\"what\":\"blocked\"},"
                                      "{\"at\":1900000000000,\"what\":\"unblocked\"}]");
}

static void dead_with_a_parent(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_put_after("q", "c", "f:q/b");
    test_put_after("q", "d", "x:q/a");
    test_put_after("q", "e", "g:q/a");
    test_kill("q", "a");
    test_settle_queues("q");
    (void)test_announced_of("a");
    test_announced_anew(START);
    assert_string_equal(test_announced_of("b"), "blocked:b dead:b(parent)");
    test_announced_anew(START);
    assert_string_equal(test_announced_of("c"), "blocked:c dead:c(parent)");
    test_announced_anew(START);
    assert_string_equal(test_announced_of("d"), "blocked:d unblocked:d");
    test_announced_anew(START);
    assert_string_equal(test_announced_of("e"), "blocked:e unblocked:e");
    test_put_after("q", "f", "f:q/a");
    assert_string_equal(test_announced_of("f"), "blocked:f dead:f(parent)");
    test_put("q", "g");
    test_add_edges("q", "g", "f:q/a");
    assert_string_equal(test_announced_of("g"), "enqueued:g dead:g(parent)");
}

static void cancelled_or_not_needed(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a");
    test_ok(test_client, reeve_cancel_cascade(test_client, "q", "a"));
    test_settle_queues("q");
    test_put_after("q", "d", "x:q/b");
    test_complete("q", "b");
    test_settle_queues("q");
    test_put_after("q", "e", "x:q/b");
    test_announced_anew(START);
    assert_string_equal(test_announced_of("c"), "blocked:c cancelled:c");
    test_announced_anew(START);
    assert_string_equal(test_announced_of("d"), "blocked:d deleted:d");
    test_announced_anew(START);
    assert_string_equal(test_announced_of("e"), "blocked:e deleted:e");
    assert_string_equal(test_state("q", "e"), "");
    test_no_edges_left("q");
}

/* ---- history --------------------------------------------------------------------------------------------------- */

static void who_it_waited_for(void **state)
{
    (void)state;
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a f:q/b");
    test_put_after("q", "d", "f:q/c");
    assert_string_equal(history("c"), "");
    test_complete("q", "a");
    test_clock_advance(10);
    test_complete("q", "b");
    assert_string_equal(history("c"), "[{\"at\":1900000000010,\"what\":\"unblocked\",\"by\":\"q\\/b\"}]");
    test_kill("q", "c");
    test_settle_queues("q");
    assert_string_equal(history("d"), "[{\"at\":1900000000010,\"what\":\"dead\",\"kind\":\"parent\","
                                      "\"message\":\"the task it waited for, q\\/c, is dead\"}]");
}

static void a_record_that_is_not_kept(void **state)
{
    static const reeve_keep none = {0, 0};
    (void)state;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none, .dead = &none}));
    test_put("q", "a b");
    test_put_after("q", "c", "f:q/a");
    test_put_after("q", "d", "f:q/b");
    test_complete("q", "a");
    test_kill("q", "b");
    test_complete("q", "c");
    test_settle_queues("q");
    assert_string_equal(test_cmd(test_conn, "KEYS " Q "info:*"), "[]");
}

/* ---- how long it waited ---------------------------------------------------------------------------------------- */

/* The one task that is first: it has waited so long. */
static void waited(const char *queue, const char *id, int64_t wait_ms)
{
    test_hand hand;
    test_hand_init(&hand, "1", queue);
    assert_int_equal(test_lease(&hand, 1), 1);
    assert_string_equal(hand.leased[0].id, id);
    assert_int_equal(hand.leased[0].wait_ms, wait_ms);
    test_settle(&hand, {0, {.id = id, .outcome = REEVE_OUTCOME_DONE, .has_info = hand.leased[0].has_info}});
}

static void from_the_end_of_the_last_parent_on(void **state)
{
    (void)state;
    const reeve_parent after = {.handle = "q/a"};
    test_put("q", "a");
    test_put_after("q", "b", "f:q/a");
    test_put_spec((reeve_task_spec){.id = "c", .in_ms = 2000, .after = &after, .after_count = 1});
    test_put_spec((reeve_task_spec){.id = "d", .at_ms = START + 9000, .after = &after, .after_count = 1});
    test_clock_advance(5000);
    waited("q", "a", 5000);
    test_clock_advance(300);
    waited("q", "b", 300);
    waited("q", "c", 300); /* its time had come while it was blocked */
    test_clock_advance(4000);
    test_maintain_all("q");
    waited("q", "d", 300); /* its time came after that */
}

static void however_it_hears_of_it(void **state)
{
    (void)state;
    const char *const parents[] = {"q/b"};
    test_put("q", "a b");
    test_put("far", "p");
    test_put_after("q", "c", "f:far/p");
    test_add_edges("q", "a", "f:q/b");
    test_settle_queues("q far");
    test_clock_advance(5000);
    test_ok(test_client, reeve_remove_dependency(test_client, "q", "a", parents, 1));
    test_clock_advance(100);
    waited("q", "b", 5100);
    waited("q", "a", 100);
    test_complete("far", "p");
    test_settle_queues("q far");
    test_clock_advance(10);
    waited("q", "c", 10);
}

/* How long a task waits that was put off is nobody's measure, and stays so. */
static void not_when_it_was_put_off(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 60000});
    test_put("q", "b");
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_add_edges("q", "a", "f:q/b");
    test_complete("q", "b");
    waited("q", "a", -1);
}

/* Its header is not what was sent any more; whoever sends it again is told that it is his all the same. */
static void sent_again_after_that(void **state)
{
    const rv_reply *reply;
    (void)state;
    test_put("q", "a");
    static const char *const tasks[] = {"0",
                                        "b",
                                        "{\"after\":[[\"q/a\",\"f\"]]}",
                                        "\"type\":\"t\",\"attempts\":3}\npay",
                                        "c",
                                        "{\"in\":5,\"after\":[[\"q/a\",\"f\"]]}",
                                        "\"type\":\"t\",\"delay\":5}\n"};
    for (int again = 0; again <= 1; again++) {
        rv_cmd_script(test_conn, &rv_script_enqueue, 1, 7);
        rv_args(test_conn, Q);
        rv_args(test_conn, again ? "1" : "0");
        for (int i = 1; i < 7; i++) rv_args(test_conn, tasks[i]);
        assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
        assert_string_equal(test_reply_text(reply), "[1 1]");
        if (again) break;
        test_clock_advance(1000);
        test_complete("q", "a");
        assert_string_equal(
            test_cmd(test_conn, "HGET " Q "tasks b"),
            "{\"info\":1,\"at\":1900000000000,\"type\":\"t\",\"due\":1900000001000,\"attempts\":3}\npay");
    }
}

/* ---- statistics ------------------------------------------------------------------------------------------------ */

static void deaths_are_counted_wherever_they_are_found(void **state)
{
    reeve_day *day;
    (void)state;
    test_put("q", "a");
    test_put("far", "p");
    test_put_after("q", "b", "f:q/a");   /* by tend */
    test_put_after("q", "c", "f:q/b");   /* of a death like that */
    test_put_after("q", "d", "f:far/p"); /* by deliver */
    test_settle_queues("q far");
    test_kill("q", "a");
    test_kill("far", "p");
    test_settle_queues("q far");
    test_put_after("q", "e", "f:q/a"); /* by enqueue */
    test_put("q", "f");
    test_add_edges("q", "f", "f:q/a"); /* by depend */
    test_put_after("q", "g", "fg:q/gone");
    test_put_spec((reeve_task_spec){.id = "h", .expires_in_ms = 10});
    test_clock_advance(20);
    test_maintain_all("q");
    test_ok(test_client, reeve_stats(test_client, "q", START / DAY_MS, 1, &day));
    assert_int_equal(day->dead, 6);
    assert_int_equal(day->kind_count, 2);
    assert_string_equal(day->kinds[0].kind, "parent");
    assert_int_equal(day->kinds[0].dead, 5);
    assert_string_equal(day->kinds[1].kind, "expired");
    assert_int_equal(day->kinds[1].dead, 1);
    reeve_stats_free(day, 1);
}

/* ---- whoever waits --------------------------------------------------------------------------------------------- */

typedef struct waiter {
    pthread_t thread;
    reeve_client *client;
    reeve_status status;
} waiter;

static void *wait_for_it(void *argument)
{
    waiter *w = argument;
    w->status = reeve_wait(w->client, "q", "callback", 60000, NULL);
    return NULL;
}

/* A task that waited for a death and is removed for lack of one: clients hear of it, and tasks that waited for it. */
static void removed_for_lack_of_a_death(void **state)
{
    waiter w = {.client = test_client_open(60000)};
    (void)state;
    test_clock_run();
    test_put("q", "a");
    test_put_after("q", "callback", "x:q/a");
    test_put_after("q", "next", "f:q/callback");
    test_put_after("q", "other", "g:q/callback");
    assert_int_equal(pthread_create(&w.thread, NULL, wait_for_it, &w), 0);
    TEST_AWAIT(test_number("ZCARD " Q "waiters") == 1);
    test_complete("q", "a");
    assert_int_equal(pthread_join(w.thread, NULL), 0);
    assert_int_equal(w.status, REEVE_ENOTFOUND);
    reeve_client_close(w.client);
    test_settle_queues("q");
    assert_string_equal(test_state("q", "next"), "dead");
    assert_string_equal(test_state("q", "other"), "ready");
    test_no_edges_left("q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocked_and_ready, set_up),
        cmocka_unit_test_setup(by_hand, set_up),
        cmocka_unit_test_setup(dead_with_a_parent, set_up),
        cmocka_unit_test_setup(cancelled_or_not_needed, set_up),
        cmocka_unit_test_setup(who_it_waited_for, set_up),
        cmocka_unit_test_setup(a_record_that_is_not_kept, set_up),
        cmocka_unit_test_setup(from_the_end_of_the_last_parent_on, set_up),
        cmocka_unit_test_setup(however_it_hears_of_it, set_up),
        cmocka_unit_test_setup(not_when_it_was_put_off, set_up),
        cmocka_unit_test_setup(sent_again_after_that, set_up),
        cmocka_unit_test_setup(deaths_are_counted_wherever_they_are_found, set_up),
        cmocka_unit_test_setup(removed_for_lack_of_a_death, set_up),
    };
    test_options.clock = true;
    test_clock_set(START);
    return cmocka_run_group_tests_name("ct_depend_reports", tests, test_place_start, test_place_stop);
}
