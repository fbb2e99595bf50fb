/*
 * outcome.c - the verbs: what a handler says is kept in its task until the worker settles it. The last verb counts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "worker/task.h"

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

/* What the verb before left is forgotten. */
static void begin_verb(reeve_task *task, reeve_outcome verb, int64_t delay_ms)
{
    rv_buf_clear(&task->result);
    task->verb = verb;
    task->delay_ms = delay_ms;
    task->kind[0] = '\0';
    task->message[0] = '\0';
}

static void failed(reeve_task *task, reeve_outcome verb, int64_t delay_ms, const char *kind, const char *format,
                   va_list arguments)
{
    begin_verb(task, verb, delay_ms);
    keep_text(task->kind, sizeof(task->kind), kind != NULL && kind[0] != '\0' ? kind : "error");
    keep_message(task, format, arguments);
}

reeve_outcome reeve_task_done(reeve_task *task, const void *result, size_t length)
{
    if (length > REEVE_RESULT_MAX) {
        return rv_task_failed(task, REEVE_OUTCOME_FAIL, "result", "the result has %zu bytes; at most %u are kept",
                              length, REEVE_RESULT_MAX);
    }
    begin_verb(task, REEVE_OUTCOME_DONE, -1);
    if (result != NULL && length > 0) rv_buf_add(&task->result, result, length);
    if (task->result.failed) {
        return rv_task_failed(task, REEVE_OUTCOME_RETRY, "resources", "no memory for a result of %zu bytes", length);
    }
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
    begin_verb(task, REEVE_OUTCOME_SNOOZE, delay_ms < 0 ? 0 : delay_ms);
    return REEVE_OUTCOME_SNOOZE;
}

reeve_outcome reeve_task_give_back(reeve_task *task)
{
    return reeve_task_snooze(task, 0);
}

reeve_outcome rv_task_failed(reeve_task *task, reeve_outcome verb, const char *kind, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failed(task, verb, -1, kind, format, arguments);
    va_end(arguments);
    return verb;
}

reeve_outcome rv_task_run(reeve_task *task, const reeve_handler *handler)
{
    reeve_outcome said = handler->run(task, handler->user);

    if (task->verb == REEVE_OUTCOME_NONE) {
        return rv_task_failed(task, REEVE_OUTCOME_RETRY, "handler",
                              "the handler of \"%s\" returned %d without calling a verb (reeve_task_done and so on)",
                              handler->type, (int)said);
    }
    if (said != task->verb) {
        return rv_task_failed(task, REEVE_OUTCOME_RETRY, "handler",
                              "the handler of \"%s\" returned %d, but the last verb it called said %d: return what the "
                              "verb returns",
                              handler->type, (int)said, (int)task->verb);
    }
    return task->verb;
}
