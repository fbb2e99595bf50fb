/*
 * task.h - the task, as its handler uses it.
 *
 * A worker leases a task and calls the handler of the task's type. The handler reads the payload and may report
 * progress. To end, it calls an outcome function, see the end of this file, and returns its value:
 *
 *     return reeve_task_done(task, result, length);
 *
 * Threads and lifetime, unless a comment says otherwise: call these functions only on the thread that runs the handler,
 * and only until the handler returns; do not keep the reeve_task pointer. Memory that a function returns belongs to the
 * task and is valid until the handler returns. Memory that is passed in is copied before the function returns.
 */
#ifndef REEVE_TASK_H
#define REEVE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum sizes. A worker or client can set lower ones (size_limits.h). Lengths are in bytes, without the final zero
 * byte. */
#define REEVE_QUEUE_MAX 64      /* queue name: [A-Za-z0-9._-] */
#define REEVE_TYPE_MAX 100      /* task type: [A-Za-z0-9._:/-] */
#define REEVE_ID_LENGTH_MAX 100 /* task id: [A-Za-z0-9._:-] */
#define REEVE_ID_MAX (REEVE_ID_LENGTH_MAX + 1)
#define REEVE_HANDLE_MAX (REEVE_QUEUE_MAX + 1 + REEVE_ID_MAX)
#define REEVE_GROUP_MAX 100    /* group name: UTF-8 */
#define REEVE_UNIQUE_MAX 200   /* unique key: UTF-8 */
#define REEVE_KIND_MAX 100     /* error kind */
#define REEVE_MESSAGE_MAX 1000 /* error message; a longer one is cut between characters */
#define REEVE_PAYLOAD_MAX (64u * 1024 * 1024)
#define REEVE_RESULT_MAX (16u * 1024 * 1024)
#define REEVE_CHECKPOINT_MAX (1024u * 1024)
#define REEVE_LOG_LINES 100  /* lines kept of a task; the oldest are dropped */
#define REEVE_TAG_MAX 200    /* tag: UTF-8 */
#define REEVE_TAGS_MAX 64    /* number of tags of a task */
#define REEVE_META_MAX 16384 /* tags and metadata of a task together, encoded as JSON */
#define REEVE_PRIORITY_MIN (-128)
#define REEVE_PRIORITY_MAX 127
#define REEVE_ATTEMPTS_MAX 1000000 /* maximum of `attempts` and of `max_crashes` */

typedef struct reeve_task reeve_task;

/* The outcome of a handler. Return the value that an outcome function returned: the task holds the details. */
typedef enum reeve_outcome {
    REEVE_OUTCOME_NONE = 0, /* no outcome function was called: a failure of kind "handler" */
    REEVE_OUTCOME_DONE,
    REEVE_OUTCOME_RETRY,
    REEVE_OUTCOME_FAIL,
    REEVE_OUTCOME_SNOOZE
} reeve_outcome;

/*
 * Backoff: the delay between a failed attempt and the next one.
 *
 *   exponential  base_ms, doubled with each failure, at most cap_ms
 *   fixed        base_ms after each failure
 *   list         list_ms[n - 1] after failure n; after the end of the list its last delay
 *
 * A zeroed struct means "not set": the next level that sets a backoff applies (task, handler, queue), and otherwise the
 * default: exponential from 1 s to 1 h with 20 % jitter.
 */
typedef enum reeve_backoff_shape {
    REEVE_BACKOFF_EXPONENTIAL = 0,
    REEVE_BACKOFF_FIXED = 1,
    REEVE_BACKOFF_LIST = 2
} reeve_backoff_shape;

#define REEVE_BACKOFF_LIST_MAX 16

typedef struct reeve_backoff {
    reeve_backoff_shape shape;
    int64_t base_ms; /* first delay in ms; 0: 1000 */
    int64_t cap_ms;  /* longest delay in ms, not for lists; 0: 3600000 */
    double jitter;   /* a delay d becomes a random one from d * (1 - jitter) to d * (1 + jitter); at most 1; 0: 0.2;
                        negative: no jitter */
    int64_t list_ms[REEVE_BACKOFF_LIST_MAX]; /* list: at least one delay in ms; the first 0 ends the list */
} reeve_backoff;

/*
 * A handler. The threads of a pool call it, several at the same time unless its plugin or pool limits that. `user` is
 * the pointer that it was registered with. It may block. A handler that runs long should poll reeve_task_should_stop.
 *
 * A handler ends by returning. One that ends its thread instead (pthread_exit) has failed, with kind "handler", and
 * another thread takes the place of that one. It must not leave by longjmp; pthread_cancel has no effect on its
 * thread. A child process that it forks must call exec or _exit; reeve_worker_create tells what happens to a child
 * that returns instead.
 */
