/*
 * test_client_change.c - the calls on one task of a client for tests: what the scripts answer about it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"
#include "testing/test_client.h"

/* ---- replies ----------------------------------------------------------------------------------------------------- */

static const rv_reply *answer(rv_test_client *tests, const char *text)
{
    tests->reply = (rv_reply){.type = RV_TEXT, .text = text, .length = strlen(text)};
    return &tests->reply;
}

static void add_item(rv_test_client *tests, const char *text, size_t length)
{
    size_t at = tests->reply.count++;
    tests->values[at] = (rv_reply){.type = RV_TEXT, .text = text, .length = length};
    tests->items[at] = &tests->values[at];
}

static void add_field(rv_test_client *tests, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0') return;
    add_item(tests, name, strlen(name));
    add_item(tests, value, strlen(value));
}

static const char *number(rv_test_client *tests, size_t at, int64_t value)
{
    (void)snprintf(tests->numbers[at], sizeof(tests->numbers[at]), "%lld", (long long)value);
    return tests->numbers[at];
}

static bool write_envelope(rv_test_client *tests, const rv_test_task *task)
{
    reeve_task_spec spec = *task->spec;
    spec.priority = task->priority;
    rv_buf_clear(&tests->envelope);
    rv_buf_adds(&tests->envelope, "{\"at\":");
    rv_buf_addi(&tests->envelope, task->is.enqueued_ms);
    rv_buf_addc(&tests->envelope, ',');
    rv_spec_write_envelope(&tests->envelope, &spec);
    return !tests->envelope.failed;
}

