/*
 * runner_run.h - the bodies of a run (the tasks that a handler is called with) and of its end (their outcomes). What one
 * side writes and what the other side reads stand beside each other.
 */
#ifndef RV_RUNNER_RUN_H
#define RV_RUNNER_RUN_H

#include "handlers/task.h"
#include "isolation/runner_message.h"
#include "reeve/plugin.h"

/* A task as it is sent: the header of its envelope contains its options. */
typedef struct rv_runner_task {
    const char *queue;
    const char *id;
    const char *type;
    unsigned attempt;
    unsigned crashes;
    int64_t enqueued_ms;
    bool past;           /* settled before it runs */
    int64_t result_max;  /* the queue's; 0: none */
    int64_t payload_max; /* the same */
    reeve_bytes header;  /* without length: it has no options */
    reeve_bytes payload;
} rv_runner_task;

/* The body of a run: the type of the handler as it was registered, the scratch directory or "", the number of tasks, and
 * each of them. */
void rv_runner_run_begin(rv_buf *out, const char *handler, const char *scratch, size_t count);
void rv_runner_run_add(rv_buf *out, const rv_runner_task *task);

/* The same, read. The strings lie in the message. */
const char *rv_runner_run_read(rv_runner_reader *in, const char **ret_scratch, size_t *ret_count);
void rv_runner_run_read_task(rv_runner_reader *in, rv_runner_task *ret);

/* Writes the outcome of a task with its result and its chained tasks. */
void rv_runner_run_write_outcome(rv_buf *out, const reeve_task *task);

/* Reads an outcome into the worker's task, by the outcome functions. False: it is not valid, and the task has no outcome. */
bool rv_runner_run_read_outcome(rv_runner_reader *in, reeve_task *task);

/* What handlers and layers counted (reeve_plugin_count) since the last call: `sent` has what was written before. */
void rv_runner_run_write_counters(rv_buf *out, uint64_t sent[REEVE_COUNTERS_MAX]);
/* Adds that to the counters of this process. False: it is not valid. */
bool rv_runner_run_read_counters(rv_runner_reader *in);

/* The calls of handlers, with the arguments and the parts of the answers behind the status. */
typedef enum rv_runner_call {
    RV_RUNNER_PROGRESS,        /* percent, 0 or 1 message, message */
    RV_RUNNER_LOG,             /* line */
    RV_RUNNER_CHECKPOINT,      /* bytes */
    RV_RUNNER_LAST_CHECKPOINT, /* -> bytes */
    RV_RUNNER_HEARTBEAT,
    RV_RUNNER_EXTEND,        /* ms */
    RV_RUNNER_PAUSE_FOR,     /* 0 or 1 group, group, ms */
    RV_RUNNER_PARENTS,       /* -> count, of each: handle, how it ended */
    RV_RUNNER_PARENT_RESULT, /* handle -> 0 or 1, bytes */
    RV_RUNNER_SIGNAL,        /* name -> 0 or 1, bytes */
    RV_RUNNER_CALLS
} rv_runner_call;

/* Makes the call for the worker's task, and writes the body of the answer. Blocks as the function of the call. False: the
 * call is not valid. */
bool rv_runner_run_answer(rv_buf *out, rv_runner_reader *in, reeve_task *task);

#endif
