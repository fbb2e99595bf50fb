/*
 * client.h - enqueue tasks, look at them, and steer queues.
 *
 * A client is one connection, opened again by itself when it was lost. One thread at a time may use a client; open one
 * per thread. In a process that was forked since it was opened a client can only be closed, which its parent's connection
 * does not notice: every other call is refused with REEVE_EINVAL (but not after vfork, where only exec may follow, nor after
 * clone called by itself). A client that another thread uses during the fork is not to be touched in the child at all.
 *
 * Every call below blocks for one round trip (or what its comment says) and at most until the client's
 * timeout; on failure reeve_client_error() has the words.
 *
 * Times: reeve counts milliseconds; points in time are milliseconds since the epoch on Redis's clock. Spans and times
 * beyond 2^53 - 1 ms count as that: INT64_MAX is "never". Other numbers out of their range are refused, none is cut. (What
 * people write, in configurations and on the command line, is at most 2,000,000,000 s long, and before the year 10000.)
 */
#ifndef REEVE_CLIENT_H
#define REEVE_CLIENT_H

#include "guards.h"
#include "task.h"
#include "tls.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_client reeve_client;

/* All fields may be zero. */
typedef struct reeve_client_options {
    size_t size;         /* sizeof(reeve_client_options), or 0 */
    const char *redis;   /* URL; NULL: the environment's REEVE_REDIS, else "embedded:" */
    const char *ns;      /* namespace, the prefix of every key; NULL: "reeve" */
    int64_t timeout_ms;  /* how long one call may take, connecting included; 0: 5000 */
    const char *name;    /* the connection's name in CLIENT LIST; NULL: "reeve-client" */
    reeve_guards guards; /* how large what it enqueues may be; zeroed: the standards */
    /* Microseconds for which a call that follows another one at once looks for its reply again and again before it
     * sleeps until that comes: faster, for a processor's time. It stops by itself where that is in vain. 0: 50;
     * negative: never; more than 1000: that */
    int64_t spin_us;
    const reeve_tls *tls; /* for rediss:// URLs (tls.h); NULL: what the URL and the environment say */
} reeve_client_options;

/*
 * Opens a client and connects. On success *ret is owned by the caller until reeve_client_close. On failure *ret is
 * NULL, and when ret_error is not NULL it receives the words (cut at size). Blocks up to timeout_ms; with an embedded
 * URL also for the start of that server (up to 10 s more). REEVE_EURL, REEVE_ECONNECT, REEVE_EUNSUPPORTED,
 * REEVE_ENOMEM, REEVE_EINVAL (namespace, a guard that cannot be).
 */
REEVE_API reeve_status reeve_client_open(reeve_client **ret, const reeve_client_options *options);
REEVE_API reeve_status reeve_client_open_or_say(reeve_client **ret, const reeve_client_options *options,
                                                char *ret_error, size_t size);

/* Closes and frees; NULL is fine. An embedded server stops with its last user. */
REEVE_API void reeve_client_close(reeve_client *client);

/* The words of the last failed call on this client; "" when there was none. Valid until the next call. */
REEVE_API const char *reeve_client_error(const reeve_client *client);

/* ---- enqueue --------------------------------------------------------------------------------------------------- */

/* One key and value of a task's metadata. */
typedef struct reeve_meta {
    const char *key;
    const char *value;
} reeve_meta;

/*
 * What enqueueing a task does when another task, the holder, has its unique key.
 *
 *     reject    the new task is refused with REEVE_EUNIQUE; the call returns the holder's id
 *     replace   a holder that waits is removed, and the new task takes its place and priority, or its own time or
 *               priority where it has one (a priority of 0 is none)
 *     debounce  a holder that waits is removed, and the new task runs at its own time: each new task puts the run off
 *
 * Tasks that wait for the holder wait for the new task then, also in other queues; where they are more than 1000 the new
 * task is refused. A holder that is running, or that has ended and keeps the key for a time, is not replaced: the new
 * task is refused.
 */
typedef enum reeve_conflict {
    REEVE_CONFLICT_REJECT = 0,
    REEVE_CONFLICT_REPLACE = 1,
    REEVE_CONFLICT_DEBOUNCE = 2
} reeve_conflict;

