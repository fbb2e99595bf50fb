/*
 * client.h - clients: enqueue tasks, and control them. It includes inspect.h, queue.h and workers.h.
 *
 * A client is one connection to Redis. It reconnects by itself. Only one thread at a time may use a client, so open one
 * client for each thread. Unless its comment says otherwise, a call that uses Redis blocks for one round trip, and for
 * at most the client's timeout (`timeout_ms`). Other calls do not block. After a failed call, reeve_client_error()
 * returns a message. "Any thread" in a comment means that any number of threads may make the call at the same time.
 * A function whose name ends in _free ignores NULL, does not block, and may be called on any thread.
 * docs/glossary.md defines the terms.
 *
 * Errors of every call: a call that uses Redis can return these statuses, even if its comment does not name them.
 * REEVE_ECONNECT: no connection to Redis. REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EPROTO: the connection was lost, the time
 * limit passed, or the reply was not understood; it is unknown whether Redis executed the call. REEVE_EREDIS: Redis
 * refused the call. REEVE_ENOMEM: out of memory. REEVE_EINVAL: an argument is not valid.
 *
 * Fork: a child process may only close a client that its parent opened; this does not disturb the connection of the
 * parent. Every other call returns REEVE_EINVAL. The child may open clients of its own. The library cannot
 * detect a child of vfork or of a direct clone(). After vfork, only exec may follow. After a direct clone(), no call is
 * safe in the child. If another thread was using the client during the fork, the child must not use the client at all.
 *
 * Times: durations are in milliseconds; points in time are in milliseconds since the epoch by Redis's clock. Values
 * above 2^53 - 1 ms are treated as that value, so INT64_MAX means "never". Other numbers that are out of range are
 * errors (REEVE_EINVAL). The configuration and the command line accept durations up to 2,000,000,000 s and times
 * before the year 10000.
 */
#ifndef REEVE_CLIENT_H
#define REEVE_CLIENT_H

#include "size_limits.h"
#include "task.h"
#include "tls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A connection of a program to Redis, and its settings. reeve_client_open makes it, reeve_client_close frees it. Only
 * one thread at a time may use it. */
typedef struct reeve_client reeve_client;

/* Called for a task that the client drops from its buffer, because Redis has refused it, or because it is unknown
 * whether it was enqueued (buffer.h). The function is called within the enqueue or reeve_client_flush that delivers the
 * buffer. It must not use the client. */
typedef void (*reeve_buffer_refused_fn)(const char *handle, reeve_status status, const char *message, void *user);

/* Zero selects the default of each field. */
typedef struct reeve_client_options {
    size_t size;       /* sizeof(reeve_client_options), or 0 */
    const char *redis; /* URL; NULL: that of the environment variable REEVE_REDIS, else "embedded:", a private server */
    const char *ns;    /* namespace, the first part of every key; NULL: "reeve" */
    int64_t timeout_ms;            /* time limit of one call in ms, connecting included; 0: 5000 */
    const char *name;              /* name of the connection in CLIENT LIST; NULL: "reeve-client" */
    reeve_size_limits size_limits; /* size limits of the tasks that it enqueues (size_limits.h); zeroed: the defaults */
    /* Busy-polling: a call that directly follows another call polls for its reply for up to this many microseconds,
     * and then blocks. Polling shortens the call and uses processor time. If a reply takes longer, the client does not
     * poll in its next 2 calls. If the reply after these is slow again, it does not poll in the next 4 calls, then 8,
     * and so on up to 1024. 0: 50; negative: no polling; values above 1000: 1000. */
    int64_t spin_us;
    const reeve_tls *tls; /* TLS of rediss:// URLs (tls.h); NULL: only the URL and the environment set it */
    /* A buffer for tasks that are enqueued while Redis cannot be reached (buffer.h). A client has one if buffer_path or
     * buffer_bytes is set: in the file buffer_path, or in memory if only buffer_bytes is set. A client with a buffer
     * also opens without Redis, and its enqueues can return REEVE_BUFFERED. */
    const char *buffer_path;                /* file of the buffer; NULL: no file */
    int64_t buffer_bytes;                   /* maximum size; 0: 64 MiB if buffer_path is set, else no buffer */
    int64_t buffer_wait_ms;                 /* how long an enqueue tries to reach Redis; 0: 500 ms */
    reeve_buffer_refused_fn buffer_refused; /* NULL: none */
    void *buffer_user;                      /* argument of buffer_refused */
    /* reeve_enqueue and reeve_enqueue_many wait until this number of replicas have received the tasks (WAIT); 0: they
     * do not wait. If fewer replicas have them within wait_replicas_ms (0: 1000 ms), the status is REEVE_UNCONFIRMED:
     * the task is in Redis, and its id is returned. If the number includes every replica that can become the master, a
     * confirmed task survives a failover. A replica confirms that it has received the task, not that it has written the
     * task to disk. Each call takes one more round trip. */
    unsigned wait_replicas;
    int64_t wait_replicas_ms;
    /* true: reeve_enqueue and reeve_enqueue_many also wait until the append-only files of the master and of
     * `wait_replicas` replicas have the tasks on the disk (WAITAOF). It needs Redis 7.2 or newer, and an append-only
     * file; otherwise the status is REEVE_UNCONFIRMED, and the message tells the reason. reeve_client_confirm changes
     * these three settings later, for one queue or for all. */
    bool wait_disk;
} reeve_client_options;

