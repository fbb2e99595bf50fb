/* A worker's limits: time, crashes, a slow task among fast ones; progress; several pools. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/proxy.h"
#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

/* ---- time ------------------------------------------------------------------------------------------------------ */

static void a_task_that_is_told_in_time(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "slow", .type = "hold", .timeout_ms = 60, .attempts = 1});
    test_put("q", "next");
    TEST_AWAIT_STATE("slow", "dead");
    TEST_AWAIT_STATE("next", "completed");
    assert_int_equal(test_announced, 1);
    reeve_task_info *info = test_show("q", "slow");
    assert_string_equal(info->error_kind, "timeout");
    assert_string_equal(info->error_message, "not done within 60 ms");
    assert_int_equal(info->failures, 1); /* what the handler said in the end does not count */
    reeve_task_info_free(info);
    test_worker_end(worker);
}

/* The handler's own limit; and it will not hear. */
static void the_late_outcome_is_ignored(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_backoff backoff = {.base_ms = 30000, .jitter = -1};
    const reeve_handler_policy policy = {.type = "stubborn", .timeout_ms = 50, .attempts = 2, .backoff = &backoff};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "late", .type = "stubborn"});
    TEST_AWAIT_STATE("late", "scheduled");
    assert_int_equal(test_begun, 1);
    test_open_gate();
    test_put("q", "next");
    TEST_AWAIT_STATE("next", "completed"); /* so the thread has told what became of the one before */
    reeve_task_info *info = test_show("q", "late");
    assert_int_equal(info->state, REEVE_STATE_SCHEDULED);
    assert_int_equal(info->failures, 1);
    assert_int_equal(info->due_ms - info->failed_ms, 30000);
    assert_string_equal(info->error_kind, "timeout");
    assert_null(info->result.data);
    reeve_task_info_free(info);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    assert_int_equal(test_worker_stats(worker).failed, 1);
    assert_int_equal(test_worker_stats(worker).completed, 1);
    reeve_worker_destroy(worker);
}

static void limits_that_are_kept_cost_nothing(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 0);
    for (int i = 0; i < 300; i++) test_put_spec((reeve_task_spec){.timeout_ms = 5000});
    TEST_AWAIT(test_count("q", "completed") == 300);
    test_worker_end(worker);
}

/* The keeper waits for Redis then: to listen, which it could not yet, and to settle what it has ended. */
static void limits_are_kept_while_redis_is_frozen(void **state)
{
    (void)state;
    enum { LATE_MS = 7000 /* a call of the keeper may take 10 s */ };
    test_proxy *proxy = test_proxy_start(test_redis);
    test_proxy_slam(proxy, "SUBSCRIBE");
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.redis = test_proxy_url(proxy)});
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "a", .type = "hold", .timeout_ms = 2500});
    test_put_spec((reeve_task_spec){.id = "b", .type = "hold", .timeout_ms = 4000});
    TEST_AWAIT(test_begun == 2);
    int64_t begin = rv_now_ms();
    test_redis_freeze(test_redis);
    while (test_announced < 2 && rv_now_ms() < begin + 4 * LATE_MS) test_pause();
    int64_t took = rv_now_ms() - begin;
    test_redis_thaw(test_redis);
    test_proxy_slam(proxy, "");
    assert_int_equal(test_announced, 2);
    if (took > LATE_MS) fail_msg("told after %lld ms", (long long)took);
    test_worker_end(worker);
    test_proxy_stop(proxy);
}

/* ---- crashes --------------------------------------------------------------------------------------------------- */

/* What workers do before they die: they run what has crashed before alone, or beside others where they cannot. */
static void crash(unsigned times, const char *how)
{
    for (unsigned i = 0; i < times; i++) {
        test_hand hand;
        test_hand_init(&hand, "1", "q");
        assert_int_equal(test_lease(&hand, 1), 1);
        if (i > 0) assert_true(test_says_it_runs(&hand, how));
        test_expire(&hand);
        test_maintain_all("q");
    }
}

static void a_task_that_kills_workers_is_not_run(void **state)
{
    (void)state;
    test_put("q", "n1");
    crash(3, "alone");
    test_put_spec((reeve_task_spec){.id = "n2", .max_crashes = 1, .priority = -1});
    crash(1, "");
    test_put_spec((reeve_task_spec){.id = "n3", .max_crashes = 5, .priority = -2});
    crash(4, "alone");
    reeve_worker *worker = test_worker_run(1, 0);
    TEST_AWAIT_STATE("n1", "dead");
    TEST_AWAIT_STATE("n2", "dead");
    TEST_AWAIT_STATE("n3", "completed");
    assert_int_equal(test_runs[1], 0);
    assert_int_equal(test_runs[2], 0);
    assert_int_equal(test_runs[3], 1);
    reeve_task_info *info = test_show("q", "n1");
    assert_string_equal(info->error_kind, "crash");
    assert_string_equal(info->error_message, "3 workers died while they held this task");
    assert_int_equal(info->crashes, 3);
    assert_int_equal(info->failures, 0);
    reeve_task_info_free(info);
    test_ok(test_client, reeve_retry(test_client, "q", "n1")); /* another chance */
    TEST_AWAIT_STATE("n1", "completed");
    test_worker_end(worker);
}

