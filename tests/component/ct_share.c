/* One call of turn.lua for several threads of a pool: whatever becomes of that call, each task runs once and is settled
 * once, and limits and the end of a worker hold. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "running/worker_state.h"
#include "support/cmd.h"
#include "support/limits.h"
#include "support/proxy.h"
#include "support/worker.h"

#define Q "reeve:{q}:"
/* What only the turn of several threads has among its arguments. */
#define SEVERAL "$7\r\nseveral"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

/* Short tasks, each of which occupies its thread for 1 ms: "n<first>" and so on. */
static void put_naps(size_t first, size_t count)
{
    enum { AT_ONCE = 500 };
    static char ids[AT_ONCE][24];
    static reeve_task_spec specs[AT_ONCE];
    reeve_enqueued results[AT_ONCE];
    size_t some = 0;
    for (size_t i = first; i < first + count; i++) {
        (void)snprintf(ids[some], sizeof(ids[some]), "n%zu", i);
        specs[some] = (reeve_task_spec){.queue = "q", .type = "nap", .id = ids[some], .payload = {"1", 1}};
        if (++some < AT_ONCE && i + 1 < first + count) continue;
        test_ok(test_client, reeve_enqueue_many(test_client, specs, some, results));
        some = 0;
    }
}

static void put_act(size_t number, const char *words)
{
    char id[24];
    (void)snprintf(id, sizeof(id), "n%zu", number);
    test_put_spec((reeve_task_spec){.id = id, .type = "act", .payload = {words, strlen(words)}});
}

static reeve_worker *worker_of(const char *url, unsigned threads, unsigned batch)
{
    const reeve_worker_options options = {.redis = url};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", threads, batch);
    return worker;
}

static void expect_nothing_left(void)
{
    TEST_AWAIT(test_count("q", "running") == 0);
    assert_int_equal(test_number("EXISTS " Q "ready " Q "scheduled " Q "dead"), 0);
}

/* All tasks end, each in one run, and nothing is left of them. */
static void end_after(reeve_worker *worker, size_t count)
{
    TEST_AWAIT(test_count("q", "completed") == count);
    test_worker_end_after(worker, count);
    expect_nothing_left();
}

/* ---- what is saved --------------------------------------------------------------------------------------------- */

/* Runs `count` naps; returns whether threads shared calls for them. */
static bool run_shared(reeve_worker *worker, long count)
{
    put_naps(0, (size_t)count);
    test_remember_calls();
    test_worker_start(worker);
    TEST_AWAIT(test_number("ZCARD " Q "completed") == count); /* no script */
    bool shared = test_shared_calls() > 0;
    test_worker_end_after(worker, (size_t)count);
    expect_nothing_left();
    return shared;
}

/* On a machine that stalls threads call by themselves for some seconds (running/share.h): then all is done again. */
static void expect_shared_calls(void **state, reeve_worker *(*make)(void))
{
    enum { TIMES_MAX = 30, COUNT = 9000 };
    for (int times = 0; times < TIMES_MAX; times++) {
        set_up(state);
        if (run_shared(make(), COUNT)) return;
    }
    fail_msg("threads share no calls");
}

static reeve_worker *make_plain_worker(void)
{
    return worker_of(NULL, 64, 1);
}

static void busy_threads_share_their_calls(void **state)
{
    expect_shared_calls(state, make_plain_worker);
}

static void run_none(reeve_task *const *tasks, size_t count, void *user)
{
    (void)tasks;
    (void)count;
    (void)user;
}

static reeve_worker *make_worker_with_batch_handler(void)
{
    reeve_worker *worker = worker_of(NULL, 64, 1);
    const reeve_handler handler = {.type = "gathered", .run_batch = run_none, .batch_size = 100};
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    return worker;
}

static void a_batch_handler_of_another_type_changes_nothing(void **state)
{
    expect_shared_calls(state, make_worker_with_batch_handler);
}

/* ---- when it is not worth it ----------------------------------------------------------------------------------- */

static void put_large(size_t first, size_t count, size_t size)
{
    char *payload = malloc(size);
    assert_non_null(payload);
    memset(payload, ' ', size);
    payload[0] = '1';
    for (size_t i = first; i < first + count; i++) {
        char id[24];
        (void)snprintf(id, sizeof(id), "n%zu", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "nap", .payload = {payload, size}});
    }
    free(payload);
}

