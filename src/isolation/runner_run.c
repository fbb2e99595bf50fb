#include "isolation/runner_run.h"

#include <limits.h>

#include "handlers/dependencies.h"
#include "handlers/plugin_count.h"
#include "handlers/waiting.h"
#include "isolation/runner_hello.h"
#include "reeve/signal.h"

/* ---- runs ------------------------------------------------------------------------------------------------------ */

void rv_runner_run_begin(rv_buf *out, const char *handler, const char *scratch, size_t count)
{
    rv_runner_message_put_text(out, handler);
    rv_runner_message_put_text(out, scratch);
    rv_runner_message_put_number(out, (int64_t)count);
}

void rv_runner_run_add(rv_buf *out, const rv_runner_task *task)
{
    rv_runner_message_put_text(out, task->queue);
    rv_runner_message_put_text(out, task->id);
    rv_runner_message_put_text(out, task->type);
    rv_runner_message_put_number(out, task->attempt);
    rv_runner_message_put_number(out, task->crashes);
    rv_runner_message_put_number(out, task->enqueued_ms);
    rv_runner_message_put_number(out, task->past);
    rv_runner_message_put_number(out, task->result_max);
    rv_runner_message_put_number(out, task->payload_max);
    rv_runner_message_put_bytes(out, task->header.data, task->header.length);
    rv_runner_message_put_bytes(out, task->payload.data, task->payload.length);
}

const char *rv_runner_run_read(rv_runner_reader *in, const char **ret_scratch, size_t *ret_count)
{
    const char *handler = rv_runner_message_get_text(in, REEVE_TYPE_MAX);
    *ret_scratch = rv_runner_message_get_text(in, PATH_MAX);
    *ret_count = (size_t)rv_runner_message_get_number(in, 1, RV_RUNNER_TASKS_MAX);
    return handler;
}

void rv_runner_run_read_task(rv_runner_reader *in, rv_runner_task *ret)
{
    ret->queue = rv_runner_message_get_text(in, REEVE_QUEUE_MAX);
    ret->id = rv_runner_message_get_text(in, REEVE_ID_MAX);
    ret->type = rv_runner_message_get_text(in, REEVE_TYPE_MAX);
    ret->attempt = (unsigned)rv_runner_message_get_number(in, 0, UINT32_MAX);
    ret->crashes = (unsigned)rv_runner_message_get_number(in, 0, UINT32_MAX);
    ret->enqueued_ms = rv_runner_message_get_number(in, INT64_MIN, INT64_MAX);
    ret->past = rv_runner_message_get_number(in, 0, 1) == 1;
    ret->result_max = rv_runner_message_get_number(in, INT64_MIN, INT64_MAX);
    ret->payload_max = rv_runner_message_get_number(in, INT64_MIN, INT64_MAX);
    ret->header = rv_runner_message_get_bytes(in, RV_RUNNER_BODY_MAX);
    ret->payload = rv_runner_message_get_bytes(in, RV_RUNNER_BODY_MAX);
}

/* ---- outcomes -------------------------------------------------------------------------------------------------- */

void rv_runner_run_write_outcome(rv_buf *out, const reeve_task *task)
{
    size_t count;
    reeve_bytes chained = rv_dependencies_chained(task->dependencies, &count);
    rv_runner_message_put_number(out, task->outcome);
    rv_runner_message_put_number(out, task->delay_ms);
    rv_runner_message_put_text(out, task->kind);
    rv_runner_message_put_text(out, task->message);
    rv_runner_message_put_bytes(out, task->result.data, task->result.length);
    rv_runner_message_put_number(out, (int64_t)count);
    rv_runner_message_put_bytes(out, chained.data, chained.length);
}

