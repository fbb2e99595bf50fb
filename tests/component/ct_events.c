/* Events: each transition is told, once, in order; they are bounded. */
#include <stdio.h>
#include <string.h>

#include "protocol/end_session_call.h"
#include "protocol/handler_call.h"
#include "reeve/dead.h"
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

/* ---- each transition ------------------------------------------------------------------------------------------- */

static void a_plain_task(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b");
    assert_string_equal(test_announced(), "enqueued:a enqueued:b");
    assert_int_equal(test_lease(&hand, 2), 2);
    assert_string_equal(test_announced(), "leased:a leased:b");
    test_settle(&hand, TEST_DONE("a"), TEST_DONE("b"));
    assert_string_equal(test_announced(), "completed:a completed:b");
    assert_int_equal(test_number("XLEN " Q "events"), 3 + 1); /* (test_put enqueues one by one) */
}

static void other_ends(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b c d e");
    assert_int_equal(test_lease(&hand, 5), 5);
    (void)test_announced();
    test_settle(&hand, TEST_RESULT("a", "r"), TEST_RETRY("b", 60), TEST_FAIL("c"), TEST_SNOOZE("d", 70),
                TEST_SNOOZE("e", 0));
    assert_string_equal(test_announced(), "completed:a retry:b+60(k) dead:c(k) snoozed:d+70 given_back:e");
}

/* Another program has deleted the data of running tasks: the rest of the call is settled, and nothing false is told. */
static void ends_of_tasks_without_data(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b c");
    assert_int_equal(test_lease(&hand, 3), 3);
    (void)test_cmd(test_conn, "HDEL " Q "tasks a b");
    (void)test_announced();
    test_settle(&hand, (test_outcome){0, {.id = "a", .outcome = REEVE_OUTCOME_CANCEL, .message = ""}},
                (test_outcome){0, {.id = "b", .outcome = REEVE_OUTCOME_DISCARD, .message = ""}}, TEST_FAIL("c"));
    assert_string_equal(test_announced(), "dead:c(k)");
}

/* Of a duplicate the task tells that has the key. */
static void a_refused_duplicate(void **state)
{
    (void)state;
    const reeve_task_spec first = {.queue = "q", .type = "t", .id = "a", .unique = "k"};
    const reeve_task_spec second = {.queue = "q", .type = "t", .id = "b", .unique = "k"};
    test_keep_events(1000);
    test_ok(test_client, reeve_enqueue(test_client, &first, NULL));
    test_refused(test_client, reeve_enqueue(test_client, &second, NULL), REEVE_EUNIQUE, "k");
    assert_string_equal(test_announced(), "enqueued:a refused:a");
    assert_int_equal(test_number("EXISTS " Q "tasks"), 1);
}

/* Also behind a task of the same call that came in the place of another one. */
static void a_refused_duplicate_behind_a_replacement(void **state)
{
    (void)state;
    const reeve_task_spec held[] = {{.queue = "q", .type = "t", .id = "a", .unique = "k"},
                                    {.queue = "q", .type = "t", .id = "b", .unique = "l"}};
    const reeve_task_spec next[] = {
        {.queue = "q", .type = "t", .id = "c", .unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE},
        {.queue = "q", .type = "t", .id = "d", .unique = "l"}};
    reeve_enqueued results[2];
    test_keep_events(1000);
    test_ok(test_client, reeve_enqueue_many(test_client, held, 2, results));
    (void)test_announced();
    test_refused(test_client, reeve_enqueue_many(test_client, next, 2, results), REEVE_EUNIQUE, "l");
    assert_string_equal(test_announced(), "deleted:a refused:b enqueued:c");
}

static void times(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put_spec((reeve_task_spec){.id = "a", .in_ms = 5000});
    test_put_spec((reeve_task_spec){.id = "b", .in_ms = 6000});
    assert_string_equal(test_announced(), "scheduled:a@5000 scheduled:b@6000");
    test_clock_advance(5500);
    test_maintain_all("q");
    assert_string_equal(test_announced(), "ready:a");
    test_ok(test_client, reeve_reschedule(test_client, "q", "b", START + 9000));
    test_ok(test_client, reeve_reschedule(test_client, "q", "b", START + 9000)); /* (changes nothing) */
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "b", 0));
    test_ok(test_client, reeve_set_priority(test_client, "q", "b", -3));
    assert_string_equal(test_announced(), "rescheduled:b@9000 rescheduled:b@5500 priority:b=-3");
}

