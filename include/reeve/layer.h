/*
 * layer.h - layers (middleware) around handlers, and at each enqueue. A worker calls a layer in place of a handler, and
 * the layer calls the handler. A client calls a layer for each task before it is enqueued. Layers are for code that
 * many handlers or producers share, such as timing, tracing, another retry policy, encryption, compression, validation,
 * or faults in tests.
 *
 *     static reeve_outcome trace(reeve_task *task, reeve_next *next, void *user)
 *     {
 *         span *span = begin_span(reeve_task_type(task), reeve_task_meta(task, "traceparent"));
 *         reeve_outcome outcome = reeve_next_run(next, task);
 *         end_span(span, reeve_outcome_name(outcome));
 *         return outcome;
 *     }
 *
 *     static reeve_status trace_enqueue(reeve_outgoing *task, reeve_task_spec *spec, void *user)
 *     {
 *         return reeve_outgoing_set_meta(task, "traceparent", current_span());
 *     }
 *
 * One layer can have several functions: `enqueue`; `before` and `after` an attempt; `run` around handlers, and
 * `run_batch` around batch handlers. A program adds layers to a worker with reeve_worker_add_layer, to a client with
 * reeve_client_add_layer, and to a consumer with reeve_consumer_add_layer (consumer.h). The field `layers` of
 * reeve_plugin has the layers of a plugin. If the same layers are added to a worker or consumer and to the producers of
 * its tasks, `before` can undo what `enqueue` did, for instance decrypt the payload.
 *
 * Around handlers. A layer is called on the thread that runs the task. It calls reeve_next_run, which calls the next
 * layer or the handler, once or not at all. The task then stores the outcome; the functions below read it, and another
 * call of an outcome function of task.h replaces it. A layer returns the value of reeve_next_run or of an outcome
 * function. If it calls none of them, returns an outcome that is not the one in the task, or calls reeve_next_run
 * twice, the attempt fails with kind "layer" and is retried. The layer that was added first is called first. Its call
 * includes the calls of all others. The run time limit includes the time in layers. The `concurrency` of a plugin
 * limits calls of its handlers, not calls of its layers. Only one thread at a time calls a layer for a task. Layers are
 * not called if an attempt ends before its handler is called, for instance because there is no handler for the type, a
 * thread_start hook failed, or the task has crashed too often. A batch handler (run_batch of reeve_handler) is called
 * through the layers that have run_batch; layers with only `run` do not apply to it.
 *
 * Before and after an attempt. `before` is called for a task before its handler, and in a consumer before the program
 * gets the task. `after` is called with the outcome that the handler or the program chose, before the outcome is sent.
 * These functions apply to handlers, batch handlers and consumers alike; `run` and `run_batch` have no effect in a
 * consumer. A worker calls `before` of a layer, then its `run` or `run_batch`, the next layers and the handler, then
 * `after`. A consumer calls `before` of all layers in the order in which they were added, and `after` in the reverse
 * order, on the thread of the program. A client calls `after` in reeve_lease_settle; there, `after` can chain no tasks
 * (REEVE_EUNSUPPORTED), and reeve_task_log, _progress and _checkpoint have no effect. `after` is not called if `before`
 * of the same layer has chosen an outcome, and not if an attempt ends without its handler or program, for instance when
 * its run time limit has passed.
 *
 * At an enqueue. If a client has the layer, `enqueue` is called for each task of reeve_enqueue, reeve_enqueue_many,
 * reeve_batch_open, reeve_batch_add and reeve_cron_set. If a worker has the layer, it is called for each task of
 * reeve_task_chain. It runs on the thread that makes the call, and once for each call, even if the client sends the
 * call to Redis again on a new connection. It can change the task or refuse it. The layer that was added LAST is called
 * first: the order is the reverse of that around handlers, so that a list of layers such as {encrypt, compress}
 * compresses before it encrypts, and decrypts before it decompresses. Scripts in Redis create death callbacks (on_dead)
 * and the tasks of recurring entries, without layers. A layer is called for a recurring entry once, when the entry is
 * set.
 */
#ifndef REEVE_LAYER_H
#define REEVE_LAYER_H

#include "client.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of layers of a worker, of a client, and of a plugin. */
#define REEVE_LAYERS_MAX 64

