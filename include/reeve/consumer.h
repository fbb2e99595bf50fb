/*
 * consumer.h - lease tasks in a program's own loop, without handlers.
 *
 * A consumer leases tasks from queues when the program asks for some, and the program settles each of them with an
 * outcome. Use a consumer in a program with its own event loop, or in one that runs tasks in another language or on
 * another machine. Limits, fairness, priorities, at-most-once, retries and time limits work as with a worker. Other
 * workers and consumers may serve the same queues. A leased task is a reeve_task: the functions of task.h read it,
 * report progress, keep a checkpoint, write its log, chain tasks to its completion, and choose its outcome. Layers
 * (layer.h) can decode payloads before the program gets them, and change outcomes (reeve_consumer_add_layer).
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
 * do not expire while the process lives. Other threads of the consumer maintain its queues as a worker does: they make
 * due tasks ready, fire recurring entries and recover tasks of dead workers. If the process dies, its sessions expire.
 * Other workers and consumers then run its tasks, and a crash is counted for each. Leases survive a reconnect to Redis.
 *
 * Queues with partitions (partition.h): a consumer serves the partitions that its queues have when it is opened. Their
 * tasks have the name of the partition in reeve_task_queue. If the number of partitions changes later, the consumer
 * leases from the same partitions as before. The tasks that the program chains go to the new partitions, from the next
 * heartbeat on. In a Redis Cluster, the queues of a consumer and their partitions may be in at most 64 hash slots; with
 * more, reeve_consumer_open fails with REEVE_EUNSUPPORTED.
 *
 * Threads: any thread may call the functions of this file and those of task.h on leased tasks. A call waits for the end
 * of other calls on the same consumer. If another thread waits for tasks in reeve_consumer_lease, its wait is
 * interrupted and then continues, on a new connection. A program with many threads should therefore open a consumer for
 * each thread. Two threads must not use the same task at the same time, except for reeve_task_should_stop and
 * reeve_task_is_cancelled.
 *
 * Fork: a child process must not use a consumer that its parent opened, and cannot close it. Its calls return
 * REEVE_ESTATE.
 */
#ifndef REEVE_CONSUMER_H
#define REEVE_CONSUMER_H

#include "client.h"
#include "layer.h"
#include "worker.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A program that leases tasks and settles them itself. reeve_consumer_open makes it, reeve_consumer_close frees it. */
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
    reeve_order order;       /* from which queue a call leases first (worker.h) */
    const unsigned *weights; /* with REEVE_ORDER_WEIGHTED: a weight from 1 to 1000 for each queue; NULL: all 1 */
    unsigned max;       /* maximum number of tasks that the program holds at a time, 1 to REEVE_CONSUMER_MAX; 0: 256 */
    int64_t session_ms; /* leases expire this many ms after the last heartbeat; at least 500; 0: 15000 */
    int64_t command_ms; /* time limit in ms of a Redis command, and of a call, except its wait for tasks; 0: 10000 */
    /* true: no thread sends heartbeats; the program calls reeve_consumer_heartbeat. If it hangs, its leases expire. */
    bool manual_heartbeat;
    reeve_size_limits size_limits; /* of chained tasks, results and checkpoints; zeroed: the defaults (size_limits.h) */
    const reeve_tls *tls;          /* TLS of rediss:// URLs (tls.h); NULL: as the URL and the environment set it */
} reeve_consumer_options;

/*
 * Opens a consumer and starts its threads. It leases no tasks. On success the caller owns *ret and ends it with
 * reeve_consumer_close. On failure *ret is NULL, and the message is written to ret_error, a buffer of `size` bytes, or
 * NULL. A longer message is cut; a final zero byte follows it. The call tries to reach Redis for up to 2 s; if it
 * cannot, it still succeeds, and later calls try again.
 *
 *   REEVE_ECONNECT   Redis refuses the user or password of the URL, or requires one
 *   REEVE_EINVAL, REEVE_EURL, REEVE_EUNSUPPORTED, REEVE_EDUPLICATE (a queue is named twice), REEVE_ENOMEM,
 *   REEVE_ESYSTEM
 */
