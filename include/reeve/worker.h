/*
 * worker.h - run handlers in pools of threads inside your program.
 *
 * A worker leases tasks from queues and runs their handlers. Life cycle: create; register handlers or load plugins;
 * add pools; start; optionally quiet; stop; destroy. The library starts its own threads. It installs no signal
 * handler and never prints. It never ends the process, with one exception: a forked child that returns from a handler
 * (reeve_worker_create).
 *
 * Threads: unless a comment says otherwise, any thread may call these functions, but only one at a time for each
 * worker. "Any thread" in a comment means that any number of threads may make the call at the same time.
 * docs/glossary.md defines the terms.
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

/* A worker: threads that lease tasks and call handlers. reeve_worker_create makes it, reeve_worker_destroy frees it. */
typedef struct reeve_worker reeve_worker;

/* Zero selects the default of each field. Strings are copied. */
typedef struct reeve_worker_options {
    size_t size;       /* sizeof(reeve_worker_options), or 0 */
    const char *redis; /* URL; NULL: that of the environment variable REEVE_REDIS, else "embedded:", a private server */
    const char *ns;    /* namespace; NULL: "reeve" */
    const char *name;  /* name shown to people; NULL: the host name */
    int64_t session_ms;     /* leases expire this many ms after their worker's last heartbeat; at least 500; 0: 15000 */
    int64_t command_ms;     /* command timeout: time limit of one Redis command in ms; 0: 10000 */
    const char *plugin_dir; /* directory of plugins that are loaded by name; NULL: as reeve_plugin_open */
    reeve_size_limits size_limits; /* of chained tasks, results and checkpoints; zeroed: the defaults (size_limits.h) */
    const reeve_tls *tls;          /* TLS of rediss:// URLs (tls.h); NULL: only the URL and the environment set it */
    /*
     * The worker calls this function when Redis has lost its data (FLUSHALL, a restored older state), and when the
     * worker was disconnected for so long that its session expired. The program should then write again what it keeps
     * in Redis besides tasks: queue settings, limits and recurring entries. The worker's thread for heartbeats calls
     * the function, at the first heartbeat after the loss or the reconnection: at most a third of session_ms later.
     * The function must not block, and must not call a function of this file with this worker. NULL: no call.
     */
    void (*on_data_lost)(void *user);
    void *on_data_lost_user; /* argument of on_data_lost; must outlive the worker */
    /*
     * The worker calls this function when it receives a request (reeve_ask_workers, `reeve signal`) that the program
     * carries out. `request` is "stop", "reload", "rotate-logs", "stack" or "stack THREAD" (workers.h); `id` names the
     * request; both are valid during the call. If the function returns true, the program must carry out the
     * request on a thread of its own choice, and answer it once with reeve_worker_answer; for that, the function must
     * copy `id`. If the function returns false, the worker itself carries out "reload" (reeve_worker_reload), and
     * refuses every other request. The worker's keeper thread calls the function: it must not block, and with this
     * worker it may call only reeve_worker_answer, reeve_worker_get_stats and reeve_worker_id. NULL: the same as a
     * function that always returns false.
     */
    bool (*on_request)(void *user, const char *id, const char *request);
    void *on_request_user; /* argument of on_request; must outlive the worker */
    /* Count outcomes and times of attempts for reeve_worker_metrics. Default: false, nothing is counted. */
    bool metrics;
    /*
     * Handlers that do not return. At the run time limit of a task, its handler is asked to stop. When the grace of its
     * queue (grace_ms of reeve_queue_policy) has passed as well, the attempt fails: any worker may run the next one,
     * and what the handler returns later is ignored. The field grace_ms below is another setting: a handler that still
     * runs this long after its attempt has failed is stuck. The worker then logs `thread.stuck`, and starts a spare
     * thread in the same pool, unless it already has spare_threads spare threads in all its pools together. When the
     * handler returns, one thread of the pool ends.
     */
    int64_t grace_ms;  /* in ms; 0: 10000 */
    int spare_threads; /* 0: 4; -1: none */
    /*
     * For programs that embed a worker: an existing directory that only this program uses. The worker records in a file
     * there which tasks its threads lease, begin and finish. If the process dies, the next reeve_worker_start with this
     * directory reads the file. It settles the tasks that had finished, returns the tasks that had not begun to their
     * queues without counting a crash, and counts a crash for each task that ran. Without crash_dir, all these tasks
     * return to their queues when the session expires, and those that had finished run again. The file takes about 350
     * KB for each thread, and reeve_worker_stop removes it. Several workers may share the directory, also workers of
     * several processes of the program. The file is of no use after a crash of the machine. NULL: no record. It has no
     * effect in the worker of `reeve-worker --supervise`, whose supervisor has a record of its own.
     */
    const char *crash_dir;
    /*
     * reeve_worker_reload calls this function. (`reeve signal WORKER reload` makes the worker call reeve_worker_reload,
     * if on_request is NULL or returns false.) In it, the program reads its settings again, and may change this worker
     * by reeve_worker_set_pool, reeve_worker_set_threads, reeve_worker_add_pool and the like. It may write what has
     * changed, or why it refuses, to ret_text, `size` bytes with the final zero byte; the text is part of the answer.
     * Any other status than REEVE_OK refuses the reload: plugins are not replaced either. The function runs on the
     * thread that called reeve_worker_reload or, for a request, on a thread of the worker. If other threads of the
     * program also change this worker, they and this function need a common lock. The function may block. It must not
     * stop the worker, or reload it. NULL: no call.
     */
    reeve_status (*on_reload)(void *user, reeve_worker *worker, char *ret_text, size_t size);
    void *on_reload_user; /* argument of on_reload; must outlive the worker */
} reeve_worker_options;