/* What an enqueue waits for before it returns: see wait_replicas of reeve_client_options. Zeroed: for nothing. */
typedef struct reeve_confirmation {
    size_t size; /* sizeof(reeve_confirmation), or 0 */
    unsigned replicas;
    bool disk;
    int64_t timeout_ms; /* 0: 1000 */
} reeve_confirmation;

#define REEVE_CONFIRMED_QUEUES_MAX 64

/*
 * Sets what later enqueues of this client wait for. With a queue, the setting is for that queue. With queue NULL, it is
 * for all queues without a setting of their own. confirmation NULL removes a setting: with a queue, the setting for all
 * queues applies to it again; with queue NULL, the options with which the client was opened apply again. A call of
 * reeve_enqueue_many for several queues waits once: for the largest number of replicas, the longest time, and for the
 * disk if one of the queues requires it. Does not block.
 *
 *   REEVE_EINVAL  a name or a number is not valid
 *   REEVE_EFULL   the client has settings of REEVE_CONFIRMED_QUEUES_MAX queues
 */
REEVE_API reeve_status reeve_client_confirm(reeve_client *client, const char *queue,
                                            const reeve_confirmation *confirmation);

/*
 * Opens a client and connects. On success the caller owns *ret and closes it with reeve_client_close. On failure *ret
 * is NULL, and reeve_client_open_with_error also writes the message to ret_error, a buffer of `size` bytes, or NULL. A
 * longer message is cut, so that it fits with its final zero byte. The call blocks for at most timeout_ms. With an
 * "embedded:" URL it may start a server, which can take 10 s more. Errors: REEVE_EURL, REEVE_ECONNECT,
 * REEVE_EUNSUPPORTED, REEVE_ENOMEM; REEVE_EINVAL: the namespace or a size limit is not valid.
 */
REEVE_API reeve_status reeve_client_open(reeve_client **ret, const reeve_client_options *options);
REEVE_API reeve_status reeve_client_open_with_error(reeve_client **ret, const reeve_client_options *options,
                                                    char *ret_error, size_t size);

/* Closes the connection and frees the client; NULL is ignored. An embedded server stops when the last of its clients
 * and workers closes. That call blocks until the server has stopped: usually some milliseconds, up to 10 s if the
 * server does not answer. */
REEVE_API void reeve_client_close(reeve_client *client);

/* The message of the last failed call on this client; "" if no call failed. Valid until the next call. */
REEVE_API const char *reeve_client_error(const reeve_client *client);

/* ---- enqueue --------------------------------------------------------------------------------------------------- */

/* One key and value of a task's metadata. */
typedef struct reeve_meta {
    const char *key;
    const char *value;
} reeve_meta;

/*
 * What an enqueue does when another task already holds the unique key of the new task. That task is the holder. A
 * waiting holder is blocked, scheduled, ready or parked.
 *
 *     reject    the new task is refused with REEVE_EUNIQUE; the call returns the id of the holder
 *     replace   a waiting holder is removed. The new task takes over the holder's place in the queue, its time and its
 *               priority. If the spec of the new task sets a time, or a priority other than 0, that value applies
 *               instead
 *     debounce  a waiting holder is removed. The new task runs at its own time, so that each new task postpones the
 *               run
 *
 * With replace and debounce, the tasks that depend on the holder, also those in other queues, then depend on the new
 * task. If the holder is blocked and the new task names no parents, the new task waits for the holder's parents. In
 * the following cases the holder stays, and the new task is refused:
 *
 *   - the holder is running, or it has ended and keeps the key for a time
 *   - more than 1000 tasks depend on the holder
 *   - the new task would wait for more than 64 parents of the holder
 *   - the new task names the holder as its parent
 */
