/*
 * worker.h - run handlers in pools of threads inside your program.
 *
 * Life cycle of a worker: create; register handlers or load plugins; add pools; start; optionally quiet; stop;
 * destroy. The library starts its own threads. It installs no signal handler, never exits the process and never
 * prints.
 *
 * Threads: unless a comment says otherwise, any thread may call these functions, one call at a time for each worker.
 */
#ifndef REEVE_WORKER_H
#define REEVE_WORKER_H

#include "plugin.h"
#include "size_limits.h"
#include "task.h"
#include "tls.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_worker reeve_worker;

/* Zero selects the default of each field. Strings are copied. */
typedef struct reeve_worker_options {
    size_t size;            /* sizeof(reeve_worker_options), or 0 */
    const char *redis;      /* URL; NULL: the environment variable REEVE_REDIS, else "embedded:" */
    const char *ns;         /* namespace; NULL: "reeve" */
    const char *name;       /* name shown to people; NULL: the host name */
    int64_t session_ms;     /* leases expire this many ms after their worker's last heartbeat; at least 500; 0: 15000 */
    int64_t command_ms;     /* command timeout: time limit of one Redis command in ms; 0: 10000 */
    const char *plugin_dir; /* directory of plugins that are loaded by name; NULL: as reeve_plugin_open */
    reeve_size_limits size_limits; /* of chained tasks, results and checkpoints; zeroed: the defaults (size_limits.h) */
    const reeve_tls *tls;          /* TLS of rediss:// URLs (tls.h); NULL: as the URL and the environment say */
    /*
     * Called when Redis has lost its data (FLUSHALL, a restored older state), or when this worker was disconnected
     * for so long that it was taken for dead. The program should then write again what it keeps in Redis besides
     * tasks: queue settings, limits and recurring entries. The call comes with the next heartbeat, within a third of
     * session_ms, on the heartbeat thread: it must not block and must not call this worker. NULL: no call.
     */
    void (*on_data_lost)(void *user);
    void *on_data_lost_user; /* argument of on_data_lost; must outlive the worker */
} reeve_worker_options;

/*
 * Creates a worker; does not connect. On success the caller owns *ret and frees it with reeve_worker_destroy. On
 * failure *ret is NULL and ret_error, when not NULL, has the message, cut at `size` bytes.
 *
 * Fork: a fork between create and start is allowed; each process that starts the worker gets its own worker id. The
 * child of a fork after start has none of the worker's threads: it should call exec or _exit. In it reeve_worker_stop
 * returns REEVE_ESTATE, and reeve_worker_quiet and reeve_worker_destroy do nothing. A child that was forked by a
 * handler, layer or hook and returns from it is ended at once, by _exit with status 70.
 *
 * Errors: REEVE_EINVAL, REEVE_EURL, REEVE_EUNSUPPORTED, REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_worker_create(reeve_worker **ret, const reeve_worker_options *options, char *ret_error,
                                           size_t size);

/* The message of the last failed call on this worker. Valid until the next call. */
REEVE_API const char *reeve_worker_error(const reeve_worker *worker);

/*
 * Registers a handler for its type. Only before start. The struct and its type are copied. `user` must outlive the
 * worker; reeve_worker_destroy calls free_user for it, when that is set. On failure `user` stays the caller's.
 *
 *   REEVE_EDUPLICATE   the type has a handler already
 *   REEVE_EINVAL       the type is not valid, or not exactly one of run and run_batch is set
 *   REEVE_ESTATE       the worker has been started
 */
REEVE_API reeve_status reeve_worker_register(reeve_worker *worker, const reeve_handler *handler);

/* The same with only a type, a function and its user pointer. */
REEVE_API reeve_status reeve_worker_handle(reeve_worker *worker, const char *type, reeve_handler_fn run, void *user);

/*
 * Adds a layer (layer.h) around the handler of the layer's type, or around all handlers if it has no type. That
 * includes handlers that are registered later. The layer is inside the layers that were added before it. Only before
 * start. The struct, its name and its type are copied. `user` must outlive the worker; reeve_worker_destroy calls
 * free_user for it, when that is set. REEVE_EINVAL: no name or function, the type is not valid, or more than
 * REEVE_LAYERS_MAX layers. REEVE_ESTATE: the worker has been started.
 */
