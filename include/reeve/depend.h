/*
 * depend.h - dependencies between tasks: parents and children, task batches, chained tasks.
 *
 * A task can depend on other tasks (reeve_task_spec.after). It is their child, and they are its parents. The child is
 * blocked until all its parents have ended. Then it is ready, or scheduled if its time is later. Parents may be in any
 * queues. Each dependency has a rule for a parent that dies, is cancelled or is deleted (reeve_on_parent_death).
 *
 * Unknown parents: a parent must exist when the child is enqueued, unless its dependency says otherwise
 * (reeve_unknown_parent). If Redis has no task and no record with the handle, either the parent never existed, or it
 * completed so long ago that its record was deleted. An id that reeve generated contains the time of its generation. An
 * unknown parent with such an id counts as completed in these cases:
 *
 *   - the queue of the parent keeps no completed tasks
 *   - the id is older than the maximum age of completed tasks in that queue
 *   - that queue has its maximum number of completed tasks, or limits the total length of results, and the id was
 *     generated before the oldest completed task on record ended
 *
 * Ids that a program chooses contain no time; for them, use REEVE_UNKNOWN_COMPLETED if a parent may have completed long
 * ago. In all other cases the parent counts as nonexistent, even if its record was deleted by hand. If such a parent is
 * in the queue of the child, the call fails with REEVE_ENOTFOUND and changes nothing. If it is in another queue, the
 * child dies a moment later with kind "unknown_parent". A chained task (reeve_task_chain) with such a parent dies in
 * the same way.
 *
 * Retries: a task that is retried waits again for its parents that have not completed. It also waits for dead and
 * cancelled parents, because they can be retried as well. It does not wait for deleted parents, nor for dead or
 * cancelled parents with the rule go. If a parent with the rule death has died or was cancelled, the task waits for no
 * parent.
 *
 * Parents in other queues: the two queues exchange messages. The client that creates the dependency tries to deliver
 * them at once; if it cannot, workers do. A message that was lost is sent again. A message has an effect only once.
 */
#ifndef REEVE_DEPEND_H
#define REEVE_DEPEND_H

#include "client.h"
#include "search.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of parents in one call to Redis. For more parents, reeve_enqueue and reeve_add_dependency make
 * several calls; reeve_enqueue_many refuses a task with more. In all, a task can have size_limits.parents parents
 * (size_limits.h), and any number of children. */
#define REEVE_PARENTS_MAX 1000

/*
 * A placeholder parent. The child stays blocked until reeve_remove_dependency removes the placeholder, so that a
 * program can add parents meanwhile. reeve_enqueue itself uses the placeholder for a task with more than
 * REEVE_PARENTS_MAX parents. If a producer dies during such a call, the task stays blocked by the placeholder. Then
 * enqueue the task again with the same id, type, payload and parents, which adds the missing parents (REEVE_OK), or
 * delete the task. If such a call fails, it deletes the task again. If it cannot, it returns REEVE_ELOST, and the
 * message names the task.
 */
#define REEVE_PARENT_OPEN "!"

/* ---- dependencies ---------------------------------------------------------------------------------------------- */

/*
 * Adds parents to a waiting task (blocked, ready, scheduled or parked). The call takes one round trip for each
 * REEVE_PARENTS_MAX parents. If a parent has already died, its rule applies at once (reeve_on_parent_death).
 * Dependencies that exist stay as they are. REEVE_PARENT_DEATH is allowed only for blocked tasks. The call does not
 * detect circular dependencies; their tasks stay blocked. After an error, some of the parents may have been added.
 *
 *   REEVE_EINVAL      a handle is not valid, or is that of the task itself
 *   REEVE_ETOOBIG     the task would have more parents than size_limits.parents
 *   REEVE_ENOTFOUND   there is no such task, or a parent in the same queue is unknown
 *   REEVE_ESTATE      the task is running or has ended
 */
REEVE_API reeve_status reeve_add_dependency(reeve_client *client, const char *queue, const char *id,
                                            const reeve_parent *parents, size_t count);

/* Removes parents of a blocked task. Handles of tasks that are not its parents are ignored. Errors as for
 * reeve_add_dependency. */
REEVE_API reeve_status reeve_remove_dependency(reeve_client *client, const char *queue, const char *id,
                                               const char *const *handles, size_t count);

/*
 * reeve_cancel and reeve_delete refuse a task on which other tasks depend (REEVE_ESTATE; the message has their
 * number). These functions accept such a task, and also cancel all tasks that depend on it, directly or indirectly,
 * in all queues. The call itself cancels up to about 10,000 of them, in several round trips. The workers' maintenance
 * cancels the rest.
 */
REEVE_API reeve_status reeve_cancel_cascade(reeve_client *client, const char *queue, const char *id);
REEVE_API reeve_status reeve_delete_cascade(reeve_client *client, const char *queue, const char *id);

