/*
 * task.h - the task, as its handler uses it.
 *
 * A worker takes a lease on a task, that is, the right to run it, and calls the handler of the task's type. The lease
 * expires when the worker's heartbeats stop. The handler reads the payload and may report progress. To end, it calls
 * one of the outcome functions at the end of this file, and returns the value of that function:
 *
 *     return reeve_task_done(task, result, length);
 *
 * Threads and lifetime, unless a comment says otherwise: call these functions only on the thread that runs the
 * handler, and only until the handler returns. Do not keep the reeve_task pointer. Memory that a function returns
 * belongs to the task and is valid until the handler returns. A function copies its arguments, so the handler may
 * free or change them after the call. docs/glossary.md defines the terms.
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

/* Maximum sizes. A worker or a client can set lower ones (size_limits.h). Lengths are in bytes, without the final
 * zero byte, unless a comment says otherwise. */
#define REEVE_QUEUE_MAX 64                                    /* queue name: [A-Za-z0-9._-] */
#define REEVE_TYPE_MAX 100                                    /* task type: [A-Za-z0-9._:/-] */
#define REEVE_ID_LENGTH_MAX 100                               /* task id: [A-Za-z0-9._:-] */
#define REEVE_ID_MAX (REEVE_ID_LENGTH_MAX + 1)                /* size of a buffer for an id and its final zero byte */
#define REEVE_HANDLE_MAX (REEVE_QUEUE_MAX + 1 + REEVE_ID_MAX) /* the same for a handle, "<queue>/<id>" */
#define REEVE_GROUP_MAX 100                                   /* group name: UTF-8 */
#define REEVE_UNIQUE_MAX 200                                  /* unique key: UTF-8 */
#define REEVE_KIND_MAX 100                                    /* error kind */
#define REEVE_MESSAGE_MAX 1000 /* error message; a longer one is cut at the end of a UTF-8 character */
#define REEVE_REASON_MAX 200   /* reason of a cancel */
#define REEVE_PAYLOAD_MAX (64u * 1024 * 1024)
#define REEVE_RESULT_MAX (16u * 1024 * 1024)
#define REEVE_CHECKPOINT_MAX (1024u * 1024)
#define REEVE_LOG_LINES 100  /* number of log lines that are kept of a task; the oldest are dropped */
#define REEVE_TAG_MAX 200    /* tag: UTF-8 */
#define REEVE_TAGS_MAX 64    /* number of tags of a task */
#define REEVE_META_MAX 16384 /* tags and metadata of a task together, encoded as JSON */
#define REEVE_PRIORITY_MIN (-128)
#define REEVE_PRIORITY_MAX 127
#define REEVE_COST_MAX 1000000
#define REEVE_LIMIT_KEY_MAX 100    /* bytes of a limit key */
#define REEVE_LIMIT_KEYS_MAX 8     /* number of limit keys of a task */
#define REEVE_ATTEMPTS_MAX 1000000 /* maximum of `attempts`, `max_crashes` and `max_snoozes` */

/* A leased task. A handler gets it, and it is valid until the handler returns. A program with a consumer gets it from
 * reeve_consumer_lease, and it is valid until the program settles it or closes the consumer. */
typedef struct reeve_task reeve_task;

/* The outcome of a handler. Return the value that an outcome function returned; the function stores the details in
 * the task. */
typedef enum reeve_outcome {
    REEVE_OUTCOME_NONE = 0, /* no outcome function was called: a failure of kind "handler" */
    REEVE_OUTCOME_DONE,     /* reeve_task_done */
    REEVE_OUTCOME_RETRY,    /* reeve_task_retry */
    REEVE_OUTCOME_FAIL,     /* reeve_task_fail */
    REEVE_OUTCOME_SNOOZE,   /* reeve_task_snooze, _give_back, _wait_for or _wait_chained */
    REEVE_OUTCOME_CANCEL,   /* reeve_task_cancel */
    REEVE_OUTCOME_DISCARD   /* reeve_task_discard */
} reeve_outcome;

