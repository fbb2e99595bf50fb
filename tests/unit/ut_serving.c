/* Which workers serve a queue, by their records. */
#include "protocol/serving.h"

#include "support/cmocka.h"

/* Workers that serve the queue, of one with such pools. */
static unsigned workers_of(const char *queue, const char *pools)
{
    reeve_worker_info worker = {.pools = (char *)(uintptr_t)pools, .state = (char *)(uintptr_t) "running"};
    rv_serving found;
    assert_int_equal(rv_serving_count(&found, &worker, 1, queue, NULL), REEVE_OK);
    return found.workers;
}

static void a_queue_is_served_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(workers_of("mail", "[{\"queues\":[\"a\",\"mail\"]}]"), 1);
    assert_int_equal(workers_of("mail", "[{\"queues\":[\"mails\",\"e-mail\"]}]"), 0);
    assert_int_equal(workers_of("mail", "[{\"queues\":[7]},{\"queues\":\"mail\"}]"), 0);
}

/* A pool may serve only some partitions of a queue; the first one has two names. */
static void a_divided_queue_is_served_by_names_of_partitions(void **state)
{
    (void)state;
    assert_int_equal(workers_of("mail", "[{\"queues\":[\"mail~0\",\"mail~1\"]}]"), 1);
    assert_int_equal(workers_of("mail", "[{\"queues\":[\"mail~2\"]}]"), 1);
    assert_int_equal(workers_of("mail~0", "[{\"queues\":[\"mail\"]}]"), 1);
    assert_int_equal(workers_of("mail~2", "[{\"queues\":[\"mail~1\"]}]"), 0);
    assert_int_equal(workers_of("mail", "[{\"queues\":[\"mails~0\"]}]"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_served_by_its_name),
        cmocka_unit_test(a_divided_queue_is_served_by_names_of_partitions),
    };

    return cmocka_run_group_tests_name("ut_serving", tests, NULL, NULL);
}
