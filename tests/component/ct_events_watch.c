/* Events are on while somebody watches; waiting for the next one. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "reeve/limits.h"
#include "reeve/watch.h"
#include "support/announced.h"
#include "support/clock.h"
#include "support/limits.h"

#define Q "reeve:{q}:"
#define START 1900000000000

static test_hand hand;

static int set_up(void **state)
{
    test_clock_set(START);
    test_hand_init(&hand, "1", "q");
    test_announced_anew(START);
    return test_place_empty(state);
}

/* ---- on and off ------------------------------------------------------------------------------------------------ */

static void they_are_bounded(void **state)
{
    char id[16];
    (void)state;
    test_keep_events(10);
    for (int i = 0; i < 500; i++) {
        (void)snprintf(id, sizeof(id), "t%d", i);
        test_put("q", id);
    }
    /* Redis trims by nodes of a hundred entries. */
    assert_in_range(test_number("XLEN " Q "events"), 10, 120);
}

/* An emptied queue forgets its order, but not that it has events. */
static void they_outlast_an_empty_queue(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("a"));
    test_maintain_all("q");
    /* Whoever watches switches them on anew. */
    long long before = test_number("XLEN " Q "events");
    test_put("q", "b");
    test_put_spec((reeve_task_spec){.id = "c", .group = "g"});
    test_put_spec((reeve_task_spec){.id = "d", .in_ms = 1000});
    assert_int_equal(test_number("XLEN " Q "events"), before + 3);
}

static void nothing_is_told_unasked(void **state)
{
    int64_t kept = -1;
    uint64_t count = 99;
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_RETRY("a", 5));
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    assert_string_equal(test_cmd(test_conn, "EXISTS " Q "events"), "0");
    test_ok(test_client, reeve_events_get(test_client, "q", &kept, &count));
    assert_int_equal(kept, 0);
    assert_int_equal(count, 0);
}

static void kept_no_longer(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a");
    test_keep_events(0);
    assert_string_equal(test_cmd(test_conn, "EXISTS " Q "events"), "0");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), "(nil)");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "sequence events"), "(nil)");
    test_put("q", "b");
    assert_string_equal(test_cmd(test_conn, "EXISTS " Q "events"), "0");
}

/* Whoever watched and was killed leaves nothing on. */
static void a_watch_that_is_gone(void **state)
{
    (void)state;
    test_put("q", "a");
    assert_string_equal(test_announced(), "");
    test_put("q", "b");
    assert_string_equal(test_announced(), "enqueued:b");
    test_clock_advance(59000);
    test_maintain_all("q");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), "e");
    test_maintained maintained = test_maintain("q", 100);
    assert_in_range(maintained.next_in_ms, 1, 1000);
    test_clock_advance(1000);
    test_maintain_all("q");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), "(nil)");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings events_until"), "(nil)");
    assert_string_equal(test_cmd(test_conn, "EXISTS " Q "events"), "0");
    test_put("q", "c");
    assert_string_equal(test_cmd(test_conn, "EXISTS " Q "events"), "0");
}

static void beside_limits(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_limit_queue(1, NULL);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), "ce");
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 2), 1);
    assert_int_equal(test_lease(&hand, 2), 0);
    test_limit_queue(-1, NULL);
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), "e");
    assert_int_equal(test_lease(&hand, 2), 1);
    test_settle(&hand, TEST_DONE("a"), TEST_DONE("b"));
    assert_string_equal(test_announced_of("b"), "enqueued:b leased:b completed:b");
    test_keep_events(0);
    test_clock_advance(60000);
    test_maintain_all("q");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "settings in_force"), "(nil)");
}

/* ---- waiting --------------------------------------------------------------------------------------------------- */

static void *ring(void *client)
{
    reeve_client_interrupt(client);
    return NULL;
}

static void waiting_can_be_ended(void **state)
{
    reeve_watch *watch = NULL;
    const reeve_event *event = NULL;
    pthread_t thread;
    (void)state;
    test_ok(test_client, reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q"}));
    assert_int_equal(pthread_create(&thread, NULL, ring, test_client), 0);
    assert_int_equal(reeve_watch_next(watch, 60000, &event), REEVE_EINTERRUPTED);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(reeve_watch_next(watch, 0, &event), REEVE_ETIMEOUT);
    test_put("q", "a");
    test_ok(test_client, reeve_watch_next(watch, 1000, &event));
    assert_string_equal(event->id, "a");
    reeve_watch_close(watch);
}

static void connections_that_are_lost(void **state)
{
    reeve_watch *watch = NULL;
    const reeve_event *event = NULL;
    (void)state;
    /* Each test sets the clock, by which a client that has lost a reply would judge: a new connection knows it. */
    test_clock_run();
    (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
    test_ok(test_client, reeve_resume(test_client, "q"));
    test_ok(test_client, reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q"}));
    for (int i = 0; i < 5; i++) {
        char id[32];
        (void)snprintf(id, sizeof(id), "t%d", i);
        test_put("q", id);
        (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
        test_ok(test_client, reeve_watch_next(watch, 20000, &event));
        assert_string_equal(event->id, id);
    }
    reeve_watch_close(watch);
}

static void misuse(void **state)
{
    reeve_watch *watch = NULL;
    (void)state;
    test_refused(test_client, reeve_events_keep(test_client, "q", -1), REEVE_EINVAL, "from 0 to");
    test_refused(test_client, reeve_events_keep(test_client, "q", REEVE_EVENTS_MAX + 1), REEVE_EINVAL, "from 0 to");
    test_refused(test_client, reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "/"}), REEVE_EINVAL,
                 "queue");
    test_refused(test_client,
                 reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q", .after = "1-"}),
                 REEVE_EINVAL, "no place");
    assert_null(watch);
    reeve_watch_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(they_are_bounded, set_up),
        cmocka_unit_test_setup(they_outlast_an_empty_queue, set_up),
        cmocka_unit_test_setup(nothing_is_told_unasked, set_up),
        cmocka_unit_test_setup(kept_no_longer, set_up),
        cmocka_unit_test_setup(a_watch_that_is_gone, set_up),
        cmocka_unit_test_setup(beside_limits, set_up),
        cmocka_unit_test_setup(waiting_can_be_ended, set_up),
        cmocka_unit_test_setup(connections_that_are_lost, set_up),
        cmocka_unit_test_setup(misuse, set_up),
    };
    test_options.clock = true;
    test_clock_set(START);
    return cmocka_run_group_tests_name("ct_events_watch", tests, test_place_start, test_place_stop);
}
