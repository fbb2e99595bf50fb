/*
 * queue.h - queues: task counts, pauses, retention, defaults of tasks and other settings. limits.h has their limits.
 *
 * The rules of client.h for clients, threads, times, blocking, and errors of every call apply. client.h includes this
 * file.
 */
#ifndef REEVE_QUEUE_H
#define REEVE_QUEUE_H

#include "inspect.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_client reeve_client; /* client.h */

/*
 * A rate limit by a token bucket: `count` tasks may start in each period. After an idle time up to `burst` tasks
 * may start together. At a rate of more than one task per millisecond, up to 5 ms worth of tasks can start together,
 * even if the burst is smaller. A burst of 1 spaces the starts evenly. The actual rate is then slightly below
 * `count`: if a start is late, the later starts do not make up for it.
 */
typedef struct reeve_rate {
    int64_t count;     /* 1 to 1,000,000,000; 0: no rate limit */
    int64_t period_ms; /* 1 ms to 366 days; 0: 1000 */
    int64_t burst;     /* 1 to 1,000,000,000; 0: equal to count */
} reeve_rate;

/* A queue. */
typedef struct reeve_queue_info {
    char name[REEVE_QUEUE_MAX + 1];
    bool paused;
    uint64_t count[REEVE_STATE_COUNT]; /* number of tasks in each state; the index is a reeve_state */
    /* Totals since the queue was created; they are exact. */
    uint64_t completed_total;  /* completed tasks */
    uint64_t failed_total;     /* failed attempts */
    uint64_t dead_total;       /* tasks that died */
    uint64_t crashed_total;    /* attempts that ended with a crash: their worker died or lost its session */
    int64_t oldest_ready_ms;   /* enqueue time of the task at the head of the queue, the next one to be leased; or -1 */
    int64_t next_due_ms;       /* due time of the first scheduled task, or -1 */
    int64_t paused_ms;         /* when the queue was paused; -1: it is not paused, or the time is unknown */
    int64_t pause_until_ms;    /* the queue is paused until then by reeve_pause_for (limits.h); -1: no such pause */
    int64_t concurrency;       /* limit of the queue (limits.h): running tasks; 0: no limit */
    reeve_rate rate;           /* limit of the queue: starts; count 0: no limit */
    int64_t group_concurrency; /* the same for each group; 0: no limit */
    reeve_rate group_rate;     /* the same for each group; count 0: no limit */
    uint64_t cancelled_total;  /* since the queue was created: cancelled tasks, with discarded ones */
    /* Since the queue was created: tasks that came to it, in any way. A retry of a task does not count, a task that was
     * deleted does. Scripts derive the number from the other totals, so that an enqueue costs no more for it. */
    uint64_t enqueued_total;
} reeve_queue_info;

/* Gets one queue. A queue that never had a task is not an error: all counts and totals are 0, and oldest_ready_ms and
 * next_due_ms are -1. */
REEVE_API reeve_status reeve_queue(reeve_client *client, const char *queue, reeve_queue_info *ret);

/* Gets all queues of the namespace, ordered by name, as one array. Free it with reeve_queues_free. */
REEVE_API reeve_status reeve_queues(reeve_client *client, reeve_queue_info **ret, size_t *ret_count);
REEVE_API void reeve_queues_free(reeve_queue_info *list);

/* Pauses or resumes a queue. Workers lease no tasks of a paused queue. Running tasks continue, and tasks can be
 * enqueued. It is no error to pause a paused queue, or to resume a queue that is not paused. */
REEVE_API reeve_status reeve_pause(reeve_client *client, const char *queue);
REEVE_API reeve_status reeve_resume(reeve_client *client, const char *queue);

/* Retention: how long, and how many, records of ended tasks are kept. A record is deleted when it exceeds either
 * limit; the oldest records are deleted first. The number of completed tasks can exceed its limit by 1/64 for a
 * while. */
typedef struct reeve_keep {
    int64_t age_ms; /* 0: keep none; -1: no limit; at most 2,000,000,000,000 */
    int64_t count;  /* 0: keep none; -1: no limit; at most 1,000,000,000 */
} reeve_keep;

/*
 * Defaults for the tasks of a queue. For each option, the task's own value applies if it is set, else that of its
 * handler, else that of this policy, else the built-in default. A zeroed backoff is "not set". Workers learn of a
 * change at once. A new timeout_ms or max_crashes applies to attempts that begin after the change. New `attempts` and
 * a new backoff apply to failures after the change.
 */
