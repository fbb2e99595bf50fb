/*
 * why.h - the reasons why a task, or a queue, does not run.
 *
 * A call takes a few round trips: it reads the queue, up to 10 parents in other queues, and the list of workers. The
 * answer can be out of date a moment later.
 */
#ifndef REEVE_WHY_H
#define REEVE_WHY_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All reasons: X(name, number, text). The numbers are part of the ABI: append only. */
#define REEVE_REASON_MAP(X)                       \
    X(COMPLETED, 0, "completed")                  \
    X(DEAD, 1, "dead")                            \
    X(CANCELLED, 2, "cancelled")                  \
    X(RUNNING, 3, "running")                      \
    X(STALLED, 4, "stalled")                      \
    X(PAUSED, 5, "paused")                        \
    X(PAUSED_FOR, 6, "paused_for")                \
    X(CONCURRENCY, 7, "concurrency")              \
    X(RATE, 8, "rate")                            \
    X(GROUP_PAUSED, 9, "group_paused")            \
    X(GROUP_CONCURRENCY, 10, "group_concurrency") \
    X(GROUP_RATE, 11, "group_rate")               \
    X(BLOCKED, 12, "blocked")                     \
    X(PARENT, 13, "parent")                       \
    X(DUE, 14, "due")                             \
    X(PARKED, 15, "parked")                       \
    X(UNSERVED, 16, "unserved")                   \
    X(QUIET, 17, "quiet")                         \
    X(NO_HANDLER, 18, "no_handler")               \
    X(BEHIND, 19, "behind")                       \
    X(READY, 20, "ready")                         \
    X(EMPTY, 21, "empty")                         \
    X(MESSAGES, 22, "messages")                   \
    X(CIRCLE, 23, "circle")                       \
    X(BREAKER, 24, "breaker")                     \
    X(GROUP_BREAKER, 25, "group_breaker")         \
    X(BUSY, 26, "busy")

/*
 * The reasons, and the fields of reeve_reason that they set. "(task)", "(queue)" and "(both)" tell whether a reason
 * is for a task, a queue or both.
 *
 *     completed          (task) the task completed at since_ms
 *     dead               (task) it died at since_ms of the error error_kind
 *     cancelled          (task) it was cancelled at since_ms
 *     running            (task) it has run since since_ms on worker, name, host; the lease expires at until_ms unless a
 *                        heartbeat renews it. (queue) `count` tasks run
 *     stalled            (task) its lease expired at since_ms (0: unknown), and the task has not been recovered yet.
 *                        (queue) `count` sessions of workers have expired
 *     paused             (both) the queue was paused at since_ms (-1: unknown)
 *     paused_for         (both) the queue is paused until until_ms (reeve_pause_for)
 *     breaker            (both) the circuit breaker of the queue (reeve_breaker) is open until until_ms. handle, if not
 *                        NULL: the one task that was started as a test; if it completes, the breaker closes
 *     group_breaker      (task) the same for its group
 *     concurrency        (both) the queue's concurrency limit is reached: `count` of `limit` tasks run
 *     rate               (both) the queue's rate limit is reached; the next task starts at until_ms
 *     group_paused       (task) its group is paused until until_ms
 *     group_concurrency  (task) the concurrency limit of its group or type is reached: `count` of `limit` tasks run.
 *                        For a type, `group` is "type:TYPE"
 *     group_rate         (task) the rate limit of its group or type is reached; the next task starts at until_ms
 *     blocked            (task) `count` parents have not ended. (queue) `count` tasks are blocked
 *     parent             (task) one of these parents: handle, state; given for the first 10
 *     circle             (task) it is one of `count` tasks that wait for each other in a circle, and never start.
 *                        handle: the other tasks of the circle, separated by blanks. Each task waits for the next
 *                        one, beginning with the task itself; the last one waits for the task. The search examines up
 *                        to 128 tasks, and the first 10 parents of each
 *     messages           (task) `count` messages from its queue to other queues are not delivered yet, so its parents
 *                        may not have registered it. (queue) the number of these messages
 *     due                (task) it is scheduled for until_ms, after `failures` failed attempts. (queue) `count` tasks
 *                        are scheduled, the first for until_ms
 *     parked             (task) its group is paused or at a limit, or its type is at a limit, and `count` parked tasks
 *                        of the group or type are before it. (queue) `count` tasks are parked
 *     unserved           (both) no live worker serves the queue
 *     quiet              (both) all `count` workers that serve the queue are quiet or stopping
 *     no_handler         (task) none of the `count` workers that lease tasks of the queue has a handler of its type.
 *                        (queue) the same for the type of the task at the head, handle
 *     busy               (both) tasks are ready, and each of the `count` threads that serve the queue ran a task at the
 *                        last heartbeat of its worker
 *     behind             (task) `count` tasks are before it; `more`: at least that many
 *     ready              (task) it is the next task. (queue) `count` tasks are ready
 *     empty              (queue) no task waits
 */
