/*
 * depend.h - dependencies between tasks: parents and children, batches, chains.
 *
 * A task that was enqueued with parents (reeve_task_spec.after) is blocked until all of them have ended. It is then
 * ready, or scheduled if its time is later. Parents may be in any queues. Each dependency says what happens if its
 * parent dies (reeve_on_parent_death).
 *
 * Unknown parents: a parent must exist when the child is enqueued, unless its dependency says otherwise
 * (reeve_unknown_parent). If there is no task and no record with the handle, the parent either never existed or
 * completed so long ago that its record is gone. reeve takes it as completed when it can tell that: the id is a
 * UUIDv7, as reeve makes them, and older than the oldest completed task whose record the queue keeps, or the queue
 * keeps no completed tasks. Ids of other forms have no time; use REEVE_UNKNOWN_COMPLETED for them where a parent may
 * have completed long ago. Otherwise the parent counts as unknown, also when its record was deleted by hand. In the
 * same queue, the call then fails with REEVE_ENOTFOUND and changes nothing. In another queue, this is found out
 * later, and the child dies with kind "unknown_parent", as does a chained task (reeve_task_chain) with an unknown
 * parent.
 *
 * Retries: a task that is retried waits again for all parents that have not completed. That includes dead parents,
 * which can be retried as well, but not deleted ones.
 *
 * Parents in other queues: the two queues exchange messages. The client that makes the dependency tries to deliver
 * them at once; otherwise workers do. A lost message is sent again, and has an effect only once.
 */
#ifndef REEVE_DEPEND_H
#define REEVE_DEPEND_H

#include "client.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum of parents in one call to Redis. reeve_enqueue and reeve_add_dependency make several calls for more of them;
 * reeve_enqueue_many refuses such a task. In all, a task can have size_limits.parents parents (size_limits.h) and any
 * number of children. */
#define REEVE_PARENTS_MAX 1000

/*
 * A placeholder parent: the child stays blocked until reeve_remove_dependency removes the placeholder, so that more
 * parents can be added meanwhile. reeve_enqueue uses it for a task with more than REEVE_PARENTS_MAX parents. A producer
 * that dies during such a call leaves the task blocked with the placeholder: enqueue it again with the same id, type,
 * payload and parents, which completes it (REEVE_OK), or delete it. A call that fails deletes the task again; if it
 * cannot, it ends with REEVE_ELOST, and the message names the task.
 */
#define REEVE_PARENT_OPEN "!"

/* ---- dependencies ---------------------------------------------------------------------------------------------- */

/*
 * Adds parents to a waiting task (blocked, ready, scheduled, parked), in steps of REEVE_PARENTS_MAX, of one round
 * trip each. A parent that has already died takes effect at once (reeve_on_parent_death). Dependencies that exist
 * stay as they are. REEVE_PARENT_DEATH is allowed for blocked tasks only. Circular dependencies are not detected:
 * their tasks stay blocked. After an error, the parents of some steps may have been added.
 *
 *   REEVE_EINVAL      a handle is not valid, or is that of the task itself
 *   REEVE_ETOOBIG     the task would have more parents than size_limits.parents
 *   REEVE_ENOTFOUND   there is no such task, or a parent in the same queue is unknown
 *   REEVE_ESTATE      the task is running or has ended
 */
REEVE_API reeve_status reeve_add_dependency(reeve_client *client, const char *queue, const char *id,
                                            const reeve_parent *parents, size_t count);

/* Removes parents of a blocked task. Handles that are not its parents are ignored. Errors as of
 * reeve_add_dependency. */
REEVE_API reeve_status reeve_remove_dependency(reeve_client *client, const char *queue, const char *id,
                                               const char *const *handles, size_t count);

/*
 * reeve_cancel and reeve_delete refuse a task that others depend on (REEVE_ESTATE; the message has their number).
 * These functions also cancel the tasks that depend on it, directly or indirectly, in all queues. The call itself
 * cancels about 10,000 of them, in several round trips; the workers' maintenance cancels the rest.
 */
REEVE_API reeve_status reeve_cancel_cascade(reeve_client *client, const char *queue, const char *id);
REEVE_API reeve_status reeve_delete_cascade(reeve_client *client, const char *queue, const char *id);

/* ---- batches --------------------------------------------------------------------------------------------------- */

/*
 * A task batch is a set of tasks, its members, with one or two callbacks. The callback `complete` becomes ready when
 * all members have ended, in whatever way. The callback `death` becomes ready when the first member dies, is
 * cancelled or is deleted; it is deleted when all members have ended without that. Callbacks are ordinary blocked
 * tasks whose parents are the members, so that their handlers can read the members' results.
 *
 *     reeve_batch batch;
 *     reeve_batch_open(client, &batch, &complete, NULL);
 *     reeve_batch_add(client, &batch, specs, count, results);      may be repeated
 *     reeve_batch_close(client, &batch);
 *
 * Until the batch is closed its callbacks stay blocked, even if all members have ended (REEVE_PARENT_OPEN). If the
 * producer dies before, the members that it enqueued run, and the callbacks stay blocked. A program that knows their
 * handles can add the remaining members and close the batch, or delete the callbacks. Members that were registered
 * but not enqueued are removed by reeve_remove_dependency.
 */
