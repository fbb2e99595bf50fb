/* Where chained tasks go, if the layouts change while they are placed. */
#include "running/chain_place.h"

#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "protocol/settlement.h"
#include "reeve/depend.h"
#include "support/cmocka.h"

static reeve_worker worker;
static unsigned asked;

/* `mail` is divided, and the number of `other` is being changed; or `other` alone. */
static void set_layouts(size_t count)
{
    static const rv_partition_layout layouts[] = {
        {.queue = "other", .count = 8, .before = 4, .served = 8},
        {.queue = "mail", .count = 4, .before = 4, .served = 4},
    };
    rv_partition_layout *copy = rv_zalloc_array(count, sizeof(*copy));
    assert_non_null(copy);
    memcpy(copy, layouts, count * sizeof(*copy));
    rv_lock(&worker.changing);
    rv_partition_map_fini(&worker.partitions);
    worker.partitions = (rv_partition_map){copy, count};
    rv_unlock(&worker.changing);
}

/* While Redis is asked, a heartbeat learns that `mail` is not divided any more. */
static reeve_status ask(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                        void *context)
{
    (void)build, (void)what, (void)ret, (void)context;
    asked++;
    set_layouts(1);
    return REEVE_ELOST;
}

static void a_parent_is_where_it_was_placed(void **state)
{
    (void)state;
    char expected[REEVE_HANDLE_MAX], partition[REEVE_QUEUE_MAX + 1];
    const rv_task_host host = {.ask = ask};
    const reeve_parent after = {.handle = "mail/parent"};
    const reeve_task_spec specs[] = {
        {.queue = "mail", .type = "t", .id = "parent"},
        {.queue = "other", .type = "t", .id = "asks", .unique = "key"},
        {.queue = "mail", .type = "t", .id = "child", .after = &after, .after_count = 1},
    };
    rv_buf chained, placed;
    rv_buf_init(&chained, SIZE_MAX);
    rv_buf_init(&placed, SIZE_MAX);
    for (size_t i = 0; i < 3; i++) rv_settlement_chain(&chained, &specs[i], specs[i].id);
    set_layouts(2);
    assert_true(rv_chain_place(&worker, &host, "q", (reeve_bytes){chained.data, chained.length}, 3, &placed));
    assert_int_equal(asked, 1);
    assert_int_not_equal(rv_partition_of("parent", 4), 0);
    rv_partition_name(partition, "mail", rv_partition_of("parent", 4));
    (void)snprintf(expected, sizeof(expected), "%s/parent", partition);
    reeve_bytes arguments[3 * RV_SETTLEMENT_CHAINED_ARGS];
    const char *at = placed.data;
    for (size_t i = 0; i < 3 * RV_SETTLEMENT_CHAINED_ARGS; i++) at = rv_settlement_chained_argument(at, &arguments[i]);
    assert_int_equal(arguments[0].length, strlen(expected));
    assert_memory_equal(arguments[0].data, expected, strlen(expected));
    reeve_bytes options = arguments[2 * RV_SETTLEMENT_CHAINED_ARGS + 1];
    assert_non_null(memmem(options.data, options.length, expected, strlen(expected)));
    rv_buf_fini(&chained);
    rv_buf_fini(&placed);
    rv_partition_map_fini(&worker.partitions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_parent_is_where_it_was_placed)};
    rv_lock_init(&worker.changing);
    (void)snprintf(worker.ns, sizeof(worker.ns), "reeve");
    return cmocka_run_group_tests_name("ut_chain_place", tests, NULL, NULL);
}