/*
 * Backoff: the delay between a failed attempt and the next one.
 *
 *   exponential  base_ms, doubled with each failure, at most cap_ms
 *   fixed        base_ms after each failure
 *   list         list_ms[n - 1] after failure n; the last delay of the list after all further failures
 *
 * A zeroed struct means "not set". The backoff of the task applies if it is set, else that of its handler, else that
 * of its queue, else the default: exponential from 1 s to 1 h with 20 % jitter.
 */
typedef enum reeve_backoff_shape {
    REEVE_BACKOFF_EXPONENTIAL = 0,
    REEVE_BACKOFF_FIXED = 1,
    REEVE_BACKOFF_LIST = 2
} reeve_backoff_shape;

#define REEVE_BACKOFF_LIST_MAX 16

/* The delays before the next attempt after a failed one. */
typedef struct reeve_backoff {
    reeve_backoff_shape shape;
    int64_t base_ms; /* first delay in ms; 0: 1000 */
    int64_t cap_ms;  /* longest delay in ms, not for lists; 0: 3600000 */
    double jitter;   /* a delay d becomes a random one from d * (1 - jitter) to d * (1 + jitter); at most 1; 0: 0.2;
                        negative: no jitter */
    int64_t list_ms[REEVE_BACKOFF_LIST_MAX]; /* list: at least one delay in ms; the first 0 ends the list */
} reeve_backoff;

/*
 * A handler. Several threads may call it at the same time, unless its plugin limits that (`concurrency` in plugin.h)
 * or the worker has one thread. `user` is the pointer that the handler was registered with. A handler may block. A
 * handler that runs long should poll reeve_task_should_stop.
 *
 * A handler ends by returning. If it ends its thread instead (pthread_exit), the attempt fails with kind "handler",
 * and the worker starts another thread. A handler must not leave by longjmp. pthread_cancel has no effect on the
 * threads of a worker. A child process that a handler forks must call exec or _exit. reeve_worker_create describes
 * what happens to a child that returns from the handler. A handler must not close file descriptors that it has not
 * opened. If it closes one that the worker needs, the worker logs an error, and the program reeve-worker exits.
 */
typedef reeve_outcome (*reeve_handler_fn)(reeve_task *task, void *user);

/*
 * A batch handler: one call gets several tasks of its type, for work that is cheaper together, such as one INSERT of
 * a hundred rows. All tasks of a call are from one queue. Call an outcome function for each task; ignore its value. If
 * none was called for a task, its attempt fails with kind "handler".
 *
 *     static void insert(reeve_task *const *tasks, size_t count, void *user)
 *     {
 *         bool good = insert_rows(tasks, count);
 *         for (size_t i = 0; i < count; i++)
 *             good ? reeve_task_done(tasks[i], NULL, 0) : reeve_task_retry(tasks[i], -1, "db", "not inserted");
 *     }
 */
typedef void (*reeve_batch_fn)(reeve_task *const *tasks, size_t count, void *user);

/* Maximum and default of `batch_size` (reeve_handler): how many tasks one call of a batch handler gets at most. */
#define REEVE_BATCH_SIZE_MAX 256
#define REEVE_BATCH_SIZE_DEFAULT 64

/* ---- reading the task ------------------------------------------------------------------------------------------ */

/* The payload. A zero byte follows it; the length does not count that byte. */
REEVE_API reeve_bytes reeve_task_payload(const reeve_task *task);

/* The id, the queue and the type of the task. */
REEVE_API const char *reeve_task_id(const reeve_task *task);
REEVE_API const char *reeve_task_queue(const reeve_task *task);
REEVE_API const char *reeve_task_type(const reeve_task *task);

/* The handle, "<queue>/<id>". */
REEVE_API const char *reeve_task_handle(const reeve_task *task);