REEVE_API reeve_status reeve_consumer_open(reeve_consumer **ret, const reeve_consumer_options *options, char *ret_error,
                                           size_t size);

/*
 * Sends outcomes of reeve_consumer_settle_later that have not been sent, for up to command_ms. Gives all other tasks
 * back: they return to their queues, before all other tasks of the same priority, and no failed attempt is counted.
 * Then frees the consumer and all its tasks. NULL is ignored. No other thread may use the consumer or its tasks during
 * or after the call. The call blocks for some milliseconds, or for up to command_ms plus 8 s if Redis does not answer.
 * REEVE_ETIMEOUT: an outcome could not be sent; that task runs again. REEVE_ESTATE: this is a child process; nothing is
 * freed.
 */
REEVE_API reeve_status reeve_consumer_close(reeve_consumer *consumer);

/*
 * As reeve_consumer_close, but gives no task back: the leases last for session_ms from now. Until then any process can
 * settle or extend them with their tokens (reeve_consumer_token). When the leases expire, a crash is counted for each
 * task, and the tasks run again.
 */
REEVE_API reeve_status reeve_consumer_detach(reeve_consumer *consumer);

/*
 * Adds a layer (layer.h). `before` is called for each task that is leased, before the program gets it. If it chooses an
 * outcome, the task is settled with it, and the program does not get the task. `after` is called once when the program
 * settles the task, before the outcome is sent; reeve_consumer_close, which gives tasks back, does not call it.
 * `enqueue` is called for each task of reeve_task_chain. `run` and `run_batch` have no effect. The functions are called
 * on the thread that leases, settles or chains. They may use the functions of task.h on their task, but not the
 * consumer. Call it before the first lease, and before other threads use the consumer. The struct, its name and its
 * type are copied. `user` must outlive the consumer. If free_user is set, reeve_consumer_close and
 * reeve_consumer_detach call it for `user`. REEVE_EINVAL: the layer has no name or no function, its type is not valid,
 * or the consumer would have more than REEVE_LAYERS_MAX layers. REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_consumer_add_layer(reeve_consumer *consumer, const reeve_layer *layer);

/* The message of the last failed call on this consumer; "" if no call failed. Valid until the next call. */
REEVE_API const char *reeve_consumer_error(const reeve_consumer *consumer);

/* The consumer's id, as `reeve workers` prints it. Any thread. */
REEVE_API const char *reeve_consumer_id(const reeve_consumer *consumer);

/* Gets statistics, as reeve_worker_get_stats; `busy` is 1 while the program holds tasks. Any thread, at any time. */
REEVE_API void reeve_consumer_get_stats(reeve_consumer *consumer, reeve_worker_stats *ret);

/* ---- lease ----------------------------------------------------------------------------------------------------- */

/*
 * Leases up to `max` tasks. If no task is ready, the call waits for the first one for up to wait_ms; 0: it does not
 * wait; negative: it waits without a limit. It writes the tasks to ret[0] and so on, and their number to *ret_count,
 * which is 0 if no task became ready in time. The program never holds more tasks than `max` of the consumer's options,
 * so the call may lease fewer. If a task has crashed before, the call returns only this task. The program holds the
 * tasks until it settles them. The call also sends the outcomes of reeve_consumer_settle_later.
 *
 * Tasks that have expired, have crashed too often, or are malformed are not returned: the call settles them as dead. A
 * task that runs at most once is completed before the call returns it. The run time limit of a task begins with this
 * call.
 *
 *   REEVE_OK           *ret_count may be 0
 *   REEVE_EINTERRUPTED reeve_consumer_interrupt was called; no task
 *   REEVE_ESTATE       the program holds as many tasks as the consumer's `max`
 *   REEVE_ECONNECT, REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EREDIS
 *                      Redis could not be reached, did not answer, or refused the call, for command_ms or wait_ms,
 *                      whichever is longer. If Redis has leased tasks, but its reply was lost, the next call returns
 *                      these tasks to their queue
 */
