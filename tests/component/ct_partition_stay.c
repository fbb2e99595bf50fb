/*
 * A thread that serves the partitions of a queue in a Redis Cluster stays with one of them for some turns, so that one call
 * settles a batch and leases the next one; and then it goes to the next partition.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "reeve/client.h"
#include "reeve/partition.h"
#include "reeve/worker.h"
#include "support/redis.h"

enum { PARTITIONS = 4, EACH = 400, TASKS = PARTITIONS * EACH, BATCH = 8, TRIES = 20 };

static rv_test_redis *server;
static rv_conn *direct; /* to the server itself */
static char url[64];
static reeve_client *client;
static char queue[32];
static unsigned run_us;
static atomic_uint ran;
static unsigned ran_before_last; /* tasks that ran before the first one of the partition that was served last */
static unsigned ran_of[PARTITIONS];

static int set_up(void **state)
{
    (void)state;
    server = test_redis_start_cluster();
    direct = test_conn_open(server);
    (void)snprintf(url, sizeof(url), "redis-cluster://127.0.0.1:%d", test_redis_tcp_port(server));
    const reeve_client_options how = {.redis = url, .timeout_ms = 60000};
    assert_int_equal(reeve_client_open(&client, &how), REEVE_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    reeve_client_close(client);
    rv_conn_destroy(direct);
    test_redis_stop(server);
    return 0;
}

static reeve_outcome note(reeve_task *task, void *user)
{
    (void)user;
    const char *number = strchr(reeve_task_queue(task), '~');
    unsigned partition = number != NULL ? (unsigned)strtoul(number + 1, NULL, 10) : 0;
    if (ran_of[partition]++ == 0) ran_before_last = ran;
    if (run_us > 0) (void)usleep(run_us);
    atomic_fetch_add(&ran, 1);
    return reeve_task_done(task, NULL, 0);
}

/* Enqueues `EACH` tasks into each partition of a new queue. */
static void fill_queue(void)
{
    static unsigned number;
    (void)snprintf(queue, sizeof(queue), "q%u", ++number);
    assert_int_equal(reeve_partition_set(client, queue, PARTITIONS), REEVE_OK);
    for (int partition = 0; partition < PARTITIONS; partition++) {
        reeve_task_spec specs[EACH];
        reeve_enqueued results[EACH];
        char name[48];
        (void)snprintf(name, sizeof(name), "%s~%d", queue, partition);
        for (int i = 0; i < EACH; i++) specs[i] = (reeve_task_spec){.queue = name, .type = "note"};
        assert_int_equal(reeve_enqueue_many(client, specs, EACH, results), REEVE_OK);
    }
}

/* Scripts that were called so far. */
static long count_calls(void)
{
    const char *at = strstr(test_cmd(direct, "INFO commandstats"), "cmdstat_evalsha:calls=");
    return at != NULL ? atol(strchr(at, '=') + 1) : 0;
}

/* With one thread. Returns how many scripts were called meanwhile. */
static long run_tasks(reeve_order order)
{
    const char *const queues[] = {queue};
    const reeve_worker_options options = {.redis = url};
    const reeve_pool_options pool = {
        .name = "p", .queues = queues, .queue_count = 1, .order = order, .threads = 1, .batch = BATCH};
    reeve_worker *worker = NULL;
    fill_queue();
    ran = 0;
    ran_before_last = 0;
    memset(ran_of, 0, sizeof(ran_of));
    long before = count_calls();
    assert_int_equal(reeve_worker_create(&worker, &options, NULL, 0), REEVE_OK);
    const reeve_handler handler = {.type = "note", .run = note};
    assert_int_equal(reeve_worker_register(worker, &handler), REEVE_OK);
    assert_int_equal(reeve_worker_add_pool(worker, &pool), REEVE_OK);
    assert_int_equal(reeve_worker_start(worker), REEVE_OK);
    while (ran < TASKS) usleep(1000);
    assert_int_equal(reeve_worker_stop(worker, 60000), REEVE_OK);
    reeve_worker_destroy(worker);
    return count_calls() - before;
}

/* With two calls for a batch, there would be 2 * TASKS / BATCH. How often the thread leaves depends on the time that turns
 * take: on a busy machine it may take some tries. */
static void most_batches_take_one_call(void **state)
{
    reeve_order order = *(reeve_order *)*state;
    long calls = 0;
    run_us = 0;
    for (int i = 0; i < TRIES; i++) {
        calls = run_tasks(order);
        if (calls < 3 * TASKS / BATCH / 2) return;
    }
    fail_msg("%ld calls for %d batches", calls, TASKS / BATCH);
}

static void no_partition_waits_for_the_end_of_another(void **state)
{
    run_us = 500;
    (void)run_tasks(*(reeve_order *)*state);
    assert_in_range(ran_before_last, 1, EACH - 1);
}

int main(void)
{
    static reeve_order strict = REEVE_ORDER_STRICT, round_robin = REEVE_ORDER_ROUND_ROBIN;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(most_batches_take_one_call, &strict),
        cmocka_unit_test_prestate(most_batches_take_one_call, &round_robin),
        cmocka_unit_test_prestate(no_partition_waits_for_the_end_of_another, &strict),
        cmocka_unit_test_prestate(no_partition_waits_for_the_end_of_another, &round_robin),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
