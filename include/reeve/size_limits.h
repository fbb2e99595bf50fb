/*
 * size_limits.h - size limits for the tasks that a client enqueues, and for results, checkpoints and chained tasks of
 * a worker's handlers.
 *
 * Each size limit has a default, and a maximum. If a value exceeds a limit, the call sends nothing and fails with
 * REEVE_ETOOBIG. The message names the value, its size, the limit, and the setting that raises the limit. The limits
 * of a producer are those of its client (reeve_client_options.size_limits); the `reeve` command takes them from its
 * option --size-limit, else from the environment variable REEVE_SIZE_LIMITS. The limits of handlers, for results,
 * checkpoints and chained tasks, are those of the worker (reeve_worker_options.size_limits, or `worker = {
 * size_limits = { ... }; }` in its configuration).
 */
#ifndef REEVE_SIZE_LIMITS_H
#define REEVE_SIZE_LIMITS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Defaults of `parents` and `batch`; the default of every other limit is its maximum. */
#define REEVE_SIZE_LIMIT_PARENTS 1000000
#define REEVE_SIZE_LIMIT_BATCH 1000000
#define REEVE_SIZE_LIMIT_COUNT_MAX 1000000000 /* maximum of `parents` and `batch` */

/* Zero selects the default. Lengths are in bytes. */
typedef struct reeve_size_limits {
    int64_t payload; /* length of a payload; maximum REEVE_PAYLOAD_MAX */
    int64_t result;  /* length of a result; maximum REEVE_RESULT_MAX; workers only. A queue may set less (result_max) */
    int64_t checkpoint; /* length of a checkpoint; maximum REEVE_CHECKPOINT_MAX; workers only */
    int64_t meta;       /* length of a task's tags and metadata as JSON; maximum REEVE_META_MAX */
    int64_t type;       /* length of a type; maximum REEVE_TYPE_MAX */
    int64_t id;         /* length of an id that a producer chose; maximum REEVE_ID_LENGTH_MAX */
    int64_t group;      /* length of a group name; maximum REEVE_GROUP_MAX */
    int64_t unique;     /* length of a unique key; maximum REEVE_UNIQUE_MAX */
    int64_t tag;        /* length of a tag; maximum REEVE_TAG_MAX */
    int64_t tags;       /* number of tags of a task; maximum REEVE_TAGS_MAX */
    /* Number of parents of a task, and of members of a task batch (depend.h). Default: REEVE_SIZE_LIMIT_PARENTS. */
    int64_t parents;
    /* Clients: number of tasks in one call of reeve_enqueue_many or reeve_batch_add; default: REEVE_SIZE_LIMIT_BATCH.
     * Workers: number of tasks that one task chains; maximum REEVE_CHAIN_MAX. The number of tasks in one call of a
     * batch handler is another setting, `batch_size` of reeve_handler. */
    int64_t batch;
} reeve_size_limits;

#ifdef __cplusplus
}
#endif
#endif