/* Over one connection they would take long, where the link is slow. */
static void large_payloads_come_over_many_connections(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    test_proxy *proxy = test_proxy_start(test_redis);
    put_large(0, COUNT, 40000);
    reeve_worker *worker = worker_of(test_proxy_url(proxy), 16, 1);
    test_proxy_slam(proxy, SEVERAL);
    test_worker_start(worker);
    TEST_AWAIT(test_count("q", "completed") == COUNT);
    assert_int_equal(test_proxy_lost(proxy), 0);
    test_worker_end_after(worker, COUNT);
    test_proxy_stop(proxy);
}

static int64_t alone_until(const reeve_worker *worker)
{
    rv_share *share = &worker->pools[0]->sharing->shares[0];
    rv_lock(&share->lock);
    int64_t until_ms = share->alone_until_ms;
    rv_unlock(&share->lock);
    return until_ms;
}

static bool is_believed(const reeve_worker *worker)
{
    rv_share *share = &worker->pools[0]->sharing->shares[0];
    rv_lock(&share->lock);
    bool believed = share->believed_ms > 0;
    rv_unlock(&share->lock);
    return believed;
}

/* A stall of Redis, or of the machine: shared calls took long, those of single threads do not. */
static void threads_share_again_when_a_stall_is_over(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    test_proxy *proxy = test_proxy_start(test_redis);
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(test_proxy_url(proxy), 16, 1);
    test_proxy_delay(proxy, 150);
    test_worker_start(worker);
    TEST_AWAIT(alone_until(worker) > 0);
    assert_false(is_believed(worker));
    test_proxy_delay(proxy, 0);
    TEST_AWAIT(is_believed(worker));
    end_after(worker, COUNT);
    test_proxy_stop(proxy);
}

static void calls_that_take_long_are_not_shared(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    test_proxy *proxy = test_proxy_start(test_redis);
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(test_proxy_url(proxy), 16, 1);
    test_proxy_delay(proxy, 150);
    test_worker_start(worker);
    TEST_AWAIT(alone_until(worker) > 0);
    test_proxy_delay(proxy, 0);
    end_after(worker, COUNT);
    test_proxy_stop(proxy);
}

/* ---- what is settled ------------------------------------------------------------------------------------------- */

/* What the tasks of a round of 5 come to: done, done with a result, tried again and then dead, dead, done. */
static void outcomes_of_all_kinds(void **state)
{
    (void)state;
    enum { ROUNDS = 400 };
    static const char *const words[] = {"done", "result r", "fail", "result longer", "done"};
    test_ok(test_client, reeve_pause(test_client, "q"));
    for (size_t i = 0; i < 5 * ROUNDS; i++) put_act(i, words[i % 5]);
    put_naps(5 * ROUNDS, 3000);
    reeve_worker *worker = worker_of(NULL, 32, 2);
    test_worker_start(worker);
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(test_count("q", "completed") == 4 * ROUNDS + 3000);
    TEST_AWAIT(test_count("q", "dead") == ROUNDS);
    for (size_t i = 0; i < 5 * ROUNDS + 3000; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    for (size_t i = 1; i < 50; i += 5) {
        char id[24];
        (void)snprintf(id, sizeof(id), "n%zu", i);
        reeve_task_info *info = test_show("q", id);
        assert_string_equal(info->result.data, "r");
        reeve_task_info_free(info);
    }
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK); /* its threads count when they have read the reply */
    assert_int_equal(test_worker_stats(worker).completed, 4 * ROUNDS + 3000);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    reeve_worker_destroy(worker);
    assert_int_equal(test_count("q", "running"), 0);
}

/* ---- what may fail --------------------------------------------------------------------------------------------- */

static void replies_are_lost(void **state)
{
    (void)state;
    enum { COUNT = 4000, LOST = 12 };
    test_proxy *proxy = test_proxy_start(test_redis);
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(test_proxy_url(proxy), 20, 4);
    test_proxy_lose_all(proxy, SEVERAL, LOST);
    test_worker_start(worker);
    TEST_AWAIT(test_proxy_lost(proxy) == LOST);
    end_after(worker, COUNT);
    test_proxy_stop(proxy);
}

/* Redis has a part of the call, and would carry it out after the threads have recovered. */
static void a_lost_call_comes_late(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    test_proxy *proxy = test_proxy_start(test_redis);
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(test_proxy_url(proxy), 20, 1);
    test_proxy_hold_and_lose(proxy, SEVERAL);
    test_worker_start(worker);
    TEST_AWAIT(test_proxy_holds(proxy));
    TEST_AWAIT(test_count("q", "completed") > COUNT / 2); /* all threads have recovered, and go on */
    test_proxy_release(proxy);
    end_after(worker, COUNT);
    test_proxy_stop(proxy);
}