/* ---- batches --------------------------------------------------------------------------------------------------- */

/*
 * A task batch is a set of tasks, its members, with one to three callbacks. Callbacks are ordinary blocked tasks whose
 * parents are the members, so that their handlers can read the members' results:
 *
 *   success    becomes ready when all members have completed. While a member is dead or cancelled, the callback waits
 *              for a retry of it (REEVE_PARENT_WAIT). If such a member is deleted, or its record is no longer kept,
 *              the callback dies with kind "parent".
 *   complete   becomes ready when all members have ended, in whatever way
 *   death      becomes ready when the first member dies, is cancelled or is deleted. It is deleted when all members
 *              have ended without that.
 *
 *     reeve_batch batch;
 *     reeve_batch_open(client, &batch, &(reeve_batch_callbacks){.complete = &spec});
 *     reeve_batch_add(client, &batch, specs, count, results);      may be repeated
 *     reeve_batch_close(client, &batch);
 *
 * Until the batch is closed, `success` and `complete` stay blocked, even if all members have ended (REEVE_PARENT_OPEN).
 * A member can add further members while it runs, with a client of its own: the callbacks also wait for the running
 * member. If the producer dies before it closes the batch, the members that it has enqueued run, and the callbacks stay
 * blocked. A program that knows the handles of the callbacks can add the remaining members and close the batch, or
 * delete the callbacks. reeve_remove_dependency removes members that were registered and not enqueued.
 */
typedef struct reeve_batch {
    char success[REEVE_HANDLE_MAX];  /* handle of the callback; "": none */
    char complete[REEVE_HANDLE_MAX]; /* handle of the callback; "": none */
    char death[REEVE_HANDLE_MAX];    /* handle of the callback; "": none */
} reeve_batch;

/* The callbacks of a new batch; NULL: none. At least one is not NULL. They may have further parents (`after`). */
typedef struct reeve_batch_callbacks {
    const reeve_task_spec *success;
    const reeve_task_spec *complete;
    const reeve_task_spec *death;
} reeve_batch_callbacks;

/*
 * Opens a batch: enqueues its callbacks. Errors as for reeve_enqueue. After an error the call deletes what it has
 * enqueued. If it cannot, it returns REEVE_ELOST, REEVE_ETIMEOUT or REEVE_EPROTO, and `ret` has the handle of each
 * callback that may exist: delete it. The handle of a callback that certainly does not exist is "".
 */
REEVE_API reeve_status reeve_batch_open(reeve_client *client, reeve_batch *ret, const reeve_batch_callbacks *callbacks);

/*
 * Registers members with the callbacks, and then enqueues them, as reeve_enqueue_many does. It registers them first,
 * so that the end of a member cannot be missed, even in a queue that keeps no records. Members that are refused are
 * removed again. A task that exists already (REEVE_EEXISTS) becomes or stays a member, so a call can be repeated with
 * the same ids. REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EPROTO or REEVE_ECONNECT as the result of a member: it is unknown
 * whether the member was enqueued, and whether the batch waits for it. Add it again by reeve_batch_add with its id
 * (ret_results has it) before you close the batch, or remove it with reeve_remove_dependency. REEVE_ETOOBIG: there are
 * more members than one call, or the batch (size_limits.parents), can have; nothing was enqueued, and no result is
 * REEVE_OK. REEVE_ESTATE: the batch is closed, or a callback has ended; nothing was enqueued. All results are written
 * whatever the function returns.
 */
REEVE_API reeve_status reeve_batch_add(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *specs,
                                       size_t count, reeve_enqueued *ret_results);

/* Makes existing tasks members of the batch. A task that does not exist counts as completed. Errors as for
 * reeve_add_dependency. REEVE_ESTATE also: the batch is closed. */
REEVE_API reeve_status reeve_batch_add_tasks(reeve_client *client, const reeve_batch *batch, const char *const *handles,
                                             size_t count);

/* Closes the batch: no members can be added any more, and later calls that add some fail (REEVE_ESTATE). A second call
 * does nothing. Errors as for reeve_remove_dependency. */
REEVE_API reeve_status reeve_batch_close(reeve_client *client, const reeve_batch *batch);

/* How many members a batch has, and how these have ended: members = completed + dead + cancelled + left. */
typedef struct reeve_batch_counts {
    uint64_t members;
    uint64_t completed;
    uint64_t dead;
    uint64_t cancelled; /* also those that were deleted */
    uint64_t left;      /* have not ended */
    uint64_t failed;    /* of those left: have failed at least once */
    bool open;          /* the batch is not closed */
} reeve_batch_counts;