/*
 * What becomes of a task that waits for another one, its parent, when that dies or is cancelled or deleted.
 *     fail    it dies, too: kind "parent"
 *     go      it goes on as if the parent had completed
 *     wait    it goes on waiting: a retry of the parent may complete. (When the parent is deleted, it dies.)
 *     death   it waits for just that: it becomes ready at the first death among its parents; when all of them have
 *             ended without one it is removed. All its edges should be of this kind.
 */
typedef enum reeve_on_parent_death {
    REEVE_PARENT_FAIL = 0,
    REEVE_PARENT_GO = 1,
    REEVE_PARENT_WAIT = 2,
    REEVE_PARENT_DEATH = 3
} reeve_on_parent_death;

/* What holds for a parent of which its queue knows nothing. */
typedef enum reeve_unknown_parent {
    REEVE_UNKNOWN_REFUSE = 0,    /* the edge is refused, see depend.h */
    REEVE_UNKNOWN_COMPLETED = 1, /* known or gone: it counts as completed, for its record may be gone */
    REEVE_UNKNOWN_EXPECTED = 2   /* it is waited for: it will be enqueued */
} reeve_unknown_parent;

/* A task to wait for. */
typedef struct reeve_parent {
    const char *handle; /* "queue/id"; or REEVE_PARENT_OPEN (depend.h) */
    reeve_on_parent_death on_death;
    reeve_unknown_parent unknown;
} reeve_parent;

/* What to enqueue. Zero means: not given. Nothing is kept after the call. */
typedef struct reeve_task_spec {
    size_t size;                  /* sizeof(reeve_task_spec), or 0 */
    const char *queue;            /* required */
    const char *type;             /* required */
    reeve_bytes payload;          /* any bytes, at most guards.payload */
    const char *id;               /* NULL: a UUIDv7 */
    int priority;                 /* lower runs sooner, REEVE_PRIORITY_MIN to _MAX */
    int64_t delay_ms;             /* run this much later; not with at_ms */
    int64_t at_ms;                /* run at this time; in the past means now; equal times: first in, first out */
    const char *group;            /* fairness: groups take turns; NULL: the common group */
    unsigned weight;              /* the group's share against others, 1 to 256; 0: 1; only with a group */
    int max_attempts;             /* 0: the handler's, else 20 */
    int max_crashes;              /* 0: the handler's, else 3 */
    int64_t timeout_ms;           /* run time limit; 0: the handler's, else none */
    const reeve_backoff *backoff; /* NULL: the handler's, else the default */
    const char *const *tags;      /* any text, at most REEVE_TAG_MAX bytes and REEVE_TAGS_MAX of them; see tags.h */
    size_t tag_count;
    const reeve_meta *meta;
    size_t meta_count;
    /* One task at a time has a unique key in its queue: until it has ended (completed, dead, cancelled or deleted; one
     * that runs at most once, which is completed before: until its handler has returned, or its worker has died), or
     * only until it is leased for the first time, or for a time from now (then also after it has completed or died). */
    const char *unique;        /* the key, any text, at most REEVE_UNIQUE_MAX; NULL: none */
    bool unique_until_started; /* not with unique_for_ms */
    int64_t unique_for_ms;
    reeve_conflict on_conflict;
    const char *on_dead; /* should it die: the type of a task to enqueue then, see dead.h; NULL: the queue's setting;
                            "": none */
    /* A task that has not begun by then is dead, of kind "expired". One that has begun is not held to it any more,
     * whatever becomes of that attempt. Not both. */
    int64_t deadline_ms;   /* a time */
    int64_t expires_in_ms; /* from its enqueueing on */
    int64_t heartbeat_ms;  /* silence for longer is a failure, see reeve_task_heartbeat; 0: as its handler says */
    bool at_most_once;     /* completed before it runs, see reeve_handler; false: as its handler says */
    /* It is blocked until these have ended (depend.h). */
    const reeve_parent *after;
    size_t after_count;
} reeve_task_spec;

/*
 * Enqueues one task. On success the task is in Redis (as durable as that Redis is) and ret_id, when not NULL, has its
 * id. A reply lost with its connection is asked for again on a new one: the task is enqueued once. (Not asked is where the
 * task may have come and gone in between, because records of ended tasks are not kept for as long: REEVE_ELOST.)
 * REEVE_EINVAL: a name or option is malformed. REEVE_ETOOBIG: what a guard is for (guards.h). REEVE_EEXISTS: the id is
 * taken in this queue.
 * REEVE_EUNIQUE: another task holds the unique key; ret_id has that one's id. REEVE_ENOTFOUND: a parent in the same
 * queue is not known (depend.h).
 * REEVE_ECONNECT, REEVE_EREDIS, REEVE_ENOMEM: not enqueued. (Refused after the reply to an earlier try was lost it may
 * have been: REEVE_ELOST.)
 * REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EPROTO: unknown, it may have been; the words say so, and ret_id has the id. Enqueueing
 * the same id again enqueues nothing while the first one's record is there (REEVE_EEXISTS).
 */
