/* torrelque, operation by operation, with the calls of reeve; then its weaknesses, which reeve does not have. Its worker
 * is a consumer here. docs/designs.md has the table. */
#include <string.h>

#include "reeve/change.h"
#include "reeve/dead.h"
#include "reeve/watch.h"
#include "support/design.h"

#define HOUR_MS 3600000

static void put(const char *id)
{
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = id, .timeout_ms = 300000});
}

/* ---- enqueue ---------------------------------------------------------------------------------------------------- */

/* enqueue(task, task_timeout): the known upper run time. */
static void enqueue_with_timeout(void **state)
{
    (void)state;
    put("a");
    reeve_task_info *task = test_show("q", "a");
    assert_int_equal(task->state, REEVE_STATE_READY);
    assert_int_equal(task->timeout_ms, 300000);
    reeve_task_info_free(task);
}

/* enqueue(task, delay) */
static void enqueue_with_delay(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "a", .in_ms = HOUR_MS});
    assert_string_equal(test_state("q", "a"), "scheduled");
}

/* enqueue in a pipeline: many tasks in one call. The data of a task are any bytes. */
static void enqueue_many(void **state)
{
    (void)state;
    reeve_enqueued results[2];
    const reeve_task_spec specs[] = {{.queue = "q", .type = "t", .id = "a", .payload = {"\0\xff\n", 3}},
                                     {.queue = "q", .type = "t", .id = "b"}};
    test_ok(test_client, reeve_enqueue_many(test_client, specs, 2, results));
    reeve_task *a = test_take(test_one, "a");
    assert_int_equal(reeve_task_payload(a).length, 3);
    assert_memory_equal(reeve_task_payload(a).data, "\0\xff\n", 3);
    test_complete_task(test_one, a, NULL);
}

/* ---- dequeue ---------------------------------------------------------------------------------------------------- */

/* dequeue(timeout, max_tasks): up to so many, and none when the time is over. */
static void dequeue(void **state)
{
    (void)state;
    unsigned count = 1;
    reeve_task *task;
    test_good(test_one, reeve_consumer_lease(test_one, &task, 1, 1, &count));
    assert_int_equal(count, 0);
    put("a");
    put("b");
    put("c");
    assert_string_equal(test_pull(test_one, 2, true), "a b");
    assert_int_equal(test_count("q", "running"), 2);
    test_good(test_one, test_settle_done(test_one, 0, NULL));
    test_good(test_one, test_settle_done(test_one, 1, NULL));
}

/* ---- requeue and release ---------------------------------------------------------------------------------------- */

/* requeue(task): it is pending again, and the next one. */
static void requeue(void **state)
{
    (void)state;
    put("a");
    put("b");
    reeve_task *a = test_take(test_one, "a");
    test_good(test_one, reeve_consumer_settle(test_one, a, reeve_task_give_back(a)));
    assert_int_equal(test_failures("a"), 0);
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
}

/* requeue(task, delay, task_timeout) */
static void requeue_with_delay(void **state)
{
    (void)state;
    put("a");
    reeve_task *a = test_take(test_one, "a");
    test_good(test_one, reeve_consumer_settle(test_one, a, reeve_task_snooze(a, HOUR_MS)));
    assert_string_equal(test_state("q", "a"), "scheduled");
    const reeve_task_edit edit = {.fields = REEVE_EDIT_TIMEOUT, .timeout_ms = 600000};
    test_ok(test_client, reeve_edit(test_client, "q", "a", &edit));
    reeve_task_info *task = test_show("q", "a");
    assert_int_equal(task->timeout_ms, 600000);
    reeve_task_info_free(task);
}

/* release(task, result): completed. */
static void release(void **state)
{
    (void)state;
    put("a");
    test_complete_task(test_one, test_take(test_one, "a"), "result");
    reeve_task_info *task = test_show("q", "a");
    assert_int_equal(task->state, REEVE_STATE_COMPLETED);
    assert_string_equal(task->result.data, "result");
    reeve_task_info_free(task);
}

/* release(task, status=REJECTED): the program decides that a task has failed for good. */
static void release_as_rejected(void **state)
{
    (void)state;
    put("a");
    test_fail_task(test_one, test_take(test_one, "a"), "rejected", "no such file");
    assert_string_equal(test_state("q", "a"), "dead");
    test_expect_error("a", "rejected", "no such file");
}

