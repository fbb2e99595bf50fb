/* Waiting for a task to end: it has ended, it ends later, it will not, and what may happen to the connection
 * meanwhile. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/queue.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* What a client has for each of its calls: longer than any test. */
#define CALL_MS 600000

/* ---- a waiting thread ------------------------------------------------------------------------------------------ */

typedef struct waiter {
    pthread_t thread;
    reeve_client *client;
    const char *id;
    int64_t timeout_ms;
    atomic_bool over;
    reeve_status status;
    char words[512];
    reeve_task_info *info;
} waiter;

static void *wait_for_it(void *argument)
{
    waiter *w = argument;
    w->status = reeve_wait(w->client, "q", w->id, w->timeout_ms, &w->info);
    rv_copy_text(w->words, sizeof(w->words), reeve_client_error(w->client));
    atomic_store(&w->over, true);
    return NULL;
}

static void begin(waiter *w, const char *id, int64_t timeout_ms)
{
    *w = (waiter){.client = test_client_open(CALL_MS), .id = id, .timeout_ms = timeout_ms};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_it, w), 0);
}

/* Word has been left, so it waits for good. */
static void await_waiters(long long count)
{
    TEST_AWAIT(test_number("ZCARD " Q "waiters") == count);
}

static reeve_status end(waiter *w)
{
    TEST_AWAIT(atomic_load(&w->over));
    (void)pthread_join(w->thread, NULL);
    reeve_client_close(w->client);
    return w->status;
}

/* ---- ended ----------------------------------------------------------------------------------------------------- */

static void ended_before(void **state)
{
    (void)state;
    reeve_task_info *info;
    test_put("q", "done dead cancelled");
    (void)test_lease(&hand, 2);
    test_settle(&hand, TEST_RESULT("done", "r"), TEST_FAIL("dead"));
    test_ok(test_client, reeve_cancel(test_client, "q", "cancelled"));
    test_ok(test_client, reeve_wait(test_client, "q", "done", 0, &info));
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    assert_string_equal(info->result.data, "r");
    reeve_task_info_free(info);
    test_refused(test_client, reeve_wait(test_client, "q", "dead", -1, &info), REEVE_EDEAD, "q/dead is dead: k: m");
    assert_int_equal(info->state, REEVE_STATE_DEAD);
    reeve_task_info_free(info);
    test_refused(test_client, reeve_wait(test_client, "q", "cancelled", -1, &info), REEVE_ECANCELLED,
                 "q/cancelled was cancelled");
    assert_int_equal(info->state, REEVE_STATE_CANCELLED);
    reeve_task_info_free(info);
    test_ok(test_client, reeve_wait(test_client, "q", "done", -1, NULL));
    assert_int_equal(test_number("EXISTS " Q "waiters"), 0);
}

static void never_there(void **state)
{
    (void)state;
    reeve_task_info *info = (void *)1;
    test_refused(test_client, reeve_wait(test_client, "q", "none", -1, &info), REEVE_ENOTFOUND, "no task q/none");
    assert_null(info);
    test_refused(test_client, reeve_wait(test_client, "q", "", -1, NULL), REEVE_EINVAL, "id");
    test_refused(test_client, reeve_wait(test_client, "a b", "x", -1, NULL), REEVE_EINVAL, "a b");
    assert_int_equal(reeve_wait(NULL, "q", "x", -1, NULL), REEVE_EINVAL);
}

static void ends_later(void **state)
{
    (void)state;
    static const struct {
        test_outcome outcome;
        reeve_status status;
    } ends[] = {{TEST_DONE("x"), REEVE_OK}, {TEST_RESULT("x", "r"), REEVE_OK}, {TEST_FAIL("x"), REEVE_EDEAD}};
    for (size_t i = 0; i < 3; i++) {
        waiter w;
        test_put("q", "x");
        begin(&w, "x", -1);
        await_waiters(1);
        (void)test_lease(&hand, 1);
        (void)test_turn(&hand, 0, &ends[i].outcome, 1);
        assert_int_equal(end(&w), ends[i].status);
        assert_non_null(w.info);
        reeve_task_info_free(w.info);
        test_ok(test_client, reeve_delete(test_client, "q", "x"));
        assert_int_equal(test_number("EXISTS " Q "waiters"), 0);
    }
}

static void is_cancelled_or_deleted(void **state)
{
    (void)state;
    waiter w;
    test_put("q", "x y");
    begin(&w, "x", -1);
    await_waiters(1);
    test_ok(test_client, reeve_cancel(test_client, "q", "x"));
    assert_int_equal(end(&w), REEVE_ECANCELLED);
    assert_int_equal(w.info->state, REEVE_STATE_CANCELLED);
    reeve_task_info_free(w.info);
    begin(&w, "y", -1);
    await_waiters(1);
    test_ok(test_client, reeve_delete(test_client, "q", "y"));
    assert_int_equal(end(&w), REEVE_ENOTFOUND);
    assert_string_equal(w.words, "q/y was deleted");
    assert_null(w.info);
}