REEVE_API reeve_status reeve_enqueue(reeve_client *client, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX]);

/* What became of one spec of reeve_enqueue_many. */
typedef struct reeve_enqueued {
    reeve_status status;
    char id[REEVE_ID_MAX]; /* REEVE_EUNIQUE: of the task that holds the key; REEVE_ENOTFOUND: of the parent; also where
                            * the status says unknown */
} reeve_enqueued;

/*
 * Enqueues many tasks, of any queues, in pipelined bulk. ret_results has count elements; each is written, whatever is
 * returned. Returns REEVE_OK when every task was enqueued, else the first failure; the others are enqueued all the
 * same. reeve_client_error() tells of the first failure. Not atomic over tasks; order is kept within a queue.
 * REEVE_ETOOBIG for all of them: more than guards.batch; nothing is sent.
 */
REEVE_API reeve_status reeve_enqueue_many(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                          reeve_enqueued *ret_results);

/*
 * The words for one of the failures of the client's last call of reeve_enqueue_many, while reeve_client_error has those
 * of the first: spec and result are of that call. ret is cut at size; "" for REEVE_OK.
 */
REEVE_API void reeve_enqueued_error(const reeve_client *client, const reeve_task_spec *spec,
                                    const reeve_enqueued *result, char *ret, size_t size);

/* Checks a spec as reeve_enqueue would with the standard guards, without Redis; ret_error, when not NULL, receives the
 * words. Any thread. */
REEVE_API reeve_status reeve_task_spec_check(const reeve_task_spec *spec, char *ret_error, size_t size);

/* ---- looking at tasks ------------------------------------------------------------------------------------------ */

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

/* The state's name ("ready"), and back: REEVE_EINVAL when it is none. Any thread. */
REEVE_API const char *reeve_state_name(reeve_state state);
REEVE_API reeve_status reeve_state_parse(const char *name, reeve_state *ret);

/* A line of a task's log. */
typedef struct reeve_log_line {
    int64_t time_ms;
    char *text;
} reeve_log_line;

/* Everything known about a task. Owned by the caller: reeve_task_info_free. Strings are NULL, numbers -1 or 0, where
 * there is nothing to tell. */
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
    int64_t due_ms;     /* scheduled: when; else -1 */
    int64_t started_ms; /* running: since when; else -1 */
    int64_t ended_ms;   /* completed, dead, cancelled: when; else -1 */
    unsigned failures;
    unsigned crashes;
    int max_attempts;   /* the task's own, or 0 */
    int max_crashes;    /* the task's own, or 0 */
    int64_t timeout_ms; /* the task's own, or 0 */
    unsigned weight;    /* of its group against others; 1 unless the task says more */
    char *backoff;      /* the task's own, as `reeve enqueue --backoff` takes it: "fixed:30s"; or NULL */
    char *error_kind;   /* of the last failure */
    char *error_message;
    int64_t failed_ms; /* when it last failed, or -1 */
    int progress;      /* percent, or -1 */
    char *progress_words;
    char *worker;             /* running: the worker's id */
    char *session;            /* running: who holds it */
    char *unique;             /* the unique key, or NULL */
    char *tags;               /* a JSON array, or NULL */
    char *meta;               /* a JSON object, or NULL */
    bool cancelling;          /* running, and told to stop */
    int64_t deadline_ms;      /* it must begin before that; -1: any time, or it has begun */
    int64_t heartbeat_ms;     /* the task's own, or 0 */
    bool at_most_once;        /* the task's own */
    int64_t checkpoint_bytes; /* the length of the checkpoint that it left, or -1 */
    uint64_t logged;          /* how many lines it has said (reeve_task_log); of these the last ones are */
    reeve_log_line *log;      /* here, oldest first; only from reeve_show and reeve_wait */
    size_t log_count;
    /* What was done to it and is worth telling, oldest first: a JSON array of objects with at (ms), what (retry, dead,
     * failed, recovered, cancelled, retried, rescheduled, priority, blocked, unblocked) and perhaps worker (its id;
     * else it was done by hand, or is of no worker's doing), kind, message (cut), delay, due, priority, from, by (the
     * parent whose end it was). 20 at most: the first, and the last 19. NULL: nothing, as of a task that just
     * completed. */
    char *history;
    /* reeve_show only: what it waits or waited for, and what waits for it; of each the first 100, as JSON, or NULL:
     * [{"handle":"q/id","on_death":"fail","ended":"completed"}, ...] and ["q/id", ...]. Of the first 10 parents in the
     * same queue that have not ended for it, "state" is theirs; "gone": there is no such task */
    char *parents;
    char *children;
    int64_t parent_count; /* -1: not told (reeve_list) */
    int64_t child_count;
    bool unique_until_started; /* how long it has its unique key, as in its spec */
    int64_t unique_for_ms;
    char *on_dead; /* the task's own, "": none; NULL: the queue's */
    /* running: until when its worker holds it, unless a heartbeat prolongs that; 0: it is being taken back; else -1 */
    int64_t lease_expires_ms;
    bool stalled; /* running, and that time has passed: its worker is gone, and nobody has taken the task back yet, see
                     maintain.h */
    /* running, or completed where the queue records runs (reeve_queue_policy): the number of its thread; else NULL */
    char *thread;
} reeve_task_info;

