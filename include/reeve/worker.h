/*
 * worker.h - run handlers in pools of threads inside your program.
 *
 * Life of a worker: create, register handlers (or load plugins), add pools, start, [quiet], stop, destroy. The library
 * starts its own threads, installs no signal handler, never exits and never prints.
 *
 * Unless a comment says otherwise a worker's functions may be called from any thread, one at a time.
 */
#ifndef REEVE_WORKER_H
#define REEVE_WORKER_H

#include "guards.h"
#include "plugin.h"
#include "task.h"
#include "tls.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct reeve_worker reeve_worker;

/* All fields may be zero. Strings are copied. */
typedef struct reeve_worker_options {
    size_t size;            /* sizeof(reeve_worker_options), or 0 */
    const char *redis;      /* URL; NULL: the environment's REEVE_REDIS, else "embedded:" */
    const char *ns;         /* namespace; NULL: "reeve" */
    const char *name;       /* for people; NULL: the host's name */
    int64_t session_ms;     /* how long a lease outlives its worker's last heartbeat; 0: 15000; at least 500 */
    int64_t command_ms;     /* deadline of one Redis command; 0: 10000 */
    const char *plugin_dir; /* where bare plugin names are sought; NULL: as reeve_plugin_open */
    reeve_guards guards;    /* how large what handlers hand on, leave and give back may be; zeroed: the standards */
    const reeve_tls *tls;   /* for rediss:// URLs (tls.h); NULL: what the URL and the environment say */
    /*
     * Called when Redis has lost its data (FLUSHALL, a restore of an older state) or the worker was away for so long that
     * it was taken for dead: what the program keeps in Redis besides tasks (queue settings, limits, recurring entries)
     * is to be written again. It comes at the next heartbeat, within a third of session_ms. Called on the heartbeat
     * thread: it must not block, nor call this worker. NULL: not called.
     */
    void (*on_data_lost)(void *user);
    void *on_data_lost_user; /* handed to on_data_lost; it must outlive the worker */
} reeve_worker_options;

/*
 * Creates a worker; does not connect. A fork between create and start is fine: each process that starts it has an
 * identity of its own. A child that is forked after start has none of the worker's threads: it must not touch the worker,
 * and should call exec or _exit. On success *ret is owned by the caller until reeve_worker_destroy. On failure
 * *ret is NULL and ret_error (when not NULL) has the words.
 * REEVE_EINVAL, REEVE_EURL, REEVE_EUNSUPPORTED, REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_worker_create(reeve_worker **ret, const reeve_worker_options *options, char *ret_error,
                                           size_t size);

/* The words of the last failed call on this worker. Valid until the next call. */
REEVE_API const char *reeve_worker_error(const reeve_worker *worker);

/*
 * Registers a handler by its type. The struct and its type are copied; user must outlive the worker (free_user, when
 * set, is called for it on destroy). Only before start.
 * REEVE_EDUPLICATE: the type has a handler. REEVE_EINVAL: type malformed, neither run nor run_many, or both.
 * REEVE_ESTATE: started.
 */
REEVE_API reeve_status reeve_worker_register(reeve_worker *worker, const reeve_handler *handler);

/* The short form: a type, a function, its user pointer. */
REEVE_API reeve_status reeve_worker_handle(reeve_worker *worker, const char *type, reeve_handler_fn run, void *user);

/*
 * Adds a layer (layer.h) around the handlers of its type, or all of them, whether they are registered already or later;
 * further in than the layers before it. The struct, its name and type are copied; user must outlive the worker
 * (free_user, when set, is called for it on destroy). Only before start.
 * REEVE_EINVAL: no name or function, type malformed, more than REEVE_LAYERS_MAX. REEVE_ESTATE: started.
 */
REEVE_API reeve_status reeve_worker_add_layer(reeve_worker *worker, const reeve_layer *layer);

/*
 * Loads a plugin, registers its handlers and adds its layers: a path (it has a '/'), or a bare name sought in the
 * plugin directory (checksum is <dir>/checksum.so). Only before start.
 * REEVE_EPLUGIN: cannot be opened, lacks its entry, has a wrong ABI. REEVE_EDUPLICATE, REEVE_EINVAL: as register; then
 * none of the plugin's handlers is registered and none of its layers added. REEVE_EINVAL, too: more layers than can be.
 */
REEVE_API reeve_status reeve_worker_load_plugin(reeve_worker *worker, const char *name_or_path);

/* What the configuration says of a type, over what its handler says; fields as in reeve_handler, zero: leave. */
typedef struct reeve_handler_policy {
    size_t size; /* sizeof(reeve_handler_policy), or 0 */
    const char *type;
    int max_attempts;
    int max_crashes;
    int64_t timeout_ms;
    const reeve_backoff *backoff;
    int64_t heartbeat_ms;
    bool at_most_once; /* false: leave */
    unsigned many;     /* these two: only of a handler with run_many */
    int64_t many_wait_ms;
} reeve_handler_policy;

