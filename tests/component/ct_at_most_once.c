/* Tasks that run at most once: completed before they run. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "protocol/scripts.h"
#include "support/proxy.h"
#include "support/unique.h"
#include "support/worker.h"

#define Q "reeve:{q}:"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

static void put(const char *id, const char *type, const char *payload)
{
    test_put_spec(
        (reeve_task_spec){.id = id, .type = type, .payload = {payload, strlen(payload)}, .at_most_once = true});
}

/* It is done when it begins; and what it says in the end counts, but changes nothing. */
static void done_before_it_runs(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    put("x", "stubborn", "");
    TEST_AWAIT(test_begun == 1);
    assert_string_equal(test_state("q", "x"), "completed");
    test_ok(test_client, reeve_wait(test_client, "q", "x", 5000, NULL));
    test_open_gate();
    put("n1", "act", "fail");
    put("n2", "act", "retry 0");
    put("n3", "act", "snooze 0");
    put("n4", "act", "result r");
    put("n5", "act", "none");
    TEST_AWAIT(test_worker_stats(worker).completed == 6);
    for (int i = 1; i <= 5; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        assert_string_equal(test_state("q", id), "completed");
        assert_int_equal(test_runs[i], 1);
    }
    TEST_AWAIT(test_worker_stats(worker).failed == 3);
    assert_int_equal(test_worker_stats(worker).dead, 0);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    reeve_task_info *info = test_show("q", "n4");
    assert_true(info->at_most_once);
    assert_null(info->result.data); /* it came too late */
    reeve_task_info_free(info);
    test_worker_end(worker);
    reeve_queue_info queue;
    test_ok(test_client, reeve_queue(test_client, "q", &queue));
    assert_int_equal(queue.completed_total, 6);
    assert_int_equal(queue.failed_total, 0); /* (each had ended) */
    assert_int_equal(queue.dead_total, 0);
}

/* Others of its batch are as they would be without it, and none waits behind it. */
static void among_others(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_handler_policy policy = {.type = "nap", .at_most_once = true};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    for (int i = 0; i < 400; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_spec(
            (reeve_task_spec){.id = id, .type = i % 3 == 0 ? "nap" : "t", .payload = {i % 60 == 0 ? "30" : "0", 2}});
    }
    test_worker_pool(worker, "q", 2, 64);
    test_worker_start(worker);
    TEST_AWAIT(test_count("q", "completed") == 400 && test_ran == 400);
    for (int i = 0; i < 400; i++) assert_int_equal(test_runs[i], 1);
    test_worker_end(worker);
    assert_int_equal(test_number("EXISTS " Q "ready " Q "scheduled"), 0);
}

/* The worker dies while it runs: it is not run again. */
static void its_session_dies(void **state)
{
    (void)state;
    reeve_worker_options options = {.session_ms = 1500};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold", .at_most_once = true});
    TEST_AWAIT(test_begun == 1);
    test_take_session_away(test_first_session());
    assert_string_equal(test_state("q", "x"), "completed");
    test_open_gate();
    test_worker_end(worker);
    assert_int_equal(test_begun, 1);
    assert_string_equal(test_state("q", "x"), "completed");
}

/* Its time is up: it is told, and that is all. */
static void its_time_is_up(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold", .timeout_ms = 60, .at_most_once = true});
    TEST_AWAIT(test_announced == 1);
    test_put("q", "next");
    TEST_AWAIT_STATE("next", "completed");
    assert_string_equal(test_state("q", "x"), "completed");
    assert_int_equal(test_begun, 1);
    test_worker_end(worker);
}

/* What comes before it is settled is as for any other task: it may be tried again. */
static void what_does_not_begin_is_not_done(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(1, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "nobody", .attempts = 1, .at_most_once = true});
    TEST_AWAIT_STATE("x", "dead");
    test_put_spec((reeve_task_spec){.id = "y", .deadline_ms = 1, .at_most_once = true});
    TEST_AWAIT_STATE("y", "dead");
    assert_int_equal(test_ran, 0);
    test_worker_end(worker);
}

