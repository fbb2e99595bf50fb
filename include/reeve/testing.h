/*
 * testing.h - test handlers, layers, and programs that enqueue tasks. reeve_test_run runs one attempt of one task on
 * the calling thread, without Redis and without a worker. It works with any test framework:
 *
 *     reeve_test_report *report = reeve_test_run(&handler, &(reeve_test_options){.payload = reeve_test_text("a.jpg")});
 *     assert(report->outcome == REEVE_OUTCOME_RETRY);
 *     assert(strcmp(report->kind, "smtp") == 0 && report->delay_ms == 30000);
 *     reeve_test_report_free(report);
 *
 * The same test always has the same report: the test controls the clock, and jitter is not applied to the backoff.
 * The task is checked as by reeve_enqueue.
 */
#ifndef REEVE_TESTING_H
#define REEVE_TESTING_H

#include <string.h>

#include "client.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_TEST_BEGIN_MS INT64_C(946684800000) /* 2000-01-01T00:00:00Z */

/*
 * The clock of a test. reeve_task_now_ms and the run time limit use it. It stands still unless something moves it:
 * step_ms, or reeve_test_clock_move in code that the handler calls, such as a fake service or on_progress. A zeroed
 * clock starts at REEVE_TEST_BEGIN_MS.
 */
typedef struct reeve_test_clock {
    int64_t now_ms;  /* milliseconds since the epoch */
    int64_t step_ms; /* ms by which each reading of the clock moves it; reeve_task_should_stop reads it, too */
    bool real;       /* use the machine's clock */
} reeve_test_clock;

/* Moves the clock forward by `ms`. Any thread. */
REEVE_API void reeve_test_clock_move(reeve_test_clock *clock, int64_t ms);

/* Options of a test. Zero selects the default of each field. The struct, and all that it points to, must be valid
 * until the function that runs the test returns. */
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
    int attempts;                 /* option of the task; 0: the handler's value, else 20 */
    int64_t timeout_ms;           /* option of the task; 0: the handler's, else none */
    int64_t heartbeat_ms;         /* option of the task; 0: the handler's, else none */
    const reeve_backoff *backoff; /* option of the task; NULL: the handler's, else the default */
    int64_t enqueued_ms;          /* 0: the start of the run */
    /* The environment of the run. */
    reeve_test_clock *clock; /* NULL: a clock that stands still at REEVE_TEST_BEGIN_MS */
    /* stop_at N: from its Nth call on, reeve_task_should_stop returns true; 0: never. cancel_at N: the same, and
     * reeve_task_is_cancelled then returns true as well. With cancel_at 1 both are true from the start of the run. */
    unsigned stop_at;
    unsigned cancel_at;
    /* The status that reeve_task_progress, _heartbeat, _checkpoint and _log return. REEVE_EREFUSED simulates a lost
     * lease: from then on reeve_task_should_stop returns true, as after the run time limit. */
    reeve_status tell_status;
    reeve_status pause_status; /* the status that reeve_task_pause_for returns */
    reeve_bytes checkpoint;    /* checkpoint of an earlier attempt; length 0: none */
    const reeve_layer *layers; /* layers around the handler, in the order of their calls; free_user is not called */
    size_t layer_count;
    /* Called by each reeve_task_progress; may be NULL. */
    void (*on_progress)(int percent, const char *message, void *user);
    void *user;
    reeve_size_limits size_limits; /* size limits of the worker (size_limits.h); zeroed: the defaults */
    int64_t retry_for_ms;          /* option of the task; 0: the handler's value, else no limit */
} reeve_test_options;

/* Maximum length of each list in a report; further elements are omitted. */
#define REEVE_TEST_LIST_MAX 10000

/* A progress that the handler reported (reeve_task_progress). */
typedef struct reeve_test_progress {
    int64_t at_ms; /* time on the test's clock */
    int percent;
    const char *words; /* the message; "": none */
} reeve_test_progress;

/* A line that the handler added to the log of its task (reeve_task_log). */
typedef struct reeve_test_line {
    int64_t at_ms;
    const char *text;
} reeve_test_line;

/* A pause that the handler requested (reeve_task_pause_for). */
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

/* What a handler did in a test. */
typedef struct reeve_test_report {
    reeve_status status;   /* if it is not REEVE_OK, the handler was not called, and `message` is the reason */
    reeve_outcome outcome; /* outcome of the handler with its layers; after the run time limit: REEVE_OUTCOME_RETRY */
    bool dead;             /* the task would be dead: the attempt failed for good, or was the last one */
    bool cancelled;        /* the task would be cancelled: by its outcome, or by cancel_at if it did not complete */
    bool late; /* the attempt exceeded its run time limit (kind "timeout") or its heartbeat limit (kind "silent") */
    reeve_bytes result; /* a zero byte follows it; data is never NULL */
    int64_t delay_ms;   /* delay in ms until a worker would run the task again, after a retry or a snooze; else 0 */
    const char *kind;   /* kind of a retry or a failure; else "" */
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
    const reeve_test_chained
        *chained; /* chained tasks, in order; none unless the task is completed or waits for others */
    size_t chained_count;
    /* reeve_task_wait_for: the tasks that it waits for, "<handle> <rule> <handle> <rule> ...", where a rule is f
     * (fail), g (go) or w (wait); else "" */
    const char *waits_for;
} reeve_test_report;