/* The number of this attempt: 1 for the first one, and 1 more after each failed attempt. Attempts that ended with a
 * snooze, a give-back or a crash do not count. */
REEVE_API unsigned reeve_task_attempt(const reeve_task *task);

/* The number of crashes of this task: how many times a worker died, or lost its session, while it held the task. After
 * two crashes, a worker runs the task alone if it can: it runs no other handler at the same time ("suspect" in
 * docs/glossary.md). When an attempt that ran alone ends without a crash, the number becomes 0. */
REEVE_API unsigned reeve_task_crashes(const reeve_task *task);

/* When the task was enqueued, in ms since the epoch by Redis's clock. */
REEVE_API int64_t reeve_task_enqueued_ms(const reeve_task *task);
/* The slot of a task that a recurring entry enqueued (cron.h): the time for which the entry was scheduled, in ms since
 * the epoch. If the entry was late, the task was enqueued after this time. -1: no entry enqueued the task, or `reeve
 * cron run` did. */
REEVE_API int64_t reeve_task_slot_ms(const reeve_task *task);

/*
 * The current time in ms since the epoch. In a worker it is the time of the machine's clock, in a test (testing.h)
 * that of the test's clock. Any thread may call it while the handler runs.
 */
REEVE_API int64_t reeve_task_now_ms(const reeve_task *task);

/* The name of the task's group; NULL: it has none. */
REEVE_API const char *reeve_task_group(const reeve_task *task);

/* The value of a metadata key; NULL: the task does not have that key. The first call parses the metadata. */
REEVE_API const char *reeve_task_meta(reeve_task *task, const char *key);

/* The state that the handler's `thread_start` hook (plugin.h) created for this thread; NULL: it created none. */
REEVE_API void *reeve_task_thread_state(const reeve_task *task);

/* ---- while it runs --------------------------------------------------------------------------------------------- */

/*
 * Returns true when the handler should end soon: the worker stops and drain_ms of reeve_worker_stop has passed, the run
 * time limit or the heartbeat limit of the task has passed, the lease is lost, or the task was cancelled. Does no I/O.
 * Any thread may call it while the handler runs.
 */
REEVE_API bool reeve_task_should_stop(const reeve_task *task);

/*
 * Returns true when somebody has cancelled the task while it runs (reeve_cancel). A worker that is connected to Redis
 * learns of a cancel within milliseconds. If the handler then ends with reeve_task_done, the task is completed with
 * its result. After any other outcome it is cancelled. Does no I/O. Any thread may call it while the handler runs.
 */
REEVE_API bool reeve_task_is_cancelled(const reeve_task *task);

/*
 * Returns the reason of the cancel, when reeve_task_is_cancelled returns true and the cancel has a reason
 * (reeve_cancel_with_reason); else NULL. It is also NULL if the worker was not connected to Redis when the task was
 * cancelled. The text is valid until the handler returns. Does no I/O. Any thread may call it while the handler runs.
 */
REEVE_API const char *reeve_task_cancel_reason(const reeve_task *task);

/*
 * Records progress: a percentage from 0 to 100, and a message, which is cut at REEVE_MESSAGE_MAX bytes; NULL: none.
 * Takes one round trip on the thread's connection to Redis, and blocks for at most the worker's command timeout
 * (`command_ms` in worker.h).
 *
 *   REEVE_EREFUSED              the lease is lost: the outcome of this attempt will not be accepted
 *   REEVE_ELOST                 no reply from Redis: unknown whether it was recorded; the lease may still be valid
 *   REEVE_EREDIS                an error of Redis: not recorded; the lease may still be valid
 *   REEVE_EINVAL                the percentage is out of range
 */
REEVE_API reeve_status reeve_task_progress(reeve_task *task, int percent, const char *message);

