/*
 * run_inline.h - one attempt of one task on the calling thread, without Redis and without a worker: what
 * reeve_plugin_run and the functions of reeve/testing.h have in common.
 */
#ifndef RV_TESTING_RUN_INLINE_H
#define RV_TESTING_RUN_INLINE_H

#include "base/error.h"
#include "handlers/layers_run.h"
#include "handlers/plugin.h"
#include "handlers/task.h"
#include "reeve/client.h"

typedef struct rv_run_inline {
    const reeve_handler *handler;
    const char *type;            /* of the task; NULL: that of the handler */
    reeve_plugin_handle *plugin; /* the handler's, or NULL */
    rv_layers layers;            /* of these, those of the type are around the handler */
    reeve_task_spec spec;        /* the task, with queue and id; without the type */
    unsigned attempt;
    unsigned crashes;
    int64_t enqueued_ms;
    const rv_task_host *host;
} rv_run_inline;

/* The handler that fits a type best, or NULL. */
const reeve_handler *rv_run_inline_find(const reeve_plugin *plugin, const char *type);

/*
 * Runs it, its thread hooks around it. The task was initialised; afterwards only its outcome may be read.
 * ret_elapsed_us: how long the handler with its layers ran. REEVE_EINVAL, REEVE_ETOOBIG: as reeve_enqueue;
 * REEVE_ENOMEM.
 */
reeve_status rv_run_inline_call(const rv_run_inline *local, reeve_task *task, int64_t *ret_elapsed_us, rv_error *error);

/* After how many milliseconds a retry or a snooze comes back, 0 for other outcomes. In the middle of the jitter: a run
 * is the same each time. */
int64_t rv_run_inline_delay(const reeve_task *task, const reeve_backoff *backoff, unsigned attempt);

#endif