typedef enum reeve_conflict {
    REEVE_CONFLICT_REJECT = 0,
    REEVE_CONFLICT_REPLACE = 1,
    REEVE_CONFLICT_DEBOUNCE = 2
} reeve_conflict;

/*
 * What happens to a task, the child, when a task that it depends on, its parent, dies, is cancelled or is deleted.
 *
 *     fail    the child dies, with kind "parent"
 *     go      the child continues as if the parent had completed
 *     wait    the child keeps waiting, because the parent may complete after a retry. If the parent is deleted, the
 *             child dies
 *     death   the child runs only in this case: it becomes ready when the first of its parents dies, is cancelled or is
 *             deleted. If all parents complete, the child is deleted.
 *
 * Each parent of a child can have a different rule, that is, a value of this enum. When a parent ends, its own rule
 * applies. If at least one parent has the rule death, but no parent with this rule dies, is cancelled or is deleted,
 * the child is deleted when all its parents have ended.
 */
typedef enum reeve_on_parent_death {
    REEVE_PARENT_FAIL = 0,
    REEVE_PARENT_GO = 1,
    REEVE_PARENT_WAIT = 2,
    REEVE_PARENT_DEATH = 3
} reeve_on_parent_death;

/* What an enqueue does when Redis has no task, and no record of a task, with the handle of a parent. */
typedef enum reeve_unknown_parent {
    REEVE_UNKNOWN_REFUSE = 0,    /* the new task is refused, or dies later: see depend.h */
    REEVE_UNKNOWN_COMPLETED = 1, /* the parent counts as completed: its record may have been deleted */
    REEVE_UNKNOWN_EXPECTED = 2   /* the new task waits for the parent, which will be enqueued later */
} reeve_unknown_parent;

/*
 * What an enqueue does when the queue has a task with the id of the new task, or the record of one that has ended.
 *
 *     refuse  the new task is refused with REEVE_EEXISTS
 *     ignore  nothing is enqueued, and the call succeeds, whatever the state of the task
 *     again   if the task has ended, and no task waits for it, its record is deleted, with its result, and the new task
 *             is enqueued; nobody else can enqueue a task with this id in between. Otherwise the new task is refused
 *             with REEVE_EEXISTS. If Redis refuses the new task for another reason, such as its unique key, the record
 *             is deleted nevertheless. Chained tasks and the commands of transaction.h cannot have this value, and a
 *             buffer (buffer.h) does not take such a task
 */
typedef enum reeve_if_exists {
    REEVE_EXISTS_REFUSE = 0,
    REEVE_EXISTS_IGNORE = 1,
    REEVE_EXISTS_AGAIN = 2
} reeve_if_exists;

/* A dependency: the parent that a task waits for. */
typedef struct reeve_parent {
    const char *handle; /* "<queue>/<id>"; or REEVE_PARENT_OPEN (depend.h) */
    reeve_on_parent_death on_death;
    reeve_unknown_parent unknown;
} reeve_parent;

