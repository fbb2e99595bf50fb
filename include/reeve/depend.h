/*
 * depend.h - tasks that wait for others: edges between tasks, chains and batches.
 *
 * A task that was enqueued with parents (reeve_task_spec.after) is blocked until all of them have ended; then it is
 * ready, or scheduled if its time is later. Parents may be in any queues. Each edge says what happens when that parent
 * dies (reeve_on_parent_death).
 *
 * A parent of which its queue knows nothing is refused, unless its edge says otherwise (reeve_unknown_parent), so enqueue
 * parents first: either it was never enqueued, or it was and its record is gone. The second counts as completed where it
 * can be told apart: the id is a UUIDv7 (those that reeve makes) from before the oldest completed task that the queue
 * still keeps, or the queue keeps none. Ids of other forms do not say when they were made; where such a parent may have
 * completed long ago, say REEVE_UNKNOWN_COMPLETED. A record that was deleted by hand counts as never enqueued. In the
 * same queue the call is refused (REEVE_ENOTFOUND), and nothing is done. In another queue that is found out only when
 * the message about the edge comes there: then the child dies, of kind "unknown_parent". (So does a task that was handed
 * on with such a parent, since nobody would hear of a refusal.)
 *
 * A task that is retried, or cancelled and retried, waits again for its parents that have not completed; also for those
 * that have died, as they may be retried, too, and not for those that are gone.
 *
 * Where a parent is in another queue, its queue and the child's exchange messages. Workers carry these, and so does the
 * client that makes the edge, at once; what is lost on the way is carried again, and counts once.
 */
#ifndef REEVE_DEPEND_H
#define REEVE_DEPEND_H

#include "client.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As many parents a task takes in one call; reeve_enqueue and reeve_depend with more make several, reeve_enqueue_many
 * refuses it. A task may have as many parents as guards.parents says (guards.h), and any number of children. */
#define REEVE_PARENTS_MAX 1000

/*
 * A parent that is none: what waits for it waits until it is taken away by reeve_undepend. It holds a task back while
 * its parents are still being named. reeve_enqueue uses it for more than REEVE_PARENTS_MAX parents: a producer that
 * dies in the middle leaves the task blocked, with this parent; enqueue it again with the same id, type, payload and
 * parents, and it is carried on with (REEVE_OK), or delete it. One that fails in the middle takes the task back; where it
 * cannot, it ends with REEVE_ELOST and words that name the task.
 */
#define REEVE_PARENT_OPEN "!"

/* ---- edges ----------------------------------------------------------------------------------------------------- */

/*
 * A waiting task (blocked, ready, scheduled, parked) waits for these, too. One that has already died decides at once,
 * by the edge's policy. Edges that are there stay as they are; REEVE_PARENT_DEATH is for blocked tasks alone. In steps
 * of REEVE_PARENTS_MAX; after an error some may have been made. REEVE_EINVAL: a handle, or the task itself.
 * REEVE_ETOOBIG: with these it has more parents than guards.parents. REEVE_ENOTFOUND, REEVE_ESTATE: it runs or has
 * ended. That tasks wait for one another in a circle is not found out: they stay blocked.
 */
REEVE_API reeve_status reeve_depend(reeve_client *client, const char *queue, const char *id,
                                    const reeve_parent *parents, size_t count);

/* A blocked task does not wait for these any more; edges that are not there are no error. Errors as above. */
REEVE_API reeve_status reeve_undepend(reeve_client *client, const char *queue, const char *id,
                                      const char *const *handles, size_t count);

/*
 * reeve_cancel and reeve_delete refuse a task for which others wait (REEVE_ESTATE; the words say how many). These
 * cancel the others with it, and those that wait for them in turn, also in other queues: some 10,000 before the call
 * returns, in several round trips; workers, or whoever maintains the queues, do the same with what is left.
 */
REEVE_API reeve_status reeve_cancel_cascade(reeve_client *client, const char *queue, const char *id);
REEVE_API reeve_status reeve_delete_cascade(reeve_client *client, const char *queue, const char *id);

/* ---- batches --------------------------------------------------------------------------------------------------- */

/*
 * A batch is a set of tasks and up to two that wait for it: `complete` becomes ready when all of the batch have ended,
 * however; `death` when the first of them dies or is cancelled or deleted, and is removed when all have ended without
 * that. Both are ordinary tasks, blocked until then, and read the members as their parents.
 *
 *     reeve_batch batch;
 *     reeve_batch_open(client, &batch, &complete, NULL);
 *     reeve_batch_add(client, &batch, specs, count, results);      as often as need be
 *     reeve_batch_close(client, &batch);
 *
 * Until it is closed the callbacks wait even if all members have ended (REEVE_PARENT_OPEN). A producer that dies in the
 * middle leaves the members that it enqueued, which run, and the callbacks, blocked: whoever knows their handles may
 * add the rest and close the batch, or delete them. Members that it was about to enqueue then are waited for:
 * reeve_undepend takes them away.
 */
