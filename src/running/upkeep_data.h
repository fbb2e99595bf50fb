/*
 * upkeep_data.h - the threads of a worker's upkeep: heartbeats, keeper, scheduler; and the task that runs alone.
 *
 * worker_state.h draws the whole worker.
 */
#ifndef RV_RUNNING_UPKEEP_DATA_H
#define RV_RUNNING_UPKEEP_DATA_H

#include "base/pause.h"
#include "base/repeated.h"
#include "running/thread_data.h"

typedef struct rv_flight_crash rv_flight_crash; /* flight.h */

/* An outcome that the keeper settles for a thread. */
typedef struct rv_offloaded {
    rv_queue_session *queue_session;
    rv_session_text session;
    const char *thread; /* the name of the lease in Redis */
    int64_t since_ms;   /* the time of the lease */
    bool sent;          /* an earlier delivery may have been executed */
    bool torn;          /* an earlier delivery may have been executed in part */
    bool lets_go;       /* the lease was ended by hand: Redis is told that no outcome of it will come (regain.lua) */
    rv_settlement settlement;
    rv_attempt attempt; /* for the statistics; its type is `type` */
    char type[REEVE_TYPE_MAX + 1];
    void *kept;
} rv_offloaded;

/* What the three threads of the upkeep have in common (upkeep/upkeep_thread.h). */
typedef struct rv_upkeep_thread {
    pthread_t id;
    bool started;
    char name[16];  /* within the process */
    rv_waker waker; /* ends the thread's wait */
    rv_conn *conn;
    pthread_mutex_t lock; /* guards the members that the owner names */
} rv_upkeep_thread;

/* The numbers of these threads for rv_pause. */
enum { RV_SLEEPER_KEEPER, RV_SLEEPER_HEART };

/* The thread that listens to Sentinel (upkeep/failover_watch.h). */
typedef struct rv_failover {
    pthread_t id;
    bool started;
    atomic_bool ends;
    rv_waker waker;      /* while it runs */
    atomic_uint noticed; /* the moves of the data that the worker's threads were woken for (rv_wakeup_moved) */
} rv_failover;

typedef struct rv_keeper {
    rv_upkeep_thread thread; /* its lock guards handed, offloaded_count, settled; its connection carries outcomes */
    rv_conn *listener;       /* the control channel */
    int64_t listen_again_ms;
    unsigned listen_tries;
    rv_repeated listen_failed;   /* which failures to subscribe are logged */
    bool listened;               /* it has subscribed once: tasks may have been handed to its threads */
    atomic_bool subscribed;      /* it listens to the control channel; else heartbeat and scheduler poll */
    atomic_bool deaf;            /* the user has no rights to the control channel */
    atomic_bool looks_at_queues; /* a queue may be served by no pool any more (away.h) */
    atomic_bool leaves;          /* the listener resolves the endpoint again */
    atomic_bool lost;            /* Redis is back after an outage and may have lost its last writes (strays.h) */
    size_t strays_count;         /* of these queues */
    size_t strays_left;          /* the number of queues in which it still looks for strays */
    bool strays_again;           /* a thread began another task meanwhile: it looks once more at all of them */
    bool stray_keys;             /* in the one that is looked at: for keys of tasks that run at most once */
    char stray_cursor[24];
    struct rv_bound *bound;    /* tasks for this worker alone (bound.h); guarded by the thread's lock */
    struct rv_answer *answers; /* to requests, to be sent (requests.h); guarded by the thread's lock */
    rv_repeated malformed;     /* which malformed requests are logged */
    struct rv_early *early;    /* notices that came before their tasks (early.h), or NULL: none has */
    struct rv_missed *missed;  /* leases that ended by hand, unheard (missed.h); guarded by the thread's lock */
    atomic_llong wake_at_ms;   /* when its sleep ends: a thread that needs it earlier rings */
    unsigned long settled;     /* the number of outcomes that it has settled */
    rv_offloaded *offloaded;
    size_t offloaded_count;
    size_t offloaded_capacity;
} rv_keeper;

typedef struct rv_heartbeat {
    rv_upkeep_thread thread;
    atomic_llong round_trip_us; /* of the last heartbeat; 0: none yet */
    int64_t measured_since_us;  /* the first measurement of the utilisation; 0: none yet */
    atomic_llong beaten_at_ms;  /* the last heartbeat that Redis took; 0: none yet */
    atomic_uint heartbeats;     /* how many heartbeats Redis took, and 1 */
    atomic_bool connected;
    bool registered;     /* its first heartbeat was taken */
    unsigned epoch;      /* of the connection that its last one went over; 0: none yet */
    atomic_bool changed; /* the record is to be written at once: pools, threads or queues have changed */
    rv_buf json;
} rv_heartbeat;

#define RV_MAINTAIN_AT_ONCE 32 /* queues */

typedef struct rv_scheduler {
    rv_upkeep_thread thread; /* its lock guards due */
    unsigned tries;
    atomic_uint missed;         /* how often announcements of the control channel may have been missed */
    atomic_bool asks_cancelled; /* it is to ask which of those concern tasks of the worker */
    int64_t yields_until_ms;    /* until then the keeper goes first (scheduler.c) */
    atomic_llong
        clock_ahead_ms;       /* Redis's clock less the monotonic one, as maintain.lua returned it; 0: not known yet */
    int64_t partitions_at_ms; /* when to look for partitions that hold something again (partition_return.h) */
    int64_t *due;             /* by queue session: when to maintain it, monotonic ms */
    size_t *maintained;       /* scratch */
    bool dead[RV_MAINTAIN_AT_ONCE];   /* by place in `maintained`: a session of the queue is dead (follow_up.h) */
    bool ends[RV_MAINTAIN_AT_ONCE];   /* by place in `maintained`: tasks are to be told how their parents ended */
    bool outbox[RV_MAINTAIN_AT_ONCE]; /* by place in `maintained`: the queue has messages to other queues */
    bool unread
        [RV_MAINTAIN_AT_ONCE];  /* by place in `maintained`: some of these were set aside and are to be tried again */
    struct rv_cron_table *cron; /* the recurring entries that are due in these queues (cron_fire.h) */
} rv_scheduler;

/* A task that may run alone, and its run. */
typedef struct rv_alone_task {
    unsigned long number; /* the number of the run within the worker, from 1 */
    const rv_prefix *prefix;
    rv_session_text session;
    char id[REEVE_ID_MAX];
} rv_alone_task;

/* A task that may run alone, see alone.h. */
typedef struct rv_alone {
    pthread_mutex_t lock;     /* guards all; owner is read without it, too */
    pthread_cond_t changed;   /* signalled when the owner may stop waiting */
    rv_thread *_Atomic owner; /* the thread that runs it: no other task begins. NULL: none does */
    int64_t until_ms;         /* when others may begin (monotonic ms); RV_FOREVER: it has not begun */
    bool ending;              /* a thread is about to let others begin */
    rv_alone_task task;       /* the owner's */
} rv_alone;

#endif
