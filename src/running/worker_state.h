/*
 * worker_state.h - a worker and its parts.
 *
 *     reeve_worker
 *       |- handlers, layers, plugins   a set (handler_set.h), replaced as a whole (handler_change.h)
 *       |- queue sessions           one a queue (queue_session.h); the list grows, see below
 *       |- pools -> threads         each: a connection, a batch, a task   (thread.h); the lists grow
 *       |- heart                    heartbeats                            (heartbeat.h)
 *       |- keeper                   relief, control messages, good-bye    (keeper.h)
 *       `- scheduler                due tasks, reaping, retention         (scheduler.h)
 *
 * Pools, threads and queue sessions are added while the worker runs, and other threads read the lists without a lock
 * (base/grown.h). None is ever removed or freed before the worker is destroyed: a thread that ended keeps its place,
 * with an empty batch, until its pool needs a thread again; a pool that was removed has no thread that runs
 * (pool_threads.h); a queue session that no pool serves is away (queue_session.h).
 */
#ifndef RV_RUNNING_WORKER_STATE_H
#define RV_RUNNING_WORKER_STATE_H

#include <semaphore.h>
#include <stdatomic.h>

#include "base/grown.h"
#include "base/repeated.h"
#include "handlers/handler_set.h"
#include "handlers/task.h"
#include "isolation/runner_sandbox.h"
#include "protocol/partition.h"
#include "protocol/tally.h"
#include "redis/conn.h"
#include "redis/embedded.h"
#include "reeve/worker.h"
#include "running/batch.h"
#include "running/pool_size.h"
#include "running/queue_order.h"

/* The life of a worker. It goes down this list, with one exception: from QUIET, a worker can resume and be RUNNING. */
typedef enum rv_phase {
    RV_PHASE_CREATED,
    RV_PHASE_RUNNING,
    RV_PHASE_QUIET,    /* takes no new tasks, until it resumes */
    RV_PHASE_STOPPING, /* threads settle their tasks and end */
    RV_PHASE_LEAVING,  /* the deadline has passed: outcomes that cannot be delivered now are dropped */
    RV_PHASE_ENDED     /* scheduler and keeper end */
} rv_phase;

typedef struct rv_pool rv_pool;
typedef struct rv_flight_crash rv_flight_crash; /* flight.h */

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
    bool isolated;               /* handlers run in processes of their own (isolated.h) */
    reeve_runner_options runner; /* their limits; its text is the pool's own */
    rv_runner_sandbox sandbox;   /* what they cannot reach; its paths lie in sandbox_paths */
    char *sandbox_paths;
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

typedef struct rv_stats {
    atomic_ullong leased, completed, failed, dead, given_back, refused;
    atomic_ullong sessions_lost, reconnects, redis_errors; /* for reeve_worker_metrics */
} rv_stats;

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
        clock_ahead_ms; /* Redis's clock less the monotonic one, as maintain.lua returned it; 0: not known yet */
    int64_t *due;       /* by queue session: when to maintain it, monotonic ms */
    size_t *maintained; /* scratch */
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

