/* Handlers that take many tasks in a call: when a call is made and with which tasks, what becomes of each of them, and
 * what happens to those that wait for company when something goes wrong. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/worker.h"

#define Q "reeve:{q}:"
#define AWAIT_STATE(id, state) TEST_AWAIT(strcmp(test_state("q", id), state) == 0)
#define LONG_MS 600000

/* ---- a handler ------------------------------------------------------------------------------------------------- */

#define CALLS 4096
static atomic_uint calls, sizes[CALLS], in_call, told;
static atomic_bool go;

static int set_up(void **state)
{
    test_close_gate();
    atomic_store(&calls, 0);
    atomic_store(&in_call, 0);
    atomic_store(&told, 0);
    atomic_store(&go, false);
    return test_place_empty(state);
}

static void end_task(reeve_task *task, size_t count)
{
    const char *words = reeve_task_payload(task).data;
    char number[24];
    if (strcmp(words, "retry") == 0) {
        (void)reeve_task_retry(task, LONG_MS, "again", "later");
    } else if (strcmp(words, "fail") == 0) {
        (void)reeve_task_fail(task, "bad", "for good");
    } else if (strcmp(words, "snooze") == 0) {
        (void)reeve_task_snooze(task, LONG_MS);
    } else if (strcmp(words, "none") != 0) {
        (void)snprintf(number, sizeof(number), "%zu", count);
        (void)reeve_task_done(task, number, strlen(number));
    }
}

/* Of a hold: waits until the test says go; notes when one is told to stop, and asks for another attempt for it. */
static void wait_for_go(reeve_task *const *tasks, size_t count, bool *ret_told)
{
    bool hold = false;
    for (size_t i = 0; i < count; i++) hold = hold || strcmp(reeve_task_payload(tasks[i]).data, "hold") == 0;
    atomic_fetch_add(&in_call, 1);
    while (hold && !atomic_load(&go)) {
        size_t stopped = 0;
        for (size_t i = 0; i < count; i++) {
            if (!ret_told[i] && reeve_task_should_stop(tasks[i])) atomic_fetch_add(&told, 1);
            ret_told[i] = ret_told[i] || reeve_task_should_stop(tasks[i]);
            stopped += ret_told[i];
        }
        if (stopped == count) break;
        test_pause();
    }
}