/* Completed, and no record of it is kept. */
static void ends_without_a_record(void **state)
{
    (void)state;
    waiter w;
    const reeve_keep none = {0};
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = &none, .dead = &none}));
    test_put("q", "x y");
    begin(&w, "x", -1);
    await_waiters(1);
    (void)test_lease(&hand, 2);
    test_settle(&hand, TEST_DONE("x"));
    assert_int_equal(end(&w), REEVE_OK);
    assert_null(w.info);
    begin(&w, "y", -1);
    await_waiters(1);
    test_settle(&hand, TEST_FAIL("y"));
    assert_int_equal(end(&w), REEVE_EDEAD);
    assert_null(w.info);
}

static void through_retries(void **state)
{
    (void)state;
    waiter w;
    test_put("q", "x");
    begin(&w, "x", -1);
    await_waiters(1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(test_lease(&hand, 1), 1);
        test_settle(&hand, TEST_RETRY("x", 0));
        assert_int_equal(test_maintain("q", 10).promoted, 1);
        assert_false(w.over);
    }
    (void)test_lease(&hand, 1);
    test_settle(&hand, {0, {.id = "x", .outcome = REEVE_OUTCOME_DONE, .has_info = true}});
    assert_int_equal(end(&w), REEVE_OK);
    assert_int_equal(w.info->failures, 3);
    reeve_task_info_free(w.info);
}

static void many_wait_for_one_and_one_for_many(void **state)
{
    (void)state;
    waiter same[4], other;
    test_put("q", "x y");
    for (int i = 0; i < 4; i++) begin(&same[i], "x", -1);
    begin(&other, "y", -1);
    await_waiters(2);
    TEST_AWAIT(strcmp(test_cmd(test_conn, "PUBSUB NUMSUB " Q "done:x"), "[" Q "done:x 4]") == 0);
    (void)test_lease(&hand, 2);
    test_settle(&hand, TEST_DONE("x"));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(end(&same[i]), REEVE_OK);
        reeve_task_info_free(same[i].info);
    }
    assert_false(other.over);
    test_settle(&hand, TEST_DONE("y"));
    assert_int_equal(end(&other), REEVE_OK);
    reeve_task_info_free(other.info);
}

/* ---- not ended ------------------------------------------------------------------------------------------------- */

static void not_in_time(void **state)
{
    (void)state;
    reeve_task_info *info = (void *)1;
    test_put("q", "x");
    int64_t begin_ms = rv_now_ms();
    test_refused(test_client, reeve_wait(test_client, "q", "x", 80, &info), REEVE_ETIMEOUT,
                 "q/x has not ended in time");
    assert_in_range(rv_now_ms() - begin_ms, 79, 60000);
    assert_null(info);
    test_refused(test_client, reeve_wait(test_client, "q", "x", 0, NULL), REEVE_ETIMEOUT, "not ended");
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_DONE("x"));
    test_ok(test_client, reeve_wait(test_client, "q", "x", 0, NULL)); /* and now it has */
}

static void interrupted_by_another_thread(void **state)
{
    (void)state;
    waiter w;
    test_put("q", "x");
    begin(&w, "x", -1);
    await_waiters(1);
    reeve_client_interrupt(w.client);
    TEST_AWAIT(atomic_load(&w.over));
    assert_int_equal(w.status, REEVE_EINTERRUPTED);
    assert_string_equal(w.words, "waiting for q/x was interrupted");
    assert_int_equal(reeve_wait(w.client, "q", "x", 50, NULL), REEVE_ETIMEOUT); /* once is once */
    reeve_client_interrupt(w.client);                                           /* before: the next one ends */
    assert_int_equal(reeve_wait(w.client, "q", "x", -1, NULL), REEVE_EINTERRUPTED);
    assert_int_equal(end(&w), REEVE_EINTERRUPTED);
    reeve_client_interrupt(NULL);
}

static reeve_client *in_handler;

static void on_alarm(int number)
{
    (void)number;
    reeve_client_interrupt(in_handler);
}

