/*
 * thread_data.h - a thread of a pool: what it is about to do, its turn, its batch and its connection.
 *
 * worker_state.h draws the whole worker.
 */
#ifndef RV_RUNNING_THREAD_DATA_H
#define RV_RUNNING_THREAD_DATA_H

#include <semaphore.h>
#include <stdatomic.h>

#include "handlers/handler_set.h"
#include "handlers/task.h"
#include "protocol/tally.h"
#include "redis/conn.h"
#include "reeve/worker.h"
#include "running/batch.h"
#include "running/queue_order.h"

typedef struct rv_pool rv_pool;

/*
 * What a thread of a pool does next about leases. Only the thread itself reads and changes it, by rv_thread_state_enter
 * (thread_state.h), which knows the allowed changes:
 *
 *     TURN     -> WAIT, IDLE, RECOVER           a turn found no task; its reply was lost
 *     WAIT     -> TURN, IDLE, RECOVER           the wait ended; the lease behind it registered the thread; a loss
 *     IDLE     -> TURN, AGAIN, LEAVE, RECOVER   handed a task; the wait ended without one; a batch is ripe; a loss
 *     AGAIN    -> TURN, WAIT, IDLE, LEAVE,      as TURN, of a thread that is still registered in Redis; a batch is
 *                 RECOVER                       ripe
 *     LEAVE    -> TURN, IDLE, RECOVER           no longer registered; it was handed a task before that; a loss
 *     RECOVER  -> TURN                          Redis said what the lost call did
 *
 * To remain in a state is always allowed.
 */
typedef enum rv_thread_state {
    RV_THREAD_TURN,  /* takes a turn: the initial state */
    RV_THREAD_WAIT,  /* the last lease found nothing: waits for a wake-up of its queues, with a lease behind the wait */
    RV_THREAD_IDLE,  /* the last lease found nothing and registered the thread in Redis: waits to be handed a task */
    RV_THREAD_AGAIN, /* registered in Redis, and takes a turn: it may have been handed a task in the meantime */
    RV_THREAD_LEAVE, /* registered in Redis, and takes a turn that only ends this: it is about to run its batch */
    RV_THREAD_RECOVER /* the reply to a call that may have leased tasks was lost: asks Redis before the next turn */
} rv_thread_state;

/* What a thread is busy with, for other threads. */
typedef enum rv_thread_activity {
    RV_ACTIVITY_NONE,
    RV_ACTIVITY_RUNS, /* it runs its batch */
    RV_ACTIVITY_HELD  /* it waits for a task that runs alone (alone.h) */
} rv_thread_activity;

/* How a thread takes its turn (share.h). */
typedef enum rv_share_role {
    RV_SHARE_ALONE,  /* by itself, whether others call or not */
    RV_SHARE_WAITS,  /* another thread is in a call */
    RV_SHARE_CALLS,  /* it calls, and others wait for it */
    RV_SHARE_SERVED, /* another thread has taken its turn */
    RV_SHARE_LOST    /* that thread does not know what Redis did */
} rv_share_role;

/* A turn that another thread may take. While the thread waits, it does not touch its batch, its connection and
 * these. */
typedef struct rv_shared_turn {
    sem_t answered; /* ends the wait; before that, the other thread wrote the rest */
    bool is_set_up;
    rv_share_role role;
    struct rv_share *share; /* among those of the pool */
    struct rv_thread *next; /* of those who wait, or whom one call serves */
    unsigned want;
    int64_t alone_ms; /* since when it takes a turn by itself, as shared ones took long (monotonic); 0: it does not */
    unsigned losses;  /* rv_sharing.losses before the last turn that it took by itself */
    int64_t now_ms;   /* on Redis's clock */
    size_t leased;    /* in rv_thread.leases; the member queue of these is the place in the turn */
    bool idle;        /* it is leased nothing, and Redis registered it */
    bool again;       /* a session is gone: another turn is to be taken at once */
    rv_arena arena;   /* the memory that the leases lie in */
} rv_shared_turn;

/* The turns of a thread that ask the queues of several hash slots one after the other (pool_slots.h). */
typedef struct rv_round {
    size_t next;   /* the place that the next turn begins with; 0: a round begins */
    unsigned slot; /* whose outcomes a call settles: its number in rv_pool.slots */
    bool twice;    /* the turn names its only queue twice (round.c) */
    bool is_woken; /* the thread was woken for some slots: */
    bool *woken;   /* which, by number */
} rv_round;

/* How long a thread of the system had been on a processor or waited for one. */
typedef struct rv_measured {
    int tid;
    int64_t processor_us;
} rv_measured;