/*
 * Counts the members of a batch, by the handle of its callback `complete` or `success`, or the parents of any other
 * task. The counts stay available until the record of the callback is deleted. The handle of the callback `death` gives
 * the counts only until this callback becomes ready. The call reads the parents in pages of 1000, one round trip each.
 * Then it reads the members that have not ended, in pages of 1000, too. A member that ends during the call is counted
 * in the state that it had when the call read it.
 *
 *   REEVE_EINVAL      the handle is not valid
 *   REEVE_ENOTFOUND   there is no such task, or its record is no longer kept
 */
REEVE_API reeve_status reeve_batch_count(reeve_client *client, const char *handle, reeve_batch_counts *ret);

/*
 * Gets an open batch from the handles of its callbacks, in any order. Handles of other tasks, and of callbacks that do
 * not exist any more, are ignored. One round trip for each handle.
 *
 *   REEVE_EINVAL      a handle is not valid, or two batches have callbacks among the handles
 *   REEVE_ESTATE      the batch is closed, or none of the handles is that of a callback
 */
REEVE_API reeve_status reeve_batch_find(reeve_client *client, const char *const *handles, size_t count,
                                        reeve_batch *ret);

/* A callback of a batch that has not become ready. */
typedef struct reeve_batch_entry {
    char handle[REEVE_HANDLE_MAX];
    const char *callback; /* "success", "complete" or "death" */
    reeve_batch_counts counts;
} reeve_batch_entry;

/*
 * Gets the next callbacks of batches in a queue. A callback is recognized by the rule of its parents: all have the rule
 * wait (success), go (complete) or death. Another blocked task whose parents all have one of these rules cannot be
 * distinguished from a callback, and is listed, too. The cursor is as for reeve_find (search.h): "" before the first
 * call, and after the last one. A call examines at most 1000 blocked tasks in one round trip. It then takes the round
 * trips of reeve_batch_count for each callback that it returns. *ret_seen, when not NULL, is the number of tasks
 * examined. Free the list with reeve_batch_list_free.
 */
REEVE_API reeve_status reeve_batch_list(reeve_client *client, const char *queue, char cursor[REEVE_CURSOR_MAX],
                                        reeve_batch_entry ***ret, size_t *ret_count, uint64_t *ret_seen);
REEVE_API void reeve_batch_list_free(reeve_batch_entry **list, size_t count);

/* What reeve_batch_cancel has done. */
typedef struct reeve_batch_cancelled {
    uint64_t cancelled; /* members that waited */
    uint64_t asked;     /* members that run: their handlers are asked to stop */
} reeve_batch_cancelled;

/*
 * Cancels the members of a batch that have not ended. The handle is that of a callback. With the handle of another
 * task, the call cancels the parents of that task that have not ended. It takes at least one round trip for each of
 * these tasks. The callbacks, and other tasks that wait for the members, are notified that the members were cancelled,
 * and the rules of their dependencies apply. reeve_cancel, in contrast, refuses a task that has children.
 * Members that have ended, including dead ones, stay as they are. An open batch stays open. The reason is as in
 * reeve_cancel_with_reason, or NULL. After an error *ret has what was done before.
 *
 *   REEVE_EINVAL      the handle or the reason is not valid
 *   REEVE_ENOTFOUND   there is no such task, or its record is no longer kept
 */
REEVE_API reeve_status reeve_batch_cancel(reeve_client *client, const char *handle, const char *reason,
                                          reeve_batch_cancelled *ret);

/* ---- the tree of a task ---------------------------------------------------------------------------------------- */

/* Why a task is in a tree: it is the root, a parent of the task above it, or a child of the task above it. */
typedef enum reeve_tree_side { REEVE_TREE_ROOT = 0, REEVE_TREE_PARENT, REEVE_TREE_CHILD } reeve_tree_side;

/* A task of a tree. */
typedef struct reeve_tree_task {
    char *handle;
    char *type;        /* NULL: there is no such task, or its record is no longer kept */
    reeve_state state; /* valid if type is not NULL */
    reeve_tree_side side;
    unsigned depth; /* 0: the root; the task above it has 1 less */
    char *ended; /* a parent: how it has ended for the task above it, "completed", "dead" or "cancelled"; else NULL */
    char *on_death; /* a parent: what happens if it dies, the name of a reeve_on_parent_death; else NULL */
    bool repeated;  /* the same task is elsewhere in the tree, with the tasks below it */
    /* Number of tasks below this one that the tree omits: for a parent, its parents; for a child, its children; for the
     * root, its parents and children. */
    uint64_t more;
} reeve_tree_task;

#define REEVE_TREE_MAX 1000

