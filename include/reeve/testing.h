/*
 * testing.h - test handlers and layers: runs one attempt of one task on the calling thread, without Redis and without a
 * worker. It works with any test framework:
 *
 *     reeve_test_report *report = reeve_test_run(&handler, &(reeve_test_options){.payload = reeve_test_text("a.jpg")});
 *     assert(report->outcome == REEVE_OUTCOME_RETRY);
 *     assert(strcmp(report->kind, "smtp") == 0 && report->delay_ms == 30000);
 *     reeve_test_report_free(report);
 *
 * Runs are deterministic: the test controls the clock, and jitter is not applied to the backoff. The task is checked as
 * reeve_enqueue checks it.
 */
#ifndef REEVE_TESTING_H
#define REEVE_TESTING_H

#include <string.h>

#include "client.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The clock of reeve_task_now_ms and of the run time limit. It stands still unless the test moves it. Since the
 * handler runs meanwhile, code that the handler calls has to move it: a fake of a service, on_progress, or step_ms. A
 * zeroed clock starts at REEVE_TEST_BEGIN_MS.
 */
#define REEVE_TEST_BEGIN_MS INT64_C(946684800000) /* 2000-01-01T00:00:00Z */

typedef struct reeve_test_clock {
    int64_t now_ms;  /* milliseconds since the epoch */
    int64_t step_ms; /* ms by which each read moves it, including reads by reeve_task_should_stop */
    bool real;       /* use the machine's clock */
} reeve_test_clock;

/* Moves the clock forward by `ms`. Any thread. */
REEVE_API void reeve_test_clock_move(reeve_test_clock *clock, int64_t ms);

/* Zero selects the default of each field. The struct and what it points to must be valid until the run returns. */
typedef struct reeve_test_options {
    size_t size; /* sizeof(reeve_test_options), or 0 */
    /* The task. */
    const char *type; /* NULL: the type of the handler, or of the only handler of the plugin */
    reeve_bytes payload;
    const char *queue; /* NULL: "test" */
    const char *id;    /* NULL: "task" */
    const char *group;
    const reeve_meta *meta;
    size_t meta_count;
    unsigned attempt;             /* number of the attempt; 0: 1 */
    unsigned crashes;             /* number of earlier crashes */
    int attempts;                 /* option of the task; 0: the handler's, else 20 */
    int64_t timeout_ms;           /* option of the task; 0: the handler's, else none */
    int64_t heartbeat_ms;         /* option of the task; 0: the handler's, else none */
    const reeve_backoff *backoff; /* option of the task; NULL: the handler's, else the default */
    int64_t enqueued_ms;          /* 0: the start of the run */
    /* The environment of the run. */
    reeve_test_clock *clock; /* NULL: a clock that stands still at REEVE_TEST_BEGIN_MS */
    /* reeve_task_should_stop returns true from its nth call on; 1: from the first; 0: never. cancel_at: the same, and
     * reeve_task_is_cancelled is true as well; 1: from the start of the run. */
    unsigned stop_at;
    unsigned cancel_at;
    /* The status that reeve_task_progress, _heartbeat, _checkpoint and _log return. With REEVE_EREFUSED, a lost lease,
     * reeve_task_should_stop returns true from then on, as it does after the run time limit. */
    reeve_status tell_status;
    reeve_status pause_status; /* the status that reeve_task_pause_for returns */
    reeve_bytes checkpoint;    /* checkpoint of an earlier attempt; length 0: none */
    const reeve_layer *layers; /* layers around the handler, the outermost first; free_user is not called */
    size_t layer_count;
    /* Called for each reeve_task_progress, before that returns. May be NULL. */
    void (*on_progress)(int percent, const char *message, void *user);
    void *user;
    reeve_size_limits size_limits; /* size limits of the worker (size_limits.h); zeroed: the defaults */
} reeve_test_options;

/* Maximum length of each list in a report; further elements are omitted. */
#define REEVE_TEST_LIST_MAX 10000

