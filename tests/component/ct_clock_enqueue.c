/* Redis's clock is moved between a try of enqueueing, whose reply is lost, and the next one: no task runs twice. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/clock.h"
#include "support/maintain.h"
#include "support/proxied.h"
#include "support/queue.h"

#define Q "reeve:{q}:"
#define HOUR 3600000

static test_proxy *proxy;
static reeve_client *behind; /* the proxy */
static test_hand hand;

static int start(void **state)
{
    int failed = test_place_start(state);
    if (failed == 0) test_proxied_open(&proxy, &behind, 20000);
    return failed;
}

static int stop(void **state)
{
    test_proxied_close(proxy, behind);
    return test_place_stop(state);
}

static int set_up(void **state)
{
    test_clock_run();
    test_proxy_slam(proxy, "");
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void keep_completed(int64_t age_ms, int64_t count)
{
    const reeve_keep keep = {.age_ms = age_ms, .count = count};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &keep}));
}

static void run(const char *id)
{
    test_put("q", id);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE(id));
}

static void *enqueue(void *context)
{
    reeve_status *status = context;
    *status = reeve_enqueue(behind, &(reeve_task_spec){.queue = "q", .type = "t", .id = "n0"}, NULL);
    return NULL;
}

/* n0 is enqueued and runs, but no try to enqueue it again arrives until `meanwhile` has returned. */
static reeve_status lose_and_move(void (*meanwhile)(void))
{
    pthread_t thread;
    reeve_status status;
    test_ok(behind, reeve_enqueue(behind, &(reeve_task_spec){.queue = "q", .type = "t", .id = "known"}, NULL));
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_DONE("known"));
    test_proxy_slam(proxy, "again ");
    test_proxy_lose(proxy, "EVALSHA", 0);
    assert_int_equal(pthread_create(&thread, NULL, enqueue, &status), 0);
    TEST_AWAIT(test_lease(&hand, 1) == 1);
    test_settle(&hand, TEST_DONE("n0"));
    meanwhile();
    test_proxy_slam(proxy, "");
    (void)pthread_join(thread, NULL);
    return status;
}

static void expect_unknown(reeve_status status)
{
    assert_string_equal(test_state("q", "n0"), "");
    assert_int_equal(status, REEVE_ELOST);
    assert_non_null(strstr(reeve_client_error(behind), "unknown whether the task was enqueued"));
}

/* What ended before the step goes first, and older records stay. */
static void an_hour_back(void)
{
    test_clock_advance(-HOUR);
    run("x");
    run("y");
    run("z");
    test_maintain_all("q");
}

static void what_ended_before_a_step_back_is_not_enqueued_again(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "ZADD " Q "completed 1 old");
    keep_completed(-1, 4);
    expect_unknown(lose_and_move(an_hour_back));
}

/* What is kept for an hour has gone by then. */
static void two_hours_on(void)
{
    test_clock_advance(2 * HOUR);
    test_maintain_all("q");
}

static void what_ended_before_a_step_forward_is_not_enqueued_again(void **state)
{
    (void)state;
    keep_completed(HOUR, -1);
    expect_unknown(lose_and_move(two_hours_on));
}

/* Others that ended later, but before the step, have pushed it out. */
static void an_hour_on(void)
{
    run("x");
    run("y");
    test_clock_advance(HOUR);
    test_maintain_all("q");
}

static void what_others_pushed_out_before_a_step_forward_is_not_enqueued_again(void **state)
{
    (void)state;
    keep_completed(-1, 2);
    expect_unknown(lose_and_move(an_hour_on));
}

static void hold_the_clock(void)
{
}

static void what_is_kept_tells_that_it_came(void **state)
{
    (void)state;
    assert_int_equal(lose_and_move(hold_the_clock), REEVE_OK);
    assert_string_equal(test_state("q", "n0"), "completed");
}

/* The reply for a task that is not there, 3 s after a first try when the clock was `at_ms`. */
static const char *again(const char *id, int64_t at_ms)
{
    const rv_reply *reply;
    char way[64];
    (void)snprintf(way, sizeof(way), "again 3000 %lld", (long long)at_ms);
    rv_cmd_script(test_conn, &rv_script_enqueue, 1, 4);
    rv_args(test_conn, Q);
    rv_args(test_conn, way);
    rv_args(test_conn, id);
    rv_args(test_conn, "");
    rv_args(test_conn, "\"type\":\"t\"}\n");
    (void)rv_conn_call(test_conn, 0, &reply);
    return test_reply_text(reply);
}

/* A record that went because of the task's own retention: the task may have been the one of the first try. */
static void a_retention_of_its_own_spoils_the_proof(void **state)
{
    (void)state;
    test_clock_set(1700000000000);
    int64_t now = test_clock_now();
    test_put_spec((reeve_task_spec){.id = "n0", .keep_ms = 500});
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_KEPT("n0"));
    assert_string_equal(again("other", now - 3000), "[1]");
    test_clock_advance(1000);
    test_maintain_all("q");
    assert_string_equal(test_state("q", "n0"), "");
    assert_string_equal(again("n0", now - 2000), "[-1]");
    /* It ended before the first try. */
    test_clock_advance(10000);
    assert_string_equal(again("n0", now + 8000), "[1]");
}

static void the_proof_goes_by_the_clock_of_the_first_try(void **state)
{
    (void)state;
    test_clock_set(1700000000000);
    int64_t now = test_clock_now();
    run("first");
    assert_string_equal(again("a", now - 3000), "[1]");
    assert_string_equal(again("b", now - 3040), "[1]"); /* clocks drift */
    assert_string_equal(again("c", now - 2900), "[-1]");
    assert_string_equal(again("c", now + HOUR), "[-1]");
    assert_string_equal(again("c", now - 3000 - 23 * HOUR), "[1]");
    assert_string_equal(again("d", now - 3000 - 24 * HOUR), "[-1]");
    keep_completed(-1, 1);
    assert_string_equal(again("d", now - 3000), "[-1]");
    test_clock_advance(HOUR);
    assert_string_equal(again("d", now - 3000), "[-1]");
    assert_string_equal(again("d", now + 1500), "[1]");
    assert_string_equal(test_cmd(test_conn, "HEXISTS " Q "tasks d"), "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_kept_tells_that_it_came, set_up),
        cmocka_unit_test_setup(what_ended_before_a_step_back_is_not_enqueued_again, set_up),
        cmocka_unit_test_setup(what_ended_before_a_step_forward_is_not_enqueued_again, set_up),
        cmocka_unit_test_setup(what_others_pushed_out_before_a_step_forward_is_not_enqueued_again, set_up),
        cmocka_unit_test_setup(a_retention_of_its_own_spoils_the_proof, set_up),
        cmocka_unit_test_setup(the_proof_goes_by_the_clock_of_the_first_try, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_clock_enqueue", tests, start, stop);
}
