/*
 * test_run.h - a handler under test: its simulated environment, and the record of its calls. For testing.c.
 */
#ifndef RV_TESTING_TEST_RUN_H
#define RV_TESTING_TEST_RUN_H

#include <stdatomic.h>

#include "base/error.h"
#include "handlers/task.h"
#include "reeve/testing.h"

typedef struct rv_test_run_report {
    reeve_test_report is; /* what the test sees; leads into the rest */
    reeve_task task;      /* kept for its outcome */
    char words[sizeof(((rv_error *)NULL)->text)];
    reeve_test_progress *progress;
    size_t progress_room;
    reeve_test_line *log;
    size_t log_room;
    rv_buf checkpoint;
    reeve_test_pause *pauses;
    size_t pause_room;
    reeve_test_chained *chained;
    size_t chained_count;
    size_t chained_room;
} rv_test_run_report;

/* Takes a chained task, and makes its id if that is "". */
typedef reeve_status (*rv_test_chain_fn)(const reeve_task_spec *spec, char id[REEVE_ID_MAX], void *context);

/* Which of its limits a run has passed. */
typedef enum rv_test_run_limit {
    RV_TEST_RUN_WITHIN,
    RV_TEST_RUN_LATE,  /* it ran for too long */
    RV_TEST_RUN_SILENT /* it did not say anything for too long */
} rv_test_run_limit;

typedef struct rv_test_run {
    reeve_test_options options;
    size_t layer_size; /* how far apart options.layers are */
    reeve_test_clock own_clock;
    reeve_test_clock *clock;
    int64_t until_ms;         /* the time limit, or RV_FOREVER */
    int64_t silence_ms;       /* longer silence is a failure; 0: it need not say anything */
    atomic_llong alive_at_ms; /* when it last sent a heartbeat */
    atomic_int passed;        /* rv_test_run_limit; stays once it is one */
    atomic_uint asked;
    atomic_bool lost;
    atomic_bool cancelled;
    rv_test_run_report *report;
    rv_test_chain_fn chain; /* also called for each chained task; NULL: none */
    void *chain_context;
} rv_test_run;

/* An attempt that a test client runs: with a handler, or with that of a plugin. The options and layers are in this
 * version's layout. */
typedef struct rv_test_attempt {
    const reeve_handler *handler; /* NULL: that of the plugin */
    reeve_plugin_handle *plugin;
    reeve_test_options options;
    rv_test_chain_fn chain;
    void *chain_context;
} rv_test_attempt;

/* Runs it. The caller frees the report; NULL: no memory. */
reeve_test_report *rv_testing_run(const rv_test_attempt *attempt);

/* Its clock begins, and its silence. The options were read. */
void rv_test_run_begin(rv_test_run *test_run);

/* The host of its task. */
rv_task_host rv_test_run_host(rv_test_run *test_run);

/* What time it is, and whether a limit has passed by now. */
int64_t rv_test_run_now(const rv_test_run *test_run);
rv_test_run_limit rv_test_run_passed(rv_test_run *test_run);

/* Frees what was written down. */
void rv_test_run_forget(rv_test_run_report *report);

/* As if an attempt before had left it. */
void rv_test_run_keep_checkpoint(rv_test_run_report *report, reeve_bytes data);

#endif
