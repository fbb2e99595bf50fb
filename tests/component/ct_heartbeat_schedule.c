/* Heartbeats are sent in time, whatever else the worker has to ask Redis for. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/scripts.h"
#include "running/worker_state.h"
#include "support/collect.h"
#include "support/proxy.h"

/* 300 leases, 8 ms to Redis and back: to ask for each of them whether it was cancelled takes longer than a session. */
static void a_slow_way_to_redis_costs_no_session(void **state)
{
    (void)state;
    enum { EACH = 150, SESSION_MS = 1500 };
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .session_ms = SESSION_MS};
    reeve_worker *worker = test_collect_worker(&options, EACH, TEST_LONG_MS, 0);
    char session[RV_SESSION_LENGTH + 1], id[16];
    test_worker_pool(worker, "q", 2, 0);
    for (int i = 0; i < 2 * EACH; i++) {
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_collect_put(id, "hold");
    }
    test_worker_start(worker);
    TEST_AWAIT(atomic_load(&test_collected.in_call) == 2);
    rv_copy_text(session, sizeof(session), test_first_session());
    test_proxy_delay(proxy, 8);
    for (int64_t end = rv_now_ms() + 2 * SESSION_MS; rv_now_ms() < end; usleep(300000))
        (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    assert_string_equal(test_first_session(), session);
    test_maintain_all("q");
    assert_string_equal(test_first_session(), session);
    test_proxy_delay(proxy, 0);
    /* Cancels that were told while nobody listened are heard all the same. */
    test_ok(test_client, reeve_cancel(test_client, "q", "n7"));
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    atomic_store(&test_collected.go, true);
    TEST_AWAIT(test_count("q", "running") == 0);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
    test_proxy_stop(proxy);
}

static long long expires_at(const char *session)
{
    return test_number("ZSCORE reeve:{q}:sessions %s", session);
}

/* The call that begins it is carried out, and its reply does not come for longer than a session lasts. */
static void a_session_whose_begin_is_unanswered_stays_alive(void **state)
{
    (void)state;
    enum { SESSION_MS = 600, COMMAND_MS = 3000 };
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {
        .redis = test_proxy_url(proxy), .session_ms = SESSION_MS, .command_ms = COMMAND_MS};
    reeve_worker *worker = test_worker_new(&options);
    char session[RV_SESSION_LENGTH + 1];
    test_worker_pool(worker, "q", 1, 0);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    test_proxy_hold(proxy, "ERR begin_session"); /* of the text of the script */
    test_worker_start(worker);
    TEST_AWAIT(test_proxy_holds(proxy));
    test_proxy_release(proxy);
    TEST_AWAIT(test_number("ZCARD reeve:{q}:sessions") == 1);
    rv_copy_text(session, sizeof(session), test_first_session());
    long long begun = expires_at(session);
    TEST_AWAIT(test_count("q", "running") == 0 || expires_at(session) > begun + SESSION_MS);
    test_maintain_all("q");
    assert_string_equal(test_first_session(), session);
    assert_int_equal(test_count("q", "running"), 1);
    TEST_AWAIT_STATE("n0", "completed");
    assert_string_equal(test_first_session(), session);
    test_worker_end_after(worker, 1);
    test_proxy_stop(proxy);
}

/* The connection that a thread waits over is dead, and the thread does not know. */
static void lose_what_a_thread_waits_for(const char *queues, bool begins, bool cut)
{
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .session_ms = 600, .command_ms = 3000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, queues, 1, 0);
    if (begins) test_put_spec((reeve_task_spec){.id = "n1", .type = "t"});
    test_proxy_mute(proxy, "$5\r\nBLPOP\r\n", cut); /* as scripts name it, too */
    test_worker_start(worker);
    if (begins) TEST_AWAIT_STATE("n1", "completed");
    TEST_AWAIT(test_proxy_mutes(proxy));
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    TEST_AWAIT_STATE("n0", "completed");
    test_worker_end_after(worker, begins ? 2 : 1);
    test_proxy_stop(proxy);
}

static void what_a_dead_connection_was_handed_runs(void **state)
{
    (void)state;
    lose_what_a_thread_waits_for("q", true, false);
}

static void what_a_dead_connection_leased_runs(void **state)
{
    (void)state;
    lose_what_a_thread_waits_for("other q", true, false);
}

