/*
 * task.c - reading a task.
 */
#include "handlers/task.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "handlers/dependencies.h"
#include "protocol/keys.h"

#define RESULT_KEEP ((size_t)64 * 1024)

void rv_task_init(reeve_task *task)
{
    memset(task, 0, sizeof(*task));
    rv_buf_init(&task->result, REEVE_RESULT_MAX);
    rv_buf_init(&task->checkpoint, REEVE_CHECKPOINT_MAX);
    task->delay_ms = -1;
}

void rv_task_fini(reeve_task *task)
{
    cJSON_Delete(task->kept_options);
    rv_dependencies_free(task->dependencies);
    rv_free(task->refusal);
    rv_chunks_free(task->payloads);
    rv_buf_fini(&task->result);
    rv_buf_fini(&task->checkpoint);
    rv_task_init(task);
}

void rv_task_begin(reeve_task *task)
{
    rv_buf result = task->result, checkpoint = task->checkpoint;

    cJSON_Delete(task->kept_options);
    rv_dependencies_free(task->dependencies);
    rv_free(task->refusal);
    if (task->payloads != NULL) rv_chunks_free(task->payloads);
    rv_buf_clear(&result);
    rv_buf_trim(&result, RESULT_KEEP);
    rv_buf_clear(&checkpoint);
    rv_buf_trim(&checkpoint, RESULT_KEEP);
    memset(task, 0, offsetof(reeve_task, handle));
    task->handle[0] = task->kind[0] = task->message[0] = '\0';
    task->result = result;
    task->checkpoint = checkpoint;
    task->delay_ms = -1;
}

const reeve_size_limits *rv_task_size_limits(const reeve_task *task)
{
    return task->host != NULL && task->host->size_limits != NULL ? task->host->size_limits : &rv_size_limits_default;
}

reeve_status rv_task_refuse(reeve_task *task, const rv_error *why)
{
    if (task->refusal == NULL) task->refusal = rv_zalloc(sizeof(*task->refusal));
    if (task->refusal != NULL) *task->refusal = *why;
    return why->status;
}

const char *reeve_task_call_error(const reeve_task *task)
{
    return task->refusal != NULL ? task->refusal->text : "";
}

reeve_bytes reeve_task_payload(const reeve_task *task)
{
    return task->payload;
}

reeve_status reeve_task_set_payload(reeve_task *task, const void *data, size_t length)
{
    const char *copy = rv_chunks_add_copy(&task->payloads, data, length);
    if (copy == NULL) return REEVE_ENOMEM;
    task->payload = (reeve_bytes){copy, length};
    return REEVE_OK;
}

const char *reeve_task_id(const reeve_task *task)
{
    return task->id;
}

const char *reeve_task_queue(const reeve_task *task)
{
    return task->queue;
}

const char *reeve_task_type(const reeve_task *task)
{
    return task->type;
}

const char *reeve_task_handle(const reeve_task *task)
{
    /* The cast is safe: every reeve_task belongs to one thread and is not a constant. The handle is kept in it. */
    reeve_task *own = (reeve_task *)task;

    if (own->handle[0] == '\0') snprintf(own->handle, sizeof(own->handle), "%s/%s", own->queue, own->id);
    return own->handle;
}

unsigned reeve_task_attempt(const reeve_task *task)
{
    return task->attempt;
}

unsigned reeve_task_crashes(const reeve_task *task)
{
    return task->crashes;
}

/* The id of a task of a recurring entry is "cron:<name>:<slot>". */
int64_t reeve_task_slot_ms(const reeve_task *task)
{
    int64_t slot = -1;
    const char *id = reeve_task_id(task), *last = strrchr(id, ':');
    if (strncmp(id, "cron:", 5) != 0 || last != strchr(id + 5, ':')) return -1;
    return rv_parse_int(last + 1, 0, INT64_MAX, &slot) ? slot : -1;
}

int64_t reeve_task_enqueued_ms(const reeve_task *task)
{
    return task->enqueued_ms;
}

int64_t reeve_task_now_ms(const reeve_task *task)
{
    const rv_task_host *host = task->host;

    return host != NULL && host->now != NULL ? host->now(host->context) : rv_wall_ms();
}

void *reeve_task_thread_state(const reeve_task *task)
{
    return task->thread_state;
}

const char *reeve_task_group(const reeve_task *task)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(task->options, "group"));
}

const char *reeve_task_meta(reeve_task *task, const char *key)
{
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(task->options, "meta");

    return cJSON_IsObject(meta) ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(meta, key)) : NULL;
}

bool reeve_task_should_stop(const reeve_task *task)
{
    const rv_task_host *host = task->host;

    if (host != NULL && host->asked_to_stop != NULL) return host->asked_to_stop(host->context);
    return host != NULL && host->stop != NULL && atomic_load_explicit(host->stop, memory_order_relaxed);
}

