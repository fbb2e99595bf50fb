/* How many tasks a thread leases at once: as many as it runs in the time of the pool's batches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmd.h"
#include "support/worker.h"

static int set_up(void **state)
{
    test_close_gate();
    return test_place_empty(state);
}

enum { COUNT = 600 };

/* How many scripts a worker of one thread calls to run COUNT tasks of 1 ms. */
static long calls_of(int64_t batch_ms)
{
    static char ids[COUNT][16];
    static reeve_task_spec specs[COUNT];
    static reeve_enqueued results[COUNT];
    const char *queues[] = {"q"};
    for (size_t i = 0; i < COUNT; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "n%zu", i);
        specs[i] = (reeve_task_spec){.queue = "q", .type = "nap", .id = ids[i], .payload = {"1", 1}};
    }
    test_ok(test_client, reeve_enqueue_many(test_client, specs, COUNT, results));
    reeve_worker *worker = test_worker_new(NULL);
    const reeve_pool_options options = {.queues = queues, .queue_count = 1, .threads = 1, .batch_ms = batch_ms};
    assert_int_equal(reeve_worker_add_pool(worker, &options), REEVE_OK);
    (void)test_cmd(test_conn, "CONFIG RESETSTAT");
    test_worker_start(worker);
    TEST_AWAIT(test_number("ZCARD reeve:{q}:completed") == COUNT); /* no script */
    const char *stats = strstr(test_cmd(test_conn, "INFO commandstats"), "cmdstat_evalsha:calls=");
    assert_non_null(stats);
    long calls = atol(strchr(stats, '=') + 1);
    test_worker_end_after(worker, COUNT);
    return calls;
}

/* Far longer than the tasks take on a slow machine. On one that stalls they seem to be long for a while: then all is
 * done again. */
static void a_long_time_takes_many(void **state)
{
    enum { TIMES_MAX = 30 };
    long calls = COUNT;
    for (int times = 0; calls > COUNT / 6; times++) {
        if (times == TIMES_MAX) fail_msg("%ld calls for %d tasks", calls, COUNT);
        set_up(state);
        calls = calls_of(500);
    }
}

/* A task takes more than 1 ms, so that no two fit. */
static void a_short_time_takes_one(void **state)
{
    (void)state;
    long calls = calls_of(1);
    if (calls < COUNT) fail_msg("%ld calls for %d tasks", calls, COUNT);
}

static void a_wrong_time_is_refused(void **state)
{
    (void)state;
    static const int64_t wrong[] = {-1, 1001};
    const char *queues[] = {"q"};
    reeve_worker *worker = test_worker_new(NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const reeve_pool_options options = {.queues = queues, .queue_count = 1, .batch_ms = wrong[i]};
        assert_int_equal(reeve_worker_add_pool(worker, &options), REEVE_EINVAL);
        assert_non_null(strstr(reeve_worker_error(worker), "1000 ms"));
    }
    reeve_worker_destroy(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_long_time_takes_many, set_up),
        cmocka_unit_test_setup(a_short_time_takes_one, set_up),
        cmocka_unit_test_setup(a_wrong_time_is_refused, set_up),
    };
    return cmocka_run_group_tests_name("ct_batch_time", tests, test_place_start, test_place_stop);
}
