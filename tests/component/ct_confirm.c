/* What an enqueue waits for (reeve_client_confirm): by queue, and from a call on. The server has no replica, so whoever waits for
 * one is not confirmed. */
#include "reeve/partition.h"
#include "support/worker.h"

static const reeve_confirmation one = {.replicas = 1, .timeout_ms = 1};

static reeve_status put(const char *queue)
{
    const reeve_task_spec spec = {.queue = queue, .type = "t"};
    return reeve_enqueue(test_client, &spec, NULL);
}

static void it_is_set_for_a_queue(void **state)
{
    (void)state;
    test_ok(test_client, reeve_client_confirm(test_client, "sure", &one));
    assert_int_equal(put("sure"), REEVE_UNCONFIRMED);
    assert_non_null(strstr(reeve_client_error(test_client), "0 of 1 replicas confirmed it within 1 ms"));
    assert_int_equal(put("quick"), REEVE_OK);
    reeve_enqueued results[2];
    const reeve_task_spec both[] = {{.queue = "quick", .type = "t"}, {.queue = "sure", .type = "t"}};
    assert_int_equal(reeve_enqueue_many(test_client, both, 2, results), REEVE_UNCONFIRMED);
    /* Its partitions belong to it. */
    test_ok(test_client, reeve_partition_set(test_client, "sure", 3));
    assert_int_equal(put("sure"), REEVE_UNCONFIRMED);
    assert_int_equal(put("sure~1"), REEVE_UNCONFIRMED);
    test_ok(test_client, reeve_client_confirm(test_client, "sure", NULL));
    assert_int_equal(put("sure"), REEVE_OK);
}

static void it_is_set_from_a_call_on(void **state)
{
    (void)state;
    test_ok(test_client, reeve_client_confirm(test_client, NULL, &one));
    test_ok(test_client, reeve_client_confirm(test_client, "quick", &(reeve_confirmation){0}));
    assert_int_equal(put("q"), REEVE_UNCONFIRMED);
    assert_int_equal(put("quick"), REEVE_OK);
    test_ok(test_client, reeve_client_confirm(test_client, NULL, NULL));
    assert_int_equal(put("q"), REEVE_OK);
    test_ok(test_client, reeve_client_confirm(test_client, "quick", NULL));
}

/* A task that takes the place of a cancelled one waits as the first did. */
static void a_task_enqueued_again_waits(void **state)
{
    const reeve_task_spec spec = {.queue = "q", .type = "t", .id = "i", .if_exists = REEVE_EXISTS_AGAIN};
    (void)state;
    assert_int_equal(reeve_enqueue(test_client, &spec, NULL), REEVE_OK);
    test_ok(test_client, reeve_cancel(test_client, "q", "i"));
    test_ok(test_client, reeve_client_confirm(test_client, "q", &one));
    assert_int_equal(reeve_enqueue(test_client, &spec, NULL), REEVE_UNCONFIRMED);
    assert_non_null(strstr(reeve_client_error(test_client), "0 of 1 replicas confirmed it within 1 ms"));
    test_ok(test_client, reeve_client_confirm(test_client, "q", NULL));
    TEST_AWAIT_STATE("i", "ready");
}

static void what_cannot_be_waited_for_is_refused(void **state)
{
    char name[16];
    (void)state;
    test_refused(test_client, reeve_client_confirm(test_client, "no queue", &one), REEVE_EINVAL, "no queue");
    test_refused(test_client,
                 reeve_client_confirm(test_client, "q", &(reeve_confirmation){.timeout_ms = 1000LL * 3600 * 25}),
                 REEVE_EINVAL, "too large");
    for (int i = 0; i < REEVE_CONFIRMED_QUEUES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "q%d", i);
        test_ok(test_client, reeve_client_confirm(test_client, name, &one));
    }
    test_ok(test_client, reeve_client_confirm(test_client, "q7", &one));
    test_refused(test_client, reeve_client_confirm(test_client, "more", &one), REEVE_EFULL, "at most 64");
    for (int i = 0; i < REEVE_CONFIRMED_QUEUES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "q%d", i);
        test_ok(test_client, reeve_client_confirm(test_client, name, NULL));
    }
    assert_int_equal(put("q7"), REEVE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_set_for_a_queue, test_place_empty),
        cmocka_unit_test_setup(it_is_set_from_a_call_on, test_place_empty),
        cmocka_unit_test_setup(a_task_enqueued_again_waits, test_place_empty),
        cmocka_unit_test_setup(what_cannot_be_waited_for_is_refused, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_confirm", tests, test_place_start, test_place_stop);
}
