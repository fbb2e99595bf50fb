/*
 * client.h - enqueue tasks, inspect them, and control queues.
 *
 * A client is one connection to Redis. It reconnects by itself. One thread at a time may use a client: open one for
 * each thread. Each call below blocks for one round trip unless its comment says otherwise, and at most for the
 * client's timeout. After a failure, reeve_client_error() returns the message.
 *
 * Fork: a child process may only close a client that its parent opened. That does not disturb the parent's
 * connection. Every other call returns REEVE_EINVAL. Two cases are not detected: after vfork, only exec may follow,
 * and after a direct clone() no call is safe. If another thread was using the client during the fork, the child must
 * not touch the client at all.
 *
 * Times: durations are in milliseconds; points in time are in milliseconds since the epoch by Redis's clock. Values
 * above 2^53 - 1 ms are treated as that value, so INT64_MAX means "never". Any other number out of its range is
 * refused. The configuration and the command line accept durations up to 2,000,000,000 s and times before the year
 * 10000.
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

/* Zero selects the default of each field. */
typedef struct reeve_client_options {
    size_t size;        /* sizeof(reeve_client_options), or 0 */
    const char *redis;  /* URL; NULL: the environment variable REEVE_REDIS, else "embedded:", a private server */
    const char *ns;     /* namespace, the first part of every key; NULL: "reeve" */
    int64_t timeout_ms; /* time limit of one call in ms, connecting included; 0: 5000 */
    const char *name;   /* name of the connection in CLIENT LIST; NULL: "reeve-client" */
    reeve_size_limits size_limits; /* size limits of the tasks that it enqueues (size_limits.h); zeroed: the defaults */
    /* Busy-polling: a call that directly follows another one polls for its reply for up to this many microseconds
     * before it blocks. That shortens the call at the cost of processor time; the client stops polling while it does
     * not help. 0: 50; negative: no polling; values above 1000: 1000. */
    int64_t spin_us;
    const reeve_tls *tls; /* TLS of rediss:// URLs (tls.h); NULL: as the URL and the environment say */
} reeve_client_options;

/*
 * Opens a client and connects. On success the caller owns *ret and closes it with reeve_client_close. On failure *ret
 * is NULL; reeve_client_open_with_error then also writes the message to ret_error, if that is not NULL, cut at `size`
 * bytes. Blocks for at most timeout_ms; an "embedded:" URL starts a server, which can take 10 s more. Errors:
 * REEVE_EURL, REEVE_ECONNECT, REEVE_EUNSUPPORTED, REEVE_ENOMEM; REEVE_EINVAL: the namespace or a size limit is not
 * valid.
 */
REEVE_API reeve_status reeve_client_open(reeve_client **ret, const reeve_client_options *options);
REEVE_API reeve_status reeve_client_open_with_error(reeve_client **ret, const reeve_client_options *options,
                                                    char *ret_error, size_t size);

/* Closes the connection and frees the client; NULL is ignored. An embedded server stops when its last user closes,
 * which blocks until it has stopped: milliseconds as a rule, up to 10 s when it does not answer. */
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
 * What an enqueue does when another task, the holder, has the unique key of the new task.
 *
 *     reject    the new task is refused with REEVE_EUNIQUE; the call returns the id of the holder
 *     replace   a waiting holder is removed. The new task takes its place, its time and its priority. A time, or a
 *               priority other than 0, in the spec of the new task overrides that of the holder
 *     debounce  a waiting holder is removed, and the new task runs at its own time, so that each new task postpones
 *               the run
 *
 * With replace and debounce, tasks that depend on the holder then depend on the new task, in other queues as well;
 * with more than 1000 of them the new task is refused. If the holder is blocked and the new task names no parents,
 * the new task waits for the holder's parents; with more than 64 of them it is refused. A new task that names the
 * holder as its parent is refused. A holder that is running, or that has ended and keeps the key for a time, is not
 * replaced: the new task is refused.
 */
