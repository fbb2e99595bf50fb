/* A worker whose connections are killed, whose scripts are forgotten, whose Redis is emptied or out of reach: every
 * task is done, each is accepted once, and nothing stays behind. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/scripts.h"
#include "support/proxy.h"
#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* Short tasks, with now and then one that is long for a batch. */
static void put_load(size_t first, size_t count)
{
    enum { AT_ONCE = 100 };
    char ids[AT_ONCE][24];
    reeve_task_spec specs[AT_ONCE];
    reeve_enqueued results[AT_ONCE];
    size_t some = 0;
    for (size_t i = first; i < first + count; i++) {
        reeve_task_spec spec = {.queue = "q", .type = "t", .id = ids[some]};
        (void)snprintf(ids[some], sizeof(ids[some]), "n%zu", i);
        if (i % 50 == 49) {
            spec.type = "nap";
            spec.payload = (reeve_bytes){"30", 2};
        } else if (i % 3 == 2) {
            spec.type = "act";
            spec.payload = (reeve_bytes){"result r", 8};
        }
        specs[some++] = spec;
        if (some < AT_ONCE && i + 1 < first + count) continue;
        test_ok(test_client, reeve_enqueue_many(test_client, specs, some, results));
        some = 0;
    }
}

static void expect_all_done(size_t count)
{
    TEST_AWAIT(test_number("ZCARD " Q "completed") == (long long)count);
    TEST_AWAIT(test_count("q", "running") == 0);
    assert_int_equal(test_number("ZCARD " Q "ready"), 0);
    assert_int_equal(test_number("ZCARD " Q "scheduled"), 0);
    assert_int_equal(test_number("ZCARD " Q "dead"), 0);
    assert_int_equal(test_number("HLEN " Q "tasks"), count);
    for (size_t i = 0; i < count; i++)
        if (test_runs[i] == 0) fail_msg("n%zu is completed and has not run", i);
}

/* ---- connections ----------------------------------------------------------------------------------------------- */

static void connections_are_killed_again_and_again(void **state)
{
    (void)state;
    enum { COUNT = 3000, KILLS = 100 };
    reeve_worker *worker = test_worker_run(4, 0);
    test_ok(test_client, reeve_pause(test_client, "q"));
    put_load(0, COUNT);
    test_ok(test_client, reeve_resume(test_client, "q"));
    for (unsigned kills = 0; kills < KILLS; kills++) {
        TEST_AWAIT(test_number("ZCARD " Q "completed") >= (long long)kills * COUNT / KILLS);
        test_kill_connections();
    }
    expect_all_done(COUNT);
    test_worker_end_after(worker, COUNT); /* not even a second run is needed */
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* More of them than a batch has room for what they leased. */
static void turns_in_a_row_are_lost(void **state)
{
    (void)state;
    enum { COUNT = 40, LOST = 8 };
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy)};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 2);
    test_ok(test_client, reeve_pause(test_client, "q"));
    put_load(0, COUNT);
    test_worker_start(worker);
    test_ok(test_client, reeve_resume(test_client, "q"));
    test_proxy_lose_all(proxy, rv_script_turn.sha, LOST);
    TEST_AWAIT(test_proxy_lost(proxy) == LOST);
    expect_all_done(COUNT);
    test_worker_end(worker);
    test_proxy_stop(proxy);
}

/* What hangs up on a command is not asked as fast as can be, and it is said once. */

static atomic_uint said_lost;

static void on_log(const reeve_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->event, "redis.lost") == 0) atomic_fetch_add(&said_lost, 1);
}

static void hung_up_on(const char *command, unsigned losses, int64_t min_ms)
{
    enum { COUNT = 20 };
    test_proxy *proxy = test_proxy_start(test_redis);
    const reeve_worker_options options = {.redis = test_proxy_url(proxy)};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 2);
    atomic_store(&said_lost, 0);
    reeve_log_set(on_log, NULL, REEVE_LOG_WARN);
    test_proxy_slam(proxy, command);
    int64_t begin = rv_now_ms(); /* A busy machine would tell of the first loss late. */
    test_worker_start(worker);
    TEST_AWAIT(test_proxy_lost(proxy) >= losses);
    int64_t took = rv_now_ms() - begin;
    if (took < min_ms) fail_msg("%s: %u losses in %lld ms", command, losses, (long long)took);
    assert_int_equal(atomic_load(&said_lost), 1);
    test_proxy_slam(proxy, "");
    put_load(0, COUNT);
    expect_all_done(COUNT);
    test_worker_end(worker);
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    test_proxy_stop(proxy);
}

