/*
 * limits.h - how many tasks of a queue, or of a group in it, run at once over all workers, how many start in a period,
 * and before when none starts.
 *
 * Limits can be changed at any time and are in force at once, for all workers, whoever set them. Nothing polls while
 * one holds: the end of a task, or the time at which the limit opens, wakes who waits. A group at its limit never
 * blocks others: its tasks are parked (state "parked") until there is room. A queue without limits pays nothing for
 * them.
 *
 * A task holds its place from its lease until its outcome is accepted, its worker's session has expired, or its run
 * time limit has passed: it is taken away from its handler then, and one that goes on all the same no longer holds its
 * group's place, so that it may run beside the next task, whatever the concurrency. Handlers ask
 * reeve_task_should_stop.
 *
 * A serial group (concurrency 1) runs its tasks one after the other, in order, as long as each completes at its first attempt:
 * a task that waits for another attempt holds nobody up. A strict group waits for it: while a task that has started waits for
 * another attempt, is snoozed, given back, recovered from a crash or blocked, no other task of its group starts, until it has
 * completed, died, or was cancelled or deleted. It counts as running in that time.
 *
 * Calls block for one round trip (or what their comment says) and are for one thread at a time, as all of client.h.
 */
#ifndef REEVE_LIMITS_H
#define REEVE_LIMITS_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose limit. */
typedef enum reeve_limit_of {
    REEVE_LIMIT_QUEUE = 0,  /* of all tasks of the queue together */
    REEVE_LIMIT_GROUPS = 1, /* of each group that has no limit of its own */
    REEVE_LIMIT_GROUP = 2   /* of one group */
} reeve_limit_of;

typedef struct reeve_limit_change {
    size_t size; /* sizeof(reeve_limit_change), or 0 */
    reeve_limit_of of;
    const char *group; /* with REEVE_LIMIT_GROUP */
    /* So many run at once; 0: leave as is; -1: any number. 1 for a group makes it serial, in order. */
    int64_t concurrency;
    const reeve_rate *rate; /* NULL: leave as is; a count of 0: any rate */
    bool forget;            /* REEVE_LIMIT_GROUP: it has no limits of its own any more, those of all groups hold */
    /* Of groups: 1: strict, one task at a time, whatever the concurrency; 0: leave as is; -1: not strict. Tasks that wait for
     * another attempt do not hold their groups up any more then. */
    int strict;
} reeve_limit_change;

/*
 * Changes limits. When a group's concurrency is limited for the first time in a queue, running tasks are counted first,
 * in some round trips. REEVE_EINVAL: a number or name.
 */
REEVE_API reeve_status reeve_limit(reeve_client *client, const char *queue, const reeve_limit_change *change);

/*
 * For delay_ms from now no task of the queue, or of a group in it (NULL: the queue), starts; 0 ends a hold.
 * *ret_until_ms, when not NULL, receives when it ends, or 0.
 */
REEVE_API reeve_status reeve_hold(reeve_client *client, const char *queue, const char *group, int64_t delay_ms,
                                  int64_t *ret_until_ms);

/* A group that has limits of its own, a hold, or parked tasks. */
typedef struct reeve_group_limits {
    char group[REEVE_GROUP_MAX + 1];
    int64_t concurrency; /* its own; 0: those of all groups; -1: none */
    reeve_rate rate;     /* its own; count 0: that of all groups; -1: none */
    int64_t hold_ms;     /* not before, since the epoch; 0: no hold */
    uint64_t running;    /* counted only while groups' concurrency is limited */
    uint64_t parked;
    int strict; /* its own: 1: it is, -1: it is not; 0: as all groups */
} reeve_group_limits;

typedef struct reeve_limits {
    int64_t concurrency; /* 0: none */
    reeve_rate rate;     /* count 0: none */
    int64_t hold_ms;     /* not before, since the epoch; 0: no hold */
    int64_t running;     /* counted while concurrency is limited; else -1 */
    int64_t group_concurrency;
    reeve_rate group_rate;
    uint64_t group_total; /* groups with something to tell; of thousands, an upper bound */
    reeve_group_limits *groups;
    size_t group_count;
    bool group_strict;
    uint64_t next; /* the offset of the next page; 0: this is the last one */
} reeve_limits;

/* The limits of a queue, and of up to `limit` (at most 1000) of its groups from `offset` on: 0, or `next` of the page before.
 * Groups come by name; in a queue with thousands of them those with own limits come first, by name, then those with a hold,
 * then those with parked tasks, and a page may have fewer groups than `limit`, or none, though `next` says that more follow.
 * Free with reeve_limits_free. */
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
