/* ut_pool_size.c - how many threads a pool is to have, by what was measured. */
#include "running/pool_size.h"
#include "support/cmocka.h"

#define SECOND 1000000

static rv_pool_size size;
static rv_pool_size_sample sample;
static rv_pool_size_reason why;

/* A pool of 2 to 32 threads on two processors, whose threads are all busy and wait for something else. */
static int set_up(void **state)
{
    (void)state;
    size = (rv_pool_size){0};
    sample = (rv_pool_size_sample){.now_us = 100 * (int64_t)SECOND,
                                   .elapsed_us = SECOND / 4,
                                   .threads = 2,
                                   .min = 2,
                                   .max = 32,
                                   .processors = 2,
                                   .target_wait_us = SECOND / 2,
                                   .shrink_after_us = 30 * (int64_t)SECOND,
                                   .leases = 10};
    return 0;
}

/* busy, processor: shares of the time of each thread. The pool has what was decided afterwards. */
static unsigned next(double busy, double processor)
{
    sample.now_us += sample.elapsed_us;
    sample.busy_us = (int64_t)(busy * (double)sample.elapsed_us * sample.threads);
    sample.processor_us = (int64_t)(processor * (double)sample.elapsed_us * sample.threads);
    sample.threads = rv_pool_size_decide(&size, &sample, &why);
    return sample.threads;
}

static void waiting_tasks_double_the_threads_up_to_the_maximum(void **state)
{
    (void)state;
    sample.wait_us = SECOND;
    assert_int_equal(next(1, 0.01), 4);
    assert_int_equal(why, RV_POOL_SIZE_WAIT);
    assert_int_equal(next(1, 0.01), 8);
    assert_int_equal(next(1, 0.01), 16);
    assert_int_equal(next(1, 0.01), 32);
    assert_int_equal(next(1, 0.01), 32);
    assert_int_equal(why, RV_POOL_SIZE_AT_MAX);
}

static void a_wait_within_the_target_changes_nothing(void **state)
{
    (void)state;
    sample.wait_us = SECOND / 2;
    for (int i = 0; i < 20; i++) assert_int_equal(next(1, 0.01), 2);
    assert_int_equal(why, RV_POOL_SIZE_STAYS);
}

static void a_thread_that_rests_ends_the_growth(void **state)
{
    (void)state;
    sample.wait_us = SECOND;
    sample.rested = true;
    assert_int_equal(next(1, 0.01), 2);
    assert_true(rv_pool_size_next_us(&size, &sample, 2) == INT64_MAX);
}

static void long_tasks_add_one_thread_after_the_target_wait(void **state)
{
    (void)state;
    sample.leases = 0;
    assert_int_equal(next(1, 0), 2);
    assert_true(rv_pool_size_next_us(&size, &sample, 2) == sample.now_us + SECOND / 4);
    assert_int_equal(next(1, 0), 3);
    assert_int_equal(why, RV_POOL_SIZE_LOOK);
    assert_int_equal(next(1, 0), 3);
    assert_int_equal(next(1, 0), 4);
}

static void handlers_that_compute_get_as_many_threads_as_processors(void **state)
{
    (void)state;
    sample.wait_us = SECOND;
    assert_int_equal(next(1, 0.98), 2);
    assert_int_equal(why, RV_POOL_SIZE_PROCESSORS);
    /* The share of other programs counts as well: their time is waited for. */
    sample.processors = 8;
    assert_int_equal(next(1, 0.98), 4);
    assert_int_equal(next(1, 0.98), 8);
    assert_int_equal(next(1, 0.98), 8);
}

static void handlers_that_compute_half_of_the_time_get_twice_as_many(void **state)
{
    (void)state;
    sample.wait_us = SECOND;
    assert_int_equal(next(1, 0.5), 4);
    assert_int_equal(next(1, 0.5), 4);
    assert_int_equal(why, RV_POOL_SIZE_PROCESSORS);
}

static void the_minimum_is_kept_whatever_the_processors(void **state)
{
    (void)state;
    sample.min = sample.threads = 6;
    sample.wait_us = SECOND;
    for (int i = 0; i < 100; i++) assert_int_equal(next(1, 1), 6);
}

static void too_many_threads_for_the_processors_end_after_a_while(void **state)
{
    (void)state;
    sample.threads = 32;
    sample.peak = 32;
    assert_int_equal(next(1, 1), 32);
    for (int i = 0; i < 30 && sample.threads == 32; i++) (void)next(1, 1);
    assert_int_equal(sample.threads, 2);
    assert_int_equal(why, RV_POOL_SIZE_CROWDED);
}

