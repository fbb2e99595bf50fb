/*
 * test_client_run.c - runs the tasks of a client for tests, each attempt as reeve_test_run does, and follows their
 * dependencies.
 */
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "protocol/spec_copy.h"
#include "testing/run_inline.h"
#include "testing/test_client.h"
#include "testing/test_run.h"

/* ---- dependencies ------------------------------------------------------------------------------------------------ */

typedef enum verdict { WAITS, GOES, DIES, IS_CALLED, IS_NOT_NEEDED } verdict;

/* What one parent means for its child. */
static verdict of_parent(const rv_test_client *tests, rv_test_parent *parent)
{
    const rv_test_task *task = rv_test_client_get(tests, parent->handle);
    if (strcmp(parent->handle, REEVE_PARENT_OPEN) == 0) return WAITS;
    if (task == NULL && !parent->seen) return parent->expected ? WAITS : GOES;
    parent->seen = true;
    if (task != NULL && !rv_test_client_has_ended(task)) return WAITS;
    if (task != NULL && task->is.state == REEVE_STATE_COMPLETED) return GOES;
    switch (parent->on_death) {
    case REEVE_PARENT_FAIL:
        return DIES;
    case REEVE_PARENT_DEATH:
        return IS_CALLED;
    case REEVE_PARENT_WAIT:
        return task != NULL ? WAITS : DIES;
    default:
        return GOES;
    }
}

static verdict of_parents(const rv_test_client *tests, const rv_test_task *task)
{
    bool waits = false, is_callback = false;
    for (size_t i = 0; i < task->parent_count; i++) {
        verdict one = of_parent(tests, &task->parents[i]);
        if (one == DIES || one == IS_CALLED) return one;
        waits = waits || one == WAITS;
        is_callback = is_callback || task->parents[i].on_death == REEVE_PARENT_DEATH;
    }
    return waits ? WAITS : is_callback ? IS_NOT_NEEDED : GOES;
}

/* True when something has changed, which may concern others. */
static bool unblock_one(rv_test_client *tests, rv_test_task *task)
{
    verdict is = of_parents(tests, task);
    if (is == WAITS) return false;
    if (is == IS_NOT_NEEDED) {
        rv_test_client_remove(tests, task);
        return true;
    }
    task->orphan = is == DIES;
    if (is == DIES) {
        rv_test_client_end(tests, task, REEVE_STATE_DEAD);
        return true;
    }
    task->is.state = task->due_ms > rv_test_client_now(tests) ? REEVE_STATE_SCHEDULED : REEVE_STATE_READY;
    return true;
}

void rv_test_client_unblock(rv_test_client *tests)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < tests->count && !changed; i++) {
            if (tests->tasks[i]->is.state == REEVE_STATE_BLOCKED) changed = unblock_one(tests, tests->tasks[i]);
        }
    }
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The chained tasks of an attempt, until it has ended. */
typedef struct chain {
    reeve_task_spec **specs;
    size_t count;
} chain;

static reeve_status on_chained(const reeve_task_spec *spec, char id[REEVE_ID_MAX], void *context)
{
    chain *to = context;
    reeve_task_spec **specs = rv_realloc_array(to->specs, to->count + 1, sizeof(*specs));
    if (specs == NULL) return REEVE_ENOMEM;
    to->specs = specs;
    if (id[0] == '\0') rv_uuid7(id);
    specs[to->count] = rv_spec_copy(spec, id);
    if (specs[to->count] == NULL) return REEVE_ENOMEM;
    to->count++;
    return REEVE_OK;
}

/* They come with the completion of the task, or as it begins to wait, or not at all; one whose id exists is dropped. */
static void end_chain(rv_test_client *tests, chain *from, bool completed)
{
    for (size_t i = 0; i < from->count; i++) {
        const reeve_task_spec *spec = from->specs[i];
        if (completed && rv_test_client_get_in(tests, spec->queue, spec->id) == NULL)
            (void)rv_test_client_add(tests, spec, spec->id);
        rv_free(from->specs[i]);
    }
    rv_free(from->specs);
}

static const reeve_handler *handler_of(const rv_test_client *tests, const char *type)
{
    const reeve_handler *best = NULL;
    size_t best_fit = 0;
    for (size_t i = 0; i < tests->handler_count; i++) {
        size_t fit = rv_type_fit(tests->handlers[i].type, type, strlen(type));
        if (fit <= best_fit) continue;
        best = &tests->handlers[i];
        best_fit = fit;
    }
    return best;
}

static bool can_run(const rv_test_client *tests, const rv_test_task *task)
{
    bool waits = task->is.state == REEVE_STATE_READY || task->is.state == REEVE_STATE_SCHEDULED;
    const char *type = task->spec->type;
    if (!waits) return false;
    return handler_of(tests, type) != NULL ||
           (tests->plugin != NULL && rv_run_inline_find(&tests->plugin->plugin, type) != NULL);
}

