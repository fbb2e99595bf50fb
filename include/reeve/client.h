/*
 * client.h - enqueue tasks, inspect them, and control queues.
 *
 * A client is one connection to Redis. It reconnects by itself. Only one thread at a time may use a client, so open
 * one client for each thread. Unless its comment says otherwise, a call blocks for one round trip to Redis, and for
 * at most the client's timeout (`timeout_ms`). After a failed call, reeve_client_error() returns a message. "Any
 * thread" in a comment means that any number of threads may make the call at the same time. docs/glossary.md defines
 * the terms.
 *
 * Fork: with a client that its parent opened, a child process may do nothing but close it, which does not disturb the
 * parent's connection. Every other call returns REEVE_EINVAL. The child may open clients of its own. The library cannot
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

typedef struct reeve_client reeve_client;

/* Called for a task of the client's buffer that Redis has refused (buffer.h), within the call that delivered it. It
 * must not use the client. */
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
    /* A buffer for tasks that are enqueued while Redis cannot be reached (buffer.h). A client with a buffer also opens
     * without Redis, and its enqueues can return REEVE_BUFFERED. Without a path the buffer is in memory. */
    const char *buffer_path;                /* file of the buffer; NULL: none */
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
 * reeve_enqueue_many for several queues waits once: for the largest number of replicas, the longest time, and the disk
 * if one of the queues wants it. Does not block.
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
 *     wait    the child keeps waiting, because a retry of the parent may complete. If the parent is deleted, the
 *             child dies
 *     death   the child waits for this case: it becomes ready when the first of its parents dies, is cancelled or is
 *             deleted. If all parents complete, the child is deleted. Use this value for all parents of a child or
 *             for none.
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
     * one with weight 1. All tasks of a group should have the same weight. If they differ, the weight of each task
     * counts: two tasks of weight 2 use as much of the share of their group as one task of weight 1. */
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
} reeve_task_spec;

/*
 * Enqueues one task. On success the task is stored in Redis, and ret_id, when not NULL, has its id. The persistence
 * settings of Redis decide whether the task survives a crash of Redis. If the connection is lost before the reply,
 * the client repeats the call on a new connection; the task is enqueued at most once nevertheless. If the repeat finds
 * neither the task nor its record, Redis enqueues the task only if no record of an ended task can have been deleted
 * since the first call. Otherwise the task may have run already: the repeat enqueues nothing, and the call returns
 * REEVE_ELOST. This is possible if the queue keeps no completed, cancelled or dead tasks (reeve_keep), keeps them for
 * less time than the call has taken, or keeps so few that records of tasks that ended during the call are already
 * deleted.
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

/* ---- inspecting tasks ------------------------------------------------------------------------------------------ */

/* The state of a task. */
typedef enum reeve_state {
    REEVE_STATE_BLOCKED = 0, /* waits until its parents have ended */
    REEVE_STATE_SCHEDULED,   /* waits for its time, or for a retry */
    /* Can run and waits for a thread. It stays ready while other tasks are before it, and while its queue is paused or
     * at a limit. */
    REEVE_STATE_READY,
    REEVE_STATE_PARKED,  /* would be ready, but its group is paused or at a limit */
    REEVE_STATE_RUNNING, /* a worker has leased it */
    /* Its outcome was reeve_task_done. A task with at_most_once is completed just before its handler begins. */
    REEVE_STATE_COMPLETED,
    /* It will not run again, unless it is retried by hand: it failed for the last time, crashed too often, expired, or
     * a parent did not complete. */
    REEVE_STATE_DEAD,
    REEVE_STATE_CANCELLED /* a cancel stopped it */
} reeve_state;
#define REEVE_STATE_COUNT 8

/* reeve_state_name returns the name of a state, such as "ready". reeve_state_parse gets the state of a name;
 * REEVE_EINVAL: there is no such state. Any thread. */
REEVE_API const char *reeve_state_name(reeve_state state);
REEVE_API reeve_status reeve_state_parse(const char *name, reeve_state *ret);