/* The deadline of a call is ten minutes here; that of one for several threads is much shorter. */
static void one_dead_connection_stops_no_other_thread(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    test_proxy *proxy = test_proxy_start(test_redis);
    put_naps(0, COUNT);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .command_ms = 600000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 16, 1);
    test_proxy_mute(proxy, SEVERAL, true);
    test_worker_start(worker);
    TEST_AWAIT(test_proxy_mutes(proxy));
    end_after(worker, COUNT);
    test_proxy_stop(proxy);
}

/* One after the other they would need a minute and more. */
static void dead_connections_are_found_at_the_same_time(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    test_proxy *proxy = test_proxy_start(test_redis);
    put_naps(0, COUNT);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy), .command_ms = 6000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 12, 1);
    test_worker_start(worker);
    TEST_AWAIT(test_count("q", "completed") > COUNT / 10);
    test_proxy_mute_all(proxy);
    end_after(worker, COUNT);
    test_proxy_stop(proxy);
}

static void connections_are_killed(void **state)
{
    (void)state;
    enum { COUNT = 9000, KILLS = 60 };
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(NULL, 32, 4);
    test_worker_start(worker);
    for (unsigned kills = 0; kills < KILLS; kills++) {
        TEST_AWAIT(test_number("ZCARD " Q "completed") >= (long long)kills * COUNT / KILLS);
        test_kill_connections();
    }
    end_after(worker, COUNT);
}

/* A user that may not write results: the calls of those that have one fail half way. */
static void redis_refuses_calls(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(NULL, 32, 1);
    test_worker_start(worker);
    TEST_AWAIT(test_count("q", "completed") > COUNT / 10);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default -hincrby"), "OK");
    usleep(30000);
    assert_string_equal(test_cmd(test_conn, "ACL SETUSER default +hincrby"), "OK");
    TEST_AWAIT(test_count("q", "completed") == COUNT);
    TEST_AWAIT(test_count("q", "running") == 0);
    for (size_t i = 0; i < COUNT; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    test_worker_end(worker);
    expect_nothing_left();
}

/* Runs naps and takes sessions away meanwhile. Returns how many outcomes were refused. */
static unsigned long lose_sessions(void)
{
    enum { COUNT = 3000 };
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(NULL, 32, 1);
    /* A task that crashed before goes to the front, and may run again each time that a session is taken away. */
    const reeve_handler_policy policy = {.type = "nap", .max_crashes = 100};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    test_worker_start(worker);
    for (int i = 0; i < 5; i++) {
        TEST_AWAIT(test_count("q", "completed") > (uint64_t)(100 + 400 * i));
        /* A session begins with a lease: none does behind the last task. */
        TEST_AWAIT(test_number("ZCARD " Q "sessions") > 0 || test_count("q", "completed") == COUNT);
        if (test_count("q", "completed") == COUNT) break;
        (void)test_cmd(test_conn, "ZADD " Q "sessions XX 1 %s", test_first_session());
        test_maintain_all("q");
    }
    TEST_AWAIT(test_count("q", "completed") == COUNT);
    TEST_AWAIT(test_count("q", "running") == 0);
    unsigned long ran = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (test_runs[i] == 0) fail_msg("n%zu has not run", i);
        ran += test_runs[i];
    }
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK); /* its threads count when they have read the reply */
    reeve_worker_stats stats = test_worker_stats(worker);
    assert_int_equal(stats.completed, COUNT); /* one outcome of each task was accepted, of those that ran twice, too */
    /* A task that was leased, and did not begin, may be refused when it goes back. */
    assert_true(ran <= stats.completed + stats.refused);
    reeve_worker_destroy(worker);
    expect_nothing_left();
    return stats.refused;
}

/* Whoever has lost its session learns that from the call of another thread. (On a busy machine all tasks may have ended
 * when the test comes to take the session away: then all is done again.) */
static void outcomes_of_a_lost_session_are_refused(void **state)
{
    enum { TIMES_MAX = 30 };
    for (int times = 0; times < TIMES_MAX; times++) {
        set_up(state);
        if (lose_sessions() > 0) return;
    }
    fail_msg("no outcome was refused");
}