typedef struct reeve_batch {
    char complete[REEVE_HANDLE_MAX]; /* handles; "": none */
    char death[REEVE_HANDLE_MAX];
} reeve_batch;

/* Enqueues the callbacks; either may be NULL. Their `after` may name further parents. Errors as reeve_enqueue. */
REEVE_API reeve_status reeve_batch_open(reeve_client *client, reeve_batch *ret, const reeve_task_spec *complete,
                                        const reeve_task_spec *death);

/*
 * Adds members to the batch, then enqueues them, as reeve_enqueue_many: so none of them can end unseen, even where no
 * record of it is kept. Those that are refused leave the batch again; a task that is there already (REEVE_EEXISTS) is a
 * member, so that a call can be repeated with the same ids. REEVE_ETOOBIG: too many in one call, or with those before
 * (guards.parents); nothing was sent (no result is REEVE_OK). After REEVE_ELOST, REEVE_ETIMEOUT or REEVE_ECONNECT of some
 * the batch waits for them: repeat them with their ids, or take them away by reeve_undepend.
 */
REEVE_API reeve_status reeve_batch_add(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *specs,
                                       size_t count, reeve_enqueued *ret_results);

/* Adds tasks that are there already. One that is not known counts as completed. */
REEVE_API reeve_status reeve_batch_add_tasks(reeve_client *client, const reeve_batch *batch, const char *const *handles,
                                             size_t count);

/* All members are named. A second call does nothing. */
REEVE_API reeve_status reeve_batch_close(reeve_client *client, const reeve_batch *batch);

/* ---- in a handler ---------------------------------------------------------------------------------------------- */

/* A parent of the task that runs. */
typedef struct reeve_task_parent {
    const char *handle;
    const char *ended; /* "completed", "dead", "cancelled" (also: deleted), or "" when it had not ended */
} reeve_task_parent;

/*
 * The task's parents, in the order in which they were given. Round trips on the thread's connection at the first call,
 * in pages; memory belongs to the task. REEVE_ELOST, REEVE_EREDIS, REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_task_parents(reeve_task *task, const reeve_task_parent **ret, size_t *ret_count);

/*
 * The result of a parent, or of any task by its handle: one round trip. *ret (data NULL: none was recorded, or its
 * record is not kept any more) lives until the next such call or the end of the handler. A parent's record is kept until
 * the task has ended, whatever its queue's retention says; a task that runs at most once has ended when it begins, so
 * that the retention holds for its parents. REEVE_EINVAL: no handle.
 */
REEVE_API reeve_status reeve_task_parent_result(reeve_task *task, const char *handle, reeve_bytes *ret);

/* At most so many tasks are handed on by one, unless the worker's guards.batch is less, and so many bytes of payload.
 */
#define REEVE_HAND_ON_MAX 1000
#define REEVE_HAND_ON_BYTES_MAX (16u * 1024 * 1024)

/*
 * Chains: the task hands on another one, of any queue, which is enqueued in the very step in which this one is
 * completed, and not at all if it is not: when it fails, is given back, or its completion is refused. ret_id (may be
 * NULL) has its id, made now unless the spec has one; one that is taken by then is left alone. In another queue, with a
 * unique key or with parents it comes a moment later, by message; then one whose key is held is not enqueued, and
 * nobody hears of it. No I/O. REEVE_EINVAL, REEVE_ETOOBIG, REEVE_ENOMEM; reeve_task_call_error has words.
 * REEVE_EREFUSED: the task runs at most once, and was completed before it ran.
 */
REEVE_API reeve_status reeve_task_hand_on(reeve_task *task, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX]);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_batch_open_sized(reeve_client *client, reeve_batch *ret, const reeve_task_spec *complete,
                                              const reeve_task_spec *death, size_t spec_size);
#define reeve_batch_open(...) reeve_batch_open_sized(__VA_ARGS__, sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_batch_add_sized(reeve_client *client, const reeve_batch *batch,
                                             const reeve_task_spec *specs, size_t count, reeve_enqueued *ret_results,
                                             size_t spec_size);
#define reeve_batch_add(...) reeve_batch_add_sized(__VA_ARGS__, sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_task_hand_on_sized(reeve_task *task, const reeve_task_spec *spec,
                                                char ret_id[REEVE_ID_MAX], size_t spec_size);
#define reeve_task_hand_on(...) reeve_task_hand_on_sized(__VA_ARGS__, sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif
#endif
