/*
 * dead.h - dead letters, and bulk operations on tasks.
 *
 * A task dies when `attempts` of its attempts have failed, when its handler fails it for good, when it has crashed
 * max_crashes times, when it expires, or when the rule of a dependency lets it die (depend.h). It then is a dead
 * letter of its queue. The settings of the queue limit the age and the number of dead letters (reeve_queue_settings).
 * Dead letters can be listed by the kind of their last error. They can be retried or deleted, one by one (client.h) or
 * by a filter.
 *
 * Death callback: if `on_dead` is set, for a task or a queue, the death of a task enqueues another task in the same
 * queue, in the same atomic step. `on_dead` is the type of that task, the callback. Its payload describes the dead
 * task in JSON: {"queue":..,"id":..,"type":..,"kind":..,"message":..,"at":ms,"failures":n,"crashes":n}. The death of
 * a callback enqueues no further callback.
 */
#ifndef REEVE_DEAD_H
#define REEVE_DEAD_H

#include "client.h"
#include "search.h"

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

/* Gets a page of the kinds of errors of a queue's dead letters as one array, the most recent kind first. `limit` is at
 * most 1000; *ret_total is the number of kinds. Free the array with reeve_failures_free. */
REEVE_API reeve_status reeve_failures(reeve_client *client, const char *queue, uint64_t offset, size_t limit,
                                      reeve_failure **ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_failures_free(reeve_failure *list);

/* The dead letters of one type. */
typedef struct reeve_type_failure {
    char type[REEVE_TYPE_MAX + 1];
    uint64_t count;
    int64_t last_ms; /* when the latest of them died */
    char last_id[REEVE_ID_MAX];
    char last_kind[REEVE_KIND_MAX + 1];
    char last_message[REEVE_MESSAGE_MAX + 1];
} reeve_type_failure;

/* Counts a queue's dead letters by type, and returns one array of all types, the most frequent type first. The call
 * examines the latest `look` dead letters (0: all of them), in steps of one round trip each. *ret_seen, when not NULL,
 * is the number of those that it has examined. If a task dies during the call, it may be missing, or another task may
 * be counted twice. Free the array with reeve_type_failures_free. */
REEVE_API reeve_status reeve_failures_by_type(reeve_client *client, const char *queue, uint64_t look,
                                              reeve_type_failure **ret, size_t *ret_count, uint64_t *ret_seen);
REEVE_API void reeve_type_failures_free(reeve_type_failure *list);

/* As reeve_list for dead tasks, but only those of one kind of error. */
REEVE_API reeve_status reeve_list_kind(reeve_client *client, const char *queue, const char *kind, uint64_t offset,
                                       size_t limit, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);

/* What a bulk operation does to each task that its filter selects: as reeve_retry, reeve_cancel or reeve_delete. */
typedef enum reeve_action { REEVE_ACTION_RETRY = 0, REEVE_ACTION_CANCEL = 1, REEVE_ACTION_DELETE = 2 } reeve_action;

/* The numbers of tasks of a bulk operation, so far or in all. */
typedef struct reeve_bulk_result {
    uint64_t seen; /* tasks that were compared with the filter */
    uint64_t done; /* tasks that were retried, cancelled or deleted */
    /* Selected tasks that were not changed, because another task holds their unique key, because other tasks depend on
     * them, or because they are malformed and were to be retried. */
    uint64_t refused;
} reeve_bulk_result;

/*
 * Retries, cancels or deletes the tasks that a filter selects (search.h): all of them, or the first `limit` of them.
 * The call works in steps of one round trip each, so that Redis serves other clients in between. It does not change
 * tasks that enter the state after its start. After each step it calls `progress` on this thread, if that is not NULL.
 * If `progress` returns false, or another thread calls reeve_client_interrupt (inspect.h), the call ends with
 * REEVE_EINTERRUPTED. *ret, when not NULL, has the totals, also after a failure; a step whose reply was lost is not
 * counted. Retry is for dead, cancelled and scheduled tasks; cancel is for blocked, scheduled, ready and parked tasks;
 * delete is for all but running tasks. REEVE_EINVAL: the filter is not valid, or the action is not for its state.
 */
REEVE_API reeve_status reeve_bulk_update(reeve_client *client, const char *queue, reeve_action action,
                                         const reeve_filter *filter,
                                         bool (*progress)(const reeve_bulk_result *swept, void *user), void *user,
                                         reeve_bulk_result *ret);

#define REEVE_PREVIEW_MAX 10

/*
 * Counts the tasks that reeve_bulk_update would change, and changes nothing. ret->seen is the number of tasks that were
 * compared with the filter, and ret->done the number of those that it selects. reeve_bulk_update can still refuse some
 * of them. ret_ids, when not NULL, receives the ids of the first selected tasks, at most REEVE_PREVIEW_MAX, and
 * *ret_count their number. The call works in steps of one round trip each, and another thread can interrupt it. It
 * returns the errors of reeve_bulk_update.
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