typedef enum reeve_conflict {
    REEVE_CONFLICT_REJECT = 0,
    REEVE_CONFLICT_REPLACE = 1,
    REEVE_CONFLICT_DEBOUNCE = 2
} reeve_conflict;

/*
 * What happens to a child, a task that depends on another one, when that parent dies, is cancelled or is deleted.
 *
 *     fail    the child dies, with kind "parent"
 *     go      the child continues as if the parent had completed
 *     wait    the child keeps waiting, because a retry of the parent may complete. If the parent is deleted, the
 *             child dies
 *     death   the child waits for a death: it becomes ready when the first of its parents dies, and is deleted when
 *             all parents have ended without one. Use it for all parents of a child or for none.
 */
typedef enum reeve_on_parent_death {
    REEVE_PARENT_FAIL = 0,
    REEVE_PARENT_GO = 1,
    REEVE_PARENT_WAIT = 2,
    REEVE_PARENT_DEATH = 3
} reeve_on_parent_death;

/* What an enqueue does when there is no task, and no record of one, with a parent's handle. */
typedef enum reeve_unknown_parent {
    REEVE_UNKNOWN_REFUSE = 0,    /* refuses the dependency, see depend.h */
    REEVE_UNKNOWN_COMPLETED = 1, /* takes the parent as completed: its record may have been deleted since */
    REEVE_UNKNOWN_EXPECTED = 2   /* waits for the parent, which will be enqueued later */
} reeve_unknown_parent;

/* A dependency: the parent that a task waits for. */
typedef struct reeve_parent {
    const char *handle; /* "<queue>/<id>"; or REEVE_PARENT_OPEN (depend.h) */
    reeve_on_parent_death on_death;
    reeve_unknown_parent unknown;
} reeve_parent;

/* The task to enqueue. Zero means "not set". The library copies what it needs before the call returns. */
typedef struct reeve_task_spec {
    size_t size;                  /* sizeof(reeve_task_spec), or 0 */
    const char *queue;            /* required */
    const char *type;             /* required */
    reeve_bytes payload;          /* any bytes, at most size_limits.payload */
    const char *id;               /* NULL: a new UUIDv7 */
    int priority;                 /* REEVE_PRIORITY_MIN to _MAX; lower runs sooner; default 0 */
    int64_t in_ms;                /* delay from its enqueue to its run; not together with at_ms */
    int64_t at_ms;                /* run at this time; a past time: now. Equal times run first in, first out */
    const char *group;            /* groups take turns (fairness); NULL: that of all tasks without a group */
    unsigned weight;              /* share of the group, 1 to 256; 0: 1; only with a group */
    int attempts;                 /* maximum of attempts; 0: the handler's, else the queue's, else 20 */
    int max_crashes;              /* 0: the handler's, else the queue's, else 3 */
    int64_t timeout_ms;           /* run time limit; 0: the handler's, else the queue's, else none */
    const reeve_backoff *backoff; /* NULL: the handler's, else the queue's, else the default */
    const char *const *tags;      /* at most REEVE_TAGS_MAX texts of at most REEVE_TAG_MAX bytes each; see tags.h */
    size_t tag_count;
    const reeve_meta *meta;
    size_t meta_count;
    /* Uniqueness: at most one task of a queue holds a unique key. By default a task holds its key until it has ended,
     * that is, until it is completed, dead, cancelled or deleted; a task that runs at most once holds it until its
     * handler has returned or its worker has died. unique_until_started: only until the task is leased for the first
     * time. unique_for_ms: for that time from its enqueue, even if it completes or dies before. */
    const char *unique;        /* the key: UTF-8, at most REEVE_UNIQUE_MAX bytes; NULL: none */
    bool unique_until_started; /* not together with unique_for_ms */
    int64_t unique_for_ms;
    reeve_conflict on_conflict;
    const char *on_dead; /* type of a task to enqueue if this one dies, see dead.h; NULL: as the queue says; "": none */
    /* Expiry: a task that has not begun by this time dies with kind "expired". Once its first attempt has begun it
     * cannot expire any more. Set at most one of the two. */
    int64_t deadline_ms;   /* a point in time */
    int64_t expires_in_ms; /* a duration from its enqueue */
    int64_t heartbeat_ms;  /* heartbeat limit, see reeve_task_heartbeat; 0: as the handler says */
    bool at_most_once;     /* the task is completed before it runs, see reeve_handler; false: as the handler says */
    /* Dependencies: the task is blocked until these have ended (depend.h). */
    const reeve_parent *after;
    size_t after_count;
} reeve_task_spec;

