/*
 * wide_times.h - how long things took, in a histogram of few and wide buckets: what a queue keeps of each five minutes
 * (lib/worker_sums.lua). No I/O; any thread.
 */
#ifndef RV_PROTOCOL_WIDE_TIMES_H
#define RV_PROTOCOL_WIDE_TIMES_H

#include <stddef.h>
#include <stdint.h>

#define RV_WIDE_BUCKETS 29

typedef struct rv_wide_times {
    uint64_t sum; /* of all times; ms of waits, us of runs */
    uint64_t count[RV_WIDE_BUCKETS];
} rv_wide_times;

/* When the bucket begins, in ms. The last one has no end. */
int64_t rv_wide_times_begin(size_t bucket);

/* Reads "SUM COUNT ...", as scripts write it. A text that another program wrote adds nothing. */
void rv_wide_times_read(rv_wide_times *times, const char *text);

void rv_wide_times_add(rv_wide_times *times, const rv_wide_times *more);

uint64_t rv_wide_times_count(const rv_wide_times *times);

/*
 * A percentile in ms; -1 if there are no times. unit_us: the unit of the sum in microseconds. It is an estimate by linear
 * interpolation within the bucket (in the last bucket: its begin), and at most what the mean permits: no more than a share
 * q of times can be as long as mean / q.
 */
double rv_wide_times_percentile(const rv_wide_times *times, unsigned unit_us, double percent);

#endif
