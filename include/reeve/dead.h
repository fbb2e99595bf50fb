/*
 * dead.h - what becomes of tasks that failed for good; and what is done to many tasks at once.
 *
 * A task that fails past its attempts, for good, or by crashing its workers goes to its queue's dead letters. They are
 * kept by age and count (reeve_queue_settings), can be listed by the kind of error that they died of, and be retried or
 * deleted one by one (client.h) or many by a filter.
 *
 * on_dead, of a task or of a queue, is the type of a task that is enqueued in the same queue, atomically with the
 * death. Its payload is JSON: {"queue":..,"id":..,"type":..,"kind":..,"message":..,"at":ms,"failures":n,"crashes":n} of
 * the dead one. The death of such a task enqueues no other.
 */
#ifndef REEVE_DEAD_H
#define REEVE_DEAD_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dead tasks of one kind of error. */
typedef struct reeve_failure {
    char kind[REEVE_KIND_MAX + 1];
    uint64_t count;
    int64_t last_ms; /* when the last one died */
    char last_id[REEVE_ID_MAX];
    char last_type[REEVE_TYPE_MAX + 1];
    char last_message[REEVE_MESSAGE_MAX + 1];
} reeve_failure;

/* A page of the kinds among a queue's dead letters, the one seen last first; *ret_total: how many kinds. limit is at
 * most 1000. One array, freed with reeve_failures_free. */
REEVE_API reeve_status reeve_failures(reeve_client *client, const char *queue, uint64_t offset, size_t limit,
                                      reeve_failure **ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_failures_free(reeve_failure *list);

/* As reeve_list of the dead ones, only those of a kind. */
REEVE_API reeve_status reeve_list_kind(reeve_client *client, const char *queue, const char *kind, uint64_t offset,
                                       size_t limit, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);

/* Which tasks of a queue: those in a state that everything else here fits. */
typedef struct reeve_filter {
    size_t size;       /* sizeof(reeve_filter), or 0 */
    reeve_state state; /* blocked, scheduled, ready, parked, completed, dead, cancelled */
    const char *kind;  /* dead: the kind of error they died of; NULL: any */
    const char *type;  /* NULL: any */
    const char *tag;   /* NULL: any */
    int64_t older_ms;  /* ended at least so long ago, enqueued so long ago when they wait; 0: any */
} reeve_filter;

typedef enum reeve_action { REEVE_ACTION_RETRY = 0, REEVE_ACTION_CANCEL = 1, REEVE_ACTION_DELETE = 2 } reeve_action;

typedef struct reeve_swept {
    uint64_t seen; /* looked at */
    uint64_t done;
    uint64_t refused; /* a unique key is held by another task by now, or others wait for it */
} reeve_swept;

/*
 * Retries, cancels or deletes all tasks of a queue that a filter picks, in bounded steps: others are served in between.
 * Tasks that come to the state meanwhile are left alone. progress, when not NULL, is called after each step, on this
 * thread; false from it ends the sweep (REEVE_EINTERRUPTED). *ret, when not NULL, has what was done, also on failure;
 * what a step did whose reply was lost is not in it. Blocks for a round trip a step. REEVE_EINVAL: the filter or what
 * is to be done does not fit the state: retry takes dead, cancelled and scheduled tasks, cancel those that wait, delete
 * any but running ones.
 */
REEVE_API reeve_status reeve_sweep(reeve_client *client, const char *queue, reeve_action action,
                                   const reeve_filter *filter, bool (*progress)(const reeve_swept *swept, void *user),
                                   void *user, reeve_swept *ret);

#define REEVE_PREVIEW_MAX 10

/*
 * What a sweep with this filter would be about, with nothing done: *ret->done says how many tasks fit the filter, of
 * ret->seen; whether each of them could be retried, cancelled or deleted is not asked. ret_ids, when not NULL, receives
 * the ids of the first of them, at most REEVE_PREVIEW_MAX, and *ret_count how many these are. Blocks for a round trip a
 * step. Errors as of reeve_sweep.
 */
REEVE_API reeve_status reeve_sweep_preview(reeve_client *client, const char *queue, reeve_action action,
                                           const reeve_filter *filter, reeve_swept *ret, char (*ret_ids)[REEVE_ID_MAX],
                                           size_t *ret_count);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_sweep_sized(reeve_client *client, const char *queue, reeve_action action,
                                         const reeve_filter *filter,
                                         bool (*progress)(const reeve_swept *swept, void *user), void *user,
                                         reeve_swept *ret, size_t filter_size);
#define reeve_sweep(...) reeve_sweep_sized(__VA_ARGS__, sizeof(reeve_filter))
REEVE_API reeve_status reeve_sweep_preview_sized(reeve_client *client, const char *queue, reeve_action action,
                                                 const reeve_filter *filter, reeve_swept *ret,
                                                 char (*ret_ids)[REEVE_ID_MAX], size_t *ret_count, size_t filter_size);
#define reeve_sweep_preview(...) reeve_sweep_preview_sized(__VA_ARGS__, sizeof(reeve_filter))

#ifdef __cplusplus
}
#endif
#endif