/* False: the outcome cannot be. */
static bool settle(reeve_task *task, reeve_outcome outcome, int64_t delay_ms, const char *kind, const char *message,
                   reeve_bytes result)
{
    if (outcome == REEVE_OUTCOME_SNOOZE && result.length > 0) return rv_waiting_take(task, result);
    switch (outcome) {
    case REEVE_OUTCOME_DONE:
        (void)reeve_task_done(task, result.data, result.length);
        break;
    case REEVE_OUTCOME_RETRY:
        (void)reeve_task_retry(task, delay_ms, kind, "%s", message);
        break;
    case REEVE_OUTCOME_FAIL:
        (void)reeve_task_fail(task, kind, "%s", message);
        break;
    case REEVE_OUTCOME_SNOOZE:
        (void)reeve_task_snooze(task, delay_ms);
        break;
    case REEVE_OUTCOME_CANCEL:
        (void)reeve_task_cancel(task, "%s", message);
        break;
    case REEVE_OUTCOME_DISCARD:
        (void)reeve_task_discard(task);
        break;
    case REEVE_OUTCOME_NONE: /* of a batch handler */
        break;
    }
    return true;
}

bool rv_runner_run_read_outcome(rv_runner_reader *in, reeve_task *task)
{
    reeve_outcome outcome = (reeve_outcome)rv_runner_message_get_number(in, REEVE_OUTCOME_NONE, REEVE_OUTCOME_DISCARD);
    int64_t delay_ms = rv_runner_message_get_number(in, -1, INT64_MAX);
    const char *kind = rv_runner_message_get_text(in, REEVE_KIND_MAX);
    const char *message = rv_runner_message_get_text(in, REEVE_MESSAGE_MAX);
    reeve_bytes result = rv_runner_message_get_bytes(in, REEVE_RESULT_MAX);
    size_t count = (size_t)rv_runner_message_get_number(in, 0, REEVE_CHAIN_MAX);
    reeve_bytes chained = rv_runner_message_get_bytes(in, RV_RUNNER_BODY_MAX);
    if (in->failed) return false;
    if (count > 0 && !rv_dependencies_take_chained(task, chained, count)) return false;
    return settle(task, outcome, delay_ms, kind, message, result);
}

/* ---- counters -------------------------------------------------------------------------------------------------- */

void rv_runner_run_write_counters(rv_buf *out, uint64_t sent[REEVE_COUNTERS_MAX])
{
    size_t count = rv_plugin_count_number();
    rv_runner_message_put_number(out, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        rv_plugin_counter counter = rv_plugin_count_get(i);
        rv_runner_message_put_text(out, counter.name);
        rv_runner_message_put_text(out, counter.help);
        uint64_t more = counter.value - sent[i];
        if (more > INT64_MAX) more = INT64_MAX; /* (what goes beyond comes next time) */
        rv_runner_message_put_number(out, (int64_t)more);
        sent[i] += more;
    }
}

bool rv_runner_run_read_counters(rv_runner_reader *in)
{
    int64_t count = rv_runner_message_get_number(in, 0, REEVE_COUNTERS_MAX);
    for (int64_t i = 0; i < count && !in->failed; i++) {
        const char *name = rv_runner_message_get_text(in, REEVE_COUNTER_NAME_MAX);
        const char *help = rv_runner_message_get_text(in, REEVE_COUNTER_HELP_MAX);
        uint64_t more = (uint64_t)rv_runner_message_get_number(in, 0, INT64_MAX);
        if (!in->failed && reeve_plugin_count(name, help, more) == REEVE_EINVAL) return false;
    }
    return !in->failed;
}

/* ---- calls ----------------------------------------------------------------------------------------------------- */

/* Each puts its status first. */
static void answer_parents(rv_buf *out, reeve_task *task)
{
    const reeve_task_parent *parents = NULL;
    size_t count = 0;
    reeve_status status = reeve_task_parents(task, &parents, &count);
    rv_runner_message_put_number(out, status);
    rv_runner_message_put_number(out, status == REEVE_OK ? (int64_t)count : 0);
    for (size_t i = 0; status == REEVE_OK && i < count; i++) {
        rv_runner_message_put_text(out, parents[i].handle);
        rv_runner_message_put_text(out, parents[i].ended);
    }
}