/* However many crashes it has: as long as each may have been another task's, it is run. */
static void a_task_that_never_crashed_alone_is_run(void **state)
{
    (void)state;
    test_put("q", "n1");
    crash(4, "beside");
    reeve_task_info *info = test_show("q", "n1");
    assert_int_equal(info->crashes, 4);
    reeve_task_info_free(info);
    reeve_worker *worker = test_worker_run(1, 0);
    TEST_AWAIT_STATE("n1", "completed");
    assert_int_equal(test_runs[1], 1);
    test_worker_end(worker);
}

/* ---- a slow one among fast ones -------------------------------------------------------------------------------- */

/* Runs so many fast tasks that the threads take large batches. */
static void train(void)
{
    for (int i = 0; i < 3; i++) {
        test_put_many("train", 2000, "r%04zu");
        TEST_AWAIT(test_count("train", "completed") == 2000);
        (void)test_cmd(test_conn, "DEL reeve:{train}:tasks reeve:{train}:completed");
    }
}

/* Once. False: nothing was leased with it, for on a busy machine threads may have learned that short tasks are long. */
static bool runs_beside_a_slow_task(reeve_worker *worker)
{
    uint64_t before = test_worker_stats(worker).given_back;
    test_close_gate();
    train();
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_put_many("q", 15, "n%02zu");
    test_put_spec((reeve_task_spec){.id = "slow", .type = "hold"});
    test_put_many("q", 40, "n1%02zu");
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(test_count("q", "completed") == 55); /* those before it, and those behind */
    assert_string_equal(test_state("q", "slow"), "running");
    for (size_t i = 0; i < 15; i++) assert_int_equal(test_runs[i], 1);
    for (size_t i = 100; i < 140; i++) assert_int_equal(test_runs[i], 1);
    test_open_gate();
    TEST_AWAIT_STATE("slow", "completed");
    (void)test_cmd(test_conn, "DEL " Q "tasks " Q "completed");
    return test_worker_stats(worker).given_back > before;
}

static void a_slow_task_holds_nobody_up(void **state)
{
    (void)state;
    unsigned rounds = 1;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q train", 2, 64);
    test_worker_start(worker);
    for (; !runs_beside_a_slow_task(worker); rounds++) assert_true(rounds < 20);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    reeve_worker_stats stats = test_worker_stats(worker);
    assert_int_equal(stats.completed, rounds * (6000 + 56));
    assert_int_equal(stats.leased, stats.completed + stats.given_back);
    reeve_worker_destroy(worker);
}

/* ---- progress -------------------------------------------------------------------------------------------------- */

static atomic_int progress_said[4], lost_said;

static reeve_outcome tell(reeve_task *task, void *user)
{
    (void)user;
    progress_said[0] = reeve_task_progress(task, 10, NULL);
    progress_said[1] = reeve_task_progress(task, 101, "too far");
    progress_said[2] = reeve_task_progress(task, 42, "half \xff way");
    atomic_fetch_add(&test_begun, 1);
    while (!reeve_task_should_stop(task)) {
        progress_said[3] = reeve_task_progress(task, 43, "on");
        test_pause();
    }
    lost_said = reeve_task_progress(task, 44, "gone");
    return reeve_task_done(task, NULL, 0);
}

static void progress_until_the_lease_is_lost(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_handle(worker, "tell", tell, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "x", .type = "tell"});
    TEST_AWAIT(test_begun == 1);
    assert_int_equal(progress_said[0], REEVE_OK);
    assert_int_equal(progress_said[1], REEVE_EINVAL);
    assert_int_equal(progress_said[2], REEVE_OK);
    reeve_task_info *info = test_show("q", "x");
    assert_in_range(info->progress, 42, 43);
    assert_string_equal(info->progress_words, info->progress == 42 ? "half ? way" : "on");
    reeve_task_info_free(info);
    assert_string_equal(test_cmd(test_conn, "FLUSHALL"), "OK");
    TEST_AWAIT(test_worker_stats(worker).refused == 1);
    /* A heartbeat may have found it first. */
    assert_true(progress_said[3] == REEVE_EREFUSED || progress_said[3] == REEVE_OK);
    assert_int_equal(lost_said, REEVE_EREFUSED);
    /* A heartbeat may come in between. */
    TEST_AWAIT(test_number("DBSIZE") == test_number("EXISTS reeve:workers reeve:worker:%s", reeve_worker_id(worker)));
    test_put("q", "n1"); /* it goes on */
    TEST_AWAIT_STATE("n1", "completed");
    test_worker_end(worker);
}

