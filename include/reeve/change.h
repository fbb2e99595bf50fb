/*
 * change.h - change single tasks by hand, beyond retry, cancel, delete and reschedule (client.h): edit options and
 * payload, move tasks to other queues, make a waiting or running task dead, end the lease of a running task; and remove
 * queues.
 *
 * Each call takes one round trip, waits for Redis at most for the timeout of the client, and may be repeated. Common
 * errors:
 *
 *   REEVE_EINVAL      an argument is not valid
 *   REEVE_ENOTFOUND   there is no such task
 *   REEVE_ESTATE      the state of the task does not allow the call; the message names the state
 */
#ifndef REEVE_CHANGE_H
#define REEVE_CHANGE_H

#include "client.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes a task dead, with an error. A waiting task (blocked, scheduled, ready, parked) dies at once. A running task
 * first loses its lease, as with reeve_expire. `kind` has 1 to REEVE_KIND_MAX bytes, and `message` at most
 * REEVE_MESSAGE_MAX bytes; NULL: none. As at any other death (dead.h), the rules of dependencies on the task apply, and
 * a death callback is enqueued. No failed attempt is counted.
 */
REEVE_API reeve_status reeve_fail(reeve_client *client, const char *queue, const char *id, const char *kind,
                                  const char *message);

/*
 * Ends the lease of a running task: the task is ready again, before the other tasks of its priority, and another
 * attempt may begin at once. Neither a failure nor a crash is counted. The worker that holds the task is notified:
 * reeve_task_should_stop returns true in its handler, and no outcome of this attempt is accepted. The same worker can
 * lease the task again when it has been notified and can no longer send an outcome of this attempt: usually within a
 * second, or after a minute if it cannot be notified. Other workers can lease it at once. The handler is not stopped by
 * force, so it can still run during the next attempt. If a cancel of the running task has been requested, the task
 * becomes cancelled, not ready.
 *
 *   REEVE_ESTATE  the task is not running
 */
REEVE_API reeve_status reeve_expire(reeve_client *client, const char *queue, const char *id);

/*
 * Adds a line to the log of a task that is not running (reeve_task_log adds those of handlers). The line has at most
 * REEVE_MESSAGE_MAX bytes; a longer one is cut.
 */
REEVE_API reeve_status reeve_add_log(reeve_client *client, const char *queue, const char *id, const char *line);

/* ---- edit ------------------------------------------------------------------------------------------------------ */

/* The fields of reeve_task_edit that replace options of the task. */
typedef enum reeve_edit_fields {
    REEVE_EDIT_PAYLOAD = 1,
    REEVE_EDIT_TYPE = 2,
    REEVE_EDIT_PRIORITY = 4,
    REEVE_EDIT_GROUP = 8, /* the group and its weight */
    REEVE_EDIT_ATTEMPTS = 16,
    REEVE_EDIT_MAX_CRASHES = 32,
    REEVE_EDIT_TIMEOUT = 64,
    REEVE_EDIT_HEARTBEAT = 128,
    REEVE_EDIT_BACKOFF = 256,
    REEVE_EDIT_ON_DEAD = 512,
    REEVE_EDIT_RETRY_FOR = 1024,
    REEVE_EDIT_MAX_SNOOZES = 2048,
    REEVE_EDIT_KEEP = 4096,
    REEVE_EDIT_COST = 8192,
    REEVE_EDIT_LIMIT_KEYS = 16384 /* the whole list */
} reeve_edit_fields;

/* Changes of a task. Zeroed: no change. The library copies what it needs before the call returns. */
typedef struct reeve_task_edit {
    size_t size; /* sizeof(reeve_task_edit), or 0 */
    /* Which of the next fields apply: reeve_edit_fields, added up. Their meaning, ranges and limits are those of
     * reeve_task_spec. A field that applies and is not set (zero) removes the option, so that the default applies. */
    unsigned fields;
    reeve_bytes payload;
    const char *type; /* required with REEVE_EDIT_TYPE */
    int priority;
    const char *group;
    unsigned weight;
    int attempts;
    int max_crashes;
    int64_t timeout_ms;
    int64_t heartbeat_ms;
    const reeve_backoff *backoff;
    const char *on_dead;
    const char *const *tags; /* tags to add */
    size_t tag_count;
    const char *const *removed_tags;
    size_t removed_tag_count;
    const reeve_meta *meta; /* metadata to add; a key that the task has gets the new value */
    size_t meta_count;
    const char *const *removed_meta; /* keys */
    size_t removed_meta_count;
    int64_t retry_for_ms;
    int max_snoozes;
    int64_t keep_ms;
    /* A running task first loses its lease, as with reeve_expire, in the same atomic step. It is then ready, before the
     * other tasks of its priority, or placed like a newly enqueued one if its priority or group changes. If nothing
     * changes, it keeps its lease. A running task whose cancellation has been requested is refused. */
    bool expire;
    int cost;
    const char *const *limit_keys;
    size_t limit_key_count; /* 0: none */
} reeve_task_edit;

