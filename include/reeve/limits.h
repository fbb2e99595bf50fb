/*
 * limits.h - limits for a queue, a group, a type or a limit key: how many tasks run at the same time, and how many
 * start in a period. Pauses of a queue or a group for a time.
 *
 * A limit applies to all workers together. A change is in force at once. Workers do not poll while a limit is
 * reached: the end of a task, or the time at which the limit allows the next start, wakes a thread. A group at its
 * limit does not delay other groups: its tasks are in the state "parked" until they may start. A queue without limits
 * has no cost for this.
 *
 * A task counts towards a limit from its lease until its outcome is accepted, the session of its worker has expired, or
 * its run time limit has passed. If a handler continues after the run time limit, the next task of its group can run
 * beside it, even with a concurrency of 1. Handlers should therefore poll reeve_task_should_stop.
 *
 * Serial groups: with a concurrency of 1, the tasks of a group run one at a time, in order. But while a task waits for
 * a retry, the next one runs. Strict groups wait for retries: when a task has started, no other task of its group
 * starts until that task has ended or has been deleted. The group waits even while the task waits for a retry, is
 * snoozed or given back, is recovered after a crash, or is blocked by parents that reeve_add_dependency added. During
 * all this time the task counts as running. Only a handler that lets its task wait (reeve_task_wait_for) releases the
 * group.
 *
 * The cost of a task (reeve_task_spec) is the number of units that each of its starts takes of rates; 1 unless it is
 * set. A task starts when one unit is free, and then takes all its units: the next task waits until the rate has made
 * up for them. Concurrency counts each task as one.
 *
 * Limits of types: a task starts when the queue, its group and its type all have room. A type at its limit does not
 * delay other types. A task that waits for its type does not delay its group: later tasks of the group that have
 * another type start before it. The limits that are set for each group (REEVE_LIMIT_GROUPS), and the circuit breaker of
 * each group, do not apply to types, and a type is never strict. In a queue with partitions, the limit of a type
 * applies to each partition. The limits of the type T are stored as those of a group with the name "type:T". If tasks
 * belong to a group with this name, they count towards the limits of the type T, whatever their own types are.
 *
 * Limits of keys: a task can have limit keys (reeve_task_spec), such as the customer it is for and a device that it
 * uses. A limit of a key counts all tasks of the queue that have it. A task starts when the queue, its group, its type
 * and each of its keys have room; until then it takes nothing of any of them. All that is said above of limits of types
 * is true of limits of keys, too. The limits of the key K are stored as those of a group with the name "key:K".
 *
 * Each call blocks for one round trip unless its comment says otherwise. As with all of client.h, one thread at a
 * time may use a client.
 */
#ifndef REEVE_LIMITS_H
#define REEVE_LIMITS_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a limit applies to. */
typedef enum reeve_limit_of {
    REEVE_LIMIT_QUEUE = 0,  /* all tasks of the queue together */
    REEVE_LIMIT_GROUPS = 1, /* each group of the queue; a limit that is set for one group replaces it */
    REEVE_LIMIT_GROUP = 2,  /* one group */
    REEVE_LIMIT_TYPE = 3,   /* all tasks of one type */
    REEVE_LIMIT_KEY = 4     /* all tasks with one limit key */
} reeve_limit_of;

/* A change of the limits of a queue, of its groups, or of one group, type or limit key. Zero changes nothing. */
typedef struct reeve_limit_change {
    size_t size; /* sizeof(reeve_limit_change), or 0 */
    reeve_limit_of of;
    const char *group; /* with REEVE_LIMIT_GROUP */
    /* Maximum number of running tasks; 0: no change; -1: no limit. With 1, a group is serial. */
    int64_t concurrency;
    const reeve_rate *rate; /* NULL: no change; a count of 0: no limit */
    /* REEVE_LIMIT_GROUP: remove the group's own limits, so that those of REEVE_LIMIT_GROUPS apply. REEVE_LIMIT_TYPE and
     * REEVE_LIMIT_KEY: remove the limits of the type or key. */
    bool forget;
    /* Only for groups. 1: strict: one task at a time, whatever the concurrency. 0: no change. -1: not strict: a task
     * that waits for a retry does not delay its group. */
    int strict;
    const char *type; /* with REEVE_LIMIT_TYPE */
    const char *key;  /* with REEVE_LIMIT_KEY */
} reeve_limit_change;