/* A line of a task's log. */
typedef struct reeve_log_line {
    int64_t time_ms;
    char *text;
} reeve_log_line;

/* All that Redis has about a task. The caller frees it with reeve_task_info_free. A string that does not apply to the
 * task is NULL. A number that does not apply is -1 if its comment says so, else 0. If a comment begins with states,
 * such as "running:", the field is only set for tasks in these states. */
typedef struct reeve_task_info {
    char *queue;
    char *id;
    char *type;
    reeve_state state;
    reeve_bytes payload;
    reeve_bytes result; /* data NULL: none recorded */
    int priority;
    char *group;
    int64_t enqueued_ms;
    int64_t due_ms; /* scheduled, or blocked with a later time: when it becomes ready; else -1 */
    /* running, or completed in a queue with record_runs (reeve_queue_policy): when the current or last attempt began;
     * else -1 */
    int64_t started_ms;
    int64_t ended_ms; /* completed, dead or cancelled: when that happened; else -1 */
    unsigned failures;
    unsigned crashes;
    int attempts;       /* its option `attempts`, not that of its handler or queue; 0: not set */
    int max_crashes;    /* its option; 0: not set */
    int64_t timeout_ms; /* its option; 0: not set */
    unsigned weight;    /* weight of its group, 1 if it was not set */
    char *backoff;      /* option of the task, in the form of `reeve enqueue --backoff`, such as "fixed:30s"; or NULL */
    char *error_kind;   /* of the last failure */
    char *error_message;
    int64_t failed_ms;        /* time of the last failure, or -1 */
    int progress;             /* percent, or -1 */
    char *progress_words;     /* the message of reeve_task_progress */
    char *worker;             /* running, or completed in a queue with record_runs: the id of its worker */
    char *session;            /* running, or completed in a queue with record_runs: the id of the worker's session */
    char *unique;             /* the unique key, or NULL */
    char *tags;               /* a JSON array, or NULL */
    char *meta;               /* a JSON object, or NULL */
    bool cancelling;          /* running: a cancel has asked its handler to stop */
    int64_t deadline_ms;      /* when it dies unless an attempt has begun; -1: no deadline, or an attempt has begun */
    int64_t heartbeat_ms;     /* option of the task, or 0 */
    bool at_most_once;        /* option of the task */
    int64_t checkpoint_bytes; /* length of its checkpoint, or -1 */
    uint64_t logged;     /* number of lines that reeve_task_log has added, including those that are not kept any more */
    reeve_log_line *log; /* the kept lines, oldest first; only from reeve_show and reeve_wait */
    size_t log_count;
    /* The history of the task: a JSON array of objects, oldest first. "at" is the time in ms, and "what" the change:
     *
     *   "retry"        an attempt failed, and another one follows after "delay" ms; with "kind" and "message"
     *   "failed"       an attempt failed, and the task had been cancelled while it ran; with "kind" and "message"
     *   "dead"         the task died; with "kind" and "message"
     *   "recovered"    its worker died or lost its session, and the task returned to its queue
     *   "cancelled"    a cancel stopped it
     *   "retried"      a call of reeve_retry made it ready; "from" is its state before
     *   "rescheduled"  it got another time: "due" is the new time, "delay" the delay in ms if one was given
     *   "priority"     it got another priority: "priority"
     *   "blocked"      parents were added while it waited, or its handler lets it wait (reeve_task_wait_for)
     *   "unblocked"    its last parent ended; "by" is the handle of that parent
     *
     * "worker" is the id of the worker that made the change; it is absent if a command or maintenance made it. Texts
     * are cut at 200 bytes. There are at most 20 objects: the first and the last 19. NULL: none, as for a task that
     * completed in its first attempt. */
    char *history;
    /* Only from reeve_show: the first 100 parents and the first 100 children, as JSON, or NULL. Parents:
     * [{"handle":"q/id","on_death":"fail","ended":"completed"}, ...]. Children: ["q/id", ...]. The first 10 parents
     * in the same queue that have not ended also have the member "state", the state of the parent, or "gone" if there
     * is no such task. */
    char *parents;
    char *children;
    int64_t parent_count; /* -1: unknown, as from reeve_list */
    int64_t child_count;
    bool unique_until_started; /* as in its reeve_task_spec */
    int64_t unique_for_ms;     /* as in its reeve_task_spec */
    char *on_dead;             /* option of the task; "": none; NULL: not set, the queue's setting applies */
    /* running: when the lease expires unless a heartbeat renews it. 0: the lease has expired, and the task is not
     * recovered yet. Else -1 */
    int64_t lease_expires_ms;
    /* running: the lease has expired because its worker died or lost its session, and maintenance (maintain.h) has
     * not recovered the task yet */
    bool stalled;
    /* running, or completed in a queue with record_runs (reeve_queue_policy): the number of the thread in its worker,
     * as text, such as "3"; else NULL */
    char *thread;
    char *cancel_reason;  /* the reason of its last cancel, or NULL */
    int64_t retry_for_ms; /* option of the task, or 0 */
    /* the frames of its last crash, one a line, the innermost first, when error_kind is "crash" and a supervised worker
     * ran it; else NULL */
    char *backtrace;
    int max_snoozes;  /* option of the task, or 0 */
    unsigned snoozes; /* number of snoozes; counted while there is a limit (max_snoozes) */
    int64_t keep_ms;  /* option of the task, or 0 */
} reeve_task_info;

