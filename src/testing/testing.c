/*
 * testing.c - a handler under test (reeve/testing.h): from the test's options to a run (test_run.h), and to its report.
 */
#include "reeve/testing.h"

#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/layout.h"
#include "base/mem.h"
#include "handlers/handler_check.h"
#include "handlers/waiting.h"
#include "testing/run_inline.h"
#include "testing/test_run.h"

/* The structs' sizes that the test was compiled with. */
typedef struct test_sizes {
    size_t handler, options, layer;
} test_sizes;

static reeve_status read_options(rv_test_run *r, const reeve_test_options *given, const test_sizes *sizes,
                                 rv_error *error)
{
    reeve_test_options *ours = &r->options;
    reeve_status status = RV_LAYOUT_READ(ours, given, sizes->options, "the test's options", error);

    if (status != REEVE_OK) return status;
    r->layer_size = sizes->layer;
    if (ours->layers != NULL && ours->layer_count > 0) r->layer_size = rv_layout_size(ours->layers, sizes->layer);
    if (ours->queue == NULL) ours->queue = "test";
    if (ours->id == NULL) ours->id = "task";
    if (ours->attempt == 0) ours->attempt = 1;
    return REEVE_OK;
}

static void describe_task(rv_run_inline *local, const rv_test_run *r)
{
    const reeve_test_options *o = &r->options;

    local->spec = (reeve_task_spec){
        .queue = o->queue,
        .id = o->id,
        .payload = o->payload,
        .group = o->group,
        .meta = o->meta,
        .meta_count = o->meta_count,
        .attempts = o->attempts,
        .timeout_ms = o->timeout_ms,
        .heartbeat_ms = o->heartbeat_ms,
        .retry_for_ms = o->retry_for_ms,
        .backoff = o->backoff,
    };
    local->attempt = o->attempt;
    local->crashes = o->crashes;
    local->enqueued_ms = o->enqueued_ms != 0 ? o->enqueued_ms : r->report->is.began_ms;
}