typedef enum reeve_reason_kind {
#define REEVE_REASON_ENUM(name, number, text) REEVE_REASON_##name = number,
    REEVE_REASON_MAP(REEVE_REASON_ENUM)
#undef REEVE_REASON_ENUM
} reeve_reason_kind;

/* The name of a kind, such as "paused"; "unknown" for any other number. Never NULL. Any thread. */
REEVE_API const char *reeve_reason_name(reeve_reason_kind kind);

/* A reason. If a field does not apply, a time, limit or count is -1, and a string is NULL. */
typedef struct reeve_reason {
    reeve_reason_kind kind;
    int64_t since_ms; /* ms since the epoch by Redis's clock, as until_ms */
    int64_t until_ms;
    int64_t limit;
    int64_t count;
    bool more;       /* count is a lower bound */
    reeve_rate rate; /* rate, group_rate: the limit; else its count is 0 */
    unsigned failures;
    char *group;
    char *handle; /* parent, no_handler: the handle of a task; "!": the placeholder REEVE_PARENT_OPEN (depend.h).
                     circle: handles. breaker: a task */
    char *state;  /* parent: the name of its state; "gone": there is no such task */
    char *type;   /* no_handler */
    char *worker; /* running, stalled: the id of the worker; name and host only while it is alive */
    char *name;
    char *host;
    char *error_kind; /* dead */
} reeve_reason;

/* The reasons why a task or a queue does not run. The function that returns it allocates it; free it with
 * reeve_why_free. */
typedef struct reeve_why {
    char *queue;
    char *id;    /* NULL: the answer is for the queue */
    char *type;  /* type of the task; NULL: for a queue, or unknown */
    char *state; /* name of the task's state; NULL: for a queue */
    int64_t now_ms;
    unsigned workers;      /* number of live workers that serve the queue */
    unsigned taking;       /* number of these that lease new tasks */
    reeve_reason *reasons; /* at least one, the most important first */
    size_t count;
} reeve_why;

/*
 * Explains the state of a task. The caller frees *ret with reeve_why_free. REEVE_ENOTFOUND: there is no such task, or
 * its record is no longer kept. REEVE_EINVAL, REEVE_ENOMEM, and the errors of every call (client.h).
 */
REEVE_API reeve_status reeve_task_why(reeve_client *client, const char *queue, const char *id, reeve_why **ret);

/* Explains why a queue does not run tasks. The caller frees *ret with reeve_why_free. REEVE_ENOTFOUND: the queue never
 * had a task or a setting. */
REEVE_API reeve_status reeve_queue_why(reeve_client *client, const char *queue, reeve_why **ret);

/* Frees *ret of these functions; NULL is ignored. Any thread. */
REEVE_API void reeve_why_free(reeve_why *why);

#ifdef __cplusplus
}
#endif
#endif
