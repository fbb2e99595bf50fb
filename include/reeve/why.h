/*
 * why.h - why a task, or a queue, does not run: the reasons, each with its numbers.
 *
 * One script call for the queue, one for each parent in another queue (at most 10, in one round trip), and a read of
 * the registry of workers. What is in force may change the moment after.
 */
#ifndef REEVE_WHY_H
#define REEVE_WHY_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The one list of reasons and names: X(name, number, text). Numbers are part of the ABI; append only. */
#define REEVE_REASON_MAP(X)                       \
    X(COMPLETED, 0, "completed")                  \
    X(DEAD, 1, "dead")                            \
    X(CANCELLED, 2, "cancelled")                  \
    X(RUNNING, 3, "running")                      \
    X(STALLED, 4, "stalled")                      \
    X(PAUSED, 5, "paused")                        \
    X(HELD, 6, "held")                            \
    X(CONCURRENCY, 7, "concurrency")              \
    X(RATE, 8, "rate")                            \
    X(GROUP_HELD, 9, "group_held")                \
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
    X(MESSAGES, 22, "messages")

/*
 *                        of a task                                    of a queue
 *     completed          it has completed: since_ms                   -
 *     dead               the same; kind is that of its error          -
 *     cancelled          the same                                     -
 *     running            since_ms, worker, name, host; until_ms: its  count tasks
 *                        lease, unless a heartbeat prolongs it
 *     stalled            its worker is gone since since_ms (0: not    count sessions of workers that are gone
 *                        known); nobody has taken it back yet
 *     paused             the queue is paused, since since_ms (-1: not known)
 *     held               no task of the queue starts before until_ms
 *     concurrency        the queue's limit is reached: limit, and count tasks run
 *     rate               the queue's rate is used up; the next task starts at until_ms
 *     group_held, group_concurrency, group_rate                       -
 *                        the same of its group
 *     blocked            count parents have not ended                 count tasks wait for others
 *     parent             one of these, the first 10: handle, state    -
 *     messages           count messages of its queue to other queues  count messages
 *                        wait to be carried: what it waits for may
 *                        not know of it yet
 *     due                not before until_ms; failures: how many      count scheduled tasks, the first at until_ms
 *                        attempts have failed
 *     parked             its group is at a limit; count of the group  count tasks wait for their groups
 *                        are before it
 *     unserved           no live worker serves the queue
 *     quiet              the workers that serve it, count, take no new tasks: told so, or stopping
 *     no_handler         of count workers that serve the queue and take tasks none has a handler of this type; of a
 *                        queue: of the type of the task at its head, handle
 *     behind             count tasks are before it; more: or some     -
 *                        more
 *     ready              it is the next one                           count tasks
 *     empty              -                                            no task waits
 */
typedef enum reeve_reason_kind {
#define REEVE_REASON_ENUM(name, number, text) REEVE_REASON_##name = number,
    REEVE_REASON_MAP(REEVE_REASON_ENUM)
#undef REEVE_REASON_ENUM
} reeve_reason_kind;

/* The name of a kind ("paused"); "unknown" for a number that is none. Any thread; never NULL. */
REEVE_API const char *reeve_reason_name(reeve_reason_kind kind);

/* A reason. What does not apply is -1 for times, limit and count, and NULL for texts. */
typedef struct reeve_reason {
    reeve_reason_kind kind;
    int64_t since_ms; /* ms since the epoch, as until_ms */
    int64_t until_ms;
    int64_t limit;
    int64_t count;
    bool more;       /* count is a lower bound */
    reeve_rate rate; /* rate, group_rate: which; else its count is 0 */
    unsigned failures;
    char *group;
    char *handle; /* parent, no_handler: "queue/id"; "!": a place that is kept for a parent to come (depend.h) */
    char *state;  /* parent: its state's name; "gone": there is no such task */
    char *type;   /* no_handler */
    char *worker; /* running, stalled: its id; name and host: while it is alive */
    char *name;
    char *host;
    char *error_kind; /* dead */
} reeve_reason;

typedef struct reeve_why {
    char *queue;
    char *id;    /* NULL: of the queue */
    char *type;  /* NULL: of a queue, or not known */
    char *state; /* the task's state's name; NULL: of a queue */
    int64_t now_ms;
    unsigned workers;      /* live workers that serve the queue */
    unsigned taking;       /* of these, such as take new tasks */
    reeve_reason *reasons; /* the most decisive first; at least one */
    size_t count;
} reeve_why;

/*
 * Why a task is where it is. *ret is owned by the caller: reeve_why_free. REEVE_ENOTFOUND: no such task (any more).
 * REEVE_EINVAL, REEVE_ENOMEM, and what every call may return.
 */
REEVE_API reeve_status reeve_task_why(reeve_client *client, const char *queue, const char *id, reeve_why **ret);

/* The same of a queue. REEVE_ENOTFOUND: there never was a task or a setting in it. */
REEVE_API reeve_status reeve_queue_why(reeve_client *client, const char *queue, reeve_why **ret);

REEVE_API void reeve_why_free(reeve_why *why);

#ifdef __cplusplus
}
#endif
#endif
