/* A queue that nobody serves, maintained by a client. */
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "reeve/maintain.h"
#include "support/clock.h"
#include "support/depend.h"
#include "support/maintain.h"
#include "support/queue.h"
#include "support/script.h"

#define Q "reeve:{q}:"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static reeve_maintained maintain(void)
{
    reeve_maintained done = {.more = true};
    test_ok(test_client, reeve_maintain(test_client, "q", &done));
    return done;
}

/* What is not overdue is left to workers, and one look is all. */
static void nothing_is_done_where_nothing_is_overdue(void **state)
{
    (void)state;
    assert_false(maintain().needed);
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_put_spec((reeve_task_spec){.id = "later", .in_ms = 5000});
    test_put_spec((reeve_task_spec){.id = "due", .in_ms = 100});
    test_clock_advance(600); /* a worker may be just about to */
    char before[65536];
    (void)snprintf(before, sizeof(before), "%s", test_digest());
    reeve_maintained done = maintain();
    assert_false(done.needed || done.more);
    assert_int_equal(done.expired + done.recovered + done.promoted + done.trimmed, 0);
    assert_string_equal(test_digest(), before);
}

static void due_tasks_become_ready(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "first", .in_ms = 100});
    int64_t due = test_number("ZSCORE " Q "scheduled first");
    for (int i = 1; i < 500; i++) test_put_spec((reeve_task_spec){.in_ms = 100});
    test_clock_advance(1102);
    reeve_maintained done = maintain();
    assert_true(done.needed && !done.more);
    assert_int_equal(done.since_ms, due);
    assert_int_equal(done.promoted, 500);
    assert_int_equal(test_count("q", "ready"), 500);
    assert_false(maintain().needed);
}

/* Sessions may first be given time to come back. */
static void tasks_of_a_dead_worker_come_back(void **state)
{
    (void)state;
    uint64_t recovered = 0;
    test_put_many("q", 500, "x%03zu");
    assert_int_equal(test_lease(&hand, 500), 500);
    reeve_task_info *info = test_show("q", "x000");
    assert_false(info->stalled);
    int64_t latest = info->started_ms + hand.session_ms; /* the session began before the lease */
    assert_in_range(info->lease_expires_ms, latest - 1000, latest);
    reeve_task_info_free(info);
    test_refused(test_client, reeve_retry(test_client, "q", "x000"), REEVE_ESTATE, "running");
    for (int i = 0; i < 3 && recovered == 0; i++) {
        test_clock_advance(hand.session_ms + 1001);
        info = test_show("q", "x000");
        assert_true(info->stalled);
        reeve_task_info_free(info);
        reeve_maintained done = maintain();
        assert_true(done.needed && !done.more);
        assert_int_equal(done.expired, 1);
        recovered = done.recovered;
    }
    assert_int_equal(recovered, 500);
    assert_int_equal(test_count("q", "ready"), 500);
    test_ok(test_client, reeve_delete(test_client, "q", "x000"));
}

/* One whose leases are being taken back by somebody who does not go on. */
static void a_half_reaped_session_is_finished(void **state)
{
    (void)state;
    uint64_t left = 0;
    test_put_many("q", 500, "x%03zu");
    assert_int_equal(test_lease(&hand, 500), 500);
    for (int i = 0; i < 5 && (left == 0 || left == 500); i++) {
        test_clock_advance(hand.session_ms + 1001);
        (void)test_maintain("q", 100);
        left = test_count("q", "running");
    }
    assert_in_range(left, 1, 499);
    reeve_maintained done = maintain();
    assert_true(done.needed);
    assert_int_equal(done.since_ms, 0);
    assert_int_equal(done.recovered, left);
    assert_int_equal(test_count("q", "ready"), 500);
}

static void what_dies_of_its_deadline(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.id = "a", .expires_in_ms = 100});
    test_clock_advance(1102);
    assert_true(maintain().needed);
    assert_string_equal(test_state("q", "a"), "dead");
    assert_false(maintain().needed);
}

/* A task of another queue waits for one that ended when nobody was there to carry the message. */
static void messages_to_other_queues_are_carried(void **state)
{
    (void)state;
    test_put("q", "a");
    test_put_after("p", "child", "f:q/a");
    test_settle_queues("p q");
    test_complete("q", "a");
    test_clock_advance(600);
    assert_false(maintain().needed);
    test_clock_advance(502);
    int64_t now = test_clock_now();
    reeve_maintained done = maintain();
    assert_true(done.needed && !done.more);
    assert_in_range(now - done.since_ms, 1002, 1200);
    test_state_is("p", "child", "ready");
    assert_false(maintain().needed);
}

/* The same in its queue, in steps: more edges than a call takes. */
static void steps_that_nobody_took_are_taken(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        char id[8], handle[16];
        (void)snprintf(id, sizeof(id), "p%d", i);
        (void)snprintf(handle, sizeof(handle), "f:q/%s", id);
        test_put("q", id);
        (i == 0 ? test_put_after : test_add_edges)("q", "child", handle);
    }
    test_maintain_all("q");
    assert_string_equal(TEST_SCRIPT(cancel, Q, "child", ""), "ok more");
    assert_int_equal(test_number("EXISTS " Q "fanout"), 1);
    assert_true(maintain().needed);
    assert_int_equal(test_number("EXISTS " Q "fanout"), 0);
    assert_false(maintain().needed);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    reeve_maintained done;
    assert_int_equal(reeve_maintain(NULL, "q", &done), REEVE_EINVAL);
    assert_int_equal(reeve_maintain(test_client, "q", NULL), REEVE_EINVAL);
    assert_int_equal(reeve_maintain(test_client, "no queue", &done), REEVE_EINVAL);
}

int main(void)
{
    test_options.clock = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_done_where_nothing_is_overdue, set_up),
        cmocka_unit_test_setup(due_tasks_become_ready, set_up),
        cmocka_unit_test_setup(tasks_of_a_dead_worker_come_back, set_up),
        cmocka_unit_test_setup(a_half_reaped_session_is_finished, set_up),
        cmocka_unit_test_setup(what_dies_of_its_deadline, set_up),
        cmocka_unit_test_setup(messages_to_other_queues_are_carried, set_up),
        cmocka_unit_test_setup(steps_that_nobody_took_are_taken, set_up),
        cmocka_unit_test_setup(arguments_are_checked, set_up),
    };
    return cmocka_run_group_tests_name("ct_maintain", tests, test_place_start, test_place_stop);
}