/*
 * Creates a worker. It does not connect yet. On success the caller owns *ret and frees it with reeve_worker_destroy. On
 * failure *ret is NULL, and the message is written to ret_error, a buffer of `size` bytes, or NULL. A longer message is
 * cut, so that it fits with its final zero byte.
 *
 * Fork: a process may fork between create and start; each process that starts the worker gets a worker id of its own.
 * The child of a fork after start has none of the worker's threads, and should call exec or _exit. In such a child,
 * reeve_worker_stop returns REEVE_ESTATE, and reeve_worker_quiet and reeve_worker_destroy do nothing. If a handler,
 * layer or hook forks, and the child returns from it, the library ends the child at once, by _exit with status 70.
 *
 * Errors: REEVE_EINVAL, REEVE_EURL, REEVE_EUNSUPPORTED, REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_worker_create(reeve_worker **ret, const reeve_worker_options *options, char *ret_error,
                                           size_t size);

/* The message of the last failed call on this worker. Valid until the next call. */
REEVE_API const char *reeve_worker_error(const reeve_worker *worker);

/*
 * Registers a handler for its type. Call it only before start. The struct and its type are copied. `user` must
 * outlive the worker. If free_user is set, reeve_worker_destroy calls it for `user`. On failure the caller still owns
 * `user`, and free_user is not called.
 *
 *   REEVE_EDUPLICATE   the type has a handler already
 *   REEVE_EINVAL       the type is not valid, or run and run_batch are both set or both NULL
 *   REEVE_ESTATE       the worker has been started
 *   REEVE_ENOMEM
 */
REEVE_API reeve_status reeve_worker_register(reeve_worker *worker, const reeve_handler *handler);

/* As reeve_worker_register, for a handler that has only a type, a function and a user pointer. */
REEVE_API reeve_status reeve_worker_handle(reeve_worker *worker, const char *type, reeve_handler_fn run, void *user);

/*
 * Adds a layer (layer.h). Its functions `before`, `run`, `run_batch` and `after` apply to all handlers, including those
 * that are registered later. Its function `enqueue` applies to the tasks that handlers chain (reeve_task_chain). If the
 * layer has a type, the functions apply only to the types that `type` of reeve_layer describes. Layers are called in
 * the order in which they were added, `enqueue` and `after` in the reverse order. Call it only before start. The
 * struct, its name and its type are copied. `user` must outlive the worker. If free_user is set, reeve_worker_destroy
 * calls it for `user`.
 *
 *   REEVE_EINVAL   the layer has no name or no function, its type is not valid, or the worker would have more than
 *                  REEVE_LAYERS_MAX layers
 *   REEVE_ESTATE   the worker has been started
 *   REEVE_ENOMEM
 */