bool reeve_task_is_cancelled(const reeve_task *task)
{
    const rv_task_host *host = task->host;

    return host != NULL && host->cancelled != NULL && atomic_load_explicit(host->cancelled, memory_order_relaxed);
}

const char *reeve_task_cancel_reason(const reeve_task *task)
{
    const rv_task_host *host = task->host;

    if (host == NULL || host->cancelled == NULL || host->cancel_reason == NULL) return NULL;
    /* The reason is written before the flag. */
    if (!atomic_load_explicit(host->cancelled, memory_order_acquire) || host->cancel_reason[0] == '\0') return NULL;
    return host->cancel_reason;
}

reeve_status reeve_task_progress(reeve_task *task, int percent, const char *words)
{
    char cut[REEVE_MESSAGE_MAX + 1];

    if (percent < 0 || percent > 100) return REEVE_EINVAL;
    if (task->host == NULL || task->host->progress == NULL) return REEVE_OK;
    if (words != NULL) {
        /* one byte more than may stay, so that the cut sees what would follow */
        size_t length = rv_utf8_cut(words, strnlen(words, REEVE_MESSAGE_MAX + 1), REEVE_MESSAGE_MAX);

        memcpy(cut, words, length);
        cut[length] = '\0';
        rv_utf8_clean(cut, length);
        words = cut;
    }
    return task->host->progress(task, percent, words, task->host->context);
}

reeve_status reeve_task_checkpoint(reeve_task *task, const void *data, size_t length)
{
    const rv_task_host *host = task->host;
    reeve_status status = REEVE_OK;

    if (data == NULL && length > 0) return REEVE_EINVAL;
    if (length > (size_t)rv_task_size_limits(task)->checkpoint) {
        rv_error why;
        (void)rv_size_limits_refuse(&why, rv_task_size_limits(task), RV_SIZE_LIMIT(checkpoint),
                                    "the checkpoint has %zu bytes", length);
        return rv_task_refuse(task, &why);
    }
    if (host != NULL && host->checkpoint != NULL)
        status = host->checkpoint(task, (reeve_bytes){data, length}, host->context);
    if (status != REEVE_OK) return status;
    rv_buf_clear(&task->checkpoint);
    rv_buf_add(&task->checkpoint, data, length);
    task->knows_checkpoint = !task->checkpoint.failed; /* without memory it is fetched */
    return REEVE_OK;
}

reeve_status reeve_task_last_checkpoint(reeve_task *task, reeve_bytes *ret)
{
    const rv_task_host *host = task->host;
    reeve_status status = REEVE_OK;

    if (!task->knows_checkpoint) {
        rv_buf_clear(&task->checkpoint);
        if (host != NULL && host->last_checkpoint != NULL)
            status = host->last_checkpoint(task, &task->checkpoint, host->context);
        if (status != REEVE_OK) return status;
        task->knows_checkpoint = true;
    }
    *ret = (reeve_bytes){task->checkpoint.length > 0 ? task->checkpoint.data : NULL, task->checkpoint.length};
    return REEVE_OK;
}

reeve_status reeve_task_heartbeat(reeve_task *task)
{
    const rv_task_host *host = task->host;

    return host != NULL && host->heartbeat != NULL ? host->heartbeat(task, host->context) : REEVE_OK;
}

reeve_status reeve_task_extend(reeve_task *task, int64_t for_ms)
{
    const rv_task_host *host = task->host;

    if (for_ms < 1) return REEVE_EINVAL;
    return host != NULL && host->extend != NULL ? host->extend(task, for_ms, host->context) : REEVE_OK;
}

reeve_status reeve_task_log(reeve_task *task, const char *format, ...)
{
    const rv_task_host *host = task->host;
    char room[REEVE_MESSAGE_MAX + 8];
    va_list arguments;
    int written;

    va_start(arguments, format);
    written = vsnprintf(room, sizeof(room), format, arguments);
    va_end(arguments);
    if (written < 0) return REEVE_EINVAL;
    if (host == NULL || host->log == NULL) return REEVE_OK;
    size_t length = strlen(room);
    rv_utf8_clean(room, length);
    room[rv_utf8_cut(room, length, REEVE_MESSAGE_MAX)] = '\0';
    return host->log(task, room, host->context);
}

reeve_status reeve_task_pause_for(reeve_task *task, const char *group, int64_t delay_ms)
{
    rv_error error = {0};

    if (delay_ms < 0) return REEVE_EINVAL;
    if (group != NULL && rv_keys_check_group(group, &error) != REEVE_OK) return REEVE_EINVAL;
    if (task->host == NULL || task->host->pause_for == NULL) return REEVE_OK;
    return task->host->pause_for(task, group, delay_ms, task->host->context);
}