typedef struct rv_thread {
    reeve_worker *worker;
    rv_pool *pool;
    const rv_handler_set *set;    /* what it runs, or ran before it ended; changed under the worker's lock */
    struct rv_isolated *isolated; /* its runner (isolated.h), or NULL: handlers run on the thread */
    const rv_handler *entered;    /* the handler that the thread has been admitted to run (admission.h), or NULL */
    unsigned number;              /* within the worker, from 1: its name in Redis */
    char name[16];                /* within the process */
    char number_text[12];
    pthread_t id;
    bool started;        /* `id` is a thread that was not joined yet; like `alive` guarded by the worker's lock */
    bool alive;          /* it runs */
    atomic_bool retires; /* it takes no new tasks, and ends when it has settled those that it holds (pool_threads.h) */
    rv_waker waker;      /* rung when the phase changes */
    rv_conn *conn;
    rv_arena arena; /* the memory that the batch's leases lie in */
    rv_batch batch;
    reeve_task task;
    rv_task_host host;
    atomic_bool stop;      /* the running handler should end */
    atomic_bool cancelled; /* it should, because its task was cancelled */
    char cancel_reason[REEVE_REASON_MAX +
                       1];     /* of that cancel; "": none. Written under the batch's lock before `cancelled` */
    atomic_int activity;       /* rv_thread_activity; only the thread writes it */
    atomic_llong busy_us;      /* how long it has run handlers; while it runs them, less the present time (negative) */
    atomic_uint rests_since;   /* it waits in Redis since this heartbeat of the worker; 0: it does not */
    bool rest_counted;         /* it is counted in rv_pool_demand.resting, */
    bool run_counted;          /* in rv_pool_demand.running */
    atomic_int tid;            /* of the kernel; 0: none yet */
    atomic_int runner_pid;     /* of the process that its handlers run in (isolated.h); 0: none */
    rv_measured measured[2];   /* the keeper's: of the thread, and of its runner */
    rv_thread_state state;     /* changed by rv_thread_state_enter alone */
    char handed[REEVE_ID_MAX]; /* the id of the task that it was handed last */
    bool asks;                 /* it is counted in reeve_worker.asking */
    bool ran;                  /* it ran a handler since it looked after its descriptors (descriptors.h) */
    bool passes;               /* Redis registers it nowhere when its turn finds nothing: it does not wait */
    bool woken;                /* of a consumer: its next turn passes a wake-up on */
    const char *named;         /* its turn leases this task of named_queue only; NULL: what comes next */
    size_t named_queue;
    char named_refusal[16]; /* why that task was not leased, see lease_task.lua; "": it was, or an outcome was sent */
    int64_t until_ms;       /* of a consumer: when its call gives up (monotonic ms); 0: never */
    int64_t wait_until_ms;  /* of a consumer: when its wait in Redis ends; 0: no such limit */
    bool insists;           /* it must learn the result of its last call: recovery goes on while the worker stops */
    unsigned log_lines;     /* how many lines its tasks wrote to their logs: the number of the last one */
    unsigned losses;        /* of the connection in a row, with nothing leased or waited for in between, */
    int64_t lost_ms;        /* the last of them */
    unsigned epoch;         /* of the connection that its last turn went over; 0: none yet */
    rv_round round;         /* of a pool over several hash slots */
    void **states;          /* what thread_start left, by handler */
    bool *set_up;
    /* how many tasks to take at once (see thread.c) */
    int64_t task_us;
    unsigned want;
    rv_queue_order order; /* of the queues in its next turn */
    size_t fresh;         /* the number of tasks that the last turn leased */
    bool full;            /* the last turn leased as many as requested */
    unsigned scarce;      /* turns to go, if all lease as many as requested, until tasks do not count as scarce */
    unsigned missed;      /* rv_scheduler.missed when that turn began */
    /* for handlers of many tasks (batch_handler.h) */
    atomic_bool stuck; /* its handler does not return (stuck.h) */
    bool spared;       /* a spare thread runs in its place; guarded by the worker's lock */
    bool gathers;      /* a batch handler is registered */
    unsigned batch_handler_want;
    int64_t no_memory_ms; /* when it logged last that there was no memory to run a task (monotonic); 0: never */
    bool mixed;           /* the last batch also had tasks of other handlers */
    size_t kept_bytes;
    rv_item **picked;
    struct rv_invocation *calls;
    reeve_task **call_tasks;
    size_t call_room;
    /* scratch of a turn */
    size_t first_place;        /* of the queues that it asks */
    size_t place_count;        /* how many it asks */
    rv_turn_queue *queues;     /* by place in the turn (see queue_order.h), from first_place on */
    rv_session_text *sessions; /* by queue */
    const rv_settlement **outcomes;
    rv_turn_group *groups;
    rv_lease *leases;
    rv_shared_turn shared;
} rv_thread;

#endif