/*
 * Gets the tree of a task: the task, then its parents, each followed by its own parents, and then its children, each
 * followed by its own children. A child is in the tree while it waits for the task above it. The tree has at most
 * `limit` tasks (0: 100; at most REEVE_TREE_MAX), those near the root first, and at most 100 below each task.
 * *ret_more, if ret_more is not NULL, has the number of parents and children of tasks in the tree that the tree omits.
 * One round trip for each 32 tasks. The tasks are not read in one atomic step. Free the list with reeve_tree_free.
 *
 *   REEVE_EINVAL      the limit is too large, or the queue or the id is not valid
 *   REEVE_ENOTFOUND   there is no such task, or its record is no longer kept
 */
REEVE_API reeve_status reeve_tree_get(reeve_client *client, const char *queue, const char *id, size_t limit,
                                      reeve_tree_task ***ret, size_t *ret_count, uint64_t *ret_more);
REEVE_API void reeve_tree_free(reeve_tree_task **list, size_t count);

/* ---- in a handler ---------------------------------------------------------------------------------------------- */

/* A parent of the running task. */
typedef struct reeve_task_parent {
    const char *handle;
    const char *ended; /* "completed", "dead", "cancelled" (also for a deleted parent), or "": it has not ended */
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
 * handler. The records of parents are kept until the child has ended, whatever the retention of their queues is. An
 * exception is a child that runs at most once: Redis records it as completed before it runs, so the records of its
 * parents may be deleted while it runs. REEVE_EINVAL: the handle is not valid. REEVE_ELOST, REEVE_EREDIS, REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_task_parent_result(reeve_task *task, const char *handle, reeve_bytes *ret);

/* Maximum number of tasks that one task chains; size_limits.batch of the worker can be lower. Maximum total length of
 * their payloads in bytes. */
#define REEVE_CHAIN_MAX 1000
#define REEVE_CHAIN_BYTES_MAX (16u * 1024 * 1024)

/*
 * Chains a task: Redis enqueues it, in any queue, in the same atomic step in which it completes the running task. If
 * the running task fails or is given back, or if its completion is refused, the chained task is not enqueued. ret_id,
 * when not NULL, has the id of the chained task; the call makes a new id unless the spec has one. If a task with that
 * id exists already, the chained task is not enqueued. A chained task in another queue, with a unique key, or with
 * parents is enqueued a moment later, by a message. If its unique key is held then, it is dropped without notice. The
 * call does no I/O. REEVE_EINVAL, REEVE_ETOOBIG, REEVE_ENOMEM: reeve_task_call_error has the message. REEVE_EREFUSED:
 * the running task runs at most once, so it was completed before it ran.
 */
REEVE_API reeve_status reeve_task_chain(reeve_task *task, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX]);

/*
 * An outcome (task.h): the task waits for other tasks, often for those that its handler has just chained. Redis blocks
 * it when the handler has returned, and enqueues the chained tasks in the same atomic step. When all these tasks have
 * ended, the task runs again from the beginning. Its handler can tell the second run from the first by a checkpoint, or
 * by reeve_task_parents, which then has these tasks; reeve_task_parent_result has their results. No attempt has failed,
 * as with reeve_task_snooze, and no limit of snoozes applies. Each run may wait again.
 *
 *     static reeve_outcome split(reeve_task *task, void *user)
 *     {
 *         const reeve_task_parent *parts;
 *         size_t count;
 *         if (reeve_task_parents(task, &parts, &count) != REEVE_OK)
 *             return reeve_task_retry(task, -1, "redis", "no parents");
 *         if (count > 0) return join(task, parts, count);
 *         for (int i = 0; i < 10; i++)
 *             reeve_task_chain(task, &(reeve_task_spec){.queue = "parts", .type = "part"}, NULL);
 *         return reeve_task_wait_chained(task, REEVE_PARENT_FAIL);
 *     }
 *
 * With reeve_task_wait_for, the handler names the tasks, in any queues; they may have been enqueued before. With
 * reeve_task_wait_chained, the task waits for all tasks that this run has chained. The rule determines what happens if
 * one of them dies, is cancelled or is deleted: fail, go or wait (reeve_on_parent_death; `unknown` of a reeve_parent is
 * ignored). A task that does not exist lets the waiting task die with kind "unknown_parent". A task that runs at most
 * once cannot wait: it is completed before it runs. The functions store the list of tasks in the running task, and do
 * no I/O.
 *
 * If the arguments are not valid, or a chained task has a unique key (it may be dropped), the functions return
 * REEVE_OUTCOME_FAIL with kind "wait", and reeve_task_call_error has the message. A task can wait for at most
 * REEVE_PARENTS_MAX tasks, and for at most size_limits.parents.
 */
REEVE_API reeve_outcome reeve_task_wait_for(reeve_task *task, const reeve_parent *parents, size_t count);
REEVE_API reeve_outcome reeve_task_wait_chained(reeve_task *task, reeve_on_parent_death on_death);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_batch_open_sized(reeve_client *client, reeve_batch *ret,
                                              const reeve_batch_callbacks *callbacks, size_t spec_size);
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