static void interrupted_by_a_signal_handler(void **state)
{
    (void)state;
    struct sigaction before, action = {.sa_handler = on_alarm};
    test_put("q", "x");
    in_handler = test_client;
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    (void)ualarm(30000, 0);
    test_refused(test_client, reeve_wait(test_client, "q", "x", -1, NULL), REEVE_EINTERRUPTED, "interrupted");
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

/* An interrupt concerns waiting: other calls go on, also while they look for a connection, and they do not spin. */
static void an_interrupt_leaves_other_calls_alone(void **state)
{
    (void)state;
    test_put("q", "x");
    reeve_client_interrupt(test_client);
    assert_string_equal(test_state("q", "x"), "ready");
    assert_int_equal(reeve_wait(test_client, "q", "x", -1, NULL), REEVE_EINTERRUPTED);
}

/* ---- losses ---------------------------------------------------------------------------------------------------- */

static void connections_are_killed(void **state)
{
    (void)state;
    waiter w;
    test_put("q", "x");
    begin(&w, "x", -1);
    for (int i = 0; i < 10; i++) {
        await_waiters(1);
        (void)test_cmd(test_conn, "DEL " Q "waiters");
        (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
        (void)test_cmd(test_conn, "CLIENT KILL TYPE normal SKIPME yes");
    }
    await_waiters(1);
    assert_false(w.over);
    (void)test_lease(&hand, 1);
    test_settle(&hand, TEST_DONE("x"));
    assert_int_equal(end(&w), REEVE_OK);
    reeve_task_info_free(w.info);
}

/* The end is told while nobody listens. */
static void it_ends_while_the_connection_is_down(void **state)
{
    (void)state;
    waiter w;
    test_put("q", "x");
    begin(&w, "x", -1);
    await_waiters(1);
    (void)test_lease(&hand, 1);
    for (int i = 0; i < 5 && !w.over; i++) (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    test_settle(&hand, TEST_DONE("x"));
    assert_int_equal(end(&w), REEVE_OK);
    reeve_task_info_free(w.info);
}

static void redis_is_restarted(void **state)
{
    (void)state;
    waiter w;
    test_put("q", "x");
    (void)test_lease(&hand, 1);
    begin(&w, "x", -1);
    for (int i = 0; i < 2; i++) {
        await_waiters(1);
        test_redis_kill(test_redis);
        usleep(i == 0 ? 0 : 700000);
        assert_false(w.over);
        test_redis_launch(test_redis);
        test_conn_again();
        (void)test_cmd(test_conn, "DEL " Q "waiters");
    }
    await_waiters(1);
    test_settle(&hand, TEST_DONE("x"));
    assert_int_equal(end(&w), REEVE_OK);
    reeve_task_info_free(w.info);
}

static void redis_does_not_come_back(void **state)
{
    (void)state;
    waiter timed, interrupted;
    test_put("q", "x");
    begin(&timed, "x", 5000);
    begin(&interrupted, "x", -1);
    TEST_AWAIT(strcmp(test_cmd(test_conn, "PUBSUB NUMSUB " Q "done:x"), "[" Q "done:x 2]") == 0);
    await_waiters(1);
    int64_t begin_ms = rv_now_ms();
    test_redis_kill(test_redis);
    TEST_AWAIT(timed.over);
    if (timed.status != REEVE_ETIMEOUT && timed.status != REEVE_ECONNECT) fail_msg("%d %s", timed.status, timed.words);
    assert_in_range(rv_now_ms() - begin_ms, 0, 60000);
    reeve_client_interrupt(interrupted.client);
    assert_int_equal(end(&interrupted), REEVE_EINTERRUPTED);
    (void)end(&timed);
    test_redis_launch(test_redis);
    test_conn_again();
}

/* A deaf Redis does not make a short wait long. */
static void redis_is_deaf(void **state)
{
    (void)state;
    waiter w;
    test_put("q", "x");
    begin(&w, "x", 3000);
    await_waiters(1);
    test_redis_freeze(test_redis);
    int64_t begin_ms = rv_now_ms();
    TEST_AWAIT(w.over);
    assert_in_range(rv_now_ms() - begin_ms, 0, 60000);
    begin_ms = rv_now_ms(); /* nor one that begins now */
    assert_int_not_equal(reeve_wait(w.client, "q", "x", 200, NULL), REEVE_OK);
    assert_in_range(rv_now_ms() - begin_ms, 0, 60000);
    test_redis_thaw(test_redis);
    assert_int_equal(end(&w), REEVE_ETIMEOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ended_before, set_up),
        cmocka_unit_test_setup(never_there, set_up),
        cmocka_unit_test_setup(ends_later, set_up),
        cmocka_unit_test_setup(is_cancelled_or_deleted, set_up),
        cmocka_unit_test_setup(ends_without_a_record, set_up),
        cmocka_unit_test_setup(through_retries, set_up),
        cmocka_unit_test_setup(many_wait_for_one_and_one_for_many, set_up),
        cmocka_unit_test_setup(not_in_time, set_up),
        cmocka_unit_test_setup(interrupted_by_another_thread, set_up),
        cmocka_unit_test_setup(interrupted_by_a_signal_handler, set_up),
        cmocka_unit_test_setup(an_interrupt_leaves_other_calls_alone, set_up),
        cmocka_unit_test_setup(connections_are_killed, set_up),
        cmocka_unit_test_setup(it_ends_while_the_connection_is_down, set_up),
        cmocka_unit_test_setup(redis_is_restarted, set_up),
        cmocka_unit_test_setup(redis_does_not_come_back, set_up),
        cmocka_unit_test_setup(redis_is_deaf, set_up),
    };
    test_options.persist = true;
    return cmocka_run_group_tests_name("ct_wait", tests, test_place_start, test_place_stop);
}
