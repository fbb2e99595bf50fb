/*
 * consumer.h - a program takes tasks itself, without handlers.
 *
 * A consumer leases tasks from queues when the program asks for some, and the program settles each of them with an
 * outcome. It is for programs that have a loop of their own, that run tasks elsewhere, or that are no C programs.
 * Limits, fairness, priorities, at-most-once, retries and time limits hold as in a worker; other workers and consumers
 * may serve the same queues. A leased task is a reeve_task: the functions of task.h read it, report progress, keep a
 * checkpoint, write its log, chain tasks to its completion, and choose its outcome. Layers (layer.h) are not called.
 *
 *     reeve_task *task;
 *     unsigned count;
 *     while (reeve_consumer_lease(consumer, &task, 1, 60000, &count) == REEVE_OK) {
 *         if (count == 0) continue;
 *         reeve_bytes payload = reeve_task_payload(task);
 *         ...
 *         reeve_consumer_settle(consumer, task, reeve_task_done(task, "ok", 2));
 *     }
 *
 * A consumer has a session in each of its queues. A thread of the consumer renews the sessions by heartbeats, so leases
 * do not expire as long as the process lives, and other threads make due tasks ready, fire recurring entries and
 * recover tasks of dead workers, as in a worker. If the process dies, its tasks run elsewhere when its sessions expire;
 * a crash is counted for each. Leases survive a reconnect to Redis.
 *
 * Threads: any thread may call the functions of this file and those of task.h on leased tasks. A call waits for the
 * end of other calls on the same consumer. One that waits in reeve_consumer_lease is interrupted for it and then
 * continues, at the cost of a new connection: a program with many threads does better with a consumer in each. Two
 * threads must not use the same task at the same time, except for reeve_task_should_stop and reeve_task_is_cancelled.
 *
 * Fork: a child process must not use a consumer that its parent opened, and cannot close it. Its calls return
 * REEVE_ESTATE.
 */
#ifndef REEVE_CONSUMER_H
#define REEVE_CONSUMER_H

#include "client.h"
#include "worker.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_consumer reeve_consumer;

#define REEVE_CONSUMER_MAX 256 /* maximum number of tasks that a consumer holds at a time */

/* Zero selects the default of each field. Strings and arrays are copied. */
typedef struct reeve_consumer_options {
    size_t size;       /* sizeof(reeve_consumer_options), or 0 */
    const char *redis; /* URL; NULL: that of the environment variable REEVE_REDIS, else "embedded:", a private server */
    const char *ns;    /* namespace; NULL: "reeve" */
    const char *name;  /* name shown to people by `reeve workers`; NULL: the host name */
    const char *const *queues; /* 1 to 1000 different names of queues */
    size_t queue_count;
    reeve_order order;       /* the order in which the queues are asked (worker.h) */
    const unsigned *weights; /* with REEVE_ORDER_WEIGHTED: a weight from 1 to 1000 for each queue; NULL: all 1 */
    unsigned max;       /* maximum number of tasks that the program holds at a time, 1 to REEVE_CONSUMER_MAX; 0: 256 */
    int64_t session_ms; /* leases expire this many ms after the last heartbeat; at least 500; 0: 15000 */
    int64_t command_ms; /* time limit of one Redis command, and of one call beside its wait, in ms; 0: 10000 */
    /* No thread sends heartbeats: the program calls reeve_consumer_heartbeat. Its leases end when it hangs. */
    bool manual_heartbeat;
    reeve_size_limits size_limits; /* of chained tasks, results and checkpoints; zeroed: the defaults (size_limits.h) */
    const reeve_tls *tls;          /* TLS of rediss:// URLs (tls.h); NULL: only the URL and the environment set it */
} reeve_consumer_options;

/*
 * Opens a consumer and starts its threads. It leases nothing yet. On success the caller owns *ret and ends it with
 * reeve_consumer_close. On failure *ret is NULL, and the message is written to ret_error, a buffer of `size` bytes, or
 * NULL. A longer message is cut, so that it fits with its final zero byte. The call tries to reach Redis for up to 2 s;
 * if it cannot, it still succeeds, and later calls try again.
 *
 *   REEVE_ECONNECT   Redis refuses the user or password of the URL, or requires one
 *   REEVE_EINVAL, REEVE_EURL, REEVE_EUNSUPPORTED, REEVE_EDUPLICATE (a queue is named twice), REEVE_ENOMEM,
 *   REEVE_ESYSTEM
 */
REEVE_API reeve_status reeve_consumer_open(reeve_consumer **ret, const reeve_consumer_options *options, char *ret_error,
                                           size_t size);

/*
 * Settles outcomes that are still to be sent, for up to command_ms, gives all other tasks back to the front of their
 * queues, which counts as no attempt, and frees the consumer and all its tasks. NULL is ignored. No other thread may
 * use the consumer or its tasks during or after the call. The call blocks for some milliseconds, or up to command_ms
 * and 8 s if Redis does not answer. REEVE_ETIMEOUT: an outcome could not be sent; that task runs again. REEVE_ESTATE:
 * forked; the child frees nothing.
 */