static void answer_bytes(rv_buf *out, reeve_status status, reeve_bytes bytes)
{
    bool is_there = status == REEVE_OK && bytes.data != NULL;
    rv_runner_message_put_number(out, status);
    rv_runner_message_put_number(out, is_there);
    rv_runner_message_put_bytes(out, bytes.data, is_there ? bytes.length : 0);
}

static void answer_progress(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    int percent = (int)rv_runner_message_get_number(in, 0, 100);
    bool has_message = rv_runner_message_get_number(in, 0, 1) == 1;
    const char *message = rv_runner_message_get_text(in, REEVE_MESSAGE_MAX);
    if (!in->failed)
        rv_runner_message_put_number(out, reeve_task_progress(task, percent, has_message ? message : NULL));
}

static void answer_log(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    const char *line = rv_runner_message_get_text(in, REEVE_MESSAGE_MAX);
    if (!in->failed) rv_runner_message_put_number(out, reeve_task_log(task, "%s", line));
}

static void answer_pause_for(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    bool has_group = rv_runner_message_get_number(in, 0, 1) == 1;
    const char *group = rv_runner_message_get_text(in, REEVE_GROUP_MAX);
    int64_t delay_ms = rv_runner_message_get_number(in, 0, INT64_MAX);
    if (!in->failed) rv_runner_message_put_number(out, reeve_task_pause_for(task, has_group ? group : NULL, delay_ms));
}

static void answer_checkpoint(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    reeve_bytes data = rv_runner_message_get_bytes(in, REEVE_CHECKPOINT_MAX);
    if (!in->failed) rv_runner_message_put_number(out, reeve_task_checkpoint(task, data.data, data.length));
}

static void answer_extend(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    int64_t for_ms = rv_runner_message_get_number(in, 1, INT64_MAX);
    if (!in->failed) rv_runner_message_put_number(out, reeve_task_extend(task, for_ms));
}

static void answer_last_checkpoint(rv_buf *out, reeve_task *task)
{
    reeve_bytes bytes = {NULL, 0};
    reeve_status status = reeve_task_last_checkpoint(task, &bytes);
    answer_bytes(out, status, bytes);
}

static void answer_parent_result(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    reeve_bytes bytes = {NULL, 0};
    const char *handle = rv_runner_message_get_text(in, REEVE_HANDLE_MAX);
    if (in->failed) return;
    reeve_status status = reeve_task_parent_result(task, handle, &bytes);
    answer_bytes(out, status, bytes);
}

static void answer_signal(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    reeve_bytes bytes = {NULL, 0};
    const char *name = rv_runner_message_get_text(in, REEVE_SIGNAL_NAME_MAX);
    if (in->failed) return;
    reeve_status status = reeve_task_signal(task, name, &bytes);
    answer_bytes(out, status, bytes);
}

bool rv_runner_run_answer(rv_buf *out, rv_runner_reader *in, reeve_task *task)
{
    switch ((rv_runner_call)rv_runner_message_get_number(in, 0, RV_RUNNER_CALLS)) {
    case RV_RUNNER_PROGRESS:
        answer_progress(out, in, task);
        break;
    case RV_RUNNER_LOG:
        answer_log(out, in, task);
        break;
    case RV_RUNNER_CHECKPOINT:
        answer_checkpoint(out, in, task);
        break;
    case RV_RUNNER_LAST_CHECKPOINT:
        answer_last_checkpoint(out, task);
        break;
    case RV_RUNNER_HEARTBEAT:
        rv_runner_message_put_number(out, reeve_task_heartbeat(task));
        break;
    case RV_RUNNER_EXTEND:
        answer_extend(out, in, task);
        break;
    case RV_RUNNER_PAUSE_FOR:
        answer_pause_for(out, in, task);
        break;
    case RV_RUNNER_PARENTS:
        answer_parents(out, task);
        break;
    case RV_RUNNER_PARENT_RESULT:
        answer_parent_result(out, in, task);
        break;
    case RV_RUNNER_SIGNAL:
        answer_signal(out, in, task);
        break;
    case RV_RUNNER_CALLS:
        return false;
    }
    return rv_runner_message_is_read(in) && !out->failed;
}