/* Looks a task up. REEVE_ENOTFOUND when it does not exist (any more). */
REEVE_API reeve_status reeve_show(reeve_client *client, const char *queue, const char *id, reeve_task_info **ret);
REEVE_API void reeve_task_info_free(reeve_task_info *info);

/*
 * A page of the tasks of a queue in one state, in the order in which they would run (ready, scheduled) or newest first
 * (completed, dead, cancelled; those that ended in the same millisecond by id, the last one first); running has no
 * order. ret has count entries; free with reeve_task_list_free. offset skips that many; limit is at most 1000. Fewer
 * come (but one at least) where payloads and results, which are included, are large: go on at offset + *ret_count.
 * *ret_total is the number in that state.
 */
REEVE_API reeve_status reeve_list(reeve_client *client, const char *queue, reeve_state state, uint64_t offset,
                                  size_t limit, reeve_task_info ***ret, size_t *ret_count, uint64_t *ret_total);
REEVE_API void reeve_task_list_free(reeve_task_info **list, size_t count);

/*
 * Blocks until the task has ended or timeout_ms has passed (negative: no limit). It does not poll: the settling script
 * tells. ret, when not NULL, receives what reeve_show would; also on REEVE_EDEAD and REEVE_ECANCELLED.
 * REEVE_OK: completed. REEVE_EDEAD, REEVE_ECANCELLED: ended so. REEVE_ENOTFOUND: unknown, deleted, or its record no
 * longer kept. REEVE_ETIMEOUT. REEVE_EINTERRUPTED: reeve_client_interrupt. REEVE_ECONNECT, REEVE_ELOST: no Redis, at
 * the beginning for as long as any call may take, later until timeout_ms has passed: a lost connection is made again.
 * Uses a second connection while it waits.
 */
REEVE_API reeve_status reeve_wait(reeve_client *client, const char *queue, const char *id, int64_t timeout_ms,
                                  reeve_task_info **ret);

/* Ends a reeve_wait on this client, now or the next. Any thread; safe in a signal handler. */
REEVE_API void reeve_client_interrupt(reeve_client *client);

/* ---- looking at queues and workers ----------------------------------------------------------------------------- */

/* count tasks start in each period; when none started for a while, up to burst at once (the bucket of a token bucket).
 * Where more than one is due in a millisecond, those of 5 ms may start together, whatever the burst. A burst of 1
 * spaces starts evenly and stays a little below the count: the time by which a wake-up is late is not made up for. */
typedef struct reeve_rate {
    int64_t count;     /* 1 to 1,000,000,000; 0 says: no rate */
    int64_t period_ms; /* 1 ms to 366 days; 0: 1000 */
    int64_t burst;     /* 1 to 1,000,000,000; 0: the same as count */
} reeve_rate;

