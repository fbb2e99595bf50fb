/*
 * layer.h - layers (middleware): functions that a worker calls in place of a handler, and that call the handler. They
 * are for tasks that many handlers share, such as timing, tracing, another retry policy, or faults in tests.
 *
 *     static reeve_outcome trace(reeve_task *task, reeve_next *next, void *user)
 *     {
 *         span *span = begin_span(reeve_task_type(task), reeve_task_meta(task, "traceparent"));
 *         reeve_outcome outcome = reeve_next_run(next, task);
 *         end_span(span, reeve_outcome_name(outcome));
 *         return outcome;
 *     }
 *
 * A layer is called on the thread that runs the task. It calls reeve_next_run, which calls the next layer or the
 * handler, once or not at all. The task then stores the outcome; the functions below read it, and another call of an
 * outcome function of task.h replaces it. A layer returns the value of reeve_next_run or of an outcome function. If
 * it calls none of them, returns another outcome than that of the task, or calls reeve_next_run twice, the attempt
 * fails with kind "layer" and is retried.
 *
 * A program adds layers with reeve_worker_add_layer, a plugin with `layers` of reeve_plugin. The layer that was added
 * first is called first. Its call includes the calls of all others. The run time limit includes the time in layers.
 * The `concurrency` of a plugin limits calls of its handlers, not calls of its layers. Only one thread at a time
 * calls a layer for a task.
 *
 * Layers are not called if an attempt ends before its handler is called, for instance because there is no handler for
 * the type, a thread_start hook failed, or the task has crashed too often. Layers do not apply to batch handlers
 * (run_batch), because one call of a batch handler has several outcomes.
 */
#ifndef REEVE_LAYER_H
#define REEVE_LAYER_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of layers of a worker, and of a plugin. */
#define REEVE_LAYERS_MAX 64

/* The next layer, or the handler. Valid only on the thread of the layer, and until the layer returns. */
typedef struct reeve_next reeve_next;

typedef reeve_outcome (*reeve_layer_fn)(reeve_task *task, reeve_next *next, void *user);

/*
 * Calls the next layer or the handler, and returns the outcome. `task` is the argument of the layer. If the layer has
 * called an outcome function before, that outcome is discarded. A second call of reeve_next_run calls nothing, and
 * makes the attempt fail with kind "layer".
 */
REEVE_API reeve_outcome reeve_next_run(reeve_next *next, reeve_task *task);

/* A layer: an element of a plugin's table, or the argument of reeve_worker_add_layer. Zero selects the default of
 * each field. */
typedef struct reeve_layer {
    size_t size;                   /* sizeof(reeve_layer); REEVE_LAYER sets it */
    const char *name;              /* required; shown to people */
    const char *type;              /* apply only to the handler of this type; NULL: to all handlers */
    reeve_layer_fn run;            /* required */
    void *user;                    /* argument of run */
    const char *summary;           /* one line for people; plugins only */
    void (*free_user)(void *user); /* called once, when the worker is destroyed; ignored in plugins, which use unload */
} reeve_layer;

#define REEVE_LAYER .size = sizeof(reeve_layer)

/* ---- reading the outcome --------------------------------------------------------------------------------------- */

/*
 * The outcome that the last outcome function stored in the task. Strings and bytes that these functions return belong
 * to the task. They are valid until the next call of an outcome function; they may be arguments of that call:
 *
 *     return reeve_task_retry(task, 5000, reeve_task_error_kind(task), "%s", reeve_task_error_message(task));
 */
REEVE_API reeve_outcome reeve_task_outcome(const reeve_task *task);

/* The kind and the message of a retry or a failure; "" for other outcomes. */
REEVE_API const char *reeve_task_error_kind(const reeve_task *task);
REEVE_API const char *reeve_task_error_message(const reeve_task *task);

/* The delay of a retry or a snooze in ms; -1: the backoff determines it. */
REEVE_API int64_t reeve_task_delay_ms(const reeve_task *task);

/* The result after reeve_task_done; length 0: none. */
REEVE_API reeve_bytes reeve_task_result(const reeve_task *task);

/* The name of an outcome: "done", "retry", "fail" or "snooze"; "none" for any other value. Any thread. */
REEVE_API const char *reeve_outcome_name(reeve_outcome outcome);

#ifdef __cplusplus
}
#endif
#endif
