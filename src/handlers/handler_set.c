#include "handlers/handler_set.h"

#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "handlers/handler_check.h"

typedef struct rv_set_policy {
    reeve_handler_policy policy; /* its type is its own, and its backoff is: */
    reeve_backoff backoff;
} rv_set_policy;

rv_handler_set *rv_handler_set_new(void)
{
    return rv_zalloc(sizeof(rv_handler_set));
}

void rv_handler_set_free(rv_handler_set *set)
{
    if (set == NULL) return;
    rv_handler_table_fini(&set->handlers);
    rv_layers_fini(&set->layers);
    for (size_t i = 0; i < set->plugin_count; i++) reeve_plugin_close(set->plugins[i]);
    for (size_t i = 0; i < set->policy_count; i++) rv_free((void *)set->policies[i].policy.type);
    rv_free(set->policies);
    rv_free(set->plugins);
    rv_free(set);
}

/* ---- plugins --------------------------------------------------------------------------------------------------- */

/* All of a plugin's types, or none. */
static reeve_status check_types(const rv_handler_set *set, const reeve_plugin_handle *plugin, rv_error *error)
{
    for (size_t i = 0; i < plugin->plugin.handler_count; i++) {
        const char *type = plugin->handlers[i].type;
        const rv_handler *other = rv_handler_table_find_own(&set->handlers, type);
        if (other == NULL) continue;
        return rv_fail(error, REEVE_EDUPLICATE, "plugin %s: type %s has a handler already (%s)", plugin->path, type,
                       other->plugin != NULL ? other->plugin->path : "registered by the program");
    }
    return REEVE_OK;
}

static reeve_status check_room(const rv_handler_set *set, const reeve_plugin_handle *plugin, rv_error *error)
{
    if (set->layers.count + plugin->plugin.layer_count <= REEVE_LAYERS_MAX) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "plugin %s: with its layers the worker would have %zu: at most %d",
                   plugin->path, set->layers.count + plugin->plugin.layer_count, REEVE_LAYERS_MAX);
}

/* As with handlers: the layers that were added stay. */
static reeve_status add_layers(rv_handler_set *set, const reeve_plugin_handle *plugin, rv_error *error)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < plugin->plugin.layer_count && status == REEVE_OK; i++) {
        reeve_layer layer = plugin->layers[i];
        layer.free_user = NULL;
        status = rv_layers_add(&set->layers, &layer, error);
        if (status == REEVE_OK) set->layer_plugins[set->layers.count - 1] = plugin;
    }
    return status;
}

reeve_status rv_handler_set_add_plugin(rv_handler_set *set, reeve_plugin_handle *plugin, rv_error *error)
{
    reeve_status status = check_types(set, plugin, error);
    if (status == REEVE_OK) status = check_room(set, plugin, error);
    if (status != REEVE_OK) return status;
    reeve_plugin_handle **plugins = rv_realloc_array(set->plugins, set->plugin_count + 1, sizeof(*plugins));
    if (plugins == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a plugin");
    set->plugins = plugins;
    for (size_t i = 0; i < plugin->plugin.handler_count; i++) {
        reeve_handler handler = plugin->handlers[i];
        handler.free_user = NULL; /* the unload hook of a plugin frees its user data */
        status = rv_handler_table_add(&set->handlers, &handler, plugin, error);
        /* Only memory can fail here. The handlers that were added stay, so the plugin must stay, too. */
        if (status != REEVE_OK && i == 0) return status;
        if (status != REEVE_OK) break;
    }
    set->plugins[set->plugin_count++] = plugin;
    return status == REEVE_OK ? add_layers(set, plugin, error) : status;
}

/* ---- policies -------------------------------------------------------------------------------------------------- */

/* Everything is checked before the first change. */
static reeve_status check_policy(const rv_handler *entry, const reeve_handler_policy *policy, reeve_handler *ret_merged,
                                 rv_error *error)
{
    rv_error why;
    if (policy->attempts < 0 || policy->max_crashes < 0 || policy->timeout_ms < 0 || policy->heartbeat_ms < 0 ||
        policy->retry_for_ms < 0 || policy->max_snoozes < 0)
        return rv_fail(error, REEVE_EINVAL, "type %s: a limit is negative", policy->type);
    *ret_merged = entry->handler;
    if (policy->batch_size > 0) ret_merged->batch_size = policy->batch_size;
    if (policy->batch_wait_ms != 0) ret_merged->batch_wait_ms = policy->batch_wait_ms;
    if (policy->attempts > 0) ret_merged->attempts = policy->attempts;
    if (policy->max_crashes > 0) ret_merged->max_crashes = policy->max_crashes;
    if (rv_handler_check(ret_merged, "it", &why) != REEVE_OK)
        return rv_fail(error, REEVE_EINVAL, "type %s: %s", policy->type, why.text);
    if (rv_backoff_check(policy->backoff, &why) != REEVE_OK)
        return rv_fail(error, REEVE_EINVAL, "type %s: %s", policy->type, why.text);
    return REEVE_OK;
}

/* For a set that is made from this one. */
static reeve_status keep_policy(rv_handler_set *set, const reeve_handler_policy *policy, rv_error *error)
{
    rv_set_policy *policies = rv_realloc_array(set->policies, set->policy_count + 1, sizeof(*policies));
    if (policies == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a policy");
    set->policies = policies;
    rv_set_policy *kept = &policies[set->policy_count];
    *kept = (rv_set_policy){.policy = *policy};
    if (policy->backoff != NULL) kept->backoff = *policy->backoff;
    kept->policy.type = rv_strdup(policy->type);
    if (kept->policy.type == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a policy");
    set->policy_count++;
    return REEVE_OK;
}

reeve_status rv_handler_set_policy(rv_handler_set *set, const reeve_handler_policy *policy, rv_error *error)
{
    reeve_handler merged;
    rv_handler *entry = rv_handler_table_find_own(&set->handlers, policy->type);
    if (entry == NULL) return rv_fail(error, REEVE_ENOTFOUND, "no handler of type %.120s is registered", policy->type);
    reeve_status status = check_policy(entry, policy, &merged, error);
    if (status == REEVE_OK) status = keep_policy(set, policy, error);
    if (status != REEVE_OK) return status;
    if (policy->timeout_ms > 0) merged.timeout_ms = policy->timeout_ms;
    if (policy->heartbeat_ms > 0) merged.heartbeat_ms = policy->heartbeat_ms;
    if (policy->retry_for_ms > 0) merged.retry_for_ms = policy->retry_for_ms;
    if (policy->max_snoozes > 0) merged.max_snoozes = policy->max_snoozes;
    if (policy->at_most_once) merged.at_most_once = true;
    if (policy->backoff != NULL) merged.backoff = *policy->backoff;
    entry->handler = merged;
    return REEVE_OK;
}

reeve_status rv_handler_set_copy_policies(rv_handler_set *set, const rv_handler_set *from, rv_error *error)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < from->policy_count && status == REEVE_OK; i++) {
        reeve_handler_policy policy = from->policies[i].policy;
        if (policy.backoff != NULL) policy.backoff = &from->policies[i].backoff;
        bool has_type = rv_handler_table_find_own(&set->handlers, policy.type) != NULL;
        status = has_type ? rv_handler_set_policy(set, &policy, error) : keep_policy(set, &policy, error);
    }
    return status;
}

reeve_status rv_handler_set_wrap(rv_handler_set *set, rv_error *error)
{
    return rv_handler_table_wrap(&set->handlers, &set->layers, error);
}