REEVE_API reeve_status reeve_worker_add_layer(reeve_worker *worker, const reeve_layer *layer);

/*
 * Loads a plugin, registers its handlers and adds its layers. An argument with a '/' is a path. Any other argument is
 * the name of a file in the plugin directory: "checksum" is <plugin_dir>/checksum.so. Call it only before start.
 * The call blocks while the file is loaded and the load hook runs. After a failure, none of the plugin's handlers is
 * registered, and none of its layers is added.
 * The worker loads a private copy of the file, in memory: what is written to the file later has no effect until
 * reeve_worker_reload. It loads the file itself if the system does not allow code in such memory, or if the plugin
 * finds other libraries by $ORIGIN.
 *
 *   REEVE_EPLUGIN                    the file cannot be opened, has no entry function, or has an unknown ABI number
 *   REEVE_EDUPLICATE, REEVE_EINVAL   as reeve_worker_register and reeve_worker_add_layer, for one of its handlers or
 *                                    layers
 *   REEVE_ESTATE                     the worker has been started
 *   REEVE_ENOMEM
 */
REEVE_API reeve_status reeve_worker_load_plugin(reeve_worker *worker, const char *name_or_path);

/* A policy overrides options of the handler of a type. The fields are as in reeve_handler; zero keeps the handler's
 * value. */
typedef struct reeve_handler_policy {
    size_t size; /* sizeof(reeve_handler_policy), or 0 */
    const char *type;
    int attempts;
    int max_crashes;
    int64_t timeout_ms;
    const reeve_backoff *backoff;
    int64_t heartbeat_ms;
    bool at_most_once;   /* false keeps the handler's value */
    unsigned batch_size; /* batch_size and batch_wait_ms: only for a batch handler */
    int64_t batch_wait_ms;
    int64_t retry_for_ms;
    int max_snoozes;
} reeve_handler_policy;

/* Sets the policy of a handler. Call it only before start. REEVE_ENOTFOUND: the type has no handler. REEVE_EINVAL: a
 * value is out of range. REEVE_ESTATE: the worker has been started. REEVE_ENOMEM. */
REEVE_API reeve_status reeve_worker_set_policy(reeve_worker *worker, const reeve_handler_policy *policy);

/*
 * The order in which a thread asks the queues of its pool for tasks. The thread leases up to a batch of tasks from
 * the first queue in this order. If that queue has fewer tasks, the thread fills the batch from the next queues. An
 * empty queue therefore delays no other queue.
 *
 *     strict       the order of the list: a queue is served when those before it are empty
 *     weighted     by shares: with weights 5 and 1, five of six tasks are from the first queue while both have tasks.
 *                  While a queue is empty, the other queues use its share, and it does not get that share back later.
 *                  When it has tasks again, the thread leases its next batch from it; then the shares apply again
 *     round-robin  the order of the list, starting after the queue from which the thread leased last; with a batch of
 *                  1, the thread takes one task from each queue in turn
 *
 * Each thread has its own shares and its own last queue; threads do not wait for each other.
 */
typedef enum reeve_order { REEVE_ORDER_STRICT = 0, REEVE_ORDER_WEIGHTED = 1, REEVE_ORDER_ROUND_ROBIN = 2 } reeve_order;

/*
 * Where the handlers of a pool run.
 *
 *     thread   on the threads of the pool
 *     process  in processes: each thread of the pool has a runner, a process of the program reeve-runner, which loads
 *              the plugins of the worker once and runs one task (or one call of a batch handler) at a time. When a
 *              handler crashes, only its process ends. A crash is counted for its task alone, and the thread starts a
 *              new runner. A handler that does not return after it was asked to stop (reeve_task_should_stop) is ended
 *              with its process: SIGTERM to the process group after a grace period (`grace_ms` of
 *              reeve_runner_options), and SIGKILL after a second grace period. All handlers and layers of the worker
 *              must come from plugins
 */
typedef enum reeve_isolation { REEVE_ISOLATION_THREAD = 0, REEVE_ISOLATION_PROCESS = 1 } reeve_isolation;

