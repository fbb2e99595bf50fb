/* A queue's settings read back: defaults, what was set, and that what was read can be set again. */
#include <string.h>

#include "support/queue.h"

#define Q "reeve:{q}:"
#define DAY_MS ((int64_t)86400000)

static reeve_queue_settings *settings(void)
{
    reeve_queue_settings *ret = NULL;
    test_ok(test_client, reeve_queue_settings_get(test_client, "q", &ret));
    assert_non_null(ret);
    return ret;
}

static void expect_keep(const reeve_keep *keep, int64_t age_ms, int64_t count)
{
    assert_int_equal(keep->age_ms, age_ms);
    assert_int_equal(keep->count, count);
}

static void expect_defaults(const reeve_queue_settings *held)
{
    expect_keep(held->completed, DAY_MS, 10000);
    expect_keep(held->dead, 90 * DAY_MS, 10000);
    assert_int_equal(held->policy->attempts, 0);
    assert_int_equal(held->policy->max_crashes, 0);
    assert_int_equal(held->policy->timeout_ms, 0);
    assert_null(held->policy->backoff);
    assert_string_equal(held->on_dead, "");
    assert_int_equal(*held->stats_days, 30);
}

static void of_a_queue_without_any(void **state)
{
    (void)state;
    reeve_queue_settings *held = settings();
    expect_defaults(held);
    reeve_queue_settings_free(held);
    assert_int_equal(test_number("EXISTS " Q "settings"), 0); /* it only reads */
    reeve_queue_settings_free(NULL);
}

static void set_all(void)
{
    const reeve_backoff list = {.shape = REEVE_BACKOFF_LIST, .list_ms = {5, 60000}, .jitter = -1};
    const reeve_queue_policy policy = {.attempts = 7, .max_crashes = 2, .timeout_ms = 123456789012, .backoff = &list};
    const reeve_keep completed = {.age_ms = 0, .count = -1}, dead = {.age_ms = -1, .count = 5};
    const unsigned days = 0;
    test_ok(
        test_client,
        reeve_queue_set(
            test_client, "q",
            &(reeve_queue_settings){
                .completed = &completed, .dead = &dead, .policy = &policy, .on_dead = "told/x", .stats_days = &days}));
}

static void as_they_were_set(void **state)
{
    (void)state;
    set_all();
    reeve_queue_settings *held = settings();
    expect_keep(held->completed, 0, -1);
    expect_keep(held->dead, -1, 5);
    assert_int_equal(held->policy->attempts, 7);
    assert_int_equal(held->policy->max_crashes, 2);
    assert_int_equal(held->policy->timeout_ms, 123456789012);
    assert_non_null(held->policy->backoff);
    assert_int_equal(held->policy->backoff->shape, REEVE_BACKOFF_LIST);
    assert_int_equal(held->policy->backoff->list_ms[0], 5);
    assert_int_equal(held->policy->backoff->list_ms[1], 60000);
    assert_int_equal(held->policy->backoff->list_ms[2], 0);
    assert_true(held->policy->backoff->jitter < 0);
    assert_string_equal(held->on_dead, "told/x");
    assert_int_equal(*held->stats_days, 0);
    reeve_queue_settings_free(held);
}

/* What was read says the same when it is set: also in another queue. */
static void set_again(void **state)
{
    (void)state;
    static const char fields[] = "completed_age completed_count dead_age dead_count on_dead policy stats_days";
    char before[512];
    set_all();
    rv_copy_text(before, sizeof(before), test_cmd(test_conn, "HMGET " Q "settings %s", fields));
    reeve_queue_settings *held = settings();
    test_ok(test_client, reeve_queue_set(test_client, "q", held));
    test_ok(test_client, reeve_queue_set(test_client, "r", held));
    reeve_queue_settings_free(held);
    assert_string_equal(test_cmd(test_conn, "HMGET " Q "settings %s", fields), before);
    assert_string_equal(test_cmd(test_conn, "HMGET reeve:{r}:settings %s", fields), before);
    /* Of a queue without any: its on_dead and policy go. */
    test_ok(test_client, reeve_queue_settings_get(test_client, "none", &held));
    test_ok(test_client, reeve_queue_set(test_client, "q", held));
    reeve_queue_settings_free(held);
    held = settings();
    expect_defaults(held);
    reeve_queue_settings_free(held);
    assert_string_equal(test_cmd(test_conn, "HMGET " Q "settings on_dead policy"), "[(nil) (nil)]");
}

/* What somebody else wrote, and what makes no sense. */
static void odd_fields(void **state)
{
    (void)state;
    (void)test_cmd(test_conn,
                   "HSET " Q "settings completed_age -7 completed_count x dead_age %s policy %s stats_days 99999",
                   "99999999999999999999999", "[]");
    reeve_queue_settings *held = settings();
    expect_keep(held->completed, -1, 10000);
    expect_keep(held->dead, 90 * DAY_MS, 10000);
    assert_int_equal(held->policy->attempts, 0);
    assert_null(held->policy->backoff);
    assert_int_equal(*held->stats_days, 3650);
    reeve_queue_settings_free(held);
    (void)test_cmd(test_conn, "HSET " Q "settings policy %s", "{\"attempts\":4,\"backoff\":{\"shape\":2,\"list\":[]}}");
    held = settings();
    assert_int_equal(held->policy->attempts, 4);
    assert_null(held->policy->backoff);
    reeve_queue_settings_free(held);
}

static void refusals(void **state)
{
    (void)state;
    reeve_queue_settings *held = NULL;
    assert_int_equal(reeve_queue_settings_get(NULL, "q", &held), REEVE_EINVAL);
    assert_int_equal(reeve_queue_settings_get(test_client, "q", NULL), REEVE_EINVAL);
    test_refused(test_client, reeve_queue_settings_get(test_client, "q q", &held), REEVE_EINVAL, "queue \"q q\"");
    (void)test_cmd(test_conn, "SET " Q "settings x");
    test_refused(test_client, reeve_queue_settings_get(test_client, "q", &held), REEVE_EREDIS, "WRONGTYPE");
    assert_null(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_a_queue_without_any, test_place_empty),
        cmocka_unit_test_setup(as_they_were_set, test_place_empty),
        cmocka_unit_test_setup(set_again, test_place_empty),
        cmocka_unit_test_setup(odd_fields, test_place_empty),
        cmocka_unit_test_setup(refusals, test_place_empty),
    };
    return cmocka_run_group_tests(tests, test_place_start, test_place_stop);
}
