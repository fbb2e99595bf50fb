#include "testing/run_inline.h"

#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/layout.h"
#include "base/mem.h"
#include "protocol/envelope.h"
#include "protocol/json_parse.h"
#include "protocol/spec.h"

#define MIDDLE_OF_JITTER 0.5

const reeve_handler *rv_run_inline_find(const reeve_plugin *plugin, const char *type)
{
    const reeve_handler *best = NULL;
    size_t best_fit = 0;
    for (size_t i = 0; i < plugin->handler_count; i++) {
        size_t fit = rv_type_fit(plugin->handlers[i].type, type, strlen(type));
        if (fit <= best_fit) continue;
        best = &plugin->handlers[i];
        best_fit = fit;
    }
    return best;
}

static const char *type_of(const rv_run_inline *local)
{
    return local->type != NULL ? local->type : local->handler->type;
}

int64_t rv_run_inline_delay(const reeve_task *task, const reeve_backoff *backoff, unsigned attempt)
{
    if (task->outcome != REEVE_OUTCOME_RETRY && task->outcome != REEVE_OUTCOME_SNOOZE) return 0;
    return rv_backoff_choose(task->delay_ms, backoff, attempt, MIDDLE_OF_JITTER);
}

/* The task as Redis would hold it. */
static reeve_status write_envelope(rv_buf *ret, const rv_run_inline *local, rv_error *error)
{
    reeve_task_spec spec = local->spec;
    reeve_status status;

    spec.type = type_of(local);
    const reeve_size_limits *size_limits =
        local->host->size_limits != NULL ? local->host->size_limits : &rv_size_limits_default;
    status = rv_spec_check_under(&spec, size_limits, error);
    if (status != REEVE_OK) return status;
    rv_buf_adds(ret, "{\"at\":");
    rv_buf_addi(ret, local->enqueued_ms);
    rv_buf_addc(ret, ',');
    rv_spec_write_envelope(ret, &spec);
    return ret->failed ? rv_fail(error, REEVE_ENOMEM, "no memory for the task") : REEVE_OK;
}

static reeve_status prepare_task(reeve_task *task, const rv_run_inline *local, const rv_buf *text)
{
    rv_envelope envelope = {0};
    cJSON *options = NULL;

    (void)rv_envelope_read(&envelope, text->data, text->length); /* it was written here */
    if (!envelope.plain && rv_json_parse_object(&options, envelope.header, envelope.header_length) == REEVE_ENOMEM)
        return REEVE_ENOMEM;
    rv_task_begin(task);
    task->queue = local->spec.queue;
    task->id = local->spec.id;
    task->type = type_of(local);
    task->payload = envelope.payload;
    task->options = task->kept_options = options;
    task->attempt = local->attempt;
    task->crashes = local->crashes;
    task->enqueued_ms = local->enqueued_ms;
    task->host = local->host;
    task->past = local->handler->at_most_once;
    return REEVE_OK;
}

/* One thread's life with the handler: set-up, the task, tear-down. Returns how long the handler ran. */
static int64_t run_with_hooks(reeve_task *task, const rv_run_inline *local, const reeve_layer *const *layers)
{
    const reeve_handler *handler = local->handler;
    int64_t began, elapsed;
    int failure = 0;

    if (handler->thread_start != NULL) failure = handler->thread_start(handler->user, &task->thread_state);
    if (failure != 0) {
        rv_task_failed(task, REEVE_OUTCOME_RETRY, "setup", "the set-up hook of \"%s\" failed (it returned %d)",
                       handler->type, failure);
        return 0;
    }
    if (local->plugin != NULL) (void)rv_plugin_gate_enter(local->plugin, NULL, NULL);
    began = rv_now_us();
    (void)rv_layers_run(layers, task, handler); /* the outcome is in the task */
    elapsed = rv_now_us() - began;
    if (local->plugin != NULL) rv_plugin_gate_leave(local->plugin);
    if (handler->thread_stop != NULL) handler->thread_stop(handler->user, task->thread_state);
    return elapsed;
}

