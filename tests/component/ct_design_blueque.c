/* blueque, operation by operation, with the calls of reeve; then its weaknesses, which reeve does not have. Its listener
 * is a consumer here, and its process is whatever program holds the lease of a task. docs/designs.md has the table. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "reeve/change.h"
#include "reeve/dead.h"
#include "support/design.h"
#include "support/worker.h"

#define HOUR_MS 3600000

/* ---- producers -------------------------------------------------------------------------------------------------- */

/* Client(redis_url), get_queue(name): a queue is a name; the first enqueue creates it. */
static void client_and_queue(void **state)
{
    (void)state;
    reeve_client *client;
    reeve_queue_info queue;
    const reeve_client_options options = {.redis = test_redis_url(test_redis)};
    assert_int_equal(reeve_client_open(&client, &options), REEVE_OK);
    test_ok(client, reeve_queue(client, "unknown", &queue));
    assert_int_equal(queue.count[REEVE_STATE_READY], 0);
    reeve_client_close(client);
}

/* enqueue(parameters) -> id; get_task(id): every field that is stored. */
static void enqueue_and_get_task(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX];
    const reeve_meta meta = {"subsystem", "its field"};
    const reeve_task_spec spec = {
        .queue = "q", .type = "t", .payload = {"parameters", 10}, .meta = &meta, .meta_count = 1};
    test_ok(test_client, reeve_enqueue(test_client, &spec, id));
    reeve_task_info *task = test_show("q", id);
    assert_int_equal(task->state, REEVE_STATE_READY);
    assert_string_equal(task->queue, "q");
    assert_string_equal(task->payload.data, "parameters");
    assert_string_equal(task->meta, "{\"subsystem\":\"its field\"}");
    assert_true(task->enqueued_ms > 0);
    assert_int_equal(task->due_ms, -1);
    reeve_task_info_free(task);
}

/* A time of execution: a past one is none, and a task that is due is ready without a program that polls. */
static void schedule(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "past", .at_ms = 1000});
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "later", .in_ms = HOUR_MS});
    assert_string_equal(test_state("q", "past"), "ready");
    assert_string_equal(test_state("q", "later"), "scheduled");
    test_complete_task(test_one, test_take(test_one, "past"), NULL);
    test_take_nothing(test_one);
    test_ok(test_client, reeve_reschedule_in(test_client, "q", "later", 10));
    test_complete_task(test_one, test_take(test_one, "later"), NULL);
}

/* ---- listeners -------------------------------------------------------------------------------------------------- */

static void *enqueue_when_blocked(void *client)
{
    while (!test_is_blocked()) test_pause();
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "awaited"};
    TEST_MUST(reeve_enqueue(client, &spec, NULL) == REEVE_OK);
    return NULL;
}

/* get_listener(queue), listen(): blocks until a task comes. Nothing polls. */
static void listen_blocks(void **state)
{
    (void)state;
    pthread_t thread;
    reeve_client *client = test_client_open(60000);
    test_take_nothing(test_one);
    assert_int_equal(pthread_create(&thread, NULL, enqueue_when_blocked, client), 0);
    reeve_task *task = test_take(test_one, "awaited");
    assert_int_equal(pthread_join(thread, NULL), 0);
    reeve_client_close(client);
    test_complete_task(test_one, task, NULL);
}

/* Both consumers are in the list of workers, which each enters by its first heartbeat. */
static void await_listeners(void)
{
    reeve_worker_info *workers = NULL;
    size_t count = 0;
    TEST_AWAIT((reeve_workers_free(workers, count), reeve_workers(test_client, &workers, &count) == REEVE_OK) &&
               count == 2);
    reeve_workers_free(workers, count);
}

/* The worker of a task, by the id in its record: "node" and "pid". */
static void expect_holder(const char *id, int64_t pid)
{
    reeve_worker_info *workers = NULL;
    size_t count = 0, found = 0;
    reeve_task_info *task = test_show("q", id);
    await_listeners();
    test_ok(test_client, reeve_workers(test_client, &workers, &count));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(workers[i].id, task->worker) != 0) continue;
        assert_int_equal(workers[i].pid, pid);
        assert_true(*workers[i].host != '\0');
        found++;
    }
    assert_int_equal(found, 1);
    reeve_workers_free(workers, count);
    reeve_task_info_free(task);
}

/* get_processor(task), start(pid) -> parameters: the lease does it; node and pid are those of the holder. */
static void start(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .payload = {"parameters", 10}});
    reeve_task *task = test_take(test_one, "a");
    assert_string_equal(reeve_task_payload(task).data, "parameters");
    assert_string_equal(test_state("q", "a"), "running");
    expect_holder("a", getpid());
    test_complete_task(test_one, task, NULL);
}

/* complete(result) */
static void complete(void **state)
{
    (void)state;
    test_put("q", "a");
    test_complete_task(test_one, test_take(test_one, "a"), "result");
    reeve_task_info *task = test_show("q", "a");
    assert_int_equal(task->state, REEVE_STATE_COMPLETED);
    assert_string_equal(task->result.data, "result");
    assert_true(task->ended_ms >= task->enqueued_ms);
    reeve_task_info_free(task);
}

