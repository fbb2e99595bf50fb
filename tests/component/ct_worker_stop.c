/* The beginning and the end of a worker: start, quiet, drain, deadline, destroy, and what goes wrong with them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

#define Q "reeve:{q}:"

static void must_stop(reeve_worker *worker)
{
    if (reeve_worker_stop(worker, 10000) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
}

/* Opens the gate once the worker says that it stops. (On a thread of its own: that of the test stops it.) */
static void *open_when_it_stops(void *client)
{
    for (bool stops = false; !stops; test_pause()) {
        reeve_worker_info *workers;
        size_t count;
        TEST_MUST(reeve_workers(client, &workers, &count) == REEVE_OK);
        stops = count == 0 || strcmp(workers[0].state, "running") != 0;
        reeve_workers_free(workers, count);
    }
    test_open_gate();
    return NULL;
}

static void stop_and_open(reeve_worker *worker)
{
    pthread_t opens;
    reeve_client *client = test_client_open(10000);
    TEST_AWAIT(test_number("SCARD reeve:workers") == 1);
    assert_int_equal(pthread_create(&opens, NULL, open_when_it_stops, client), 0);
    must_stop(worker);
    (void)pthread_join(opens, NULL);
    reeve_client_close(client);
}

/* ---- in good order --------------------------------------------------------------------------------------------- */

static void running_tasks_end_and_waiting_ones_stay(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(3, 8);
    for (int i = 0; i < 3; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 3);
    test_put_many("q", 50, "n%02zu");
    stop_and_open(worker);
    assert_int_equal(test_count("q", "completed"), 3);
    assert_int_equal(test_count("q", "ready"), 50);
    assert_int_equal(test_ran, 0);
    assert_int_equal(test_announced, 0); /* there was time */
    assert_int_equal(test_number("EXISTS " Q "sessions reeve:workers"), 0);
    must_stop(worker); /* again is fine */
    reeve_worker_destroy(worker);
}

/* A slow task is leased with others behind it, which go back: x00 and on, then a, b and c. False: it was leased alone,
 * for on a busy machine the thread may have learned that short tasks are long. */
static bool leases_many_and_holds(reeve_worker *worker, size_t count)
{
    uint64_t before = test_worker_stats(worker).given_back;
    for (int i = 0; i < 4; i++) {
        test_put_many("train", 1000, "r%04zu");
        TEST_AWAIT(test_count("train", "completed") == 1000);
        (void)test_cmd(test_conn, "DEL reeve:{train}:tasks reeve:{train}:completed");
    }
    test_ok(test_client, reeve_pause(test_client, "q"));
    test_put_spec((reeve_task_spec){.id = "slow", .type = "hold"});
    test_put_many("q", count, "x%02zu"); /* in an order that is not that of ids: see below */
    test_put("q", "a b c");
    test_ok(test_client, reeve_resume(test_client, "q"));
    TEST_AWAIT(test_begun == 1);
    TEST_AWAIT(test_count("q", "ready") == count + 3);
    int64_t until = rv_deadline(2000); /* (it is counted a moment later) */
    while (test_worker_stats(worker).given_back < before + 10 && rv_now_ms() < until) test_pause();
    return test_worker_stats(worker).given_back >= before + 10;
}

/* What was leased in a batch and not begun goes back to the front, in order, and nothing is counted. */
static void a_batch_goes_back_in_order(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    reeve_worker *worker = test_worker_new(NULL);
    test_worker_pool(worker, "q train", 1, 64);
    test_worker_start(worker);
    for (unsigned round = 0; !leases_many_and_holds(worker, COUNT); round++) {
        assert_true(round < 20);
        test_ok(test_client, reeve_pause(test_client, "q"));
        (void)test_cmd(test_conn, "DEL " Q "ready " Q "tasks");
        test_open_gate();
        TEST_AWAIT(test_count("q", "running") == 0);
        test_close_gate();
    }
    stop_and_open(worker);
    reeve_worker_destroy(worker);
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 100), COUNT + 3);
    for (size_t i = 0; i < COUNT; i++) {
        char id[16];
        (void)snprintf(id, sizeof(id), "x%02zu", i);
        assert_string_equal(hand.leased[i].id, id);
        assert_false(hand.leased[i].has_info);
    }
    assert_string_equal(hand.leased[COUNT].id, "a");
    assert_string_equal(hand.leased[COUNT + 2].id, "c");
}