/* Redis drops connections all the time: no task runs twice, and none that is not completed runs. */
static void connections_are_lost(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_handler_policy policy = {.type = "t", .at_most_once = true};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    for (int i = 0; i < 1000; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        test_put_spec((reeve_task_spec){.id = id, .type = "t"});
    }
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    for (int i = 0; i < 100 && test_count("q", "completed") < 1000; i++) {
        test_kill_connections();
        test_pause();
    }
    TEST_AWAIT(test_count("q", "completed") == 1000);
    test_worker_end(worker);
    unsigned ran = 0;
    for (int i = 0; i < 1000; i++) {
        assert_in_range(test_runs[i], 0, 1);
        ran += test_runs[i];
    }
    assert_int_equal(ran, 1000); /* (the worker lived: it found out what had become of each) */
}

/* ---- a worker that stops while it is not known whether the task was settled -------------------------------------- */

static atomic_uint said_lost;

static void on_log(const reeve_log_record *record, void *user)
{
    (void)user;
    if (strcmp(record->event, "task.lost") == 0) atomic_fetch_add(&said_lost, 1);
}

typedef struct stopping {
    test_proxy *proxy;
    reeve_worker *worker;
    pthread_t thread;
    int64_t deadline_ms;
} stopping;

static void *stop_worker(void *argument)
{
    stopping *s = argument;
    (void)reeve_worker_stop(s->worker, s->deadline_ms);
    return NULL;
}

/* The reply to the turn that settles x is lost, no connection can be made from then on, and the worker is stopped. */
static void stop_in_between(stopping *s, int64_t deadline_ms)
{
    *s = (stopping){.proxy = test_proxy_start(test_redis), .deadline_ms = deadline_ms};
    atomic_store(&said_lost, 0);
    reeve_log_set(on_log, NULL, REEVE_LOG_WARN);
    s->worker = test_worker_new(&(reeve_worker_options){.redis = test_proxy_url(s->proxy)});
    test_worker_pool(s->worker, "q", 1, 0);
    test_worker_start(s->worker);
    test_put("q", "n1");
    TEST_AWAIT_STATE("n1", "completed");
    TEST_AWAIT(test_number("LLEN " Q "wake") == 0 && test_count("q", "running") == 0);
    TEST_AWAIT(strstr(test_cmd(test_conn, "CLIENT LIST"), "cmd=blpop") != NULL);
    /* Else the task is not handed over, and the turn whose reply is lost is the one that leases it. */
    TEST_AWAIT(strstr(test_cmd(test_conn, "CLIENT LIST"), "cmd=subscribe") != NULL);
    test_proxy_slam(s->proxy, "SETNAME");
    test_proxy_lose(s->proxy, rv_script_turn.sha, 0);
    put("n2", "t", "");
    TEST_AWAIT_STATE("n2", "completed");
    TEST_AWAIT(test_proxy_lost(s->proxy) >= 2); /* (the reply, and a connection after it) */
    assert_int_equal(test_runs[2], 0);
    assert_int_equal(pthread_create(&s->thread, NULL, stop_worker, s), 0);
    TEST_AWAIT(strstr(test_cmd(test_conn, "EVAL return(redis.call('GET',redis.call('KEYS','reeve:worker:*')[1])) 0"),
                      "stopping") != NULL);
}

static void it_is_found_out_while_the_worker_stops(void **state)
{
    (void)state;
    stopping s;
    stop_in_between(&s, 20000);
    test_proxy_slam(s.proxy, "");
    (void)pthread_join(s.thread, NULL);
    assert_int_equal(test_runs[2], 1);
    assert_int_equal(atomic_load(&said_lost), 0);
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    reeve_worker_destroy(s.worker);
    test_proxy_stop(s.proxy);
}

static void what_is_not_found_out_is_told(void **state)
{
    (void)state;
    stopping s;
    stop_in_between(&s, 300);
    (void)pthread_join(s.thread, NULL);
    TEST_AWAIT(atomic_load(&said_lost) == 1);
    reeve_worker_stats stats = test_worker_stats(s.worker);
    assert_int_equal(stats.given_back, 0);
    assert_int_equal(test_runs[2], 0);
    reeve_log_set(NULL, NULL, REEVE_LOG_OFF);
    reeve_worker_destroy(s.worker);
    test_proxy_stop(s.proxy);
}