typedef reeve_outcome (*reeve_handler_fn)(reeve_task *task, void *user);

/*
 * A batch handler: one call gets several tasks of its type, for work that is cheaper together, such as one INSERT of a
 * hundred rows. All tasks of a call are of one queue. Call an outcome function for each task; the returned value can be
 * ignored. A task for which no outcome function was called fails with kind "handler".
 *
 *     static void insert(reeve_task *const *tasks, size_t count, void *user)
 *     {
 *         bool good = insert_rows(tasks, count);
 *         for (size_t i = 0; i < count; i++)
 *             good ? reeve_task_done(tasks[i], NULL, 0) : reeve_task_retry(tasks[i], -1, "db", "not inserted");
 *     }
 */
typedef void (*reeve_batch_fn)(reeve_task *const *tasks, size_t count, void *user);

/* Tasks of one call of a batch handler: the maximum that can be set, and the default. */
#define REEVE_BATCH_SIZE_MAX 256
#define REEVE_BATCH_SIZE_DEFAULT 64

/* ---- reading the task ------------------------------------------------------------------------------------------ */

/* The payload, not copied. A zero byte follows it, which the length does not count. */
REEVE_API reeve_bytes reeve_task_payload(const reeve_task *task);

REEVE_API const char *reeve_task_id(const reeve_task *task);
REEVE_API const char *reeve_task_queue(const reeve_task *task);
REEVE_API const char *reeve_task_type(const reeve_task *task);

/* The handle, "<queue>/<id>". */
REEVE_API const char *reeve_task_handle(const reeve_task *task);

/* The number of this attempt: one more than the failures so far. Runs that ended with a snooze, a give-back or a
 * crash do not count. */
REEVE_API unsigned reeve_task_attempt(const reeve_task *task);

/* How many times a worker died while it ran this task. */
REEVE_API unsigned reeve_task_crashes(const reeve_task *task);

/* When the task was enqueued, in ms since the epoch by Redis's clock. */
REEVE_API int64_t reeve_task_enqueued_ms(const reeve_task *task);
/* The slot for which a recurring entry made the task (cron.h), in ms since the epoch. When the entry catches up on a
 * missed slot, the slot is earlier than the enqueue. -1: no entry made the task, or `reeve cron run` did. */
REEVE_API int64_t reeve_task_slot_ms(const reeve_task *task);

/*
 * The time now, in ms since the epoch: of the machine's clock in a worker, of the test's clock in a test (testing.h).
 * Any thread may call it while the handler runs.
 */
REEVE_API int64_t reeve_task_now_ms(const reeve_task *task);

/* The group, or NULL. */
REEVE_API const char *reeve_task_group(const reeve_task *task);

/* The value of a metadata key, or NULL. The first call parses the task's header. */
REEVE_API const char *reeve_task_meta(reeve_task *task, const char *key);

/* The state that the handler's `thread_start` hook made for this thread (plugin.h), or NULL. */
REEVE_API void *reeve_task_thread_state(const reeve_task *task);

/* ---- while it runs --------------------------------------------------------------------------------------------- */

/*
 * True when the handler should end soon: the deadline of reeve_worker_stop has passed, the run time limit has passed,
 * the lease is lost, or the task was cancelled. Does no I/O. Any thread may call it while the handler runs.
 */
REEVE_API bool reeve_task_should_stop(const reeve_task *task);

/*
 * True when a cancel of the task was requested while it runs (reeve_cancel). The worker learns that within
 * milliseconds while it is connected to Redis. The outcome decides: after reeve_task_done the task is completed with
 * its result, after any other outcome it is cancelled. Does no I/O. Any thread may call it while the handler runs.
 */
REEVE_API bool reeve_task_is_cancelled(const reeve_task *task);

/*
 * Records progress: a percentage from 0 to 100, and a message (NULL: none; cut at REEVE_MESSAGE_MAX). One round trip on
 * the thread's connection; blocks at most for the command timeout.
 *
 *   REEVE_EREFUSED              the lease is lost: the outcome of this attempt will not be accepted
 *   REEVE_ELOST                 unknown whether it was recorded; the lease may still be valid
 *   REEVE_EREDIS                not recorded; the lease may still be valid
 *   REEVE_EINVAL                the percentage is out of range
 */
REEVE_API reeve_status reeve_task_progress(reeve_task *task, int percent, const char *message);

/*
 * Asks whether the lease is still valid. One round trip, as reeve_task_progress.
 *
 *   REEVE_OK                    it is
 *   REEVE_EREFUSED              the lease is lost: the outcome of this attempt will not be accepted
 *   REEVE_ELOST, REEVE_EREDIS   unknown
 *
 * A handler need not call it to keep the lease: the worker's heartbeats renew it. A task can have a heartbeat limit
 * (`heartbeat_ms` of reeve_handler or reeve_task_spec). If its handler calls none of reeve_task_heartbeat, _progress,
 * _checkpoint and _log for longer than this limit, the attempt fails with kind "silent". As after the run time limit,
 * reeve_task_should_stop is then true, and a later outcome is not accepted.
 */
