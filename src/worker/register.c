/*
 * register.c - handlers and plugins come into a worker, before it starts.
 */
#include <string.h>

#include "base/backoff.h"
#include "base/layout.h"
#include "base/mem.h"
#include "handlers/handler_check.h"
#include "running/worker_state.h"

static reeve_status check_not_started(reeve_worker *worker)
{
    if (rv_worker_phase(worker) == RV_PHASE_CREATED) return REEVE_OK;
    return rv_fail(&worker->error, REEVE_ESTATE, "the worker has started: handlers and layers are registered before");
}

reeve_status reeve_worker_register_sized(reeve_worker *worker, const reeve_handler *given, size_t handler_size)
{
    reeve_handler handler;
    if (worker == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check_not_started(worker);
    if (status == REEVE_OK) status = RV_LAYOUT_READ(&handler, given, handler_size, "the handler", &worker->error);
    return status == REEVE_OK ? rv_handler_table_add(&worker->handlers, &handler, NULL, &worker->error) : status;
}

reeve_status reeve_worker_handle(reeve_worker *worker, const char *type, reeve_handler_fn run, void *user)
{
    reeve_handler handler = {.size = sizeof(handler), .type = type, .run = run, .user = user};
    return reeve_worker_register(worker, &handler);
}

reeve_status reeve_worker_add_layer_sized(reeve_worker *worker, const reeve_layer *given, size_t layer_size)
{
    reeve_layer layer;
    if (worker == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check_not_started(worker);
    if (status == REEVE_OK) status = RV_LAYOUT_READ(&layer, given, layer_size, "the layer", &worker->error);
    return status == REEVE_OK ? rv_layers_add(&worker->layers, &layer, &worker->error) : status;
}

/* All of a plugin's types, or none. */
static reeve_status check_types(reeve_worker *worker, const reeve_plugin_handle *plugin)
{
    for (size_t i = 0; i < plugin->plugin.handler_count; i++) {
        const char *type = plugin->handlers[i].type;
        const rv_handler *other = rv_handler_table_find_own(&worker->handlers, type);
        if (other == NULL) continue;
        return rv_fail(&worker->error, REEVE_EDUPLICATE, "plugin %s: type %s has a handler already (%s)", plugin->path,
                       type, other->plugin != NULL ? other->plugin->path : "registered by the program");
    }
    return REEVE_OK;
}

static reeve_status check_room(reeve_worker *worker, const reeve_plugin_handle *plugin)
{
    if (worker->layers.count + plugin->plugin.layer_count <= REEVE_LAYERS_MAX) return REEVE_OK;
    return rv_fail(&worker->error, REEVE_EINVAL, "plugin %s: with its layers the worker would have %zu: at most %d",
                   plugin->path, worker->layers.count + plugin->plugin.layer_count, REEVE_LAYERS_MAX);
}

/* As with handlers: the layers that were added stay. */
static reeve_status add_layers(reeve_worker *worker, const reeve_plugin_handle *plugin)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < plugin->plugin.layer_count && status == REEVE_OK; i++) {
        reeve_layer layer = plugin->layers[i];
        layer.free_user = NULL;
        status = rv_layers_add(&worker->layers, &layer, &worker->error);
    }
    return status;
}

static reeve_status add_plugin(reeve_worker *worker, reeve_plugin_handle *plugin)
{
    reeve_status status = check_types(worker, plugin);
    if (status == REEVE_OK) status = check_room(worker, plugin);
    if (status != REEVE_OK) return status;
    reeve_plugin_handle **plugins = rv_realloc_array(worker->plugins, worker->plugin_count + 1, sizeof(*plugins));
    if (plugins == NULL) return rv_fail(&worker->error, REEVE_ENOMEM, "no memory for a plugin");
    worker->plugins = plugins;
    for (size_t i = 0; i < plugin->plugin.handler_count; i++) {
        reeve_handler handler = plugin->handlers[i];
        handler.free_user = NULL; /* the unload hook of a plugin frees its user data */
        status = rv_handler_table_add(&worker->handlers, &handler, plugin, &worker->error);
        /* Only memory can fail here. The handlers that were added stay, so the plugin must stay, too. */
        if (status != REEVE_OK && i == 0) return status;
        if (status != REEVE_OK) break;
    }
    worker->plugins[worker->plugin_count++] = plugin;
    return status == REEVE_OK ? add_layers(worker, plugin) : status;
}

