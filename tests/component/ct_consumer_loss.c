/* A consumer that loses its connection, its session or its process; and what its program learns of a task that it does
 * not hold any more. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/scripts.h"
#include "support/consumer.h"
#include "support/proxy.h"
#include "support/worker.h"

static reeve_consumer *c;

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

static void end(void)
{
    test_good(c, reeve_consumer_close(c));
    TEST_AWAIT(test_count("q", "running") == 0);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* ---- the connection -------------------------------------------------------------------------------------------- */

static void leases_outlive_a_connection(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "a b c");
    assert_string_equal(test_pull(c, 3, true), "a b c");
    test_kill_connections();
    test_good(c, test_settle_done(c, 0, "r"));
    test_kill_connections();
    TEST_AWAIT(reeve_task_heartbeat(test_pulled[1]) == REEVE_OK);
    test_kill_connections();
    test_put("q", "d");
    reeve_task *b = test_pulled[1], *third = test_pulled[2];
    assert_string_equal(test_pull(c, 3, true), "d");
    assert_false(reeve_task_should_stop(b) || reeve_task_should_stop(third));
    test_good(c, reeve_consumer_settle(c, b, reeve_task_done(b, NULL, 0)));
    test_good(c, reeve_consumer_settle(c, third, reeve_task_done(third, NULL, 0)));
    test_good(c, test_settle_done(c, 0, NULL));
    assert_int_equal(test_count("q", "completed"), 4);
    reeve_worker_stats stats;
    reeve_consumer_get_stats(c, &stats);
    assert_int_equal(stats.refused, 0);
    assert_int_equal(stats.completed, 4);
    end();
}

/* The reply of each second turn is lost: what it settled counts once, what it leased goes back and comes again. */
static void lost_replies_change_nothing(void **state)
{
    (void)state;
    enum { COUNT = 30 };
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_consumer_options options = {.redis = test_proxy_url(proxy)};
    unsigned char seen[COUNT] = {0};
    c = test_consumer_open("q", &options);
    test_put_many("q", COUNT, "%zu");
    for (unsigned done = 0; done < COUNT;) {
        test_proxy_lose_all(proxy, rv_script_turn.sha, 1);
        (void)test_pull(c, 4, true);
        test_proxy_lose_all(proxy, rv_script_turn.sha, 1);
        for (unsigned i = 0; i < test_pulled_count; i++) {
            seen[atoi(reeve_task_id(test_pulled[i]))]++;
            test_good(c, test_settle_done(c, i, NULL));
            done++;
        }
    }
    for (unsigned i = 0; i < COUNT; i++) assert_int_equal(seen[i], 1);
    assert_int_equal(test_count("q", "completed"), COUNT);
    end();
    test_proxy_stop(proxy);
}

static void without_redis_calls_end_in_time_and_the_outcome_stays(void **state)
{
    (void)state;
    unsigned count;
    test_link_make();
    const reeve_consumer_options options = {.redis = test_link_url(), .command_ms = 300};
    c = test_consumer_open("q", &options);
    test_put("q", "a b");
    (void)test_pull(c, 2, true);
    reeve_task *a = test_pulled[0], *b = test_pulled[1], *more;
    test_link_cut();
    int64_t begun = rv_now_ms();
    assert_int_equal(reeve_consumer_settle(c, a, reeve_task_done(a, "r", 1)), REEVE_ECONNECT);
    assert_true(strlen(reeve_consumer_error(c)) > 0);
    assert_int_equal(reeve_consumer_lease(c, &more, 1, 100, &count), REEVE_ECONNECT);
    assert_in_range(rv_now_ms() - begun, 500, 20000);
    test_good(c, reeve_consumer_settle_later(c, b, reeve_task_done(b, NULL, 0)));
    test_link_make();
    test_good(c, reeve_consumer_settle(c, a, REEVE_OUTCOME_DONE));
    assert_string_equal(test_state("q", "a"), "completed");
    assert_string_equal(test_state("q", "b"), "completed");
    end();
}

/* ---- the lease ------------------------------------------------------------------------------------------------- */