/* As show.lua answers. */
static const rv_reply *show(rv_test_client *tests, const rv_test_task *task)
{
    const reeve_test_report *report = task->report;
    bool failed = task->orphan || task->is.failures > 0;
    const char *state = reeve_state_name(task->is.state);
    int64_t score = task->is.state == REEVE_STATE_SCHEDULED ? task->due_ms : task->ended_ms;
    if (!write_envelope(tests, task)) return NULL;
    tests->reply = (rv_reply){.type = RV_ARRAY, .text = "", .items = tests->items};
    add_item(tests, task->spec->id, strlen(task->spec->id));
    add_item(tests, state, strlen(state));
    add_item(tests, tests->envelope.data, tests->envelope.length);
    const char *time = score >= 0 ? number(tests, 0, score) : "";
    add_item(tests, time, strlen(time));
    add_item(tests, "", 0);
    add_item(tests, "", 0);
    if (task->is.failures > 0) add_field(tests, "failures", number(tests, 1, task->is.failures));
    if (failed) add_field(tests, "kind", task->orphan ? "parent" : report->kind);
    if (failed) add_field(tests, "message", task->orphan ? "a parent did not complete" : report->message);
    if (report != NULL && report->result.length > 0 && task->is.state == REEVE_STATE_COMPLETED) {
        add_item(tests, "result", strlen("result"));
        add_item(tests, report->result.data, report->result.length);
    }
    if (report != NULL && report->checkpoint.length > 0)
        add_field(tests, "checkpoint_bytes", number(tests, 2, (int64_t)report->checkpoint.length));
    return &tests->reply;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static const rv_reply *cancel(rv_test_client *tests, rv_test_task *task)
{
    if (task->is.state >= REEVE_STATE_RUNNING) return answer(tests, reeve_state_name(task->is.state));
    rv_test_client_end(tests, task, REEVE_STATE_CANCELLED);
    rv_test_client_unblock(tests);
    return answer(tests, "ok");
}

static const rv_reply *delete_task(rv_test_client *tests, rv_test_task *task)
{
    if (task->is.state == REEVE_STATE_RUNNING) return answer(tests, "running");
    rv_test_client_remove(tests, task);
    rv_test_client_unblock(tests);
    return answer(tests, "ok");
}

static const rv_reply *retry(rv_test_client *tests, rv_test_task *task)
{
    reeve_state state = task->is.state;
    if (state != REEVE_STATE_DEAD && state != REEVE_STATE_CANCELLED && state != REEVE_STATE_SCHEDULED)
        return answer(tests, reeve_state_name(state));
    if (state == REEVE_STATE_DEAD) task->is.failures = 0;
    task->is.state = REEVE_STATE_READY;
    task->ended_ms = task->due_ms = -1;
    task->orphan = false;
    return answer(tests, "ok");
}

/* how: "at", "in" or "priority". */
static const rv_reply *reschedule(rv_test_client *tests, rv_test_task *task, const char *how, const char *digits)
{
    int64_t value = 0, now = rv_test_client_now(tests);
    if (task->is.state >= REEVE_STATE_RUNNING) return answer(tests, reeve_state_name(task->is.state));
    (void)rv_parse_int(digits, INT64_MIN, INT64_MAX, &value);
    if (strcmp(how, "priority") == 0) {
        task->priority = (int)value;
        return answer(tests, "ok");
    }
    if (task->is.state == REEVE_STATE_BLOCKED) return answer(tests, "blocked");
    task->due_ms = strcmp(how, "in") != 0 ? value : value > INT64_MAX - now ? INT64_MAX : now + value;
    task->is.state = task->due_ms > now ? REEVE_STATE_SCHEDULED : REEVE_STATE_READY;
    return answer(tests, "ok");
}

const rv_reply *rv_test_client_change(void *context, const rv_simple_call *call)
{
    rv_test_client *tests = context;
    const rv_script *script = call->script;
    bool known = script == &rv_script_show || script == &rv_script_cancel || script == &rv_script_delete ||
                 script == &rv_script_retry || script == &rv_script_reschedule;
    if (!known) return NULL;
    rv_test_task *task = rv_test_client_get_in(tests, call->queue, call->args[0]);
    if (task == NULL && script == &rv_script_show) {
        tests->reply = (rv_reply){.type = RV_NIL, .text = ""};
        return &tests->reply;
    }
    if (task == NULL) return answer(tests, "");
    if (script == &rv_script_show) return show(tests, task);
    if (script == &rv_script_cancel) return cancel(tests, task);
    if (script == &rv_script_delete) return delete_task(tests, task);
    if (script == &rv_script_retry) return retry(tests, task);
    return reschedule(tests, task, call->args[1], call->args[2]);
}

/* ---- parents ----------------------------------------------------------------------------------------------------- */

static reeve_status add_parents(rv_test_task *task, const reeve_parent *parents, size_t count)
{
    rv_test_parent *list = rv_realloc_array(task->parents, task->parent_count + count, sizeof(*list));
    if (list == NULL) return REEVE_ENOMEM;
    task->parents = list;
    for (size_t i = 0; i < count; i++) {
        rv_test_parent *parent = &list[task->parent_count++];
        *parent = (rv_test_parent){.on_death = parents[i].on_death,
                                   .expected = parents[i].unknown != REEVE_UNKNOWN_COMPLETED};
        rv_copy_text(parent->handle, sizeof(parent->handle), parents[i].handle);
    }
    return REEVE_OK;
}

static bool has_parent(const rv_test_task *task, const char *handle)
{
    for (size_t i = 0; i < task->parent_count; i++)
        if (strcmp(task->parents[i].handle, handle) == 0) return true;
    return false;
}

static void remove_parent(rv_test_task *task, const char *handle)
{
    size_t kept = 0;
    for (size_t i = 0; i < task->parent_count; i++) {
        if (strcmp(task->parents[i].handle, handle) != 0) task->parents[kept++] = task->parents[i];
    }
    task->parent_count = kept;
}

reeve_status rv_test_client_depend(void *context, const char *queue, const char *id, const reeve_parent *parents,
                                   const char *const *handles, size_t count, bool *closed, rv_error *error)
{
    rv_test_client *tests = context;
    rv_test_task *task = rv_test_client_get_in(tests, queue, id);
    if (task == NULL) return rv_fail(error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, id);
    bool fits = task->is.state < REEVE_STATE_RUNNING && (parents != NULL || task->is.state == REEVE_STATE_BLOCKED);
    if (!fits)
        return rv_fail(error, REEVE_ESTATE, "what %s/%s waits for cannot be changed: it is %s", queue, id,
                       reeve_state_name(task->is.state));
    if (closed != NULL && !has_parent(task, REEVE_PARENT_OPEN)) {
        *closed = true;
        return rv_fail(error, REEVE_ESTATE, "the batch of %s/%s is closed: it takes no more members", queue, id);
    }
    if (parents != NULL && add_parents(task, parents, count) != REEVE_OK)
        return rv_fail(error, REEVE_ENOMEM, "no memory for the parents of %s/%s", queue, id);
    if (parents != NULL) task->is.state = REEVE_STATE_BLOCKED;
    for (size_t i = 0; parents == NULL && i < count; i++) remove_parent(task, handles[i]);
    rv_test_client_unblock(tests);
    if (tests->run_at_once) (void)rv_test_client_run_all(tests, true);
    return REEVE_OK;
}