static reeve_test_report *run_attempt(rv_test_client *tests, const rv_test_task *task, chain *chained)
{
    const reeve_task_spec *spec = task->spec;
    rv_test_attempt attempt = {.handler = handler_of(tests, spec->type),
                               .plugin = tests->plugin,
                               .chain = on_chained,
                               .chain_context = chained};
    attempt.options = (reeve_test_options){.type = spec->type,
                                           .payload = spec->payload,
                                           .queue = spec->queue,
                                           .id = spec->id,
                                           .group = spec->group,
                                           .meta = spec->meta,
                                           .meta_count = spec->meta_count,
                                           .attempt = task->is.failures + 1,
                                           .attempts = spec->attempts,
                                           .timeout_ms = spec->timeout_ms,
                                           .heartbeat_ms = spec->heartbeat_ms,
                                           .retry_for_ms = spec->retry_for_ms,
                                           .backoff = spec->backoff,
                                           .enqueued_ms = task->is.enqueued_ms,
                                           .clock = tests->clock,
                                           .layers = tests->layers,
                                           .layer_count = tests->layer_count,
                                           .size_limits = tests->size_limits};
    if (attempt.handler != NULL) attempt.plugin = NULL;
    if (task->report != NULL) attempt.options.checkpoint = task->report->checkpoint;
    return rv_testing_run(&attempt);
}

/* Its handler lets it wait for others: "<handle> <rule> ...". False: no memory. */
static bool wait_for(rv_test_task *task, const char *words)
{
    size_t room = strlen(words) / 4 + 1; /* "q/i f" */
    rv_test_parent *parents = rv_zalloc_array(room, sizeof(*parents));
    size_t count = 0;
    if (parents == NULL) return false;
    for (const char *at = words; *at != '\0' && count < room; count++) {
        size_t length = strcspn(at, " ");
        char rule = at[length + 1];
        memcpy(parents[count].handle, at, length < REEVE_HANDLE_MAX ? length : REEVE_HANDLE_MAX - 1);
        parents[count].on_death = rule == 'g' ? REEVE_PARENT_GO : rule == 'w' ? REEVE_PARENT_WAIT : REEVE_PARENT_FAIL;
        at += length + 2;
        at += *at == ' ';
    }
    rv_free(task->parents);
    task->parents = parents;
    task->parent_count = count;
    return true;
}

static void take_outcome(const rv_test_client *tests, rv_test_task *task)
{
    const reeve_test_report *report = task->report;
    bool failed = report->outcome == REEVE_OUTCOME_RETRY || report->outcome == REEVE_OUTCOME_FAIL;
    if (failed) task->is.failures++;
    if (report->dead) {
        rv_test_client_end(tests, task, REEVE_STATE_DEAD);
    } else if (report->outcome == REEVE_OUTCOME_DONE) {
        rv_test_client_end(tests, task, REEVE_STATE_COMPLETED);
    } else if (report->outcome == REEVE_OUTCOME_CANCEL || report->outcome == REEVE_OUTCOME_DISCARD) {
        rv_test_client_end(tests, task, REEVE_STATE_CANCELLED);
    } else if (report->waits_for[0] != '\0' && wait_for(task, report->waits_for)) {
        task->due_ms = -1;
        task->is.state = REEVE_STATE_BLOCKED;
    } else {
        task->due_ms = rv_test_client_now(tests) + report->delay_ms;
        task->is.state = report->delay_ms > 0 ? REEVE_STATE_SCHEDULED : REEVE_STATE_READY;
    }
}

static void run_task(rv_test_client *tests, rv_test_task *task)
{
    chain chained = {NULL, 0};
    reeve_state before = task->is.state;
    task->is.state = REEVE_STATE_RUNNING;
    task->is.attempts++;
    tests->running++;
    reeve_test_report *report = run_attempt(tests, task, &chained);
    tests->running--;
    if (report != NULL) {
        reeve_test_report_free(task->report);
        task->report = report;
        task->is.report = report;
    }
    if (report != NULL && report->status == REEVE_OK)
        take_outcome(tests, task);
    else
        task->is.state = before;
    end_chain(tests, &chained, task->is.state == REEVE_STATE_COMPLETED || task->is.state == REEVE_STATE_BLOCKED);
    rv_test_client_unblock(tests);
}

/* The next one that this pass has not run; NULL: none. */
static rv_test_task *find_next(const rv_test_client *tests, size_t pass, bool only_new)
{
    for (size_t i = 0; i < tests->count; i++) {
        rv_test_task *task = tests->tasks[i];
        bool fits = only_new ? task->pass == 0 : task->pass < pass;
        if (fits && can_run(tests, task)) return task;
    }
    return NULL;
}

size_t rv_test_client_run_all(rv_test_client *tests, bool only_new)
{
    size_t pass = ++tests->pass, runs = 0;
    for (rv_test_task *task; (task = find_next(tests, pass, only_new)) != NULL; runs++) {
        task->pass = pass;
        run_task(tests, task);
    }
    return runs;
}