/* release(task, result_ttl): the records of a queue are kept for a time. */
static void result_ttl(void **state)
{
    (void)state;
    const reeve_keep keep = {.age_ms = 1, .count = -1};
    const reeve_queue_settings settings = {.completed = &keep};
    test_ok(test_client, reeve_queue_set(test_client, "q", &settings));
    put("a");
    test_complete_task(test_one, test_take(test_one, "a"), "result");
    TEST_AWAIT((test_maintain_all("q"), strcmp(test_state("q", "a"), "") == 0));
}

/* ---- what can be seen ------------------------------------------------------------------------------------------- */

static void expect_event(reeve_watch *watch, const char *what)
{
    const reeve_event *event;
    test_ok(test_client, reeve_watch_next(watch, 60000, &event));
    assert_string_equal(event->what, what);
    assert_string_equal(event->id, "a");
}

/* watch(id): the changes of a task's state, without notifications of keys. */
static void watch_task(void **state)
{
    (void)state;
    reeve_watch *watch;
    put("a");
    const reeve_watch_options options = {.queue = "q", .id = "a"};
    test_ok(test_client, reeve_watch_open(&watch, test_client, &options));
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
    expect_event(watch, "leased");
    expect_event(watch, "completed");
    reeve_watch_close(watch);
    assert_string_equal(test_cmd(test_conn, "CONFIG GET notify-keyspace-events"), "[notify-keyspace-events ]");
}

/* sweep(), schedule_sweep(): the maintenance puts stale and due tasks back; nobody has to call it. */
static void sweep(void **state)
{
    (void)state;
    put("stale");
    test_take_and_die("stale");
    test_complete_task(test_one, test_take(test_one, "stale"), NULL);
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "due", .in_ms = 1});
    test_complete_task(test_one, test_take(test_one, "due"), NULL);
}

/* get_queue_stats() */
static void queue_stats(void **state)
{
    (void)state;
    reeve_queue_info queue;
    put("a");
    put("b");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "c", .in_ms = HOUR_MS});
    reeve_task *a = test_take(test_one, "a");
    test_ok(test_client, reeve_queue(test_client, "q", &queue));
    assert_int_equal(queue.count[REEVE_STATE_READY], 1);
    assert_int_equal(queue.count[REEVE_STATE_RUNNING], 1);
    assert_int_equal(queue.count[REEVE_STATE_SCHEDULED], 1);
    test_complete_task(test_one, a, NULL);
}

/* get_task_state(id): state, timeout, result, times; failures and crashes are counted. */
static void task_state(void **state)
{
    (void)state;
    put("a");
    test_take_and_die("a");
    test_retry_task(test_one, test_take(test_one, "a"), 0);
    reeve_task *a = test_take(test_one, "a");
    reeve_task_info *task = test_show("q", "a");
    assert_int_equal(task->state, REEVE_STATE_RUNNING);
    assert_int_equal(task->failures, 1);
    assert_non_null(strstr(task->history, "\"recovered\""));
    assert_true(task->started_ms >= task->failed_ms && task->failed_ms >= task->enqueued_ms);
    reeve_task_info_free(task);
    test_complete_task(test_one, a, NULL);
}

/* ---- what goes wrong there -------------------------------------------------------------------------------------- */

static int64_t lease_expires(const char *id)
{
    reeve_task_info *task = test_show("q", id);
    const int64_t expires_ms = task->lease_expires_ms;
    reeve_task_info_free(task);
    return expires_ms;
}

/* There is no heartbeat there, so that long tasks need long timeouts. */
static void leases_are_extended(void **state)
{
    (void)state;
    char token[REEVE_TOKEN_MAX];
    const reeve_consumer_options options = {.session_ms = 60000, .manual_heartbeat = true};
    reeve_consumer *consumer = test_consumer_open("q", &options);
    put("a");
    reeve_task *a = test_take(consumer, "a");
    const int64_t before = lease_expires("a");
    assert_int_equal(reeve_consumer_token(consumer, a, token), REEVE_OK);
    test_ok(test_client, reeve_lease_extend(test_client, "q", "a", token, HOUR_MS));
    assert_true(lease_expires("a") > before + HOUR_MS / 2);
    assert_int_equal(reeve_task_heartbeat(a), REEVE_OK);
    test_complete_task(consumer, a, NULL);
    test_good(consumer, reeve_consumer_close(consumer));
}