/*
 * Changes limits. The first call that limits the concurrency of groups in a queue takes several round trips, in order
 * to count the running tasks. REEVE_EINVAL: a number or a name is not valid.
 */
REEVE_API reeve_status reeve_limit(reeve_client *client, const char *queue, const reeve_limit_change *change);

/*
 * Pauses a group for delay_ms from now: none of its tasks starts in this time. `group` NULL pauses the whole queue. A
 * delay of 0 ends the pause. *ret_until_ms, when not NULL, is the time when the pause ends, or 0. The pause by
 * reeve_pause is independent of it, and lasts until reeve_resume.
 */
REEVE_API reeve_status reeve_pause_for(reeve_client *client, const char *queue, const char *group, int64_t delay_ms,
                                       int64_t *ret_until_ms);

/* A group with limits of its own, a pause, or parked tasks; or a type or limit key with limits or parked tasks. */
typedef struct reeve_group_limits {
    char group[REEVE_GROUP_MAX + 1]; /* its name; "": it is a type or a limit key */
    int64_t concurrency;             /* its own limit; 0: that of REEVE_LIMIT_GROUPS applies; -1: no limit */
    reeve_rate rate;        /* its own limit; count 0: that of REEVE_LIMIT_GROUPS applies; count -1: no limit */
    int64_t pause_until_ms; /* end of its pause; 0: not paused for a time */
    uint64_t running;       /* running tasks; counted only while the concurrency of groups is limited */
    uint64_t parked;        /* parked tasks */
    int strict;             /* its own setting: 1: strict; -1: not strict; 0: that of REEVE_LIMIT_GROUPS applies */
    char type[REEVE_TYPE_MAX + 1];     /* the type; "": it is a group or a limit key */
    char key[REEVE_LIMIT_KEY_MAX + 1]; /* the limit key; "": it is a group or a type */
} reeve_group_limits;

/* The limits of a queue, and a page of those of its groups, types and limit keys. reeve_limits_get returns it; free it
 * with reeve_limits_free. */
typedef struct reeve_limits {
    int64_t concurrency;       /* of the queue; 0: no limit */
    reeve_rate rate;           /* of the queue; count 0: no limit */
    int64_t pause_until_ms;    /* end of the queue's pause; 0: not paused for a time */
    int64_t running;           /* running tasks; -1: not counted, because the concurrency is not limited */
    int64_t group_concurrency; /* of each group; 0: no limit */
    reeve_rate group_rate;     /* of each group; count 0: no limit */
    uint64_t group_total;      /* groups with limits, a pause or parked tasks; an upper bound if there are thousands */
    reeve_group_limits *groups;
    size_t group_count;
    bool group_strict; /* of each group */
    uint64_t next;     /* offset of the next page; 0: this is the last page */
} reeve_limits;

/*
 * Gets the limits of a queue, and a page of its groups that have limits of their own, a pause or parked tasks. `limit`
 * is the maximum length of the page, at most 1000. `offset` is 0, or `next` of the previous page. Groups are ordered
 * by name, a type T as "type:T", a limit key K as "key:K". If there are thousands of them, groups with limits of their
 * own come first, by name, then paused groups, then groups with parked tasks. A page can then be shorter than `limit`,
 * or empty, even if it is not the last one (`next` is not 0). Free *ret with reeve_limits_free.
 */
REEVE_API reeve_status reeve_limits_get(reeve_client *client, const char *queue, uint64_t offset, size_t limit,
                                        reeve_limits **ret);
REEVE_API void reeve_limits_free(reeve_limits *limits);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_limit_sized(reeve_client *client, const char *queue, const reeve_limit_change *change,
                                         size_t change_size);
#define reeve_limit(...) reeve_limit_sized(__VA_ARGS__, sizeof(reeve_limit_change))

#ifdef __cplusplus
}
#endif
#endif
