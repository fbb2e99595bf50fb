#include "plugins.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "handlers/plugin.h"
#include "handlers/plugin_option.h"
#include "log/log_writer.h"

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

/* Where it stands in the file: the value that is wrong, else the plugin. */
static const char *place_of(const rv_config_plugin *from, size_t bad)
{
    return bad != RV_PLUGIN_OPTION_NONE ? from->options[bad].where : from->where;
}

static bool open_with_options(reeve_plugin_handle **ret, const rv_config *config, size_t index,
                              rv_config_errors *errors)
{
    const rv_config_plugin *from = &config->plugins[index];
    reeve_option_value *values = rv_zalloc_array(from->option_count + 1, sizeof(*values));
    rv_error error;
    size_t bad = RV_PLUGIN_OPTION_NONE;
    reeve_status status = REEVE_ENOMEM;

    rv_error_clear(&error);
    for (size_t i = 0; values != NULL && i < from->option_count; i++)
        values[i] = (reeve_option_value){.name = from->options[i].name, .value = from->options[i].text};
    if (values != NULL)
        status = rv_plugin_open_copy(ret, from->name, config->plugin_dir, values, from->option_count, &bad, &error);
    else
        (void)rv_fail(&error, status, "out of memory");
    if (status != REEVE_OK) rv_complain(errors, place_of(from, bad), "plugins[%zu]: %s", index, error.text);
    rv_free(values);
    return status == REEVE_OK;
}

static void open_one(host_plugins *plugins, const rv_config *config, size_t index, rv_config_errors *errors)
{
    const rv_config_plugin *from = &config->plugins[index];

    /* Its constructors and load hook may crash, hang or exit: the last line of the log then names it. */
    rv_log(REEVE_LOG_INFO, "plugin.loading", "loading plugin", "plugin", from->name, NULL);
    host_log_flush(HOST_LOG_END_MS);
    if (!open_with_options(&plugins->handles[index], config, index, errors)) return;
    plugins->handler_count += plugin_at(plugins, index)->handler_count;
    check_types(plugins, index, from->where, errors);
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
