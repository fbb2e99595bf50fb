#include "plugins.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "log_writer.h"

static const reeve_handler *find_handler(const reeve_plugin *plugin, const char *type)
{
    for (size_t i = 0; plugin != NULL && i < plugin->handler_count; i++) {
        if (strcmp(plugin->handlers[i].type, type) == 0) return &plugin->handlers[i];
    }
    return NULL;
}

static const reeve_plugin *plugin_at(const host_plugins *plugins, size_t index)
{
    return plugins->handles[index] == NULL ? NULL : reeve_plugin_get(plugins->handles[index]);
}

/* The plugin among the first `count` that has the type, or NULL. */
static const reeve_plugin *owner(const host_plugins *plugins, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++) {
        const reeve_plugin *plugin = plugin_at(plugins, i);
        if (find_handler(plugin, type) != NULL) return plugin;
    }
    return NULL;
}

static void check_types(const host_plugins *plugins, size_t index, const char *where, rv_config_errors *errors)
{
    const reeve_plugin *plugin = plugin_at(plugins, index);

    for (size_t i = 0; i < plugin->handler_count; i++) {
        const char *type = plugin->handlers[i].type;
        const reeve_plugin *other = owner(plugins, index, type);
        if (other == NULL) continue;
        rv_complain(errors, where, "plugins[%zu]: plugin %s has a handler for \"%s\", and so has plugin %s", index,
                    plugin->name, type, other->name);
    }
}

static void open_one(host_plugins *plugins, const rv_config *config, size_t index, rv_config_errors *errors)
{
    const rv_config_name *name = &config->plugins[index];
    char words[512];

    /* Its constructors and load hook may crash, hang or exit: the last line of the log then names it. */
    rv_log(REEVE_LOG_INFO, "plugin.loading", "loading plugin", "plugin", name->text, NULL);
    host_log_flush(HOST_LOG_END_MS);
    if (reeve_plugin_open(&plugins->handles[index], name->text, config->plugin_dir, words, sizeof(words)) == REEVE_OK) {
        plugins->handler_count += plugin_at(plugins, index)->handler_count;
        check_types(plugins, index, name->where, errors);
    } else {
        rv_complain(errors, name->where, "plugins[%zu]: %s", index, words);
    }
}

static void check_policy(const host_plugins *plugins, const rv_config_handler *handler, size_t index,
                         rv_config_errors *errors)
{
    rv_nearest nearest;

    rv_nearest_init(&nearest, handler->type);
    for (size_t i = 0; i < plugins->count; i++) {
        const reeve_plugin *plugin = plugin_at(plugins, i);

        if (plugin == NULL || find_handler(plugin, handler->type) != NULL) return; /* what is not there may have it */
        for (size_t j = 0; j < plugin->handler_count; j++) rv_nearest_try(&nearest, plugin->handlers[j].type);
    }
    if (nearest.name == NULL)
        rv_complain(errors, handler->where, "handlers[%zu].type: no plugin has a handler for \"%s\"", index,
                    handler->type);
    else
        rv_complain(errors, handler->where,
                    "handlers[%zu].type: no plugin has a handler for \"%s\"; did you mean \"%s\"?", index,
                    handler->type, nearest.name);
}

bool host_plugins_open(host_plugins *ret, const rv_config *config, rv_config_errors *errors)
{
    *ret = (host_plugins){.count = config->plugin_count};
    ret->handles = rv_zalloc_array(config->plugin_count + 1, sizeof(*ret->handles));
    if (ret->handles == NULL) {
        ret->count = 0;
        return false;
    }
    for (size_t i = 0; i < config->plugin_count; i++) open_one(ret, config, i, errors);
    for (size_t i = 0; i < config->handler_count; i++) check_policy(ret, &config->handlers[i], i, errors);
    return true;
}

void host_plugins_close(host_plugins *plugins)
{
    for (size_t i = 0; i < plugins->count; i++) reeve_plugin_close(plugins->handles[i]);
    rv_free(plugins->handles);
    *plugins = (host_plugins){0};
}
