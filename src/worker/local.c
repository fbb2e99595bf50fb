/*
 * local.c - one run of a plugin's handler on the calling thread, without Redis and without a worker.
 */
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/retry.h"
#include "worker/plugin.h"
#include "worker/task.h"

static const reeve_handler *find_handler(const reeve_plugin *plugin, const char *type)
{
    for (size_t i = 0; i < plugin->handler_count; i++) {
        if (strcmp(plugin->handlers[i].type, type) == 0) return &plugin->handlers[i];
    }
    return NULL;
}

/* The options in this version's layout, checked, with what was left out filled in; id has room for a new one. */
static reeve_status read_options(reeve_run_options *ret, const reeve_run_options *given, char id[RV_UUID_LENGTH + 1])
{
    memset(ret, 0, sizeof(*ret));
    if (given != NULL) {
        memcpy(ret, given, given->size != 0 && given->size < sizeof(*ret) ? given->size : sizeof(*ret));
    }
    if (ret->queue == NULL) ret->queue = "local";
    if (ret->attempt == 0) ret->attempt = 1;
    if (ret->id == NULL) {
        rv_uuid7(id);
        ret->id = id;
    }
    if (!rv_valid_queue(ret->queue, strnlen(ret->queue, REEVE_QUEUE_MAX + 1))) return REEVE_EINVAL;
    if (!rv_valid_id(ret->id, strnlen(ret->id, REEVE_ID_MAX))) return REEVE_EINVAL;
    if (ret->payload.data == NULL && ret->payload.length > 0) return REEVE_EINVAL;
    return ret->payload.length <= REEVE_PAYLOAD_MAX ? REEVE_OK : REEVE_ETOOBIG;
}

static reeve_status tell_progress(reeve_task *task, int percent, const char *words, void *context)
{
    const reeve_run_options *options = context;

    (void)task;
    if (options->progress != NULL) options->progress(percent, words, options->user);
    return REEVE_OK;
}

/* One thread's life with the handler: set-up, the task, tear-down. Returns how long the handler ran. */
static int64_t run_with_hooks(reeve_task *task, reeve_plugin_handle *plugin, const reeve_handler *handler)
{
    int64_t began, elapsed;
    int failure = 0;

    if (handler->thread_start != NULL) failure = handler->thread_start(handler->user, &task->thread_state);
    if (failure != 0) {
        rv_task_failed(task, REEVE_OUTCOME_RETRY, "setup", "the set-up hook of \"%s\" failed (it returned %d)",
                       handler->type, failure);
        return 0;
    }
    rv_plugin_enter(plugin);
    began = rv_now_us();
    rv_task_run(task, handler);
    elapsed = rv_now_us() - began;
    rv_plugin_leave(plugin);
    if (handler->thread_stop != NULL) handler->thread_stop(handler->user, task->thread_state);
    return elapsed;
}

static void make_report(reeve_run_report *ret, reeve_task *task, const reeve_handler *handler, int64_t elapsed_us)
{
    memset(ret, 0, sizeof(*ret));
    ret->outcome = task->verb;
    ret->elapsed_us = elapsed_us;
    if (task->verb == REEVE_OUTCOME_RETRY || task->verb == REEVE_OUTCOME_SNOOZE) {
        ret->delay_ms =
            task->delay_ms >= 0 ? task->delay_ms : rv_backoff_delay(&handler->backoff, task->attempt, rv_random_unit());
    }
    memcpy(ret->kind, task->kind, sizeof(ret->kind));
    memcpy(ret->message, task->message, sizeof(ret->message));
    if (task->result.length > 0) {
        ret->result = (reeve_bytes){task->result.data, task->result.length};
        rv_buf_init(&task->result, REEVE_RESULT_MAX); /* the report owns the memory now */
    }
}

reeve_status reeve_plugin_run(reeve_plugin_handle *plugin, const char *type, const reeve_run_options *options,
                              reeve_run_report *ret)
{
    char id[RV_UUID_LENGTH + 1];
    reeve_run_options full;
    rv_task_host host = {.progress = tell_progress, .context = &full};
    const reeve_handler *handler;
    reeve_task task;
    char *payload;
    reeve_status status = type != NULL ? read_options(&full, options, id) : REEVE_EINVAL;

    if (status != REEVE_OK) return status;
    handler = find_handler(&plugin->plugin, type);
    if (handler == NULL) return REEVE_ENOTFOUND;
    payload = rv_strndup(full.payload.length > 0 ? full.payload.data : "", full.payload.length);
    if (payload == NULL) return REEVE_ENOMEM;

    rv_task_init(&task);
    task.queue = full.queue;
    task.id = full.id;
    task.type = handler->type;
    task.payload = (reeve_bytes){payload, full.payload.length};
    task.attempt = full.attempt;
    task.enqueued_ms = rv_wall_ms();
    task.host = &host;
    make_report(ret, &task, handler, run_with_hooks(&task, plugin, handler));
    rv_task_fini(&task);
    rv_free(payload);
    return REEVE_OK;
}

void reeve_run_report_fini(reeve_run_report *report)
{
    if (report == NULL) return;
    rv_free((void *)report->result.data);
    report->result = (reeve_bytes){NULL, 0};
}