/*
 * Enqueues one task. On success the task is stored in Redis, and ret_id, when not NULL, has its id. How durable it is
 * depends on the persistence of that Redis. When the connection is lost before the reply, the client repeats the call
 * on a new connection, and the task is still enqueued only once. It returns REEVE_ELOST instead of repeating the call
 * if the first call may have succeeded and the record of the task may have been deleted since.
 *
 *   REEVE_EINVAL      a name or an option is not valid
 *   REEVE_ETOOBIG     larger than a size limit (size_limits.h)
 *   REEVE_EEXISTS     the queue has a task with this id
 *   REEVE_EUNIQUE     another task holds the unique key; ret_id has the id of that task
 *   REEVE_ENOTFOUND   a parent in the same queue does not exist (depend.h)
 *   REEVE_ECONNECT, REEVE_EREDIS, REEVE_ENOMEM
 *                     not enqueued
 *   REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EPROTO
 *                     unknown: the task may have been enqueued; ret_id has its id. Repeating the call with that id is
 *                     safe while the record of the first task exists: it returns REEVE_EEXISTS.
 */
REEVE_API reeve_status reeve_enqueue(reeve_client *client, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX]);

/* The outcome for one task of reeve_enqueue_many. */
typedef struct reeve_enqueued {
    reeve_status status;
    char id[REEVE_ID_MAX]; /* the task's id, also when the status means unknown; REEVE_EUNIQUE: the id of the task that
                            * holds the key; REEVE_ENOTFOUND: the id of the parent */
} reeve_enqueued;

/*
 * Enqueues many tasks, of any queues, in pipelined bulk calls. ret_results has `count` elements, all of which are
 * written, whatever the function returns. Returns REEVE_OK when all tasks were enqueued, else the status of the first
 * failure; a failure does not stop the other tasks. reeve_client_error() has the message of the first failure. The
 * call is not atomic. Tasks of one queue keep their order. With more than size_limits.batch tasks nothing is sent, and
 * all get REEVE_ETOOBIG.
 */
REEVE_API reeve_status reeve_enqueue_many(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                          reeve_enqueued *ret_results);

/*
 * Writes the message for any failure of the client's last reeve_enqueue_many to ret, cut at `size` bytes; "" for
 * REEVE_OK. spec and result are elements of that call.
 */
REEVE_API void reeve_enqueued_error(const reeve_client *client, const reeve_task_spec *spec,
                                    const reeve_enqueued *result, char *ret, size_t size);

/* Checks a spec as reeve_enqueue does with the default size limits, without Redis. On failure ret_error, when not NULL,
 * receives the message, cut at `size` bytes. Any thread. */
REEVE_API reeve_status reeve_task_spec_check(const reeve_task_spec *spec, char *ret_error, size_t size);

/* ---- inspecting tasks ------------------------------------------------------------------------------------------ */

typedef enum reeve_state {
    REEVE_STATE_BLOCKED = 0,
    REEVE_STATE_SCHEDULED,
    REEVE_STATE_READY,
    REEVE_STATE_PARKED,
    REEVE_STATE_RUNNING,
    REEVE_STATE_COMPLETED,
    REEVE_STATE_DEAD,
    REEVE_STATE_CANCELLED
} reeve_state;
#define REEVE_STATE_COUNT 8