static void a_gate_bars_growth(void **state)
{
    (void)state;
    sample.wait_us = SECOND;
    sample.gated = true;
    assert_int_equal(next(1, 0.01), 2);
    assert_int_equal(why, RV_POOL_SIZE_GATED);
}

static void threads_that_call_redis_most_of_the_time_grow_to_the_processors(void **state)
{
    (void)state;
    sample.wait_us = SECOND;
    sample.processors = 4;
    assert_int_equal(next(0.1, 0.05), 4);
    assert_int_equal(next(0.1, 0.05), 4);
    assert_int_equal(why, RV_POOL_SIZE_PROCESSORS);
}

static void an_idle_pool_shrinks_to_the_minimum(void **state)
{
    (void)state;
    sample.threads = 32;
    sample.rested = true;
    sample.leases = 0;
    assert_int_equal(next(0, 0), 32);
    int64_t until = rv_pool_size_next_us(&size, &sample, 32);
    assert_true(until == sample.now_us + 30 * (int64_t)SECOND);
    sample.elapsed_us = until - sample.now_us;
    assert_int_equal(next(0, 0), 2);
    assert_int_equal(why, RV_POOL_SIZE_IDLE);
    assert_true(rv_pool_size_next_us(&size, &sample, 2) == INT64_MAX);
}

/* One thread more than ran, so that the pool does not grow at once again. */
static void a_pool_keeps_one_thread_more_than_ran_together(void **state)
{
    (void)state;
    sample.threads = 32;
    sample.rested = true;
    sample.elapsed_us = 20 * (int64_t)SECOND;
    sample.peak = 7;
    assert_int_equal(next(0.1, 0), 32);
    sample.peak = 3;
    assert_int_equal(next(0.1, 0), 32);
    assert_int_equal(next(0.1, 0), 8);
    assert_int_equal(why, RV_POOL_SIZE_IDLE);
    /* A new period begins with each decision. */
    for (int i = 0; i < 2; i++) (void)next(0.1, 0);
    assert_int_equal(sample.threads, 4);
    for (int i = 0; i < 20; i++) assert_int_equal(next(0.1, 0), 4);
}

/* A load that comes every ten seconds does not make the number go up and down. */
static void no_flapping(void **state)
{
    (void)state;
    unsigned changes = 0, before = sample.threads;
    for (int i = 0; i < 4 * 120; i++) {
        bool loaded = i % 40 < 8;
        sample.rested = !loaded || sample.threads >= 10;
        sample.wait_us = loaded && sample.threads < 10 ? SECOND : 0;
        sample.leases = loaded ? 10 : 0;
        sample.peak = loaded ? (sample.threads < 10 ? sample.threads : 10) : 0;
        (void)next(loaded ? 0.9 : 0, 0.01);
        changes += sample.threads != before;
        before = sample.threads;
    }
    assert_in_range(sample.threads, 11, 16);
    assert_in_range(changes, 3, 4); /* 4, 8, 16, and later 11 */
}

static void the_window_follows_the_target(void **state)
{
    (void)state;
    assert_int_equal(rv_pool_size_window_us(1), 50000);
    assert_int_equal(rv_pool_size_window_us(SECOND / 2), SECOND / 4);
    assert_int_equal(rv_pool_size_window_us(3600 * (int64_t)SECOND), SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waiting_tasks_double_the_threads_up_to_the_maximum, set_up),
        cmocka_unit_test_setup(a_wait_within_the_target_changes_nothing, set_up),
        cmocka_unit_test_setup(a_thread_that_rests_ends_the_growth, set_up),
        cmocka_unit_test_setup(long_tasks_add_one_thread_after_the_target_wait, set_up),
        cmocka_unit_test_setup(handlers_that_compute_get_as_many_threads_as_processors, set_up),
        cmocka_unit_test_setup(handlers_that_compute_half_of_the_time_get_twice_as_many, set_up),
        cmocka_unit_test_setup(the_minimum_is_kept_whatever_the_processors, set_up),
        cmocka_unit_test_setup(too_many_threads_for_the_processors_end_after_a_while, set_up),
        cmocka_unit_test_setup(a_gate_bars_growth, set_up),
        cmocka_unit_test_setup(threads_that_call_redis_most_of_the_time_grow_to_the_processors, set_up),
        cmocka_unit_test_setup(an_idle_pool_shrinks_to_the_minimum, set_up),
        cmocka_unit_test_setup(a_pool_keeps_one_thread_more_than_ran_together, set_up),
        cmocka_unit_test_setup(no_flapping, set_up),
        cmocka_unit_test_setup(the_window_follows_the_target, set_up),
    };
    return cmocka_run_group_tests_name("ut_pool_size", tests, NULL, NULL);
}
