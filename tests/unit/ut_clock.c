/* ut_clock.c - deadlines, on a clock that the test sets. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

static bool faked;
static struct timespec fake;

/* Stands before the C library's, for this program. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
    if (!faked) return (int)syscall(SYS_clock_gettime, clock, ret);
    *ret = fake;
    return 0;
}

static int fake_clock(void **state)
{
    (void)state;
    faked = true;
    fake = (struct timespec){.tv_sec = 1000, .tv_nsec = 999999999};
    return 0;
}

static int real_clock(void **state)
{
    (void)state;
    faked = false;
    return 0;
}

static void the_clock_rounds_down(void **state)
{
    (void)state;
    assert_int_equal(rv_now_ms(), 1000999);
    assert_int_equal(rv_now_us(), 1000999999);
    assert_int_equal(rv_wall_ms(), 1000999);
}

static void deadlines_are_absolute_and_saturate(void **state)
{
    (void)state;
    assert_int_equal(rv_deadline(0), 1000999);
    assert_int_equal(rv_deadline(500), 1001499);
    assert_true(rv_deadline(-1) == RV_FOREVER);
    assert_true(rv_deadline(INT64_MIN) == RV_FOREVER);
    assert_true(rv_deadline(INT64_MAX) == RV_FOREVER);
    assert_true(rv_deadline(INT64_MAX - 1000) == RV_FOREVER);
}

static void poll_waits_as_long_as_is_left(void **state)
{
    (void)state;
    assert_int_equal(rv_poll_timeout(RV_FOREVER), -1);
    assert_int_equal(rv_poll_timeout(1000999), 0);
    assert_int_equal(rv_poll_timeout(1000998), 0);
    assert_int_equal(rv_poll_timeout(INT64_MIN), 0);
    assert_int_equal(rv_poll_timeout(1001000), 1);
    assert_int_equal(rv_poll_timeout(rv_deadline(250)), 250);
    assert_int_equal(rv_poll_timeout(RV_FOREVER - 1), INT_MAX);
}

static void poll_does_not_return_early(void **state)
{
    (void)state;
    int64_t deadline = rv_deadline(250);
    fake.tv_nsec = 999000001;
    /* 249.99 ms are left of it: 249 would be too early. */
    assert_int_equal(rv_poll_timeout(deadline), 250);
}

static void the_real_clock_goes_forward(void **state)
{
    (void)state;
    int64_t before = rv_now_us();
    int64_t wall = rv_wall_ms();
    for (int i = 0; i < 10000; i++) {
        int64_t now = rv_now_us();
        assert_true(now >= before);
        before = now;
    }
    assert_true(wall > 1700000000000);
    assert_true(before / 1000 <= rv_now_ms());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_clock_rounds_down, fake_clock, real_clock),
        cmocka_unit_test_setup_teardown(deadlines_are_absolute_and_saturate, fake_clock, real_clock),
        cmocka_unit_test_setup_teardown(poll_waits_as_long_as_is_left, fake_clock, real_clock),
        cmocka_unit_test_setup_teardown(poll_does_not_return_early, fake_clock, real_clock),
        cmocka_unit_test(the_real_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
