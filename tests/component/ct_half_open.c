/* Connections that are dead at one end only: neither end is told, and messages of subscriptions do not arrive. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "running/worker_state.h"
#include "support/proxy.h"
#include "support/worker.h"

static test_proxy *proxy;

static int set_up(void **state)
{
    test_close_gate();
    int failed = test_place_empty(state);
    proxy = test_proxy_start(test_redis);
    return failed;
}

static int tear_down(void **state)
{
    (void)state;
    test_proxy_stop(proxy);
    return 0;
}

/* The id of the newest subscribed connection; 0: there is none. */
static long long newest_subscriber(void)
{
    long long newest = 0;
    for (const char *line = test_cmd(test_conn, "CLIENT LIST TYPE pubsub"); line != NULL && line[0] != '\0';) {
        long long id = strncmp(line, "id=", 3) == 0 ? strtoll(line + 3, NULL, 10) : 0;
        if (id > newest) newest = id;
        line = strchr(line, '\n');
        if (line != NULL) line++;
    }
    return newest;
}

/* ---- the control channel --------------------------------------------------------------------------------------- */

static bool is_heard_of(const reeve_worker *worker)
{
    return strstr(test_cmd(test_conn, "PUBSUB NUMSUB reeve:alive:%s", worker->id), " 1]") != NULL;
}

static reeve_worker *run_worker(int64_t session_ms)
{
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .session_ms = session_ms, .command_ms = 3000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    TEST_AWAIT(is_heard_of(worker));
    return worker;
}

static void cancel_over_a_dead_channel(bool cut)
{
    reeve_worker *worker = run_worker(600);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "hold"});
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    test_proxy_mute_open(proxy, "alive:", cut);
    test_ok(test_client, reeve_cancel(test_client, "q", "n0"));
    TEST_AWAIT_STATE("n0", "cancelled");
    assert_int_equal(atomic_load(&test_announced), 1);
    TEST_AWAIT(is_heard_of(worker));
    test_worker_end(worker);
}

static void a_cancel_is_heard_although_the_control_channel_is_silent(void **state)
{
    (void)state;
    cancel_over_a_dead_channel(false);
}

static void a_cancel_is_heard_although_the_control_channel_is_closed_at_the_other_end(void **state)
{
    (void)state;
    cancel_over_a_dead_channel(true);
}

static long long pings(void)
{
    const char *calls = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_ping:calls=");
    return calls == NULL ? 0 : strtoll(calls + strlen("cmdstat_ping:calls="), NULL, 10);
}

static void a_control_channel_without_messages_stays_open(void **state)
{
    (void)state;
    reeve_worker *worker = run_worker(3000);
    long long before = newest_subscriber(), begun = pings();
    TEST_AWAIT(pings() >= begun + 2);
    assert_int_equal(newest_subscriber(), before);
    test_worker_end(worker);
}

/* ---- no control channel ---------------------------------------------------------------------------------------- */

static reeve_worker *run_deaf_worker(int64_t session_ms)
{
    reeve_worker *worker = run_worker(session_ms);
    test_proxy_slam(proxy, "$9\r\nSUBSCRIBE\r\n");
    (void)test_cmd(test_conn, "CLIENT KILL TYPE pubsub");
    TEST_AWAIT(test_proxy_lost(proxy) > 0);
    assert_false(is_heard_of(worker));
    return worker;
}

static void a_worker_that_cannot_subscribe_asks_for_cancels(void **state)
{
    (void)state;
    reeve_worker *worker = run_deaf_worker(600);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "hold"});
    TEST_AWAIT(atomic_load(&test_begun) == 1);
    test_ok(test_client, reeve_cancel(test_client, "q", "n0"));
    TEST_AWAIT_STATE("n0", "cancelled");
    assert_int_equal(atomic_load(&test_announced), 1);
    assert_false(is_heard_of(worker));
    test_worker_end(worker);
}

static void a_worker_that_cannot_subscribe_looks_for_due_tasks(void **state)
{
    (void)state;
    reeve_worker *worker = run_deaf_worker(60000);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t", .in_ms = 100});
    int64_t begun = rv_now_ms();
    TEST_AWAIT_STATE("n0", "completed");
    assert_in_range(rv_now_ms() - begun, 0, 20000);
    test_worker_end(worker);
}

/* ---- waiting for a task ---------------------------------------------------------------------------------------- */

static void *wait_for_n0(void *argument)
{
    reeve_client *client = argument;
    TEST_MUST(reeve_wait(client, "q", "n0", -1, NULL) == REEVE_OK);
    return NULL;
}

/* A wait for n0 by a client of its own. */
typedef struct waiting {
    reeve_client *client;
    pthread_t thread;
} waiting;

static void begin_waiting(waiting *w)
{
    const reeve_client_options options = {.redis = test_proxy_url(proxy), .timeout_ms = 500};
    assert_int_equal(reeve_client_open(&w->client, &options), REEVE_OK);
    test_put_spec((reeve_task_spec){.id = "n0", .type = "t"});
    assert_int_equal(pthread_create(&w->thread, NULL, wait_for_n0, w->client), 0);
    TEST_AWAIT(test_number("ZCARD reeve:{q}:waiters") == 1);
}

static void end_waiting(waiting *w)
{
    reeve_worker *worker = test_worker_run(1, 0);
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    test_worker_end_after(worker, 1);
    reeve_client_close(w->client);
}

static void a_wait_subscribes_again(void **state)
{
    (void)state;
    waiting w;
    begin_waiting(&w);
    long long first = newest_subscriber();
    test_proxy_mute_open(proxy, "done:n0", true);
    TEST_AWAIT(newest_subscriber() > first);
    end_waiting(&w);
}

/* The end is heard, and asked about over the connection that is dead. */
static void a_wait_survives_the_loss_of_the_other_connection(void **state)
{
    (void)state;
    waiting w;
    begin_waiting(&w);
    test_proxy_mute_open(proxy, "\r\n$2\r\nn0\r\n$5\r\n60000", false);
    end_waiting(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_cancel_is_heard_although_the_control_channel_is_silent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancel_is_heard_although_the_control_channel_is_closed_at_the_other_end,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_control_channel_without_messages_stays_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_that_cannot_subscribe_asks_for_cancels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_that_cannot_subscribe_looks_for_due_tasks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wait_subscribes_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wait_survives_the_loss_of_the_other_connection, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ct_half_open", tests, test_place_start, test_place_stop);
}