/* fail(error) */
static void fail_with_error(void **state)
{
    (void)state;
    test_put("q", "a");
    test_fail_task(test_one, test_take(test_one, "a"), "error", "what went wrong");
    assert_string_equal(test_state("q", "a"), "dead");
    test_expect_error("a", "error", "what went wrong");
}

/* delete(task): only of one that has ended, in the state that the caller names. */
static void delete_ended(void **state)
{
    (void)state;
    reeve_bulk_result result;
    test_put("q", "a b");
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
    reeve_task *b = test_take(test_one, "b");
    test_refused(test_client, reeve_delete(test_client, "q", "b"), REEVE_ESTATE, "running");
    test_fail_task(test_one, b, "error", "");
    const reeve_filter dead_a = {.state = REEVE_STATE_DEAD, .id_prefix = "a"};
    test_ok(test_client, reeve_bulk_update(test_client, "q", REEVE_ACTION_DELETE, &dead_a, NULL, NULL, &result));
    assert_int_equal(result.done, 0); /* it is completed, not dead */
    test_ok(test_client, reeve_delete(test_client, "q", "a"));
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    assert_string_equal(test_state("q", "b"), "");
}

/* ---- what can be seen ------------------------------------------------------------------------------------------- */

/* The list of queues, also idle ones; the number of listeners of each; the tasks in each state. */
static void introspection(void **state)
{
    (void)state;
    reeve_queue_info *queues = NULL;
    reeve_worker_info *workers = NULL;
    reeve_task_info **tasks = NULL;
    uint64_t total = 0;
    size_t count = 0;
    test_put("idle", "i");
    test_put("q", "a b");
    reeve_task *a = test_take(test_one, "a");
    test_ok(test_client, reeve_queues(test_client, &queues, &count));
    assert_int_equal(count, 2);
    assert_string_equal(queues[0].name, "idle");
    assert_int_equal(queues[1].count[REEVE_STATE_RUNNING], 1);
    reeve_queues_free(queues);
    await_listeners();
    test_ok(test_client, reeve_workers(test_client, &workers, &count));
    assert_int_equal(count, 2);
    assert_non_null(strstr(workers[0].pools, "\"queues\":[\"q\"]"));
    reeve_workers_free(workers, count);
    test_ok(test_client, reeve_list(test_client, "q", REEVE_STATE_RUNNING, 0, 10, &tasks, &count, &total));
    assert_int_equal(total, 1);
    assert_string_equal(tasks[0]->id, "a");
    assert_string_equal(tasks[0]->worker, reeve_consumer_id(test_one));
    reeve_task_list_free(tasks, count);
    test_complete_task(test_one, a, NULL);
}

/* ---- what goes wrong there -------------------------------------------------------------------------------------- */

/* There, a crash between the pop and the write of the status leaves a task "pending" that is in no queue. Here the lease
 * is one step: the task runs, and it is known where; when its holder dies, it is ready again. */
static void crash_after_pop(void **state)
{
    (void)state;
    test_put("q", "a");
    test_take_and_die("a");
    assert_int_equal(test_crashes("a"), 1);
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
}

/* There, orphans are found on the same host only, by a pid that another process may have. Here every holder has a session
 * of its own, whatever its host, its pid and its name. */
static void orphans_by_session(void **state)
{
    (void)state;
    test_put("q", "a b");
    reeve_task *a = test_take(test_one, "a"), *b = test_take(test_two, "b");
    assert_string_not_equal(reeve_consumer_id(test_one), reeve_consumer_id(test_two)); /* of one pid and host */
    test_end_lease("a");
    assert_string_equal(test_state("q", "b"), "running");
    assert_int_equal(reeve_consumer_settle(test_one, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
    test_complete_task(test_two, b, NULL);
    test_complete_task(test_two, test_take(test_two, "a"), NULL);
}

/* There is no retry, no count of attempts and no dead letter there. */
static void attempts_end(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .attempts = 2});
    test_retry_task(test_one, test_take(test_one, "a"), 0);
    reeve_task *again = test_take(test_one, "a");
    assert_int_equal(reeve_task_attempt(again), 2);
    test_retry_task(test_one, again, 0);
    assert_string_equal(test_state("q", "a"), "dead");
    assert_int_equal(test_failures("a"), 2);
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
}

/* There, records of ended tasks stay until somebody deletes them. */
static void records_expire(void **state)
{
    (void)state;
    const reeve_keep none = {0, 0};
    const reeve_queue_settings settings = {.completed = &none};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    test_put("q", "a");
    test_complete_task(test_one, test_take(test_one, "a"), "result");
    assert_string_equal(test_state("q", "a"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OPERATION(client_and_queue),
        TEST_OPERATION(enqueue_and_get_task),
        TEST_OPERATION(schedule),
        TEST_OPERATION(listen_blocks),
        TEST_OPERATION(start),
        TEST_OPERATION(complete),
        TEST_OPERATION(fail_with_error),
        TEST_OPERATION(delete_ended),
        TEST_OPERATION(introspection),
        TEST_OPERATION(crash_after_pop),
        TEST_OPERATION(orphans_by_session),
        TEST_OPERATION(attempts_end),
        TEST_OPERATION(records_expire),
    };
    return cmocka_run_group_tests_name("ct_design_blueque", tests, test_place_start, test_place_stop);
}
