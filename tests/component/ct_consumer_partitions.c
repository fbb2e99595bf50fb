/* Tasks that a consumer's program chains into a divided queue: in the partition of their key or group. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "reeve/depend.h"
#include "reeve/partition.h"
#include "support/consumer.h"

/* The partition of both, of 4 and of 8 partitions. */
#define KEY "key"
#define GROUP "ann"
#define OLD "mail~3"
#define NEW "mail~7"

static reeve_consumer *c;
static atomic_bool returned;

static reeve_status chain(reeve_task *task)
{
    const reeve_task_spec specs[] = {{.queue = "mail", .type = "t", .id = "grouped", .group = GROUP},
                                     {.queue = "mail", .type = "t", .id = "only", .unique = KEY}};
    const reeve_parent parent = {.handle = "mail/grouped"};
    const reeve_task_spec child = {
        .queue = "mail", .type = "t", .id = "child", .group = GROUP, .after = &parent, .after_count = 1};
    reeve_status status = reeve_task_chain(task, &specs[0], NULL);
    if (status == REEVE_OK) status = reeve_task_chain(task, &specs[1], NULL);
    return status == REEVE_OK ? reeve_task_chain(task, &child, NULL) : status;
}

static reeve_outcome chain_and_end(reeve_task *task)
{
    return chain(task) == REEVE_OK ? reeve_task_done(task, NULL, 0) : reeve_task_fail(task, "refused", "%s", "");
}

static void chain_before(reeve_task *task, void *user)
{
    (void)user;
    (void)chain_and_end(task);
}

/* ---- ways to settle: on a thread, so that a call that never returns fails the test ------------------------------ */

static reeve_status settle(void)
{
    return reeve_consumer_settle(c, test_pulled[0], chain_and_end(test_pulled[0]));
}

static reeve_status settle_later(void)
{
    reeve_status status = reeve_consumer_settle_later(c, test_pulled[0], chain_and_end(test_pulled[0]));
    return status == REEVE_OK ? reeve_consumer_flush(c) : status;
}

/* The layer settles it. */
static reeve_status lease_through_a_layer(void)
{
    return reeve_consumer_lease(c, test_pulled, 1, 0, &test_pulled_count);
}

typedef struct call {
    reeve_status (*way)(void);
    reeve_status status;
} call;

static void *run(void *argument)
{
    call *made = argument;
    made->status = made->way();
    atomic_store(&returned, true);
    return NULL;
}

static void await(reeve_status (*way)(void))
{
    static call made; /* outlives a test that fails */
    pthread_t thread;
    made = (call){.way = way};
    atomic_store(&returned, false);
    assert_int_equal(pthread_create(&thread, NULL, run, &made), 0);
    TEST_AWAIT(atomic_load(&returned));
    assert_int_equal(pthread_join(thread, NULL), 0);
    test_good(c, made.status);
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static void open_change(void)
{
    test_ok(test_client, reeve_partition_set(test_client, "mail", 4));
    test_put_spec((reeve_task_spec){.queue = "mail", .type = "t", .id = "first", .group = GROUP});
    test_put_spec((reeve_task_spec){.queue = "mail", .type = "t", .id = "holder", .unique = KEY, .in_ms = 3600000});
    assert_string_equal(test_state(OLD, "first"), "ready");
    assert_string_equal(test_state(OLD, "holder"), "scheduled");
    test_ok(test_client, reeve_partition_set(test_client, "mail", 8));
}

/* Tasks of another queue reach it by messages. */
static void carry(void)
{
    static const char *const places[] = {OLD, NEW, "mail"};
    bool there = false;
    for (int64_t until_ms = test_patience(); !there && rv_now_ms() < until_ms; test_pause())
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
            there = there || strcmp(test_state(places[i], "child"), "") != 0;
    assert_true(there);
}

/* What is in use in the previous partition stays there: a group gets one task more, and a key is held. */
static void in_use(reeve_status (*way)(void))
{
    open_change();
    c = test_consumer_open("q", NULL);
    const reeve_layer layer = {REEVE_LAYER, .name = "chains", .before = chain_before};
    if (way == lease_through_a_layer) test_good(c, reeve_consumer_add_layer(c, &layer));
    test_put("q", "a");
    if (way != lease_through_a_layer) assert_string_equal(test_pull(c, 1, true), "a");
    await(way);
    assert_string_equal(test_state("q", "a"), "completed");
    carry();
    assert_string_equal(test_state(OLD, "grouped"), "ready");
    assert_string_equal(test_state(OLD, "child"), "blocked");
    assert_string_equal(test_state(NEW, "grouped"), "");
    assert_string_equal(test_state(NEW, "only"), "");
    test_good(c, reeve_consumer_close(c));
}

static void during_a_change(void **state)
{
    (void)state;
    in_use(settle);
}

static void later_during_a_change(void **state)
{
    (void)state;
    in_use(settle_later);
}

static void by_a_layer_during_a_change(void **state)
{
    (void)state;
    in_use(lease_through_a_layer);
}

/* A consumer learns with its heartbeats that a queue was divided after it was opened. */
static void after_a_heartbeat(void **state)
{
    (void)state;
    c = test_consumer_open("q", &(reeve_consumer_options){.manual_heartbeat = true});
    open_change();
    test_put("q", "a");
    assert_string_equal(test_pull(c, 1, true), "a");
    test_good(c, reeve_consumer_heartbeat(c));
    await(settle);
    carry();
    assert_string_equal(test_state(OLD, "grouped"), "ready");
    assert_string_equal(test_state(OLD, "child"), "blocked");
    test_good(c, reeve_consumer_close(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(during_a_change, test_place_empty),
        cmocka_unit_test_setup(later_during_a_change, test_place_empty),
        cmocka_unit_test_setup(by_a_layer_during_a_change, test_place_empty),
        cmocka_unit_test_setup(after_a_heartbeat, test_place_empty),
    };
    return cmocka_run_group_tests_name("ct_consumer_partitions", tests, test_place_start, test_place_stop);
}