/*
 * Limits of the runners of a pool with process isolation. Zero selects no limit, unless a field says otherwise. If the
 * system refuses to set a limit, for instance because the worker itself has a lower one, the runner has the limit of
 * the worker.
 */
typedef struct reeve_runner_options {
    size_t size; /* sizeof(reeve_runner_options): required */
    /* Maximum private memory of a runner in bytes, at least 16 MiB; an allocation beyond it fails (RLIMIT_DATA). */
    int64_t memory;
    /* CPU time of a task, or of a call of a batch handler, in ms, rounded up to whole seconds. SIGXCPU kills the
     * runner, which is a crash of the task. */
    int64_t cpu_ms;
    int64_t files;      /* maximum number of open descriptors, at least 16 */
    int64_t processes;  /* maximum number of processes and threads of `user` (RLIMIT_NPROC); no effect for root */
    int64_t file_size;  /* bytes of a file that a task writes; SIGXFSZ kills the runner */
    int64_t max_tasks;  /* tasks after which a runner is replaced, less a random part of up to a tenth of this number */
    int64_t max_memory; /* a runner with more resident memory than this, in bytes, is replaced after its task */
    int64_t max_age_ms; /* a runner that is older than this is replaced after its task */
    int64_t grace_ms;   /* time from a request to stop to SIGTERM, and from there to SIGKILL; 0: 2000 */
    /* A directory in which each task, or call of a batch handler, gets a new private directory. This is the working
     * directory of the handler, and TMPDIR names it. It is removed when the handler has returned. NULL: none. */
    const char *scratch;
    /* The user that the runners run as: "USER" or "USER:GROUP", names or numbers. The worker must run as root to set
     * it. The runners have no supplementary groups. NULL: the user of the worker. */
    const char *user;
    /*
     * The fields below confine the runners before they load plugins, as far as the kernel and the build allow; `reeve
     * workers --json` shows which protections are in force. The worker itself loads the plugins, too, unconfined.
     *
     * paths: the files and directories that handlers can reach (Landlock), at most 64; NULL: all. "ro:/PATH" may be
     * read and executed, "rw:/PATH" also written; a directory includes everything in it. "rw:scratch" is the directory
     * that the task has in `scratch`; those of other tasks stay out of reach. What every program needs can always be
     * read: /lib, /usr/lib and the like, the plugins, /dev/null, time zones.
     */
    const char *const *paths;
    size_t path_count;
    uint64_t sandbox; /* REEVE_SANDBOX_ flags; 0: none */
    /*
     * cgroup: a directory of cgroup v2 in which each runner, with all processes that it starts, gets a group of its
     * own: "own", the group of the worker, which the service manager has delegated to it (systemd: Delegate=yes); or a
     * path that the worker may write to. When the runner ends, all processes of the group are killed. NULL: none.
     *
     * cgroup_memory: with `cgroup`, maximum memory of the group in bytes, at least 16 MiB; beyond it, the kernel kills
     * the processes of the group, which is a crash of the task, with a message of its own. If `cgroup` is "own", this
     * limit makes the worker move all processes of its group to the subgroup `reeve-worker`. 0: no limit. If the system
     * does not allow a group or its limit, the runner works without it; `reeve workers --json` shows what is in force.
     */
    const char *cgroup;
    int64_t cgroup_memory;
} reeve_runner_options;

/* Handlers have no network: they can create only Unix domain sockets (seccomp), and cannot bind or connect TCP sockets
 * that they got in another way (Landlock). */
#define REEVE_SANDBOX_NO_NETWORK UINT64_C(1)
/* System calls that no handler needs fail with EPERM, such as mount, ptrace, bpf and unshare (seccomp). */
#define REEVE_SANDBOX_SYSCALLS UINT64_C(2)