/*
 * Asks Redis whether the lease is still valid. Blocks as reeve_task_progress does.
 *
 *   REEVE_OK                    the lease is valid
 *   REEVE_EREFUSED              the lease is lost: the outcome of this attempt will not be accepted
 *   REEVE_ELOST, REEVE_EREDIS   unknown whether the lease is valid
 *
 * A handler need not call it to keep the lease: the worker's heartbeats renew it. A task can have a heartbeat limit
 * (`heartbeat_ms` of reeve_task_spec, reeve_handler or reeve_queue_policy). If its handler calls none of
 * reeve_task_heartbeat, _extend, _progress, _checkpoint and _log for longer than this limit, the attempt fails with
 * kind "silent". If its run time limit passes, the attempt fails with kind "timeout". In both cases
 * reeve_task_should_stop returns true, and an outcome that the handler returns later is ignored. If the queue has a
 * grace (`grace_ms` of reeve_queue_policy), an outcome within the grace still counts.
 */
REEVE_API reeve_status reeve_task_heartbeat(reeve_task *task);

/*
 * Sets a new run time limit for this attempt: the attempt may run for another for_ms. The new limit can be later than
 * the previous one, to give the handler more time, or earlier, so that the attempt fails soon if its next step hangs.
 * An attempt without a run time limit gets one. The next attempt has the run time limit of the task again. The time of
 * the heartbeat limit starts again. After the call has set the new limit, it asks Redis whether the lease is still
 * valid, and blocks as reeve_task_progress does.
 *
 *   REEVE_OK                    the new limit is set, and the lease is valid
 *   REEVE_EREFUSED              the run time limit had already passed, or the lease is lost
 *   REEVE_ELOST, REEVE_EREDIS   the new limit is set; unknown whether the lease is valid
 *   REEVE_EINVAL                for_ms is less than 1
 */
REEVE_API reeve_status reeve_task_extend(reeve_task *task, int64_t for_ms);

/*
 * Stores a checkpoint: bytes from which the next attempt can continue if this one fails, is snoozed or given back, or
 * if its worker dies. The new checkpoint replaces the previous one; a length of 0 removes it. The checkpoint is
 * deleted when the task completes. Blocks as reeve_task_progress does, and returns the same errors. After REEVE_ELOST
 * either the old or the new checkpoint is stored. REEVE_ETOOBIG: the checkpoint is longer than the worker's
 * size_limits.checkpoint, and the previous one stays.
 */
REEVE_API reeve_status reeve_task_checkpoint(reeve_task *task, const void *data, size_t length);

/*
 * Gets the last checkpoint that any attempt of this task stored. ret->data is NULL if there is none. The first call
 * takes one round trip if there is a checkpoint. The bytes are valid until the next reeve_task_checkpoint or the end
 * of the handler; a zero byte follows them. After REEVE_ELOST, REEVE_EREDIS and REEVE_ENOMEM the checkpoint is
 * unknown: return reeve_task_retry rather than start from the beginning. REEVE_EREFUSED: the lease is lost; end the
 * handler.
 */
REEVE_API reeve_status reeve_task_last_checkpoint(reeve_task *task, reeve_bytes *ret);

/*
 * Adds a line with the current time to the task's log. The line is cut at REEVE_MESSAGE_MAX bytes. The log keeps the
 * last REEVE_LOG_LINES lines of the task, over all its attempts, for as long as the task's record exists. `reeve show
 * --log` prints them. Blocks as reeve_task_progress does, and returns the same errors.
 */
REEVE_API reeve_status reeve_task_log(reeve_task *task, const char *format, ...) REEVE_PRINTF(2, 3);

/*
 * Pauses a group of the task's queue for delay_ms from now: none of its tasks starts in this time. `group` NULL
 * pauses the whole queue. Running tasks continue. A longer pause that is already in force is not shortened. Example:
 * a service answers 429 with Retry-After. The handler pauses the group for that time, and then snoozes or retries its
 * task. Blocks as reeve_task_progress does. REEVE_EINVAL: the group's name or the delay is not valid. REEVE_ELOST: no
 * reply from Redis; the group may or may not be paused. REEVE_EREDIS: an error of Redis; the group is not paused.
 */
