/*
 * stats.h - statistics of a queue by day: numbers of tasks, wait times, run times, kinds of errors.
 *
 * Each worker adds up the attempts that end, and writes the sums to Redis with its heartbeats, every third of a
 * session (by default 5 s). The statistics therefore do not include the last few seconds. If a worker is killed, the
 * attempts since its last heartbeat are not counted. Sums are whole numbers, so that the sums of workers, days and
 * queues add up exactly.
 *
 * Days are UTC days by Redis's clock. A task counts for the day on which it ended. A queue keeps the statistics of a
 * day for `stats_days` days (reeve_queue_settings).
 *
 *     run    The run time of each attempt that completed or failed: the time from the call of the handler to its
 *            return, or to the run time limit. Attempts that were snoozed or given back do not count.
 *     wait   The wait time of each first attempt: the time from the moment when the task became ready to its lease, in
 *            ms, plus the time for which it waited because of its plugin's `concurrency` (plugin.h). A scheduled task
 *            becomes ready at its time, a blocked task when its last parent ends. Tasks that were snoozed, rescheduled
 *            or retried by hand, or recovered from a dead worker, do not count.
 *
 * Only one thread at a time may use a client. Any thread may call the functions without a client.
 */
#ifndef REEVE_STATS_H
#define REEVE_STATS_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Number of buckets of a histogram. The limits between buckets are 1, 2, 5, 10, 20, 50, 100, 200 and 500 ms, then
 * each second of the first minute, each minute of the first hour, each hour of the first day, and each day. The last
 * bucket has no upper limit.
 */
#define REEVE_STATS_BUCKETS 250

/* Gets the limits of a bucket; *ret_to_ms of the last bucket is INT64_MAX. A larger index means the last bucket. */
REEVE_API void reeve_stats_bucket(size_t index, int64_t *ret_from_ms, int64_t *ret_to_ms);

/* A distribution of durations. All zero if nothing was counted. */
typedef struct reeve_times {
    uint64_t count;
    double mean_ms;
    double variance;     /* in ms squared */
    double deviation_ms; /* standard deviation, the square root of the variance */
    uint64_t histogram[REEVE_STATS_BUCKETS];
    /* The sums from which the fields above are calculated. */
    unsigned unit_us; /* unit of the sums in microseconds: 1000 for wait, 1 for run */
    uint64_t sum;
    uint64_t squares[3]; /* sum of squares: [0] + [1] * 10^9 + [2] * 10^18 */
    double min_ms;       /* the shortest and the longest; exact */
    double max_ms;
} reeve_times;

/*
 * A percentile (0 to 100) in ms; -1 if nothing was counted. The value is an estimate by linear interpolation within the
 * bucket; in the last bucket it is the lower limit. It is then limited to the range that the mean and the standard
 * deviation permit for this percentile (Cantelli's inequality), and to the range from the minimum to the maximum. It is
 * therefore exact if all durations are equal.
 */
REEVE_API double reeve_stats_percentile(const reeve_times *times, double percent);

/* The failures of one kind of error in a day. */
typedef struct reeve_kind_stats {
    char kind[REEVE_KIND_MAX + 1]; /* "": all further kinds, if a day has more than 100 */
    uint64_t retried;              /* attempts that failed with this kind and are retried */
    uint64_t dead;                 /* tasks that died with this kind */
} reeve_kind_stats;

/* How long tasks of a type took. All zero if nothing was counted. */
typedef struct reeve_range {
    uint64_t count;
    double mean_ms;
    double min_ms;
    double max_ms;
} reeve_range;

/* What workers settled of one type of task. Tasks that died without an attempt (by a deadline or a parent) and crashes
 * do not count. */
typedef struct reeve_type_stats {
    char type[REEVE_TYPE_MAX + 1]; /* "": all further types, if a day has more than 100 */
    uint64_t completed;
    uint64_t failed; /* failed attempts */
    uint64_t dead;
    reeve_range wait;
    reeve_range run;
} reeve_type_stats;

/* The statistics of a day, or the sum of several days. */
typedef struct reeve_day {
    int64_t day;        /* days since 1970-01-01; in a sum: the first day */
    unsigned days;      /* number of days */
    uint64_t completed; /* completed tasks */
    uint64_t failed;    /* failed attempts, including last ones and those of tasks that run at most once */
    uint64_t retried;   /* failed attempts that are retried */
    uint64_t dead;      /* tasks that died */
    uint64_t crashed;   /* attempts that ended with a crash: their worker died or lost its session */
    reeve_times wait;
    reeve_times run;
    reeve_kind_stats *kinds; /* the most frequent kinds first; NULL: none */
    size_t kind_count;
    reeve_type_stats *types; /* those with the longest total run time first; NULL: none */
    size_t type_count;
} reeve_day;

#define REEVE_STATS_DAYS_MAX 400

/*
 * Gets the statistics of consecutive days of a queue, the earliest first. first_day: days since 1970-01-01; or 0 for
 * today, -1 for yesterday and so on. *ret is an array of `days` elements (at most REEVE_STATS_DAYS_MAX); days without
 * statistics are all zero. Free it with reeve_stats_free. Blocks for one or several round trips. REEVE_EINVAL, and the
 * errors of every call (client.h).
 */
REEVE_API reeve_status reeve_stats(reeve_client *client, const char *queue, int64_t first_day, unsigned days,
                                   reeve_day **ret);

/* Adds up the statistics of days, of one or several queues. `days` of the sum is the number of days from the first day
 * to the last one, both included. *ret is one element; free it with reeve_stats_free(*ret, 1). REEVE_ENOMEM. */
REEVE_API reeve_status reeve_stats_sum(const reeve_day *list, size_t count, reeve_day **ret);

/* Frees an array of reeve_stats or reeve_stats_sum; NULL is ignored. Any thread. */
REEVE_API void reeve_stats_free(reeve_day *list, size_t count);

/*
 * What workers settled in a queue in one minute. An attempt counts in the minute in which its worker writes it to
 * Redis: up to a third of a session after the end of the attempt.
 */
typedef struct reeve_minute {
    int64_t at_ms;      /* when the minute began, in ms since the epoch, by Redis's clock */
    uint64_t completed; /* completed tasks */
    uint64_t failed;    /* failed attempts */
    uint64_t dead;      /* tasks that died */
    uint64_t waits;     /* number of wait times, and their sum in ms */
    uint64_t wait_ms;
    uint64_t runs; /* number of run times, and their sum in us */
    uint64_t run_us;
} reeve_minute;

#define REEVE_STATS_MINUTES_MAX 1440

/*
 * Gets the last minutes of a queue, the earliest first; the last one is the present minute, which has not ended. Redis
 * keeps them for a day. *ret is an array of `minutes` elements (1 to REEVE_STATS_MINUTES_MAX); free it with
 * reeve_stats_minutes_free. Blocks for a round trip. REEVE_EINVAL, and the errors of every call (client.h).
 *
 * run_us / 60,000,000 is the mean number of threads that the queue kept busy in that minute, if tasks are short: the
 * run time of an attempt counts when it ends.
 */
REEVE_API reeve_status reeve_stats_minutes(reeve_client *client, const char *queue, unsigned minutes,
                                           reeve_minute **ret);

/* Frees an array of reeve_stats_minutes; NULL is ignored. Any thread. */
REEVE_API void reeve_stats_minutes_free(reeve_minute *list);

#ifdef __cplusplus
}
#endif
#endif