/* Gets a task. REEVE_ENOTFOUND: there is no such task, or its record is no longer kept. */
REEVE_API reeve_status reeve_show(reeve_client *client, const char *queue, const char *id, reeve_task_info **ret);
REEVE_API void reeve_task_info_free(reeve_task_info *info);

/*
 * Gets tasks by their handles, of any queues. ret has `count` elements: the task of each handle as from reeve_show, or
 * NULL if there is no such task. Free each with reeve_task_info_free. Blocks for a round trip for each 32 tasks. The
 * tasks are not read in one step: some may change while others are read. On failure all elements are NULL.
 * REEVE_EINVAL: a handle is not valid.
 */
REEVE_API reeve_status reeve_show_many(reeve_client *client, const char *const *handles, size_t count,
                                       reeve_task_info **ret);

/*
 * Gets a page of the tasks of a queue in one state. Ready and scheduled tasks are in the order in which they will
 * run. Completed, dead and cancelled tasks are in the order in which they ended, the last one first; tasks that ended
 * in the same millisecond are in descending order of their ids. Running tasks have no order. `offset` is the number
 * of tasks to skip. `limit` is the maximum length of the page, at most 1000. The tasks have their payloads and
 * results. If these are large, the page can be shorter than `limit`, but it has at least one task: get the next page
 * at offset + *ret_count. *ret_total is the number of tasks in that state. Free the page with reeve_task_list_free.
 */
