/*
 * runner_hello.h - what a runner is told first: the plugins that it loads, with their options, and how many tasks a run
 * may have. With the message goes memory that both share: the flags by which handlers are asked to stop.
 */
#ifndef RV_RUNNER_HELLO_H
#define RV_RUNNER_HELLO_H

#include <stdatomic.h>

#include "handlers/handler_table.h"
#include "isolation/runner_message.h"
#include "isolation/runner_sandbox.h"

#define RV_RUNNER_TASKS_MAX REEVE_BATCH_SIZE_MAX /* in a run */

/* Written by the worker. The runner reads it while its handlers run. */
typedef struct rv_runner_flags {
    struct {
        atomic_bool stop;
        atomic_bool cancelled;
        char cancel_reason[REEVE_REASON_MAX + 1]; /* written before `cancelled` */
    } tasks[RV_RUNNER_TASKS_MAX];
} rv_runner_flags;

/* Writes the body for these plugins. Check ret->failed. */
void rv_runner_hello_write(rv_buf *ret, reeve_plugin_handle *const *plugins, size_t count,
                           const reeve_size_limits *size_limits, const reeve_runner_options *limits,
                           const rv_runner_sandbox *sandbox);

/* What a runner has loaded. */
typedef struct rv_runner_loaded {
    reeve_size_limits size_limits;
    reeve_runner_options limits; /* without its text */
    rv_handlers handlers;
    rv_layers layers;
    reeve_plugin_handle **plugins;
    size_t plugin_count;
    char in_force[RV_RUNNER_SANDBOX_TEXT]; /* of the sandbox */
} rv_runner_loaded;

/* Puts a sandbox in force, as host_confine of the program (programs/runner/confine.h). */
typedef reeve_status (*rv_runner_confine_fn)(const rv_runner_sandbox *sandbox, const char *const *plugins,
                                             size_t plugin_count, char ret[RV_RUNNER_SANDBOX_TEXT], rv_error *error);

/* Confines the process, and loads what the message says. On failure rv_runner_hello_fini cleans up. REEVE_EPROTO: it is from another build. Else
 * as reeve_worker_load_plugin. */
reeve_status rv_runner_hello_load(rv_runner_loaded *ret, const rv_runner_message *message, rv_runner_confine_fn confine,
                                  rv_error *error);
void rv_runner_hello_fini(rv_runner_loaded *loaded);

#endif