/* The next layer, or the handler. Valid only on the thread of the layer, and until the layer returns. */
typedef struct reeve_next reeve_next;

/* The function `run` of a layer: it is called in place of a handler, and returns the outcome. `user` is the `user` of
 * the layer. */
typedef reeve_outcome (*reeve_layer_fn)(reeve_task *task, reeve_next *next, void *user);

/*
 * Calls the next layer or the handler, and returns the outcome. `task` is the argument of the layer. If the layer has
 * called an outcome function before, that outcome is discarded. A second call of reeve_next_run calls nothing, and
 * makes the attempt fail with kind "layer".
 */
REEVE_API reeve_outcome reeve_next_run(reeve_next *next, reeve_task *task);

/* The next layer, or the batch handler. Valid as reeve_next is. */
typedef struct reeve_next_batch reeve_next_batch;

/*
 * A function around a batch handler. It gets the tasks of one call of the handler, and calls reeve_next_run_batch, once
 * or not at all, with all or some of them. For each of the other tasks it calls an outcome function. After
 * reeve_next_run_batch it can read and replace the outcome of each task. A task without an outcome is retried, as after
 * a batch handler.
 */
typedef void (*reeve_batch_layer_fn)(reeve_task *const *tasks, size_t count, reeve_next_batch *next, void *user);

/* Calls the next layer or the batch handler with some of the layer's tasks; count 0 calls nothing. Their outcomes so
 * far are discarded. A second call calls nothing, and all tasks of the layer fail with kind "layer". */
REEVE_API void reeve_next_run_batch(reeve_next_batch *next, reeve_task *const *tasks, size_t count);

/*
 * A function before or after an attempt. `before` can replace the payload (reeve_task_set_payload). If it calls an
 * outcome function of task.h, the attempt ends with that outcome: the next layers, the handler or the program do not
 * get the task. `after` can read the outcome and replace it, for instance encrypt the result. After a batch handler the
 * outcome may be REEVE_OUTCOME_NONE: it chose none for this task, which is then retried.
 */
typedef void (*reeve_attempt_layer_fn)(reeve_task *task, void *user);

/* A task that is being enqueued. Valid until the layer returns. */
typedef struct reeve_outgoing reeve_outgoing;

/*
 * A function that is called for a task before the task is checked and enqueued. `spec` is a copy, in which the function
 * may change any field. Memory to which its fields point must stay valid until the call that enqueues has returned, as
 * memory from reeve_outgoing_alloc does. The function returns REEVE_OK, or the status with which the enqueue of this
 * task fails; reeve_outgoing_refuse sets the message. Before the layers, the names, counts and options of the spec are
 * checked, but not the length of the payload; after the layers everything is checked. A layer must not change the queue
 * or the id of a member of a batch. The function must not use the client that makes the call.
 */
typedef reeve_status (*reeve_enqueue_layer_fn)(reeve_outgoing *task, reeve_task_spec *spec, void *user);

/* Memory that lives until the call that enqueues has returned, aligned for any type. NULL: out of memory. */
REEVE_API void *reeve_outgoing_alloc(reeve_outgoing *task, size_t size);

/* Replaces the payload by a copy of these bytes, which may be a part of the present one. REEVE_ENOMEM. */
REEVE_API reeve_status reeve_outgoing_set_payload(reeve_outgoing *task, const void *data, size_t length);

/* Sets a key of the metadata, or, if the value is NULL, removes it. Both texts are copied. REEVE_EINVAL: the key is
 * NULL. REEVE_ENOMEM. */
REEVE_API reeve_status reeve_outgoing_set_meta(reeve_outgoing *task, const char *key, const char *value);

/* The value of a key of the metadata, or NULL. */
REEVE_API const char *reeve_outgoing_meta(const reeve_outgoing *task, const char *key);

/*
 * Sets a secret key for digests of the task, of any length; the bytes are not kept. With a recurring entry that layers
 * have changed, the library stores a digest of its task as it was before the layers, so that reeve_cron_set can tell
 * whether an entry has changed. A layer that hides something, for instance by encryption, sets a key: without it,
 * whoever reads Redis could check guesses of what is hidden. An entry with a digest of another key counts as changed.
 */
REEVE_API void reeve_outgoing_set_digest_key(reeve_outgoing *task, const void *key, size_t length);

