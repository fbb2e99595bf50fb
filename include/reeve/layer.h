/*
 * layer.h - layers: functions around handlers, for what is not the business of any one of them: timing, tracing,
 * another retry policy, faults for tests.
 *
 *     static reeve_outcome trace(reeve_task *task, reeve_next *next, void *user)
 *     {
 *         span *span = begin_span(reeve_task_type(task), reeve_task_meta(task, "traceparent"));
 *         reeve_outcome outcome = reeve_next_run(next, task);
 *         end_span(span, reeve_outcome_name(outcome));
 *         return outcome;
 *     }
 *
 * A layer is called on the thread that runs the task. It may look at the task, then calls reeve_next_run once, or not
 * at all; what came out of that stands in the task and can be read by the functions below, and be replaced by calling
 * another verb of task.h. It ends as a handler does: by returning what a verb, or reeve_next_run, returned. When it
 * does otherwise (no verb and no next, an outcome that is not the task's, next twice) the attempt has failed with kind
 * "layer", and is retried.
 *
 * Layers come from a program (reeve_worker_add_layer) or a plugin (its layers field). The first that is added is the
 * outermost. They are not around what the worker finds before the handler is called: a type without a handler, a thread
 * that cannot be set up, a task that crashed too often; nor around the wait for a place among the handler's plugin's
 * (`concurrency` in plugin.h). The run time limit holds for them too. A plugin's concurrency does not count its layers
 * around other handlers: many may run at once. A layer is never called by two threads for the same task.
 *
 * There are none around a handler of many tasks (run_many): a layer is about one task and what came out of it, and such
 * a call has no end of its own for each. What it shares with other handlers it calls itself.
 */
#ifndef REEVE_LAYER_H
#define REEVE_LAYER_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most layers that a worker, or a plugin, can have. */
#define REEVE_LAYERS_MAX 64

/* What is further in: the next layer, or the handler. Valid until the layer returns, on its thread. */
typedef struct reeve_next reeve_next;

typedef reeve_outcome (*reeve_layer_fn)(reeve_task *task, reeve_next *next, void *user);

/*
 * Runs what is further in and returns the outcome; a verb that was called before is forgotten. task is the one that the
 * layer was called with. A second call runs nothing: it is a failure of kind "layer", whatever the layer says
 * afterwards.
 */
REEVE_API reeve_outcome reeve_next_run(reeve_next *next, reeve_task *task);

/* A layer, for a plugin's table or reeve_worker_add_layer. */
typedef struct reeve_layer {
    size_t size;                   /* sizeof(reeve_layer); REEVE_LAYER sets it */
    const char *name;              /* required; for people */
    const char *type;              /* around the handler of this type; NULL: around all */
    reeve_layer_fn run;            /* required */
    void *user;                    /* handed to run */
    const char *summary;           /* one line for people, of a plugin's */
    void (*free_user)(void *user); /* called once, when the worker is destroyed; not of a plugin: it has unload */
} reeve_layer;

#define REEVE_LAYER .size = sizeof(reeve_layer)

/* ---- what came out --------------------------------------------------------------------------------------------- */

/*
 * The outcome that stands in the task: what the last verb said. Strings and bytes belong to the task until the next
 * verb; that verb may be given them:
 *
 *     return reeve_task_retry(task, 5000, reeve_task_error_kind(task), "%s", reeve_task_error_message(task));
 */
REEVE_API reeve_outcome reeve_task_outcome(const reeve_task *task);

/* Of a retry or a failure; "" for other outcomes. */
REEVE_API const char *reeve_task_error_kind(const reeve_task *task);
REEVE_API const char *reeve_task_error_message(const reeve_task *task);

/* Of a retry or a snooze: after how many milliseconds; -1: after the backoff. */
REEVE_API int64_t reeve_task_delay_ms(const reeve_task *task);

/* Of a task that is done; length 0: none. */
REEVE_API reeve_bytes reeve_task_result(const reeve_task *task);

/* "done", "retry", "fail", "snooze"; "none" for what is none of these. Any thread. */
REEVE_API const char *reeve_outcome_name(reeve_outcome outcome);

#ifdef __cplusplus
}
#endif
#endif
