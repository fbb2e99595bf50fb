#include "base/backoff.h"

#include <stddef.h>

#define RECONNECT_BASE_MS 50
#define RECONNECT_CAP_MS 2000

/* base * 2^(n - 1), at most cap; base > 0. */
static int64_t doubled(int64_t base, int64_t cap, unsigned n)
{
    int64_t delay = base;
    for (unsigned i = 1; i < n && delay < cap; i++) {
        if (delay > cap / 2) return cap;
        delay *= 2;
    }
    return delay < cap ? delay : cap;
}

static double clamped(double value, double min, double max)
{
    if (!(value >= min)) return min; /* also what is no number */
    return value > max ? max : value;
}

static int64_t jittered(int64_t delay, double jitter, double unit)
{
    double share = 1 - jitter + 2 * jitter * clamped(unit, 0, 1);
    double moved = (double)delay * share;
    return moved >= (double)INT64_MAX ? INT64_MAX : (int64_t)moved;
}

bool rv_backoff_is_given(const reeve_backoff *backoff)
{
    bool jitter = backoff->jitter < 0 || backoff->jitter > 0;
    return backoff->shape != REEVE_BACKOFF_EXPONENTIAL || backoff->base_ms != 0 || backoff->cap_ms != 0 || jitter;
}

size_t rv_backoff_list_count(const reeve_backoff *backoff)
{
    size_t count = 0;
    while (count < REEVE_BACKOFF_LIST_MAX && backoff->list_ms[count] > 0) count++;
    return count;
}

static reeve_status check_list(const reeve_backoff *backoff, rv_error *error)
{
    size_t count = rv_backoff_list_count(backoff);
    if (count < REEVE_BACKOFF_LIST_MAX && backoff->list_ms[count] < 0) {
        return rv_fail(error, REEVE_EINVAL, "backoff: delay %zu of the list is negative", count + 1);
    }
    if (count > 0) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "backoff: a list needs at least one delay above zero");
}

reeve_status rv_backoff_check(const reeve_backoff *backoff, rv_error *error)
{
    if (backoff == NULL) return REEVE_OK;
    if (!(backoff->jitter <= 1)) return rv_fail(error, REEVE_EINVAL, "backoff: jitter is a share, at most 1");
    switch (backoff->shape) {
    case REEVE_BACKOFF_EXPONENTIAL:
    case REEVE_BACKOFF_FIXED:
        return REEVE_OK;
    case REEVE_BACKOFF_LIST:
        return check_list(backoff, error);
    }
    return rv_fail(error, REEVE_EINVAL, "backoff: there is no shape %d", (int)backoff->shape);
}

/* The delay before jitter. A list without delays, which rv_backoff_check refuses, counts as no list. */
static int64_t plain_delay(const reeve_backoff *backoff, unsigned failures)
{
    size_t count = backoff->shape == REEVE_BACKOFF_LIST ? rv_backoff_list_count(backoff) : 0;
    if (count > 0) return backoff->list_ms[failures == 0 ? 0 : failures > count ? count - 1 : failures - 1];

    int64_t base = backoff->base_ms > 0 ? backoff->base_ms : RV_BACKOFF_BASE_MS;
    int64_t cap = backoff->cap_ms > 0 ? backoff->cap_ms : RV_BACKOFF_CAP_MS;
    if (backoff->cap_ms <= 0 && cap < base) cap = base;
    return doubled(base, cap, backoff->shape == REEVE_BACKOFF_FIXED ? 1 : failures);
}

int64_t rv_backoff_delay(const reeve_backoff *backoff, unsigned failures, double unit)
{
    static const reeve_backoff zeroed;

    if (backoff == NULL) backoff = &zeroed;
    int64_t delay = plain_delay(backoff, failures);
    if (backoff->jitter < 0) return delay;
    double jitter = backoff->jitter > 0 ? clamped(backoff->jitter, 0, 1) : RV_BACKOFF_JITTER;
    return jittered(delay, jitter, unit);
}

int64_t rv_backoff_choose(int64_t asked_ms, const reeve_backoff *backoff, unsigned failures, double unit)
{
    return asked_ms >= 0 ? asked_ms : rv_backoff_delay(backoff, failures, unit);
}

int64_t rv_backoff_reconnect(unsigned tries, double unit)
{
    int64_t delay = doubled(RECONNECT_BASE_MS, RECONNECT_CAP_MS, tries);
    int64_t half = delay / 2;
    return half + (int64_t)((double)(delay - half) * clamped(unit, 0, 1));
}