/* The task to enqueue. Zero means "not set". The library copies what it needs before the call returns. */
typedef struct reeve_task_spec {
    size_t size;         /* sizeof(reeve_task_spec), or 0 */
    const char *queue;   /* required */
    const char *type;    /* required */
    reeve_bytes payload; /* any bytes, at most size_limits.payload */
    const char *id;      /* NULL: a new UUIDv7 */
    int priority;        /* REEVE_PRIORITY_MIN to _MAX; lower runs sooner; default 0 */
    int64_t in_ms;       /* delay from the enqueue to the run; not together with at_ms */
    int64_t at_ms; /* run at this time; a past time: now. Tasks with equal times run in the order of their enqueues */
    const char *group; /* name of its group; tasks of different groups alternate; NULL: the task has no group */
    /* The weight of its group against other groups, 1 to 256; 0: 1. A group with weight 2 starts twice as many tasks as
     * one with weight 1. All tasks of a group should have the same weight. If they differ, a task of weight
     * N counts as 1/N of a start: two tasks of weight 2 use as much of the share of their group as one of weight 1. */
    unsigned weight;
    int attempts;       /* failed attempts after which it dies; 0: the handler's value, else the queue's, else 20 */
    int max_crashes;    /* crashes after which it dies; 0: the handler's value, else the queue's, else 3 */
    int64_t timeout_ms; /* run time limit of an attempt; 0: the handler's value, else the queue's, else none */
    const reeve_backoff *backoff; /* delays of retries; NULL: the handler's value, else the queue's, else the default */
    const char *const *tags;      /* at most REEVE_TAGS_MAX texts of at most REEVE_TAG_MAX bytes each; see tags.h */
    size_t tag_count;
    const reeve_meta *meta;
    size_t meta_count;
    /* Uniqueness: at most one task of a queue holds a unique key. By default a task holds its key until it is
     * completed, dead, cancelled or deleted. A task that runs at most once holds its key until its handler has
     * returned or its worker has died. unique_until_started: the task holds its key until it is leased for the first
     * time. unique_for_ms: the task holds its key for this time from its enqueue, even if it completes or dies
     * earlier. */
    const char *unique;        /* the key: UTF-8, at most REEVE_UNIQUE_MAX bytes; NULL: none */
    bool unique_until_started; /* not together with unique_for_ms */
    int64_t unique_for_ms;
    reeve_conflict on_conflict;
    const char *on_dead; /* type of a task to enqueue if this one dies (dead.h); NULL: the queue's setting; "": none */
    /* Expiry: if the first attempt of the task has not begun by this time, the task dies with kind "expired". Set at
     * most one of the two fields. */
    int64_t deadline_ms;   /* a point in time */
    int64_t expires_in_ms; /* a duration from the enqueue */
    int64_t heartbeat_ms;  /* heartbeat limit (task.h); 0: the handler's value, else the queue's, else none */
    bool at_most_once;     /* complete the task before it runs (reeve_handler); false: the handler's value */
    /* Dependencies: the task is blocked until these have ended (depend.h). */
    const reeve_parent *after;
    size_t after_count;
    reeve_if_exists if_exists; /* what happens if the queue has a task with this id */
    /* The task is retried for at most this time, in ms, from its enqueue, by Redis's clock: a later failure is final,
     * and the task dies with the kind of that failure. `attempts` applies as well. The time includes the delay (in_ms
     * must be shorter), the time in which the task was blocked, and the time in which it was dead. 0: the handler's
     * value, else the queue's, else no limit. */
    int64_t retry_for_ms;
    /* Number of times that the handler may snooze the task (reeve_task_snooze with a delay). The next time, the task
     * dies with kind "snoozes". 0: the handler's value, else the queue's, else no limit. */
    int max_snoozes;
    /* How long the record of the task, with its result, is kept after it has completed, in ms. It overrides all limits
     * of the queue for completed tasks: age_ms and count of reeve_keep, and completed_bytes of reeve_queue_settings. A
     * dead or cancelled task is kept as the queue says. 0: the retention of the queue applies. */
    int64_t keep_ms;
    /* Units that each start of the task, also of a retry, takes of the rates of its queue, its group, its type and
     * its limit keys (limits.h), 1 to REEVE_COST_MAX; 0: 1. The task starts when one unit is free. It then takes all
     * its units, so that the next task may have to wait until the rate has made up for them. Concurrency counts each
     * task as one. */
    int cost;
    /* Limit keys, such as "customer:7" and "gpu": at most REEVE_LIMIT_KEYS_MAX texts in UTF-8 of at most
     * REEVE_LIMIT_KEY_MAX bytes each. A limit of a key (REEVE_LIMIT_KEY, limits.h) counts all tasks of the queue that
     * have the key. */
    const char *const *limit_keys;
    size_t limit_key_count;
} reeve_task_spec;

