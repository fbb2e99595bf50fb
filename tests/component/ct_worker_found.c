/* Leases and tasks that a worker's threads do not hear of: a Redis that came back older than it was, calls that
 * failed half way or came late, a wake-up for another queue than the one that was served. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/proxy.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static atomic_uint begun;
static atomic_bool tell;

static int set_up(void **state)
{
    test_close_gate();
    atomic_store(&begun, 0);
    atomic_store(&tell, false);
    return test_place_empty(state);
}

/* Says something as soon as it may, and again until Redis has heard it. */
static reeve_outcome run_talk(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&tell)) test_pause();
    while (reeve_task_progress(task, 50, "half") == REEVE_ELOST) test_pause();
    return reeve_task_done(task, NULL, 0);
}

/* The handler's words go over the thread's connection, and make it anew: its next turn meets no lost one. */
static void redis_comes_back_older(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "talk", run_talk, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "a", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    assert_string_equal(test_cmd(test_conn, "SAVE"), "OK");
    test_open_gate();
    TEST_AWAIT_STATE("a", "completed");
    test_put_spec((reeve_task_spec){.id = "b", .type = "talk"});
    TEST_AWAIT(begun == 1);
    test_redis_restart(test_redis);
    test_conn_again();
    assert_string_equal(test_state("q", "a"), "running");
    atomic_store(&tell, true);
    TEST_AWAIT_STATE("a", "completed");
    test_worker_end(worker);
}

static unsigned wrong_types(void)
{
    const char *stats = test_cmd(test_conn, "INFO errorstats"), *found = strstr(stats, "errorstat_WRONGTYPE:count=");
    unsigned count = 0;
    if (found != NULL) (void)sscanf(found, "errorstat_WRONGTYPE:count=%u", &count);
    return count;
}

/* What such a turn had leased is run as soon as that is possible. */
static void turns_fail_half_way(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    test_put_many("q", COUNT, "n%zu");
    assert_string_equal(test_cmd(test_conn, "DEL " Q "wake"), "1");
    assert_string_equal(test_cmd(test_conn, "SET " Q "wake no-list"), "OK");
    reeve_worker *worker = test_worker_run(1, 1);
    unsigned before = wrong_types();
    TEST_AWAIT(wrong_types() >= before + 8);
    assert_string_equal(test_cmd(test_conn, "DEL " Q "wake"), "1");
    TEST_AWAIT(test_number("ZCARD " Q "completed") == COUNT);
    assert_int_equal(test_count("q", "running"), 0);
    test_worker_end(worker);
    for (size_t i = 0; i < COUNT; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
}

static reeve_outcome run_once(reeve_task *task, void *user)
{
    (void)user;
    atomic_fetch_add(&begun, 1);
    return reeve_task_done(task, NULL, 0);
}

/* It was taken out of the session's hands before the turn failed: it is taken back, and begins once it is settled. */
static void a_task_is_settled_half_way_before_it_runs(void **state)
{
    (void)state;
    const reeve_handler handler = {.type = "once", .run = run_once, .at_most_once = true};
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    test_worker_pool(worker, "q", 1, 1);
    /* Where it stands before a session begins, none does. */
    test_put_spec((reeve_task_spec){.id = "first", .type = "once"});
    test_worker_start(worker);
    TEST_AWAIT(begun == 1);
    assert_string_equal(test_cmd(test_conn, "SET " Q "completed no-set"), "OK");
    unsigned before = wrong_types();
    test_put_spec((reeve_task_spec){.id = "a", .type = "once"});
    TEST_AWAIT(wrong_types() >= before + 3);
    assert_int_equal(begun, 1);
    assert_string_equal(test_cmd(test_conn, "DEL " Q "completed"), "1");
    TEST_AWAIT(begun == 2);
    TEST_AWAIT_STATE("a", "completed");
    test_worker_end(worker);
    assert_int_equal(begun, 2);
}

/* Redis has a turn still before it (it was frozen, and has read a part) when the thread has given up waiting and
 * asks what became of it. */
static void a_turn_is_carried_out_late(void **state)
{
    (void)state;
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .command_ms = 300, .session_ms = 60000};
    reeve_worker *worker = test_worker_new(&options);
    assert_int_equal(reeve_worker_handle(worker, "talk", run_talk, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 1);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    test_put_spec((reeve_task_spec){.id = "y", .type = "talk"});
    test_put("q", "n0");
    test_proxy_hold(proxy, rv_script_turn.sha);
    test_open_gate();
    TEST_AWAIT(test_proxy_holds(proxy));
    TEST_AWAIT(begun == 1);
    test_proxy_release(proxy);
    atomic_store(&tell, true);
    TEST_AWAIT(test_number("ZCARD " Q "completed") == 3);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
    test_proxy_stop(proxy);
}

static reeve_worker *run_pool(const char *queues)
{
    const reeve_worker_options options = {.session_ms = 120000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, queues, 1, 1);
    test_worker_start(worker);
    return worker;
}

static void await_waiting(unsigned threads)
{
    char words[40];
    (void)snprintf(words, sizeof(words), "blocked_clients:%u\r", threads);
    TEST_AWAIT(strstr(test_cmd(test_conn, "INFO clients"), words) != NULL);
}

/* A thread that was woken for one queue finds a task in another one first: the one it was woken for is for somebody
 * else. */
static void be_woken_for_another_queue(bool forgotten)
{
    reeve_worker *first = run_pool("a z"), *second;
    test_put("a", "n0");
    test_put("z", "n1");
    TEST_AWAIT(test_ran == 2);
    await_waiting(1);
    second = run_pool("b z");
    await_waiting(2);
    test_put("b", "n2");
    TEST_AWAIT(test_ran == 3);
    await_waiting(2);
    const reeve_task_spec specs[] = {{.queue = "z", .id = "n3", .type = "t"},
                                     {.queue = "a", .id = "x", .type = "hold"}};
    reeve_enqueued results[2];
    if (forgotten) assert_string_equal(test_cmd(test_conn, "SCRIPT FLUSH"), "OK");
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 2, results));
    TEST_AWAIT(test_begun == 1);
    TEST_AWAIT(test_runs[3] == 1);
    test_open_gate();
    test_worker_end(first);
    test_worker_end(second);
}

static void a_wake_up_is_for_another_queue(void **state)
{
    (void)state;
    be_woken_for_another_queue(false);
}

static void a_wake_up_finds_no_script(void **state)
{
    (void)state;
    be_woken_for_another_queue(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(redis_comes_back_older, set_up),
        cmocka_unit_test_setup(turns_fail_half_way, set_up),
        cmocka_unit_test_setup(a_task_is_settled_half_way_before_it_runs, set_up),
        cmocka_unit_test_setup(a_turn_is_carried_out_late, set_up),
        cmocka_unit_test_setup(a_wake_up_is_for_another_queue, set_up),
        cmocka_unit_test_setup(a_wake_up_finds_no_script, set_up),
    };
    return cmocka_run_group_tests_name("ct_worker_found", tests, test_place_start, test_place_stop);
}
