#include "running/pool_size.h"

#include <math.h>

#define WINDOW_MIN_US 50000
#define KEPT 0.75 /* of what was measured before, with each measurement */
#define WINDOW_MAX_US 1000000
#define CROWDED_US 5000000

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

int64_t rv_pool_size_window_us(int64_t target_wait_us)
{
    int64_t half = target_wait_us / 2;
    return half < WINDOW_MIN_US ? WINDOW_MIN_US : half > WINDOW_MAX_US ? WINDOW_MAX_US : half;
}

static bool is_busy(const rv_pool_size_sample *s)
{
    return 2 * (double)s->busy_us >= (double)s->elapsed_us * s->threads;
}

static void note_processor(rv_pool_size *size, const rv_pool_size_sample *s)
{
    /* Where the run time is short, what a thread needs for its calls would count as that of its handlers. */
    if (s->processor_us < 0 || !is_busy(s) || s->busy_us <= 0) return;
    size->processor_us = KEPT * size->processor_us + (double)s->processor_us;
    size->busy_us = KEPT * size->busy_us + (double)s->busy_us;
    size->processor = fmin(size->processor_us / size->busy_us, 1);
    size->knows_processor = true;
}

unsigned rv_pool_size_limit(const rv_pool_size *size, const rv_pool_size_sample *s)
{
    double limit = s->max;
    /* Threads that do not run tasks most of the time are held up by Redis. */
    if (!is_busy(s))
        limit = s->processors;
    else if (size->knows_processor && size->processor > 0)
        limit = ceil(s->processors / size->processor - 0.25);
    return most(s->min, limit < s->max ? (unsigned)limit : s->max);
}

/* Where tasks wait: as many as the limits allow. */
static unsigned grow(const rv_pool_size *size, const rv_pool_size_sample *s, unsigned wanted,
                     rv_pool_size_reason *ret_why)
{
    unsigned limit = rv_pool_size_limit(size, s), before = s->threads;
    if (s->gated || s->threads >= limit) {
        *ret_why = s->threads >= s->max ? RV_POOL_SIZE_AT_MAX : s->gated ? RV_POOL_SIZE_GATED : RV_POOL_SIZE_PROCESSORS;
        return before;
    }
    return least(wanted, limit);
}

static void begin_period(rv_pool_size *size, int64_t now_us)
{
    size->period_us = now_us;
    size->peak = 0;
}

/* The number for a period in which never more than `peak` threads ran together. */
static unsigned shrink(rv_pool_size *size, const rv_pool_size_sample *s, rv_pool_size_reason *ret_why)
{
    if (s->now_us - size->period_us < s->shrink_after_us) return s->threads;
    unsigned wanted = size->peak == 0 ? s->min : most(s->min, least(s->max, size->peak + 1));
    begin_period(size, s->now_us);
    if (wanted >= s->threads) return s->threads;
    *ret_why = RV_POOL_SIZE_IDLE;
    return wanted;
}

/* Whether the pool has had far too many threads for its processors for a while. */
static bool is_crowded(rv_pool_size *size, const rv_pool_size_sample *s)
{
    bool crowded = is_busy(s) && size->knows_processor && s->threads > 2 * rv_pool_size_limit(size, s);
    if (!crowded) size->crowded_us = 0;
    if (crowded && size->crowded_us == 0) size->crowded_us = s->now_us;
    return crowded && s->now_us - size->crowded_us >= CROWDED_US;
}

unsigned rv_pool_size_decide(rv_pool_size *size, const rv_pool_size_sample *s, rv_pool_size_reason *ret_why)
{
    unsigned threads = s->threads;
    *ret_why = RV_POOL_SIZE_STAYS;
    if (size->period_us == 0) begin_period(size, s->now_us);
    size->peak = most(size->peak, s->peak);
    note_processor(size, s);
    bool saturated = !s->rested && (is_busy(s) || s->leases > 0);
    if (!saturated) size->saturated_us = 0;
    if (saturated && size->saturated_us == 0) size->saturated_us = s->now_us - s->elapsed_us;
    if (is_crowded(size, s)) {
        *ret_why = RV_POOL_SIZE_CROWDED;
        threads = rv_pool_size_limit(size, s);
    } else if (saturated && s->leases > 0 && s->wait_us > s->target_wait_us) {
        *ret_why = RV_POOL_SIZE_WAIT;
        threads = grow(size, s, 2 * s->threads, ret_why);
    } else if (saturated && s->leases == 0 && s->now_us - size->saturated_us >= s->target_wait_us) {
        *ret_why = RV_POOL_SIZE_LOOK;
        threads = grow(size, s, s->threads + 1, ret_why);
    } else {
        threads = shrink(size, s, ret_why);
    }
    if (threads == s->threads) return threads;
    size->crowded_us = 0;
    size->saturated_us = 0;
    begin_period(size, s->now_us);
    return threads;
}

int64_t rv_pool_size_next_us(const rv_pool_size *size, const rv_pool_size_sample *s, unsigned threads)
{
    if (size->saturated_us != 0 || threads > s->threads) return s->now_us + rv_pool_size_window_us(s->target_wait_us);
    return threads > s->min ? size->period_us + s->shrink_after_us : INT64_MAX;
}
