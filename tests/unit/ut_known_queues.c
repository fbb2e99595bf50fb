/* The queues that a client has entered into the list of queues. */
#include "client/known_queues.h"

#include <stdio.h>

#include "support/cmocka.h"

static const char *name_of(char ret[16], size_t number)
{
    (void)snprintf(ret, 16, "q%zu", number);
    return ret;
}

/* A producer that enqueues into each of them in turn enters none of them again. */
static void all_partitions_of_a_queue_fit(void **state)
{
    rv_known_queues known = {0};
    char name[16];
    (void)state;
    rv_known_queues_renew(&known, 1);
    for (size_t i = 0; i < REEVE_PARTITIONS_MAX; i++) {
        assert_false(rv_known_queues_has(&known, name_of(name, i)));
        rv_known_queues_add(&known, name);
        rv_known_queues_add(&known, name);
    }
    rv_known_queues_renew(&known, 1);
    for (size_t i = 0; i < REEVE_PARTITIONS_MAX; i++) assert_true(rv_known_queues_has(&known, name_of(name, i)));
    rv_known_queues_fini(&known);
}

static void the_oldest_goes_first(void **state)
{
    rv_known_queues known = {0};
    char name[16];
    (void)state;
    for (size_t i = 0; i < 3 * RV_KNOWN_QUEUES_MAX + 1; i++) rv_known_queues_add(&known, name_of(name, i));
    assert_int_equal(known.count, RV_KNOWN_QUEUES_MAX);
    assert_false(rv_known_queues_has(&known, name_of(name, 2 * RV_KNOWN_QUEUES_MAX)));
    for (size_t i = 2 * RV_KNOWN_QUEUES_MAX + 1; i < 3 * RV_KNOWN_QUEUES_MAX + 1; i++)
        assert_true(rv_known_queues_has(&known, name_of(name, i)));
    rv_known_queues_fini(&known);
}

static void another_connection_knows_none(void **state)
{
    rv_known_queues known = {0};
    (void)state;
    rv_known_queues_renew(&known, 1);
    rv_known_queues_add(&known, "q");
    rv_known_queues_renew(&known, 2);
    assert_false(rv_known_queues_has(&known, "q"));
    rv_known_queues_add(&known, "q");
    rv_known_queues_forget(&known);
    assert_false(rv_known_queues_has(&known, "q"));
    rv_known_queues_fini(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_partitions_of_a_queue_fit),
        cmocka_unit_test(the_oldest_goes_first),
        cmocka_unit_test(another_connection_knows_none),
    };
    return cmocka_run_group_tests_name("ut_known_queues", tests, NULL, NULL);
}