REEVE_API reeve_status reeve_consumer_close(reeve_consumer *consumer);

/*
 * As reeve_consumer_close, but gives no task back: the leases last for session_ms from now. Until then their tokens
 * (reeve_consumer_token) settle them or extend them, from any process. After that they count as crashed, and run again.
 */
REEVE_API reeve_status reeve_consumer_detach(reeve_consumer *consumer);

/* The message of the last failed call on this consumer; "" if no call failed. Valid until the next call. */
REEVE_API const char *reeve_consumer_error(const reeve_consumer *consumer);

/* The consumer's id, as `reeve workers` prints it. Any thread. */
REEVE_API const char *reeve_consumer_id(const reeve_consumer *consumer);

/* Gets statistics, as reeve_worker_get_stats; `busy` is 1 while the program holds tasks. Any thread, at any time. */
REEVE_API void reeve_consumer_get_stats(reeve_consumer *consumer, reeve_worker_stats *ret);

/* ---- lease ----------------------------------------------------------------------------------------------------- */

/*
 * Leases up to `max` tasks, and waits up to wait_ms for the first one; 0: does not wait; negative: waits without a
 * limit. Writes the tasks to ret[0] and so on, and their number to *ret_count, which is 0 if none was ready in time. It
 * never leases more than the consumer's `max`, less the tasks that the program holds. A task that has crashed before
 * comes alone. The tasks belong to the program until it settles them. The outcomes of reeve_consumer_settle_later go
 * with this call.
 *
 * A task that must not run is not returned but settled: it has expired, has crashed too often, or is malformed. A task
 * that runs at most once is completed before the call returns it. Its run time limit begins with this call.
 *
 *   REEVE_OK           *ret_count may be 0
 *   REEVE_EINTERRUPTED reeve_consumer_interrupt was called; no task
 *   REEVE_ESTATE       the program holds as many tasks as the consumer's `max`
 *   REEVE_ECONNECT, REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EREDIS
 *                      Redis could not be reached, or did not answer, or refused, for command_ms or wait_ms, whichever
 *                      is longer. What the call leased in vain goes back to its queue with the next call
 */
REEVE_API reeve_status reeve_consumer_lease(reeve_consumer *consumer, reeve_task **ret, unsigned max, int64_t wait_ms,
                                            unsigned *ret_count);

/* Ends a reeve_consumer_lease that waits on another thread, or else the next one that would wait. Any thread, and
 * signal handlers. */
REEVE_API void reeve_consumer_interrupt(reeve_consumer *consumer);

/*
 * A descriptor for poll, epoll and event loops. It becomes readable (POLLIN)
 *
 *   - when a task may be ready, after a reeve_consumer_lease that returned fewer tasks than it was asked for
 *   - when a lease that the program holds was lost or cancelled, or its time limit has passed; reeve_task_should_stop
 *     tells which
 *
 * Each reeve_consumer_lease makes it unreadable again. So a program calls that also when it holds as many tasks as it
 * may, and ignores REEVE_ESTATE. It may be readable without a task: another worker may have been faster. From the first
 * call of this function on, reeve_consumer_lease does not wait: its wait_ms counts as 0.
 *
 * The first call starts a thread with a connection of its own. All calls return the same descriptor, which belongs to
 * the consumer: do not read, write or close it. -1: it cannot be made; reeve_consumer_error has the message.
 */
REEVE_API int reeve_consumer_descriptor(reeve_consumer *consumer);

/*
 * Renews the leases now: they expire session_ms after this call. With manual_heartbeat the program calls it at least
 * every third of session_ms; reeve_consumer_lease also does so when it is due. Without manual_heartbeat the call is not
 * needed and returns REEVE_OK. A lease that is found to be lost is told by reeve_task_should_stop. Errors as
 * reeve_consumer_lease.
 */
REEVE_API reeve_status reeve_consumer_heartbeat(reeve_consumer *consumer);

/* ---- settle ---------------------------------------------------------------------------------------------------- */

/*
 * Settles a task now. `outcome` is the value of the outcome function that the program called last for the task:
 * reeve_task_done, _retry, _fail, _snooze or _give_back. One round trip.
 *
 *   REEVE_OK        Redis has accepted the outcome
 *   REEVE_EREFUSED  the lease was lost: it had expired, or the task's run time limit had passed. The task runs
 *   elsewhere,
 *                   or has run
 *   REEVE_EINVAL    `outcome` is not the value of the last outcome function; the program still holds the task
 *   REEVE_ECONNECT, REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EREDIS
 *                   no answer within command_ms. The program still holds the task, and calls again with the same
 *                   outcome: an outcome counts once, however often it is sent. The next call of the consumer sends it,
 *                   too
 *
 * After REEVE_OK and REEVE_EREFUSED the task is freed, with all that it owns.
 */
