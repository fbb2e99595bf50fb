/*
 * plugin.h - handlers in a shared object.
 *
 *     static reeve_outcome greet(reeve_task *task, void *user) { ... }
 *     static const reeve_handler handlers[] = { { REEVE_HANDLER, .type = "greet", .run = greet } };
 *     REEVE_PLUGIN(.name = "greeter", .version = "1.0", .handlers = handlers, .handler_count = 1)
 *
 * Life cycle of a plugin in a worker:
 *
 *     dlopen -> entry -> load() -> [each thread: thread_start -> run ... run -> thread_stop] -> unload() -> dlclose
 *
 * load (or load_with_options), thread_start, thread_stop and unload are hooks: optional functions of the plugin.
 * Before a thread runs its first task of a handler, it calls the handler's thread_start. When the thread ends, it
 * calls thread_stop. No hook is called after unload.
 *
 * reeve-worker loads the file again on a reload when it has changed (docs/configuration.md, Reload of plugins). Both
 * versions are in the process until the last task of the old one has ended, each with its own variables and hooks.
 *
 * Versions: the structs contain their sizes and the ABI number. A worker can therefore load plugins that were
 * compiled with other versions of reeve. New versions only append fields; a field that an older plugin lacks is zero.
 * See "Structs" in status.h.
 *
 * "Any thread" in a comment means that any number of threads may make the call at the same time.
 *
 * C++: include plugin.hpp, which fills these structs without warnings and turns exceptions into outcomes. Without
 * plugin.hpp, an exception that leaves a handler, layer or hook ends the process (std::terminate), and the running
 * tasks of the process crash.
 */
#ifndef REEVE_PLUGIN_H
#define REEVE_PLUGIN_H

#include "layer.h"
#include "plugin_option.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI number. It rises only with a change that older plugins cannot work with. */
#define REEVE_PLUGIN_ABI 1

/* A handler: an element of a plugin's table, or the argument of reeve_worker_register. Zero selects the default of
 * each field. */
typedef struct reeve_handler {
    size_t size; /* sizeof(reeve_handler); REEVE_HANDLER sets it */
    /* Required: the type of its tasks, or a pattern. A pattern is the beginning of types and a star, such as "mail.*",
     * or "*" for all types. A task runs in the handler of its type, else in that of the longest pattern that fits.
     * reeve_task_type returns the type of the task. */
    const char *type;
    reeve_handler_fn run;  /* exactly one of run and run_batch is required */
    void *user;            /* argument of run, run_batch and the hooks */
    const char *summary;   /* one line for people */
    int attempts;          /* failed attempts after which a task dies; 0: the queue's setting, else 20 */
    int max_crashes;       /* crashes after which a task dies; 0: the queue's setting, else 3 */
    int64_t timeout_ms;    /* run time limit of an attempt; 0: the queue's setting, else none */
    reeve_backoff backoff; /* delays between attempts; zeroed: the queue's setting, else the default */
    /* Hooks for state that each thread has for itself; both are optional. thread_start returns 0 on success. It may
     * set *ret_state; reeve_task_thread_state then returns this pointer to the handler. If thread_start returns
     * another value, the attempt fails with kind "setup", and the task is retried. */
    int (*thread_start)(void *user, void **ret_state);
    void (*thread_stop)(void *user, void *state);
    void (*free_user)(void *user); /* called once, when the worker is destroyed; ignored in plugins, which use unload */
    int64_t heartbeat_ms;          /* heartbeat limit, see reeve_task_heartbeat; 0: the queue's setting, else none */
    /* At most once: the worker completes a task in Redis before it calls the handler, so that no task runs twice,
     * even if the worker dies. The outcome of the handler is only logged and counted. Results, progress, checkpoints
     * and log lines are not recorded. Concurrency limits do not count the running task. */
    bool at_most_once;
    /*
     * A batch handler (reeve_batch_fn in task.h), in place of run. One call gets up to `batch_size` tasks. The thread
     * makes the call as soon as it has leased `batch_size` tasks, or when the first of them has waited for
     * batch_wait_ms. While it collects tasks, the thread runs tasks of other types. The `batch` of the pool does not
     * limit the number of collected tasks. Each thread collects tasks for itself, so use few threads for such a
     * queue. A task that has crashed gets a call of its own. When the worker stops, collected tasks return to their
     * queues. Layers with only `run` do not apply to batch handlers.
     */
    reeve_batch_fn run_batch;
    unsigned batch_size;   /* at most REEVE_BATCH_SIZE_MAX; 0: REEVE_BATCH_SIZE_DEFAULT */
    int64_t batch_wait_ms; /* 0: do not wait; a call gets the tasks that the thread has leased */
    int64_t retry_for_ms;  /* a task is retried for at most this time after its enqueue; 0: the queue's setting */
    /* Number of times that the handler may snooze a task; at the next snooze it dies. 0: the queue's setting, else no
     * limit. */
    int max_snoozes;
} reeve_handler;

#define REEVE_HANDLER .size = sizeof(reeve_handler)

