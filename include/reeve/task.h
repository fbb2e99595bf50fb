/*
 * task.h - a task as its handler sees it.
 *
 * The worker calls a handler with a task that it has leased. The handler reads the payload, may report progress, and
 * ends by returning what one of the verbs below returns:
 *
 *     return reeve_task_done(task, result, length);
 *
 * Unless a comment says otherwise, the functions here may be called only on the thread that runs the handler and only
 * until it returns; a reeve_task pointer must not be kept. Memory that they return belongs to the task and lives until
 * the handler returns; memory that they are given is copied before they return.
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

/* The most there can be; guards.h: what holds may be less. Lengths count bytes, without the zero byte at the end. */
#define REEVE_QUEUE_MAX 64      /* a queue's name: [A-Za-z0-9._-] */
#define REEVE_TYPE_MAX 100      /* a task's type: the same characters, and ':' and '/' */
#define REEVE_ID_LENGTH_MAX 100 /* a task's id: the characters of a type, but '/' */
#define REEVE_ID_MAX (REEVE_ID_LENGTH_MAX + 1)
#define REEVE_HANDLE_MAX (REEVE_QUEUE_MAX + 1 + REEVE_ID_MAX)
#define REEVE_GROUP_MAX 100    /* a group's name: any text */
#define REEVE_UNIQUE_MAX 200   /* a unique key: any text */
#define REEVE_KIND_MAX 100     /* an error's kind */
#define REEVE_MESSAGE_MAX 1000 /* an error's message; longer is cut on a character */
#define REEVE_PAYLOAD_MAX (64u * 1024 * 1024)
#define REEVE_RESULT_MAX (16u * 1024 * 1024)
#define REEVE_CHECKPOINT_MAX (1024u * 1024)
#define REEVE_LOG_LINES 100  /* of a task: more, and the first ones go */
#define REEVE_TAG_MAX 200    /* a tag: any text */
#define REEVE_TAGS_MAX 64    /* tags of a task */
#define REEVE_META_MAX 16384 /* tags and metadata of a task together, as JSON */
#define REEVE_PRIORITY_MIN (-128)
#define REEVE_PRIORITY_MAX 127
#define REEVE_ATTEMPTS_MAX 1000000 /* of a task, handler or queue; and the most crashes */

typedef struct reeve_task reeve_task;

/* What a handler decided. Return what a verb returned; the verb keeps the details in the task. */
typedef enum reeve_outcome {
    REEVE_OUTCOME_NONE = 0, /* no verb was called: counts as a failure of kind "handler" */
    REEVE_OUTCOME_DONE,
    REEVE_OUTCOME_RETRY,
    REEVE_OUTCOME_FAIL,
    REEVE_OUTCOME_SNOOZE
} reeve_outcome;

/*
 * How long failed attempts wait. Zeroed: the default, exponential, 1 s doubling to 1 h, 20 % jitter; in a handler or a
 * queue's policy: not said. exponential doubles base_ms up to cap_ms; fixed is base_ms each time; list has its own
 * delays: the nth failure waits the nth, further ones the last.
 */
typedef enum reeve_backoff_shape {
    REEVE_BACKOFF_EXPONENTIAL = 0,
    REEVE_BACKOFF_FIXED = 1,
    REEVE_BACKOFF_LIST = 2
} reeve_backoff_shape;

#define REEVE_BACKOFF_LIST_MAX 16

typedef struct reeve_backoff {
    reeve_backoff_shape shape;
    int64_t base_ms; /* the first delay; 0: 1000 */
    int64_t cap_ms;  /* the longest delay; 0: 3600000 */
    double jitter;   /* a delay d becomes d * (1 - j .. 1 + j); 0: 0.2; negative: none; at most 1 */
    int64_t list_ms[REEVE_BACKOFF_LIST_MAX]; /* list: the delays, at least one; ends at the first 0. No cap holds */
} reeve_backoff;

/*
 * A handler. Called on a pool's thread, many at a time unless its plugin or pool says otherwise; user is what it was
 * registered with. It may block; a task that takes long should look at reeve_task_should_stop now and then.
 */
typedef reeve_outcome (*reeve_handler_fn)(reeve_task *task, void *user);