/* The test's layers, and those of the plugin inside. The list is freed by rv_free. */
static reeve_status gather_layers(rv_run_inline *local, const rv_test_run *r, rv_error *error)
{
    const reeve_test_options *options = &r->options;
    size_t own = options->layers != NULL ? options->layer_count : 0;
    size_t plugins = local->plugin != NULL ? local->plugin->plugin.layer_count : 0;
    reeve_layer *list;

    if (own + plugins == 0) return REEVE_OK;
    if (own > REEVE_LAYERS_MAX) return rv_fail(error, REEVE_EINVAL, "%zu layers: at most %d", own, REEVE_LAYERS_MAX);
    list = rv_zalloc_array(own + plugins, sizeof(*list));
    if (list == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the layers");
    for (size_t i = 0; i < own; i++) {
        const char *theirs = (const char *)options->layers + i * r->layer_size;
        reeve_status status = RV_LAYOUT_READ(&list[i], theirs, r->layer_size, "the layer", error);
        if (status == REEVE_OK) status = rv_layers_check(&list[i], "", error);
        if (status == REEVE_OK) continue;
        rv_free(list);
        return status;
    }
    for (size_t i = 0; i < plugins; i++) list[own + i] = local->plugin->layers[i];
    local->layers = (rv_layers){list, own + plugins};
    return REEVE_OK;
}

static int64_t time_limit(const rv_test_run *r, const reeve_handler *handler)
{
    int64_t max = r->options.timeout_ms > 0 ? r->options.timeout_ms : handler->timeout_ms;

    if (max <= 0 || max > RV_FOREVER - r->report->is.began_ms) return RV_FOREVER;
    return r->report->is.began_ms + max;
}

/* What the worker makes of a task that is not done in time, or silent. */
static void time_out(rv_test_run *r, rv_test_run_limit passed)
{
    rv_test_run_report *to = r->report;

    to->is.late = true;
    if (passed == RV_TEST_RUN_SILENT) {
        (void)rv_task_failed(&to->task, REEVE_OUTCOME_RETRY, "silent", "silent for %lld ms", (long long)r->silence_ms);
    } else {
        (void)rv_task_failed(&to->task, REEVE_OUTCOME_RETRY, "timeout", "not done within %lld ms",
                             (long long)(r->until_ms - to->is.began_ms));
    }
}

/* A task that runs at most once is completed before it runs. */
static bool is_dead(const reeve_test_report *is, const reeve_test_options *o, const reeve_handler *handler)
{
    int64_t retry_for_ms = o->retry_for_ms > 0 ? o->retry_for_ms : handler->retry_for_ms;
    int64_t enqueued_ms = o->enqueued_ms != 0 ? o->enqueued_ms : is->began_ms;
    bool late = retry_for_ms > 0 && is->ended_ms - enqueued_ms >= retry_for_ms;
    int attempts = o->attempts > 0 ? o->attempts : handler->attempts;
    unsigned max = attempts > 0 ? (unsigned)attempts : RV_MAX_ATTEMPTS;

    if (is->cancelled || handler->at_most_once) return false;
    return is->outcome == REEVE_OUTCOME_FAIL || (is->outcome == REEVE_OUTCOME_RETRY && (late || o->attempt >= max));
}

static void make_report(rv_test_run *r, const reeve_handler *handler)
{
    const reeve_test_options *o = &r->options;
    rv_test_run_report *to = r->report;
    rv_test_run_limit passed = rv_test_run_passed(r);

    to->is.ended_ms = rv_test_run_now(r);
    if (passed != RV_TEST_RUN_WITHIN) time_out(r, passed);
    to->is.outcome = to->task.outcome;
    to->is.cancelled = to->is.outcome == REEVE_OUTCOME_CANCEL || to->is.outcome == REEVE_OUTCOME_DISCARD ||
                       (to->is.outcome != REEVE_OUTCOME_DONE && atomic_load(&r->cancelled));
    to->is.dead = is_dead(&to->is, o, handler);
    to->is.delay_ms = rv_run_inline_delay(&to->task, o->backoff != NULL ? o->backoff : &handler->backoff, o->attempt);
    to->is.kind = to->task.kind;
    to->is.message = to->task.message;
    reeve_bytes waits_for = rv_waiting_parents(&to->task);
    if (waits_for.length == 0) to->is.result = (reeve_bytes){rv_buf_text(&to->task.result), to->task.result.length};
    to->is.waits_for = waits_for.length > 0 ? waits_for.data : "";
    to->is.progress = to->progress;
    to->is.log = to->log;
    to->is.checkpoint = (reeve_bytes){rv_buf_text(&to->checkpoint), to->checkpoint.length};
    to->is.pauses = to->pauses;
    to->is.chained = to->chained;
    bool chains = to->is.outcome == REEVE_OUTCOME_DONE || waits_for.length > 0;
    to->is.chained_count = chains ? to->chained_count : 0;
}

static reeve_status run_handler(rv_test_run *r, rv_run_inline *local, rv_error *error)
{
    const reeve_test_options *o = &r->options;
    rv_task_host host = rv_test_run_host(r);
    reeve_size_limits size_limits;
    reeve_status status = rv_size_limits_choose(&size_limits, &o->size_limits, error);

    if (status != REEVE_OK) return status;
    host.size_limits = &size_limits;
    host.layers = &local->layers;
    rv_test_run_begin(r);
    r->until_ms = time_limit(r, local->handler);
    r->silence_ms = o->heartbeat_ms > 0 ? o->heartbeat_ms : local->handler->heartbeat_ms;
    local->host = &host;
    if (o->checkpoint.length > 0) rv_test_run_keep_checkpoint(r->report, o->checkpoint);
    describe_task(local, r);
    status = gather_layers(local, r, error);
    if (status == REEVE_OK) status = rv_run_inline_call(local, &r->report->task, &r->report->is.elapsed_us, error);
    rv_free(local->layers.list);
    if (status == REEVE_OK) make_report(r, local->handler);
    return status;
}

static rv_test_run_report *new_report(void)
{
    rv_test_run_report *made = rv_zalloc(sizeof(*made));

    if (made == NULL) return NULL;
    rv_task_init(&made->task);
    rv_buf_init(&made->checkpoint, REEVE_CHECKPOINT_MAX);
    made->is.kind = made->is.waits_for = made->is.message = made->is.result.data = made->is.checkpoint.data = "";
    return made;
}

static reeve_test_report *fail_report(rv_test_run_report *made, reeve_status status, const rv_error *error)
{
    if (status == REEVE_ENOMEM) {
        reeve_test_report_free(&made->is);
        return NULL;
    }
    made->is.status = status;
    memcpy(made->words, error->text, sizeof(made->words));
    made->is.message = made->words;
    return &made->is;
}

static reeve_status choose_handler(rv_run_inline *local, reeve_handler *ret, const reeve_handler *given, size_t size,
                                   const char *type, rv_error *error)
{
    if (given == NULL) return rv_fail(error, REEVE_EINVAL, "no function to run");
    reeve_status status = RV_LAYOUT_READ(ret, given, size, "the handler", error);
    if (status == REEVE_OK) status = rv_handler_check(ret, "the handler", error);
    if (status != REEVE_OK) return status;
    if (type == NULL) type = ret->type != NULL ? ret->type : "test";
    /* A pattern that fits stays: as in a worker, it chooses the layers with `run`. */
    if (ret->type == NULL || rv_type_fit(ret->type, type, strlen(type)) == 0) ret->type = type;
    local->handler = ret;
    local->type = type;
    return REEVE_OK;
}

reeve_test_report *reeve_test_run_sized(const reeve_handler *handler, const reeve_test_options *options,
                                        size_t handler_size, size_t options_size, size_t layer_size)
{
    const test_sizes sizes = {handler_size, options_size, layer_size};
    rv_test_run r = {.report = new_report()};
    reeve_handler own = {0};
    rv_run_inline local = {0};
    rv_error error = {0};
    reeve_status status;

    if (r.report == NULL) return NULL;
    status = read_options(&r, options, &sizes, &error);
    if (status == REEVE_OK) status = choose_handler(&local, &own, handler, sizes.handler, r.options.type, &error);
    if (status == REEVE_OK) status = run_handler(&r, &local, &error);
    return status == REEVE_OK ? &r.report->is : fail_report(r.report, status, &error);
}

static reeve_status choose_of_plugin(rv_run_inline *local, const char *type, rv_error *error)
{
    if (local->plugin == NULL) return rv_fail(error, REEVE_EINVAL, "no plugin was given");
    const reeve_plugin *plugin = &local->plugin->plugin;

    if (type == NULL && plugin->handler_count == 1) type = plugin->handlers[0].type;
    if (type == NULL)
        return rv_fail(error, REEVE_EINVAL, "the plugin %s has %zu types: say which", plugin->name,
                       plugin->handler_count);
    local->handler = rv_run_inline_find(plugin, type);
    local->type = type;
    if (local->handler != NULL) return REEVE_OK;
    return rv_fail(error, REEVE_ENOTFOUND, "the plugin %s has no type \"%.120s\"", plugin->name, type);
}

reeve_test_report *reeve_test_run_plugin_sized(reeve_plugin_handle *plugin, const reeve_test_options *options,
                                               size_t options_size, size_t layer_size)
{
    const test_sizes sizes = {.options = options_size, .layer = layer_size};
    rv_test_run r = {.report = new_report()};
    rv_run_inline local = {.plugin = plugin};
    rv_error error = {0};
    reeve_status status;

    if (r.report == NULL) return NULL;
    status = read_options(&r, options, &sizes, &error);
    if (status == REEVE_OK) status = choose_of_plugin(&local, r.options.type, &error);
    if (status == REEVE_OK) status = run_handler(&r, &local, &error);
    return status == REEVE_OK ? &r.report->is : fail_report(r.report, status, &error);
}

reeve_test_report *rv_testing_run(const rv_test_attempt *attempt)
{
    const test_sizes sizes = {sizeof(reeve_handler), sizeof(reeve_test_options), sizeof(reeve_layer)};
    rv_test_run r = {.report = new_report(), .chain = attempt->chain, .chain_context = attempt->chain_context};
    reeve_handler own = {0};
    rv_run_inline local = {.plugin = attempt->plugin};
    rv_error error = {0};
    reeve_status status;

    if (r.report == NULL) return NULL;
    status = read_options(&r, &attempt->options, &sizes, &error);
    if (status == REEVE_OK)
        status = attempt->handler != NULL
                     ? choose_handler(&local, &own, attempt->handler, sizes.handler, r.options.type, &error)
                     : choose_of_plugin(&local, r.options.type, &error);
    if (status == REEVE_OK) status = run_handler(&r, &local, &error);
    return status == REEVE_OK ? &r.report->is : fail_report(r.report, status, &error);
}

void reeve_test_report_free(reeve_test_report *given)
{
    rv_test_run_report *made = (rv_test_run_report *)given; /* it begins with what the test sees */

    if (made == NULL) return;
    rv_test_run_forget(made);
    rv_task_fini(&made->task);
    rv_free(made);
}
