#include "protocol/wide_times.h"

#include <math.h>

#include "base/text.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

static const int64_t begins[RV_WIDE_BUCKETS] = {
    0,        1,          2,          5,           10,          20,          50,          100,
    200,      500,        SECOND,     2 * SECOND,  5 * SECOND,  10 * SECOND, 20 * SECOND, 30 * SECOND,
    MINUTE,   2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 30 * MINUTE, HOUR,        2 * HOUR,
    5 * HOUR, 12 * HOUR,  DAY,        2 * DAY,     7 * DAY,
};

int64_t rv_wide_times_begin(size_t bucket)
{
    return begins[bucket < RV_WIDE_BUCKETS ? bucket : RV_WIDE_BUCKETS - 1];
}

void rv_wide_times_read(rv_wide_times *times, const char *text)
{
    long long numbers[1 + RV_WIDE_BUCKETS];
    size_t count = 0;

    while (count < 1 + RV_WIDE_BUCKETS && rv_parse_numbers(text, &numbers[count], 1, &text)) {
        if (numbers[count++] < 0) return;
    }
    if (count == 0 || text[0] != '\0') return;
    times->sum += (uint64_t)numbers[0];
    for (size_t i = 1; i < count; i++) times->count[i - 1] += (uint64_t)numbers[i];
}

void rv_wide_times_add(rv_wide_times *times, const rv_wide_times *more)
{
    times->sum += more->sum;
    for (size_t i = 0; i < RV_WIDE_BUCKETS; i++) times->count[i] += more->count[i];
}

uint64_t rv_wide_times_count(const rv_wide_times *times)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < RV_WIDE_BUCKETS; i++) sum += times->count[i];
    return sum;
}

double rv_wide_times_percentile(const rv_wide_times *times, unsigned unit_us, double percent)
{
    double count = (double)rv_wide_times_count(times), share = percent / 100, before = 0;
    double mean = count > 0 ? (double)times->sum * unit_us / 1000 / count : 0;
    size_t at = 0;

    if (count == 0) return -1;
    while (at + 1 < RV_WIDE_BUCKETS && before + (double)times->count[at] < share * count)
        before += (double)times->count[at++];
    double from = (double)begins[at];
    if (at + 1 == RV_WIDE_BUCKETS) return from;
    double part = times->count[at] > 0 ? (share * count - before) / (double)times->count[at] : 0;
    double estimated = from + ((double)begins[at + 1] - from) * part;
    return share < 1 ? fmax(from, fmin(estimated, mean / (1 - share))) : estimated;
}