/* A pool: threads that serve a list of queues. The struct and what it points to are copied. */
typedef struct reeve_pool_options {
    size_t size;               /* sizeof(reeve_pool_options), or 0 */
    const char *name;          /* name of the pool and its threads; NULL: "pool-N" */
    const char *const *queues; /* 1 to 1000 different names of queues */
    size_t queue_count;
    unsigned threads; /* number of threads, at most 1024; 0: the number of processors that the process may use */
    unsigned batch;   /* maximum number of tasks that a thread leases at once, 1 to 256; 0: 128 */
    reeve_order order;
    const unsigned *weights; /* with REEVE_ORDER_WEIGHTED: a weight from 1 to 1000 for each queue; NULL: all 1 */
    /* Planned duration of a batch, 1 to 1000 ms; 0: 25 ms. In one call, a thread leases only as many tasks as it will
     * probably finish in this time, by the run times of its last tasks, and never more than `batch`. If one of the last
     * 16 calls of the thread leased fewer tasks than the thread asked for, the planned duration is at most 2 ms. */
    int64_t batch_ms;
    reeve_isolation isolation;          /* where the handlers run; 0: on the threads */
    const reeve_runner_options *runner; /* with REEVE_ISOLATION_PROCESS; NULL: no limits */
    /* Minimum number of threads, at most `threads`; 0: the same as `threads`. If it is lower, the number of threads
     * follows the work, from `threads_min` to `threads`: it grows while all threads are busy and tasks wait longer than
     * `target_wait_ms`, and shrinks when the pool has had threads without tasks for `shrink_after_ms`. It does not grow
     * beyond the number of threads that keeps all processors busy, but is never less than `threads_min`. */
    unsigned threads_min;
    int nice;               /* niceness of the threads, -20 to 19; 0: that of the process. -20 to -1 need a privilege */
    int64_t target_wait_ms; /* see threads_min; at most an hour; 0: 500 ms */
    int64_t shrink_after_ms; /* see threads_min; at most a day; 0: 30 s */
    const char *cpus;        /* the processors that the threads may use, such as "0-3,8"; NULL: those of the process */
} reeve_pool_options;

/*
 * Adds a pool, before start or while the worker runs. Different pools may serve the same queue. If the worker runs, the
 * threads of the pool start at once.
 *
 *   REEVE_EINVAL      a value is not valid
 *   REEVE_EDUPLICATE  the pool names a queue twice, or the worker runs and has a pool of this name
 *   REEVE_ESTATE      the worker is stopping
 *   REEVE_EUNSUPPORTED  process isolation, and the worker has a handler or a layer that is not of a plugin
 *   REEVE_ENOMEM, REEVE_ESYSTEM  out of memory, or a thread could not be started; the pool may have fewer threads
 */
REEVE_API reeve_status reeve_worker_add_pool(reeve_worker *worker, const reeve_pool_options *options);

/*
 * The next functions change pools, before start or while the worker runs. Running tasks are not disturbed: a thread
 * that is no longer needed finishes its present task and settles it. Then it returns its other leased tasks to their
 * queues, and ends. None of the calls waits for that. A worker keeps the memory of ended threads and removed pools
 * until it is destroyed, and uses it again for new threads, and for a pool that is added again with the same name and
 * options.
 *
 * Call them on any thread, also in a handler, but on only one thread at a time for each worker. Requests that the
 * worker receives (reeve_ask_workers) may change the same pools at the same time; that is safe.
 *
 *   REEVE_ENOTFOUND   the worker has no pool of this name, or the pool does not serve the queue
 *   REEVE_EDUPLICATE  the pool serves the queue already
 *   REEVE_EINVAL      a value is not valid; or the call would remove the last pool, or the last queue of a pool
 *   REEVE_ESTATE      the worker is stopping; or the process was forked after start
 *   REEVE_ENOMEM, REEVE_ESYSTEM  out of memory, or a thread could not be started; the pool may have fewer threads
 */

/* Sets the number of threads of a pool, 1 to 1024. If min is lower than max, the number follows the work
 * (reeve_pool_options). */
REEVE_API reeve_status reeve_worker_set_threads(reeve_worker *worker, const char *pool, unsigned min, unsigned max);

/* Sets all options of the pool that options->name names. If they differ from the present ones in more than the number
 * of threads, a new pool replaces the old one. A thread of the new pool starts when one of the old pool ends, so that
 * both together never have more threads than the new options allow. */
REEVE_API reeve_status reeve_worker_set_pool(reeve_worker *worker, const reeve_pool_options *options);

/* Removes a pool: its threads end. When no pool serves a queue any more, the worker ends its session there. */
REEVE_API reeve_status reeve_worker_remove_pool(reeve_worker *worker, const char *pool);

