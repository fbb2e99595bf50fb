/*
 * task.c - reading a task. The header is JSON and is parsed only when a handler asks for what stands there.
 */
#include "worker/task.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "queue/keys.h"

#define RESULT_KEEP ((size_t)64 * 1024)

void rv_task_init(reeve_task *task)
{
    memset(task, 0, sizeof(*task));
    rv_buf_init(&task->result, REEVE_RESULT_MAX);
    task->delay_ms = -1;
}

void rv_task_fini(reeve_task *task)
{
    cJSON_Delete(task->parsed);
    rv_buf_fini(&task->result);
    rv_task_init(task);
}

void rv_task_begin(reeve_task *task)
{
    rv_buf result = task->result;

    cJSON_Delete(task->parsed);
    rv_buf_clear(&result);
    rv_buf_trim(&result, RESULT_KEEP);
    memset(task, 0, sizeof(*task));
    task->result = result;
    task->delay_ms = -1;
}

reeve_bytes reeve_task_payload(const reeve_task *task)
{
    return task->payload;
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
    /* Every reeve_task is a thread's own and never a constant: what is made when asked for may be written here. */
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

int64_t reeve_task_enqueued_ms(const reeve_task *task)
{
    return task->enqueued_ms;
}

void *reeve_task_thread_state(const reeve_task *task)
{
    return task->thread_state;
}

/* The header's member, or NULL. A header that is no JSON has no members. */
static const cJSON *header_member(const reeve_task *task, const char *name)
{
    reeve_task *own = (reeve_task *)task; /* as in reeve_task_handle */

    if (own->parsed == NULL && own->header != NULL) own->parsed = cJSON_Parse(own->header);
    return cJSON_GetObjectItemCaseSensitive(own->parsed, name);
}

const char *reeve_task_group(const reeve_task *task)
{
    return cJSON_GetStringValue(header_member(task, "group"));
}

const char *reeve_task_meta(reeve_task *task, const char *key)
{
    const cJSON *meta = header_member(task, "meta");

    return cJSON_IsObject(meta) ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(meta, key)) : NULL;
}

bool reeve_task_should_stop(const reeve_task *task)
{
    const rv_task_host *host = task->host;

    return host != NULL && host->stop != NULL && atomic_load_explicit(host->stop, memory_order_relaxed);
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

reeve_status reeve_task_hold(reeve_task *task, const char *group, int64_t delay_ms)
{
    rv_error error = {0};

    if (delay_ms < 0) return REEVE_EINVAL;
    if (group != NULL && rv_check_group(group, &error) != REEVE_OK) return REEVE_EINVAL;
    if (task->host == NULL || task->host->hold == NULL) return REEVE_OK;
    return task->host->hold(task, group, delay_ms, task->host->context);
}