REEVE_API reeve_status reeve_consumer_lease(reeve_consumer *consumer, reeve_task **ret, unsigned max, int64_t wait_ms,
                                            unsigned *ret_count);

/*
 * Leases one task by its id, even if other tasks are before it in the queue. `queue` is one of the consumer's queues.
 * The task must be ready. A pause applies, and so do the limits of the queue and of the task's group. The call does not
 * wait until the task is ready. It blocks for a round trip, up to command_ms. On success the program holds *ret, as
 * after reeve_consumer_lease.
 *
 *   REEVE_ENOTFOUND  there is no such task
 *   REEVE_EREFUSED   the task is not ready, or may not start now; reeve_consumer_error has its state or the reason
 *   REEVE_EINVAL     the consumer does not serve this queue, or the id is not valid
 *   REEVE_ESTATE     the program holds as many tasks as the consumer's `max`
 *   REEVE_ECONNECT, REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EREDIS
 *                    as those of reeve_consumer_lease
 */
REEVE_API reeve_status reeve_consumer_lease_id(reeve_consumer *consumer, const char *queue, const char *id,
                                               reeve_task **ret);

/* Interrupts a call of reeve_consumer_lease that waits on another thread. If none waits, it interrupts the next call
 * that would wait. May be called from any thread and from signal handlers. */
REEVE_API void reeve_consumer_interrupt(reeve_consumer *consumer);

/*
 * A descriptor for poll, epoll and event loops. It becomes readable (POLLIN)
 *
 *   - when a task may be ready, after a reeve_consumer_lease that returned fewer than `max` tasks
 *   - when the lease of a task that the program holds was lost, the task was cancelled, or its time limit has passed.
 *     For each such task, reeve_task_should_stop returns true
 *
 * It stays readable until the next reeve_consumer_lease. So make this call each time, even if the program holds its
 * maximum number of tasks, and ignore REEVE_ESTATE. The descriptor may become readable although no task is ready,
 * because another worker may have been faster. After the first call of this function, reeve_consumer_lease no longer
 * waits: its wait_ms counts as 0.
 *
 * The first call starts a thread with a connection of its own. All calls return the same descriptor, which belongs to
 * the consumer: do not read, write or close it. On an error, the function returns -1, and reeve_consumer_error has the
 * message.
 */
REEVE_API int reeve_consumer_descriptor(reeve_consumer *consumer);

/*
 * Renews the leases now: they expire session_ms after this call. With manual_heartbeat, call it at least once in each
 * third of session_ms. reeve_consumer_lease also renews the leases, if this is due. Without manual_heartbeat the call
 * is not needed and returns REEVE_OK. If a lease is lost, reeve_task_should_stop then returns true for its task.
 * Errors: as those of reeve_consumer_lease.
 */
REEVE_API reeve_status reeve_consumer_heartbeat(reeve_consumer *consumer);

/* ---- settle ---------------------------------------------------------------------------------------------------- */

/*
 * Settles a task now. `outcome` is the value of the outcome function that the program called last for the task:
 * reeve_task_done, _retry, _fail, _snooze, _give_back, _cancel or _discard; or reeve_task_wait_for or _wait_chained
 * (depend.h), which block the task until other tasks have ended. One round trip.
 *
 *   REEVE_OK        Redis has accepted the outcome
 *   REEVE_EREFUSED  the lease was lost: it had expired, or the task's run time limit had passed. The task may run
 *                   elsewhere, or may already have run
 *   REEVE_EINVAL    `outcome` is not the value of the last outcome function; the program still holds the task
 *   REEVE_ECONNECT, REEVE_ELOST, REEVE_ETIMEOUT, REEVE_EREDIS
 *                   no answer within command_ms. The program still holds the task. It should repeat the call with the
 *                   same outcome; even if the outcome is sent several times, it counts once. The next call of the
 *                   consumer also sends it
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
 * Stores an outcome, which the next call of reeve_consumer_lease, _settle, _flush or _close sends. One round trip then
 * settles tasks and leases others. The task is freed at once, except after REEVE_EINVAL. A refused outcome is logged
 * and counted (reeve_consumer_get_stats). REEVE_EREFUSED: the lease is known to be lost.
 */