/*
 * Changes a waiting, dead or cancelled task, or with `expire` a running one. Of a running task without `expire`, and of
 * a completed one, only tags and metadata can be changed; the running attempt does not see the change. If the priority
 * or group of a ready task changes, the task is placed like a newly enqueued one. The call makes all changes in one
 * atomic step, or none. REEVE_ETOOBIG: a value is larger than a size limit, the task would have more than
 * REEVE_TAGS_MAX tags, or the new payload is longer than both the old one and the payload_max of the queue.
 */
REEVE_API reeve_status reeve_edit(reeve_client *client, const char *queue, const char *id, const reeve_task_edit *edit);

/* ---- move ------------------------------------------------------------------------------------------------------ */

/*
 * Moves a task that is not running to the queue `target`, with its id and all that belongs to it: options, tags,
 * failures, history, log, checkpoint, unique key and dependencies. A waiting task keeps waiting for its time and its
 * parents. A completed, dead or cancelled task runs again, as after reeve_retry_completed; its result is removed. Tasks
 * that depend on it then depend on its new handle.
 *
 * The two queues may be on different nodes of a cluster, so the move has two steps: the task leaves its queue as a
 * message, which the call delivers. If that is not possible now, workers of the queue deliver it later; until then the
 * task is in neither queue. The task is moved exactly once. If a task with the same id is enqueued in the target in
 * between, the moved task gets the id "<id>:moved:<number>". If its unique key has been taken in the target, the moved
 * task loses the key.
 *
 *   REEVE_EEXISTS     the target has a task with this id
 *   REEVE_EUNIQUE     a task of the target holds the unique key; the message names it
 *   REEVE_ESTATE      the task is running; or it has more than 64 parents or 1000 children; or it has the placeholder
 *                     REEVE_PARENT_OPEN as a parent; or it is completed, and tasks that have not ended may read its
 *                     result
 */
REEVE_API reeve_status reeve_move(reeve_client *client, const char *queue, const char *id, const char *target);

/* As reeve_move, also of a running task: it first loses its lease, as with reeve_expire, in the step in which it leaves
 * its queue. REEVE_ESTATE also: the cancellation of the running task has been requested. */
REEVE_API reeve_status reeve_move_running(reeve_client *client, const char *queue, const char *id, const char *target);

/* ---- unique keys ----------------------------------------------------------------------------------------------- */

/*
 * Releases a unique key of a queue, whichever task holds it, so that another task can take it. The holder then has no
 * unique key. ret_holder, when not NULL, receives its id. REEVE_ENOTFOUND: no task holds the key.
 */
REEVE_API reeve_status reeve_unlock(reeve_client *client, const char *queue, const char *key,
                                    char ret_holder[REEVE_ID_MAX]);

/* ---- queues ---------------------------------------------------------------------------------------------------- */

/* What reeve_queue_forget removes beyond an empty queue. */
typedef enum reeve_forget_flags {
    REEVE_FORGET_TASKS = 1, /* all tasks, in any state, with their records */
    REEVE_FORGET_CRON = 2,  /* its recurring entries */
    REEVE_FORGET_SERVED = 4 /* remove the queue even if workers serve it; with REEVE_FORGET_TASKS also running tasks */
} reeve_forget_flags;

/*
 * Removes a queue: its settings, limits, statistics, events and its name. `what` is 0 or reeve_forget_flags, added up.
 * *ret_deleted, when not NULL, is the number of deleted tasks, even if the call fails. If tasks of other queues depend
 * on deleted tasks, the rules of these dependencies apply. A running task loses its lease as with reeve_expire. A
 * worker that serves the queue creates it again, so stop such workers first. The call works in steps of one round trip
 * each, so that Redis serves other clients in between, and may be repeated. Unique keys that are held for a time expire
 * by themselves.
 *
 *   REEVE_ESTATE      the queue has tasks or recurring entries, or workers serve it, and the flag for that is missing:
 *                     nothing was removed; the message names the reason
 *   REEVE_ENOTFOUND   there is no such queue
 */
REEVE_API reeve_status reeve_queue_forget(reeve_client *client, const char *queue, unsigned what,
                                          uint64_t *ret_deleted);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_edit_sized(reeve_client *client, const char *queue, const char *id,
                                        const reeve_task_edit *edit, size_t edit_size);
#define reeve_edit(...) reeve_edit_sized(__VA_ARGS__, sizeof(reeve_task_edit))

#ifdef __cplusplus
}
#endif
#endif
