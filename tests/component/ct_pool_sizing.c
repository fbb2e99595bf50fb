/* Pools whose number of threads follows the work; processors and niceness of pools. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "running/worker_state.h"
#include "support/worker.h"

/* Messages of decisions, and how often each was logged. */
static const char *const decisions[] = {"one more looks", "waited longer than the target", "fewer threads ran",
                                        "only share the processors"};
static atomic_uint logged[4];

static void note_decision(const reeve_log_record *record, void *user)
{
    (void)user;
    if (getenv("SHOW_LOG") != NULL) (void)fprintf(stderr, "%s %s\n", record->event, record->message);
    for (size_t i = 0; i < 4; i++) logged[i] += strstr(record->message, decisions[i]) != NULL;
}

static unsigned count_logged(const char *message)
{
    size_t i = 0;
    while (strcmp(decisions[i], message) != 0) i++;
    return logged[i];
}

static int set_up(void **state)
{
    for (size_t i = 0; i < 4; i++) logged[i] = 0;
    reeve_log_set(note_decision, NULL, REEVE_LOG_INFO);
    test_close_gate();
    return test_place_empty(state);
}

/* ---- handlers -------------------------------------------------------------------------------------------------- */

static int64_t thread_us(void)
{
    struct timespec now;
    TEST_MUST(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Computes for 20 ms of processor time. */
static reeve_outcome spin(reeve_task *task, void *user)
{
    int64_t until = thread_us() + 20000;
    (void)user;
    while (thread_us() < until) continue;
    return reeve_task_done(task, NULL, 0);
}

/* The result: the number of processors of its thread, and its niceness. */
static reeve_outcome place(reeve_task *task, void *user)
{
    char text[40];
    cpu_set_t set;
    (void)user;
    TEST_MUST(sched_getaffinity(0, sizeof(set), &set) == 0);
    int length = snprintf(text, sizeof(text), "%d %d", CPU_COUNT(&set), getpriority(PRIO_PROCESS, 0));
    return reeve_task_done(task, text, (size_t)length);
}

static const char *first_processor(void)
{
    static char text[16];
    cpu_set_t set;
    size_t cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    while (!CPU_ISSET(cpu, &set)) cpu++;
    (void)snprintf(text, sizeof(text), "%zu", cpu);
    return text;
}

static reeve_worker *run_pool(reeve_pool_options options)
{
    static const char *const queues[] = {"q"};
    const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "spin", .run = spin},
                                      {REEVE_HANDLER, .type = "place", .run = place}};
    reeve_worker *worker = test_worker_new(NULL);
    for (size_t i = 0; i < 2; i++) assert_int_equal(reeve_worker_register(worker, &handlers[i]), REEVE_OK);
    options.name = "p";
    options.queues = queues;
    options.queue_count = 1;
    options.batch = 1;
    if (reeve_worker_add_pool(worker, &options) != REEVE_OK) fail_msg("%s", reeve_worker_error(worker));
    test_worker_start(worker);
    return worker;
}

static unsigned threads(reeve_worker *worker)
{
    return test_worker_stats(worker).threads;
}

static rv_pool *pool_of(reeve_worker *worker)
{
    return rv_worker_pool(worker, 0);
}

/* Whether the registry shows this in the pool. */
static bool is_shown(const char *text)
{
    reeve_worker_info *list;
    size_t count;
    test_ok(test_client, reeve_workers(test_client, &list, &count));
    bool shown = count == 1 && strstr(list[0].pools, text) != NULL;
    reeve_workers_free(list, count);
    return shown;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

/* Nobody leases a task while they run: one thread more looks, until one finds nothing. */
static void long_tasks_get_threads_and_these_end_again(void **state)
{
    (void)state;
    reeve_worker *worker =
        run_pool((reeve_pool_options){.threads_min = 1, .threads = 16, .target_wait_ms = 20, .shrink_after_ms = 300});
    assert_int_equal(threads(worker), 1);
    for (int i = 0; i < 6; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 6);
    TEST_AWAIT(threads(worker) == 7);
    assert_true(count_logged("one more looks") > 0);
    /* The seventh finds nothing, and stays: no eighth comes, and none of them ends while six run. */
    TEST_AWAIT(pool_of(worker)->sizing.size.saturated_us == 0);
    assert_int_equal(threads(worker), 7);
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 6);
    TEST_AWAIT(threads(worker) == 1);
    TEST_AWAIT(is_shown("\"min\":1,\"max\":16"));
    TEST_AWAIT(is_shown("to 1: fewer threads ran"));
    TEST_AWAIT(test_threads_are_idle(1));
    /* Nothing is measured any more. */
    TEST_AWAIT(atomic_load(&worker->keeper.wake_at_ms) == RV_FOREVER);
    test_worker_end(worker);
}

