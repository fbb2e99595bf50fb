/* Clients whose map of the partitions is old: a queue was divided, or made smaller, by another client. */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "reeve/depend.h"
#include "reeve/partition.h"
#include "support/depend.h"

static reeve_client *late;

static int set_up(void **state)
{
    int failed = test_place_empty(state);
    char words[512];
    const reeve_client_options options = {.redis = test_redis_url(test_redis), .timeout_ms = 20000};
    if (reeve_client_open_with_error(&late, &options, words, sizeof(words)) != REEVE_OK) fail_msg("%s", words);
    return failed;
}

static int tear_down(void **state)
{
    (void)state;
    reeve_client_close(late);
    late = NULL;
    return 0;
}

static void divide(unsigned count)
{
    bool done = false;
    test_ok(test_client, reeve_partition_set(test_client, "mail", count));
    while (!done) {
        reeve_partitions ignored;
        test_ok(test_client, reeve_partition_step(test_client, "mail", 100, &ignored, &done));
    }
}

/* A task that is not in partition 0. */
static reeve_task_spec elsewhere(void)
{
    static char id[16];
    char name[REEVE_PARTITION_NAME_MAX] = "mail";
    const reeve_task_spec spec = {.queue = "mail", .type = "t", .id = id};
    for (unsigned i = 0; strcmp(name, "mail") == 0; i++) {
        (void)snprintf(id, sizeof(id), "m%u", i);
        test_ok(test_client, reeve_partition_of_task(test_client, &spec, name));
    }
    return spec;
}

/* The member is in a partition that the client does not know yet. */
static void a_batch_waits_for_a_member_in_a_new_partition(void **state)
{
    const reeve_task_spec success = {.queue = "q", .type = "t", .id = "success"};
    char handle[32];
    const char *handles[] = {handle};
    reeve_batch batch;
    (void)state;
    test_ok(late, reeve_batch_open(late, &batch, &(reeve_batch_callbacks){.success = &success}));
    divide(4);
    const reeve_task_spec member = elsewhere();
    test_ok(test_client, reeve_enqueue(test_client, &member, NULL));
    (void)snprintf(handle, sizeof(handle), "mail/%s", member.id);
    late->partitions_until_ms = 0; /* ten seconds later */
    test_ok(late, reeve_batch_add_tasks(late, &batch, handles, 1));
    test_ok(late, reeve_batch_close(late, &batch));
    test_settle_queues("q mail mail~1 mail~2 mail~3");
    assert_string_equal(test_state("q", "success"), "blocked");
}

/* While the client has no connection, it cannot read the map. */
static void an_enqueue_after_an_outage_is_in_a_partition_that_is_served(void **state)
{
    (void)state;
    divide(4);
    const reeve_task_spec spec = elsewhere();
    late->partitions_until_ms = 0;
    test_ok(late, reeve_enqueue(late, &(reeve_task_spec){.queue = "mail", .type = "t"}, NULL));
    assert_string_equal(test_cmd(test_conn, "SAVE"), "OK");
    test_redis_kill(test_redis);
    late->timeout_ms = 100;
    assert_int_not_equal(reeve_enqueue(late, &spec, NULL), REEVE_OK);
    late->timeout_ms = 20000;
    test_redis_launch(test_redis);
    test_conn_again();
    divide(1);
    test_ok(late, reeve_enqueue(late, &spec, NULL));
    assert_string_equal(test_state("mail", spec.id), "ready");
    assert_int_equal(test_count("mail", "ready"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_waits_for_a_member_in_a_new_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_enqueue_after_an_outage_is_in_a_partition_that_is_served, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("ct_partition_map", tests, test_place_start, test_place_stop);
}
