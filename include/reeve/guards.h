/*
 * guards.h - how large things may be: what a client enqueues, and what a worker's handlers give back.
 *
 * Each guard has a standard, which holds where nothing is said, and a maximum that no setting exceeds. What goes beyond
 * a guard is refused with REEVE_ETOOBIG before anything is sent, and the error's words name the thing, its size, the
 * limit, and the guard that raises it. A guard is said to a client (reeve_client_options.guards), to a worker
 * (reeve_worker_options.guards, `worker = { guards = { ... }; }` in its configuration), or to `reeve` (--guard, and
 * REEVE_GUARDS in its environment): the producer's hold for what it enqueues, the worker's for what its handlers hand
 * on, leave and give back. They cost nothing.
 */
#ifndef REEVE_GUARDS_H
#define REEVE_GUARDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The standards of those guards whose maximum is higher; the others' standards are their maxima, of task.h. */
#define REEVE_GUARD_PARENTS 1000000
#define REEVE_GUARD_BATCH 1000000
#define REEVE_GUARD_COUNT_MAX 1000000000 /* the maximum of these */

/* Zero is the standard. Lengths count bytes. */
typedef struct reeve_guards {
    int64_t payload;    /* a payload; at most REEVE_PAYLOAD_MAX */
    int64_t result;     /* a result; at most REEVE_RESULT_MAX. Of a worker; a queue may say less (result_max) */
    int64_t checkpoint; /* a checkpoint; at most REEVE_CHECKPOINT_MAX. Of a worker */
    int64_t meta;       /* tags and metadata of a task together; at most REEVE_META_MAX */
    int64_t type;       /* a type; at most REEVE_TYPE_MAX */
    int64_t id;         /* an id that a producer chose; at most REEVE_ID_LENGTH_MAX */
    int64_t group;      /* a group's name; at most REEVE_GROUP_MAX */
    int64_t unique;     /* a unique key; at most REEVE_UNIQUE_MAX */
    int64_t tag;        /* a tag; at most REEVE_TAG_MAX */
    int64_t tags;       /* tags of a task, their number; at most REEVE_TAGS_MAX */
    /* How many parents a task has, and so how many members a batch (depend.h). Standard: REEVE_GUARD_PARENTS. */
    int64_t parents;
    /* Tasks in one call: of reeve_enqueue_many, reeve_batch_add; standard: REEVE_GUARD_BATCH. Of a worker: tasks that
     * one hands on; at most REEVE_HAND_ON_MAX. (How many a handler with run_many gets is its own setting, many.) */
    int64_t batch;
} reeve_guards;

#ifdef __cplusplus
}
#endif
#endif