REEVE_API reeve_status reeve_task_heartbeat(reeve_task *task);

/*
 * Stores a checkpoint: bytes from which the next attempt continues when this one fails, is snoozed or given back, or
 * its worker dies. It replaces the previous checkpoint; a length of 0 removes it. It is deleted when the task
 * completes. One round trip, as reeve_task_progress, with the same errors; after REEVE_ELOST either the old or the
 * new checkpoint is stored. REEVE_ETOOBIG: longer than the worker's size_limits.checkpoint; the old one stays.
 */
REEVE_API reeve_status reeve_task_checkpoint(reeve_task *task, const void *data, size_t length);

/*
 * Gets the last checkpoint that any attempt of this task stored; ret->data is NULL when there is none. The first call
 * is one round trip, or no I/O when there is no checkpoint. The bytes are valid until the next reeve_task_checkpoint
 * or the end of the handler; a zero byte follows them. After REEVE_ELOST, REEVE_EREDIS and REEVE_ENOMEM the
 * checkpoint is unknown: return reeve_task_retry rather than start from the beginning. REEVE_EREFUSED: the lease is
 * lost; return.
 */
REEVE_API reeve_status reeve_task_last_checkpoint(reeve_task *task, reeve_bytes *ret);

/*
 * Adds a line with the time to the task's log. The line is cut at REEVE_MESSAGE_MAX bytes. The last REEVE_LOG_LINES
 * lines of all attempts are kept for as long as the task's record; `reeve show --log` prints them. One round trip, as
 * reeve_task_progress, with the same errors.
 */
REEVE_API reeve_status reeve_task_log(reeve_task *task, const char *format, ...) REEVE_PRINTF(2, 3);

/*
 * Pauses a group of this queue (NULL: the whole queue) for a time: for delay_ms from now none of its tasks starts.
 * Running tasks continue. A longer pause that is already in force is not shortened. Use: a service answers 429 with
 * Retry-After; pause its group for that time, then snooze or retry the task. One round trip, as reeve_task_progress.
 * REEVE_EINVAL: the group's name or the delay is not valid. REEVE_ELOST: the group may or may not be paused.
 * REEVE_EREDIS: it is not paused.
 */
REEVE_API reeve_status reeve_task_pause_for(reeve_task *task, const char *group, int64_t delay_ms);

/*
 * The message of the last failed call of reeve_task_checkpoint, reeve_task_chain or reeve_task_done on this task;
 * "" when none failed. Valid until the next such call.
 */
REEVE_API const char *reeve_task_call_error(const reeve_task *task);

/* ---- outcomes: how a handler ends ------------------------------------------------------------------------------ */

/*
 * The task is completed. The result is kept for as long as the queue's settings say; pass NULL and 0 for no result.
 *
 * A result longer than the queue's `result_max` or the worker's `size_limits.result` is refused: the function returns
 * REEVE_OUTCOME_FAIL. If the handler returns that, the task dies with kind "result". The handler can call another
 * outcome function instead, for instance reeve_task_done with the URL of the stored result. The error message of the
 * dead task and reeve_task_call_error name the size, the limit and the setting to change.
 */
REEVE_API reeve_outcome reeve_task_done(reeve_task *task, const void *result, size_t length);

/*
 * The attempt failed. The task is retried after delay_ms, or after its backoff when delay_ms is negative. It dies
 * when as many attempts have failed as its option `attempts` allows. `kind` is a short name for this sort of failure
 * (at most REEVE_KIND_MAX bytes), by which `reeve failures` counts; the message is for people.
 */
REEVE_API reeve_outcome reeve_task_retry(reeve_task *task, int64_t delay_ms, const char *kind, const char *format, ...)
    REEVE_PRINTF(4, 5);

/* The task failed and must not be retried: it dies at once. Kind and message as in reeve_task_retry. */
REEVE_API reeve_outcome reeve_task_fail(reeve_task *task, const char *kind, const char *format, ...) REEVE_PRINTF(3, 4);

/* The task is to run later: it returns to the queue after delay_ms (0: at once, to the front). Uses no attempt. */
REEVE_API reeve_outcome reeve_task_snooze(reeve_task *task, int64_t delay_ms);

/*
 * This worker cannot run the task now, for instance because it lacks a resource. The task returns to the front of the
 * queue at once. The next thread that leases gets it, which may be a thread of the same worker. Uses no attempt. The
 * same as a snooze of 0.
 */
REEVE_API reeve_outcome reeve_task_give_back(reeve_task *task);

#ifdef __cplusplus
}
#endif
#endif
