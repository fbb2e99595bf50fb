/*
 * task_outcome.c - the outcome functions. The task holds the outcome until the worker settles it; the last call counts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "handlers/task.h"
#include "reeve/layer.h"

/* Longer than any text that is kept, so that the cut sees the whole character that crosses the limit. */
#define ROOM (REEVE_MESSAGE_MAX + 8)

/* Copies text, cleaned, to target, cut on a character to what it can take. */
static void keep_text(char *target, size_t size, const char *text)
{
    char room[ROOM];
    size_t length = strnlen(text, ROOM - 1);

    memcpy(room, text, length);
    rv_utf8_clean(room, length);
    length = rv_utf8_cut(room, length, size - 1);
    memcpy(target, room, length);
    target[length] = '\0';
}

static void keep_message(reeve_task *task, const char *format, va_list arguments)
{
    char room[ROOM];

    if (format == NULL) {
        task->message[0] = '\0';
    } else if (vsnprintf(room, sizeof(room), format, arguments) < 0) {
        keep_text(task->message, sizeof(task->message), format);
    } else {
        keep_text(task->message, sizeof(task->message), room);
    }
}

/* Sets an outcome and forgets the one before. The caller has copied its texts: they may be parts of the outcome
 * before. */
static void settle(reeve_task *task, reeve_outcome outcome, int64_t delay_ms)
{
    task->outcome = outcome;
    task->delay_ms = delay_ms;
    task->kind[0] = '\0';
    task->message[0] = '\0';
}

static void failed(reeve_task *task, reeve_outcome outcome, int64_t delay_ms, const char *kind, const char *format,
                   va_list arguments)
{
    char new_kind[sizeof(task->kind)];

    keep_text(new_kind, sizeof(new_kind), kind != NULL && kind[0] != '\0' ? kind : "error");
    keep_message(task, format,
                 arguments); /* before the rest is cleared: its arguments may point to the last kind and result */
    memcpy(task->kind, new_kind, sizeof(new_kind));
    rv_buf_clear(&task->result);
    task->outcome = outcome;
    task->delay_ms = delay_ms;
}

void rv_task_forget(reeve_task *task)
{
    rv_buf_clear(&task->result);
    settle(task, REEVE_OUTCOME_NONE, -1);
}

/* Sets the result, which may be a part of the present one. */
static void keep_result(reeve_task *task, const char *result, size_t length)
{
    rv_buf *kept = &task->result;
    uintptr_t at = (uintptr_t)result, first = (uintptr_t)kept->data;

    if (kept->data == NULL || at < first || at >= first + kept->length) {
        rv_buf_clear(kept);
        rv_buf_add(kept, result, length);
    } else {
        size_t rest = kept->length - (size_t)(at - first);

        kept->length = length < rest ? length : rest;
        memmove(kept->data, result, kept->length);
        kept->data[kept->length] = '\0';
        kept->failed = false;
    }
}

/* Whether a result of that length is allowed; if not, the task keeps the error message. */
static bool check_result(const reeve_task *task, size_t length, rv_error *why)
{
    const reeve_size_limits *size_limits = rv_task_size_limits(task);
    const atomic_llong *of_queue = task->host != NULL ? task->host->result_max : NULL;
    long long max = of_queue != NULL ? atomic_load_explicit(of_queue, memory_order_relaxed) : 0;

    if (max > 0 && max <= size_limits->result && length > (size_t)max) {
        (void)rv_fail(why, REEVE_ETOOBIG,
                      "the result has %zu bytes: at most %lld (result_max of the queue %s raises it, up to "
                      "%u)",
                      length, max, task->queue, REEVE_RESULT_MAX);
        return false;
    }
    if (length <= (size_t)size_limits->result) return true;
    (void)rv_size_limits_refuse(why, size_limits, RV_SIZE_LIMIT(result), "the result has %zu bytes", length);
    return false;
}

reeve_outcome reeve_task_done(reeve_task *task, const void *result, size_t length)
{
    rv_error why;

    if (length > 0 && !check_result(task, length, &why)) {
        (void)rv_task_refuse(task, &why);
        return rv_task_failed(task, REEVE_OUTCOME_FAIL, "result", "%s", why.text);
    }
    if (result != NULL && length > 0) {
        keep_result(task, result, length);
    } else {
        rv_buf_clear(&task->result);
    }
    if (task->result.failed) {
        return rv_task_failed(task, REEVE_OUTCOME_RETRY, "resources", "no memory for a result of %zu bytes", length);
    }
    settle(task, REEVE_OUTCOME_DONE, -1);
    return REEVE_OUTCOME_DONE;
}

reeve_outcome reeve_task_retry(reeve_task *task, int64_t delay_ms, const char *kind, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failed(task, REEVE_OUTCOME_RETRY, delay_ms < 0 ? -1 : delay_ms, kind, format, arguments);
    va_end(arguments);
    return REEVE_OUTCOME_RETRY;
}

