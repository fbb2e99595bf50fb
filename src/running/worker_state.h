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

#include <stdatomic.h>

#include "base/grown.h"
#include "handlers/handler_set.h"
#include "protocol/partition.h"
#include "redis/conn.h"
#include "redis/embedded.h"
#include "reeve/worker.h"
#include "running/pool_data.h"
#include "running/upkeep_data.h"

/* The life of a worker. It goes down this list, with one exception: from QUIET, a worker can resume and be RUNNING. */
typedef enum rv_phase {
    RV_PHASE_CREATED,
    RV_PHASE_RUNNING,
    RV_PHASE_QUIET,    /* takes no new tasks, until it resumes */
    RV_PHASE_STOPPING, /* threads settle their tasks and end */
    RV_PHASE_LEAVING,  /* the deadline has passed: outcomes that cannot be delivered now are dropped */
    RV_PHASE_ENDED     /* scheduler and keeper end */
} rv_phase;

typedef struct rv_stats {
    atomic_ullong leased, completed, failed, dead, given_back, refused;
    atomic_ullong sessions_lost, reconnects, redis_errors; /* for reeve_worker_metrics */
} rv_stats;

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
    atomic_uint asking;   /* threads with an unanswered call that may have begun a session */
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
    rv_pause pause; /* of the process, as keeper and heartbeat thread see it */
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