/*
 * Enqueues one task. On success the task is stored in Redis, and ret_id, when not NULL, has its id. The persistence
 * settings of Redis decide whether the task survives a crash of Redis. If the connection is lost before the reply,
 * the client repeats the call on a new connection; the task is enqueued at most once nevertheless. If the repeat finds
 * neither the task nor its record, Redis has not executed the first call, or the task has ended and its record was
 * deleted. The repeat enqueues the task only if no record of an ended task can have been deleted since the first call.
 * Otherwise it enqueues nothing, and the call returns REEVE_ELOST. Records can have been deleted in these cases: the
 * queue keeps no completed, cancelled or dead tasks (reeve_keep); it keeps them for less time than the call has taken;
 * or it keeps so few that records of tasks that ended during the call are already deleted. A task that was discarded,
 * deleted or moved during the call leaves no record, so then the call returns REEVE_ELOST, too.
 *
 *   REEVE_EINVAL      a name or an option is not valid
 *   REEVE_ETOOBIG     larger than a size limit (size_limits.h), or than the queue allows (payload_max)
 *   REEVE_EEXISTS     the queue has a task with this id
 *   REEVE_EUNIQUE     another task holds the unique key; ret_id has the id of that task
 *   REEVE_ENOTFOUND   a parent in the same queue does not exist (depend.h). A parent can come in the same call of
 *                     reeve_enqueue_many, before or after the task; the task is refused if that parent is refused,
 *                     or if the two wait for each other
 *   REEVE_BUFFERED    only of a client with a buffer (buffer.h): the task is in the buffer; ret_id has its id
 *   REEVE_UNCONFIRMED only of a client with wait_replicas: the task is in Redis, and ret_id has its id, but fewer than
 *                     wait_replicas replicas have confirmed it in time
 *   REEVE_EFULL       not enqueued: Redis cannot be reached, and the buffer is full
 *   REEVE_ECONNECT, REEVE_EREDIS, REEVE_ENOMEM
 *                     not enqueued
 *   REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EPROTO
 *                     unknown: the task may have been enqueued; ret_id has its id. You can repeat the call with this
 *                     id: it returns REEVE_EEXISTS if the task was enqueued and its record still exists, else it
 *                     enqueues the task.
 */
REEVE_API reeve_status reeve_enqueue(reeve_client *client, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX]);

/* What reeve_enqueue_many did with one task. */
typedef struct reeve_enqueued {
    reeve_status status;
    /* The id of the task, also when it is unknown whether it was enqueued. REEVE_EUNIQUE: the id of the holder of the
     * unique key. REEVE_ENOTFOUND: the id of the parent that does not exist. */
    char id[REEVE_ID_MAX];
} reeve_enqueued;

/*
 * Enqueues many tasks, of any queues, in few round trips. ret_results has `count` elements; the function writes all
 * of them, whatever it returns. It returns REEVE_OK if all tasks were enqueued, else the status of the first failure,
 * and reeve_client_error() returns the message of the first failure. A failure does not stop the other tasks: the
 * call is not atomic. Tasks of one queue keep their order. If there are more than size_limits.batch tasks, none is
 * enqueued, and the status of all is REEVE_ETOOBIG.
 */
REEVE_API reeve_status reeve_enqueue_many(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                          reeve_enqueued *ret_results);

/*
 * Writes the message for one task of the client's last reeve_enqueue_many to ret, a buffer of `size` bytes; "" for
 * REEVE_OK. A longer message is cut, so that it fits with its final zero byte. `spec` and `result` are the elements
 * with the same index in the two arrays of that call.
 */
REEVE_API void reeve_enqueued_error(const reeve_client *client, const reeve_task_spec *spec,
                                    const reeve_enqueued *result, char *ret, size_t size);

/* Checks a spec as reeve_enqueue does, without Redis, and with the default size limits. On failure the message is
 * written to ret_error, a buffer of `size` bytes, or NULL. A longer message is cut, so that it fits with its final zero
 * byte. Any thread. */
REEVE_API reeve_status reeve_task_spec_check(const reeve_task_spec *spec, char *ret_error, size_t size);

/* ---- controlling tasks ----------------------------------------------------------------------------------------- */

/*
 * retry   A dead, cancelled or scheduled task becomes ready now. The failures and crashes of a dead task are set to 0.
 *         REEVE_EUNIQUE: another task now holds its unique key.
 *
 * cancel  A waiting task (blocked, scheduled, ready, parked) is cancelled: it does not run, and its record is kept. A
 *         running task is not stopped by force: its handler is asked to stop (reeve_task_should_stop,
 *         reeve_task_is_cancelled), and the call returns at once. If the handler then ends with reeve_task_done, the
 *         task is completed. If it ends with another outcome, or the worker stops or dies, the task is cancelled.
 *         reeve_wait waits until then. A second call of reeve_cancel asks the handler again.
 *
 * delete  A task that is not running is deleted, with its record, result, log and history.
 *
 * retry_completed
 *         As retry, but also for a completed task, which runs again. Its result is removed, and its failures and
 *         crashes are set to 0. While a task that depends on it has not ended, the call is refused (REEVE_ESTATE),
 *         because that task may read the result.
 *
 * REEVE_ENOTFOUND: there is no such task. REEVE_ESTATE: the task's state does not allow the call, or other tasks
 * depend on the task (depend.h); the message names the reason.
 */
