/*
 * replacement.h - plugins and handlers that a reload puts in the place of those that run: plugins whose files, options
 * or names have changed, and settings of handlers.
 *
 * All of it is made before anything changes: where a plugin cannot be loaded, the present ones stay.
 */
#ifndef HOST_REPLACEMENT_H
#define HOST_REPLACEMENT_H

#include "handlers/handler_set.h"
#include "plugins.h"

typedef struct host_replacement {
    host_plugins *present; /* what runs; a replacement changes it */
    host_plugins fresh;
    rv_handler_set *set; /* NULL: nothing differs, or it is in place */
} host_replacement;

/* Opens the plugins of a configuration, and makes the handlers. Whatever is wrong is added to errors; false: something
 * is. host_replacement_fini follows in any case. */
bool host_replacement_make(host_replacement *ret, host_plugins *present, const rv_config *config,
                           const rv_config *fresh, rv_config_errors *errors);

/* Calls take for each plugin that differs: its name, and both versions with their paths, or "absent". */
void host_replacement_each(const host_replacement *replacement,
                           void (*take)(const char *name, const char *from, const char *to, void *context),
                           void *context);

/* The worker's new tasks run in the new handlers. Does nothing if nothing differs. */
reeve_status host_replacement_apply(host_replacement *replacement, reeve_worker *worker, rv_error *error);

/* Closes what is not in place. */
void host_replacement_fini(host_replacement *replacement);

#endif