static void what_a_closed_connection_was_handed_runs(void **state)
{
    (void)state;
    lose_what_a_thread_waits_for("q", false, true);
}

static void a_wake_up_that_nobody_takes_is_noticed(void **state)
{
    (void)state;
    lose_what_a_thread_waits_for("other q", true, true);
}

static void a_wake_up_that_nobody_takes_is_noticed_without_a_session(void **state)
{
    (void)state;
    lose_what_a_thread_waits_for("other q", false, true);
}

static void a_wake_up_that_a_dead_connection_took_is_given_again(void **state)
{
    (void)state;
    lose_what_a_thread_waits_for("other q", false, false);
}

/* Handlers of a session that was lost still run: they are no tasks of the present session. */
static void a_task_of_a_lost_session_hides_no_dead_connection(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .session_ms = 600, .command_ms = 3000};
    reeve_worker *worker = test_worker_new(&options);
    test_close_gate();
    test_worker_pool(worker, "q", 3, 0);
    test_put_spec((reeve_task_spec){.id = "slow", .type = "stubborn"});
    test_worker_start(worker);
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    /* The task runs again under the next session: two threads run it. */
    test_take_session_away(test_first_session());
    TEST_AWAIT(atomic_load(&test_begun) == 2 && test_threads_are_idle(1));
    test_proxy_mute(proxy, "$5\r\nBLPOP\r\n", false);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    TEST_AWAIT_STATE("n0", "completed");
    TEST_AWAIT(test_proxy_mutes(proxy));
    test_put_spec((reeve_task_spec){.id = "n1", .type = "t"});
    TEST_AWAIT_STATE("n1", "completed");
    test_open_gate();
    TEST_AWAIT_STATE("slow", "completed");
    test_worker_end(worker);
    test_proxy_stop(proxy);
}

/* Fields that another version keeps in the session make its count too large for ever. */
static void foreign_fields_of_a_session_do_not_hide_a_dead_connection(void **state)
{
    (void)state;
    enum { HEARTBEATS = 34, MAX = 12 };
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .session_ms = 500, .command_ms = 3000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    TEST_AWAIT(strstr(test_cmd(test_conn, "PUBSUB NUMSUB reeve:alive:%s", worker->id), " 1]") != NULL);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    TEST_AWAIT_STATE("n0", "completed");
    (void)test_cmd(test_conn, "HSET reeve:{q}:running:%s #odd 1", test_first_session());
    TEST_AWAIT(atomic_load(&worker->heart.heartbeats) > HEARTBEATS);
    test_proxy_mute(proxy, "$5\r\nBLPOP\r\n", false);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "t"});
    TEST_AWAIT_STATE("n1", "completed");
    TEST_AWAIT(test_proxy_mutes(proxy));
    unsigned begun = atomic_load(&worker->heart.heartbeats);
    test_put_spec((reeve_task_spec){.id = "n2", .type = "t"});
    TEST_AWAIT_STATE("n2", "completed");
    assert_in_range(atomic_load(&worker->heart.heartbeats) - begun, 0, MAX);
    test_worker_end_after(worker, 3);
    test_proxy_stop(proxy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_slow_way_to_redis_costs_no_session, test_collect_begin),
        cmocka_unit_test_setup(a_session_whose_begin_is_unanswered_stays_alive, test_collect_begin),
        cmocka_unit_test_setup(what_a_dead_connection_was_handed_runs, test_collect_begin),
        cmocka_unit_test_setup(what_a_dead_connection_leased_runs, test_collect_begin),
        cmocka_unit_test_setup(what_a_closed_connection_was_handed_runs, test_collect_begin),
        cmocka_unit_test_setup(a_wake_up_that_nobody_takes_is_noticed, test_collect_begin),
        cmocka_unit_test_setup(a_wake_up_that_nobody_takes_is_noticed_without_a_session, test_collect_begin),
        cmocka_unit_test_setup(a_wake_up_that_a_dead_connection_took_is_given_again, test_collect_begin),
        cmocka_unit_test_setup(a_task_of_a_lost_session_hides_no_dead_connection, test_collect_begin),
        cmocka_unit_test_setup(foreign_fields_of_a_session_do_not_hide_a_dead_connection, test_collect_begin),
    };
    return cmocka_run_group_tests_name("ct_heartbeat_schedule", tests, test_place_start, test_place_stop);
}