/* The least of the pauses: 25, 50, 100, 200, 400 ms. */
static void waits_that_are_hung_up_on(void **state)
{
    (void)state;
    hung_up_on("BLPOP", 7, 500);
}

/* Of a thread and the scheduler. */
static void scripts_that_are_hung_up_on(void **state)
{
    (void)state;
    hung_up_on("EVALSHA", 18, 500);
}

static void scripts_are_forgotten_under_load(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    reeve_worker *worker = test_worker_run(4, 0);
    put_load(0, COUNT);
    unsigned flushes = 0;
    while (test_number("ZCARD " Q "completed") < COUNT && flushes < 5000) {
        assert_string_equal(test_cmd(test_conn, "SCRIPT FLUSH"), "OK");
        flushes++;
    }
    expect_all_done(COUNT);
    test_worker_end_after(worker, COUNT); /* not even a second run is needed */
}

static void redis_is_emptied_under_load(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    reeve_worker *worker = test_worker_run(4, 0);
    for (size_t round = 0; round < 5; round++) {
        put_load(10000 + 1000 * round, 400);
        usleep(5000);
        assert_string_equal(test_cmd(test_conn, "FLUSHALL"), "OK");
    }
    put_load(0, COUNT);
    TEST_AWAIT(test_number("ZCARD " Q "completed") == COUNT);
    assert_int_equal(test_count("q", "ready") + test_count("q", "running"), 0);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* The session is lost while threads rest that had seen it before it began: what they lease then is kept alive, too. */
static void redis_is_emptied_while_threads_rest(void **state)
{
    (void)state;
    const reeve_worker_options options = {.session_ms = 2000};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 6, 1);
    test_worker_start(worker);
    TEST_AWAIT(test_number("EXISTS reeve:workers") == 1);
    /* All of them rest: before there is a session. */
    TEST_AWAIT(strstr(test_cmd(test_conn, "INFO clients"), "blocked_clients:6") != NULL);
    test_put("q", "n1");
    TEST_AWAIT_STATE("n1", "completed");
    char before[64];
    rv_copy_text(before, sizeof(before), test_cmd(test_conn, "ZRANGE " Q "sessions 0 -1"));
    assert_string_equal(test_cmd(test_conn, "FLUSHALL"), "OK");
    TEST_AWAIT(test_number("EXISTS reeve:workers") == 1); /* a heartbeat, which found it gone */
    for (int i = 0; i < 6; i++) test_put_spec((reeve_task_spec){.type = "stubborn"});
    TEST_AWAIT(test_begun == 6);
    /* Whichever session would have been the next to expire is renewed. (One that was not would be reaped first.) */
    long long until = test_number("ZSCORE " Q "sessions %s", test_first_session());
    TEST_AWAIT(test_number("ZSCORE " Q "sessions %s", test_first_session()) > until);
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 6);
    assert_int_equal(test_begun, 6); /* none came back and was run again */
    assert_int_equal(test_worker_stats(worker).refused, 0);
    assert_null(strstr(test_cmd(test_conn, "ZRANGE " Q "sessions 0 -1"), before));
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

/* ---- outages --------------------------------------------------------------------------------------------------- */

static reeve_worker *over_the_link(int64_t session_ms, unsigned threads)
{
    const reeve_worker_options options = {.redis = test_link_url(), .session_ms = session_ms};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", threads, 0);
    test_worker_start(worker);
    return worker;
}

static void redis_comes_late(void **state)
{
    (void)state;
    test_link_remove();
    test_put("q", "n1");
    reeve_worker *worker = over_the_link(0, 2);
    assert_false(test_worker_stats(worker).connected);
    test_link_make();
    TEST_AWAIT_STATE("n1", "completed");
    TEST_AWAIT(test_worker_stats(worker).connected);
    test_worker_end(worker);
}

static void results_outlive_an_outage(void **state)
{
    (void)state;
    test_link_make();
    reeve_worker *worker = over_the_link(0, 4);
    for (int i = 0; i < 4; i++) test_put_spec((reeve_task_spec){.type = "stubborn"});
    TEST_AWAIT(test_begun == 4);
    test_link_cut();
    test_open_gate(); /* they end while there is no Redis */
    TEST_AWAIT(!test_worker_stats(worker).connected || test_worker_stats(worker).busy == 0);
    TEST_AWAIT(test_worker_stats(worker).busy == 0);
    assert_int_equal(test_count("q", "running"), 4);
    test_link_make();
    TEST_AWAIT(test_count("q", "completed") == 4);
    TEST_AWAIT(test_worker_stats(worker).completed == 4);
    assert_int_equal(test_begun, 4); /* none was run again */
    assert_int_equal(test_worker_stats(worker).refused, 0);
    test_worker_end(worker);
}