static void by_hand(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b");
    (void)test_announced();
    test_ok(test_client, reeve_cancel(test_client, "q", "a"));
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    assert_string_equal(test_announced(), "cancelled:a retried:a deleted:a");
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_CANCEL,
                                           &(reeve_filter){.state = REEVE_STATE_READY}, NULL, NULL, NULL));
    assert_string_equal(test_announced(), "cancelled:b");
}

/* A task that is cancelled while it runs: when it settles, whichever way; when its worker dies, or leaves. */
static void cancelled_while_they_run(void **state)
{
    test_hand other;
    uint64_t given_back;
    bool more;
    const rv_reply *reply;
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b c d e");
    assert_int_equal(test_lease(&hand, 4), 4);
    test_hand_init(&other, "2", "q");
    assert_int_equal(test_lease(&other, 1), 1);
    (void)test_announced();
    for (const char *id = "a\0b\0c\0d\0e\0"; *id; id += 2) test_ok(test_client, reeve_cancel(test_client, "q", id));
    assert_string_equal(test_announced(), "cancelling:a cancelling:b cancelling:c cancelling:d cancelling:e");
    test_settle(&hand, TEST_RETRY("a", 5), TEST_SNOOZE("b", 0), TEST_DONE("c"));
    assert_string_equal(test_announced(), "completed:c cancelled:a cancelled:b");
    test_expire(&hand);
    test_maintain_all("q");
    assert_string_equal(test_announced(), "cancelled:d");
    rv_end_session_call_build(test_conn, &other.prefixes[0], other.sessions[0], 10);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_end_session_call_read(reply, &given_back, &more));
    assert_string_equal(test_announced(), "cancelled:e");
}

static void deadlines_that_pass(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put_spec((reeve_task_spec){.id = "a", .expires_in_ms = 1000});
    test_clock_advance(1500);
    test_maintain_all("q");
    assert_string_equal(test_announced(), "enqueued:a dead:a(expired)");
}

static void crashes_and_stops(void **state)
{
    test_hand other;
    uint64_t given_back;
    bool more;
    const rv_reply *reply;
    (void)state;
    test_keep_events(1000);
    test_put("q", "a b");
    assert_int_equal(test_lease(&hand, 1), 1);
    test_hand_init(&other, "2", "q");
    assert_int_equal(test_lease(&other, 1), 1);
    (void)test_announced();
    test_expire(&hand);
    test_maintain_all("q");
    assert_string_equal(test_announced(), "recovered:a");
    rv_end_session_call_build(test_conn, &other.prefixes[0], other.sessions[0], 10);
    assert_int_equal(rv_conn_call(test_conn, 0, &reply), REEVE_OK);
    assert_true(rv_end_session_call_read(reply, &given_back, &more));
    assert_string_equal(test_announced(), "given_back:b");
}

static void groups_at_their_limits(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_limit_groups(1, NULL);
    (void)test_announced(); /* the limit itself */
    for (int i = 0; i < 3; i++) test_put_spec((reeve_task_spec){.id = i == 0 ? "a" : i == 1 ? "b" : "c", .group = "g"});
    assert_string_equal(test_announced(), "enqueued:a enqueued:b enqueued:c");
    assert_int_equal(test_lease(&hand, 3), 1);
    assert_string_equal(test_announced(), "parked:b parked:c leased:a");
    test_settle(&hand, TEST_DONE("a"));
    assert_string_equal(test_announced(), "ready:b completed:a");
}

static void conflicts(void **state)
{
    (void)state;
    test_keep_events(1000);
    test_put_spec((reeve_task_spec){.id = "a", .unique = "k", .in_ms = 5000});
    test_put_spec((reeve_task_spec){.id = "b", .unique = "k", .on_conflict = REEVE_CONFLICT_REPLACE});
    assert_string_equal(test_announced(), "scheduled:a@5000 deleted:a scheduled:b@5000");
}

/* ---- what is said ---------------------------------------------------------------------------------------------- */

