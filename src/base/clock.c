#include "base/clock.h"

#include <limits.h>
#include <time.h>

/* clock_gettime cannot fail for these two clocks. */
static int64_t now(clockid_t clock, int64_t units_per_second)
{
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * units_per_second + (int64_t)time.tv_nsec / (1000000000 / units_per_second);
}

int64_t rv_now_ms(void)
{
    return now(CLOCK_MONOTONIC, 1000);
}

int64_t rv_now_us(void)
{
    return now(CLOCK_MONOTONIC, 1000000);
}

int64_t rv_wall_ms(void)
{
    return now(CLOCK_REALTIME, 1000);
}

int64_t rv_deadline(int64_t timeout_ms)
{
    int64_t deadline;
    if (timeout_ms < 0 || __builtin_add_overflow(rv_now_ms(), timeout_ms, &deadline)) return RV_FOREVER;
    return deadline;
}

int rv_poll_timeout(int64_t deadline)
{
    if (deadline == RV_FOREVER) return -1;

    /* rv_now_ms rounds down, so the difference is rounded up: poll does not return just before the deadline. */
    int64_t present = rv_now_ms();
    if (deadline <= present) return 0;
    int64_t left = deadline - present;
    return left > INT_MAX ? INT_MAX : (int)left;
}