static void a_lost_lease_is_told_and_refused(void **state)
{
    (void)state;
    const reeve_consumer_options options = {.session_ms = 600};
    c = test_consumer_open("q", &options);
    test_put("q", "a b");
    (void)test_pull(c, 2, true);
    reeve_task *a = test_pulled[0], *b = test_pulled[1];
    test_take_session_away(test_consumer_session());
    TEST_AWAIT(reeve_task_should_stop(a) && reeve_task_should_stop(b));
    assert_false(reeve_task_is_cancelled(a));
    assert_int_equal(reeve_task_heartbeat(a), REEVE_EREFUSED);
    assert_int_equal(reeve_task_progress(a, 1, NULL), REEVE_EREFUSED);
    /* The same tasks, in a new session. */
    TEST_AWAIT(strlen(test_pull(c, 2, false)) > 0);
    assert_int_equal(reeve_consumer_settle(c, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
    const reeve_outcome outcome = reeve_task_done(b, NULL, 0);
    assert_int_equal(reeve_consumer_settle_later(c, b, outcome), REEVE_EREFUSED);
    assert_int_equal(test_count("q", "completed"), 0);
    for (unsigned i = 0; i < test_pulled_count; i++) test_good(c, test_settle_done(c, i, NULL));
    reeve_worker_stats stats;
    reeve_consumer_get_stats(c, &stats);
    assert_int_equal(stats.refused, 2);
    end();
}

static void a_cancel_is_told(void **state)
{
    (void)state;
    bool running;
    c = test_consumer_open("q", NULL);
    test_put("q", "a b c");
    (void)test_pull(c, 3, true);
    test_ok(test_client, reeve_cancel_with_running(test_client, "q", "b", &running));
    TEST_AWAIT(reeve_task_is_cancelled(test_pulled[1]));
    assert_true(reeve_task_should_stop(test_pulled[1]));
    assert_false(reeve_task_should_stop(test_pulled[0]));
    for (unsigned i = 0; i < 3; i++) {
        reeve_outcome outcome = reeve_task_retry(test_pulled[i], 60000, "k", "m");
        test_good(c, reeve_consumer_settle(c, test_pulled[i], outcome));
    }
    assert_string_equal(test_state("q", "a"), "scheduled");
    assert_string_equal(test_state("q", "b"), "cancelled");
    end();
}

static void a_time_limit_ends_the_attempt(void **state)
{
    (void)state;
    c = test_consumer_open("q", NULL);
    test_put("q", "other");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .timeout_ms = 50, .attempts = 1});
    (void)test_pull(c, 2, true);
    reeve_task *a = test_pulled[1];
    TEST_AWAIT_STATE("a", "dead");
    assert_true(reeve_task_should_stop(a));
    assert_false(reeve_task_should_stop(test_pulled[0]));
    assert_string_equal(test_cmd(test_conn, "HGET " Q "info:a kind"), "timeout");
    assert_int_equal(reeve_consumer_settle(c, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
    test_good(c, test_settle_done(c, 0, NULL));
    end();
}

/* ---- the process ----------------------------------------------------------------------------------------------- */

/* A process of its own leases a task, says so, and dies. */
static void lease_and_die(int said)
{
    reeve_task *task;
    unsigned count = 0;
    const char *const queues[] = {"q"};
    reeve_consumer *own;
    const reeve_consumer_options options = {
        .redis = test_redis_url(test_redis), .queues = queues, .queue_count = 1, .session_ms = 500};
    if (reeve_consumer_open(&own, &options, NULL, 0) != REEVE_OK) _exit(1);
    if (reeve_consumer_lease(own, &task, 1, 30000, &count) != REEVE_OK || count != 1) _exit(2);
    if (write(said, "x", 1) != 1) _exit(3);
    for (;;) pause();
}

static void tasks_of_a_killed_process_run_elsewhere(void **state)
{
    (void)state;
    int said[2], status;
    char byte;
#ifdef __SANITIZE_THREAD__
    skip(); /* it ends children that start threads */
#endif
    test_put("q", "a");
    assert_int_equal(pipe(said), 0);
    pid_t child = fork();
    if (child == 0) lease_and_die(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    c = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(c, 1, false), "");
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_string_equal(test_pull(c, 1, true), "a");
    assert_int_equal(reeve_task_crashes(test_pulled[0]), 1);
    test_good(c, test_settle_done(c, 0, NULL));
    close(said[0]);
    close(said[1]);
    end();
}

static void a_forked_child_is_refused(void **state)
{
    (void)state;
    int status;
    c = test_consumer_open("q", NULL);
    pid_t child = fork();
    if (child == 0) {
        reeve_task *task;
        unsigned count;
        bool good = reeve_consumer_lease(c, &task, 1, 0, &count) == REEVE_ESTATE &&
                    reeve_consumer_flush(c) == REEVE_ESTATE && reeve_consumer_close(c) == REEVE_ESTATE;
        /* It is killed, so that nobody looks for leaks: what other threads held is lost in a child. */
        (void)kill(getpid(), good ? SIGKILL : SIGTERM);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    end();
}

/* ---- heartbeats ------------------------------------------------------------------------------------------------ */

static void heartbeats_by_hand_keep_the_leases(void **state)
{
    (void)state;
    const reeve_consumer_options options = {.session_ms = 500, .manual_heartbeat = true};
    c = test_consumer_open("q", &options);
    test_put("q", "a");
    (void)test_pull(c, 1, true);
    for (int64_t until = rv_now_ms() + 1200; rv_now_ms() < until;) {
        test_good(c, reeve_consumer_heartbeat(c));
        usleep(50000);
    }
    assert_false(reeve_task_should_stop(test_pulled[0]));
    test_good(c, test_settle_done(c, 0, NULL));
    end();
}

static void without_heartbeats_by_hand_the_leases_end(void **state)
{
    (void)state;
    const reeve_consumer_options options = {.session_ms = 500, .manual_heartbeat = true};
    c = test_consumer_open("q", &options);
    test_put("q", "a");
    (void)test_pull(c, 1, true);
    reeve_task *a = test_pulled[0];
    TEST_AWAIT_STATE("a", "ready");
    test_good(c, reeve_consumer_heartbeat(c));
    assert_true(reeve_task_should_stop(a));
    assert_int_equal(reeve_consumer_settle(c, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
    assert_string_equal(test_pull(c, 1, true), "a");
    test_good(c, test_settle_done(c, 0, NULL));
    end();
}

/* ---- crashes --------------------------------------------------------------------------------------------------- */

/* A task that has crashed twice counts its next crash alone, unless the program takes others beside it. */
static void a_suspect_is_noted(void **state)
{
    (void)state;
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    test_put("q", "a");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(test_lease(&hand, 1), 1);
        test_expire(&hand);
        test_maintain_all("q");
        test_hand_init(&hand, "1", "q");
        TEST_AWAIT_STATE("a", "ready");
    }
    c = test_consumer_open("q", NULL);
    assert_string_equal(test_pull(c, 4, true), "a");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "running:%s #suspect", test_consumer_session()), "a alone");
    reeve_task *a = test_pulled[0];
    test_put("q", "b");
    assert_string_equal(test_pull(c, 4, true), "b");
    assert_string_equal(test_cmd(test_conn, "HGET " Q "running:%s #suspect", test_consumer_session()), "a beside");
    test_good(c, test_settle_done(c, 0, NULL));
    test_good(c, reeve_consumer_settle(c, a, reeve_task_retry(a, 0, "k", "m")));
    assert_int_equal(test_number("HGET " Q "info:a crashes"), 2);
    assert_string_equal(test_pull(c, 4, true), "a");
    a = test_pulled[0];
    test_good(c, reeve_consumer_settle(c, a, reeve_task_retry(a, 0, "k", "m")));
    assert_int_equal(test_number("HEXISTS " Q "info:a crashes"), 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(leases_outlive_a_connection, set_up),
        cmocka_unit_test_setup(lost_replies_change_nothing, set_up),
        cmocka_unit_test_setup(without_redis_calls_end_in_time_and_the_outcome_stays, set_up),
        cmocka_unit_test_setup(a_lost_lease_is_told_and_refused, set_up),
        cmocka_unit_test_setup(a_cancel_is_told, set_up),
        cmocka_unit_test_setup(a_time_limit_ends_the_attempt, set_up),
        cmocka_unit_test_setup(tasks_of_a_killed_process_run_elsewhere, set_up),
        cmocka_unit_test_setup(a_forked_child_is_refused, set_up),
        cmocka_unit_test_setup(heartbeats_by_hand_keep_the_leases, set_up),
        cmocka_unit_test_setup(without_heartbeats_by_hand_the_leases_end, set_up),
        cmocka_unit_test_setup(a_suspect_is_noted, set_up),
    };
    return cmocka_run_group_tests_name("ct_consumer_loss", tests, test_place_start, test_place_stop);
}
