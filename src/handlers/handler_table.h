/*
 * handler_table.h - the table of handlers: filled before the worker starts, only read afterwards (so it needs no lock).
 */
#ifndef RV_HANDLERS_HANDLER_TABLE_H
#define RV_HANDLERS_HANDLER_TABLE_H

#include "base/error.h"
#include "handlers/plugin.h"
#include "protocol/layers.h"
#include "reeve/worker.h"

typedef struct rv_handler {
    reeve_handler handler; /* type is this entry's own copy; policy is merged in */
    size_t type_length;
    reeve_plugin_handle *plugin; /* or NULL */
    size_t index;                /* its place, for per-thread state */
    bool is_pattern;             /* its tasks have types of their own */
    const reeve_layer **layers;  /* around it, ended by NULL; NULL: none. Made when the worker starts */
} rv_handler;

typedef struct rv_handlers {
    rv_handler **list; /* by index */
    size_t count;
    rv_handler **slots; /* open addressing by type; a power of two of them */
    size_t slot_count;
    rv_handler **patterns; /* those of "mail.*" and "*", too; the longest first */
    size_t pattern_count;
} rv_handlers;

/* Frees the entries and calls their free_user. */
void rv_handler_table_fini(rv_handlers *handlers);

/* As reeve_worker_register. REEVE_EDUPLICATE, REEVE_EINVAL, REEVE_ENOMEM. */
reeve_status rv_handler_table_add(rv_handlers *handlers, const reeve_handler *handler, reeve_plugin_handle *plugin,
                                  rv_error *error);

/* Gives each handler the layers that are around it; these must outlive the handlers. REEVE_ENOMEM. */
reeve_status rv_handler_table_wrap(rv_handlers *handlers, const rv_layers *layers, rv_error *error);

/* The most tasks that a handler takes in one call; 1 when none takes more. */
unsigned rv_handler_table_batch_max(const rv_handlers *handlers);

/* That of the type, else that of the longest pattern which fits; NULL: there is none. type need not end in a zero
 * byte. */
rv_handler *rv_handler_table_find(const rv_handlers *handlers, const char *type, size_t length);

/* That which was added with this type or pattern, or NULL. */
rv_handler *rv_handler_table_find_own(const rv_handlers *handlers, const char *type);

#endif