REEVE_API reeve_status reeve_list(reeve_client *client, const char *queue, reeve_state state, uint64_t offset,
                                  size_t limit, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_task_list_free(reeve_task_info **list, size_t count);

/*
 * Blocks until the task has ended, or timeout_ms has passed; a negative timeout_ms is no limit. The call does not
 * poll: Redis notifies it of the end. It uses a second connection while it waits. With REEVE_OK, REEVE_EDEAD and
 * REEVE_ECANCELLED, *ret has the task as from reeve_show, if ret is not NULL.
 *
 *   REEVE_OK                    the task is completed
 *   REEVE_EDEAD                 the task is dead
 *   REEVE_ECANCELLED            the task is cancelled
 *   REEVE_ENOTFOUND             there is no such task, it was deleted, or its record is no longer kept
 *   REEVE_ETIMEOUT              the task has not ended within timeout_ms
 *   REEVE_EINTERRUPTED          reeve_client_interrupt was called
 *   REEVE_ECONNECT, REEVE_ELOST the call could not connect to Redis, or lost the connection and could not connect again
 *   REEVE_EREDIS                Redis answered with an error
 *
 * If the call cannot connect, loses the connection, or gets a temporary error such as MISCONF, it tries again. Until
 * it has read the state of the task for the first time, it tries for at most the timeout of the client (`timeout_ms`
 * of reeve_client_options). From then on it tries until the argument timeout_ms has passed.
 *
 * A replica sends no notifications. If the client is connected to a replica, the call polls once a second.
 */
REEVE_API reeve_status reeve_wait(reeve_client *client, const char *queue, const char *id, int64_t timeout_ms,
                                  reeve_task_info **ret);

/* Interrupts the running reeve_wait of this client, or, if none runs, the next one. Any thread; async-signal-safe. */
REEVE_API void reeve_client_interrupt(reeve_client *client);

/* ---- inspecting queues and workers ----------------------------------------------------------------------------- */

/*
 * A rate limit by a token bucket: `count` tasks may start in each period. After an idle time up to `burst` tasks
 * may start together. At a rate of more than one task per millisecond, up to 5 ms worth of tasks can start together,
 * even if the burst is smaller. A burst of 1 spaces the starts evenly. The actual rate is then slightly below
 * `count`: if a start is late, the later starts do not make up for it.
 */
typedef struct reeve_rate {
    int64_t count;     /* 1 to 1,000,000,000; 0: no rate limit */
    int64_t period_ms; /* 1 ms to 366 days; 0: 1000 */
    int64_t burst;     /* 1 to 1,000,000,000; 0: equal to count */
} reeve_rate;

/* A queue. */
typedef struct reeve_queue_info {
    char name[REEVE_QUEUE_MAX + 1];
    bool paused;
    uint64_t count[REEVE_STATE_COUNT]; /* number of tasks in each state; the index is a reeve_state */
    /* Totals since the queue was created; they are exact. */
    uint64_t completed_total;  /* completed tasks */
    uint64_t failed_total;     /* failed attempts */
    uint64_t dead_total;       /* tasks that died */
    uint64_t crashed_total;    /* attempts that ended with a crash: their worker died or lost its session */
    int64_t oldest_ready_ms;   /* enqueue time of the task at the head of the queue, the next one to be leased; or -1 */
    int64_t next_due_ms;       /* due time of the first scheduled task, or -1 */
    int64_t paused_ms;         /* when the queue was paused; -1: it is not paused, or the time is unknown */
    int64_t pause_until_ms;    /* the queue is paused until then by reeve_pause_for (limits.h); -1: no such pause */
    int64_t concurrency;       /* limit of the queue (limits.h): running tasks; 0: no limit */
    reeve_rate rate;           /* limit of the queue: starts; count 0: no limit */
    int64_t group_concurrency; /* the same for each group; 0: no limit */
    reeve_rate group_rate;     /* the same for each group; count 0: no limit */
} reeve_queue_info;

/* Gets one queue. A queue that never had a task is not an error: all counts and totals are 0, and oldest_ready_ms and
 * next_due_ms are -1. */
REEVE_API reeve_status reeve_queue(reeve_client *client, const char *queue, reeve_queue_info *ret);

/* Gets all queues of the namespace, ordered by name, as one array. Free it with reeve_queues_free. */
REEVE_API reeve_status reeve_queues(reeve_client *client, reeve_queue_info **ret, size_t *ret_count);
REEVE_API void reeve_queues_free(reeve_queue_info *list);

/* A live worker. */
typedef struct reeve_worker_info {
    char *id;
    char *name;
    char *host;
    int64_t pid;
    char *version;
    int64_t started_ms;
    int64_t seen_ms; /* time of the last heartbeat */
    char *state;     /* "running", "quiet" (it leases no tasks), or "stopping" (reeve_worker_stop was called) */
    unsigned threads;
    unsigned busy;         /* threads that ran a handler at the last heartbeat */
    uint64_t processed;    /* completed tasks and failed attempts since its start */
    uint64_t failed;       /* of these: failed attempts */
    int64_t memory_bytes;  /* resident memory at the last heartbeat; 0: unknown */
    int64_t round_trip_us; /* round trip time of the heartbeat before its last one; 0: unknown */
    char *running;         /* JSON: the attempts that ran at the last heartbeat, the longest first, at most 64:
                              [{"thread":"fast/1","queue":..,"id":..,"type":..,"for_ms":n}] */
    /* JSON: [{"name":..,"threads":n,"utilisation":x,"queues":[..]}]; "order" is present unless it is strict */
    char *pools;
    char *types;     /* JSON: ["..", ..], the types of its handlers, at most 200; NULL: unknown */
    bool types_more; /* true: it has handlers of more than 200 types */
    /* The share of their time for which its threads ran handlers, from 0 to 1, over about the last minute; -1:
     * unknown. */
    double utilisation;
    /* JSON: [{"name":..,"version":..,"path":..,"loaded":ms,"ends":false}], its plugins, at most 64. "ends" is true for
     * a version that was replaced, and in which tasks still run. NULL: unknown */
    char *plugins;
} reeve_worker_info;

/* Gets all live workers of the namespace as one array. Free it with reeve_workers_free. */
REEVE_API reeve_status reeve_workers(reeve_client *client, reeve_worker_info **ret, size_t *ret_count);
REEVE_API void reeve_workers_free(reeve_worker_info *list, size_t count);

/* The crash of a supervised worker (reeve-worker --supervise). Texts that are not known are "". */
typedef struct reeve_crash_info {
    int64_t at_ms;       /* time of the crash */
    char *worker;        /* its id */
    char *thread;        /* name of the thread that crashed */
    char *task;          /* handle of a task for which a crash was counted */
    char *type;          /* type of the task that the thread ran */
    char *message;       /* the signal, the address and the function; or how the process ended */
    char *backtrace;     /* the frames, one a line, the innermost first */
    uint64_t crashed;    /* number of tasks for which a crash was counted */
    uint64_t settled;    /* number of tasks that had finished, and were settled */
    uint64_t given_back; /* number of tasks that returned to their queues */
} reeve_crash_info;

/* Gets the last crashes of the namespace, at most 100, the latest first. Free the array with reeve_crashes_free. */
REEVE_API reeve_status reeve_crashes(reeve_client *client, reeve_crash_info **ret, size_t *ret_count);
REEVE_API void reeve_crashes_free(reeve_crash_info *list, size_t count);

/* What a worker answered (reeve_ask_workers). */
typedef struct reeve_answer {
    bool answered;   /* false: it gave no answer in time; `text` says more if it is known */
    bool done;       /* it has carried the request out; false with `answered`: it refused */
    char text[1024]; /* in words: what was done, or why not */
} reeve_answer;

/*
 * Asks running workers for something, and waits for their answers, for up to timeout_ms in all. `workers` are ids of
 * workers (reeve_workers). The request is one of these:
 *
 *     quiet                        take no new tasks
 *     resume                       take tasks again
 *     threads POOL MIN MAX         reeve_worker_set_threads
 *     add-queue POOL QUEUE WEIGHT  reeve_worker_add_queue
 *     remove-queue POOL QUEUE      reeve_worker_remove_queue
 *     log-level LEVEL              write messages from this level on: debug, info, warn, error or off
 *     stack [THREAD]               report the stacks of its threads, or of one, as JSON (docs/json.md, `stack`). The
 *                                  answer may be longer than reeve_answer.text: use reeve_ask_worker
 *     stop, reload, rotate-logs    stop; read the configuration again; open the log file again
 *
 * The program of the worker carries out `stack`, `stop`, `reload` and `rotate-logs` (reeve_worker_options.on_request).
 * reeve-worker carries out all four. Another program may refuse them; if it does not carry out `reload`, the worker
 * calls reeve_worker_reload. ret_answers has room for `count` answers, in the order of the workers. Workers carry out a
 * request in any order. A worker that gave no answer in time may have carried it out, or may do so later. Any user of
 * Redis who may publish to the channels of the namespace can make requests.
 *
 *   REEVE_OK       each worker has answered, or the time is over
 *   REEVE_EINVAL   the request is empty, longer than 500 bytes, or has a line feed; or count is more than 1000
 */
REEVE_API reeve_status reeve_ask_workers(reeve_client *client, const char *const *workers, size_t count,
                                         const char *request, int64_t timeout_ms, reeve_answer *ret_answers);

/*
 * Asks one worker, as reeve_ask_workers does, and gets its whole answer: at most 1 MiB, in *ret_text, which the caller
 * frees with reeve_answer_free. *ret_done: the worker has carried the request out; false: it refused.
 *
 *   REEVE_ENOTFOUND  the worker does not listen to its channel: it has ended, or an access list forbids it to subscribe
 *   REEVE_ETIMEOUT   no answer within timeout_ms
 */
REEVE_API reeve_status reeve_ask_worker(reeve_client *client, const char *worker, const char *request,
                                        int64_t timeout_ms, bool *ret_done, char **ret_text);

/* Frees an answer of reeve_ask_worker. NULL: does nothing. Any thread. */
REEVE_API void reeve_answer_free(char *text);

/* ---- controlling tasks and queues ------------------------------------------------------------------------------ */

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
/* As reeve_cancel_with_running, with a reason: one line of UTF-8 of at most REEVE_REASON_MAX bytes, or NULL. The record
 * (cancel_reason) and the events of the task have the reason. If the task is running, its handler gets the reason from
 * reeve_task_cancel_reason. If `cascade` is true, tasks that depend on the task are cancelled, too, as by
 * reeve_cancel_cascade (depend.h), but without the reason. */
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

/* Pauses or resumes a queue. Workers lease no tasks of a paused queue. Running tasks continue, and tasks can be
 * enqueued. It is no error to pause a paused queue, or to resume a queue that is not paused. */
REEVE_API reeve_status reeve_pause(reeve_client *client, const char *queue);
REEVE_API reeve_status reeve_resume(reeve_client *client, const char *queue);

/* Retention: how long, and how many, records of ended tasks are kept. A record is deleted when it exceeds either
 * limit; the oldest records are deleted first. The number of completed tasks can exceed its limit by 1/64 for a
 * while. */
typedef struct reeve_keep {
    int64_t age_ms; /* 0: keep none; -1: no limit; at most 2,000,000,000,000 */
    int64_t count;  /* 0: keep none; -1: no limit; at most 1,000,000,000 */
} reeve_keep;

/*
 * Defaults for the tasks of a queue. For each option, the task's own value applies if it is set, else that of its
 * handler, else that of this policy, else the built-in default. A zeroed backoff is "not set". Workers learn of a
 * change at once. A new timeout_ms or max_crashes applies to attempts that begin after the change. New `attempts` and
 * a new backoff apply to failures after the change.
 */
typedef struct reeve_queue_policy {
    int attempts;                 /* failed attempts after which a task dies; 0: not set */
    int max_crashes;              /* crashes after which a task dies; 0: not set */
    int64_t timeout_ms;           /* run time limit of an attempt; 0: not set */
    const reeve_backoff *backoff; /* delays between attempts; NULL: not set */
    /* true: the record of a completed task tells when, in which worker and on which thread the last attempt ran
     * (started_ms, worker, session and thread of reeve_task_info). The record is then about 150 bytes longer, and a
     * completion takes Redis more time: as much as a failed attempt. This does not apply to tasks that run at most
     * once. */
    bool record_runs;
    int64_t retry_for_ms; /* how long a task is retried after its enqueue: a later failure is final; 0: not set */
    int max_snoozes;      /* number of times that a handler may snooze a task; 0: not set */
    int64_t heartbeat_ms; /* heartbeat limit (reeve_task_heartbeat); 0: not set */
    /* How long an attempt may go on after its run time limit or heartbeat limit: at the limit the handler is asked to
     * stop (reeve_task_should_stop), and its outcome counts if it ends within this time. After it, the attempt has
     * failed. 0: the attempt fails at the limit. */
    int64_t grace_ms;
} reeve_queue_policy;

/*
 * A circuit breaker. A failed attempt begins a window of `window_ms`. The breaker opens when at least `attempts`
 * attempts have ended in the window, and at least `failures` percent of them have failed. While it is open, no task
 * starts; running tasks continue. After `pause_ms` one task starts. If it completes, the breaker closes; if it fails,
 * it opens again; if it has no outcome after `pause_ms`, another task starts. An attempt counts as failed if its
 * handler returns a retry or a failure, if it exceeds a time limit, or if a supervisor, a runner or the next start with
 * a crash_dir (worker.h) reports that it crashed. Snoozed and cancelled tasks do not count, nor do tasks that return to
 * their queue because a session expired. A task that runs at most once counts as completed.
 */
typedef struct reeve_breaker {
    int64_t failures;  /* percent, 1 to 100; 0: no breaker, the default */
    int64_t attempts;  /* 0: the default, 20 */
    int64_t window_ms; /* 0: the default, a minute */
    int64_t pause_ms;  /* 0: the default, 30 seconds */
} reeve_breaker;

/* Settings of a queue. */
typedef struct reeve_queue_settings {
    size_t size;                      /* sizeof(reeve_queue_settings), or 0 */
    const reeve_keep *completed;      /* retention of completed and cancelled tasks; default 1 day, 10,000 */
    const reeve_keep *dead;           /* retention of dead tasks; default 90 days, 10,000 */
    const reeve_queue_policy *policy; /* replaces the whole policy; a zeroed policy removes it */
    const char *on_dead;              /* type of a task to enqueue for each death (dead.h); "": none, the default */
    /* Number of days for which the statistics of a day (stats.h) are kept; at most 3650; default 30; 0: no statistics
     * are recorded from now on. A change applies to the current day and later ones, not to past days. */
    const unsigned *stats_days;
    /* Maximum length of a result in bytes, at most REEVE_RESULT_MAX; a longer result is refused (reeve_task_done).
     * Default 0: only the size limits of the workers apply (size_limits.h). Workers learn of a change at once. */
    const int64_t *result_max;
    /* Maximum total length of the results of all completed tasks, in bytes. While the total is larger, the oldest
     * completed tasks are deleted, including those without a result. Default 0: no limit. */
    const int64_t *completed_bytes;
    /* Maximum length of a payload in bytes, at most REEVE_PAYLOAD_MAX, for all producers: a longer payload is refused
     * (REEVE_ETOOBIG), also by reeve_edit. Tasks that are in the queue stay, and tasks that come from other queues, by
     * reeve_move or reeve_task_chain, are accepted. Default 0: only the size limits of the producers apply
     * (size_limits.h). While it is set, an enqueue takes Redis a little longer. */
    const int64_t *payload_max;
    const reeve_breaker *breaker;       /* of the queue: all its tasks */
    const reeve_breaker *group_breaker; /* of each group of the queue */
} reeve_queue_settings;

/* Changes settings of a queue. The change is in force at once, for all workers. A setting whose field is NULL stays
 * as it is. */
REEVE_API reeve_status reeve_queue_set(reeve_client *client, const char *queue, const reeve_queue_settings *settings);

/*
 * Gets the settings of a queue. No pointer of *ret is NULL, except policy->backoff if no backoff is set. A setting
 * that was never set has its default. Fields of the policy that were never set are zero, and on_dead is "" if it was
 * never set. The caller frees *ret, and all that it points to, with reeve_queue_settings_free. To change a part of a
 * policy, get the settings, change a copy of the policy, and set that copy.
 */
REEVE_API reeve_status reeve_queue_settings_get(reeve_client *client, const char *queue, reeve_queue_settings **ret);
REEVE_API void reeve_queue_settings_free(reeve_queue_settings *settings);

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
REEVE_API reeve_status reeve_queue_set_sized(reeve_client *client, const char *queue,
                                             const reeve_queue_settings *settings, size_t settings_size);
#define reeve_queue_set(...) reeve_queue_set_sized(__VA_ARGS__, sizeof(reeve_queue_settings))

#ifdef __cplusplus
}
#endif
#endif
