/*
 * plugin.h - handlers in a shared object.
 *
 *     static reeve_outcome greet(reeve_task *task, void *user) { ... }
 *     static const reeve_handler handlers[] = { { REEVE_HANDLER, .type = "greet", .run = greet } };
 *     REEVE_PLUGIN(.name = "greeter", .version = "1.0", .handlers = handlers, .handler_count = 1)
 *
 * Life of a plugin in a worker:
 *
 *     dlopen -> entry -> load(state) -> [each thread: thread_start -> run ... run -> thread_stop] -> unload -> dlclose
 *
 * thread_start runs on a thread before its first task of that handler; thread_stop when the thread ends. No hook runs
 * after unload. The structs carry their size and the ABI's number, so that a plugin that was compiled with another version
 * of reeve loads, see "Structs" in status.h: fields are only appended, and what an old plugin does not know is zero.
 *
 * In C++ include plugin.hpp: it makes these structs without warnings, and turns exceptions into outcomes. An exception
 * that leaves a plain handler, layer or hook ends the process (std::terminate), and its task counts as crashed.
 */
#ifndef REEVE_PLUGIN_H
#define REEVE_PLUGIN_H

#include "layer.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when an old plugin cannot work any more. */
#define REEVE_PLUGIN_ABI 1

/* A handler, for a plugin's table or reeve_worker_register. Zero: the default. */
typedef struct reeve_handler {
    size_t size;          /* sizeof(reeve_handler); REEVE_HANDLER sets it */
    const char *type;     /* required */
    reeve_handler_fn run; /* this or run_many */
    void *user;           /* handed to it */
    const char *summary;  /* one line for people */
    int max_attempts;     /* 0: 20 */
    int max_crashes;      /* 0: 3 */
    int64_t timeout_ms;   /* 0: none */
    reeve_backoff backoff;
    /* Per-thread state: thread_start returns 0 and may set *ret_state; else the task fails with kind "setup" and is
     * retried. Both optional. */
    int (*thread_start)(void *user, void **ret_state);
    void (*thread_stop)(void *user, void *state);
    void (*free_user)(void *user); /* called once, when the worker is destroyed; not of a plugin: it has unload */
    int64_t heartbeat_ms;          /* silence for longer is a failure, see reeve_task_heartbeat; 0: it may be silent */
    /* Its tasks are completed before they run, and so run at most once, also when the worker dies. What the handler
     * says in the end is logged and counted; neither a result nor progress, checkpoints or log are recorded, and limits
     * of concurrency do not count it while it runs. */
    bool at_most_once;
    /*
     * Instead of run (task.h): one call gets up to many tasks, as soon as a thread has so many, or when the first of
     * them has waited many_wait_ms for the others. Meanwhile the thread runs tasks of other types. A thread takes so
     * many whatever its pool's batch is. Each thread gathers for itself: what is to come together goes to a pool of few
     * threads. A task that is suspected of crashes comes alone; when the worker stops, those that wait go back. No
     * layers are around such calls.
     */
    reeve_many_fn run_many;
    unsigned many;        /* 0: REEVE_MANY_DEFAULT; at most REEVE_MANY_MAX */
    int64_t many_wait_ms; /* 0: the call gets what is there */
} reeve_handler;

#define REEVE_HANDLER .size = sizeof(reeve_handler)

typedef struct reeve_plugin {
    size_t size;
    unsigned abi;
    size_t handler_size; /* the stride of handlers */
    const char *name;    /* required */
    const char *version;
    const char *summary;
    const reeve_handler *handlers;
    size_t handler_count;
    /* How many of the plugin's handlers may run at once in a process; 0: any number. A task that waits for its place has
     * not begun: its time limits do not count yet, and when it is cancelled, or its worker stops, it leaves unbegun. */
    unsigned concurrency;
    int (*load)(void); /* once, before anything else; not 0: the plugin is not loaded */
    void (*unload)(void);
    /* Around the handlers of every plugin and of the program in a worker, not only of this one: see layer.h. A plugin
     * may have layers alone. */
    const reeve_layer *layers;
    size_t layer_count; /* at most REEVE_LAYERS_MAX */
    size_t layer_size;  /* the stride of layers */
} reeve_plugin;

#define REEVE_PLUGIN_ENTRY "reeve_plugin_entry"

#ifdef __cplusplus
#define REEVE_PLUGIN_EXTERN extern "C"
/* The macro's own initialisers leave fields out, and C++ knows designated ones only since C++20: no warnings for that. */
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

/* Defines the plugin's only exported symbol. Arguments: designated initialisers of reeve_plugin (in C++ those from name
 * on, in their order; plugin.hpp has a form that is made for C++). */
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
 * Opens a plugin (name or path as in reeve_worker_load_plugin; dir NULL: the environment's REEVE_PLUGIN_DIR, else that
 * of the installation, found from the place of the library or program) and runs its load hook. The hooks run once in a
 * process: opening a plugin that is open already returns the same handle, and the last close unloads it. A hook must not
 * open or close plugins.
 * On failure *ret is NULL and ret_error (when not NULL) has the words.
 * REEVE_EPLUGIN; REEVE_EINVAL, REEVE_EDUPLICATE: one of its handlers; REEVE_ENOMEM. Any thread.
 */
REEVE_API reeve_status reeve_plugin_open(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                         char *ret_error, size_t size);
/* NULL is fine. */
REEVE_API void reeve_plugin_close(reeve_plugin_handle *plugin);

/* The plugin's description, in this version's layout whatever the plugin was compiled with; valid until close. The
 * handlers and layers members point to handler_count and layer_count structs of this version. */
REEVE_API const reeve_plugin *reeve_plugin_get(const reeve_plugin_handle *plugin);
/* The file it was loaded from. */
REEVE_API const char *reeve_plugin_path(const reeve_plugin_handle *plugin);

/* One run of a handler without Redis. */
typedef struct reeve_run_options {
    size_t size;       /* sizeof(reeve_run_options), or 0 */
    const char *queue; /* NULL: "local" */
    const char *id;    /* NULL: a UUIDv7 */
    reeve_bytes payload;
    unsigned attempt;                                             /* 0: 1 */
    void (*progress)(int percent, const char *words, void *user); /* may be NULL */
    void *user;
} reeve_run_options;

typedef struct reeve_run_report {
    reeve_outcome outcome;
    reeve_bytes result; /* owned by the report */
    int64_t delay_ms;   /* of a retry (after the backoff was applied) or snooze */
    char kind[REEVE_KIND_MAX + 1];
    char message[REEVE_MESSAGE_MAX + 1];
    int64_t elapsed_us;
} reeve_run_report;

/*
 * Runs one task of a type through a plugin's handler on the calling thread, with its thread hooks and its plugin's
 * layers, and reports; a delay after the backoff is the middle of what its jitter allows. For more (a clock that can be
 * moved, metadata, all progress) see testing.h. Free the report with reeve_run_report_fini. REEVE_ENOTFOUND: the plugin
 * has no such type. REEVE_EINVAL, REEVE_ETOOBIG (the payload), REEVE_ENOMEM. Any thread.
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