REEVE_API reeve_status reeve_retry(reeve_client *client, const char *queue, const char *id);
REEVE_API reeve_status reeve_retry_completed(reeve_client *client, const char *queue, const char *id);
REEVE_API reeve_status reeve_cancel(reeve_client *client, const char *queue, const char *id);
/* As reeve_cancel. *ret_running is true if the task is running, and so is not cancelled yet. */
REEVE_API reeve_status reeve_cancel_with_running(reeve_client *client, const char *queue, const char *id,
                                                 bool *ret_running);
/* As reeve_cancel_with_running, with a reason: one line of UTF-8 of at most REEVE_REASON_MAX bytes, or NULL. The reason
 * is in the record of the task (cancel_reason of reeve_task_info), and in its events "cancelling" and "cancelled"
 * (watch.h). If the task is running, its handler gets the reason from reeve_task_cancel_reason. If `cascade` is true,
 * tasks that depend on the task are cancelled, too, as by reeve_cancel_cascade (depend.h), but without the reason. */
REEVE_API reeve_status reeve_cancel_with_reason(reeve_client *client, const char *queue, const char *id,
                                                const char *reason, bool cascade, bool *ret_running);
REEVE_API reeve_status reeve_delete(reeve_client *client, const char *queue, const char *id);

/*
 * reschedule    A ready, scheduled or parked task gets another time to run; 0 or a past time: now.
 * set_priority  A waiting task (blocked, scheduled, ready, parked) gets another priority, and is placed like a newly
 *               enqueued task.
 *
 * Errors as above; in addition REEVE_EINVAL: a number is out of range.
 */
REEVE_API reeve_status reeve_reschedule(reeve_client *client, const char *queue, const char *id, int64_t at_ms);
REEVE_API reeve_status reeve_reschedule_in(reeve_client *client, const char *queue, const char *id, int64_t delay_ms);
REEVE_API reeve_status reeve_set_priority(reeve_client *client, const char *queue, const char *id, int priority);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_client_open_sized(reeve_client **ret, const reeve_client_options *options,
                                               size_t options_size);
#define reeve_client_open(...) reeve_client_open_sized(__VA_ARGS__, sizeof(reeve_client_options))
REEVE_API reeve_status reeve_client_open_with_error_sized(reeve_client **ret, const reeve_client_options *options,
                                                          char *ret_error, size_t size, size_t options_size);
#define reeve_client_open_with_error(...) reeve_client_open_with_error_sized(__VA_ARGS__, sizeof(reeve_client_options))
REEVE_API reeve_status reeve_enqueue_sized(reeve_client *client, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX],
                                           size_t spec_size);
#define reeve_enqueue(...) reeve_enqueue_sized(__VA_ARGS__, sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_enqueue_many_sized(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                                reeve_enqueued *ret_results, size_t spec_size);
#define reeve_enqueue_many(...) reeve_enqueue_many_sized(__VA_ARGS__, sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_client_confirm_sized(reeve_client *client, const char *queue,
                                                  const reeve_confirmation *confirmation, size_t confirmation_size);
#define reeve_client_confirm(...) reeve_client_confirm_sized(__VA_ARGS__, sizeof(reeve_confirmation))
REEVE_API void reeve_enqueued_error_sized(const reeve_client *client, const reeve_task_spec *spec,
                                          const reeve_enqueued *result, char *ret, size_t size, size_t spec_size);
#define reeve_enqueued_error(...) reeve_enqueued_error_sized(__VA_ARGS__, sizeof(reeve_task_spec))
REEVE_API reeve_status reeve_task_spec_check_sized(const reeve_task_spec *spec, char *ret_error, size_t size,
                                                   size_t spec_size);
#define reeve_task_spec_check(...) reeve_task_spec_check_sized(__VA_ARGS__, sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif

#include "inspect.h"
#include "queue.h"
#include "workers.h"

#endif
