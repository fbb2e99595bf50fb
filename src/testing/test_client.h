/*
 * test_client.h - a client for tests of producers (reeve/testing.h): its tasks, in memory. test_client.c keeps them,
 * test_client_change.c has the calls on one of them, test_client_run.c runs them.
 */
#ifndef RV_TESTING_TEST_CLIENT_H
#define RV_TESTING_TEST_CLIENT_H

#include "base/buf.h"
#include "client/client.h"
#include "reeve/depend.h"
#include "reeve/testing.h"

typedef struct rv_test_parent {
    char handle[REEVE_HANDLE_MAX];
    reeve_on_parent_death on_death;
    bool expected; /* it may come later, also later in the same call */
    bool seen;     /* it was here: when it is not, it was deleted */
} rv_test_parent;

typedef struct rv_test_task {
    reeve_test_task is; /* what the test sees */
    reeve_task_spec *spec;
    reeve_test_report *report;
    char handle[REEVE_HANDLE_MAX];
    rv_test_parent *parents; /* that it waits for, while it is blocked */
    size_t parent_count;
    int priority;
    int64_t due_ms;   /* -1: none */
    int64_t ended_ms; /* -1: it has not */
    size_t pass;      /* the last one that ran it; 0: it was never run */
    bool orphan;      /* it died as a parent did */
} rv_test_task;

#define RV_TEST_CLIENT_ITEMS 24

typedef struct rv_test_client {
    rv_test_task **tasks;
    size_t count;
    size_t room;
    reeve_handler *handlers; /* in this version's layout */
    size_t handler_count;
    reeve_plugin_handle *plugin;
    reeve_layer *layers;
    size_t layer_count;
    bool run_at_once;
    reeve_test_clock own_clock;
    reeve_test_clock *clock;
    reeve_size_limits size_limits;
    unsigned running; /* handlers that run now, one in the other */
    size_t pass;
    /* the last reply */
    rv_reply reply, values[RV_TEST_CLIENT_ITEMS];
    rv_reply *items[RV_TEST_CLIENT_ITEMS];
    char numbers[4][24];
    rv_buf envelope;
} rv_test_client;

rv_test_task *rv_test_client_get(const rv_test_client *tests, const char *handle);
rv_test_task *rv_test_client_get_in(const rv_test_client *tests, const char *queue, const char *id);
int64_t rv_test_client_now(const rv_test_client *tests);
bool rv_test_client_has_ended(const rv_test_task *task);
void rv_test_client_end(const rv_test_client *tests, rv_test_task *task, reeve_state state);
void rv_test_client_remove(rv_test_client *tests, rv_test_task *task);

/* Adds a checked task. REEVE_ENOMEM. */
reeve_status rv_test_client_add(rv_test_client *tests, const reeve_task_spec *spec, const char *id);

/* What a script answers about a task (client/stand_in.h). */
const rv_reply *rv_test_client_change(void *context, const rv_simple_call *call);

/* Adds or removes parents. */
reeve_status rv_test_client_depend(void *context, const char *queue, const char *id, const reeve_parent *parents,
                                   const char *const *handles, size_t count, bool *closed, rv_error *error);

/* Blocked tasks whose parents have ended become ready, die or go. */
void rv_test_client_unblock(rv_test_client *tests);

/* Runs tasks that wait. only_new: those that were never run. Returns how many attempts. */
size_t rv_test_client_run_all(rv_test_client *tests, bool only_new);

#endif