/* What lies in memory that goes now is no more a part of the task. */
static void let_go(reeve_task *task)
{
    task->payload = (reeve_bytes){NULL, 0};
    task->host = NULL;
}

reeve_status rv_run_inline_call(const rv_run_inline *local, reeve_task *task, int64_t *ret_elapsed_us, rv_error *error)
{
    const reeve_layer **layers = NULL;
    rv_buf text;
    reeve_status status;

    rv_buf_init(&text, SIZE_MAX);
    status = write_envelope(&text, local, error);
    if (status != REEVE_OK) goto out;
    if (!rv_layers_choose(&layers, &local->layers, local->handler->type, local->handler->run_batch != NULL)) {
        status = rv_fail(error, REEVE_ENOMEM, "no memory for the layers");
        goto out;
    }
    status = prepare_task(task, local, &text);
    if (status != REEVE_OK) {
        (void)rv_fail(error, status, "no memory for the task");
        goto out;
    }
    *ret_elapsed_us = run_with_hooks(task, local, layers);
    let_go(task);

out:
    rv_free(layers);
    rv_buf_fini(&text);
    return status;
}

/* ---- a plugin's ------------------------------------------------------------------------------------------------ */

/* Fills in what the options leave out; id has room for a new one. */
static void fill_in(reeve_run_options *ret, char id[RV_UUID_LENGTH + 1])
{
    if (ret->queue == NULL) ret->queue = "local";
    if (ret->attempt == 0) ret->attempt = 1;
    if (ret->id != NULL) return;
    rv_uuid7(id);
    ret->id = id;
}

static reeve_status tell_progress(reeve_task *task, int percent, const char *words, void *context)
{
    const reeve_run_options *options = context;

    (void)task;
    if (options->progress != NULL) options->progress(percent, words, options->user);
    return REEVE_OK;
}

static void make_report(reeve_run_report *ret, reeve_task *task, const rv_run_inline *local, int64_t elapsed_us)
{
    memset(ret, 0, sizeof(*ret));
    ret->outcome = task->outcome;
    ret->elapsed_us = elapsed_us;
    ret->delay_ms = rv_run_inline_delay(task, &local->handler->backoff, local->attempt);
    memcpy(ret->kind, task->kind, sizeof(ret->kind));
    memcpy(ret->message, task->message, sizeof(ret->message));
    if (task->result.length > 0) {
        ret->result = (reeve_bytes){task->result.data, task->result.length};
        rv_buf_init(&task->result, REEVE_RESULT_MAX); /* the report owns the memory now */
    }
}

reeve_status reeve_plugin_run_sized(reeve_plugin_handle *plugin, const char *type, const reeve_run_options *given,
                                    reeve_run_report *ret, size_t options_size)
{
    char id[RV_UUID_LENGTH + 1];
    reeve_run_options full;
    rv_task_host host = {.progress = tell_progress, .context = &full};
    rv_run_inline local = {.plugin = plugin, .host = &host, .enqueued_ms = rv_wall_ms()};
    host.layers = &local.layers;
    rv_error error;
    reeve_task task;
    int64_t elapsed_us;
    reeve_status status;

    if (type == NULL) return REEVE_EINVAL;
    local.handler = rv_run_inline_find(&plugin->plugin, type);
    local.type = type;
    if (local.handler == NULL) return REEVE_ENOTFOUND;
    status = RV_LAYOUT_READ(&full, given, options_size, "the options", &error);
    if (status != REEVE_OK) return status;
    fill_in(&full, id);
    local.layers = (rv_layers){plugin->layers, plugin->plugin.layer_count};
    local.spec = (reeve_task_spec){.queue = full.queue, .id = full.id, .payload = full.payload};
    local.attempt = full.attempt;
    rv_task_init(&task);
    status = rv_run_inline_call(&local, &task, &elapsed_us, &error);
    if (status == REEVE_OK) make_report(ret, &task, &local, elapsed_us);
    rv_task_fini(&task);
    return status;
}

void reeve_run_report_fini(reeve_run_report *report)
{
    if (report == NULL) return;
    rv_free((void *)report->result.data);
    report->result = (reeve_bytes){NULL, 0};
}