typedef struct reeve_queue_info {
    char name[REEVE_QUEUE_MAX + 1];
    bool paused;
    uint64_t count[REEVE_STATE_COUNT]; /* tasks in each state, by reeve_state */
    uint64_t completed_total;          /* ever; exact, as are the others */
    uint64_t failed_total;             /* failed attempts */
    uint64_t dead_total;
    uint64_t crashed_total;  /* leases lost to a dead worker */
    int64_t oldest_ready_ms; /* when the task at the head of the queue was enqueued, or -1 */
    int64_t next_due_ms;     /* the earliest scheduled task's time, or -1 */
    int64_t paused_ms;       /* since when it is paused; -1: it is not, or not known */
    int64_t hold_ms;         /* no task starts before (limits.h); -1: no hold */
    int64_t concurrency;     /* its limits, as in limits.h; 0: none */
    reeve_rate rate;         /* count 0: none */
    int64_t group_concurrency;
    reeve_rate group_rate;
} reeve_queue_info;

/* One queue; a queue that never had a task is all zero. */
REEVE_API reeve_status reeve_queue(reeve_client *client, const char *queue, reeve_queue_info *ret);

/* All queues known to this namespace, by name. One array, freed with reeve_queues_free. */
REEVE_API reeve_status reeve_queues(reeve_client *client, reeve_queue_info **ret, size_t *ret_count);
REEVE_API void reeve_queues_free(reeve_queue_info *list);

typedef struct reeve_worker_info {
    char *id;
    char *name;
    char *host;
    int64_t pid;
    char *version;
    int64_t started_ms;
    int64_t seen_ms; /* the last heartbeat */
    char *state;     /* "running"; "quiet": takes no new tasks, told so or draining; "stopping" */
    unsigned threads;
    unsigned busy;      /* threads that run a handler, at the last heartbeat */
    uint64_t processed; /* settled tasks since it started */
    uint64_t failed;
    int64_t memory_bytes;  /* resident, at the last heartbeat; 0: not known */
    int64_t round_trip_us; /* how long the heartbeat before that took, from here to Redis and back; 0: none yet */
    char *running;         /* JSON, what threads run at the last heartbeat, the longest first, at most 64 of them:
                              [{"thread":"fast/1","queue":..,"id":..,"type":..,"for_ms":n}] */
    char *pools;           /* JSON: [{"name":..,"threads":n,"queues":[..]}], with "order" where it is not strict */
    char *types;     /* JSON: ["..", ..], the types that it has handlers of, the first 200; NULL: it does not tell */
    bool types_more; /* there are others */
} reeve_worker_info;

/* All live workers of this namespace. One array, freed with reeve_workers_free. */
REEVE_API reeve_status reeve_workers(reeve_client *client, reeve_worker_info **ret, size_t *ret_count);
REEVE_API void reeve_workers_free(reeve_worker_info *list, size_t count);

/* ---- steering -------------------------------------------------------------------------------------------------- */

/*
 * retry   a dead, cancelled or scheduled task becomes ready now. The failures and crashes of a dead task are reset.
 *         REEVE_EUNIQUE: another task holds its unique key by now.
 *
 * cancel  a waiting task (blocked, scheduled, ready, parked) is cancelled: it does not run, and a record of it is kept.
 *         A running task is told to stop (reeve_task_should_stop, reeve_task_is_cancelled), and the call returns at
 *         once: the task is cancelled when its handler ends, or its worker stops or dies, unless it is completed then.
 *         reeve_wait waits for that. A second call tells the handler again.
 *
 * delete  a task that is not running is removed with everything that belongs to it.
 *
 * REEVE_ENOTFOUND: no such task. REEVE_ESTATE: its state does not allow it, or other tasks wait for it (depend.h); the
 * error's text names the state. Each call blocks for one round trip.
 */
REEVE_API reeve_status reeve_retry(reeve_client *client, const char *queue, const char *id);
REEVE_API reeve_status reeve_cancel(reeve_client *client, const char *queue, const char *id);
/* As reeve_cancel, and tells whether the task runs, so that it is not cancelled yet. */
REEVE_API reeve_status reeve_cancel_tell(reeve_client *client, const char *queue, const char *id, bool *ret_running);
REEVE_API reeve_status reeve_delete(reeve_client *client, const char *queue, const char *id);

/*
 * reschedule: a waiting task (ready, scheduled, parked) runs at another time; 0 or a time in the past: now.
 * set_priority: a waiting task gets another priority and goes to the end of that one's order.
 * Errors as above, REEVE_EINVAL for a number out of range.
 */