REEVE_API reeve_status reeve_worker_add_layer(reeve_worker *worker, const reeve_layer *layer);

/*
 * Loads a plugin, registers its handlers and adds its layers. An argument with a '/' is a path; any other is the name
 * of a file in the plugin directory ("checksum": <dir>/checksum.so). Only before start. After a failure no handler of
 * the plugin is registered and no layer added.
 *
 *   REEVE_EPLUGIN                    it cannot be opened, has no entry function, or has an unknown ABI number
 *   REEVE_EDUPLICATE, REEVE_EINVAL   as reeve_worker_register and reeve_worker_add_layer, for one of its handlers or
 *                                    layers
 */
REEVE_API reeve_status reeve_worker_load_plugin(reeve_worker *worker, const char *name_or_path);

/* Overrides options of the handler of a type. Fields are as in reeve_handler; zero leaves the handler's value. */
typedef struct reeve_handler_policy {
    size_t size; /* sizeof(reeve_handler_policy), or 0 */
    const char *type;
    int attempts;
    int max_crashes;
    int64_t timeout_ms;
    const reeve_backoff *backoff;
    int64_t heartbeat_ms;
    bool at_most_once;   /* false leaves the handler's value */
    unsigned batch_size; /* batch_size and batch_wait_ms: only for a batch handler */
    int64_t batch_wait_ms;
} reeve_handler_policy;

/* Only before start. REEVE_ENOTFOUND: the type has no handler. REEVE_EINVAL: a value is out of range. */
REEVE_API reeve_status reeve_worker_set_policy(reeve_worker *worker, const reeve_handler_policy *policy);

/*
 * The order in which a thread asks its queues for tasks. It leases from the first queue in that order, up to a batch,
 * and fills the rest of the batch from the next ones, so that an empty queue delays no other.
 *
 *     strict       the order of the list: a queue is served when those before it are empty
 *     weighted     by shares: with weights 5 and 1, five of six tasks are from the first queue while both have tasks.
 *                  The share of an empty queue goes to the others. It is not saved up: when the queue has tasks
 *                  again, it is served first for at most one batch
 *     round-robin  starting behind the queue from which the thread leased last; with a batch of 1, one task from each
 *                  in turn
 *
 * Each thread keeps its own order; threads do not wait for each other.
 */
typedef enum reeve_order { REEVE_ORDER_STRICT = 0, REEVE_ORDER_WEIGHTED = 1, REEVE_ORDER_ROUND_ROBIN = 2 } reeve_order;

/* A pool: threads that serve a list of queues. The struct and what it points to are copied. */
typedef struct reeve_pool_options {
    size_t size;               /* sizeof(reeve_pool_options), or 0 */
    const char *name;          /* name of the pool and its threads; NULL: "pool-N" */
    const char *const *queues; /* 1 to 1000 different names */
    size_t queue_count;
    unsigned threads; /* number of threads, at most 1024; 0: 1 */
    unsigned batch;   /* maximum of tasks that a thread leases at once, at most 256; 1: one by one; 0: 64 */
    reeve_order order;
    const unsigned *weights; /* with REEVE_ORDER_WEIGHTED: a weight from 1 to 1000 for each queue; NULL: all 1 */
} reeve_pool_options;

/* Adds a pool. Only before start. REEVE_EINVAL: a value is not valid. REEVE_EDUPLICATE: a queue is named twice in the
 * pool; different pools may serve the same queue. REEVE_ESTATE: the worker has been started. */
REEVE_API reeve_status reeve_worker_add_pool(reeve_worker *worker, const reeve_pool_options *options);

/*
 * Starts all threads, and an embedded server if the URL asks for one, and returns. A Redis that cannot be reached is
 * not an error: the threads keep trying to connect, with growing, jittered pauses, and log that (reeve_log_set). The
 * call tries to reach Redis for up to 2 s, in order to find a wrong password, and to log a warning when Redis evicts
 * keys or has no persistence.
 *
 * Signals: the worker's threads block all signals except those of faults, so that the program's own threads get them. A
 * child process that a handler starts (fork, posix_spawn, system) inherits this mask: set another one by
 * POSIX_SPAWN_SETSIGMASK, or by sigprocmask between fork and exec.
 *
 *   REEVE_ECONNECT   Redis refuses the user or password of the URL, or requires one
 *   REEVE_EINVAL     the worker has no pool
 *   REEVE_ESTATE     it has been started before
 *   REEVE_ESYSTEM    a thread or the embedded server could not be started; no thread runs
 */