REEVE_API reeve_status reeve_consumer_settle_later(reeve_consumer *consumer, reeve_task *task, reeve_outcome outcome);

/* Sends the outcomes of reeve_consumer_settle_later now. If there are none, it makes no round trip. Errors: as those of
 * reeve_consumer_lease. After an error the outcomes are kept, and a later call sends them. */
REEVE_API reeve_status reeve_consumer_flush(reeve_consumer *consumer);

/* Settles a task as cancelled, without a reason: reeve_consumer_settle with reeve_task_cancel. REEVE_ESTATE: the task
 * runs at most once, and is already completed. */
REEVE_API reeve_status reeve_consumer_cancel(reeve_consumer *consumer, reeve_task *task);

/* ---- leases that outlive a process ----------------------------------------------------------------------------- */

#define REEVE_TOKEN_MAX 64 /* size of a buffer for a token and its final zero byte */

/* Writes the token of a task's lease. Any process that has the token can settle or extend the lease, with a client. The
 * token is valid until the lease ends. No I/O. REEVE_EINVAL: an argument is NULL. */
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
    const char *message;   /* the same, and the reason of a cancel; NULL: "" */
    /* Of a snooze without a delay: the task waits until these have ended, as after reeve_task_wait_for (depend.h), and
     * then runs again. after_count 0: it waits for none. */
    const reeve_parent *after;
    size_t after_count;
} reeve_lease_outcome;

/*
 * Settles a task by the token of its lease. The outcome is accepted only if the lease still exists. The counters of the
 * queue include it, but the statistics by day (stats.h) do not. The function `after` of the client's layers
 * (reeve_client_add_layer) is called; it sees the payload as it is in Redis. Blocks for three or four round trips, each
 * at most for the client's timeout. Only one thread at a time may use the client.
 *
 *   REEVE_EREFUSED  the lease has expired; the task was settled before; or it runs at most once, and was completed when
 *                   it was leased
 *   REEVE_ETOOBIG   the result is longer than the queue or the client allows; the lease stays valid
 *   REEVE_EINVAL    the token, the outcome or a name is not valid
 *   and the errors of every call (client.h)
 */
REEVE_API reeve_status reeve_lease_settle(reeve_client *client, const char *queue, const char *id, const char *token,
                                          const reeve_lease_outcome *outcome);

/*
 * Sets the time at which a lease expires to for_ms from now. This also applies to all other leases of the same consumer
 * in this queue, because they belong to the same session. One round trip. REEVE_EREFUSED: this lease has ended.
 * REEVE_EINVAL: the token or a name is not valid, or for_ms is less than 1. And the errors of every call (client.h).
 */
REEVE_API reeve_status reeve_lease_extend(reeve_client *client, const char *queue, const char *id, const char *token,
                                          int64_t for_ms);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_consumer_open_sized(reeve_consumer **ret, const reeve_consumer_options *options,
                                                 char *ret_error, size_t size, size_t options_size);
#define reeve_consumer_open(...) reeve_consumer_open_sized(__VA_ARGS__, sizeof(reeve_consumer_options))
REEVE_API reeve_status reeve_consumer_add_layer_sized(reeve_consumer *consumer, const reeve_layer *layer,
                                                      size_t layer_size);
#define reeve_consumer_add_layer(...) reeve_consumer_add_layer_sized(__VA_ARGS__, sizeof(reeve_layer))
REEVE_API reeve_status reeve_lease_settle_sized(reeve_client *client, const char *queue, const char *id,
                                                const char *token, const reeve_lease_outcome *outcome,
                                                size_t outcome_size);
#define reeve_lease_settle(...) reeve_lease_settle_sized(__VA_ARGS__, sizeof(reeve_lease_outcome))

#ifdef __cplusplus
}
#endif
#endif