/* Adds a queue to a pool, at the end of its list, or removes one. weight: with REEVE_ORDER_WEIGHTED, 1 to 1000; 0: 1.
 * The effect is that of reeve_worker_set_pool with the changed list. */
REEVE_API reeve_status reeve_worker_add_queue(reeve_worker *worker, const char *pool, const char *queue,
                                              unsigned weight);
REEVE_API reeve_status reeve_worker_remove_queue(reeve_worker *worker, const char *pool, const char *queue);

/*
 * Reloads a running worker, in three steps. First, each plugin of reeve_worker_load_plugin whose file has changed is
 * loaded again, with the same options; the old version stays loaded. Then the program reads its settings
 * (reeve_worker_options.on_reload). Last, the new versions replace the old ones. Running tasks end in the old version,
 * and so may tasks that a thread leases at this moment. Later tasks run in the new version. The old version is unloaded
 * when its last task has ended. Handlers and layers that the program has added, and policies, stay as they are. If a
 * file cannot be loaded, or on_reload refuses, nothing changes. If there is no memory after on_reload, the plugins stay
 * as they are.
 *
 * ret_text: what has changed, in words, cut at `size` bytes with the final zero byte; NULL: not wanted. It is written
 * only on success; reeve_worker_error has the reason of a failure. The call blocks while plugins are loaded, and for
 * on_reload. It does not wait for tasks. Any thread but one that runs a handler of this worker.
 *
 *   REEVE_EPLUGIN, REEVE_EDUPLICATE, REEVE_EINVAL   as reeve_worker_load_plugin
 *   REEVE_ESTATE      the worker does not run; or a handler, layer or hook of this worker made the call
 *   REEVE_ENOMEM
 *   any other status  that of on_reload
 */
REEVE_API reeve_status reeve_worker_reload(reeve_worker *worker, char *ret_text, size_t size);

/*
 * Starts all threads of the worker and returns. If the URL is "embedded:", the call also starts the private server.
 * The call first tries to reach Redis for up to 2 s, to detect a wrong password, and to log a warning if Redis evicts
 * keys or has no persistence. If Redis cannot be reached, the call still succeeds. The threads then log the error
 * (reeve_log_set) and try again, with increasing delays and jitter.
 *
 * Signals: the worker's threads block all signals except those of faults, such as SIGSEGV. The program's own threads
 * therefore get the other signals. A child process that a handler starts (fork, posix_spawn, system) inherits this
 * signal mask. Set another mask by POSIX_SPAWN_SETSIGMASK, or by sigprocmask between fork and exec.
 *
 *   REEVE_ECONNECT   Redis refuses the user or password of the URL, or requires one
 *   REEVE_EINVAL     the worker has no pool
 *   REEVE_ESTATE     the worker has been started before
 *   REEVE_ESYSTEM    a thread, a runner or the embedded server could not be started; no thread runs
 *   REEVE_EPLUGIN    a runner of a pool with process isolation could not load a plugin
 *   REEVE_EUNSUPPORTED  a pool has process isolation, and the worker has a handler or a layer that is not of a plugin
 */
REEVE_API reeve_status reeve_worker_start(reeve_worker *worker);

/* Makes the worker quiet: it leases no more tasks. Running tasks continue. Tasks that it has leased and not begun
 * return to their queues. Returns at once. */
REEVE_API void reeve_worker_quiet(reeve_worker *worker);

/* Undoes reeve_worker_quiet: the worker leases tasks again. Without effect if the worker is not quiet. Returns at once.
 * REEVE_ESTATE: the worker was not started, or is stopping; or it is quiet because a newer release of reeve has changed
 * the data format. */
REEVE_API reeve_status reeve_worker_resume(reeve_worker *worker);

/* Answers a request for which on_request returned true (reeve_worker_options). done: the request was carried out;
 * false: it was refused. text: an explanation, which is cut at 1 MiB. The worker sends the answer to Redis. Any thread.
 * REEVE_ENOMEM. */
REEVE_API reeve_status reeve_worker_answer(reeve_worker *worker, const char *id, bool done, const char *text);