/*
 * Runs one attempt with a handler. Only the field `run` of the handler is required. The function calls thread_start
 * before and thread_stop after the handler, but not free_user. It returns a report, which the caller frees with
 * reeve_test_report_free, or NULL if there is no memory. Any thread.
 */
REEVE_API reeve_test_report *reeve_test_run(const reeve_handler *handler, const reeve_test_options *options);

/* As reeve_test_run, for the handler of a plugin. The layers of the options are called before those of the plugin. */
REEVE_API reeve_test_report *reeve_test_run_plugin(reeve_plugin_handle *plugin, const reeve_test_options *options);

/* Frees a report; NULL is ignored. */
REEVE_API void reeve_test_report_free(reeve_test_report *report);

/* ---- producers ------------------------------------------------------------------------------------------------- */

/*
 * A client for tests of programs that enqueue: it keeps the tasks in memory, needs no Redis, and starts no thread. Pass
 * it to the program under test in place of a client of reeve_client_open:
 *
 *     reeve_client *client = NULL;
 *     reeve_test_client_open(&client, NULL);
 *     sign_up(client, "ann@example.org");                       the program: it enqueues a task of type "mail"
 *     const reeve_test_task *mail = reeve_test_client_find(client, "mail", 0);
 *     assert(mail != NULL && mail->spec->in_ms == 60000);
 *     reeve_client_close(client);
 *
 * If the options have handlers, the client can also run the tasks. With run_at_once, the call that enqueues a task runs
 * it. Otherwise reeve_test_client_run runs the tasks.
 *
 * Specs are checked as by reeve_enqueue. Ids, unique keys, parents and batches (depend.h) work as with Redis: calls
 * return REEVE_EEXISTS, REEVE_EUNIQUE and REEVE_ENOTFOUND. reeve_show, reeve_wait, reeve_retry, reeve_cancel,
 * reeve_delete, reeve_reschedule and reeve_set_priority work; reeve_wait does not block, and returns REEVE_ETIMEOUT for
 * a task that has not ended. All other functions that need Redis return REEVE_EUNSUPPORTED. Times and delays are
 * ignored when tasks run. Priorities, limits, expiry, death callbacks (on_dead), tags and recurring entries have no
 * effect.
 */
typedef struct reeve_test_client_options {
    size_t size;                   /* sizeof(reeve_test_client_options), or 0 */
    const reeve_handler *handlers; /* valid until the client is closed, with all that they point to */
    size_t handler_count;
    reeve_plugin_handle *plugin; /* its handlers and layers are used; it must stay open; NULL: none */
    const reeve_layer *layers;   /* called around handlers and at each enqueue (layer.h); free_user is not called */
    size_t layer_count;
    bool run_at_once;              /* a call that enqueues a task also runs it, if its type has a handler */
    reeve_test_clock *clock;       /* NULL: a clock that stands still at REEVE_TEST_BEGIN_MS */
    reeve_size_limits size_limits; /* of tasks, results and chained tasks (size_limits.h); zeroed: the defaults */
} reeve_test_client_options;

/* A task of such a client. Valid until it is deleted, cleared or replaced, or the client is closed. */
typedef struct reeve_test_task {
    const char *handle;
    const reeve_task_spec *spec; /* with its id; a zero byte follows the payload */
    reeve_state state;
    unsigned attempts; /* attempts that were run */
    unsigned failures; /* of these: failed ones */
    int64_t enqueued_ms;
    const reeve_test_report *report; /* of the last attempt; NULL: none was run */
} reeve_test_task;

/* Opens a client for tests. The caller closes it with reeve_client_close. Only one thread at a time may use it.
 * REEVE_EINVAL: a handler, a layer or an option is not valid. REEVE_ENOMEM. Any thread. */
REEVE_API reeve_status reeve_test_client_open(reeve_client **ret, const reeve_test_client_options *options);

/* The number of its tasks; 0 for any other client. */
REEVE_API size_t reeve_test_client_count(const reeve_client *client);

/* The nth task in the order of the enqueues, and the nth of a type; n begins at 0. NULL: there is no such task. */
REEVE_API const reeve_test_task *reeve_test_client_task(const reeve_client *client, size_t n);
REEVE_API const reeve_test_task *reeve_test_client_find(const reeve_client *client, const char *type, size_t n);

/* Removes all tasks. In a handler it does nothing. */
REEVE_API void reeve_test_client_clear(reeve_client *client);

/*
 * Runs one attempt of each waiting task whose type has a handler, on the calling thread, in the order of the enqueues.
 * Then runs an attempt of each task that a handler enqueued or chained meanwhile, or whose parents have ended
 * meanwhile. A task that fails, or is snoozed, runs again at the next call. Returns the number of attempts.
 */
REEVE_API size_t reeve_test_client_run(reeve_client *client);

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
REEVE_API reeve_status reeve_test_client_open_sized(reeve_client **ret, const reeve_test_client_options *options,
                                                    size_t options_size, size_t handler_size, size_t layer_size);
#define reeve_test_client_open(...)                                                                     \
    reeve_test_client_open_sized(__VA_ARGS__, sizeof(reeve_test_client_options), sizeof(reeve_handler), \
                                 sizeof(reeve_layer))

#ifdef __cplusplus
}
#endif
#endif