struct reeve_worker {
    rv_error error;
    rv_url url;
    rv_url address;       /* the embedded server's socket, or the same as url */
    const rv_url *target; /* where connections go */
    rv_embedded *embedded;
    char ns[RV_NS_MAX + 1];
    char *name;
    char *host;
    char *plugin_dir;
    char id[RV_RANDOM_LENGTH + 1];
    pid_t pid;                /* of the process that its ids were made in */
    unsigned generation;      /* of the process that started it (base/fork.h) */
    pthread_mutex_t stopping; /* held while the threads of the upkeep are joined: several may stop it at once */
    char about[256];          /* the session's description: JSON, longer than 64 bytes (see lease.lua) */
    int64_t session_ms;
    void (*on_data_lost)(void *user);
    void *on_data_lost_user;
    bool (*on_request)(void *user, const char *id, const char *request);
    void *on_request_user;
    reeve_status (*on_reload)(void *user, reeve_worker *worker, char *ret_text, size_t size);
    void *on_reload_user;
    pthread_mutex_t reloading; /* held during a reload (worker_reload.h); taken before `changing` */
    struct {
        pthread_t thread; /* of the last request to reload (upkeep/reload_request.h), */
        bool has_thread;  /* which was not joined yet; only the keeper's, and later that of reeve_worker_stop */
        atomic_bool runs;
        char id[33];
    } reload;
    void (*on_descriptors_lost)(void);                 /* of reeve-worker */
    struct rv_flight *flight;                          /* for a supervisor, or NULL; borrowed */
    char *crash_dir;                                   /* of the options, or NULL */
    struct rv_crash_dir *own_flight;                   /* the record in a file there (worker/crash_dir.h), or NULL */
    void (*on_stuck)(const char *thread, bool spared); /* of reeve-worker (abandon.h) */
    int64_t grace_ms;           /* how long a handler may run on after its time limit until it is stuck */
    unsigned spare_threads;     /* how many threads open at most in place of stuck ones */
    unsigned spare_count;       /* how many have; guarded by `lock` */
    atomic_uint stuck_spared;   /* threads that are stuck, and have a spare one in their place */
    atomic_uint stuck_unspared; /* threads that are stuck, and have none */
    /* Of reeve-worker, or NULL: says what a runner has recorded of its crash; false: nothing. Any thread. */
    bool (*describe_crash)(const rv_flight_crash *crash, rv_buf *message, rv_buf *backtrace);
    int64_t command_ms;
    reeve_size_limits size_limits; /* in force: none is zero */
    int64_t started_wall_ms;
    rv_handler_set *set; /* what threads run that start now; once the worker runs it changes under `lock` */
    pthread_t closer;    /* closes the sets before it (handler_change.h); */
    bool has_closer;     /* it was not joined yet, */
    bool closes;         /* and goes on; both guarded by `lock` */
    rv_queue_session **_Atomic queue_sessions;
    atomic_size_t queue_session_count;
    rv_grown all_queue_sessions; /* the memory of that list */
    rv_pool **_Atomic pools;
    atomic_size_t pool_count;
    rv_grown all_pools;          /* the memory of that list */
    atomic_uint thread_count;    /* that all pools are to have */
    unsigned numbers;            /* of threads that were made; guarded by `lock` */
    rv_partition_map partitions; /* upkeep/partition_watch.h; under `changing` */
    atomic_bool has_partitions;  /* whether a queue is divided */
    atomic_bool partitions_changed;
    pthread_mutex_t changing; /* held while pools and queues change (pool_change.h); taken before `lock` */
    pthread_mutex_t lock;     /* guards threads_alive, and `alive` and `started` of threads */
    pthread_cond_t thread_ended;
    unsigned threads_alive;
    atomic_int phase;     /* rv_phase */
    atomic_uint asking;   /* threads with an unanswered turn that may have begun a session */
    bool is_consumer;     /* no thread is started: the program takes the turns of the only one (consumer/) */
    bool is_manual;       /* of a consumer: the program sends the heartbeats */
    bool keeps_leases;    /* of a consumer: it ends without giving its leases back, and stays registered */
    atomic_bool drains;   /* it stays quiet until it stops (abandon.h) */
    atomic_bool refused;  /* an error of Redis was logged, and Redis has accepted no heartbeat since */
    atomic_bool outdated; /* the data have a version that this release does not know (upkeep/outdated.h) */
    atomic_bool torn;     /* that a handler closed descriptors of the worker was logged */
    atomic_bool loses;    /* that connections are lost again and again was logged */
    atomic_bool down;     /* an outage was logged and has not ended */
    atomic_uint reached;  /* how many attempts to reach Redis have succeeded */
    rv_stats stats;
    bool metrics;            /* attempts are counted for reeve_worker_metrics (task_metrics.h) */
    atomic_uint task_series; /* how many series there are */
    rv_waker quit;           /* ends all calls: rung when the worker leaves and Redis does not answer */
    rv_heartbeat heart;
    rv_alone alone;
    rv_keeper keeper;
    rv_scheduler scheduler;
    rv_failover failover;
};

static inline rv_phase rv_worker_phase(const reeve_worker *worker)
{
    return (rv_phase)atomic_load_explicit(&worker->phase, memory_order_acquire);
}

/* Elements of the lists that grow, below their counts. */
static inline rv_pool *rv_worker_pool(const reeve_worker *worker, size_t index)
{
    return atomic_load(&worker->pools)[index];
}

static inline rv_thread *rv_worker_pool_thread(const rv_pool *pool, size_t index)
{
    return atomic_load(&pool->threads)[index];
}

static inline rv_queue_session *rv_worker_queue_session(const reeve_worker *worker, size_t index)
{
    return atomic_load(&worker->queue_sessions)[index];
}

/* That of its worker; a thread that retires behaves as if the worker were stopping, but for what it does when Redis
 * is away: its worker goes on, and so a lost call must not be left behind. */
static inline rv_phase rv_thread_phase(const rv_thread *thread)
{
    rv_phase phase = rv_worker_phase(thread->worker);
    if (phase >= RV_PHASE_STOPPING) return phase;
    return atomic_load_explicit(&thread->retires, memory_order_acquire) ? RV_PHASE_STOPPING : phase;
}

#endif