typedef struct reeve_test_progress {
    int64_t at_ms; /* time on the test's clock */
    int percent;
    const char *words; /* the message; "": none */
} reeve_test_progress;

typedef struct reeve_test_line {
    int64_t at_ms;
    const char *text;
} reeve_test_line;

typedef struct reeve_test_pause {
    int64_t at_ms;
    int64_t delay_ms;
    const char *group; /* NULL: the whole queue */
} reeve_test_pause;

/* A chained task (reeve_task_chain). */
typedef struct reeve_test_chained {
    const char *handle; /* a task without an id in its spec gets the id "chained-1", "chained-2", ... */
    const char *type;
    reeve_bytes payload; /* a zero byte follows it; data is never NULL */
    const char *group;   /* this and the following fields: as in its spec */
    const char *unique;
    int priority;
    int64_t delay_ms;
    int64_t at_ms;
} reeve_test_chained;

typedef struct reeve_test_report {
    reeve_status status;   /* other than REEVE_OK: the handler was not called, and `message` tells why */
    reeve_outcome outcome; /* outcome of the handler with its layers; after the run time limit: REEVE_OUTCOME_RETRY */
    bool dead;             /* the task would be dead: it failed for good, or in its last attempt */
    bool cancelled;        /* the task would be cancelled: it was cancelled, and its outcome is not "done" */
    bool late;             /* it exceeded its run time limit (kind "timeout") or its heartbeat limit (kind "silent") */
    reeve_bytes result;    /* a zero byte follows it; data is never NULL */
    int64_t delay_ms;      /* delay of a retry, backoff applied, or of a snooze; else 0 */
    const char *kind;      /* kind of a retry or a failure; else "" */
    const char *message;
    int64_t began_ms; /* time on the test's clock */
    int64_t ended_ms;
    int64_t elapsed_us;                  /* real time of the run */
    const reeve_test_progress *progress; /* in order */
    size_t progress_count;
    const reeve_test_line *log; /* all lines of reeve_task_log, in order; not only the last REEVE_LOG_LINES */
    size_t log_count;
    reeve_bytes checkpoint;         /* last checkpoint, of this or an earlier attempt; a zero byte follows it */
    const reeve_test_pause *pauses; /* in order */
    size_t pause_count;
    const reeve_test_chained *chained; /* tasks enqueued with its completion, in order; none if it is not completed */
    size_t chained_count;
} reeve_test_report;

/*
 * Runs a handler, of which only the field `run` is required; thread_start and thread_stop are called around it,
 * free_user is not. Returns a report, which the caller frees with reeve_test_report_free, or NULL when out of memory.
 * Any thread.
 */
REEVE_API reeve_test_report *reeve_test_run(const reeve_handler *handler, const reeve_test_options *options);

/* The same for the handler of a type in a plugin. The plugin's own layers are inside those of the options. */
REEVE_API reeve_test_report *reeve_test_run_plugin(reeve_plugin_handle *plugin, const reeve_test_options *options);

/* Frees a report; NULL is ignored. */
REEVE_API void reeve_test_report_free(reeve_test_report *report);

/* The bytes of a text, for a payload. */
static inline reeve_bytes reeve_test_text(const char *text)
{
    reeve_bytes bytes;

    bytes.data = text;
    bytes.length = strlen(text);
    return bytes;
}

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_test_report *reeve_test_run_sized(const reeve_handler *handler, const reeve_test_options *options,
                                                  size_t handler_size, size_t options_size, size_t layer_size);
#define reeve_test_run(...) \
    reeve_test_run_sized(__VA_ARGS__, sizeof(reeve_handler), sizeof(reeve_test_options), sizeof(reeve_layer))
REEVE_API reeve_test_report *reeve_test_run_plugin_sized(reeve_plugin_handle *plugin, const reeve_test_options *options,
                                                         size_t options_size, size_t layer_size);
#define reeve_test_run_plugin(...) \
    reeve_test_run_plugin_sized(__VA_ARGS__, sizeof(reeve_test_options), sizeof(reeve_layer))

#ifdef __cplusplus
}
#endif
#endif