REEVE_API reeve_status reeve_worker_start(reeve_worker *worker);

/* Stops leasing tasks. Running tasks continue; tasks that were leased and have not begun return to their queues.
 * Returns at once. */
REEVE_API void reeve_worker_quiet(reeve_worker *worker);

/*
 * Stops the worker. It leases no more tasks, and the call waits up to deadline_ms for running handlers. For those
 * that still run then, reeve_task_should_stop becomes true, and the call waits one more second. The tasks of handlers
 * that still do not return go back to their queues, without using an attempt, and all other threads end. Reporting to
 * Redis takes some milliseconds, or up to 8 s when Redis does not answer. Several threads may call it at the same
 * time; each waits.
 *
 *   REEVE_OK         all handlers have returned, all threads have ended
 *   REEVE_ETIMEOUT   handlers still run, though their tasks are back in their queues; call again to wait for them, or
 *                    reeve_worker_destroy, or exit the process
 *   REEVE_ESTATE     called by a handler, layer or hook of this worker, which would wait for itself: call
 *                    reeve_worker_quiet there, and let another thread stop the worker; or called in a process that
 *                    was forked after start
 */
REEVE_API reeve_status reeve_worker_stop(reeve_worker *worker, int64_t deadline_ms);

/* Stops the worker with a deadline of 0 unless it is stopped, waits until all its handlers have returned, unloads its
 * plugins and frees it. NULL is ignored. An embedded server stops as in reeve_client_close. No other thread may use the
 * worker from then on. Called by a handler, layer or hook of this worker, it only logs an error. */
REEVE_API void reeve_worker_destroy(reeve_worker *worker);

typedef struct reeve_worker_stats {
    uint64_t leased;
    uint64_t completed;
    uint64_t failed; /* failed attempts, including those after which the task died */
    uint64_t dead;
    uint64_t given_back;
    uint64_t refused; /* outcomes that Redis did not accept because the lease was lost */
    unsigned threads;
    unsigned busy;  /* threads that run a handler now */
    bool connected; /* the heartbeat connection is up */
} reeve_worker_stats;

/* Gets totals since the start. Any thread may call it at any time between create and destroy. */
REEVE_API void reeve_worker_get_stats(reeve_worker *worker, reeve_worker_stats *ret);

/* The worker's id, as `reeve workers` prints it. Any thread. */
REEVE_API const char *reeve_worker_id(const reeve_worker *worker);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_worker_create_sized(reeve_worker **ret, const reeve_worker_options *options,
                                                 char *ret_error, size_t size, size_t options_size);
#define reeve_worker_create(...) reeve_worker_create_sized(__VA_ARGS__, sizeof(reeve_worker_options))
REEVE_API reeve_status reeve_worker_register_sized(reeve_worker *worker, const reeve_handler *handler,
                                                   size_t handler_size);
#define reeve_worker_register(...) reeve_worker_register_sized(__VA_ARGS__, sizeof(reeve_handler))
REEVE_API reeve_status reeve_worker_add_layer_sized(reeve_worker *worker, const reeve_layer *layer, size_t layer_size);
#define reeve_worker_add_layer(...) reeve_worker_add_layer_sized(__VA_ARGS__, sizeof(reeve_layer))
REEVE_API reeve_status reeve_worker_set_policy_sized(reeve_worker *worker, const reeve_handler_policy *policy,
                                                     size_t policy_size);
#define reeve_worker_set_policy(...) reeve_worker_set_policy_sized(__VA_ARGS__, sizeof(reeve_handler_policy))
REEVE_API reeve_status reeve_worker_add_pool_sized(reeve_worker *worker, const reeve_pool_options *options,
                                                   size_t options_size);
#define reeve_worker_add_pool(...) reeve_worker_add_pool_sized(__VA_ARGS__, sizeof(reeve_pool_options))

#ifdef __cplusplus
}
#endif
#endif