/* The name of a state, such as "ready", and the state of a name; REEVE_EINVAL: there is no such state. Any thread. */
REEVE_API const char *reeve_state_name(reeve_state state);
REEVE_API reeve_status reeve_state_parse(const char *name, reeve_state *ret);

/* A line of a task's log. */
typedef struct reeve_log_line {
    int64_t time_ms;
    char *text;
} reeve_log_line;

/* All that is known about a task. The caller frees it with reeve_task_info_free. Where a field does not apply, a
 * string is NULL, and a number is -1 if its comment says so, else 0. */
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
    int64_t due_ms;     /* scheduled: the time when it becomes ready; else -1 */
    int64_t started_ms; /* running, or completed with record_runs of the queue: when its last attempt began; else -1 */
    int64_t ended_ms;   /* completed, dead or cancelled: when that happened; else -1 */
    unsigned failures;
    unsigned crashes;
    int attempts;       /* maximum of attempts, as the task itself sets it, or 0 */
    int max_crashes;    /* as the task itself sets it, or 0 */
    int64_t timeout_ms; /* as the task itself sets it, or 0 */
    unsigned weight;    /* share of its group; default 1 */
    char *backoff;      /* as the task itself sets it, in the form of `reeve enqueue --backoff`: "fixed:30s"; or NULL */
    char *error_kind;   /* of the last failure */
    char *error_message;
    int64_t failed_ms;        /* time of the last failure, or -1 */
    int progress;             /* percent, or -1 */
    char *progress_words;     /* the message of reeve_task_progress */
    char *worker;             /* running: the id of its worker */
    char *session;            /* running: the session that holds the lease */
    char *unique;             /* the unique key, or NULL */
    char *tags;               /* a JSON array, or NULL */
    char *meta;               /* a JSON object, or NULL */
    bool cancelling;          /* running, and asked to stop by a cancel */
    int64_t deadline_ms;      /* it expires if it has not begun by then; -1: no deadline, or it has begun */
    int64_t heartbeat_ms;     /* as the task itself sets it, or 0 */
    bool at_most_once;        /* as the task itself sets it */
    int64_t checkpoint_bytes; /* length of its checkpoint, or -1 */
    uint64_t logged;          /* number of lines that reeve_task_log has added, dropped ones included */
    reeve_log_line *log;      /* the kept lines, oldest first; only from reeve_show and reeve_wait */
    size_t log_count;
    /* Its history, oldest first: a JSON array of objects. Each has "at" (ms) and "what" (retry, dead, failed,
     * recovered, cancelled, retried, rescheduled, priority, blocked, unblocked), and, as far as they apply, "worker"
     * (the id; absent for a command or maintenance), "kind", "message" (cut), "delay", "due", "priority", "from",
     * "by" (the parent that ended). At most 20 objects: the first, and the last 19. NULL: none, as for a task that
     * completed at once. */
    char *history;
    /* Only from reeve_show: its parents and its children, the first 100 of each, as JSON, or NULL:
     * [{"handle":"q/id","on_death":"fail","ended":"completed"}, ...] and ["q/id", ...]. The first 10 parents in the
     * same queue that have not ended also have "state", the state of the parent, or "gone" when there is no such
     * task. */
    char *parents;
    char *children;
    int64_t parent_count; /* -1: unknown (reeve_list) */
    int64_t child_count;
    bool unique_until_started; /* as in its spec */
    int64_t unique_for_ms;     /* as in its spec */
    char *on_dead;             /* as the task itself sets it, "": none; NULL: as the queue says */
    /* running: when the lease expires unless a heartbeat renews it; 0: the task is being recovered; else -1 */
    int64_t lease_expires_ms;
    /* running, and the lease has expired: its worker is gone, and maintenance (maintain.h) has not yet recovered the
     * task */
    bool stalled;
    /* running, or completed with record_runs of the queue (reeve_queue_policy): the number of its thread; else NULL */
    char *thread;
} reeve_task_info;

