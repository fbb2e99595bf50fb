#include "base/retry.h"

#include <stddef.h>

#define DEFAULT_BASE_MS 1000
#define DEFAULT_CAP_MS 3600000
#define DEFAULT_JITTER 0.2
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

static double clamped(double value, double least, double most)
{
    if (!(value >= least)) return least; /* also what is no number */
    return value > most ? most : value;
}

static int64_t jittered(int64_t delay, double jitter, double unit)
{
    double share = 1 - jitter + 2 * jitter * clamped(unit, 0, 1);
    double moved = (double)delay * share;
    return moved >= (double)INT64_MAX ? INT64_MAX : (int64_t)moved;
}

int64_t rv_backoff_delay(const reeve_backoff *backoff, unsigned failures, double unit)
{
    static const reeve_backoff zeroed;

    if (backoff == NULL) backoff = &zeroed;
    int64_t base = backoff->base_ms > 0 ? backoff->base_ms : DEFAULT_BASE_MS;
    int64_t cap = backoff->cap_ms > 0 ? backoff->cap_ms : DEFAULT_CAP_MS;
    if (backoff->cap_ms <= 0 && cap < base) cap = base;

    unsigned doublings_from = backoff->shape == REEVE_BACKOFF_FIXED ? 1 : failures;
    int64_t delay = doubled(base, cap, doublings_from);
    if (backoff->jitter < 0) return delay;
    double jitter = backoff->jitter > 0 ? clamped(backoff->jitter, 0, 1) : DEFAULT_JITTER;
    return jittered(delay, jitter, unit);
}

int64_t rv_reconnect_delay(unsigned tries, double unit)
{
    int64_t delay = doubled(RECONNECT_BASE_MS, RECONNECT_CAP_MS, tries);
    return delay / 2 + (int64_t)((double)(delay - delay / 2) * clamped(unit, 0, 1));
}
