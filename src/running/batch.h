/*
 * batch.h - the tasks that a thread holds, from lease to settlement.
 *
 *     waiting --> running --> finished --> (settled by the thread's next turn)
 *        |           |            |
 *        +-----------+------------+------> handed (settled by the keeper instead)
 *
 * The thread moves its items to the right; the keeper hands over what would wait behind a long task, and a running task
 * whose time is up (the handler's own outcome is then ignored). Both do so under the lock.
 */
#ifndef RV_RUNNING_BATCH_H
#define RV_RUNNING_BATCH_H

#include "handlers/handler_table.h"
#include "protocol/lease.h"
#include "protocol/settlement.h"
#include "protocol/turn_build.h"
#include "redis/waker.h"
#include "running/queue_session.h"

typedef enum rv_item_state { RV_ITEM_WAITING, RV_ITEM_RUNNING, RV_ITEM_FINISHED, RV_ITEM_OFFLOADED } rv_item_state;

typedef struct rv_item {
    rv_lease lease;
    rv_item_state state;
    bool refused;   /* Redis did not accept the outcome */
    bool accepted;  /* known to be settled: by a turn whose reply was lost, or before it ran (at_most_once.h) */
    bool taken;     /* of a pulled item in place of OFFLOADED, which its owner would read without the lock */
    bool cancelled; /* cancelled while the thread holds it; written under the lock */
    bool settling;  /* it is being settled before it runs, and Redis may hold no lease of it; written under the lock */
    rv_settlement settlement; /* once finished */
    void *kept;               /* the memory of the outcome's message and result, or NULL */
    int64_t timeout_ms;       /* 0: none */
    int64_t timeout_at_ms;    /* monotonic, or RV_FOREVER */
    int64_t heartbeat_ms;     /* longer silence is a failure; 0: it need not say anything */
    int64_t grace_ms;         /* how long it may still end by itself after one of these; 0: not at all */
    bool warned;              /* that time has begun: its handler was asked to stop */
    int64_t until_ms;         /* while it runs: the first of these, or RV_FOREVER */
    int64_t run_us;           /* how long its handler ran; 0: it did not */
    int64_t gate_us;          /* how long it waited at its plugin's gate (admission.h) */
    bool unbegun;             /* it goes back, and its handler was not called */
    int64_t leased_ms;        /* monotonic */
    unsigned missed;          /* rv_scheduler.missed when the turn that leased it began, or earlier */
    /* of a type whose handler takes many tasks in a call (batch_handler.h) */
    const rv_handler *batch_handler; /* that handler; NULL: of another type */
    struct rv_invocation *call;      /* while it is in a call of many, or pulled; changed under the lock */
    struct cJSON *options;           /* its header, once read (attempt_policy.h); NULL also: plain, or no JSON */
    void *held;                      /* the lease's own memory, once it was kept over a turn */
    struct rv_flight_record *flight; /* for the supervisor (flight.h); NULL: there is none */
} rv_item;

#define RV_NONE SIZE_MAX

typedef struct rv_batch {
    pthread_mutex_t lock; /* guards the states, running, attention and stamps below */
    rv_item *items;
    size_t capacity;
    size_t count;
    size_t running;            /* index of the running item, the first of many, or RV_NONE */
    int64_t running_since_ms;  /* monotonic */
    int64_t running_until_ms;  /* its time limit, or until when it may be silent, the first of many; or RV_FOREVER */
    int64_t late_run_ms;       /* running_since_ms of the last run whose time limit was over before it ended; 0: none */
    int64_t stuck_at_ms;       /* when that run counts as stuck (stuck.h); RV_FOREVER: it does */
    bool resting;              /* what waits does so for company, and the thread has nothing to run */
    rv_session_text *sessions; /* by queue: under which session these were leased */
    /* Of a consumer: its program holds the running items, and turns are taken meanwhile. Each has a call and a time
     * limit of its own. The keeper takes over only those whose time is up. */
    bool pulled;
    const rv_waker *notice;          /* rung when a pulled item is lost, cancelled or late */
    void (*left)(rv_item *item);     /* called for a pulled item that leaves the batch */
    struct rv_flight_thread *flight; /* the thread's part of the flight record, or NULL */
} rv_batch;

reeve_status rv_batch_init(rv_batch *batch, size_t max, size_t queues, rv_error *error);
void rv_batch_fini(rv_batch *batch);

/* Frees what outcomes kept, and empties the batch. The owner, with no item waiting or running. */
void rv_batch_clear(rv_batch *batch);

/* Frees what outcomes kept; only what waits stays, and what is pulled and runs. The owner; else no item runs. */
void rv_batch_settle(rv_batch *batch);

/* How many items are in a state. The caller holds the lock or is the owner of a batch in which nothing runs. */
size_t rv_batch_count(const rv_batch *batch, rv_item_state state);

/* When the keeper must look at this batch: monotonic ms, or RV_FOREVER. The caller holds the lock. */
#define RV_PATIENCE_MS 20
int64_t rv_batch_attention(const rv_batch *batch, int64_t now_ms);

/* The keeper has the item from now on, or its lease was revoked. The caller holds the lock. */
void rv_batch_take_item(const rv_batch *batch, rv_item *item);
static inline bool rv_batch_is_taken(const rv_item *item)
{
    return item->state == RV_ITEM_OFFLOADED || item->taken;
}

/* Gives up an item that waits or is pulled: the session that it was leased under is gone, it runs elsewhere. The caller
 * holds the lock. */
void rv_batch_lose_item(rv_batch *batch, rv_item *item);

/* The first running item of a pulled batch, and the earliest time limit of all. The caller holds the lock. */
void rv_batch_note_pulled(rv_batch *batch);

/* How long it waited until its handler was called, in ms; -1: that does not count. */
int64_t rv_batch_item_wait(const rv_item *item);

#endif
