/* What a worker counts for its metrics: buckets, and the limit on series. */
#include <stdio.h>
#include <string.h>

#include "running/task_metrics.h"
#include "support/cmocka.h"

static void add(rv_task_metrics *metrics, const char *type, int64_t run_us, int64_t wait_ms)
{
    const rv_settlement done = {.id = "x", .outcome = REEVE_OUTCOME_DONE};
    const rv_attempt attempt = {.type = type, .type_length = strlen(type), .run_us = run_us, .wait_ms = wait_ms};
    rv_task_metrics_add(metrics, &done, &attempt, false);
}

static void sorts_times_into_buckets(void **state)
{
    atomic_uint count = 0;
    rv_task_metrics *metrics = rv_task_metrics_new(&count);
    (void)state;
    add(metrics, "a", 1000, 0); /* a bound is a part of its bucket */
    add(metrics, "a", 1001, 1);
    add(metrics, "a", INT64_C(7200000001), 7200001);
    add(metrics, "a", 0, 5); /* its handler did not run */
    const rv_task_series *a = metrics->first;
    assert_string_equal(a->type, "a");
    assert_int_equal(a->results[RV_TASK_COMPLETED], 4);
    assert_int_equal(a->run.count[0], 1);
    assert_int_equal(a->run.count[1], 1);
    assert_int_equal(a->run.count[RV_TASK_BOUNDS], 1);
    assert_int_equal(a->run.sum_us, INT64_C(7200002002));
    assert_int_equal(a->wait.count[0], 2);
    assert_int_equal(a->wait.count[RV_TASK_BOUNDS], 1);
    rv_task_metrics_free(metrics);
}

static void counts_what_is_too_much_as_other(void **state)
{
    atomic_uint count = 0;
    rv_task_metrics *first = rv_task_metrics_new(&count), *second = rv_task_metrics_new(&count);
    char type[32];
    (void)state;
    for (int i = 0; i < RV_TASK_SERIES_MAX + 10; i++) {
        (void)snprintf(type, sizeof(type), "type-%d", i);
        add(i % 2 == 0 ? first : second, type, 10, 10);
    }
    assert_int_equal(count, RV_TASK_SERIES_MAX);
    assert_int_equal(first->other.results[RV_TASK_COMPLETED] + second->other.results[RV_TASK_COMPLETED], 10);
    add(first, "type-0", 10, 10); /* one that is known */
    rv_task_series sum = {.type = "other"};
    rv_task_metrics_merge(&sum, &first->other);
    rv_task_metrics_merge(&sum, &second->other);
    assert_int_equal(sum.results[RV_TASK_COMPLETED], 10);
    assert_int_equal(sum.run.count[0], 10);
    rv_task_metrics_free(first);
    rv_task_metrics_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_times_into_buckets),
        cmocka_unit_test(counts_what_is_too_much_as_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