static void tasks_that_run_at_most_once(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(NULL, 32, 4);
    const reeve_handler_policy policy = {.type = "nap", .at_most_once = true};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    test_worker_start(worker);
    for (unsigned kills = 0; test_number("ZCARD " Q "completed") < COUNT && kills < 40; kills++) {
        test_kill_connections();
        usleep(15000);
    }
    TEST_AWAIT(test_count("q", "completed") == COUNT);
    TEST_AWAIT(test_worker_stats(worker).busy == 0);
    for (size_t i = 0; i < COUNT; i++)
        if (test_runs[i] > 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    test_worker_end(worker);
    expect_nothing_left();
}

/* ---- what holds ------------------------------------------------------------------------------------------------ */

static void a_limit_holds(void **state)
{
    (void)state;
    enum { COUNT = 600, AT_ONCE = 3 };
    test_limit_queue(AT_ONCE, NULL);
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(NULL, 32, 1);
    test_worker_start(worker);
    while (test_count("q", "completed") < COUNT) assert_true(test_count("q", "running") <= AT_ONCE);
    test_worker_end_after(worker, COUNT);
    expect_nothing_left();
}

/* A worker that stops while its threads share calls gives back what has not begun; nothing runs twice. */
static void workers_come_and_go(void **state)
{
    (void)state;
    enum { COUNT = 9000 };
    uint64_t completed = 0;
    put_naps(0, COUNT);
    while (completed < COUNT) {
        reeve_worker *worker = worker_of(NULL, 32, 4);
        test_worker_start(worker);
        TEST_AWAIT(test_count("q", "completed") >= (completed + 2500 < COUNT ? completed + 2500 : COUNT));
        if (completed % 2 == 0) reeve_worker_quiet(worker);
        assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
        completed += test_worker_stats(worker).completed;
        assert_int_equal(test_worker_stats(worker).refused, 0);
        reeve_worker_destroy(worker);
        assert_int_equal(test_count("q", "completed"), completed);
        assert_int_equal(test_count("q", "running"), 0);
        assert_int_equal(test_count("q", "ready"), COUNT - completed);
    }
    for (size_t i = 0; i < COUNT; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    expect_nothing_left();
}

/* A long task holds up no other, and no thread waits for its end. */
static void long_tasks_among_short_ones(void **state)
{
    (void)state;
    enum { COUNT = 3000, LONG = 8 };
    put_naps(0, COUNT);
    reeve_worker *worker = worker_of(NULL, 16, 4);
    for (int i = 0; i < LONG; i++) test_put_spec((reeve_task_spec){.type = "stubborn", .priority = -1});
    test_worker_start(worker);
    TEST_AWAIT(test_begun == LONG);
    TEST_AWAIT(test_count("q", "completed") == COUNT);
    assert_int_equal(test_count("q", "running"), LONG);
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == COUNT + LONG);
    for (size_t i = 0; i < COUNT; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    test_worker_end(worker);
    expect_nothing_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(busy_threads_share_their_calls, set_up),
        cmocka_unit_test_setup(a_batch_handler_of_another_type_changes_nothing, set_up),
        cmocka_unit_test_setup(large_payloads_come_over_many_connections, set_up),
        cmocka_unit_test_setup(calls_that_take_long_are_not_shared, set_up),
        cmocka_unit_test_setup(threads_share_again_when_a_stall_is_over, set_up),
        cmocka_unit_test_setup(outcomes_of_all_kinds, set_up),
        cmocka_unit_test_setup(replies_are_lost, set_up),
        cmocka_unit_test_setup(a_lost_call_comes_late, set_up),
        cmocka_unit_test_setup(one_dead_connection_stops_no_other_thread, set_up),
        cmocka_unit_test_setup(dead_connections_are_found_at_the_same_time, set_up),
        cmocka_unit_test_setup(connections_are_killed, set_up),
        cmocka_unit_test_setup(redis_refuses_calls, set_up),
        cmocka_unit_test_setup(outcomes_of_a_lost_session_are_refused, set_up),
        cmocka_unit_test_setup(tasks_that_run_at_most_once, set_up),
        cmocka_unit_test_setup(a_limit_holds, set_up),
        cmocka_unit_test_setup(workers_come_and_go, set_up),
        cmocka_unit_test_setup(long_tasks_among_short_ones, set_up),
    };
    return cmocka_run_group_tests_name("ct_share", tests, test_place_start, test_place_stop);
}
