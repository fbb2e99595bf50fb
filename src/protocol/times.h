/*
 * times.h - how long things took, as whole numbers that add up exactly: count, sum, sum of squares, histogram.
 *
 * A sum of squares is kept in three parts, [0] + [1] * 10^9 + [2] * 10^18, since it would not fit into 64 bits: so
 * Redis can add to each of them, and none overflows within a day.
 */
#ifndef RV_PROTOCOL_TIMES_H
#define RV_PROTOCOL_TIMES_H

#include <stdint.h>

#include "reeve/stats.h"

#define RV_SQUARE_PART 1000000000u

/* The bucket of a time. */
size_t rv_times_bucket(int64_t ms);

/* What is added up until it is flushed. */
typedef struct rv_times {
    uint64_t count;
    uint64_t sum;
    uint64_t squares[3];
    uint64_t min; /* of no time: 0, as is max */
    uint64_t max;
    uint32_t buckets[REEVE_STATS_BUCKETS];
} rv_times;

/* A time, in sums that are of ms or of us. Negative counts as 0, more than 99 days as that. */
void rv_times_add_ms(rv_times *times, int64_t ms);
void rv_times_add_us(rv_times *times, int64_t us);

/* Brings the first two parts of a sum of squares below RV_SQUARE_PART; additions may make them larger. */
void rv_times_carry(uint64_t squares[3]);

/* Adds sums of the same unit to *times, all but what is reckoned from them. Their minimum and maximum are merged. */
void rv_times_merge(reeve_times *times, const reeve_times *more);

/* Reckons mean, variance, deviation from the sums. */
void rv_times_reckon(reeve_times *times);

#endif
