/*
 * task_metrics.h - what a worker counts for its metrics (reeve_worker_metrics): outcomes and times of attempts, by queue
 * and type. A worker without metrics has none of this, and counts nothing.
 *
 * A queue session has a list of series, one a type, guarded by the lock of the queue session. The number of series of a
 * worker is limited (RV_TASK_SERIES_MAX); what comes later is counted in one series of the queue session, whose type is
 * "other".
 */
#ifndef RV_RUNNING_TASK_METRICS_H
#define RV_RUNNING_TASK_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "protocol/tally.h"

#define RV_TASK_SERIES_MAX 500 /* of a worker */
#define RV_TASK_BOUNDS 12      /* of the buckets of times */

typedef enum rv_task_result {
    RV_TASK_COMPLETED,
    RV_TASK_RETRIED,    /* failed, and another attempt follows */
    RV_TASK_DEAD,       /* failed for the last time */
    RV_TASK_CANCELLED,  /* the handler cancelled or discarded it */
    RV_TASK_GIVEN_BACK, /* snoozed or given back */
    RV_TASK_REFUSED,    /* Redis refused the outcome: the lease was lost */
    RV_TASK_RESULT_COUNT
} rv_task_result;

/* Times in buckets: count[i] are at most bound i, in seconds, and above the bound before it. */
typedef struct rv_task_times {
    uint64_t count[RV_TASK_BOUNDS + 1];
    uint64_t sum_us;
} rv_task_times;

typedef struct rv_task_series {
    struct rv_task_series *next;
    char type[REEVE_TYPE_MAX + 1];
    size_t length;
    uint64_t results[RV_TASK_RESULT_COUNT];
    rv_task_times wait;
    rv_task_times run;
} rv_task_series;

typedef struct rv_task_metrics {
    atomic_uint *series_count; /* of the worker */
    rv_task_series *first;
    rv_task_series *last; /* the one that was counted last; NULL: none */
    rv_task_series other; /* what has no series of its own */
} rv_task_metrics;

extern const double rv_task_metrics_bounds[RV_TASK_BOUNDS]; /* seconds */

/* The word of a result: "completed" and so on. */
const char *rv_task_metrics_word(rv_task_result result);

/* series_count: outlives the metrics. NULL: no memory. */
rv_task_metrics *rv_task_metrics_new(atomic_uint *series_count);
void rv_task_metrics_free(rv_task_metrics *metrics); /* NULL is ignored */

/* Counts an outcome that Redis accepted or refused. For want of memory it is counted in `other`. */
void rv_task_metrics_add(rv_task_metrics *metrics, const rv_settlement *outcome, const rv_attempt *attempt,
                         bool refused);

/* Adds the numbers of one series to another. */
void rv_task_metrics_merge(rv_task_series *to, const rv_task_series *from);

#endif