static void quiet_takes_no_more(void **state)
{
    (void)state;
    reeve_worker_info *workers;
    size_t count;
    reeve_worker *worker = test_worker_run(2, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    reeve_worker_quiet(worker);
    reeve_worker_quiet(worker);
    test_put("q", "n1 n2");
    test_open_gate();
    TEST_AWAIT_STATE("x", "completed");
    TEST_AWAIT(test_count("q", "ready") == 2); /* (what an idle thread was handed before it heard of it goes back) */
    test_ok(test_client, reeve_workers(test_client, &workers, &count));
    assert_int_equal(count, 1);
    reeve_workers_free(workers, count);
    must_stop(worker);
    assert_int_equal(test_ran, 0);
    reeve_worker_destroy(worker);
}

static long long commands_processed(void)
{
    const char *line = strstr(test_cmd(test_conn, "INFO stats"), "total_commands_processed:");
    assert_non_null(line);
    return atoll(strchr(line, ':') + 1);
}

static void an_idle_worker_says_nothing(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(16, 0);
    test_put("q", "n1");
    TEST_AWAIT_STATE("n1", "completed");
    TEST_AWAIT(strlen(test_cmd(test_conn, "CLIENT LIST TYPE pubsub")) > 0);
    int64_t quiet_since = rv_now_ms(), end = test_patience();
    for (long long before = 0, now; rv_now_ms() - quiet_since < 600; before = now) {
        now = commands_processed();
        if (now - before > 1) quiet_since = rv_now_ms(); /* more than this look itself */
        if (quiet_since > end) fail_msg("it does not fall silent");
        usleep(50000);
    }
    must_stop(worker);
    reeve_worker_destroy(worker);
}

/* ---- when time is short ---------------------------------------------------------------------------------------- */

static void handlers_are_told_at_the_deadline(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(4, 0);
    for (int i = 0; i < 4; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 4);
    int64_t begin = rv_now_ms();
    assert_int_equal(reeve_worker_stop(worker, 100), REEVE_OK);
    assert_in_range(rv_now_ms() - begin, 100, 10000);
    assert_int_equal(test_announced, 4);
    assert_int_equal(test_worker_stats(worker).failed, 4); /* what they said in the end was heard */
    assert_int_equal(test_count("q", "scheduled") + test_count("q", "ready"), 4);
    reeve_worker_destroy(worker);
}

static void stubborn_handlers_lose_their_tasks(void **state)
{
    (void)state;
    reeve_worker *worker = test_worker_run(2, 0);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stubborn"});
    test_put_spec((reeve_task_spec){.id = "y", .type = "stubborn"});
    TEST_AWAIT(test_begun == 2);
    assert_int_equal(reeve_worker_stop(worker, 50), REEVE_ETIMEOUT);
    assert_string_equal(reeve_worker_error(worker), "2 handlers still run; their tasks were given back");
    assert_int_equal(test_count("q", "ready"), 2);
    assert_int_equal(test_count("q", "running"), 0);
    test_hand hand;
    test_hand_init(&hand, "1", "q");
    assert_int_equal(test_lease(&hand, 9), 2);
    assert_false(hand.leased[0].has_info);                          /* neither failure nor crash */
    assert_int_equal(reeve_worker_stop(worker, 1), REEVE_ETIMEOUT); /* waits anew */
    test_open_gate();
    must_stop(worker);
    assert_int_equal(test_count("q", "running"), 2); /* what they said in the end was not heard */
    assert_int_equal(test_worker_stats(worker).completed, 0);
    assert_int_equal(test_worker_stats(worker).given_back, 2);
    reeve_worker_destroy(worker);
}

static atomic_bool is_opened;

/* Opens the gate some time after the task was given back. */
static void *open_when_it_is_back(void *client)
{
    for (bool back = false; !back; test_pause()) {
        reeve_task_info *info;
        TEST_MUST(reeve_show(client, "q", "x", &info) == REEVE_OK);
        back = info->state == REEVE_STATE_READY;
        reeve_task_info_free(info);
    }
    usleep(200000);
    atomic_store(&is_opened, true);
    test_open_gate();
    return NULL;
}

static void destroy_waits_for_stubborn_handlers(void **state)
{
    (void)state;
    pthread_t later;
    reeve_client *client = test_client_open(10000);
    reeve_worker *worker = test_worker_run(1, 0);
    atomic_store(&is_opened, false);
    test_put_spec((reeve_task_spec){.id = "x", .type = "stubborn"});
    TEST_AWAIT(test_begun == 1);
    assert_int_equal(pthread_create(&later, NULL, open_when_it_is_back, client), 0);
    reeve_worker_destroy(worker);
    assert_true(atomic_load(&is_opened));
    (void)pthread_join(later, NULL);
    reeve_client_close(client);
    assert_string_equal(test_state("q", "x"), "ready");
}

/* Stopped again and again in the midst of work, with no time to drain: short tasks still end, each once. */
static void stopped_again_and_again(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    test_put_many("q", COUNT, "n%04zu");
    for (unsigned round = 0; test_count("q", "ready") > 0; round++) {
        assert_true(round < 500);
        reeve_worker *worker = test_worker_run(4, 16);
        usleep(500 * (round % 8) * (1 + round / 50)); /* (a busy machine may begin nothing in 4 ms) */
        assert_int_equal(reeve_worker_stop(worker, 0), REEVE_OK);
        assert_int_equal(test_count("q", "running"), 0);
        reeve_worker_destroy(worker);
    }
    assert_int_equal(test_count("q", "completed"), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        if (test_runs[i] != 1) fail_msg("n%zu has run %u times", i, test_runs[i]);
    assert_int_equal(test_number("EXISTS " Q "sessions"), 0);
}

static void stopped_without_redis(void **state)
{
    (void)state;
    test_link_make();
    const reeve_worker_options options = {.redis = test_link_url(), .session_ms = 1500};
    reeve_worker *worker = test_worker_new(&options);
    test_worker_pool(worker, "q", 2, 0);
    test_worker_start(worker);
    test_put_spec((reeve_task_spec){.id = "x", .type = "hold"});
    TEST_AWAIT(test_begun == 1);
    test_link_cut();
    int64_t begin = rv_now_ms();
    (void)reeve_worker_stop(worker, 50);
    assert_in_range(rv_now_ms() - begin, 0, 30000);
    reeve_worker_destroy(worker);
    assert_int_equal(test_announced, 1);
    TEST_AWAIT(test_maintain("q", 200).recovered == 1); /* when its session has expired */
    test_maintain_all("q");
    assert_string_equal(test_state("q", "x"), "ready");
}

static void *kill_later(void *argument)
{
    (void)argument;
    usleep(400000); /* after the last heartbeat, before the end */
    test_kill_connections();
    return NULL;
}

/* The keeper's connection was lost since its last heartbeat, and nobody has noticed. */
static void goodbye_over_a_dead_connection(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        pthread_t later;
        reeve_worker *worker = test_worker_run(2, 0);
        test_put_spec((reeve_task_spec){.type = "stubborn"});
        TEST_AWAIT(test_begun == (unsigned)i + 1);
        assert_int_equal(pthread_create(&later, NULL, kill_later, NULL), 0);
        assert_int_equal(reeve_worker_stop(worker, 0), REEVE_ETIMEOUT);
        (void)pthread_join(later, NULL);
        assert_int_equal(test_number("EXISTS " Q "sessions reeve:workers"), 0);
        assert_int_equal(test_count("q", "ready"), 1);
        test_open_gate();
        reeve_worker_destroy(worker);
        test_ok(test_client, reeve_pause(test_client, "q"));
        (void)test_cmd(test_conn, "DEL " Q "ready " Q "tasks " Q "settings");
        unsigned begun = test_begun;
        test_close_gate();
        test_begun = begun;
    }
}

/* ---- misuse and misfortune ------------------------------------------------------------------------------------- */

static reeve_outcome never(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static void what_is_not_possible(void **state)
{
    (void)state;
    char words[512];
    reeve_worker *worker;
    const char *const twice[] = {"a", "b", "a"}, *const bad[] = {"no good"}, *const good[] = {"q"};
    const reeve_worker_options short_session = {.redis = "unix:///x", .session_ms = 499};
    assert_int_equal(reeve_worker_create(&worker, &short_session, words, sizeof(words)), REEVE_EINVAL);
    assert_null(worker);
    assert_non_null(strstr(words, "499"));
    const reeve_worker_options other_size = {.size = 3};
    assert_int_equal(reeve_worker_create(&worker, &other_size, words, sizeof(words)), REEVE_EINVAL);
    const reeve_worker_options bad_url = {.redis = "http://x"};
    assert_int_equal(reeve_worker_create(&worker, &bad_url, words, sizeof(words)), REEVE_EURL);
    assert_int_equal(reeve_worker_create(NULL, NULL, NULL, 0), REEVE_EINVAL);

    worker = test_worker_new(NULL);
    assert_int_equal(reeve_worker_start(worker), REEVE_EINVAL);
    assert_non_null(strstr(reeve_worker_error(worker), "no pool"));
    assert_int_equal(reeve_worker_handle(worker, "t", never, NULL), REEVE_EDUPLICATE);
    assert_int_equal(reeve_worker_handle(worker, "no good", never, NULL), REEVE_EINVAL);
    assert_int_equal(reeve_worker_handle(worker, "none", NULL, NULL), REEVE_EINVAL);
    const reeve_handler_policy policy = {.type = "nobody's"}, negative = {.type = "t", .attempts = -1};
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_ENOTFOUND);
    assert_int_equal(reeve_worker_set_policy(worker, &negative), REEVE_EINVAL);
    assert_int_equal(reeve_worker_add_pool(worker, &(reeve_pool_options){.queues = twice, .queue_count = 3}),
                     REEVE_EDUPLICATE);
    assert_int_equal(reeve_worker_add_pool(worker, &(reeve_pool_options){.queues = bad, .queue_count = 1}),
                     REEVE_EINVAL);
    assert_int_equal(reeve_worker_add_pool(worker, &(reeve_pool_options){.name = "p"}), REEVE_EINVAL);
    assert_int_equal(
        reeve_worker_add_pool(worker, &(reeve_pool_options){.queues = good, .queue_count = 1, .batch = 257}),
        REEVE_EINVAL);
    assert_int_equal(
        reeve_worker_add_pool(worker, &(reeve_pool_options){.queues = good, .queue_count = 1, .threads = 1025}),
        REEVE_EINVAL);
    assert_int_equal(reeve_worker_stop(worker, 0), REEVE_OK); /* nothing to stop */
    reeve_worker_quiet(worker);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    assert_int_equal(reeve_worker_start(worker), REEVE_ESTATE);
    assert_int_equal(reeve_worker_handle(worker, "more", never, NULL), REEVE_ESTATE);
    assert_int_equal(reeve_worker_set_policy(worker, &(reeve_handler_policy){.type = "t"}), REEVE_ESTATE);
    must_stop(worker);
    assert_int_equal(reeve_worker_add_pool(worker, &(reeve_pool_options){.queues = good, .queue_count = 1}),
                     REEVE_ESTATE);
    assert_int_equal(reeve_worker_start(worker), REEVE_ESTATE);
    reeve_worker_destroy(worker);
    reeve_worker_destroy(NULL);
}

static void destroyed_at_any_moment(void **state)
{
    (void)state;
    reeve_worker_destroy(test_worker_new(NULL));
    for (unsigned i = 0; i < 20; i++) {
        reeve_worker *worker = test_worker_run(4, 0);
        usleep(100 * i);
        reeve_worker_destroy(worker);
    }
    assert_int_equal(test_number("EXISTS reeve:workers"), 0);
}

/* Whatever allocation fails, from create to destroy: ENOMEM, or the worker works. */
static void each_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const queues[] = {"q", "other"};
    const reeve_worker_options options = {.redis = test_redis_url(test_redis), .name = "n", .plugin_dir = "/nowhere"};
    const reeve_pool_options pool = {.queues = queues, .queue_count = 2, .threads = 2};
    reeve_status status = REEVE_ENOMEM;
    for (unsigned long nth = 1; status != REEVE_OK; nth++) {
        reeve_worker *worker;
        assert_true(nth < 500);
        (void)rv_mem_fail_at(nth);
        status = reeve_worker_create(&worker, &options, NULL, 0);
        if (status == REEVE_OK) status = reeve_worker_handle(worker, "t", never, NULL);
        if (status == REEVE_OK) status = reeve_worker_add_pool(worker, &pool);
        if (status == REEVE_OK) status = reeve_worker_start(worker);
        if (status != REEVE_OK && status != REEVE_ENOMEM) fail_msg("allocation %lu: status %d", nth, (int)status);
        (void)rv_mem_fail_at(0);
        if (status == REEVE_OK) {
            test_put("q", "n1");
            TEST_AWAIT_STATE("n1", "completed");
        }
        reeve_worker_destroy(worker);
    }
}

