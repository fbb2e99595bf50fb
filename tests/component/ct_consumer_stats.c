/* Tasks that a consumer settles count in the statistics of their queue by type, as those of a worker. */
#include <stdio.h>
#include <string.h>

#include "reeve/stats.h"
#include "support/consumer.h"

static int set_up(void **state)
{
    return test_place_empty(state);
}

/* Whether the statistics of today have this of a type. */
static bool is_counted(const char *type, uint64_t completed, uint64_t failed, uint64_t dead)
{
    reeve_day *day;
    bool found = false;
    assert_int_equal(reeve_stats(test_client, "q", 0, 1, &day), REEVE_OK);
    for (size_t i = 0; i < day->type_count; i++) {
        const reeve_type_stats *of = &day->types[i];
        found = found || (strcmp(of->type, type) == 0 && of->completed == completed && of->failed == failed &&
                          of->dead == dead && of->run.count == completed + failed);
    }
    reeve_stats_free(day, 1);
    return found;
}

static void outcomes_count_by_type(void **state)
{
    (void)state;
    reeve_consumer *c = test_consumer_open("q", &(reeve_consumer_options){.session_ms = 600});
    test_put_spec((reeve_task_spec){.id = "a", .type = "one"});
    test_put_spec((reeve_task_spec){.id = "b", .type = "one"});
    test_put_spec((reeve_task_spec){.id = "c", .type = "two"});
    assert_string_equal(test_pull(c, 3, true), "a b c");
    reeve_task *c_task = test_pulled[2];
    test_good(c, test_settle_done(c, 0, NULL));
    test_good(c, test_settle_done(c, 1, NULL));
    test_good(c, reeve_consumer_settle(c, c_task, reeve_task_fail(c_task, "k", "m")));
    TEST_AWAIT(is_counted("one", 2, 0, 0));
    TEST_AWAIT(is_counted("two", 0, 1, 1));
    test_good(c, reeve_consumer_close(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(outcomes_count_by_type, set_up),
    };
    return cmocka_run_group_tests_name("ct_consumer_stats", tests, test_place_start, test_place_stop);
}
