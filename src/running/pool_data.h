/*
 * pool_data.h - a pool: its queues, its threads, and how many of these it has.
 *
 * worker_state.h draws the whole worker.
 */
#ifndef RV_RUNNING_POOL_DATA_H
#define RV_RUNNING_POOL_DATA_H

#include "base/grown.h"
#include "isolation/runner_sandbox.h"
#include "running/pool_size.h"
#include "running/thread_data.h"

#define RV_SHARED_MAX 64 /* threads that one call serves, beside the one that calls */
#define RV_SHARED_EACH 8 /* tasks of each of them, at most */
#define RV_SHARED_TASKS (RV_SHARED_EACH * (RV_SHARED_MAX + 1))

/* The turns that threads share which would ask their queues in the same order (share.h). */
typedef struct rv_share {
    pthread_mutex_t lock;   /* guards the next seven; held for moments only, no other lock is taken under it */
    bool calls;             /* a thread is in a call that others wait for */
    bool is_slow;           /* that call takes so long that nobody waits for it any more */
    int64_t alone_until_ms; /* a call took long: until then nobody shares one (monotonic); 0: no such limit */
    unsigned fast_calls;    /* in a row, since then, of threads that called by themselves */
    int64_t believed_ms;    /* from then on fast calls end that time (monotonic) */
    rv_thread *first;       /* those who wait, in order */
    rv_thread *last;
    /* of the thread that calls: */
    unsigned slow_calls; /* in a row, up to now */
    const rv_settlement *outcomes[RV_SHARED_TASKS];
    char names[12 * RV_SHARED_TASKS];
} rv_share;

/* All that a pool has. Pools of the same queues, in the same order and with the same weights, have them together. */
typedef struct rv_sharing {
    rv_share *shares;
    size_t count;
    atomic_uint threads; /* threads of these pools that run */
    atomic_uint losses;  /* how often threads recovered */
} rv_sharing;

/* How busy the threads of a pool are (upkeep/utilisation.h); the heartbeat thread's. */
typedef struct rv_utilisation {
    int64_t at_us;   /* when it was measured; 0: not yet */
    int64_t busy_us; /* what the threads had run by then */
    double share;    /* from 0 to 1, over about the last minute, */
    double share_5m; /* the last 5 minutes, */
    double share_15m;
} rv_utilisation;

/* What the threads of a pool whose number follows the work note (pool_demand.h). */
typedef struct rv_pool_demand {
    atomic_bool follows;  /* the number of threads follows the work */
    atomic_uint resting;  /* threads that wait in Redis */
    atomic_uint running;  /* threads that run tasks */
    atomic_bool watched;  /* the keeper measures */
    atomic_bool rested;   /* since the last measurement: a thread rested, */
    atomic_bool gated;    /* a thread waited at the gate of a plugin, */
    atomic_uint peak;     /* so many threads ran at the same time, */
    atomic_uint leases;   /* tasks were leased, */
    atomic_llong wait_ms; /* and waited so long, at most */
} rv_pool_demand;

/* How the keeper sets the number of threads (upkeep/pool_sizing.h). */
typedef struct rv_pool_sizing {
    atomic_llong target_wait_us;
    atomic_llong shrink_after_us;
    rv_pool_size size; /* this and the next two are the keeper's */
    int64_t measured_us;
    int64_t next_us;
    int64_t busy_us;
    rv_pool_size_reason held; /* why it did not grow, as it was logged last */
    char why[160];            /* the last decision, in words; guarded by the worker's lock */
    int64_t wait_us;          /* the longest wait of the last measurement, likewise; -1: none was made */
    double processor;         /* likewise: the share of run time that needs a processor; -1: not known */
} rv_pool_sizing;

#define RV_POOL_NAME_MAX 64

/* Its queues, order, batch, processors and niceness never change: a pool of the same line takes its place when they are to. */
struct rv_pool {
    char name[RV_POOL_NAME_MAX + 1];
    size_t line; /* the index of the first pool of those that took one another's place; under the worker's lock */
    atomic_bool removed;               /* its threads end; it is not shown */
    atomic_uint min;                   /* how many threads it has at least, */
    atomic_uint max;                   /* at most, */
    atomic_uint target;                /* and is to have now */
    rv_queue_session **queue_sessions; /* the queues it serves, in order */
    size_t queue_session_count;
    unsigned *slots; /* one a queue: the number of its hash slot, where they are in several (pool_slots.h); else NULL */
    size_t slot_count; /* how many there are then */
    size_t *families;  /* where it has partitions of one queue (rv_queue_order_set_families), else NULL */
    unsigned batch;
    int64_t batch_us; /* the aimed-at duration of a batch, see thread.c */
    reeve_order order;
    bool isolated;                         /* handlers run in processes of their own (isolated.h) */
    reeve_runner_options runner;           /* their limits, as they were given; its texts are the pool's own */
    rv_runner_sandbox sandbox;             /* what they cannot reach; its paths are texts of `runner` */
    char in_force[RV_RUNNER_SANDBOX_TEXT]; /* of the sandbox, in words; guarded by the worker's lock */
    unsigned *weights;                     /* one a queue, or NULL */
    rv_thread **_Atomic threads;           /* those that were ever made; some may have ended */
    atomic_uint thread_count;
    rv_grown all_threads; /* the memory of that list */
    rv_sharing *sharing;  /* its own, or that of an earlier pool of the worker */
    rv_sharing own_sharing;
    rv_utilisation utilisation;
    rv_pool_demand demand;
    rv_pool_sizing sizing;
    atomic_uint bound;    /* tasks of rv_keeper.bound that wait for its threads (bound.h) */
    char *cpus;           /* the processors that its threads may use, as "0-3,8"; NULL: all */
    int nice;             /* of its threads; 0: that of the process */
    atomic_bool unplaced; /* that processors or niceness were refused was logged */
};

#endif