/*
 * A handler of many tasks of its type in one call, for what is cheaper together: one INSERT of a hundred rows, one
 * request with a hundred events. All are of one queue. Each task is read and ended for itself: call a verb on every one
 * of them; what that returns need not be looked at. One on which no verb was called has failed, with kind "handler".
 *
 *     static void insert(reeve_task *const *tasks, size_t count, void *user)
 *     {
 *         bool good = insert_rows(tasks, count);
 *         for (size_t i = 0; i < count; i++)
 *             good ? reeve_task_done(tasks[i], NULL, 0) : reeve_task_retry(tasks[i], -1, "db", "not inserted");
 *     }
 */
typedef void (*reeve_many_fn)(reeve_task *const *tasks, size_t count, void *user);

/* The most tasks of one call: what can be said, and what holds when nothing is. */
#define REEVE_MANY_MAX 256
#define REEVE_MANY_DEFAULT 64

/* ---- reading the task ------------------------------------------------------------------------------------------ */

/* The payload, in place: no copy. A zero byte follows it that is not counted. */
REEVE_API reeve_bytes reeve_task_payload(const reeve_task *task);

REEVE_API const char *reeve_task_id(const reeve_task *task);
REEVE_API const char *reeve_task_queue(const reeve_task *task);
REEVE_API const char *reeve_task_type(const reeve_task *task);

/* "queue/id". */
REEVE_API const char *reeve_task_handle(const reeve_task *task);

/* The number of this attempt, 1 for the first; attempts that were snoozed or given back do not count. */
REEVE_API unsigned reeve_task_attempt(const reeve_task *task);

/* How often a worker died while it held this task. */
REEVE_API unsigned reeve_task_crashes(const reeve_task *task);

/* When the task was enqueued, milliseconds since the epoch on Redis's clock. */
REEVE_API int64_t reeve_task_enqueued_ms(const reeve_task *task);
/* The time for which a recurring entry made the task (cron.h), ms since the epoch: its slot. One that was missed and
 * caught up with was enqueued later. -1: it was made by hand, or by no entry. */
REEVE_API int64_t reeve_task_slot_ms(const reeve_task *task);

/*
 * What time it is, milliseconds since the epoch: the machine's clock in a worker, the test's in a test (testing.h). Any
 * thread while the handler runs.
 */
REEVE_API int64_t reeve_task_now_ms(const reeve_task *task);

/* The group, or NULL. */
REEVE_API const char *reeve_task_group(const reeve_task *task);

/* The value of a metadata key, or NULL. Parses the task's header on the first call. */
REEVE_API const char *reeve_task_meta(reeve_task *task, const char *key);

/* What the handler's thread_start hook left for this thread, or NULL. */
REEVE_API void *reeve_task_thread_state(const reeve_task *task);

/* ---- while it runs --------------------------------------------------------------------------------------------- */

/*
 * True when the handler should end soon: the deadline of a stop has come (the worker then waits a second more), the run
 * time limit has passed, the lease is lost, or the task was cancelled. Cheap: no I/O. Any thread while the handler
 * runs.
 */
REEVE_API bool reeve_task_should_stop(const reeve_task *task);

/*
 * True when the task was cancelled while it runs (reeve_cancel), as far as this worker has heard; that is within
 * milliseconds while its connections stand. What the handler says then decides: done is done, with its result; after
 * anything else the task is cancelled. Cheap: no I/O. Any thread while the handler runs.
 */
REEVE_API bool reeve_task_is_cancelled(const reeve_task *task);

/*
 * Records progress: percent (0 to 100) and words (may be NULL; cut at REEVE_MESSAGE_MAX). One round trip on the
 * thread's connection; blocks at most until the command deadline.
 * REEVE_EREFUSED: the lease is lost, whatever the handler does will not count. REEVE_ELOST, REEVE_EREDIS: not recorded;
 * the task is still ours as far as we know. REEVE_EINVAL: percent out of range.
 */
REEVE_API reeve_status reeve_task_progress(reeve_task *task, int percent, const char *words);

/*
 * Is the task still ours? REEVE_OK: yes. REEVE_EREFUSED: the lease is lost, whatever the handler does will not count.
 * REEVE_ELOST, REEVE_EREDIS: not known. One round trip, as reeve_task_progress. A handler need not call this to keep
 * its lease (the worker's heartbeats do that), unless its task has a heartbeat limit (reeve_handler, reeve_task_spec:
 * heartbeat_ms): then silence for longer than that is a failure of kind "silent", as when the run time limit has
 * passed. Each call of this, of progress, checkpoint or log breaks the silence.
 */