/* A plugin. REEVE_PLUGIN sets the first three fields, layer_size and option_size. */
typedef struct reeve_plugin {
    size_t size;         /* sizeof(reeve_plugin) */
    unsigned abi;        /* REEVE_PLUGIN_ABI */
    size_t handler_size; /* size of an element of `handlers` */
    const char *name;    /* required */
    const char *version;
    const char *summary;
    const reeve_handler *handlers;
    size_t handler_count;
    /* Maximum number of calls of the plugin's handlers that run at the same time in a process; 0: no limit. While a
     * leased task waits because of this limit, its time limits do not run. If the task is cancelled, it ends at once.
     * If the worker stops, the task returns to its queue. Neither counts as a failed attempt. */
    unsigned concurrency;
    /* Called once, before all other functions. If it returns a value other than 0, the plugin is not loaded. */
    int (*load)(void);
    void (*unload)(void); /* called once, after all other functions */
    /* Layers (layer.h). A layer without a type applies to all handlers of the worker, including those of other plugins
     * and of the program, and to all tasks that they chain. A layer with a type applies to the tasks that `type` of
     * reeve_layer describes. A plugin may have layers and no handlers. */
    const reeve_layer *layers;
    size_t layer_count; /* at most REEVE_LAYERS_MAX */
    size_t layer_size;  /* size of an element of `layers` */
    /* Options (plugin_option.h), and the load hook that receives their values. A plugin has load or
     * load_with_options. */
    const reeve_option *options;
    size_t option_count; /* at most REEVE_OPTIONS_MAX */
    size_t option_size;  /* size of an element of `options` */
    int (*load_with_options)(const reeve_options *options);
} reeve_plugin;

#define REEVE_PLUGIN_ENTRY "reeve_plugin_entry"

#ifdef __cplusplus
#define REEVE_PLUGIN_EXTERN extern "C"
/* Suppresses the warnings of C++ for omitted fields and, before C++20, for designated initialisers. */
#define REEVE_PLUGIN_QUIET                                                                                        \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wpragmas\"")                                \
        _Pragma("GCC diagnostic ignored \"-Wpedantic\"") _Pragma("GCC diagnostic ignored \"-Wc++20-extensions\"") \
            _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"")
#define REEVE_PLUGIN_LOUD _Pragma("GCC diagnostic pop")
#else
#define REEVE_PLUGIN_EXTERN
#define REEVE_PLUGIN_QUIET
#define REEVE_PLUGIN_LOUD
#endif

/* Defines the only symbol that a plugin exports. The arguments are designated initialisers of reeve_plugin. In C++
 * the first one must be `name`, and they must be in the order of the fields; REEVE_CXX_PLUGIN in plugin.hpp is easier
 * to use. */
#define REEVE_PLUGIN(...)                                                       \
    REEVE_PLUGIN_EXTERN REEVE_API const reeve_plugin *reeve_plugin_entry(void); \
    REEVE_PLUGIN_QUIET                                                          \
    REEVE_PLUGIN_EXTERN REEVE_API const reeve_plugin *reeve_plugin_entry(void)  \
    {                                                                           \
        static reeve_plugin plugin = {.size = sizeof(reeve_plugin),             \
                                      .abi = REEVE_PLUGIN_ABI,                  \
                                      .handler_size = sizeof(reeve_handler),    \
                                      __VA_ARGS__};                             \
        plugin.layer_size = sizeof(reeve_layer);                                \
        plugin.option_size = plugin.options != NULL ? sizeof(reeve_option) : 0; \
        return &plugin;                                                         \
    }                                                                           \
    REEVE_PLUGIN_LOUD

/* ---- counters -------------------------------------------------------------------------------------------------- */

#define REEVE_COUNTERS_MAX 64      /* of a process */
#define REEVE_COUNTER_NAME_MAX 63  /* bytes */
#define REEVE_COUNTER_HELP_MAX 200 /* bytes */

/*
 * Adds to a counter of the process, for use in handlers, layers, hooks and threads of plugins. The metrics of a worker
 * have it as reeve_plugin_NAME_total. The first call creates the counter, and `help` describes it in one line. Both
 * texts are copied, and a longer `help` is cut. If the first call has the count 0, the metrics show the counter with
 * the value 0. The name consists of a-z, 0-9 and _, and begins with that of the plugin: "thumbs_skipped". In a pool
 * with process isolation, handlers count in their runner. After each task, or call of a batch handler, the counts are
 * added to the counters of the worker. Any thread; does not block.
 *
 *   REEVE_EINVAL  the name is not valid
 *   REEVE_ETOOBIG the process has REEVE_COUNTERS_MAX other counters
 */
REEVE_API reeve_status reeve_plugin_count(const char *name, const char *help, uint64_t count);

/* ---- for programs that load plugins without a worker ----------------------------------------------------------- */

/* An open plugin. reeve_plugin_open returns it, reeve_plugin_close closes it. */
typedef struct reeve_plugin_handle reeve_plugin_handle;