REEVE_API reeve_status reeve_task_pause_for(reeve_task *task, const char *group, int64_t delay_ms);

/*
 * The message of the last failed call of reeve_task_checkpoint, _chain, _done, _wait_for or _wait_chained for this
 * task; "": no call failed. Valid until the next call of one of these functions.
 */
REEVE_API const char *reeve_task_call_error(const reeve_task *task);

/* ---- outcomes: how a handler ends ------------------------------------------------------------------------------ */

/*
 * Completes the task. The settings of the queue decide how long the result is kept. For no result, pass NULL and 0.
 *
 * A result longer than the queue's `result_max` or the worker's `size_limits.result` is refused: the function returns
 * REEVE_OUTCOME_FAIL. If the handler returns that value, the task dies with kind "result". The handler can instead
 * call an outcome function again, for instance reeve_task_done with the URL of a file in which it has stored the
 * result. The error message of the dead task and reeve_task_call_error name the size, the limit, and the setting to
 * change.
 */
REEVE_API reeve_outcome reeve_task_done(reeve_task *task, const void *result, size_t length);

/*
 * The attempt failed. The task is retried after delay_ms, or, if delay_ms is negative, after the delay of its
 * backoff. If this was the last attempt that its option `attempts` allows, the task dies instead. `kind` is a short
 * text that classifies the failure; `reeve failures` counts dead tasks by kind. A kind longer than REEVE_KIND_MAX bytes
 * is cut; NULL or "": "error". The message is for people, and is cut at REEVE_MESSAGE_MAX bytes.
 */
REEVE_API reeve_outcome reeve_task_retry(reeve_task *task, int64_t delay_ms, const char *kind, const char *format, ...)
    REEVE_PRINTF(4, 5);

/* The attempt failed, and the task is not retried: it dies at once. Kind and message are as in reeve_task_retry. */
REEVE_API reeve_outcome reeve_task_fail(reeve_task *task, const char *kind, const char *format, ...) REEVE_PRINTF(3, 4);

/* The task runs again after delay_ms. With a delay of 0 or less it returns to its queue at once, before all other tasks
 * of the same priority. A snooze does not count as a failed attempt. A task can have a limit of snoozes (max_snoozes in
 * client.h). When it is reached, the next snooze with a delay makes the task die with kind "snoozes". A snooze with a
 * delay of 0 is not counted, and always possible. */
REEVE_API reeve_outcome reeve_task_snooze(reeve_task *task, int64_t delay_ms);

/*
 * Returns the task to its queue at once, before all other tasks of the same priority, for instance because the
 * handler lacks a resource. A thread of the same worker may lease it again. A give-back does not count as a failed
 * attempt. The function is the same as reeve_task_snooze with a delay of 0.
 */
REEVE_API reeve_outcome reeve_task_give_back(reeve_task *task);

/*
 * The task is cancelled: its work is not needed any more. This is neither a success nor a failed attempt, and no death
 * callback runs. The reason is for people: one line of at most REEVE_REASON_MAX bytes, a longer one is cut; NULL: none.
 * The queue keeps the record of the task as it does after reeve_cancel. For each task that depends on it, the rule of
 * that dependency for a cancelled parent applies (reeve_on_parent_death in client.h). No effect on a task that runs at
 * most once: it is already completed.
 */
REEVE_API reeve_outcome reeve_task_cancel(reeve_task *task, const char *format, ...) REEVE_PRINTF(2, 3);

/*
 * As reeve_task_cancel, but the record of the task is deleted, with its log and its history. The queue counts the task
 * neither as completed nor as failed.
 */
REEVE_API reeve_outcome reeve_task_discard(reeve_task *task);

#ifdef __cplusplus
}
#endif
#endif