/* ---- its unique key -------------------------------------------------------------------------------------------- */

static reeve_status put_uniquely(const char *id)
{
    return test_enqueue(
        (reeve_task_spec){.queue = "q", .id = id, .type = "stubborn", .unique = "k", .at_most_once = true}, NULL);
}

static reeve_worker *run_uniquely(int64_t session_ms)
{
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){.session_ms = session_ms});
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    assert_int_equal(put_uniquely("x"), REEVE_OK);
    TEST_AWAIT(test_begun == 1);
    assert_string_equal(test_state("q", "x"), "completed");
    assert_int_equal(put_uniquely("y"), REEVE_EUNIQUE);
    return worker;
}

static void its_key_is_held_until_it_returns(void **state)
{
    (void)state;
    reeve_worker *worker = run_uniquely(0);
    test_ok(test_client, reeve_delete(test_client, "q", "x")); /* (its record; it runs) */
    assert_int_equal(put_uniquely("y"), REEVE_EUNIQUE);
    test_kill_connections();
    test_open_gate();
    TEST_AWAIT(test_number("EXISTS " Q "unique:k") == 0);
    test_ok(test_client, reeve_resume(test_client, "q")); /* (a lost enqueue is not repeated after a delete) */
    assert_int_equal(put_uniquely("y"), REEVE_OK);
    TEST_AWAIT_STATE("y", "completed");
    test_worker_end(worker);
    assert_int_equal(test_begun, 2);
    assert_int_equal(test_number("EXISTS " Q "unique:k " Q "sessions"), 0);
}

static void its_key_is_held_without_a_record(void **state)
{
    (void)state;
    (void)test_cmd(test_conn, "HSET " Q "settings completed_count 0");
    reeve_worker *worker = test_worker_run(2, 0);
    assert_int_equal(put_uniquely("x"), REEVE_OK);
    TEST_AWAIT(test_begun == 1);
    assert_string_equal(test_state("q", "x"), "");
    assert_int_equal(put_uniquely("y"), REEVE_EUNIQUE);
    test_open_gate();
    TEST_AWAIT(test_number("EXISTS " Q "unique:k") == 0);
    test_worker_end(worker);
}

static void its_key_is_free_when_its_session_is_reaped(void **state)
{
    (void)state;
    reeve_worker *worker = run_uniquely(1500);
    test_take_session_away(test_first_session());
    TEST_AWAIT(test_number("EXISTS " Q "unique:k") == 0);
    test_open_gate();
    test_worker_end(worker);
    assert_int_equal(test_begun, 1); /* it is not run again */
}

static void its_key_is_free_when_its_worker_leaves(void **state)
{
    (void)state;
    reeve_worker *worker = run_uniquely(0);
    assert_int_equal(reeve_worker_stop(worker, 0), REEVE_ETIMEOUT);
    assert_int_equal(test_number("EXISTS " Q "unique:k"), 0);
    test_open_gate();
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(done_before_it_runs, set_up),
        cmocka_unit_test_setup(among_others, set_up),
        cmocka_unit_test_setup(its_session_dies, set_up),
        cmocka_unit_test_setup(its_time_is_up, set_up),
        cmocka_unit_test_setup(what_does_not_begin_is_not_done, set_up),
        cmocka_unit_test_setup(connections_are_lost, set_up),
        cmocka_unit_test_setup(it_is_found_out_while_the_worker_stops, set_up),
        cmocka_unit_test_setup(what_is_not_found_out_is_told, set_up),
        cmocka_unit_test_setup(its_key_is_held_until_it_returns, set_up),
        cmocka_unit_test_setup(its_key_is_held_without_a_record, set_up),
        cmocka_unit_test_setup(its_key_is_free_when_its_session_is_reaped, set_up),
        cmocka_unit_test_setup(its_key_is_free_when_its_worker_leaves, set_up),
    };
    return cmocka_run_group_tests_name("ct_at_most_once", tests, test_place_start, test_place_stop);
}
