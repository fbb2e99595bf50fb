/*
 * register.c - handlers and plugins come into a worker, before it starts.
 */
#include "base/layout.h"
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
    return status == REEVE_OK ? rv_handler_table_add(&worker->set->handlers, &handler, NULL, &worker->error) : status;
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
    return status == REEVE_OK ? rv_layers_add(&worker->set->layers, &layer, &worker->error) : status;
}

reeve_status reeve_worker_load_plugin(reeve_worker *worker, const char *name_or_path)
{
    if (worker == NULL || name_or_path == NULL) return REEVE_EINVAL;
    reeve_status status = check_not_started(worker);
    if (status != REEVE_OK) return status;
    reeve_plugin_handle *plugin;
    size_t bad;
    /* A copy, so that a file which is replaced can be loaded beside it (reeve_worker_reload). */
    status = rv_plugin_open_copy(&plugin, name_or_path, worker->plugin_dir, NULL, 0, &bad, &worker->error);
    if (status != REEVE_OK) return status;
    size_t before = worker->set->plugin_count;
    status = rv_handler_set_add_plugin(worker->set, plugin, &worker->error);
    if (worker->set->plugin_count == before) reeve_plugin_close(plugin);
    return status;
}

reeve_status reeve_worker_set_policy_sized(reeve_worker *worker, const reeve_handler_policy *given, size_t policy_size)
{
    reeve_handler_policy policy;
    if (worker == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check_not_started(worker);
    if (status == REEVE_OK) status = RV_LAYOUT_READ(&policy, given, policy_size, "the policy", &worker->error);
    if (status != REEVE_OK) return status;
    return policy.type != NULL ? rv_handler_set_policy(worker->set, &policy, &worker->error) : REEVE_EINVAL;
}