REEVE_API reeve_status reeve_task_heartbeat(reeve_task *task);

/*
 * Leaves bytes from which the next attempt goes on, whatever becomes of this one: it fails, is snoozed or given back,
 * or its worker dies. In place of those before; 0 bytes: none. They go when the task completes. One round trip, as
 * reeve_task_progress, with its errors; after REEVE_ELOST the old ones or the new ones stand. REEVE_ETOOBIG: more than
 * the worker's guards.checkpoint; those before stay.
 */
REEVE_API reeve_status reeve_task_checkpoint(reeve_task *task, const void *data, size_t length);

/*
 * The last checkpoint of this task, from whichever attempt; data NULL: there is none. No I/O for a task that left none,
 * else one round trip on the first call. The bytes live until the next checkpoint or the handler's end; a zero byte
 * follows them. REEVE_ELOST, REEVE_EREDIS, REEVE_EREFUSED, REEVE_ENOMEM: not known; retry rather than begin at the
 * beginning.
 */
REEVE_API reeve_status reeve_task_last_checkpoint(reeve_task *task, reeve_bytes *ret);

/*
 * Says something that stays with the task, with the time: one line, cut at REEVE_MESSAGE_MAX bytes; the last
 * REEVE_LOG_LINES of all attempts are kept, as long as the task. `reeve show --log` shows them. One round trip, as
 * reeve_task_progress, with its errors.
 */
REEVE_API reeve_status reeve_task_log(reeve_task *task, const char *format, ...) REEVE_PRINTF(2, 3);

/*
 * "Not before": for delay_ms from now no task of this queue starts, or none of a group in it (NULL: the whole queue);
 * what runs goes on. Never shortens a hold that stands. For an answer such as 429 with Retry-After: hold, then snooze
 * or retry. One round trip, as reeve_task_progress. REEVE_EINVAL: the group's name or the delay. REEVE_ELOST,
 * REEVE_EREDIS: not held, as far as is known.
 */
REEVE_API reeve_status reeve_task_hold(reeve_task *task, const char *group, int64_t delay_ms);

/*
 * The words of the last call here that refused what it was given, where its status alone says little
 * (reeve_task_checkpoint, reeve_task_hand_on); "" when none did. Valid until the next such call.
 */
REEVE_API const char *reeve_task_call_error(const reeve_task *task);

/* ---- verbs: how a handler ends --------------------------------------------------------------------------------- */

/*
 * The task is completed. The result is kept as the queue's settings say; pass NULL and 0 for none. A result longer than
 * the queue's result_max or the worker's guards.result is refused: REEVE_OUTCOME_FAIL is returned, and unless another
 * verb is called instead (with a shorter result, say, or where it was put) the task is dead, of kind "result". Its
 * message, and reeve_task_call_error, say the size, the limit, and what raises it.
 */
REEVE_API reeve_outcome reeve_task_done(reeve_task *task, const void *result, size_t length);

/*
 * This attempt failed; try again after delay_ms, or, when negative, after the backoff. Counts as a failure: after
 * max_attempts the task is dead.
 */
REEVE_API reeve_outcome reeve_task_retry(reeve_task *task, int64_t delay_ms, const char *kind, const char *format, ...)
    REEVE_PRINTF(4, 5);

/* The task failed for good: dead at once. */
REEVE_API reeve_outcome reeve_task_fail(reeve_task *task, const char *kind, const char *format, ...) REEVE_PRINTF(3, 4);

/* Not now: back to the queue, after delay_ms (0: to the front of the queue, at once). Uses no attempt. */
REEVE_API reeve_outcome reeve_task_snooze(reeve_task *task, int64_t delay_ms);

/*
 * Not for this worker (it lacks what the task needs just now, say): to the front of the queue at once, for whoever asks
 * next, which may be this very worker. Uses no attempt. The same as a snooze of 0.
 */
REEVE_API reeve_outcome reeve_task_give_back(reeve_task *task);

#ifdef __cplusplus
}
#endif
#endif
