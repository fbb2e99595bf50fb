/* A task says itself how long its record is kept, with its result, whatever the retention of its queue. */
#include <string.h>

#include "support/clock.h"
#include "support/maintain.h"
#include "support/queue.h"

static test_hand hand;

static int set_up(void **state)
{
    test_hand_init(&hand, "1", "q");
    return test_place_empty(state);
}

static void set_retention(const reeve_keep *keep)
{
    test_ok(test_client, reeve_queue_set(test_client, "q", &(reeve_queue_settings){.completed = keep}));
}

/* With a result, and the time after its end in ms. */
static void end_kept(const char *id, int64_t keep_ms)
{
    test_outcome item = TEST_KEPT(id);
    item.is.has_result = true;
    item.is.result = (reeve_bytes){"r", 1};
    test_put_spec((reeve_task_spec){.id = id, .keep_ms = keep_ms});
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, item);
}

static void expect_record(const char *id)
{
    reeve_task_info *info = test_show("q", id);
    assert_int_equal(info->state, REEVE_STATE_COMPLETED);
    assert_int_equal(info->result.length, 1);
    reeve_task_info_free(info);
}

static bool has_record(const char *id)
{
    reeve_task_info *info;
    if (reeve_show(test_client, "q", id, &info) != REEVE_OK) return false;
    reeve_task_info_free(info);
    return true;
}

static void pass(int64_t ms)
{
    test_clock_advance(ms);
    test_maintain_all("q");
}

static void it_is_kept_for_longer_than_the_queue_says(void **state)
{
    (void)state;
    set_retention(&(reeve_keep){.age_ms = 1000, .count = 10});
    end_kept("a", 5000);
    pass(2000);
    expect_record("a");
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:retained 0 -1"), "[a]");
    pass(3500);
    assert_false(has_record("a"));
    assert_int_equal(test_number("EXISTS reeve:{q}:retained reeve:{q}:read reeve:{q}:keep_until reeve:{q}:results"), 0);
}

static void it_is_kept_where_the_queue_keeps_none(void **state)
{
    (void)state;
    set_retention(&(reeve_keep){.age_ms = 0, .count = 0});
    end_kept("a", 5000);
    expect_record("a");
    pass(5500);
    assert_false(has_record("a"));
}

static void it_is_kept_for_less_time_than_the_queue_says(void **state)
{
    (void)state;
    end_kept("a", 1000);
    assert_string_equal(test_cmd(test_conn, "ZRANGE reeve:{q}:completed 0 -1"), "[a]");
    pass(2000);
    assert_false(has_record("a"));
    assert_int_equal(test_number("EXISTS reeve:{q}:completed reeve:{q}:read reeve:{q}:keep_until reeve:{q}:results"),
                     0);
}

/* Others that end push a record out of `completed`, but not one with a time of its own. */
static void its_number_does_not_count(void **state)
{
    (void)state;
    set_retention(&(reeve_keep){.age_ms = -1, .count = 2});
    end_kept("a", 100000);
    for (int i = 0; i < 4; i++) {
        test_put("q", i == 0 ? "b" : i == 1 ? "c" : i == 2 ? "d" : "e");
        assert_int_equal(test_lease(&hand, 1), 1);
        test_settle(&hand, TEST_DONE(i == 0 ? "b" : i == 1 ? "c" : i == 2 ? "d" : "e"));
    }
    test_maintain_all("q");
    expect_record("a");
    assert_false(has_record("b"));
    assert_int_equal(test_number("ZCARD reeve:{q}:completed"), 2);
}

/* It runs again, or goes, like any completed task. */
static void it_can_be_retried_and_deleted(void **state)
{
    (void)state;
    set_retention(&(reeve_keep){.age_ms = 0, .count = 0});
    end_kept("a", 100000);
    end_kept("b", 100000);
    test_ok(test_client, reeve_retry_completed(test_client, "q", "a"));
    test_ok(test_client, reeve_delete(test_client, "q", "b"));
    assert_int_equal(test_number("EXISTS reeve:{q}:retained reeve:{q}:read reeve:{q}:keep_until reeve:{q}:results"), 0);
    assert_int_equal(test_lease(&hand, 1), 1);
    test_settle(&hand, TEST_KEPT("a"));
    assert_true(has_record("a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_kept_for_longer_than_the_queue_says, set_up),
        cmocka_unit_test_setup(it_is_kept_where_the_queue_keeps_none, set_up),
        cmocka_unit_test_setup(it_is_kept_for_less_time_than_the_queue_says, set_up),
        cmocka_unit_test_setup(its_number_does_not_count, set_up),
        cmocka_unit_test_setup(it_can_be_retried_and_deleted, set_up),
    };
    test_options.clock = true;
    return cmocka_run_group_tests_name("ct_keep", tests, test_place_start, test_place_stop);
}