/*
 * Stops the worker. The worker leases no more tasks, and the call waits for running handlers, for up to drain_ms.
 * If handlers still run then, reeve_task_should_stop returns true for them, and the call waits for one more second.
 * If handlers still run after that, their tasks go back to their queues; this does not count as a failed attempt. All
 * other threads end. In addition the call blocks while the worker reports to Redis: some milliseconds, or up to 8 s
 * if Redis does not answer. Several threads may call this function at the same time; all of them wait.
 *
 *   REEVE_OK         all handlers have returned, all threads have ended
 *   REEVE_ETIMEOUT   handlers still run, and their tasks are back in their queues. Call this function again to wait
 *                    for the handlers, or call reeve_worker_destroy, or exit the process
 *   REEVE_ESTATE     the calling process was forked after start; or a handler, layer or hook of this worker made the
 *                    call, which would wait for itself. Call reeve_worker_quiet there, and let another thread stop
 *                    the worker
 */
REEVE_API reeve_status reeve_worker_stop(reeve_worker *worker, int64_t drain_ms);

/* Frees a worker; NULL is ignored. If the worker is not stopped yet, the call stops it with a drain_ms of 0. It waits
 * until all handlers have returned, and unloads the plugins. An embedded server stops as in reeve_client_close. No
 * other thread may use the worker during or after the call. If a handler, layer or hook of this worker calls it, it
 * does nothing but log an error. */
REEVE_API void reeve_worker_destroy(reeve_worker *worker);

/* The totals of a worker since its start, and its state now. reeve_worker_get_stats fills it. */
typedef struct reeve_worker_stats {
    uint64_t leased;     /* leases of tasks */
    uint64_t completed;  /* completed tasks */
    uint64_t failed;     /* failed attempts, including those after which the task died */
    uint64_t dead;       /* tasks that died */
    uint64_t given_back; /* tasks that were snoozed or given back */
    uint64_t refused;    /* outcomes that Redis did not accept because the lease was lost */
    unsigned threads;    /* number of threads that all pools should have now */
    unsigned busy;       /* threads that run a handler now */
    bool connected;      /* the connection for heartbeats is open */
} reeve_worker_stats;

/* Gets statistics of the worker: totals since its start, and its state now. Any thread may call it at any time
 * between create and destroy, also during other calls. */
REEVE_API void reeve_worker_get_stats(reeve_worker *worker, reeve_worker_stats *ret);

/* The text format of metrics. */
typedef enum reeve_metrics_format {
    REEVE_METRICS_PROMETHEUS = 0, /* text format 0.0.4 of Prometheus */
    REEVE_METRICS_OPENMETRICS = 1 /* OpenMetrics 1.0, with "# EOF" at its end */
} reeve_metrics_format;

/*
 * Writes the metrics of the worker as text into `ret`, a buffer of `size` bytes, with a final zero byte. *ret_length is
 * the length of the whole text without that byte. docs/guide/metrics.md describes the metrics. Without
 * reeve_worker_options.metrics, those of attempts are missing. Any thread may call it at any time between create and
 * destroy. It does not call Redis. Threads of the worker may wait for the call for some microseconds.
 *
 *   REEVE_ETOOBIG  the text does not fit: nothing is written but *ret_length. A later text may be longer
 *   REEVE_EINVAL   worker or ret_length is NULL, or there is no such format
 *   REEVE_ENOMEM
 */
REEVE_API reeve_status reeve_worker_metrics(reeve_worker *worker, reeve_metrics_format format, char *ret, size_t size,
                                            size_t *ret_length);

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
REEVE_API reeve_status reeve_worker_set_pool_sized(reeve_worker *worker, const reeve_pool_options *options,
                                                   size_t options_size);
#define reeve_worker_set_pool(...) reeve_worker_set_pool_sized(__VA_ARGS__, sizeof(reeve_pool_options))
REEVE_API reeve_status reeve_worker_add_pool_sized(reeve_worker *worker, const reeve_pool_options *options,
                                                   size_t options_size);
#define reeve_worker_add_pool(...) reeve_worker_add_pool_sized(__VA_ARGS__, sizeof(reeve_pool_options))

#ifdef __cplusplus
}
#endif
#endif
