/*
 * testing.h - handlers and layers under test: one attempt of one task, without Redis and without a worker, on the
 * calling thread. Goes with any test framework:
 *
 *     reeve_test_report *report = reeve_test_run(&handler, &(reeve_test_options){.payload = reeve_test_text("a.jpg")});
 *     assert(report->outcome == REEVE_OUTCOME_RETRY);
 *     assert(strcmp(report->kind, "smtp") == 0 && report->delay_ms == 30000);
 *     reeve_test_report_free(report);
 *
 * Nothing in it depends on chance or on the time of the day: the clock is the test's, and a delay after the backoff is
 * the middle of what its jitter allows. The task is checked as reeve_enqueue would check it.
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
 * A clock for reeve_task_now_ms and for the run time limit. It stands still but for what the test tells it; a handler
 * is under way while it is moved, so that is done by what the handler calls: a fake of what it talks to, on_progress,
 * or the step. Zeroed, it begins at REEVE_TEST_BEGIN_MS.
 */
#define REEVE_TEST_BEGIN_MS INT64_C(946684800000) /* 2000-01-01T00:00:00Z */

typedef struct reeve_test_clock {
    int64_t now_ms;  /* milliseconds since the epoch */
    int64_t step_ms; /* it goes on by so much each time that it is looked at, also by reeve_task_should_stop */
    bool real;       /* the machine's clock instead */
} reeve_test_clock;

/* Moves it. Any thread. */
REEVE_API void reeve_test_clock_move(reeve_test_clock *clock, int64_t ms);

/* All may be zero. Nothing is needed after the run. */
typedef struct reeve_test_options {
    size_t size; /* sizeof(reeve_test_options), or 0 */
    /* the task */
    const char *type; /* NULL: the handler's; a plugin's only one */
    reeve_bytes payload;
    const char *queue; /* NULL: "test" */
    const char *id;    /* NULL: "task" */
    const char *group;
    const reeve_meta *meta;
    size_t meta_count;
    unsigned attempt;             /* 0: 1 */
    unsigned crashes;             /* how often a worker died of it */
    int max_attempts;             /* the task's own; 0: the handler's, else 20 */
    int64_t timeout_ms;           /* the task's own; 0: the handler's, else none */
    int64_t heartbeat_ms;         /* the task's own; 0: the handler's, else none */
    const reeve_backoff *backoff; /* the task's own; NULL: the handler's, else the default */
    int64_t enqueued_ms;          /* 0: when the run begins */
    /* what it meets */
    reeve_test_clock *clock; /* NULL: one that begins at REEVE_TEST_BEGIN_MS and stands still */
    /* reeve_task_should_stop answers yes from the time on that it is asked for the nth time; 1: the first; 0: never.
     * cancel_at: because the task is cancelled then; with 1 it is so from the beginning. */
    unsigned stop_at;
    unsigned cancel_at;
    /* What reeve_task_progress, _heartbeat, _checkpoint and _log answer. REEVE_EREFUSED is a lost lease, as it is after
     * the time limit: from then on reeve_task_should_stop answers yes. */
    reeve_status tell_status;
    reeve_status hold_status;  /* what reeve_task_hold answers */
    reeve_bytes checkpoint;    /* what an attempt before left; length 0: nothing */
    const reeve_layer *layers; /* around the handler, outermost first; free_user is not called */
    size_t layer_count;
    /* Told of each progress that the handler reports, before that call returns. May be NULL. */
    void (*on_progress)(int percent, const char *words, void *user);
    void *user;
    reeve_guards guards; /* the worker's (guards.h); zeroed: the standards */
} reeve_test_options;

/* The most of each list in a report; what comes after it is left out. */
#define REEVE_TEST_LIST_MAX 10000

typedef struct reeve_test_progress {
    int64_t at_ms; /* when, on the test's clock */
    int percent;
    const char *words; /* "" when there are none */
} reeve_test_progress;

typedef struct reeve_test_line {
    int64_t at_ms;
    const char *text;
} reeve_test_line;

typedef struct reeve_test_hold {
    int64_t at_ms;
    int64_t delay_ms;
    const char *group; /* NULL: the whole queue */
} reeve_test_hold;

/* A task that the handler handed on (reeve_task_hand_on). */
typedef struct reeve_test_handed {
    const char *handle; /* one without an id of its own gets "handed-1", "handed-2", ... */
    const char *type;
    reeve_bytes payload; /* a zero byte follows it; data is never NULL */
    const char *group;   /* this and what follows: as its spec said it */
    const char *unique;
    int priority;
    int64_t delay_ms;
    int64_t at_ms;
} reeve_test_handed;

typedef struct reeve_test_report {
    reeve_status status;   /* not REEVE_OK: nothing was run, and message says why */
    reeve_outcome outcome; /* what the handler, with its layers, said; after the time limit: REEVE_OUTCOME_RETRY */
    bool dead;             /* what becomes of it: it failed for good, or was its last attempt */
    bool cancelled;        /* it was cancelled, and is not done all the same */
    bool late;             /* it passed its limit of run time, or silence: kind "timeout" or "silent" */
    reeve_bytes result;    /* a zero byte follows it; data is never NULL */
    int64_t delay_ms;      /* of a retry (after the backoff was applied) or a snooze; else 0 */
    const char *kind;      /* of a retry or a failure, "" else */
    const char *message;
    int64_t began_ms; /* on the test's clock */
    int64_t ended_ms;
    int64_t elapsed_us;                  /* real time */
    const reeve_test_progress *progress; /* in order */
    size_t progress_count;
    const reeve_test_line *log; /* what reeve_task_log was given, in order; not only the last REEVE_LOG_LINES */
    size_t log_count;
    reeve_bytes checkpoint;       /* the last one that was left, by this attempt or before; a zero byte follows it */
    const reeve_test_hold *holds; /* in order */
    size_t hold_count;
    const reeve_test_handed *handed; /* what is enqueued with its completion, in order; none unless it is done */
    size_t handed_count;
} reeve_test_report;

/*
 * Runs a handler: only its run is required. thread_start and thread_stop are called before and after, free_user is not.
 * Returns a report to free by reeve_test_report_free; NULL only when there is no memory. Any thread.
 */
REEVE_API reeve_test_report *reeve_test_run(const reeve_handler *handler, const reeve_test_options *options);

/* The same with the handler of a type in a plugin, and inside options' layers those of the plugin. */
REEVE_API reeve_test_report *reeve_test_run_plugin(reeve_plugin_handle *plugin, const reeve_test_options *options);

/* NULL is fine. */
REEVE_API void reeve_test_report_free(reeve_test_report *report);

/* A payload of text. */
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
