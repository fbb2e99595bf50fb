#include "replacement.h"

#include <stdio.h>
#include <string.h>

#include "config/config_compare.h"
#include "running/handler_change.h"
#include "setup.h"

/* ---- what differs ---------------------------------------------------------------------------------------------- */

static bool has_same_plugins(const host_plugins *one, const host_plugins *other)
{
    bool same = one->count == other->count;

    for (size_t i = 0; i < one->count && same; i++) same = one->handles[i] == other->handles[i];
    return same;
}

static bool has_same_handlers(const rv_config *one, const rv_config *other)
{
    bool same = one->handler_count == other->handler_count;

    for (size_t i = 0; i < one->handler_count && same; i++)
        same = rv_config_compare_is_same("handlers", &one->handlers[i], &other->handlers[i]);
    return same;
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

static reeve_status fill(rv_handler_set *set, const host_plugins *plugins, const rv_config *config, rv_error *error)
{
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < plugins->count && status == REEVE_OK; i++) {
        size_t before = set->plugin_count;
        reeve_plugin_handle *plugin = rv_plugin_hold(plugins->handles[i]);

        status = rv_handler_set_add_plugin(set, plugin, error);
        if (set->plugin_count == before) reeve_plugin_close(plugin);
    }
    for (size_t i = 0; i < config->handler_count && status == REEVE_OK; i++) {
        const reeve_handler_policy policy = host_handler_policy(&config->handlers[i]);

        status = rv_handler_set_policy(set, &policy, error);
    }
    return status;
}

bool host_replacement_make(host_replacement *ret, host_plugins *present, const rv_config *config,
                           const rv_config *fresh, rv_config_errors *errors)
{
    rv_error error = {0};

    *ret = (host_replacement){.present = present};
    if (!host_plugins_open(&ret->fresh, fresh, errors)) {
        rv_complain(errors, fresh->file, "out of memory");
        return false;
    }
    if (errors->count > 0) return false;
    if (has_same_plugins(present, &ret->fresh) && has_same_handlers(config, fresh)) return true;
    ret->set = rv_handler_set_new();
    if (ret->set == NULL) (void)rv_fail(&error, REEVE_ENOMEM, "out of memory");
    if (ret->set != NULL && fill(ret->set, &ret->fresh, fresh, &error) == REEVE_OK) return true;
    rv_complain(errors, fresh->file, "%s", error.text);
    return false;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

/* That of the same name, or NULL. */
static const reeve_plugin_handle *find(const host_plugins *plugins, const char *name)
{
    for (size_t i = 0; i < plugins->count; i++)
        if (strcmp(reeve_plugin_get(plugins->handles[i])->name, name) == 0) return plugins->handles[i];
    return NULL;
}

#define DESCRIBED_SIZE 300

/* NULL: no plugin */
static const char *describe(char ret[DESCRIBED_SIZE], const reeve_plugin_handle *plugin)
{
    if (plugin == NULL) return "absent";
    const char *version = reeve_plugin_get(plugin)->version;

    (void)snprintf(ret, DESCRIBED_SIZE, "%.60s (%.200s)", version != NULL ? version : "no version",
                   reeve_plugin_path(plugin));
    return ret;
}

void host_replacement_each(const host_replacement *replacement,
                           void (*take)(const char *name, const char *from, const char *to, void *context),
                           void *context)
{
    const host_plugins *present = replacement->present, *fresh = &replacement->fresh;
    char from[DESCRIBED_SIZE], to[DESCRIBED_SIZE];

    for (size_t i = 0; i < fresh->count; i++) {
        const reeve_plugin_handle *plugin = fresh->handles[i];
        const char *name = reeve_plugin_get(plugin)->name;
        const reeve_plugin_handle *before = find(present, name);

        if (before != plugin) take(name, describe(from, before), describe(to, plugin), context);
    }
    /* A file can have a plugin of another name than before. */
    for (size_t i = 0; i < present->count; i++) {
        const char *name = reeve_plugin_get(present->handles[i])->name;

        if (find(fresh, name) == NULL) take(name, describe(from, present->handles[i]), describe(to, NULL), context);
    }
}

/* ---- putting in place ------------------------------------------------------------------------------------------ */

reeve_status host_replacement_apply(host_replacement *replacement, reeve_worker *worker, rv_error *error)
{
    if (replacement->set == NULL) return REEVE_OK;
    reeve_status status = rv_handler_change_replace(worker, replacement->set, error);
    if (status != REEVE_OK) return status;
    host_plugins before = *replacement->present;

    *replacement->present = replacement->fresh;
    replacement->fresh = before;
    replacement->set = NULL;
    return REEVE_OK;
}

void host_replacement_fini(host_replacement *replacement)
{
    rv_handler_set_free(replacement->set);
    replacement->set = NULL;
    host_plugins_close(&replacement->fresh);
}