/* Gets a task. REEVE_ENOTFOUND: there is no such task, or its record is no longer kept. */
REEVE_API reeve_status reeve_show(reeve_client *client, const char *queue, const char *id, reeve_task_info **ret);
REEVE_API void reeve_task_info_free(reeve_task_info *info);

/*
 * Gets a page of the tasks of a queue in one state. Ready and scheduled tasks are in the order in which they will
 * run. Completed, dead and cancelled ones are newest first; those that ended in the same millisecond are in
 * descending order of their ids. Running tasks have no order. `offset` is the number of tasks to skip; `limit` is at
 * most 1000. Payloads and results are included; where they are large the page is shorter than `limit`, but has at
 * least one task: continue at offset + *ret_count. *ret_total is the number of tasks in that state. Free the page
 * with reeve_task_list_free.
 */
REEVE_API reeve_status reeve_list(reeve_client *client, const char *queue, reeve_state state, uint64_t offset,
                                  size_t limit, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_task_list_free(reeve_task_info **list, size_t count);

/*
 * Blocks until the task has ended, or timeout_ms has passed; negative: no limit. It does not poll: Redis notifies it
 * of the end. When ret is not NULL it receives the task as reeve_show returns it, also with REEVE_EDEAD and
 * REEVE_ECANCELLED. While it waits it uses a second connection.
 *
 *   REEVE_OK                    the task is completed
 *   REEVE_EDEAD                 the task is dead
 *   REEVE_ECANCELLED            the task is cancelled
 *   REEVE_ENOTFOUND             there is no such task, it was deleted, or its record is no longer kept
 *   REEVE_ETIMEOUT              the task has not ended within timeout_ms
 *   REEVE_EINTERRUPTED          reeve_client_interrupt was called
 *   REEVE_ECONNECT, REEVE_ELOST no connection to Redis. At the start the call tries for the client's timeout; when a
 *                               connection is lost later, it reconnects until timeout_ms has passed
 *   REEVE_EREDIS                Redis answered with an error. After one that may pass, such as MISCONF, the call first
 *                               tries again for as long as after a lost connection
 *
 * A replica sends no notifications: if the client is connected to one, the call looks once a second.
 */
REEVE_API reeve_status reeve_wait(reeve_client *client, const char *queue, const char *id, int64_t timeout_ms,
                                  reeve_task_info **ret);

/* Interrupts the reeve_wait of this client that is under way, or else its next one. Any thread; async-signal-safe. */
REEVE_API void reeve_client_interrupt(reeve_client *client);

/* ---- inspecting queues and workers ----------------------------------------------------------------------------- */

/*
 * A rate: `count` tasks start in each period. After an idle time up to `burst` of them start at once, as with a token
 * bucket. At a rate of more than one task per millisecond, the tasks of up to 5 ms start together, even if the burst
 * is smaller. A burst of 1 spaces the starts evenly; the rate then stays slightly below `count`, because late
 * wake-ups are not compensated.
 */
typedef struct reeve_rate {
    int64_t count;     /* 1 to 1,000,000,000; 0: no rate limit */
    int64_t period_ms; /* 1 ms to 366 days; 0: 1000 */
    int64_t burst;     /* 1 to 1,000,000,000; 0: equal to count */
} reeve_rate;

typedef struct reeve_queue_info {
    char name[REEVE_QUEUE_MAX + 1];
    bool paused;
    uint64_t count[REEVE_STATE_COUNT]; /* tasks in each state, by reeve_state */
    uint64_t completed_total; /* completed tasks since the queue was created; this and the next three are exact */
    uint64_t failed_total;    /* failed attempts */
    uint64_t dead_total;
    uint64_t crashed_total;    /* attempts that ended with the death of their worker */
    int64_t oldest_ready_ms;   /* enqueue time of the ready task that is leased next, or -1 */
    int64_t next_due_ms;       /* due time of the first scheduled task, or -1 */
    int64_t paused_ms;         /* when it was paused; -1: it is not paused, or the time is unknown */
    int64_t pause_until_ms;    /* it is paused until then (limits.h); -1: no such pause */
    int64_t concurrency;       /* limits of the queue (limits.h); 0: no limit */
    reeve_rate rate;           /* count 0: no limit */
    int64_t group_concurrency; /* limits of each group; 0: no limit */
    reeve_rate group_rate;     /* count 0: no limit */
} reeve_queue_info;

/* Gets one queue. A queue that never had a task is not an error: all numbers are 0. */
REEVE_API reeve_status reeve_queue(reeve_client *client, const char *queue, reeve_queue_info *ret);

/* Gets all queues of the namespace, ordered by name, as one array. Free it with reeve_queues_free. */
REEVE_API reeve_status reeve_queues(reeve_client *client, reeve_queue_info **ret, size_t *ret_count);
REEVE_API void reeve_queues_free(reeve_queue_info *list);

typedef struct reeve_worker_info {
    char *id;
    char *name;
    char *host;
    int64_t pid;
    char *version;
    int64_t started_ms;
    int64_t seen_ms; /* time of the last heartbeat */
    char *state;     /* "running"; "quiet": it leases no new tasks, on request or because it drains; "stopping" */
    unsigned threads;
    unsigned busy;         /* threads that ran a handler at the last heartbeat */
    uint64_t processed;    /* tasks that it completed plus failed attempts, since it started */
    uint64_t failed;       /* of these: failed attempts */
    int64_t memory_bytes;  /* resident memory at the last heartbeat; 0: unknown */
    int64_t round_trip_us; /* round trip time of the heartbeat before the last one; 0: unknown */
    char *running;         /* JSON: the attempts that ran at the last heartbeat, the longest first, at most 64:
                              [{"thread":"fast/1","queue":..,"id":..,"type":..,"for_ms":n}] */
    char *pools;           /* JSON: [{"name":..,"threads":n,"queues":[..]}]; "order" is present unless it is strict */
    char *types;           /* JSON: ["..", ..], the types of its handlers, at most 200; NULL: unknown */
    bool types_more;       /* it has handlers of more types */
} reeve_worker_info;

/* Gets all live workers of the namespace as one array. Free it with reeve_workers_free. */
REEVE_API reeve_status reeve_workers(reeve_client *client, reeve_worker_info **ret, size_t *ret_count);
REEVE_API void reeve_workers_free(reeve_worker_info *list, size_t count);

/* ---- controlling tasks and queues ------------------------------------------------------------------------------ */

/*
 * retry   A dead, cancelled or scheduled task becomes ready now. A dead task starts again with 0 failures and crashes.
 *         REEVE_EUNIQUE: another task now holds its unique key.
 *
 * cancel  A waiting task (blocked, scheduled, ready, parked) is cancelled: it does not run, and its record is kept. A
 *         running task is asked to stop (reeve_task_should_stop, reeve_task_is_cancelled), and the call returns at
 *         once. The task is cancelled when its handler ends with any other outcome than "done", or when its worker
 *         stops or dies. reeve_wait waits for that. A second call asks again.
 *
 * delete  A task that is not running is deleted with its record, result, log and history.
 *
 * REEVE_ENOTFOUND: there is no such task. REEVE_ESTATE: the task's state does not allow the call, or other tasks
 * depend on it (depend.h); the message names the state. Each call blocks for one round trip.
 */
REEVE_API reeve_status reeve_retry(reeve_client *client, const char *queue, const char *id);
REEVE_API reeve_status reeve_cancel(reeve_client *client, const char *queue, const char *id);
/* As reeve_cancel. *ret_running: the task is running, and so not cancelled yet. */
REEVE_API reeve_status reeve_cancel_with_running(reeve_client *client, const char *queue, const char *id,
                                                 bool *ret_running);
REEVE_API reeve_status reeve_delete(reeve_client *client, const char *queue, const char *id);

/*
 * reschedule    A waiting task (ready, scheduled, parked) runs at another time; 0 or a past time: now.
 * set_priority  A waiting task gets another priority, and is placed behind all tasks of that priority.
 *
 * Errors as above; REEVE_EINVAL: a number is out of range.
 */
REEVE_API reeve_status reeve_reschedule(reeve_client *client, const char *queue, const char *id, int64_t at_ms);
REEVE_API reeve_status reeve_reschedule_in(reeve_client *client, const char *queue, const char *id, int64_t delay_ms);
REEVE_API reeve_status reeve_set_priority(reeve_client *client, const char *queue, const char *id, int priority);

/* Workers lease no tasks of a paused queue. Running tasks continue, and tasks can be enqueued. To pause a paused
 * queue, or to resume one that is not paused, is no error. */
REEVE_API reeve_status reeve_pause(reeve_client *client, const char *queue);
REEVE_API reeve_status reeve_resume(reeve_client *client, const char *queue);

/* Retention: for how long, and how many, records of ended tasks are kept; the smaller limit applies. The number of
 * completed tasks can exceed its limit by 1/64 for a while. */
typedef struct reeve_keep {
    int64_t age_ms; /* 0: keep none; -1: no limit; at most 2,000,000,000,000 */
    int64_t count;  /* 0: keep none; -1: no limit; at most 1,000,000,000 */
} reeve_keep;

/*
 * Defaults of a queue's tasks. An option of the task comes first, then that of its handler, then these, then the
 * built-in default. A zeroed backoff is "not set". Workers learn of a change at once: a new timeout_ms and
 * max_crashes apply to attempts that begin after it, new `attempts` and backoff to failures after it.
 */
typedef struct reeve_queue_policy {
    int attempts;                 /* maximum of attempts; 0: not set */
    int max_crashes;              /* 0: not set */
    int64_t timeout_ms;           /* 0: not set */
    const reeve_backoff *backoff; /* NULL: not set */
    /* Records of completed tasks tell when, where and on which thread the last attempt ran
     * (reeve_task_info.started_ms, worker, session, thread). A completion then takes Redis as long as a failure, and
     * the record is about 150 bytes longer. It does not apply to tasks that run at most once. */
    bool record_runs;
} reeve_queue_policy;

typedef struct reeve_queue_settings {
    size_t size;                      /* sizeof(reeve_queue_settings), or 0 */
    const reeve_keep *completed;      /* retention of completed and cancelled tasks; default 1 day, 10,000 */
    const reeve_keep *dead;           /* retention of dead tasks; default 90 days, 10,000 */
    const reeve_queue_policy *policy; /* replaces the whole policy; a policy with no field set removes it */
    const char *on_dead;              /* type of a task to enqueue for each death (dead.h); "": none, the default */
    /* For how many days the statistics of a day (stats.h) are kept; at most 3650; default 30; 0: none are made from
     * now on. A change applies to the statistics of a day when they are next updated. */
    const unsigned *stats_days;
    /* Maximum length of a result in bytes, at most REEVE_RESULT_MAX; a longer one is refused, see reeve_task_done. 0:
     * only the workers' size limits apply (size_limits.h), the default. Workers learn of a change at once. */
    const int64_t *result_max;
    /* Maximum total length of the results of completed tasks, in bytes; while there are more, the oldest completed
     * tasks are deleted, including those without a result. 0: no limit, the default. */
    const int64_t *completed_bytes;
} reeve_queue_settings;

/* Changes settings of a queue, for all workers and at once. A field that is NULL leaves that setting as it is. */
REEVE_API reeve_status reeve_queue_set(reeve_client *client, const char *queue, const reeve_queue_settings *settings);

/*
 * Gets the settings of a queue. No pointer of *ret is NULL, except policy->backoff when no backoff is set. A setting
 * that was never set has its default; fields of the policy that were never set are zero, and on_dead is "". The
 * caller frees *ret, with all that it points to, by reeve_queue_settings_free. To change a part of a policy, get the
 * settings, change a copy of the policy, and set that.
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
