/*
 * plugin.h - the plugin loader, as the worker uses it. See reeve/plugin.h for the life of a plugin.
 *
 * A library is loaded once in a process: opening it again returns the same handle, so that the load hook runs once, the
 * unload hook after the last close, and the concurrency that the plugin declares is kept by all workers together. A
 * private copy (rv_plugin_open_copy) of another version of its file is another library, with another handle.
 */
#ifndef RV_HANDLERS_PLUGIN_H
#define RV_HANDLERS_PLUGIN_H

#include <pthread.h>

#include "base/error.h"
#include "handlers/plugin_file.h"
#include "reeve/plugin.h"

struct reeve_plugin_handle {
    void *library; /* dlopen's */
    int copy;      /* the descriptor of the copy that it was loaded from; -1: of its file itself */
    char *path;
    rv_plugin_stamp stamp;   /* of the file when it was loaded */
    int64_t loaded_ms;       /* when that was (rv_wall_ms) */
    reeve_plugin plugin;     /* this version's layout; the smaller of both sizes was copied, the rest is zero */
    reeve_handler *handlers; /* plugin.handlers points here */
    reeve_layer *layers;     /* plugin.layers points here */
    reeve_option *declared;  /* plugin.options points here */
    reeve_options *options;  /* their values */
    bool loaded;             /* its load hook was called, if there is one */
    /* the promise of plugin.concurrency: a counting gate, unused when it is 0 */
    pthread_mutex_t lock; /* guards running */
    pthread_cond_t freed;
    unsigned running;
    /* kept by plugin.c, guarded by its lock */
    unsigned users; /* how many opens were not closed yet */
    reeve_plugin_handle *next;
};

/*
 * Wait for, and leave, a place among the plugin's running handlers. enter returns true at once when concurrency is 0;
 * false, without a place, when gives_up (NULL: never) returns true. gives_up is called with the gate's lock held,
 * before the wait and each time that the waiter wakes up; rv_plugin_gate_recheck wakes all waiters up.
 */
bool rv_plugin_gate_enter(reeve_plugin_handle *plugin, bool (*gives_up)(void *context), void *context);
void rv_plugin_gate_leave(reeve_plugin_handle *plugin);
void rv_plugin_gate_recheck(reeve_plugin_handle *plugin);

/* As reeve_plugin_open_with_options; *ret_bad: the index of the value that is wrong, else RV_PLUGIN_OPTION_NONE
 * (plugin_option.h). */
reeve_status rv_plugin_open(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                            const reeve_option_value *values, size_t count, size_t *ret_bad, rv_error *error);

/*
 * The same, loaded from a private copy of its file: a file that is replaced or written afterwards does not change what
 * was loaded. Returns the handle of an open plugin if its file and the values are the same (values NULL: whatever its
 * values are). Else the plugin is loaded beside those that are open, and its load hook is called. Where memory cannot be mapped as code, or where the library
 * finds its own libraries beside it ($ORIGIN), the file itself is loaded, if that was not loaded before.
 */
reeve_status rv_plugin_open_copy(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                 const reeve_option_value *values, size_t count, size_t *ret_bad, rv_error *error);

/* Whether the calling thread runs a load or unload hook of a plugin, or what its file runs when it is loaded and unloaded. Safe in a
 * signal handler. */
bool rv_plugin_runs_hook(void);

/* Opens it once more: the caller closes it, too. */
reeve_plugin_handle *rv_plugin_hold(reeve_plugin_handle *plugin);

/* Opens a plugin only to describe it: its load and unload hooks are not called, and required options may lack. It has
 * to be the first open of the plugin in the process. */
reeve_status rv_plugin_open_unloaded(reeve_plugin_handle **ret, const char *name_or_path, const char *dir,
                                     rv_error *error);

/* ---- for plugin.c ---------------------------------------------------------------------------------------------- */

reeve_status rv_plugin_gate_init(reeve_plugin_handle *plugin);
void rv_plugin_gate_fini(reeve_plugin_handle *plugin);

/*
 * Checks the description that a plugin's entry returned and copies it to plugin->plugin, plugin->handlers,
 * plugin->layers and plugin->declared (owned by the handle, also on failure), in this version's layout. path: for the
 * error message. REEVE_EPLUGIN: a wrong ABI or wrong sizes. REEVE_EINVAL: a handler or a layer lacks its function, a
 * type or an option is malformed. REEVE_EDUPLICATE: a type occurs twice. REEVE_ENOMEM.
 */
reeve_status rv_plugin_read(reeve_plugin_handle *plugin, const reeve_plugin *theirs, const char *path, rv_error *error);

#endif