/* Refuses the task: the enqueue fails with this status, and with a message that names the layer. Returns the status; 0
 * counts as REEVE_EINVAL. */
REEVE_API reeve_status reeve_outgoing_refuse(reeve_outgoing *task, reeve_status status, const char *format, ...)
    REEVE_PRINTF(3, 4);

/* A layer: an element of a plugin's table, or the argument of reeve_worker_add_layer or reeve_client_add_layer. Zero
 * selects the default of each field. At least one of the functions is required. */
typedef struct reeve_layer {
    size_t size;      /* sizeof(reeve_layer); REEVE_LAYER sets it */
    const char *name; /* required; shown to people */
    /* Apply only to tasks of this type, or of types that fit a pattern such as "mail.*"; NULL: to all. `before`,
     * `after` and `enqueue` apply if the type of the task fits. `run` and `run_batch` apply if the type of the handler
     * fits. A handler with the pattern "mail.*" fits a layer with the type "mail.*" or "*", but not with "mail.new". */
    const char *type;
    reeve_layer_fn run;             /* around handlers */
    void *user;                     /* argument of the functions */
    const char *summary;            /* one line for people; used only in plugins */
    void (*free_user)(void *user);  /* called once, when worker or client is closed; not in plugins, which use unload */
    reeve_enqueue_layer_fn enqueue; /* before an enqueue */
    reeve_batch_layer_fn run_batch; /* around batch handlers */
    reeve_attempt_layer_fn before;  /* before a handler, a batch handler, or the program of a consumer gets a task */
    reeve_attempt_layer_fn after;   /* when the handler or program has chosen an outcome */
} reeve_layer;

#define REEVE_LAYER .size = sizeof(reeve_layer)

/*
 * Adds a layer to a client, for the tasks that it enqueues from now on. The struct, its name and its type are copied.
 * `user` must outlive the client. If free_user is set, reeve_client_close calls it for `user`. Functions other than
 * `enqueue` and, in reeve_lease_settle, `after` have no effect here. REEVE_EINVAL: the layer has no name or no
 * function, its type is not valid, or the client would have more than REEVE_LAYERS_MAX layers. REEVE_ENOMEM.
 */
REEVE_API reeve_status reeve_client_add_layer(reeve_client *client, const reeve_layer *layer);

/* ---- before the handler ---------------------------------------------------------------------------------------- */

/*
 * Replaces the payload that the next layers and the handler get by a copy of these bytes, which may be a part of the
 * present payload. A zero byte follows the copy. Pointers to earlier payloads stay valid until the attempt ends. The
 * task in Redis keeps its payload. REEVE_ENOMEM: the payload is as before.
 */
REEVE_API reeve_status reeve_task_set_payload(reeve_task *task, const void *data, size_t length);

/* ---- reading the outcome --------------------------------------------------------------------------------------- */

/*
 * The outcome that the last outcome function stored in the task. Strings and bytes that these functions return belong
 * to the task. They are valid until the next call of an outcome function; they may be arguments of that call:
 *
 *     return reeve_task_retry(task, 5000, reeve_task_error_kind(task), "%s", reeve_task_error_message(task));
 */
REEVE_API reeve_outcome reeve_task_outcome(const reeve_task *task);

/* The kind and the message of a retry or a failure, and the reason of a cancel as the message; "" otherwise. */
REEVE_API const char *reeve_task_error_kind(const reeve_task *task);
REEVE_API const char *reeve_task_error_message(const reeve_task *task);

/* The delay of a retry or a snooze in ms; -1: the backoff determines it. */
REEVE_API int64_t reeve_task_delay_ms(const reeve_task *task);

/* The result after reeve_task_done; length 0: none. */
REEVE_API reeve_bytes reeve_task_result(const reeve_task *task);

/* The name of an outcome: "done", "retry", "fail", "snooze", "cancel" or "discard"; "none" for any other value. Any
 * thread. */
REEVE_API const char *reeve_outcome_name(reeve_outcome outcome);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_client_add_layer_sized(reeve_client *client, const reeve_layer *layer, size_t layer_size);
#define reeve_client_add_layer(...) reeve_client_add_layer_sized(__VA_ARGS__, sizeof(reeve_layer))

#ifdef __cplusplus
}
#endif
#endif
