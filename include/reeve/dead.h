/*
 * dead.h - dead letters, and bulk operations on tasks.
 *
 * A task dies, and becomes a dead letter of its queue, when as many attempts have failed as `attempts` allows, when
 * its handler fails it for good, when it has crashed its workers max_crashes times, or when it expires. Dead letters
 * are kept by age and count (reeve_queue_settings). They can be listed by the kind of their last error, and retried or
 * deleted: single ones by client.h, many by a filter.
 *
 * Death callback: `on_dead`, of a task or of a queue, is the type of a task that is enqueued in the same queue,
 * atomically with the death. Its payload describes the dead task in JSON:
 * {"queue":..,"id":..,"type":..,"kind":..,"message":..,"at":ms,"failures":n,"crashes":n}. The death of a callback
 * enqueues no further one.
 */
#ifndef REEVE_DEAD_H
#define REEVE_DEAD_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dead letters of one kind of error. */
typedef struct reeve_failure {
    char kind[REEVE_KIND_MAX + 1];
    uint64_t count;
    int64_t last_ms; /* when the latest of them died */
    char last_id[REEVE_ID_MAX];
    char last_type[REEVE_TYPE_MAX + 1];
    char last_message[REEVE_MESSAGE_MAX + 1];
} reeve_failure;

/* Gets a page of the error kinds among a queue's dead letters, the most recent first, as one array. `limit` is at
 * most 1000; *ret_total is the number of kinds. Free the array with reeve_failures_free. */
REEVE_API reeve_status reeve_failures(reeve_client *client, const char *queue, uint64_t offset, size_t limit,
                                      reeve_failure **ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_failures_free(reeve_failure *list);

/* As reeve_list for dead tasks, but only those of one kind of error. */
REEVE_API reeve_status reeve_list_kind(reeve_client *client, const char *queue, const char *kind, uint64_t offset,
                                       size_t limit, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);

/* A filter selects those tasks of a queue that are in the state and match all other fields. */
typedef struct reeve_filter {
    size_t size;       /* sizeof(reeve_filter), or 0 */
    reeve_state state; /* blocked, scheduled, ready, parked, completed, dead or cancelled */
    const char *kind;  /* dead tasks: kind of their last error; NULL: any */
    const char *type;  /* NULL: any */
    const char *tag;   /* NULL: any */
    int64_t older_ms;  /* at least so long ago ended or, for waiting tasks, enqueued; 0: any */
} reeve_filter;

typedef enum reeve_action { REEVE_ACTION_RETRY = 0, REEVE_ACTION_CANCEL = 1, REEVE_ACTION_DELETE = 2 } reeve_action;

typedef struct reeve_bulk_result {
    uint64_t seen; /* tasks that were compared with the filter */
    uint64_t done; /* tasks that were retried, cancelled or deleted */
    uint64_t
        refused; /* selected tasks that were not: another task now holds their unique key, or others depend on them */
} reeve_bulk_result;

/*
 * Retries, cancels or deletes all tasks that a filter selects, in bounded steps of one round trip each, between which
 * Redis serves others. Tasks that enter the state after the start are not touched. `progress`, when not NULL, is
 * called after each step on this thread; when it returns false, the call ends with REEVE_EINTERRUPTED. *ret, when not
 * NULL, has the totals, also after a failure; a step whose reply was lost is not counted. REEVE_EINVAL: the filter is
 * not valid, or the action is not for this state. Retry is for dead, cancelled and scheduled tasks; cancel for
 * blocked, scheduled, ready and parked ones; delete for all but running ones.
 */
REEVE_API reeve_status reeve_bulk_update(reeve_client *client, const char *queue, reeve_action action,
                                         const reeve_filter *filter,
                                         bool (*progress)(const reeve_bulk_result *swept, void *user), void *user,
                                         reeve_bulk_result *ret);

#define REEVE_PREVIEW_MAX 10

/*
 * Counts the tasks that reeve_bulk_update would act on, and changes nothing: ret->done is the number of tasks that the
 * filter selects, of ret->seen. Refusals of single tasks are not predicted. ret_ids, when not NULL, receives the ids
 * of the first ones, at most REEVE_PREVIEW_MAX, and *ret_count their number. Blocks for one round trip a step. Errors
 * as of reeve_bulk_update.
 */
REEVE_API reeve_status reeve_bulk_update_preview(reeve_client *client, const char *queue, reeve_action action,
                                                 const reeve_filter *filter, reeve_bulk_result *ret,
                                                 char (*ret_ids)[REEVE_ID_MAX], size_t *ret_count);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_bulk_update_sized(reeve_client *client, const char *queue, reeve_action action,
                                               const reeve_filter *filter,
                                               bool (*progress)(const reeve_bulk_result *swept, void *user), void *user,
                                               reeve_bulk_result *ret, size_t filter_size);
#define reeve_bulk_update(...) reeve_bulk_update_sized(__VA_ARGS__, sizeof(reeve_filter))
REEVE_API reeve_status reeve_bulk_update_preview_sized(reeve_client *client, const char *queue, reeve_action action,
                                                       const reeve_filter *filter, reeve_bulk_result *ret,
                                                       char (*ret_ids)[REEVE_ID_MAX], size_t *ret_count,
                                                       size_t filter_size);
#define reeve_bulk_update_preview(...) reeve_bulk_update_preview_sized(__VA_ARGS__, sizeof(reeve_filter))

#ifdef __cplusplus
}
#endif
#endif
