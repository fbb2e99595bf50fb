/*
 * pool_size.h - how many threads a pool is to have whose number follows the work. No I/O: it is fed with measurements.
 *
 * A pool is saturated while no thread of it rests. It grows when it is saturated and tasks waited longer than the
 * target wait: to twice its threads at most with each decision. When its tasks run so long that no task was leased for the
 * target wait, nobody knows whether tasks wait: it grows by one thread, which looks. A thread that finds nothing rests, and
 * ends the saturation.
 *
 * More threads help only while handlers wait for something else than a processor. The share of their run time in which they
 * used a processor, or waited for one, sets a limit: with two processors, handlers that compute half of the time get
 * four threads. A pool that has more than twice that many threads for some time shrinks to them.
 *
 * It shrinks when for a while never more than some of its threads ran at the same time: to that number and one more,
 * so that the pool does not grow again at once; to its minimum if no task ran at all.
 */
#ifndef RV_RUNNING_POOL_SIZE_H
#define RV_RUNNING_POOL_SIZE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum rv_pool_size_reason {
    RV_POOL_SIZE_STAYS,      /* nothing calls for a change */
    RV_POOL_SIZE_WAIT,       /* grows: tasks waited longer than the target */
    RV_POOL_SIZE_LOOK,       /* grows by one: all threads run long tasks */
    RV_POOL_SIZE_IDLE,       /* shrinks: fewer threads ran at the same time */
    RV_POOL_SIZE_CROWDED,    /* shrinks: the handlers keep the processors busy with fewer threads */
    RV_POOL_SIZE_AT_MAX,     /* tasks wait, and the pool has its maximum */
    RV_POOL_SIZE_PROCESSORS, /* tasks wait, and more threads would only share the processors */
    RV_POOL_SIZE_GATED       /* tasks wait, and a plugin lets no more threads run its handlers */
} rv_pool_size_reason;

/* What is remembered of one pool; zeroed: nothing yet. */
typedef struct rv_pool_size {
    bool knows_processor;
    double processor;    /* the share of run time that needs a processor, from 0 to 1, over the last measurements: */
    double processor_us; /* the sums of both, in which older measurements count less */
    double busy_us;
    int64_t saturated_us; /* since when no thread rested; 0: one does */
    int64_t period_us;    /* when the present period began, in which `peak` counts */
    unsigned peak;        /* threads that ran at the same time, at most */
    int64_t crowded_us;   /* since when it has too many threads for its processors; 0: it has not */
} rv_pool_size;

/* One measurement: of the time since the last one where nothing else is said. Times in microseconds. */
typedef struct rv_pool_size_sample {
    int64_t now_us;
    int64_t elapsed_us;
    unsigned threads, min, max;
    unsigned processors; /* that the threads may use */
    int64_t target_wait_us;
    int64_t shrink_after_us;
    bool rested;          /* a thread had nothing to do at some time */
    bool gated;           /* a thread waited at the gate of a plugin */
    unsigned peak;        /* threads that ran at the same time, at most */
    int64_t busy_us;      /* run time of all threads */
    int64_t processor_us; /* of that: on a processor, or waiting for one; -1: not known */
    unsigned leases;      /* number of tasks that were leased whose wait is known: not retried or postponed ones */
    int64_t wait_us;      /* the longest time that one of them waited; 0: none did */
} rv_pool_size_sample;

/* How many threads the pool is to have now, from min to max, and why. */
unsigned rv_pool_size_decide(rv_pool_size *size, const rv_pool_size_sample *sample, rv_pool_size_reason *ret_why);

/* How many threads the processors are good for by what is known, from min to max. */
unsigned rv_pool_size_limit(const rv_pool_size *size, const rv_pool_size_sample *sample);

/* When the next measurement is due, on the clock of the samples; INT64_MAX: not before a thread asks for one. */
int64_t rv_pool_size_next_us(const rv_pool_size *size, const rv_pool_size_sample *sample, unsigned threads);

/* How long a measurement takes while a pool is saturated. */
int64_t rv_pool_size_window_us(int64_t target_wait_us);

#endif