static void who_and_why(void **state)
{
    reeve_watch *watch = NULL;
    const reeve_event *event = NULL;
    (void)state;
    test_put("q", "a b");
    test_ok(test_client, reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q", .id = "b"}));
    assert_int_equal(test_lease(&hand, 2), 2);
    (void)test_cmd(test_conn, "HSET " Q "running:%s # {\"worker\":\"w7\"}", hand.sessions[0]);
    test_clock_advance(10);
    test_settle(&hand, TEST_FAIL("b"));
    test_ok(test_client, reeve_watch_next(watch, 1000, &event));
    assert_string_equal(event->what, "leased");
    assert_string_equal(event->session, hand.sessions[0]);
    test_ok(test_client, reeve_watch_next(watch, 1000, &event));
    assert_string_equal(event->what, "dead");
    assert_string_equal(event->id, "b");
    assert_string_equal(event->worker, "w7");
    assert_string_equal(event->kind, "k");
    assert_string_equal(event->message, "m");
    assert_int_equal(event->at_ms, START + 10);
    reeve_watch_close(watch);
}

static void call(void)
{
    const rv_reply *reply;
    if (rv_conn_call(test_conn, 0, &reply) != REEVE_OK) fail_msg("%s", rv_conn_error(test_conn)->text);
    assert_int_equal(rv_reply_int(reply, -1), 1);
}

static void progress(int percent, const char *message)
{
    rv_handler_call_progress(test_conn, &hand.prefixes[0], hand.sessions[0], "a", percent, message);
    call();
}

static void log_line(const char *lease, unsigned number, const char *line)
{
    rv_handler_call_log(test_conn, &hand.prefixes[0], hand.sessions[0], "a", lease, number, line);
    call();
}

static void expect_said(reeve_watch *watch, const char *what, int percent, const char *message)
{
    const reeve_event *event = NULL;
    test_ok(test_client, reeve_watch_next(watch, 1000, &event));
    assert_string_equal(event->what, what);
    assert_string_equal(event->id, "a");
    assert_string_equal(event->session, hand.sessions[0]);
    assert_int_equal(event->percent, percent);
    assert_string_equal(event->message, message);
}

/* Once each, also if a call is repeated after its reply was lost. */
static void what_a_handler_says(void **state)
{
    reeve_watch *watch = NULL;
    const reeve_event *event = NULL;
    char lease[64];
    (void)state;
    test_put("q", "a");
    assert_int_equal(test_lease(&hand, 1), 1);
    (void)snprintf(lease, sizeof(lease), "%s", test_cmd(test_conn, "HGET " Q "running:%s a", hand.sessions[0]));
    progress(1, "nobody watches");
    test_ok(test_client, reeve_watch_open(&watch, test_client, &(reeve_watch_options){.queue = "q"}));
    progress(50, "half");
    progress(50, "half");
    log_line(lease, 1, "a line");
    log_line(lease, 1, "a line");
    progress(50, "more");
    expect_said(watch, "progress", 50, "half");
    expect_said(watch, "logged", -1, "a line");
    expect_said(watch, "progress", 50, "more");
    assert_int_equal(reeve_watch_next(watch, 0, &event), REEVE_ETIMEOUT);
    reeve_watch_close(watch);
}

static void a_batch_is_one_entry(void **state)
{
    test_outcome outcomes[64] = {0};
    static char ids[64][REEVE_ID_MAX];
    (void)state;
    test_keep_events(1000);
    test_put_many("q", 64, "a%03zu");
    assert_int_equal(test_lease(&hand, 64), 64);
    for (size_t i = 0; i < 64; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "%s", hand.leased[i].id);
        outcomes[i] = (test_outcome)TEST_DONE(ids[i]);
    }
    (void)test_turn(&hand, 0, outcomes, 64);
    assert_int_equal(test_number("XLEN " Q "events"), 3);
    assert_string_equal(test_announced_of("a063"), "enqueued:a063 leased:a063 completed:a063");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_plain_task, set_up),
        cmocka_unit_test_setup(other_ends, set_up),
        cmocka_unit_test_setup(times, set_up),
        cmocka_unit_test_setup(ends_of_tasks_without_data, set_up),
        cmocka_unit_test_setup(a_refused_duplicate, set_up),
        cmocka_unit_test_setup(a_refused_duplicate_behind_a_replacement, set_up),
        cmocka_unit_test_setup(by_hand, set_up),
        cmocka_unit_test_setup(cancelled_while_they_run, set_up),
        cmocka_unit_test_setup(deadlines_that_pass, set_up),
        cmocka_unit_test_setup(crashes_and_stops, set_up),
        cmocka_unit_test_setup(groups_at_their_limits, set_up),
        cmocka_unit_test_setup(conflicts, set_up),
        cmocka_unit_test_setup(who_and_why, set_up),
        cmocka_unit_test_setup(what_a_handler_says, set_up),
        cmocka_unit_test_setup(a_batch_is_one_entry, set_up),
    };
    test_options.clock = true;
    test_clock_set(START);
    return cmocka_run_group_tests_name("ct_events", tests, test_place_start, test_place_stop);
}