/* Its time is up and it is tried again elsewhere, while the first handler does not hear: what that one says of its
 * progress would be said of the other's. */
static reeve_outcome deaf(reeve_task *task, void *user)
{
    unsigned which = atomic_fetch_add(&test_begun, 1);
    (void)user;
    while (which == 1 && lost_said == -1) test_pause();
    if (which == 1) return reeve_task_done(task, NULL, 0);
    while (test_begun < 2) test_pause();
    lost_said = reeve_task_progress(task, 50, "the first");
    return reeve_task_done(task, "late", 4);
}

static void no_progress_after_the_time_is_up(void **state)
{
    (void)state;
    const reeve_backoff at_once = {.base_ms = 1, .jitter = -1};
    reeve_worker *worker = test_worker_new(NULL);
    lost_said = -1;
    assert_int_equal(reeve_worker_handle(worker, "deaf", deaf, NULL), REEVE_OK);
    test_worker_pool(worker, "q", 2, 1);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "x", .type = "deaf", .timeout_ms = 1500, .backoff = &at_once});
    TEST_AWAIT_STATE("x", "completed");
    TEST_AWAIT(lost_said != -1);
    assert_int_equal(lost_said, REEVE_EREFUSED);
    reeve_task_info *info = test_show("q", "x");
    assert_null(info->result.data);
    assert_int_equal(info->progress, -1);
    assert_int_equal(info->failures, 1);
    reeve_task_info_free(info);
    test_worker_end(worker);
}

/* ---- pools ----------------------------------------------------------------------------------------------------- */

static void two_pools_share_a_queue(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q first", 2, 8);
    test_worker_pool(worker, "second q", 2, 8);
    test_put_many("q", 500, "n%03zu");
    test_put_many("first", 100, "n1%03zu");
    test_put_many("second", 100, "n2%03zu");
    test_worker_start(worker);
    TEST_AWAIT(test_count("q", "completed") == 500 && test_count("first", "completed") == 100 &&
               test_count("second", "completed") == 100);
    for (size_t i = 0; i < 500; i++) assert_int_equal(test_runs[i], 1);
    assert_int_equal(test_number("ZCARD " Q "sessions"), 1); /* one claim */
    assert_int_equal(test_worker_stats(worker).threads, 4);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions reeve:{first}:sessions reeve:{second}:sessions"), 0);
}

static void queues_in_strict_order(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "high low", 1, 1);
    test_put("low", "first");
    test_put_spec((reeve_task_spec){.queue = "high", .id = "gate", .type = "hold"});
    test_worker_start(worker);
    TEST_AWAIT(test_begun == 1);
    test_put("high", "a b c d e");
    test_open_gate();
    TEST_AWAIT(strcmp(test_state("low", "first"), "completed") == 0);
    assert_int_equal(test_count("high", "completed"), 6);
    reeve_task_info *low = test_show("low", "first"), *high = test_show("high", "e");
    assert_true(low->ended_ms >= high->ended_ms);
    reeve_task_info_free(low);
    reeve_task_info_free(high);
    test_worker_end(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_task_that_is_told_in_time, set_up),
        cmocka_unit_test_setup(the_late_outcome_is_ignored, set_up),
        cmocka_unit_test_setup(limits_that_are_kept_cost_nothing, set_up),
        cmocka_unit_test_setup(limits_are_kept_while_redis_is_frozen, set_up),
        cmocka_unit_test_setup(a_task_that_kills_workers_is_not_run, set_up),
        cmocka_unit_test_setup(a_task_that_never_crashed_alone_is_run, set_up),
        cmocka_unit_test_setup(a_slow_task_holds_nobody_up, set_up),
        cmocka_unit_test_setup(progress_until_the_lease_is_lost, set_up),
        cmocka_unit_test_setup(no_progress_after_the_time_is_up, set_up),
        cmocka_unit_test_setup(two_pools_share_a_queue, set_up),
        cmocka_unit_test_setup(queues_in_strict_order, set_up),
    };
    return cmocka_run_group_tests_name("ct_worker_limits", tests, test_place_start, test_place_stop);
}