/* There, anybody can release a task; here only who has the token of the lease, as long as it lasts. */
static void owner_token(void **state)
{
    (void)state;
    char token[REEVE_TOKEN_MAX], wrong[REEVE_TOKEN_MAX];
    const reeve_lease_outcome done = {.outcome = REEVE_OUTCOME_DONE};
    put("a");
    reeve_task *a = test_take(test_one, "a");
    assert_int_equal(reeve_consumer_token(test_one, a, token), REEVE_OK);
    memcpy(wrong, token, sizeof(wrong));
    wrong[3] = wrong[3] == '0' ? '1' : '0';
    assert_int_equal(reeve_lease_settle(test_client, "q", "a", wrong, &done), REEVE_EREFUSED);
    test_end_lease("a");
    reeve_task *again = test_take(test_two, "a");
    assert_int_equal(reeve_lease_settle(test_client, "q", "a", token, &done), REEVE_EREFUSED);
    assert_int_equal(reeve_consumer_settle(test_one, a, reeve_task_done(a, NULL, 0)), REEVE_EREFUSED);
    test_complete_task(test_two, again, NULL);
}

/* There, a task that kills its workers comes back for ever. */
static void attempt_limit(void **state)
{
    (void)state;
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "poison", .max_crashes = 2});
    test_take_and_die("poison");
    test_take_and_die("poison");
    test_take_nothing(test_one);
    assert_string_equal(test_state("q", "poison"), "dead");
}

/* There, the end of a task is seen only if it leaves a result. */
static void end_without_result(void **state)
{
    (void)state;
    put("a");
    test_complete_task(test_one, test_take(test_one, "a"), NULL);
    assert_string_equal(test_state("q", "a"), "completed");
    test_ok(test_client, reeve_wait(test_client, "q", "a", 0, NULL));
}

/* There, keys of a queue may be on several nodes of a cluster. Here all have the hash tag of their queue. */
static void keys_share_a_hash_tag(void **state)
{
    (void)state;
    put("a");
    test_put_spec((reeve_task_spec){.queue = "q", .type = "t", .id = "b", .in_ms = HOUR_MS, .unique = "key"});
    test_fail_task(test_one, test_take(test_one, "a"), "kind", "message");
    const long long tagged = test_number("EVAL return(#redis.call('KEYS','reeve:{q}:*')) 0");
    const long long others = test_number("EVAL return(#redis.call('KEYS','*[^a-z]q[^a-z]*')) 0");
    assert_true(tagged > 5);
    assert_int_equal(others, tagged);
}

/* There, ids tell the host; here they are random, but for the time. */
static void ids_tell_no_host(void **state)
{
    (void)state;
    char id[REEVE_ID_MAX];
    const reeve_task_spec spec = {.queue = "q", .type = "t"};
    test_ok(test_client, reeve_enqueue(test_client, &spec, id));
    assert_int_equal(strlen(id), 36);
    assert_int_equal(id[14], '7'); /* the version of a UUID */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OPERATION(enqueue_with_timeout),
        TEST_OPERATION(enqueue_with_delay),
        TEST_OPERATION(enqueue_many),
        TEST_OPERATION(dequeue),
        TEST_OPERATION(requeue),
        TEST_OPERATION(requeue_with_delay),
        TEST_OPERATION(release),
        TEST_OPERATION(release_as_rejected),
        TEST_OPERATION(result_ttl),
        TEST_OPERATION(watch_task),
        TEST_OPERATION(sweep),
        TEST_OPERATION(queue_stats),
        TEST_OPERATION(task_state),
        TEST_OPERATION(leases_are_extended),
        TEST_OPERATION(owner_token),
        TEST_OPERATION(attempt_limit),
        TEST_OPERATION(end_without_result),
        TEST_OPERATION(keys_share_a_hash_tag),
        TEST_OPERATION(ids_tell_no_host),
    };
    return cmocka_run_group_tests_name("ct_design_torrelque", tests, test_place_start, test_place_stop);
}