typedef struct reeve_queue_policy {
    int attempts;                 /* failed attempts after which a task dies; 0: not set */
    int max_crashes;              /* crashes after which a task dies; 0: not set */
    int64_t timeout_ms;           /* run time limit of an attempt; 0: not set */
    const reeve_backoff *backoff; /* delays between attempts; NULL: not set */
    /* true: the record of a completed task contains the time, the worker and the thread of the last attempt
     * (started_ms, worker, session and thread of reeve_task_info). The record is then about 150 bytes longer, and a
     * completion takes Redis more time: as much as a failed attempt. This does not apply to tasks that run at most
     * once. */
    bool record_runs;
    int64_t retry_for_ms; /* how long a task is retried after its enqueue: a later failure is final; 0: not set */
    int max_snoozes;      /* number of times that a handler may snooze a task; 0: not set */
    int64_t heartbeat_ms; /* heartbeat limit (reeve_task_heartbeat); 0: not set */
    /* How long an attempt may go on after its run time limit or heartbeat limit: at the limit the handler is asked to
     * stop (reeve_task_should_stop), and its outcome counts if it ends within this time. After it, the attempt has
     * failed. 0: the attempt fails at the limit. */
    int64_t grace_ms;
} reeve_queue_policy;

/*
 * A circuit breaker. A failed attempt begins a window of `window_ms`, unless a window has begun and not ended. The
 * breaker opens when at least `attempts` attempts have ended in the window, and at least `failures` percent of them
 * have failed. While it is open, no task starts; running tasks continue. After `pause_ms` one task starts. If it
 * completes, the breaker closes; if it fails, it opens again; if it has no outcome after `pause_ms`, another task
 * starts. An attempt counts as failed if its handler returns a retry or a failure, if the attempt exceeds a time limit,
 * or if it is known to have crashed. A crash is known if the worker has a supervisor (reeve-worker --supervise),
 * process isolation, or a crash_dir that the next worker reads (worker.h). Snoozed and cancelled tasks do not count,
 * nor do tasks that return to their queue because a session expired. A task that runs at most once counts as completed.
 */
typedef struct reeve_breaker {
    int64_t failures;  /* percent, 1 to 100; 0: no breaker, the default */
    int64_t attempts;  /* 0: the default, 20 */
    int64_t window_ms; /* 0: the default, a minute */
    int64_t pause_ms;  /* 0: the default, 30 seconds */
} reeve_breaker;

/* Settings of a queue. */
typedef struct reeve_queue_settings {
    size_t size;                      /* sizeof(reeve_queue_settings), or 0 */
    const reeve_keep *completed;      /* retention of completed and cancelled tasks; default 1 day, 10,000 */
    const reeve_keep *dead;           /* retention of dead tasks; default 90 days, 10,000 */
    const reeve_queue_policy *policy; /* replaces the whole policy; a zeroed policy removes it */
    const char *on_dead;              /* type of a task to enqueue for each death (dead.h); "": none, the default */
    /* Number of days for which the statistics of a day (stats.h) are kept; at most 3650; default 30; 0: no statistics
     * are recorded from now on. A change applies to the current day and later ones, not to past days. */
    const unsigned *stats_days;
    /* Maximum length of a result in bytes, at most REEVE_RESULT_MAX; a longer result is refused (reeve_task_done).
     * Default 0: only the size limits of the workers apply (size_limits.h). Workers learn of a change at once. */
    const int64_t *result_max;
    /* Maximum total length of the results of all completed tasks, in bytes. While the total is larger, the oldest
     * completed tasks are deleted, including those without a result. Default 0: no limit. */
    const int64_t *completed_bytes;
    /* Maximum length of a payload in bytes, at most REEVE_PAYLOAD_MAX, for all producers: a longer payload is refused
     * (REEVE_ETOOBIG), also by reeve_edit. Tasks that are in the queue stay, and tasks that come from other queues, by
     * reeve_move or reeve_task_chain, are accepted. Default 0: only the size limits of the producers apply
     * (size_limits.h). While it is set, an enqueue takes Redis a little longer. */
    const int64_t *payload_max;
    const reeve_breaker *breaker;       /* of the queue: all its tasks */
    const reeve_breaker *group_breaker; /* of each group of the queue */
} reeve_queue_settings;

/* Changes settings of a queue. The change is in force at once, for all workers. A setting whose field is NULL stays
 * as it is. */
REEVE_API reeve_status reeve_queue_set(reeve_client *client, const char *queue, const reeve_queue_settings *settings);

/*
 * Gets the settings of a queue. No pointer of *ret is NULL, except policy->backoff if no backoff is set. A setting
 * that was never set has its default. Fields of the policy that were never set are zero, and on_dead is "" if it was
 * never set. The caller frees *ret, and all that it points to, with reeve_queue_settings_free. To change a part of a
 * policy, get the settings, change a copy of the policy, and set that copy.
 */
REEVE_API reeve_status reeve_queue_settings_get(reeve_client *client, const char *queue, reeve_queue_settings **ret);
REEVE_API void reeve_queue_settings_free(reeve_queue_settings *settings);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_queue_set_sized(reeve_client *client, const char *queue,
                                             const reeve_queue_settings *settings, size_t settings_size);
#define reeve_queue_set(...) reeve_queue_set_sized(__VA_ARGS__, sizeof(reeve_queue_settings))

#ifdef __cplusplus
}
#endif

#endif