typedef struct reeve_batch {
    char complete[REEVE_HANDLE_MAX]; /* handle of the callback; "": none */
    char death[REEVE_HANDLE_MAX];    /* handle of the callback; "": none */
} reeve_batch;

/* Opens a batch: enqueues its callbacks, of which one may be NULL. They may have further parents (`after`). Errors as
 * of reeve_enqueue. */
REEVE_API reeve_status reeve_batch_open(reeve_client *client, reeve_batch *ret, const reeve_task_spec *complete,
                                        const reeve_task_spec *death);

/*
 * Registers members with the callbacks and then enqueues them, as reeve_enqueue_many does. Registration comes first,
 * so that no member can end unnoticed, even in a queue that keeps no records. Members that are refused are removed
 * again. A task that exists (REEVE_EEXISTS) becomes a member, so that a call can be repeated with the same ids. After
 * REEVE_ELOST, REEVE_ETIMEOUT or REEVE_ECONNECT for a member the batch waits for it: enqueue it again with its id, or
 * remove it by reeve_remove_dependency. REEVE_ETOOBIG: more members than one call, or the batch (size_limits.parents),
 * can have; nothing was sent, and no result is REEVE_OK.
 */
REEVE_API reeve_status reeve_batch_add(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *specs,
                                       size_t count, reeve_enqueued *ret_results);

/* Makes existing tasks members of the batch. One that does not exist counts as completed. Errors as of
 * reeve_add_dependency. */
REEVE_API reeve_status reeve_batch_add_tasks(reeve_client *client, const reeve_batch *batch, const char *const *handles,
                                             size_t count);

/* Closes the batch: no members follow. A second call does nothing. Errors as of reeve_remove_dependency. */
REEVE_API reeve_status reeve_batch_close(reeve_client *client, const reeve_batch *batch);

/* ---- in a handler ---------------------------------------------------------------------------------------------- */

/* A parent of the running task. */
typedef struct reeve_task_parent {
    const char *handle;
    const char *ended; /* "completed", "dead", "cancelled" (also: deleted), or "" when it had not ended */
} reeve_task_parent;

/*
 * Gets the task's parents, in the order in which they were given. The first call reads them in pages, of one round
 * trip each, on the thread's connection. The memory belongs to the task and is valid until the handler returns.
 * REEVE_ELOST, REEVE_EREDIS, REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_task_parents(reeve_task *task, const reeve_task_parent **ret, size_t *ret_count);

/*
 * Gets the result of a parent, or of any other task, by its handle. One round trip. ret->data is NULL when there is
 * no result or the record is no longer kept; else the bytes are valid until the next such call or the end of the
 * handler. The records of parents are kept until the child has ended, whatever the retention of their queues. An
 * exception is a child that runs at most once: in Redis it has ended when it begins, so the retention applies.
 * REEVE_EINVAL: the handle is not valid.
 */
REEVE_API reeve_status reeve_task_parent_result(reeve_task *task, const char *handle, reeve_bytes *ret);

/* Limits of the tasks that one task chains: their number, where the worker's size_limits.batch is not lower, and the
 * total length of their payloads in bytes. */
#define REEVE_CHAIN_MAX 1000
#define REEVE_CHAIN_BYTES_MAX (16u * 1024 * 1024)

/*
 * Chains a task: it is enqueued, in any queue, in the same atomic step that completes the running task. It is not
 * enqueued if the running task fails, is given back, or its completion is refused. ret_id, when not NULL, has the id
 * of the new task, which is made now unless the spec has one. If a task with that id exists then, nothing is
 * enqueued. A task in another queue, with a unique key or with parents is enqueued by a message a moment later; if
 * its unique key is held then, it is dropped without notice. Does no I/O. REEVE_EINVAL, REEVE_ETOOBIG, REEVE_ENOMEM:
 * reeve_task_call_error has the message. REEVE_EREFUSED: the running task runs at most once, so it was completed
 * before.
 */
REEVE_API reeve_status reeve_task_chain(reeve_task *task, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX]);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_batch_open_sized(reeve_client *client, reeve_batch *ret, const reeve_task_spec *complete,
                                              const reeve_task_spec *death, size_t spec_size);
#define reeve_batch_open(...) reeve_batch_open_sized(__VA_ARGS__, sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_batch_add_sized(reeve_client *client, const reeve_batch *batch,
                                             const reeve_task_spec *specs, size_t count, reeve_enqueued *ret_results,
                                             size_t spec_size);
#define reeve_batch_add(...) reeve_batch_add_sized(__VA_ARGS__, sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_task_chain_sized(reeve_task *task, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX],
                                              size_t spec_size);
#define reeve_task_chain(...) reeve_task_chain_sized(__VA_ARGS__, sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif
#endif
