/*
 * handler_set.h - the handlers of a worker, with the layers around them and the plugins that they come from. A set is
 * filled before the worker starts, or before it takes the place of another one (running/handler_change.h), and only read
 * afterwards, so it needs no lock.
 */
#ifndef RV_HANDLERS_HANDLER_SET_H
#define RV_HANDLERS_HANDLER_SET_H

#include "handlers/handler_table.h"

typedef struct rv_handler_set {
    rv_handlers handlers;
    rv_layers layers;
    const reeve_plugin_handle *layer_plugins[REEVE_LAYERS_MAX]; /* of each layer; NULL: it is the program's */
    reeve_plugin_handle **plugins;
    size_t plugin_count;
    struct rv_set_policy *policies; /* as they were set */
    size_t policy_count;
    struct rv_handler_set
        *older; /* those that were in place before, and that threads may still run, the last one first */
} rv_handler_set;

/* NULL: no memory. */
rv_handler_set *rv_handler_set_new(void);

/* Closes the plugins, and calls the free_user of handlers and layers. NULL is ignored. */
void rv_handler_set_free(rv_handler_set *set);

/* Adds all handlers and layers of a plugin, or, on a failure, none. The set owns the plugin on success.
 * REEVE_EDUPLICATE, REEVE_EINVAL, REEVE_ENOMEM. */
reeve_status rv_handler_set_add_plugin(rv_handler_set *set, reeve_plugin_handle *plugin, rv_error *error);

/* As reeve_worker_set_policy. REEVE_ENOTFOUND, REEVE_EINVAL. */
reeve_status rv_handler_set_policy(rv_handler_set *set, const reeve_handler_policy *policy, rv_error *error);

/* Sets the policies of another set. One whose type has no handler is only kept. REEVE_EINVAL, REEVE_ENOMEM. */
reeve_status rv_handler_set_copy_policies(rv_handler_set *set, const rv_handler_set *from, rv_error *error);

/* Gives each handler its layers: nothing is added afterwards. REEVE_ENOMEM. */
reeve_status rv_handler_set_wrap(rv_handler_set *set, rv_error *error);

#endif
