/* A limit on snoozes: of a task, its handler or its queue. The next snooze lets the task die. */
#include <stdlib.h>
#include <string.h>

#include "reeve/change.h"
#include "reeve/consumer.h"
#include "support/worker.h"

static atomic_int runs;

static int set_up(void **state)
{
    atomic_store(&runs, 0);
    return test_place_empty(state);
}

/* Its payload: how often it snoozes, or gives back, before it completes. */
static reeve_outcome snoozes(reeve_task *task, void *user)
{
    const char *payload = reeve_task_payload(task).data;
    int delay_ms = payload[0] == 'b' ? 0 : 1, times = atoi(payload + (payload[0] == 'b'));
    (void)user;
    if (atomic_fetch_add(&runs, 1) < times) return reeve_task_snooze(task, delay_ms);
    return reeve_task_done(task, NULL, 0);
}

static reeve_worker *start(int handler_max)
{
    reeve_worker *worker = test_worker_new(&(reeve_worker_options){0});
    const reeve_handler_policy policy = {.type = "snoozes", .max_snoozes = handler_max};
    assert_int_equal(reeve_worker_handle(worker, "snoozes", snoozes, NULL), REEVE_OK);
    assert_int_equal(reeve_worker_set_policy(worker, &policy), REEVE_OK);
    test_worker_pool(worker, "q", 1, 0);
    test_worker_start(worker);
    return worker;
}

static void put(const char *payload, int max)
{
    test_put_spec(
        (reeve_task_spec){.id = "a", .type = "snoozes", .payload = {payload, strlen(payload)}, .max_snoozes = max});
}

static void expect_dead(unsigned counted, int ran)
{
    reeve_task_info *info;
    assert_int_equal(reeve_wait(test_client, "q", "a", 60000, &info), REEVE_EDEAD);
    assert_string_equal(info->error_kind, "snoozes");
    assert_int_equal(info->snoozes, counted);
    assert_int_equal(info->failures, 0);
    assert_int_equal(atomic_load(&runs), ran);
    reeve_task_info_free(info);
}

static void by_task(void **state)
{
    (void)state;
    reeve_worker *worker = start(0);
    put("9", 2);
    expect_dead(2, 3);
    reeve_task_info *info = test_show("q", "a");
    assert_int_equal(info->max_snoozes, 2);
    assert_string_equal(info->error_message, "snoozed 3 times: at most 2 (max_snoozes)");
    reeve_task_info_free(info);
    /* Retried by hand it begins anew. */
    test_ok(test_client, reeve_retry(test_client, "q", "a"));
    TEST_AWAIT(atomic_load(&runs) == 6);
    expect_dead(2, 6);
    reeve_worker_destroy(worker);
}

static void as_often_as_allowed(void **state)
{
    (void)state;
    reeve_worker *worker = start(0);
    put("2", 2);
    test_ok(test_client, reeve_wait(test_client, "q", "a", 60000, NULL));
    assert_int_equal(atomic_load(&runs), 3);
    reeve_worker_destroy(worker);
}

static void by_handler_and_queue(void **state)
{
    const reeve_queue_policy of_queue = {.max_snoozes = 1};
    (void)state;
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.policy = &of_queue}));
    reeve_worker *worker = start(0);
    put("9", 0);
    expect_dead(1, 2);
    reeve_worker_destroy(worker);
    (void)set_up(NULL);
    worker = start(3);
    put("9", 0);
    expect_dead(3, 4);
    reeve_worker_destroy(worker);
}

/* Without a limit nothing is counted; and a task that is given back has not snoozed. */
static void not_counted(void **state)
{
    (void)state;
    reeve_worker *worker = start(0);
    put("4", 0);
    test_ok(test_client, reeve_wait(test_client, "q", "a", 60000, NULL));
    assert_int_equal(test_number("EXISTS reeve:{q}:info:a"), 0);
    reeve_worker_destroy(worker);
    (void)set_up(NULL);
    worker = start(1);
    put("b5", 0);
    test_ok(test_client, reeve_wait(test_client, "q", "a", 60000, NULL));
    reeve_worker_destroy(worker);
}

static void edited(void **state)
{
    const reeve_task_edit edit = {.fields = REEVE_EDIT_MAX_SNOOZES, .max_snoozes = 1};
    (void)state;
    put("9", 5);
    test_ok(test_client, reeve_edit(test_client, "q", "a", &edit));
    reeve_worker *worker = start(0);
    expect_dead(1, 2);
    reeve_worker_destroy(worker);
}

/* By the token of its lease. */
static void by_token(void **state)
{
    (void)state;
    const char *const queues[] = {"q"};
    put("", 1);
    for (int i = 0; i < 2; i++) {
        reeve_consumer *consumer;
        reeve_task *task;
        unsigned count = 0;
        char token[REEVE_TOKEN_MAX], words[300];
        const reeve_consumer_options options = {
            .redis = test_redis_url(test_redis), .queues = queues, .queue_count = 1, .session_ms = 30000};
        assert_int_equal(reeve_consumer_open(&consumer, &options, words, sizeof(words)), REEVE_OK);
        assert_int_equal(reeve_consumer_lease(consumer, &task, 1, 60000, &count), REEVE_OK);
        assert_int_equal(count, 1);
        assert_int_equal(reeve_consumer_token(consumer, task, token), REEVE_OK);
        (void)reeve_consumer_detach(consumer);
        const reeve_lease_outcome outcome = {.outcome = REEVE_OUTCOME_SNOOZE, .delay_ms = 1};
        test_ok(test_client, reeve_lease_settle(test_client, "q", "a", token, &outcome));
        if (i == 0) assert_string_equal(test_state("q", "a"), "scheduled");
    }
    expect_dead(1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(by_task, set_up),
        cmocka_unit_test_setup(as_often_as_allowed, set_up),
        cmocka_unit_test_setup(by_handler_and_queue, set_up),
        cmocka_unit_test_setup(not_counted, set_up),
        cmocka_unit_test_setup(edited, set_up),
        cmocka_unit_test_setup(by_token, set_up),
    };
    return cmocka_run_group_tests_name("ct_snoozes", tests, test_place_start, test_place_stop);
}