reeve_status reeve_worker_load_plugin(reeve_worker *worker, const char *name_or_path)
{
    if (worker == NULL || name_or_path == NULL) return REEVE_EINVAL;
    reeve_status status = check_not_started(worker);
    if (status != REEVE_OK) return status;
    reeve_plugin_handle *plugin;
    worker->error.status =
        reeve_plugin_open(&plugin, name_or_path, worker->plugin_dir, worker->error.text, sizeof(worker->error.text));
    if (worker->error.status != REEVE_OK) return worker->error.status;
    size_t before = worker->plugin_count;
    status = add_plugin(worker, plugin);
    if (worker->plugin_count == before) reeve_plugin_close(plugin);
    return status;
}

static reeve_status set_policy(reeve_worker *worker, const reeve_handler_policy *policy)
{
    rv_handler *entry = rv_handler_table_find_own(&worker->handlers, policy->type);
    if (entry == NULL)
        return rv_fail(&worker->error, REEVE_ENOTFOUND, "no handler of type %.120s is registered", policy->type);
    if (policy->attempts < 0 || policy->max_crashes < 0 || policy->timeout_ms < 0 || policy->heartbeat_ms < 0 ||
        policy->retry_for_ms < 0 || policy->max_snoozes < 0) {
        return rv_fail(&worker->error, REEVE_EINVAL, "type %s: a limit is negative", policy->type);
    }
    rv_error why;
    reeve_handler merged = entry->handler;
    if (policy->batch_size > 0) merged.batch_size = policy->batch_size;
    if (policy->batch_wait_ms != 0) merged.batch_wait_ms = policy->batch_wait_ms;
    if (policy->attempts > 0) merged.attempts = policy->attempts;
    if (policy->max_crashes > 0) merged.max_crashes = policy->max_crashes;
    if (rv_handler_check(&merged, "it", &why) != REEVE_OK)
        return rv_fail(&worker->error, REEVE_EINVAL, "type %s: %s", policy->type, why.text);
    if (rv_backoff_check(policy->backoff, &why) != REEVE_OK)
        return rv_fail(&worker->error, REEVE_EINVAL, "type %s: %s", policy->type, why.text);
    if (policy->attempts > 0) entry->handler.attempts = policy->attempts;
    if (policy->max_crashes > 0) entry->handler.max_crashes = policy->max_crashes;
    if (policy->timeout_ms > 0) entry->handler.timeout_ms = policy->timeout_ms;
    if (policy->heartbeat_ms > 0) entry->handler.heartbeat_ms = policy->heartbeat_ms;
    if (policy->retry_for_ms > 0) entry->handler.retry_for_ms = policy->retry_for_ms;
    if (policy->max_snoozes > 0) entry->handler.max_snoozes = policy->max_snoozes;
    if (policy->at_most_once) entry->handler.at_most_once = true;
    if (policy->backoff != NULL) entry->handler.backoff = *policy->backoff;
    entry->handler.batch_size = merged.batch_size;
    entry->handler.batch_wait_ms = merged.batch_wait_ms;
    return REEVE_OK;
}

reeve_status reeve_worker_set_policy_sized(reeve_worker *worker, const reeve_handler_policy *given, size_t policy_size)
{
    reeve_handler_policy policy;
    if (worker == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check_not_started(worker);
    if (status == REEVE_OK) status = RV_LAYOUT_READ(&policy, given, policy_size, "the policy", &worker->error);
    if (status != REEVE_OK) return status;
    return policy.type != NULL ? set_policy(worker, &policy) : REEVE_EINVAL;
}