/* Only before start. REEVE_ENOTFOUND: no handler of this type is registered. REEVE_EINVAL: a limit that cannot be. */
REEVE_API reeve_status reeve_worker_set_policy(reeve_worker *worker, const reeve_handler_policy *policy);

/*
 * Which of its queues a thread asks first when it takes its next tasks. It takes what that one has, up to a batch, and
 * asks the others for the rest of the batch: no queue is held up by one that is empty.
 *
 *     strict       the first of the list: a queue is served when those before it are empty
 *     weighted     each gets its share of the tasks taken: with weights 5 and 1, five of six are of the first queue as
 *                  long as both have tasks. The share of an empty queue goes to the others and is not made up for
 *                  later: when it fills again it goes first for a batch at most
 *     round-robin  the one after that which was taken from last; with a batch of 1 one task each, in turn
 *
 * Each thread does so for itself, and none waits for another.
 */
typedef enum reeve_order { REEVE_ORDER_STRICT = 0, REEVE_ORDER_WEIGHTED = 1, REEVE_ORDER_ROUND_ROBIN = 2 } reeve_order;

/* A group of threads that serves an ordered list of queues. Copied. */
typedef struct reeve_pool_options {
    size_t size;               /* sizeof(reeve_pool_options), or 0 */
    const char *name;          /* names the threads; NULL: "pool-N" */
    const char *const *queues; /* at least one, at most 1000, no name twice */
    size_t queue_count;
    unsigned threads; /* 0: 1; at most 1024 */
    unsigned batch;   /* the most tasks a thread takes at once; 0: 64; at most 256; 1: one by one */
    reeve_order order;
    const unsigned *weights; /* only with REEVE_ORDER_WEIGHTED: one a queue, 1 to 1000; NULL: all 1 */
} reeve_pool_options;

/* Only before start. REEVE_EINVAL, REEVE_EDUPLICATE (a queue in two pools is fine, twice in one is not), REEVE_ESTATE.
 */
REEVE_API reeve_status reeve_worker_add_pool(reeve_worker *worker, const reeve_pool_options *options);

/*
 * The threads block all signals but those of faults, so that the program's own threads take them. A child that a handler
 * starts (fork, posix_spawn, system) inherits that: the handler should give it another mask, by
 * POSIX_SPAWN_SETSIGMASK or by sigprocmask between fork and exec.
 *
 * Starts all threads and returns; does not wait for Redis, which may come later: threads try again for ever, with a
 * jittered, growing pause, and the log says so. An embedded server is started here.
 * Redis is looked at once (up to 2 s): REEVE_ECONNECT when it refuses the user or password of the URL, or wants them; the
 * log warns of one that evicts keys or has no persistence. REEVE_EINVAL: no pool. REEVE_ESTATE: started before.
 * REEVE_ESYSTEM: a thread or the embedded server failed to start (then none runs).
 */
REEVE_API reeve_status reeve_worker_start(reeve_worker *worker);

/* Stops taking new tasks; what runs goes on, what was leased but not begun is given back. Returns at once. */
REEVE_API void reeve_worker_quiet(reeve_worker *worker);

/*
 * Stops: quiet, then waits up to deadline_ms for running handlers, then gives back what did not finish (no attempt is
 * counted), then ends the worker's threads. Blocks at most deadline_ms and a little more to tell Redis: milliseconds as a
 * rule, up to 8 s when Redis does not answer.
 * REEVE_ESTATE: called by a handler, layer or hook of this worker, which would wait for itself (call reeve_worker_quiet,
 * and tell another thread). REEVE_OK: everything ended. REEVE_ETIMEOUT: handlers still run; their tasks were given back,
 * and reeve_worker_destroy will wait for them (or the process exits). Calling it again waits for them anew.
 */
REEVE_API reeve_status reeve_worker_stop(reeve_worker *worker, int64_t deadline_ms);

/* Stops with deadline 0 if need be, waits for handlers that still run, unloads plugins, frees. NULL is fine. Called by a
 * handler, layer or hook of this worker it does nothing but log an error. */
REEVE_API void reeve_worker_destroy(reeve_worker *worker);

typedef struct reeve_worker_stats {
    uint64_t leased;
    uint64_t completed;
    uint64_t failed; /* attempts that failed, dead ones included */
    uint64_t dead;
    uint64_t given_back;
    uint64_t refused; /* outcomes that Redis did not accept because the lease was gone */
    unsigned threads;
    unsigned busy;
    bool connected; /* the heartbeat connection stands */
} reeve_worker_stats;

/* Totals since start. Any thread, any time between create and destroy. */
REEVE_API void reeve_worker_get_stats(reeve_worker *worker, reeve_worker_stats *ret);

/* The worker's id, as `reeve workers` shows it. Any thread. */
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