REEVE_API reeve_status reeve_consumer_settle(reeve_consumer *consumer, reeve_task *task, reeve_outcome outcome);

/*
 * Settles several tasks in one round trip. outcomes[i] belongs to tasks[i]. ret_statuses receives a status for each
 * task, as reeve_consumer_settle returns it; NULL: they are not needed. Returns REEVE_OK if all outcomes were accepted,
 * else the status of the first that was not.
 */
REEVE_API reeve_status reeve_consumer_settle_many(reeve_consumer *consumer, reeve_task *const *tasks,
                                                  const reeve_outcome *outcomes, size_t count,
                                                  reeve_status *ret_statuses);

/*
 * Settles a task with the next call of reeve_consumer_lease, _settle, _flush or _close: one round trip then settles
 * tasks and leases others. The task is freed at once, except after REEVE_EINVAL. A refused outcome is logged and
 * counted (reeve_consumer_get_stats). REEVE_EREFUSED: the lease is known to be lost.
 */
REEVE_API reeve_status reeve_consumer_settle_later(reeve_consumer *consumer, reeve_task *task, reeve_outcome outcome);

/* Sends the outcomes of reeve_consumer_settle_later now. No round trip if there are none. Errors as
 * reeve_consumer_lease: they stay, and go with a later call. */
REEVE_API reeve_status reeve_consumer_flush(reeve_consumer *consumer);

/* Ends a task as cancelled, as reeve_cancel does for a running task that then ends. Two round trips. Otherwise as
 * reeve_consumer_settle. REEVE_ESTATE: it runs at most once, and is completed already. */
REEVE_API reeve_status reeve_consumer_cancel(reeve_consumer *consumer, reeve_task *task);

/* ---- leases that outlive a process ----------------------------------------------------------------------------- */

#define REEVE_TOKEN_MAX 64 /* size of a buffer for a token and its final zero byte */

/* Writes the token of a task's lease. Who knows it can settle or extend the lease from any process, with a client.
 * Valid until the lease ends. No I/O. REEVE_EINVAL: an argument is NULL. */
REEVE_API reeve_status reeve_consumer_token(reeve_consumer *consumer, const reeve_task *task,
                                            char ret[REEVE_TOKEN_MAX]);

/* An outcome, as the functions of task.h choose it. */
typedef struct reeve_lease_outcome {
    size_t size;           /* sizeof(reeve_lease_outcome), or 0 */
    reeve_outcome outcome; /* required, unless `cancel` */
    bool cancel;           /* ends the task as cancelled, whatever `outcome` is */
    bool has_delay;        /* of a retry: delay_ms is set; else the backoff decides */
    int64_t delay_ms;      /* of a retry or a snooze. A snooze of 0 gives the task back to the front of its queue */
    reeve_bytes result;    /* of REEVE_OUTCOME_DONE; NULL and 0: none */
    const char *kind;      /* of a retry or a failure; NULL: "failed" */
    const char *message;   /* the same; NULL: "" */
} reeve_lease_outcome;

/*
 * Settles a lease by its token. An outcome counts only if this very lease still exists. The counters of the queue count
 * it; the statistics by day (stats.h) do not. Blocks for three or four round
 * trips, and for at most the client's timeout each; one thread at a time, as for all calls of the client.
 *
 *   REEVE_EREFUSED  the lease has expired, was settled before, or the task runs at most once and was completed then
 *   REEVE_ETOOBIG   the result is longer than the queue or the client allows; the lease is as before
 *   REEVE_EINVAL    the token, the outcome or a name is not valid
 *   and the errors of every call of a client
 */
REEVE_API reeve_status reeve_lease_settle(reeve_client *client, const char *queue, const char *id, const char *token,
                                          const reeve_lease_outcome *outcome);

/*
 * Lets the leases of the session that this token names expire for_ms from now: those of all tasks that its consumer
 * holds in this queue. One round trip. REEVE_EREFUSED: this lease has ended. REEVE_EINVAL: the token or a name is not
 * valid, or for_ms is less than 1. And the errors of every call of a client.
 */
REEVE_API reeve_status reeve_lease_extend(reeve_client *client, const char *queue, const char *id, const char *token,
                                          int64_t for_ms);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_consumer_open_sized(reeve_consumer **ret, const reeve_consumer_options *options,
                                                 char *ret_error, size_t size, size_t options_size);
#define reeve_consumer_open(...) reeve_consumer_open_sized(__VA_ARGS__, sizeof(reeve_consumer_options))
REEVE_API reeve_status reeve_lease_settle_sized(reeve_client *client, const char *queue, const char *id,
                                                const char *token, const reeve_lease_outcome *outcome,
                                                size_t outcome_size);
#define reeve_lease_settle(...) reeve_lease_settle_sized(__VA_ARGS__, sizeof(reeve_lease_outcome))

#ifdef __cplusplus
}
#endif
#endif
