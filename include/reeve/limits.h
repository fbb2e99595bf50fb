/*
 * limits.h - limits over all workers: how many tasks of a queue or a group run at once, how many start in a period; and
 * pauses of a queue or a group for a time.
 *
 * A change is in force at once for all workers. Nothing polls while a limit is reached: the end of a task, or the
 * time at which the limit allows the next start, wakes a thread. A group at its limit does not delay other groups:
 * its tasks are parked (state "parked") until they may start. A queue without limits has no cost for this.
 *
 * A task counts as running from its lease until its outcome is accepted, its worker's session has expired, or its run
 * time limit has passed. A handler that continues after its run time limit therefore runs beside the next task of its
 * group, even with a concurrency of 1; handlers should poll reeve_task_should_stop.
 *
 * Serial groups: with a concurrency of 1, tasks of a group run one at a time and in order while none fails. A task
 * that waits for a retry does not hold up those behind it. Strict groups do wait: after a task has started, no other
 * task of its group starts until that task has completed, died, or was cancelled or deleted, also while it waits for
 * a retry, is snoozed, given back, recovered from a crash, or blocked. It counts as running for that time.
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
    REEVE_LIMIT_GROUPS = 1, /* each group that has no limit of its own */
    REEVE_LIMIT_GROUP = 2   /* one group */
} reeve_limit_of;

typedef struct reeve_limit_change {
    size_t size; /* sizeof(reeve_limit_change), or 0 */
    reeve_limit_of of;
    const char *group; /* with REEVE_LIMIT_GROUP */
    /* Maximum of running tasks; 0: leave as is; -1: no limit. With 1, a group is serial. */
    int64_t concurrency;
    const reeve_rate *rate; /* NULL: leave as is; a count of 0: no limit */
    bool forget;            /* REEVE_LIMIT_GROUP: remove the group's own limits, so that those of all groups apply */
    /* Groups only: 1: strict, one task at a time, whatever the concurrency; 0: leave as is; -1: not strict, so that
     * tasks that wait for a retry no longer hold up their groups. */
    int strict;
} reeve_limit_change;

/*
 * Changes limits. The first limit of a group's concurrency in a queue counts the running tasks, which takes several
 * round trips. REEVE_EINVAL: a number or a name is not valid.
 */
REEVE_API reeve_status reeve_limit(reeve_client *client, const char *queue, const reeve_limit_change *change);

/*
 * Pauses a group for delay_ms: from now no task of it starts; group NULL: no task of the queue. A delay of 0 ends the
 * pause. *ret_until_ms, when not NULL, is the time when the pause ends, or 0. reeve_pause is another pause, which lasts
 * until reeve_resume.
 */
REEVE_API reeve_status reeve_pause_for(reeve_client *client, const char *queue, const char *group, int64_t delay_ms,
                                       int64_t *ret_until_ms);

/* A group with limits of its own, a pause, or parked tasks. */
typedef struct reeve_group_limits {
    char group[REEVE_GROUP_MAX + 1];
    int64_t concurrency;    /* its own limit; 0: that of all groups applies; -1: no limit */
    reeve_rate rate;        /* its own limit; count 0: that of all groups applies; count -1: no limit */
    int64_t pause_until_ms; /* end of its pause; 0: not paused for a time */
    uint64_t running;       /* running tasks; counted only while a concurrency of groups is limited */
    uint64_t parked;
    int strict; /* its own setting: 1: strict; -1: not strict; 0: that of all groups applies */
} reeve_group_limits;

typedef struct reeve_limits {
    int64_t concurrency;       /* of the queue; 0: no limit */
    reeve_rate rate;           /* of the queue; count 0: no limit */
    int64_t pause_until_ms;    /* end of the queue's pause; 0: not paused for a time */
    int64_t running;           /* running tasks; -1: not counted, because the concurrency is not limited */
    int64_t group_concurrency; /* of all groups; 0: no limit */
    reeve_rate group_rate;     /* of all groups; count 0: no limit */
    uint64_t group_total;      /* groups with limits, a pause or parked tasks; an upper bound if there are thousands */
    reeve_group_limits *groups;
    size_t group_count;
    bool group_strict; /* of all groups */
    uint64_t next;     /* offset of the next page; 0: this is the last page */
} reeve_limits;

/*
 * Gets the limits of a queue, and a page of up to `limit` (at most 1000) of its groups. offset: 0, or `next` of the
 * previous page. Groups are ordered by name. In a queue with thousands of groups, those with own limits come first,
 * by name, then those with a pause, then those with parked tasks; a page can then be shorter than `limit`, or empty,
 * though `next` is not 0. Free *ret with reeve_limits_free.
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
