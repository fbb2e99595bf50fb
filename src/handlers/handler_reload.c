#include "handlers/handler_reload.h"

#include <string.h>

#include "base/mem.h"
#include "handlers/plugin_option.h"

/* ---- plugins --------------------------------------------------------------------------------------------------- */

/* The place of a plugin in a set. */
static size_t place_of(const rv_handler_set *set, const reeve_plugin_handle *plugin)
{
    size_t i = 0;
    while (i < set->plugin_count && set->plugins[i] != plugin) i++;
    return i;
}

static const char *version_of(const reeve_plugin_handle *plugin)
{
    return plugin->plugin.version != NULL ? plugin->plugin.version : "no version";
}

static void close_all(reeve_plugin_handle **plugins, size_t count)
{
    for (size_t i = 0; i < count; i++) reeve_plugin_close(plugins[i]);
    rv_free(plugins);
}

/* With the options that it has: a new version of the file is not to fall back to its defaults. */
static reeve_status open_again(reeve_plugin_handle **ret, const reeve_plugin_handle *old, rv_error *error)
{
    reeve_option_value values[REEVE_OPTIONS_MAX];
    size_t bad, count = rv_plugin_option_given(old->options, values);
    return rv_plugin_open_copy(ret, old->path, NULL, values, count, &bad, error);
}

/* All plugins of the set, opened again: *ret_changed if one of them is another version. */
static reeve_status open_all(reeve_plugin_handle ***ret, const rv_handler_set *present, bool *ret_changed,
                             rv_buf *words, rv_error *error)
{
    reeve_plugin_handle **plugins = rv_zalloc_array(present->plugin_count + 1, sizeof(*plugins));
    if (plugins == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for plugins");
    for (size_t i = 0; i < present->plugin_count; i++) {
        const reeve_plugin_handle *old = present->plugins[i];
        reeve_status status = open_again(&plugins[i], old, error);
        if (status != REEVE_OK) {
            close_all(plugins, i);
            return status;
        }
        if (plugins[i] == old) continue;
        *ret_changed = true;
        rv_buf_addf(words, "%splugins.%s.version: %s -> %s", words->length > 0 ? "; " : "", plugins[i]->plugin.name,
                    version_of(old), version_of(plugins[i]));
    }
    *ret = plugins;
    return REEVE_OK;
}

/* ---- making ---------------------------------------------------------------------------------------------------- */

/* The set owns the plugin on success, and does so already if it has it. */
static reeve_status add_plugin(rv_handler_set *set, reeve_plugin_handle *plugin, rv_error *error)
{
    if (place_of(set, plugin) < set->plugin_count) return REEVE_OK;
    size_t before = set->plugin_count;
    (void)rv_plugin_hold(plugin);
    reeve_status status = rv_handler_set_add_plugin(set, plugin, error);
    if (set->plugin_count == before) reeve_plugin_close(plugin);
    return status;
}

/* Layers keep their order; those of a plugin follow each other. */
static reeve_status add_layers(rv_handler_set *set, const rv_handler_set *present, reeve_plugin_handle **fresh,
                               rv_error *error)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < present->layers.count && status == REEVE_OK; i++) {
        const reeve_plugin_handle *owner = present->layer_plugins[i];
        if (owner != NULL) {
            status = add_plugin(set, fresh[place_of(present, owner)], error);
            continue;
        }
        reeve_layer layer = present->layers.list[i];
        layer.free_user = NULL; /* until the set takes the place of the present one */
        status = rv_layers_add(&set->layers, &layer, error);
    }
    return status;
}

static reeve_status add_handlers(rv_handler_set *set, const rv_handler_set *present, rv_error *error)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < present->handlers.count && status == REEVE_OK; i++) {
        const rv_handler *entry = present->handlers.list[i];
        if (entry->plugin != NULL) continue;
        reeve_handler handler = entry->handler;
        handler.free_user = NULL;
        status = rv_handler_table_add(&set->handlers, &handler, NULL, error);
    }
    return status;
}

static reeve_status fill(rv_handler_set *set, const rv_handler_set *present, reeve_plugin_handle **fresh,
                         rv_error *error)
{
    reeve_status status = add_layers(set, present, fresh, error);
    for (size_t i = 0; i < present->plugin_count && status == REEVE_OK; i++) status = add_plugin(set, fresh[i], error);
    if (status == REEVE_OK) status = add_handlers(set, present, error);
    return status == REEVE_OK ? rv_handler_set_copy_policies(set, present, error) : status;
}

reeve_status rv_handler_reload_make(rv_handler_set **ret, const rv_handler_set *present, rv_buf *words, rv_error *error)
{
    reeve_plugin_handle **fresh = NULL;
    bool changed = false;
    *ret = NULL;
    reeve_status status = open_all(&fresh, present, &changed, words, error);
    if (status != REEVE_OK) return status;
    rv_handler_set *set = changed ? rv_handler_set_new() : NULL;
    if (changed)
        status =
            set != NULL ? fill(set, present, fresh, error) : rv_fail(error, REEVE_ENOMEM, "no memory for handlers");
    close_all(fresh, present->plugin_count); /* the set holds them */
    if (status == REEVE_OK)
        *ret = set;
    else
        rv_handler_set_free(set);
    return status;
}

/* ---- taking over ----------------------------------------------------------------------------------------------- */

void rv_handler_reload_take_over(rv_handler_set *fresh, rv_handler_set *present)
{
    for (size_t i = 0; i < present->handlers.count; i++) {
        rv_handler *old = present->handlers.list[i];
        if (old->handler.free_user == NULL) continue;
        rv_handler_table_find_own(&fresh->handlers, old->handler.type)->handler.free_user = old->handler.free_user;
        old->handler.free_user = NULL;
    }
    /* The program's own layers are the same ones in the same order; those of plugins may be more or fewer. */
    for (size_t i = 0, j = 0; i < present->layers.count; i++) {
        if (present->layer_plugins[i] != NULL) continue;
        while (fresh->layer_plugins[j] != NULL) j++;
        fresh->layers.list[j++].free_user = present->layers.list[i].free_user;
        present->layers.list[i].free_user = NULL;
    }
}
