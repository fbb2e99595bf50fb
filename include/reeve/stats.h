/*
 * stats.h - what was done in a queue, day by day: how many tasks, how long they waited, how long they ran, what they
 * failed of.
 *
 * Workers add up what they settle, and flush the sums with their heartbeats (every third of a session, 5 s by default):
 * so the latest few seconds are missing, and what a killed worker had not flushed is lost, which is what it settled
 * since its last heartbeat. Sums are whole numbers, so those of several workers, days or queues add up exactly.
 *
 * Days are of UTC, on Redis's clock; a task belongs to the day on which it was settled. They are kept for a time
 * (`stats_days` of reeve_queue_settings).
 *
 *     run    each attempt that ended well or failed, from the call of its handler to its return; one cut off at its
 *            time limit counts up to then. Snoozed attempts and those that were given back do not count
 *     wait   from the time at which the task was ready to that at which a worker leased it, in ms, and how long it then
 *            waited for a place among its plugin's handlers (`concurrency` in plugin.h): of first attempts. A
 *            task that was enqueued for a time waits from that time on, one that was blocked from the end of its last
 *            parent on. One that was snoozed, put off or retried by hand, or left by a dead worker, does not count
 *
 * One thread at a time may use a client; the functions without one: any thread.
 */
#ifndef REEVE_STATS_H
#define REEVE_STATS_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Buckets of a histogram, each from a time on and up to the next one's: the first second by 1, 2, 5, 10, 20, 50, 100,
 * 200 and 500 ms, the first minute by seconds, the first hour by minutes, the first day by hours, then days; the last
 * one has no end.
 */
#define REEVE_STATS_BUCKETS 250

/* *ret_to_ms: INT64_MAX for the last one. An index beyond it counts as the last one. */
REEVE_API void reeve_stats_bucket(size_t index, int64_t *ret_from_ms, int64_t *ret_to_ms);

/* How long something took. Zero where nothing was counted. */
typedef struct reeve_times {
    uint64_t count;
    double mean_ms;
    double variance;     /* of those counted, in ms squared */
    double deviation_ms; /* the standard deviation, its root */
    uint64_t histogram[REEVE_STATS_BUCKETS];
    /* what these are reckoned from */
    unsigned unit_us; /* the unit of the sums: 1000 for wait, 1 for run */
    uint64_t sum;
    uint64_t squares[3]; /* the sum of squares: [0] + [1] * 10^9 + [2] * 10^18 */
} reeve_times;

/*
 * The time within which so many percent (0 to 100) were done, in ms; -1 when nothing was counted. Estimated: it lies
 * within the right bucket, at the place that it would have if times were spread evenly there (in the last bucket, at
 * its beginning), and no further from the mean than the deviation allows: where all took 200 ms, it is 200 ms.
 */
REEVE_API double reeve_stats_percentile(const reeve_times *times, double percent);

typedef struct reeve_kind_stats {
    char kind[REEVE_KIND_MAX + 1]; /* "": all others, when a day had more than 100 kinds */
    uint64_t retried;              /* attempts that failed so and were not the last */
    uint64_t dead;                 /* tasks that died of it */
} reeve_kind_stats;

/* A day, or a sum of them. */
typedef struct reeve_day {
    int64_t day;        /* days since 1970-01-01; of a sum: the first */
    unsigned days;      /* how many days are in it */
    uint64_t completed; /* tasks that ended well */
    uint64_t failed;    /* attempts that failed: retried, the last of their task, or of a task that runs at most once */
    uint64_t retried;
    uint64_t dead;
    uint64_t crashed; /* leases that dead workers left behind */
    reeve_times wait;
    reeve_times run;
    reeve_kind_stats *kinds; /* the most frequent first; NULL: none */
    size_t kind_count;
} reeve_day;

#define REEVE_STATS_DAYS_MAX 400

/*
 * The statistics of some days of a queue, the earliest first. first_day: days since the epoch; or 0 for today, -1 for
 * yesterday and so on. *ret has `days` entries (at most REEVE_STATS_DAYS_MAX), all zero for days of which nothing is
 * kept; the caller frees them with reeve_stats_free. REEVE_EINVAL, and what every call may return.
 */
REEVE_API reeve_status reeve_stats(reeve_client *client, const char *queue, int64_t first_day, unsigned days,
                                   reeve_day **ret);

/* Adds up days, of one queue or of several; its `days` are those from the first to the last of them. *ret is one entry,
 * freed with reeve_stats_free(*ret, 1). REEVE_ENOMEM. */
REEVE_API reeve_status reeve_stats_sum(const reeve_day *list, size_t count, reeve_day **ret);

REEVE_API void reeve_stats_free(reeve_day *list, size_t count);

#ifdef __cplusplus
}
#endif
#endif
