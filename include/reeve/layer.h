/*
 * layer.h - layers: functions around handlers, for concerns that handlers share, such as timing, tracing, another retry
 * policy, or faults in tests.
 *
 *     static reeve_outcome trace(reeve_task *task, reeve_next *next, void *user)
 *     {
 *         span *span = begin_span(reeve_task_type(task), reeve_task_meta(task, "traceparent"));
 *         reeve_outcome outcome = reeve_next_run(next, task);
 *         end_span(span, reeve_outcome_name(outcome));
 *         return outcome;
 *     }
 *
 * A layer is called on the thread that runs the task. It calls reeve_next_run once, or not at all. The outcome is
 * then stored in the task, where the functions below read it; another outcome function of task.h replaces it. A layer
 * returns what an outcome function or reeve_next_run returned. Otherwise the attempt fails with kind "layer" and is
 * retried: when the layer called none of them, returned another outcome than the task's, or called reeve_next_run
 * twice.
 *
 * Layers come from a program (reeve_worker_add_layer) or a plugin (`layers` of reeve_plugin). The first one that is
 * added is the outermost. The run time limit includes the time in layers. A plugin's `concurrency` counts neither its
 * layers around other handlers nor the wait for its own handlers. No two threads call a layer for the same task.
 *
 * Layers do not see attempts that end before a handler is called: no handler for the type, a thread_start hook that
 * failed, too many crashes. Layers do not apply to batch handlers (run_batch), because a call of one has no single
 * outcome; such a handler calls shared functions itself.
 */
#ifndef REEVE_LAYER_H
#define REEVE_LAYER_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum of layers of a worker, and of a plugin. */
#define REEVE_LAYERS_MAX 64

/* The next layer inside, or the handler. Valid on the thread of the layer until the layer returns. */
typedef struct reeve_next reeve_next;

typedef reeve_outcome (*reeve_layer_fn)(reeve_task *task, reeve_next *next, void *user);

/*
 * Runs the next layer, or the handler, and returns the outcome. `task` is the argument of the layer. An outcome that
 * the layer set before is discarded. A second call runs nothing, and the attempt fails with kind "layer".
 */
REEVE_API reeve_outcome reeve_next_run(reeve_next *next, reeve_task *task);

/* A layer, for a plugin's table or reeve_worker_add_layer. */
typedef struct reeve_layer {
    size_t size;                   /* sizeof(reeve_layer); REEVE_LAYER sets it */
    const char *name;              /* required; shown to people */
    const char *type;              /* apply to the handler of this type only; NULL: to all handlers */
    reeve_layer_fn run;            /* required */
    void *user;                    /* argument of run */
    const char *summary;           /* one line for people; plugins only */
    void (*free_user)(void *user); /* called once, when the worker is destroyed; not for a plugin, which has unload */
} reeve_layer;

#define REEVE_LAYER .size = sizeof(reeve_layer)

/* ---- reading the outcome --------------------------------------------------------------------------------------- */

/*
 * The outcome that the last outcome function stored in the task. Strings and bytes belong to the task, and are valid
 * until the next outcome function, which may get them as arguments:
 *
 *     return reeve_task_retry(task, 5000, reeve_task_error_kind(task), "%s", reeve_task_error_message(task));
 */
REEVE_API reeve_outcome reeve_task_outcome(const reeve_task *task);

/* Kind and message of a retry or a failure; "" for other outcomes. */
REEVE_API const char *reeve_task_error_kind(const reeve_task *task);
REEVE_API const char *reeve_task_error_message(const reeve_task *task);

/* Delay of a retry or a snooze in ms; -1: the backoff. */
REEVE_API int64_t reeve_task_delay_ms(const reeve_task *task);

/* Result of a completed task; length 0: none. */
REEVE_API reeve_bytes reeve_task_result(const reeve_task *task);

/* The name of an outcome: "done", "retry", "fail" or "snooze"; "none" for any other value. Any thread. */
REEVE_API const char *reeve_outcome_name(reeve_outcome outcome);

#ifdef __cplusplus
}
#endif
#endif