static void each_allocation_may_fail_at_work(void **state)
{
    (void)state;
    static char payload[200000] = "result ";
    memset(payload + 7, 'r', sizeof(payload) - 8);
    for (unsigned long nth = 1; nth < 50; nth++) {
        test_close_gate();
        reeve_worker *worker = test_worker_run(2, 0);
        test_put_spec((reeve_task_spec){.id = "n2", .type = "act", .payload = {payload, sizeof(payload)}, .in_ms = 5});
        (void)rv_mem_fail_at(nth);
        TEST_AWAIT(test_ran > 0);
        test_pause();
        (void)rv_mem_fail_at(0);
        TEST_AWAIT_STATE("n2", "completed");
        must_stop(worker);
        reeve_worker_destroy(worker);
        test_ok(test_client, reeve_delete(test_client, "q", "n2"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(running_tasks_end_and_waiting_ones_stay, set_up),
        cmocka_unit_test_setup(a_batch_goes_back_in_order, set_up),
        cmocka_unit_test_setup(quiet_takes_no_more, set_up),
        cmocka_unit_test_setup(an_idle_worker_says_nothing, set_up),
        cmocka_unit_test_setup(handlers_are_told_at_the_deadline, set_up),
        cmocka_unit_test_setup(stubborn_handlers_lose_their_tasks, set_up),
        cmocka_unit_test_setup(destroy_waits_for_stubborn_handlers, set_up),
        cmocka_unit_test_setup(stopped_again_and_again, set_up),
        cmocka_unit_test_setup(stopped_without_redis, set_up),
        cmocka_unit_test_setup(goodbye_over_a_dead_connection, set_up),
        cmocka_unit_test_setup(what_is_not_possible, set_up),
        cmocka_unit_test_setup(destroyed_at_any_moment, set_up),
        cmocka_unit_test_setup(each_allocation_may_fail, set_up),
        cmocka_unit_test_setup(each_allocation_may_fail_at_work, set_up),
    };
    return cmocka_run_group_tests_name("ct_worker_stop", tests, test_place_start, test_place_stop);
}
