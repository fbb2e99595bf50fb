#include "protocol/times.h"

#include <math.h>

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Where each part of the histogram begins. */
enum { SECONDS = 10, MINUTES = SECONDS + 59, HOURS = MINUTES + 59, DAYS = HOURS + 23 };
#define LAST (REEVE_STATS_BUCKETS - 1)
#define MAX_DAYS (LAST - DAYS + 1)

/* The first second, in ms. */
static const int first[SECONDS] = {0, 1, 2, 5, 10, 20, 50, 100, 200, 500};

_Static_assert(MAX_DAYS == 99, "times.h says so");

size_t rv_times_bucket(int64_t ms)
{
    if (ms >= MAX_DAYS * DAY) return LAST;
    if (ms >= DAY) return DAYS + (size_t)(ms / DAY) - 1;
    if (ms >= HOUR) return HOURS + (size_t)(ms / HOUR) - 1;
    if (ms >= MINUTE) return MINUTES + (size_t)(ms / MINUTE) - 1;
    if (ms >= SECOND) return SECONDS + (size_t)(ms / SECOND) - 1;
    /* Without a branch: which of them it is can hardly be foreseen. */
    size_t bucket = 0;
    for (size_t i = 1; i < SECONDS; i++) bucket += ms >= first[i];
    return bucket;
}

static int64_t begins(size_t index)
{
    if (index >= DAYS) return (int64_t)(index - DAYS + 1) * DAY;
    if (index >= HOURS) return (int64_t)(index - HOURS + 1) * HOUR;
    if (index >= MINUTES) return (int64_t)(index - MINUTES + 1) * MINUTE;
    if (index >= SECONDS) return (int64_t)(index - SECONDS + 1) * SECOND;
    return first[index];
}

void reeve_stats_bucket(size_t index, int64_t *ret_from_ms, int64_t *ret_to_ms)
{
    if (index > LAST) index = LAST;
    *ret_from_ms = begins(index);
    *ret_to_ms = index == LAST ? INT64_MAX : begins(index + 1);
}

void rv_times_carry(uint64_t squares[3])
{
    squares[1] += squares[0] / RV_SQUARE_PART;
    squares[0] %= RV_SQUARE_PART;
    squares[2] += squares[1] / RV_SQUARE_PART;
    squares[1] %= RV_SQUARE_PART;
}

/* 99 days are less than 2^43 us. Of the three parts of a square (high, twice high * low, low) the second is the
 * largest: it is less than 2^45, and the first to be carried. */
#define CARRY_AT ((uint64_t)1 << 60)

static void add_square(uint64_t squares[3], uint64_t x)
{
    uint64_t low = x < RV_SQUARE_PART ? x : x % RV_SQUARE_PART;
    squares[0] += low * low % RV_SQUARE_PART;
    squares[1] += low * low / RV_SQUARE_PART;
    if (x < RV_SQUARE_PART) return;
    uint64_t high = x / RV_SQUARE_PART;
    squares[1] += 2 * high * low;
    squares[2] += high * high;
    if (squares[1] > CARRY_AT) rv_times_carry(squares);
}

static void add(rv_times *times, int64_t value, int64_t max, int64_t per_ms)
{
    int64_t x = value < 0 ? 0 : value > max ? max : value;
    if (times->count == 0 || (uint64_t)x < times->min) times->min = (uint64_t)x;
    if ((uint64_t)x > times->max) times->max = (uint64_t)x;
    times->count++;
    times->sum += (uint64_t)x;
    add_square(times->squares, (uint64_t)x);
    times->buckets[rv_times_bucket(per_ms == 1 ? x : x / 1000)]++;
}

void rv_times_add_ms(rv_times *times, int64_t ms)
{
    add(times, ms, MAX_DAYS * DAY, 1);
}

void rv_times_add_us(rv_times *times, int64_t us)
{
    add(times, us, MAX_DAYS * DAY * 1000, 1000);
}

void rv_times_merge(reeve_times *times, const reeve_times *more)
{
    if (more->count > 0 && (times->count == 0 || more->min_ms < times->min_ms)) times->min_ms = more->min_ms;
    if (more->max_ms > times->max_ms) times->max_ms = more->max_ms;
    times->count += more->count;
    times->sum += more->sum;
    for (size_t i = 0; i < 3; i++) times->squares[i] += more->squares[i];
    rv_times_carry(times->squares);
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) times->histogram[i] += more->histogram[i];
}

void rv_times_reckon(reeve_times *times)
{
    long double n = (long double)times->count, per_ms = times->unit_us > 0 ? 1000.0L / times->unit_us : 1;
    times->mean_ms = times->variance = times->deviation_ms = 0;
    if (times->count == 0) return;
    long double squares =
        ((long double)times->squares[2] * RV_SQUARE_PART + (long double)times->squares[1]) * RV_SQUARE_PART +
        (long double)times->squares[0];
    long double mean = (long double)times->sum / n, variance = squares / n - mean * mean;
    times->mean_ms = (double)(mean / per_ms);
    times->variance = variance > 0 ? (double)(variance / (per_ms * per_ms)) : 0;
    times->deviation_ms = sqrt(times->variance);
}

/* The bucket that the rank falls into, and how many come before it; REEVE_STATS_BUCKETS: nothing was counted. */
static size_t find_bucket(const reeve_times *times, double rank, double *ret_before)
{
    size_t last = REEVE_STATS_BUCKETS;
    *ret_before = 0;
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) {
        double here = (double)times->histogram[i];
        if (here == 0) continue;
        last = i;
        if (*ret_before + here >= rank) break;
        *ret_before += here;
    }
    return last;
}

/*
 * Mean and deviation bound each percentile: a share q of the times lies below mean + deviation * sqrt(q / (1 - q)),
 * and a share 1 - q above mean - deviation * sqrt((1 - q) / q) (Cantelli's inequality); and none is further from the
 * mean than deviation * sqrt(count - 1) (P. A. Samuelson, 1968). Where all times are alike that leaves next to
 * nothing to estimate, however wide their bucket is. Rounding does not leave the bucket.
 */
static double within_bounds(const reeve_times *times, double share, double estimated, double from, double to)
{
    double furthest = sqrt((double)times->count - 1);
    double up = share < 1 ? fmin(furthest, sqrt(share / (1 - share))) : furthest;
    double down = share > 0 ? fmin(furthest, sqrt((1 - share) / share)) : furthest;
    double min = fmin(times->mean_ms - times->deviation_ms * down, to);
    double max = fmax(times->mean_ms + times->deviation_ms * up, from);
    return fmin(fmax(estimated, min), max);
}

/* Sums that an older version wrote have no minimum and maximum. */
static double within_range(const reeve_times *times, double value)
{
    return times->max_ms > 0 ? fmin(fmax(value, times->min_ms), times->max_ms) : value;
}

double reeve_stats_percentile(const reeve_times *times, double percent)
{
    double share = (percent < 0 ? 0 : percent > 100 ? 100 : percent) / 100, rank = share * (double)times->count, before;
    int64_t from, to;
    size_t bucket = find_bucket(times, rank, &before);
    if (bucket == REEVE_STATS_BUCKETS) return -1;
    reeve_stats_bucket(bucket, &from, &to);
    if (to == INT64_MAX) return (double)from;
    double part = fmin((rank - before) / (double)times->histogram[bucket], 1);
    double estimated = (double)from + (double)(to - from) * part;
    if (times->mean_ms > 0) estimated = within_bounds(times, share, estimated, (double)from, (double)to);
    return within_range(times, estimated);
}
