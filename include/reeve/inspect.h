/*
 * inspect.h - one task: its state, its record, its log; lists of tasks by their state; waiting for the end of a task.
 *
 * The rules of client.h for clients, threads, times, blocking, and errors of every call apply. client.h includes this
 * file.
 */
#ifndef REEVE_INSPECT_H
#define REEVE_INSPECT_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_client reeve_client; /* client.h */

/* The state of a task. */
typedef enum reeve_state {
    REEVE_STATE_BLOCKED = 0, /* waits until its parents have ended */
    REEVE_STATE_SCHEDULED,   /* waits for its time, or for a retry */
    /* Can run and waits for a thread. It stays ready while other tasks are before it, and while its queue is paused or
     * at a limit. */
    REEVE_STATE_READY,
    REEVE_STATE_PARKED,  /* would be ready, but its group is paused or at a limit, or its type is at a limit */
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
    /* The stack frames of its last crash, one on each line, the innermost first. NULL unless error_kind is "crash" and
     * the worker had a supervisor (reeve-worker --supervise), or the pool had process isolation. */
    char *backtrace;
    int max_snoozes;  /* option of the task, or 0 */
    unsigned snoozes; /* number of snoozes; counted while there is a limit (max_snoozes) */
    int64_t keep_ms;  /* option of the task, or 0 */
    int cost;         /* option of the task, or 0 */
    char *limit_keys; /* a JSON array, or NULL */
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

/* Interrupts the running reeve_wait, reeve_watch, reeve_bulk_update or reeve_bulk_update_preview of this client, or, if
 * none runs, the next one. Any thread; async-signal-safe. */
REEVE_API void reeve_client_interrupt(reeve_client *client);

#ifdef __cplusplus
}
#endif

#endif