reeve_outcome reeve_task_fail(reeve_task *task, const char *kind, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failed(task, REEVE_OUTCOME_FAIL, -1, kind, format, arguments);
    va_end(arguments);
    return REEVE_OUTCOME_FAIL;
}

reeve_outcome reeve_task_snooze(reeve_task *task, int64_t delay_ms)
{
    rv_buf_clear(&task->result);
    settle(task, REEVE_OUTCOME_SNOOZE, delay_ms < 0 ? 0 : delay_ms);
    return REEVE_OUTCOME_SNOOZE;
}

reeve_outcome reeve_task_give_back(reeve_task *task)
{
    return reeve_task_snooze(task, 0);
}

/* One line: what controls a terminal becomes a blank. */
static void keep_reason(reeve_task *task, const char *format, va_list arguments)
{
    char cut[REEVE_REASON_MAX + 1];

    keep_message(task, format, arguments);
    keep_text(cut, sizeof(cut), task->message);
    for (char *at = cut; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = ' ';
    memcpy(task->message, cut, sizeof(cut));
}

reeve_outcome reeve_task_cancel(reeve_task *task, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    keep_reason(task, format, arguments); /* before the rest is cleared, as in failed() */
    va_end(arguments);
    rv_buf_clear(&task->result);
    task->outcome = REEVE_OUTCOME_CANCEL;
    task->delay_ms = -1;
    task->kind[0] = '\0';
    return REEVE_OUTCOME_CANCEL;
}

reeve_outcome reeve_task_discard(reeve_task *task)
{
    rv_buf_clear(&task->result);
    settle(task, REEVE_OUTCOME_DISCARD, -1);
    return REEVE_OUTCOME_DISCARD;
}

reeve_outcome rv_task_failed(reeve_task *task, reeve_outcome outcome, const char *kind, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failed(task, outcome, -1, kind, format, arguments);
    va_end(arguments);
    return outcome;
}

reeve_outcome rv_task_take(reeve_task *task, reeve_outcome returned, const char *kind, const char *what,
                           const char *name)
{
    if (task->outcome == REEVE_OUTCOME_NONE) {
        return rv_task_failed(task, REEVE_OUTCOME_RETRY, kind,
                              "%s \"%s\" returned %d without calling an outcome function (reeve_task_done and so on)",
                              what, name, (int)returned);
    }
    if (returned != task->outcome) {
        return rv_task_failed(
            task, REEVE_OUTCOME_RETRY, kind,
            "%s \"%s\" returned %d, but the last outcome function returned %d: return what that function "
            "returns",
            what, name, (int)returned, (int)task->outcome);
    }
    return task->outcome;
}

reeve_outcome rv_task_take_batch(reeve_task *task, const char *type)
{
    if (task->outcome != REEVE_OUTCOME_NONE) return task->outcome;
    return rv_task_failed(task, REEVE_OUTCOME_RETRY, "handler",
                          "the handler of \"%s\" called no outcome function (reeve_task_done and so on) for this task",
                          type);
}

static reeve_outcome run_many_of_one(reeve_task *task, const reeve_handler *handler)
{
    reeve_task *const tasks[] = {task};
    handler->run_batch(tasks, 1, handler->user);
    return rv_task_take_batch(task, handler->type);
}

reeve_outcome rv_task_run(reeve_task *task, const reeve_handler *handler)
{
    if (handler->run_batch != NULL) return run_many_of_one(task, handler);
    return rv_task_take(task, handler->run(task, handler->user), "handler", "the handler of", handler->type);
}

/* ---- what came out --------------------------------------------------------------------------------------------- */

reeve_outcome reeve_task_outcome(const reeve_task *task)
{
    return task->outcome;
}

const char *reeve_task_error_kind(const reeve_task *task)
{
    return task->kind;
}

const char *reeve_task_error_message(const reeve_task *task)
{
    return task->message;
}

int64_t reeve_task_delay_ms(const reeve_task *task)
{
    return task->delay_ms;
}

reeve_bytes reeve_task_result(const reeve_task *task)
{
    if (task->outcome != REEVE_OUTCOME_DONE) return (reeve_bytes){NULL, 0}; /* waiting.h */
    return (reeve_bytes){task->result.data, task->result.length};
}

const char *reeve_outcome_name(reeve_outcome outcome)
{
    switch (outcome) {
    case REEVE_OUTCOME_DONE:
        return "done";
    case REEVE_OUTCOME_RETRY:
        return "retry";
    case REEVE_OUTCOME_FAIL:
        return "fail";
    case REEVE_OUTCOME_SNOOZE:
        return "snooze";
    case REEVE_OUTCOME_CANCEL:
        return "cancel";
    case REEVE_OUTCOME_DISCARD:
        return "discard";
    case REEVE_OUTCOME_NONE:
        break;
    }
    return "none";
}