static void collect(reeve_task *const *tasks, size_t count, void *user)
{
    bool stopped[REEVE_MANY_MAX] = {false};
    unsigned call = atomic_fetch_add(&calls, 1);
    (void)user;
    TEST_MUST(count >= 1 && count <= REEVE_MANY_MAX);
    if (call < CALLS) atomic_store(&sizes[call], (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        const char *id = reeve_task_id(tasks[i]);
        TEST_MUST(strcmp(reeve_task_queue(tasks[i]), reeve_task_queue(tasks[0])) == 0);
        TEST_MUST(strcmp(reeve_task_type(tasks[i]), "collect") == 0);
        if (id[0] == 'n') atomic_fetch_add(&test_runs[atoi(id + 1)], 1);
    }
    wait_for_go(tasks, count, stopped);
    for (size_t i = 0; i < count; i++) {
        if (stopped[i])
            (void)reeve_task_retry(tasks[i], LONG_MS, "told", "told to stop");
        else
            end_task(tasks[i], count);
    }
}

/* ---- shorthands ------------------------------------------------------------------------------------------------- */

static reeve_worker *make(const reeve_worker_options *options, unsigned many, int64_t wait_ms, int64_t timeout_ms)
{
    const reeve_handler handler = {REEVE_HANDLER, .type = "collect",       .run_many = collect,
                                   .many = many,  .many_wait_ms = wait_ms, .timeout_ms = timeout_ms};
    reeve_worker *worker = test_worker_new(options);
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    return worker;
}

static reeve_worker *run(unsigned many, int64_t wait_ms)
{
    reeve_worker *worker = make(NULL, many, wait_ms, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void put_to(const char *queue, const char *id, const char *payload)
{
    test_put_spec(
        (reeve_task_spec){.queue = queue, .id = id, .type = "collect", .payload = {payload, strlen(payload)}});
}

static void put(const char *id, const char *payload)
{
    put_to("q", id, payload);
}

static void put_numbers(size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%zu", i);
        put(id, "");
    }
}

static void stop_and_destroy(reeve_worker *worker)
{
    if (reeve_worker_stop(worker, 10000) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    reeve_worker_destroy(worker);
}

static void assert_counted(const char *id, unsigned failures, unsigned crashes)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->failures, failures);
    assert_int_equal(info->crashes, crashes);
    reeve_task_info_free(info);
}

#define assert_result(id, result) assert_string_equal(test_cmd(test_conn, "HGET " Q "info:%s result", id), result)
#define assert_kind(id, kind) assert_string_equal(test_cmd(test_conn, "HGET " Q "info:%s kind", id), kind)

/* ---- when a call is made ---------------------------------------------------------------------------------------- */

static void as_soon_as_there_are_enough(void **state)
{
    (void)state;
    reeve_worker *worker = run(3, LONG_MS);
    put("n1", "");
    AWAIT_STATE("n1", "running");
    put("n2", "");
    AWAIT_STATE("n2", "running");
    assert_int_equal(calls, 0);
    put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 3);
    assert_int_equal(calls, 1);
    assert_result("n1", "3");
    assert_result("n3", "3");
    put_numbers(10, 8);
    TEST_AWAIT(test_count("q", "completed") == 9);
    TEST_AWAIT(test_count("q", "running") == 2);
    assert_int_equal(calls, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(sizes[i], 3);
    assert_int_equal(test_worker_stats(worker).completed, 9);
    stop_and_destroy(worker);
    assert_int_equal(test_count("q", "ready"), 2);
}

static void when_the_first_has_waited_enough(void **state)
{
    (void)state;
    reeve_worker *worker = run(10, 300);
    int64_t begin = rv_now_ms();
    put("n1", "");
    AWAIT_STATE("n1", "running");
    put("n2", "");
    AWAIT_STATE("n2", "running");
    put("n3", "");
    AWAIT_STATE("n1", "completed");
    assert_true(rv_now_ms() - begin >= 300);
    assert_int_equal(test_count("q", "completed"), 3);
    assert_int_equal(calls, 1);
    assert_result("n2", "3");
    put("n4", ""); /* the age is counted anew */
    AWAIT_STATE("n4", "completed");
    assert_result("n4", "1");
    stop_and_destroy(worker);
}

/* Also the first time, when the thread has learnt nothing, and beyond the pool's batch. */
static void without_a_wait_with_what_is_there(void **state)
{
    (void)state;
    reeve_worker *worker = make(NULL, 100, 0, 0);
    test_worker_pool(worker, "q", 1, 8);
    test_ok(test_client, reeve_pause(test_client, "q"));
    put_numbers(0, 230);
    test_worker_start(worker);
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(test_count("q", "completed") == 230);
    assert_int_equal(calls, 3);
    assert_int_equal(sizes[0], 100);
    assert_int_equal(sizes[1], 100);
    assert_int_equal(sizes[2], 30);
    put("n500", "");
    AWAIT_STATE("n500", "completed");
    assert_result("n500", "1");
    stop_and_destroy(worker);
}

/* What the configuration says holds over what the handler says. */
static void a_policy_says_otherwise(void **state)
{
    (void)state;
    reeve_worker *worker = make(NULL, 0, 0, 0);
    const reeve_handler_policy two = {.type = "collect", .many = 2, .many_wait_ms = LONG_MS};
    const reeve_handler_policy wrong = {.type = "collect", .many = 257}, none = {.type = "t", .many = 2};
    assert_int_equal(reeve_worker_set_policy(worker, &wrong), REEVE_EINVAL);
    assert_string_equal(reeve_worker_error(worker), "type collect: it is to take 257 tasks in a call: at most 256");
    assert_int_equal(reeve_worker_set_policy(worker, &none), REEVE_EINVAL);
    assert_non_null(strstr(reeve_worker_error(worker), "type t: it takes one task at a time"));
    assert_int_equal(reeve_worker_set_policy(worker, &two), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    put_numbers(1, 3);
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_result("n2", "2");
    TEST_AWAIT(test_count("q", "running") == 1);
    stop_and_destroy(worker);
}

/* ---- beside other tasks ----------------------------------------------------------------------------------------- */

static void others_run_meanwhile(void **state)
{
    (void)state;
    reeve_worker *worker = run(3, LONG_MS);
    put("n1", "");
    AWAIT_STATE("n1", "running");
    test_put("q", "n100 n101");
    AWAIT_STATE("n100", "completed"); /* and they are settled, too */
    AWAIT_STATE("n101", "completed");
    assert_string_equal(test_state("q", "n1"), "running");
    put("n2", "");
    test_put("q", "n102");
    put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 6);
    assert_int_equal(calls, 1);
    assert_result("n1", "3");
    stop_and_destroy(worker);
}

/* What waits for company is for others when the thread is held up. */
static void a_long_one_lets_them_go(void **state)
{
    (void)state;
    reeve_worker *worker = run(3, LONG_MS);
    put("n1", "");
    put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    test_put_spec((reeve_task_spec){.id = "long", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    AWAIT_STATE("n1", "ready");
    AWAIT_STATE("n2", "ready");
    test_open_gate();
    AWAIT_STATE("n2", "running");
    put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 4);
    assert_int_equal(calls, 1);
    for (int i = 1; i <= 3; i++) assert_int_equal(test_runs[i], 1);
    stop_and_destroy(worker);
}

static void queues_are_not_mixed(void **state)
{
    (void)state;
    reeve_worker *worker = make(NULL, 2, LONG_MS, 0);
    test_worker_pool(worker, "q r", 1, 0);
    test_worker_start(worker);
    put_to("r", "n1", "");
    TEST_AWAIT(test_count("r", "running") == 1);
    put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 1);
    assert_int_equal(calls, 0);
    put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(test_count("r", "running"), 1);
    put_to("r", "n4", "");
    TEST_AWAIT(test_count("r", "completed") == 2);
    assert_int_equal(calls, 2);
    stop_and_destroy(worker);
}

/* ---- outcomes --------------------------------------------------------------------------------------------------- */

static void each_has_its_own(void **state)
{
    (void)state;
    reeve_worker *worker = run(7, LONG_MS);
    put("done", "");
    put("retry", "retry");
    put("fail", "fail");
    put("snooze", "snooze");
    put("none", "none");
    test_put_spec((reeve_task_spec){.id = "last", .type = "collect", .payload = {"retry", 5}, .max_attempts = 1});
    put("too", "");
    AWAIT_STATE("too", "completed");
    assert_int_equal(calls, 1);
    assert_result("done", "7");
    assert_string_equal(test_state("q", "done"), "completed");
    assert_string_equal(test_state("q", "retry"), "scheduled");
    assert_kind("retry", "again");
    assert_string_equal(test_state("q", "fail"), "dead");
    assert_kind("fail", "bad");
    assert_string_equal(test_state("q", "snooze"), "scheduled");
    assert_string_equal(test_state("q", "none"), "scheduled");
    assert_kind("none", "handler");
    assert_string_equal(test_state("q", "last"), "dead");
    assert_counted("snooze", 0, 0);
    assert_counted("none", 1, 0);
    reeve_worker_stats stats = test_worker_stats(worker);
    assert_int_equal(stats.completed, 2);
    assert_int_equal(stats.failed, 4);
    assert_int_equal(stats.dead, 2);
    assert_int_equal(stats.given_back, 1);
    stop_and_destroy(worker);
}

/* Each has its own limit; only whose time is up is told, and only that one has failed. */
static void each_has_its_own_time_limit(void **state)
{
    (void)state;
    reeve_worker *worker = run(3, LONG_MS);
    test_put_spec((reeve_task_spec){.id = "n1", .type = "collect", .payload = {"hold", 4}});
    test_put_spec((reeve_task_spec){.id = "n2", .type = "collect", .timeout_ms = 100});
    test_put_spec((reeve_task_spec){.id = "n3", .type = "collect", .timeout_ms = 200});
    AWAIT_STATE("n2", "scheduled");
    AWAIT_STATE("n3", "scheduled");
    assert_kind("n2", "timeout");
    assert_kind("n3", "timeout");
    TEST_AWAIT(told == 2);
    assert_string_equal(test_state("q", "n1"), "running");
    atomic_store(&go, true);
    AWAIT_STATE("n1", "completed");
    assert_counted("n2", 1, 0);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    stop_and_destroy(worker);
}

static void all_are_late_with_the_handlers_limit(void **state)
{
    (void)state;
    reeve_worker *worker = make(NULL, 3, LONG_MS, 100);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    for (int i = 1; i <= 3; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%d", i);
        put(id, "hold");
    }
    TEST_AWAIT(test_count("q", "scheduled") == 3);
    TEST_AWAIT(told == 3);
    stop_and_destroy(worker);
    assert_int_equal(test_count("q", "scheduled"), 3);
}

/* They are done before the call begins, each by itself. */
static void at_most_once(void **state)
{
    (void)state;
    reeve_worker *worker = make(NULL, 3, LONG_MS, 0);
    const reeve_handler_policy once = {.type = "collect", .at_most_once = true};
    assert_int_equal(reeve_worker_set_policy(worker, &once), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    put("n1", "hold");
    put("n2", "retry");
    put("n3", "fail");
    TEST_AWAIT(in_call == 1);
    assert_int_equal(test_count("q", "completed"), 3);
    atomic_store(&go, true);
    stop_and_destroy(worker);
    assert_int_equal(calls, 1);
    assert_int_equal(sizes[0], 3);
    assert_int_equal(test_count("q", "completed"), 3);
}

static void one_is_cancelled(void **state)
{
    (void)state;
    bool running = false;
    reeve_worker *worker = make(NULL, 3, LONG_MS, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_pool(worker, "z", 1, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.queue = "z", .id = "other", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    put("n1", "hold");
    AWAIT_STATE("n1", "running");
    put("n0", ""); /* while it waits for company: it is not run */
    AWAIT_STATE("n0", "running");
    test_ok(test_client, reeve_cancel_tell(test_client, "q", "n0", &running));
    /* (What a worker is told it hears in order.) */
    test_ok(test_client, reeve_cancel_tell(test_client, "z", "other", &running));
    TEST_AWAIT(test_told == 1);
    put("n2", "");
    TEST_AWAIT(in_call == 1);
    test_ok(test_client, reeve_cancel_tell(test_client, "q", "n2", &running));
    TEST_AWAIT(told == 1);
    atomic_store(&go, true);
    AWAIT_STATE("n1", "completed");
    assert_string_equal(test_state("q", "n2"), "cancelled");
    assert_string_equal(test_state("q", "n0"), "cancelled");
    assert_int_equal(test_runs[0], 0);
    assert_int_equal(told, 1);
    stop_and_destroy(worker);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void a_stop_gives_back_what_waits(void **state)
{
    (void)state;
    reeve_worker *worker = run(10, LONG_MS);
    put("n1", "");
    put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    int64_t begin = rv_now_ms();
    assert_int_equal(reeve_worker_stop(worker, 60000), REEVE_OK);
    assert_true(rv_now_ms() - begin < 30000);
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(calls, 0);
    assert_counted("n1", 0, 0);
    assert_int_equal(test_worker_stats(worker).given_back, 2);
    reeve_worker_destroy(worker);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    (void)test_lease(&hand, 5);
    assert_string_equal(test_leased_ids(&hand), "n1 n2"); /* in their order */
}

static void quiet_gives_back_what_waits(void **state)
{
    (void)state;
    reeve_worker *worker = run(10, LONG_MS);
    put("n1", "");
    AWAIT_STATE("n1", "running");
    reeve_worker_quiet(worker);
    AWAIT_STATE("n1", "ready");
    assert_counted("n1", 0, 0);
    stop_and_destroy(worker);
    assert_int_equal(calls, 0);
}

static void all_are_told_at_the_deadline(void **state)
{
    (void)state;
    reeve_worker *worker = run(3, LONG_MS);
    put("n1", "hold");
    put("n2", "hold");
    put("n3", "hold");
    TEST_AWAIT(in_call == 1);
    assert_int_equal(reeve_worker_stop(worker, 50), REEVE_OK);
    assert_int_equal(told, 3);
    assert_int_equal(test_count("q", "scheduled"), 3);
    reeve_worker_destroy(worker);
}

/* ---- losses ----------------------------------------------------------------------------------------------------- */

static void a_lost_connection_loses_and_doubles_nothing(void **state)
{
    (void)state;
    reeve_worker *worker = run(3, LONG_MS);
    put("n1", "");
    put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    for (int i = 0; i < 5; i++) {
        test_kill_connections();
        usleep(20000);
    }
    assert_int_equal(test_count("q", "running"), 2);
    put("n3", "");
    TEST_AWAIT(test_count("q", "completed") == 3);
    assert_int_equal(calls, 1);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    stop_and_destroy(worker);
}

static void connections_are_killed_again_and_again(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    reeve_worker *worker = make(NULL, 20, 10, 0);
    test_worker_pool(worker, "q", 3, 0);
    test_worker_start(worker);
    size_t kills = 0;
    for (size_t i = 0; i < COUNT; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "n%zu", i);
        if (i % 4 == 0) {
            test_put("q", id);
        } else {
            put(id, "");
        }
        if (i % 40 != 0) continue;
        test_kill_connections();
        kills++;
    }
    for (; test_number("ZCARD " Q "completed") < COUNT && kills < 300; kills++) {
        test_kill_connections();
        usleep(20000);
    }
    TEST_AWAIT(test_number("ZCARD " Q "completed") == COUNT);
    /* The session was alive all the time: not even a second run is needed. */
    for (size_t i = 0; i < COUNT; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    assert_int_equal(reeve_worker_stop(worker, 10000), REEVE_OK);
    assert_int_equal(test_worker_stats(worker).completed, COUNT);
    assert_int_equal(test_worker_stats(worker).refused, 0);
    reeve_worker_destroy(worker);
}

/* As if the worker had been frozen for too long. */
static void take_session_away(void)
{
    char session[RV_SESSION_LENGTH + 1];
    rv_copy_text(session, sizeof(session), test_cmd(test_conn, "ZRANGE " Q "sessions 0 0") + 1); /* (in brackets) */
    do { /* (a heartbeat may come in between) */
        (void)test_cmd(test_conn, "ZADD " Q "sessions XX 1 %s", session);
        test_tend_all("q");
    } while (test_number("EXISTS " Q "running:%s", session) == 1);
}

/* What it held back is not run under the old session; and as suspects of a crash they come alone. */
static void a_lost_session_while_they_wait(void **state)
{
    (void)state;
    const reeve_worker_options options = {.session_ms = 600};
    reeve_worker *worker = make(&options, 3, LONG_MS, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    put("n1", "");
    put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 2);
    take_session_away();
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(calls, 2);
    assert_result("n1", "1");
    assert_int_equal(test_runs[1], 1);
    assert_int_equal(test_runs[2], 1);
    stop_and_destroy(worker);
}

static void a_suspect_that_comes_to_company(void **state)
{
    (void)state;
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    put("n9", "");
    assert_int_equal(test_lease(&hand, 1), 1);
    reeve_worker *worker = run(3, LONG_MS);
    put("n1", "");
    put("n2", "");
    TEST_AWAIT(test_count("q", "running") == 3);
    test_expire(&hand);
    test_tend_all("q");
    AWAIT_STATE("n9", "completed");
    assert_result("n9", "1");
    AWAIT_STATE("n1", "completed"); /* they did not wait on: they ended before it began */
    assert_result("n1", "2");
    assert_int_equal(sizes[0], 2);
    assert_int_equal(sizes[1], 1);
    stop_and_destroy(worker);
}

static void a_lost_session_while_they_run(void **state)
{
    (void)state;
    const reeve_worker_options options = {.session_ms = 600};
    reeve_worker *worker = make(&options, 2, LONG_MS, 0);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    put("n1", "hold");
    put("n2", "hold");
    TEST_AWAIT(in_call == 1);
    test_ok(test_client, reeve_pause(test_client, "q"));
    take_session_away();
    TEST_AWAIT(told == 2); /* a heartbeat found it */
    TEST_AWAIT(test_worker_stats(worker).refused == 2);
    assert_int_equal(test_count("q", "ready"), 2);
    stop_and_destroy(worker);
    assert_counted("n1", 0, 1);
}

/* Redis forgets that a thread waits: it looks by itself. */
static void redis_restarts_while_they_wait(void **state)
{
    (void)state;
    reeve_worker *worker = run(2, LONG_MS);
    put("n1", "");
    AWAIT_STATE("n1", "running");
    (void)test_cmd(test_conn, "SCRIPT FLUSH");
    put("n2", "");
    TEST_AWAIT(test_count("q", "completed") == 2);
    assert_int_equal(calls, 1);
    stop_and_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_soon_as_there_are_enough, set_up),
        cmocka_unit_test_setup(when_the_first_has_waited_enough, set_up),
        cmocka_unit_test_setup(without_a_wait_with_what_is_there, set_up),
        cmocka_unit_test_setup(a_policy_says_otherwise, set_up),
        cmocka_unit_test_setup(others_run_meanwhile, set_up),
        cmocka_unit_test_setup(a_long_one_lets_them_go, set_up),
        cmocka_unit_test_setup(queues_are_not_mixed, set_up),
        cmocka_unit_test_setup(each_has_its_own, set_up),
        cmocka_unit_test_setup(each_has_its_own_time_limit, set_up),
        cmocka_unit_test_setup(all_are_late_with_the_handlers_limit, set_up),
        cmocka_unit_test_setup(at_most_once, set_up),
        cmocka_unit_test_setup(one_is_cancelled, set_up),
        cmocka_unit_test_setup(a_stop_gives_back_what_waits, set_up),
        cmocka_unit_test_setup(quiet_gives_back_what_waits, set_up),
        cmocka_unit_test_setup(all_are_told_at_the_deadline, set_up),
        cmocka_unit_test_setup(a_lost_connection_loses_and_doubles_nothing, set_up),
        cmocka_unit_test_setup(connections_are_killed_again_and_again, set_up),
        cmocka_unit_test_setup(a_lost_session_while_they_wait, set_up),
        cmocka_unit_test_setup(a_suspect_that_comes_to_company, set_up),
        cmocka_unit_test_setup(a_lost_session_while_they_run, set_up),
        cmocka_unit_test_setup(redis_restarts_while_they_wait, set_up),
    };
    return cmocka_run_group_tests_name("ct_many", tests, test_place_start, test_place_stop);
}