/* Nobody has taken the tasks away: the session is expired, and still good. */
static void results_outlive_a_session_that_nobody_reaped(void **state)
{
    (void)state;
    test_link_make();
    reeve_worker *worker = over_the_link(1500, 4);
    for (int i = 0; i < 4; i++) test_put_spec((reeve_task_spec){.type = "stubborn"});
    TEST_AWAIT(test_begun == 4);
    test_link_cut();
    test_open_gate();
    int64_t until = rv_now_ms() + 3000;
    TEST_AWAIT(rv_now_ms() > until);
    test_link_make();
    TEST_AWAIT(test_worker_stats(worker).completed + test_worker_stats(worker).refused == 4);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    assert_int_equal(test_begun, 4);
    assert_int_equal(test_count("q", "completed"), 4);
    test_worker_end(worker);
}

static void results_after_the_session_are_refused(void **state)
{
    (void)state;
    test_link_make();
    reeve_worker *worker = over_the_link(1500, 1);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    test_link_cut();
    test_open_gate();
    /* Another worker's scheduler gives the task to others. */
    TEST_AWAIT(test_maintain("q", 200).recovered == 1);
    test_maintain_all("q");
    test_hand other;
    test_hand_init(&other, "1", "q");
    assert_int_equal(test_lease(&other, 1), 1);
    test_link_make();
    TEST_AWAIT(test_worker_stats(worker).refused == 1);
    assert_int_equal(test_worker_stats(worker).completed, 0);
    assert_string_equal(test_state("q", "x"), "running");
    test_settle(&other, TEST_RESULT("x", "the other's"));
    assert_string_equal(other.refused, "");
    reeve_task_info *info = test_show("q", "x");
    assert_string_equal(info->result.data, "the other's");
    assert_int_equal(info->crashes, 1);
    reeve_task_info_free(info);
    test_put("q", "n1"); /* with a new session */
    TEST_AWAIT_STATE("n1", "completed");
    test_worker_end(worker);
}

static void a_handler_hears_that_its_lease_is_lost(void **state)
{
    (void)state;
    test_link_make();
    reeve_worker *worker = over_the_link(1500, 1);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_link_cut();
    TEST_AWAIT(test_maintain("q", 200).recovered == 1);
    test_maintain_all("q");
    test_ok(test_client, reeve_pause(test_client, "q"));
    assert_int_equal(test_announced, 0);
    test_link_make();
    TEST_AWAIT(test_announced == 1);
    TEST_AWAIT(test_worker_stats(worker).refused == 1);
    assert_string_equal(test_state("q", "x"), "ready");
    test_worker_end(worker);
}

static void redis_is_killed_and_comes_back(void **state)
{
    (void)state;
    enum { COUNT = 1500 };
    reeve_worker *worker = test_worker_run(4, 0);
    for (size_t round = 0; round < 3; round++) {
        put_load(round * COUNT / 3, COUNT / 3);
        test_redis_restart(test_redis);
        test_conn_again();
    }
    expect_all_done(COUNT);
    test_worker_end(worker);
}

/* A wake-up that a dead connection took with it is not missed. */
static void woken_after_each_kill(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(3, 0);
    for (int i = 0; i < 60; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_kill_connections();
        test_put("q", id);
        TEST_AWAIT_STATE(id, "completed");
    }
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(connections_are_killed_again_and_again, set_up),
        cmocka_unit_test_setup(turns_in_a_row_are_lost, set_up),
        cmocka_unit_test_setup(waits_that_are_hung_up_on, set_up),
        cmocka_unit_test_setup(scripts_that_are_hung_up_on, set_up),
        cmocka_unit_test_setup(scripts_are_forgotten_under_load, set_up),
        cmocka_unit_test_setup(redis_is_emptied_under_load, set_up),
        cmocka_unit_test_setup(redis_is_emptied_while_threads_rest, set_up),
        cmocka_unit_test_setup(redis_comes_late, set_up),
        cmocka_unit_test_setup(results_outlive_an_outage, set_up),
        cmocka_unit_test_setup(results_outlive_a_session_that_nobody_reaped, set_up),
        cmocka_unit_test_setup(results_after_the_session_are_refused, set_up),
        cmocka_unit_test_setup(a_handler_hears_that_its_lease_is_lost, set_up),
        cmocka_unit_test_setup(redis_is_killed_and_comes_back, set_up),
        cmocka_unit_test_setup(woken_after_each_kill, set_up),
    };
    test_options.persist = true;
    return cmocka_run_group_tests_name("ct_worker_loss", tests, test_place_start, test_place_stop);
}