/*
 * Opens a plugin and calls its load hook. name_or_path is as in reeve_worker_load_plugin. `dir` is the directory in
 * which a name is looked up; NULL: that of the environment variable REEVE_PLUGIN_DIR, else the plugin directory of
 * the installation, which is found relative to the library or program. If the plugin is already open, the call
 * returns the same handle and calls no hook. The last reeve_plugin_close unloads the plugin. On failure *ret is NULL,
 * and the message is written to ret_error, a buffer of `size` bytes, or NULL. A longer message is cut, so that it fits
 * with its final zero byte. Any thread. The call blocks while the file is loaded and the load hook runs.
 *
 *   REEVE_EPLUGIN      the plugin cannot be loaded, as in reeve_worker_load_plugin
 *   REEVE_EINVAL       a handler is not valid
 *   REEVE_EDUPLICATE   two handlers have the same type
 *   REEVE_ESTATE       a load or unload hook made the call
 *   REEVE_ENOMEM
 */
REEVE_API reeve_status reeve_plugin_open(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                         char *ret_error, size_t size);
/*
 * The same with values for options of the plugin, which are copied. As long as the plugin is open and its file is
 * unchanged, later calls of reeve_worker_load_plugin and reeve_plugin_open do not load it again: they use the open
 * plugin, with its options. So a program that sets options calls this function before it loads the plugin into a
 * worker, and closes the handle when the worker is destroyed. If the plugin is already open and values are given, they
 * must be equal to those in force. Statuses are those of reeve_plugin_open, and
 *
 *   REEVE_EINVAL       an option is not declared, has an invalid value or is given twice, or a required one is missing
 *   REEVE_ESTATE       the plugin is already open with other values
 */
REEVE_API reeve_status reeve_plugin_open_with_options(reeve_plugin_handle **ret, const char *name_or_path,
                                                      const char *dir, const reeve_option_value *values, size_t count,
                                                      char *ret_error, size_t size);
/* Closes a plugin that reeve_plugin_open returned. NULL is ignored. Any thread. The last call blocks while the unload
 * hook runs. */
REEVE_API void reeve_plugin_close(reeve_plugin_handle *plugin);

/* The next three functions do not block. Any thread. */

/* The plugin's description, valid until the last reeve_plugin_close. The structs of the plugin, its handlers and its
 * layers have the sizes of this version of reeve, whatever version the plugin was compiled with. */
REEVE_API const reeve_plugin *reeve_plugin_get(const reeve_plugin_handle *plugin);
/* The values of its options, valid until the last reeve_plugin_close. */
REEVE_API const reeve_options *reeve_plugin_options(const reeve_plugin_handle *plugin);
/* The path of the file from which the plugin was loaded, valid until the last reeve_plugin_close. */
REEVE_API const char *reeve_plugin_path(const reeve_plugin_handle *plugin);

/* Options for reeve_plugin_run. Zero selects the default of each field. */
typedef struct reeve_run_options {
    size_t size;       /* sizeof(reeve_run_options), or 0 */
    const char *queue; /* queue of the task; NULL: "local" */
    const char *id;    /* id of the task; NULL: a new UUIDv7 */
    reeve_bytes payload;
    unsigned attempt;                                               /* value of reeve_task_attempt; 0: 1 */
    void (*progress)(int percent, const char *message, void *user); /* called by reeve_task_progress; may be NULL */
    void *user;                                                     /* argument of progress */
} reeve_run_options;

/* What a handler did in reeve_plugin_run. */
typedef struct reeve_run_report {
    reeve_outcome outcome;
    reeve_bytes result; /* owned by the report */
    int64_t delay_ms;   /* after a retry or a snooze: delay in ms until a worker would run the task again */
    char kind[REEVE_KIND_MAX + 1];
    char message[REEVE_MESSAGE_MAX + 1];
    int64_t elapsed_us;
} reeve_run_report;

/*
 * Runs one task with the plugin's handler for a type, without Redis, on the calling thread. It also calls the layers
 * of the plugin, and the hooks thread_start and thread_stop of the handler. Blocks until the handler has returned.
 * Jitter is not applied to the delay of a retry. Free the report with reeve_run_report_fini. Any thread. The
 * functions of testing.h can do more: they have a clock that a test can move, metadata, and a record of all progress.
 * REEVE_ENOTFOUND: the plugin has no handler for the type. REEVE_ETOOBIG: the payload is too long. REEVE_EINVAL: an
 * option is not valid. REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_plugin_run(reeve_plugin_handle *plugin, const char *type, const reeve_run_options *options,
                                        reeve_run_report *ret);
/* Frees what the report owns, but not the struct itself. NULL is ignored. Any thread. */
REEVE_API void reeve_run_report_fini(reeve_run_report *report);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_plugin_run_sized(reeve_plugin_handle *plugin, const char *type,
                                              const reeve_run_options *options, reeve_run_report *ret,
                                              size_t options_size);
#define reeve_plugin_run(...) reeve_plugin_run_sized(__VA_ARGS__, sizeof(reeve_run_options))

#ifdef __cplusplus
}
#endif
#endif