REEVE_API reeve_status reeve_reschedule(reeve_client *client, const char *queue, const char *id, int64_t at_ms);
REEVE_API reeve_status reeve_reschedule_in(reeve_client *client, const char *queue, const char *id, int64_t delay_ms);
REEVE_API reeve_status reeve_set_priority(reeve_client *client, const char *queue, const char *id, int priority);

/* A paused queue takes tasks in and hands none out; running tasks go on. Pausing twice is fine. */
REEVE_API reeve_status reeve_pause(reeve_client *client, const char *queue);
REEVE_API reeve_status reeve_resume(reeve_client *client, const char *queue);

/* How long ended tasks are kept: by age (0: not at all; -1: no limit) and by count (the same), whichever is less. Of
 * completed ones a part in 64 more than the count may stand for a while. */
typedef struct reeve_keep {
    int64_t age_ms;
    int64_t count;
} reeve_keep;

/*
 * What holds for a queue's tasks where neither the task nor its handler says anything: options of a task come first,
 * then those of its handler, then these, then the defaults. A zeroed backoff is not said. Workers hear of a change at
 * once: from the next attempt on its timeout and max_crashes hold, from the next failure on all of it.
 */
typedef struct reeve_queue_policy {
    int max_attempts;             /* 0: not said */
    int max_crashes;              /* 0: not said */
    int64_t timeout_ms;           /* 0: not said */
    const reeve_backoff *backoff; /* NULL: not said */
    /* Completed tasks keep when their last attempt began, its worker and thread (reeve_task_info.started_ms, worker, session,
     * thread). It costs a completion as much as a failure, and its record some 150 bytes; without it, a completion writes
     * nothing of that. Not of tasks that run at most once. */
    bool record_runs;
} reeve_queue_policy;

typedef struct reeve_queue_settings {
    size_t size;                      /* sizeof(reeve_queue_settings), or 0 */
    const reeve_keep *completed;      /* NULL: leave as is (default 1 day, 10,000); also for cancelled tasks */
    const reeve_keep *dead;           /* NULL: leave as is (default 90 days, 10,000) */
    const reeve_queue_policy *policy; /* NULL: leave as is; one that says nothing: forgets it */
    const char *on_dead; /* the type of a task to enqueue for each death (dead.h); NULL: leave as is; "": none */
    /* How long a day's statistics (stats.h) are kept, at most 3650; NULL: leave as is (default 30); 0: none are, from
     * now on. A day keeps what held when something was last added to it. */
    const unsigned *stats_days;
    /* How many bytes a result has at most, up to REEVE_RESULT_MAX: a larger one is refused, see reeve_task_done. 0: as
     * many as the worker's guards (guards.h) say, the default; NULL: leave as is. Workers hear of a change at once. */
    const int64_t *result_max;
    /* How many bytes the results of completed tasks have together at most: while they have more, the oldest completed
     * tasks go, with a result or without. 0: any number, the default; NULL: leave as is. */
    const int64_t *completed_bytes;
} reeve_queue_settings;

/* Changes a queue's settings; in force at once for all workers. */
REEVE_API reeve_status reeve_queue_set(reeve_client *client, const char *queue, const reeve_queue_settings *settings);

/*
 * What a queue's settings are; all pointers of *ret are set: defaults stand for what was never set, a policy that says
 * nothing and an empty on_dead for none. (Only policy->backoff is NULL where it is not said.) *ret is owned by the
 * caller, with what it points to: reeve_queue_settings_free. A policy is replaced as a whole: to change a part of it,
 * read it, change a copy, and set that.
 */
REEVE_API reeve_status reeve_queue_settings_get(reeve_client *client, const char *queue, reeve_queue_settings **ret);
REEVE_API void reeve_queue_settings_free(reeve_queue_settings *settings);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_client_open_sized(reeve_client **ret, const reeve_client_options *options,
                                               size_t options_size);
#define reeve_client_open(...) reeve_client_open_sized(__VA_ARGS__, sizeof(reeve_client_options))
REEVE_API reeve_status reeve_client_open_or_say_sized(reeve_client **ret, const reeve_client_options *options,
                                                      char *ret_error, size_t size, size_t options_size);
#define reeve_client_open_or_say(...) reeve_client_open_or_say_sized(__VA_ARGS__, sizeof(reeve_client_options))
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