static void waiting_tasks_get_threads(void **state)
{
    (void)state;
    reeve_worker *worker = run_pool((reeve_pool_options){.threads_min = 2, .threads = 32, .target_wait_ms = 50});
    for (int i = 0; i < 400; i++) test_put_spec((reeve_task_spec){.type = "nap", .payload = {"40", 2}});
    TEST_AWAIT(threads(worker) == 32);
    TEST_AWAIT(count_logged("waited longer than the target") == 4);
    TEST_AWAIT(test_count("q", "completed") == 400);
    assert_int_equal(test_worker_stats(worker).given_back, 0);
    test_worker_end(worker);
}

static void handlers_that_compute_get_no_more_threads_than_processors(void **state)
{
    (void)state;
    reeve_worker *worker = run_pool(
        (reeve_pool_options){.threads_min = 1, .threads = 16, .target_wait_ms = 20, .cpus = first_processor()});
    for (int i = 0; i < 50; i++) test_put_spec((reeve_task_spec){.type = "spin"});
    TEST_AWAIT(count_logged("only share the processors") > 0);
    TEST_AWAIT(test_count("q", "completed") == 50);
    /* The system notes the time for which a thread waits for a processor late: a short measurement is not exact. */
    assert_in_range(threads(worker), 1, 4);
    test_worker_end(worker);
}

static void a_fixed_number_is_not_measured(void **state)
{
    (void)state;
    reeve_worker *worker = run_pool((reeve_pool_options){.threads = 2, .threads_min = 2, .target_wait_ms = 1});
    for (int i = 0; i < 20; i++) test_put_spec((reeve_task_spec){.type = "nap", .payload = {"20", 2}});
    TEST_AWAIT(test_count("q", "completed") == 20);
    assert_int_equal(threads(worker), 2);
    assert_int_equal(pool_of(worker)->sizing.measured_us, 0);
    assert_int_equal(pool_of(worker)->demand.leases, 0);
    assert_false(pool_of(worker)->demand.watched);
    test_worker_end(worker);
}

static void the_limits_change_while_the_worker_runs(void **state)
{
    (void)state;
    reeve_worker *worker = run_pool((reeve_pool_options){.threads = 2, .target_wait_ms = 20});
    for (int i = 0; i < 5; i++) test_put_spec((reeve_task_spec){.type = "hold"});
    TEST_AWAIT(test_begun == 2);
    assert_int_equal(reeve_worker_set_threads(worker, "p", 1, 4), REEVE_OK);
    for (int i = 0; i < 5; i++) test_put_spec((reeve_task_spec){.type = "stubborn"});
    test_open_gate();
    TEST_AWAIT(test_count("q", "completed") == 10);
    assert_int_equal(reeve_worker_set_threads(worker, "p", 3, 3), REEVE_OK);
    assert_int_equal(threads(worker), 3);
    TEST_AWAIT(test_threads_are_idle(3));
    assert_int_equal(reeve_worker_set_threads(worker, "p", 5, 8), REEVE_OK);
    assert_int_equal(threads(worker), 5);
    TEST_AWAIT(is_shown("\"threads\":5"));
    test_worker_end(worker);
}

static void threads_run_on_the_processors_of_their_pool(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX];
    reeve_worker *worker = run_pool((reeve_pool_options){.threads = 2, .cpus = first_processor(), .nice = 19});
    test_ok(test_client,
            reeve_enqueue(test_client, &(reeve_task_spec){.queue = "q", .type = "place", .priority = -1}, id));
    TEST_AWAIT(test_count("q", "completed") == 1);
    reeve_task_info *info = NULL;
    test_ok(test_client, reeve_show(test_client, "q", id, &info));
    assert_int_equal(info->result.length, 4);
    assert_memory_equal(info->result.data, "1 19", 4);
    reeve_task_info_free(info);
    test_worker_end(worker);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const char *const queues[] = {"q"};
    const reeve_pool_options wrong[] = {{.threads = 2, .threads_min = 3},
                                        {.threads = 2, .target_wait_ms = -1},
                                        {.threads = 2, .shrink_after_ms = 86400001},
                                        {.threads = 2, .nice = 20},
                                        {.threads = 2, .cpus = "x"},
                                        {.threads = 2, .cpus = "1000"}};
    reeve_worker *worker = test_worker_new(NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        reeve_pool_options options = wrong[i];
        options.queues = queues;
        options.queue_count = 1;
        assert_int_equal(reeve_worker_add_pool(worker, &options), REEVE_EINVAL);
    }
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(long_tasks_get_threads_and_these_end_again, set_up),
        cmocka_unit_test_setup(waiting_tasks_get_threads, set_up),
        cmocka_unit_test_setup(handlers_that_compute_get_no_more_threads_than_processors, set_up),
        cmocka_unit_test_setup(a_fixed_number_is_not_measured, set_up),
        cmocka_unit_test_setup(the_limits_change_while_the_worker_runs, set_up),
        cmocka_unit_test_setup(threads_run_on_the_processors_of_their_pool, set_up),
        cmocka_unit_test_setup(wrong_options_are_refused, set_up),
    };
    return cmocka_run_group_tests_name("ct_pool_sizing", tests, test_place_start, test_place_stop);
}
