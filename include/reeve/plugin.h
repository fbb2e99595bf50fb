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
 * Each thread calls a handler's thread_start before its first task of that handler, and thread_stop when the thread
 * ends. No hook is called after unload. The structs contain their sizes and the ABI number, so that plugins that were
 * compiled with other versions of reeve can be loaded: fields are only appended, and those that an older plugin lacks
 * are zero. See "Structs" in status.h.
 *
 * C++: include plugin.hpp, which fills these structs without warnings and turns exceptions into outcomes. An
 * exception that leaves a plain handler, layer or hook ends the process (std::terminate), and its task counts as
 * crashed.
 */
#ifndef REEVE_PLUGIN_H
#define REEVE_PLUGIN_H

#include "layer.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI number. It rises only with a change that older plugins cannot work with. */
#define REEVE_PLUGIN_ABI 1

/* A handler, for a plugin's table or reeve_worker_register. Zero selects the default of each field. */
typedef struct reeve_handler {
    size_t size;           /* sizeof(reeve_handler); REEVE_HANDLER sets it */
    const char *type;      /* required */
    reeve_handler_fn run;  /* exactly one of run and run_batch is required */
    void *user;            /* argument of run, run_batch and the hooks */
    const char *summary;   /* one line for people */
    int attempts;          /* maximum of attempts; 0: as the queue says, else 20 */
    int max_crashes;       /* 0: as the queue says, else 3 */
    int64_t timeout_ms;    /* run time limit; 0: as the queue says, else none */
    reeve_backoff backoff; /* zeroed: as the queue says, else the default */
    /* Hooks for state of each thread; both are optional. thread_start returns 0 on success; it may set *ret_state,
     * which reeve_task_thread_state then returns. With any other value the task fails with kind "setup" and is
     * retried. */
    int (*thread_start)(void *user, void **ret_state);
    void (*thread_stop)(void *user, void *state);
    void (*free_user)(void *user); /* called once, when the worker is destroyed; not for a plugin, which has unload */
    int64_t heartbeat_ms;          /* heartbeat limit, see reeve_task_heartbeat; 0: none */
    /* At most once: its tasks are completed in Redis before they run, so that none runs twice, even if its worker
     * dies. The outcome is only logged and counted. Results, progress, checkpoints and log lines are not recorded,
     * and concurrency limits do not count the running task. */
    bool at_most_once;
    /*
     * A batch handler (reeve_batch_fn in task.h), in place of run. A call gets up to `batch_size` tasks. The thread
     * makes the call as soon as it has leased that many, or when the first of them has waited for batch_wait_ms.
     * Meanwhile the thread runs tasks of other types. Here `batch_size` applies in place of the pool's batch. Each
     * thread collects its own batch, so serve such a queue with few threads. A task that is suspected of crashing its
     * worker gets a call of its own. When the worker stops, collected tasks return to their queues. Layers do not
     * apply to these calls.
     */
    reeve_batch_fn run_batch;
    unsigned batch_size;   /* at most REEVE_BATCH_SIZE_MAX; 0: REEVE_BATCH_SIZE_DEFAULT */
    int64_t batch_wait_ms; /* 0: a call gets the tasks that the thread has leased so far */
} reeve_handler;

#define REEVE_HANDLER .size = sizeof(reeve_handler)

typedef struct reeve_plugin {
    size_t size;
    unsigned abi;
    size_t handler_size; /* size of an element of `handlers` */
    const char *name;    /* required */
    const char *version;
    const char *summary;
    const reeve_handler *handlers;
    size_t handler_count;
    /* How many calls of the plugin's handlers may run at the same time in a process; 0: no limit. A task that waits
     * because of this limit has not begun: its time limits have not started. A cancel ends it, and a stop returns it
     * to its queue; neither uses an attempt. */
    unsigned concurrency;
    int (*load)(void); /* called once, before all other functions; a value other than 0 refuses the load */
    void (*unload)(void);
    /* Layers around all handlers of the worker, those of other plugins and of the program included (layer.h). A
     * plugin may consist of layers only. */
    const reeve_layer *layers;
    size_t layer_count; /* at most REEVE_LAYERS_MAX */
    size_t layer_size;  /* size of an element of `layers` */
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
 * they must start at `name` and keep the order of the fields; REEVE_CXX_PLUGIN in plugin.hpp is more convenient
 * there. */
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
        return &plugin;                                                         \
    }                                                                           \
    REEVE_PLUGIN_LOUD

/* ---- for programs that load plugins without a worker ----------------------------------------------------------- */

typedef struct reeve_plugin_handle reeve_plugin_handle;

/*
 * Opens a plugin by a name or path, as reeve_worker_load_plugin, and calls its load hook. `dir` is the directory in
 * which a name is looked up; NULL: the environment variable REEVE_PLUGIN_DIR, else the plugin directory of the
 * installation, which is found relative to the library or program. Opening a plugin that is open returns the same
 * handle and calls no hook; the last close unloads it. On failure *ret is NULL and ret_error, when not NULL, has the
 * message, cut at `size` bytes. Any thread. Errors: REEVE_EPLUGIN; REEVE_EINVAL: a handler is not valid;
 * REEVE_EDUPLICATE: two handlers have the same type; REEVE_ESTATE: called from a load or unload hook; REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_plugin_open(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                         char *ret_error, size_t size);
/* NULL is ignored. Any thread. */
REEVE_API void reeve_plugin_close(reeve_plugin_handle *plugin);

/* The plugin's description, valid until the last close. The struct, its handlers and its layers have the sizes of this
 * version, whatever version the plugin was compiled with. */
REEVE_API const reeve_plugin *reeve_plugin_get(const reeve_plugin_handle *plugin);
/* The file it was loaded from. */
REEVE_API const char *reeve_plugin_path(const reeve_plugin_handle *plugin);

/* A run of a handler without Redis. */
typedef struct reeve_run_options {
    size_t size;       /* sizeof(reeve_run_options), or 0 */
    const char *queue; /* NULL: "local" */
    const char *id;    /* NULL: a new UUIDv7 */
    reeve_bytes payload;
    unsigned attempt;                                               /* number of the attempt; 0 means 1 */
    void (*progress)(int percent, const char *message, void *user); /* for reeve_task_progress; may be NULL */
    void *user;
} reeve_run_options;

typedef struct reeve_run_report {
    reeve_outcome outcome;
    reeve_bytes result; /* owned by the report */
    int64_t delay_ms;   /* delay of a retry, backoff applied, or of a snooze */
    char kind[REEVE_KIND_MAX + 1];
    char message[REEVE_MESSAGE_MAX + 1];
    int64_t elapsed_us;
} reeve_run_report;

/*
 * Runs one task through the plugin's handler of a type, with its thread hooks and the plugin's layers, on the calling
 * thread; blocks until the handler has returned. Jitter is not applied to the backoff. Free the report with
 * reeve_run_report_fini. Any thread. testing.h can do more: it has a clock that can be moved, metadata, and a record
 * of all progress. REEVE_ENOTFOUND: the plugin has no handler of the type. REEVE_ETOOBIG: the payload. REEVE_EINVAL,
 * REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_plugin_run(reeve_plugin_handle *plugin, const char *type, const reeve_run_options *options,
                                        reeve_run_report *ret);
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
