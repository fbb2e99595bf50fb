/*
 * task.h - a task in the hands of a thread: what it was leased with, and what its handler said.
 *
 * A thread owns one reeve_task and uses it for one task after another (rv_task_begin). Where a task runs (a worker's
 * thread, or the local runner) differs only in rv_task_host.
 */
#ifndef RV_HANDLERS_TASK_H
#define RV_HANDLERS_TASK_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/chunks.h"
#include "protocol/layers.h"
#include "protocol/size_limits.h"
#include "reeve/client.h"
#include "reeve/plugin.h"

typedef struct cJSON cJSON;
typedef struct rv_conn rv_conn;
typedef struct rv_reply rv_reply;

/* What a task needs of the place where it runs. */
typedef struct rv_task_host {
    reeve_status (*progress)(reeve_task *task, int percent, const char *words, void *context);
    reeve_status (*pause_for)(reeve_task *task, const char *group, int64_t delay_ms,
                              void *context);                                      /* NULL: nothing to pause */
    reeve_status (*checkpoint)(reeve_task *task, reeve_bytes data, void *context); /* NULL: it stays in the task */
    reeve_status (*last_checkpoint)(reeve_task *task, rv_buf *ret, void *context); /* adds it; NULL: there is none */
    reeve_status (*heartbeat)(reeve_task *task, void *context);                    /* NULL: it is ours */
    reeve_status (*extend)(reeve_task *task, int64_t for_ms, void *context);       /* NULL: it has no limit */
    reeve_status (*log)(reeve_task *task, const char *line, void *context);        /* NULL: nowhere */
    /* One round trip, for what build adds; *ret lives until the next. NULL: there is no Redis. */
    reeve_status (*ask)(void (*build)(rv_conn *conn, const void *what), const void *what, const rv_reply **ret,
                        void *context);
    /* Finds the partition of a task in a divided queue: its handle as scripts know it, in ret. NULL: none is divided. */
    reeve_status (*locate)(const char *handle, char ret[REEVE_HANDLE_MAX], void *context);
    /* In another process than the worker, instead of ask: adds the parents to the list (dependencies.h); gets the result
     * of the parent with a handle, or with is_signal the data of a signal. */
    reeve_status (*parents)(reeve_task *task, rv_buf *list, void *context);
    reeve_status (*text)(reeve_task *task, bool is_signal, const char *name, rv_buf *ret, bool *ret_found,
                         void *context);
    /* Called for a chained task; chooses its id if that is "". NULL: the id is a new UUIDv7. */
    reeve_status (*chained)(const reeve_task_spec *spec, char id[REEVE_ID_MAX], void *context);
    const char *ns;
    const rv_layers *layers;              /* those that chained tasks go through; NULL: none */
    const reeve_size_limits *size_limits; /* chosen ones; NULL: the standards */
    const atomic_llong *result_max;       /* the queue's; NULL, or 0: none */
    const atomic_llong *payload_max;      /* the same, of tasks that are chained in that queue */
    void *context;
    const atomic_bool *stop;      /* NULL: never */
    const atomic_bool *cancelled; /* the same */
    const char *cancel_reason;    /* written before that is set; "": none; NULL: the host has none */
    /* Of a test, which has answers of its own; NULL: none. Called on any thread. */
    int64_t (*now)(void *context);
    bool (*asked_to_stop)(void *context);
} rv_task_host;

struct reeve_task {
    /* set by rv_task_begin; borrowed from the lease */
    const char *queue;
    const char *id;
    const char *type;
    reeve_bytes payload;
    const cJSON *options; /* its header, parsed; NULL: it has none */
    unsigned attempt;
    unsigned crashes;
    int64_t enqueued_ms;
    void *thread_state;
    const rv_task_host *host;
    /* made when asked for */
    struct rv_dependencies *dependencies; /* dependencies.h */
    rv_chunks *payloads;                  /* those that layers have made */
    bool past;                            /* it was settled before it ran: nothing goes with its completion any more */
    rv_error *refusal;                    /* the error message of the last call that failed */
    cJSON *kept_options;                  /* the same, where the task owns them; or NULL */
    rv_buf checkpoint;                    /* the last one, once known */
    bool knows_checkpoint;
    /* the outcome that the handler chose */
    reeve_outcome outcome;
    rv_buf result;
    int64_t delay_ms;      /* -1: the backoff decides */
    const char *backtrace; /* crashed: a frame a line, in memory of the task; NULL: not known */
    bool crashed;          /* fail: the process that ran it, and nothing else, has died; message says of what */
    /* texts: where the first byte is 0, what lies behind it is of the tasks before */
    char handle[REEVE_HANDLE_MAX];     /* made when asked for */
    char own_type[REEVE_TYPE_MAX + 1]; /* its type, where its handler has a pattern; else of the tasks before */
    char kind[REEVE_KIND_MAX + 1];
    char message[REEVE_MESSAGE_MAX + 1];
};

void rv_task_init(reeve_task *task);
void rv_task_fini(reeve_task *task);

/* Forgets the task before and its outcome; the caller then sets the borrowed fields. Keeps the result's memory, and the
 * checkpoint's, up to 64 KiB each. */
void rv_task_begin(reeve_task *task);

/* Records a failure that the worker, not the handler, found (no handler for the type, a set-up hook that failed, ...).
 */
reeve_outcome rv_task_failed(reeve_task *task, reeve_outcome outcome, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Calls the handler (a batch handler with just this task) and evaluates its return value as rv_task_take does; the
 * kind is "handler". */
reeve_outcome rv_task_run(reeve_task *task, const reeve_handler *handler);

/* Evaluates the return value of a handler or a layer: an outcome that no call prepared becomes a failure of this
 * kind. The error message begins with: what "name". */
reeve_outcome rv_task_take(reeve_task *task, reeve_outcome returned, const char *kind, const char *what,
                           const char *name);

/* The same for a task of a batch handler, which has no return value for each task. */
reeve_outcome rv_task_take_batch(reeve_task *task, const char *type);

/* The size_limits in force. */
const reeve_size_limits *rv_task_size_limits(const reeve_task *task);

/* Keeps the message of a call that fails, for reeve_task_call_error; returns the status. Without memory there is no
 * message. */
reeve_status rv_task_refuse(reeve_task *task, const rv_error *why);

/* Forgets the outcome. */
void rv_task_forget(reeve_task *task);

#endif
