/*
 * plugin_read.c - from the plugin's description, in the layout of the reeve that it was compiled with, to ours.
 *
 * Only size and abi are read before both are known to make sense. Then the smaller of both sizes is copied and the rest
 * stays zero, for the plugin and for each of its handlers and layers, which stand as far apart as the plugin says. A
 * plugin that sets a field behind those that are known here is refused (base/layout.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/id.h"
#include "base/layout.h"
#include "base/mem.h"
#include "handlers/handler_check.h"
#include "handlers/plugin.h"
#include "handlers/plugin_option.h"
#include "protocol/layers.h"

#define END_OF(type, field) (offsetof(type, field) + sizeof(((type *)NULL)->field))

/* What ABI 1 began with; less cannot be. */
#define PLUGIN_MIN END_OF(reeve_plugin, handler_count)
#define HANDLER_MIN END_OF(reeve_handler, run)
#define LAYER_MIN END_OF(reeve_layer, run)
#define OPTION_MIN END_OF(reeve_option, type)
#define HANDLERS_MAX ((size_t)4096)

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static reeve_status refuse_later(const char *path, const char *what, size_t size, size_t known, rv_error *error)
{
    return rv_fail(error, REEVE_EPLUGIN,
                   "plugin %s: %s has %zu bytes and sets fields behind the %zu that libreeve " REEVE_VERSION
                   " knows: it was built for a later version",
                   path, what, size, known);
}

static reeve_status check_head(const reeve_plugin *theirs, const char *path, rv_error *error)
{
    if (theirs == NULL) return rv_fail(error, REEVE_EPLUGIN, "plugin %s: its entry function returned NULL", path);
    if (theirs->size < END_OF(reeve_plugin, abi) || theirs->size > RV_LAYOUT_MAX) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: says that its description has %zu bytes, which cannot be",
                       path, theirs->size);
    }
    if (theirs->abi != REEVE_PLUGIN_ABI) {
        return rv_fail(
            error, REEVE_EPLUGIN,
            "plugin %s: was built for plugin ABI %u, this reeve has ABI %u: build it with the headers of this "
            "reeve",
            path, theirs->abi, (unsigned)REEVE_PLUGIN_ABI);
    }
    if (theirs->size < PLUGIN_MIN) {
        return rv_fail(error, REEVE_EPLUGIN,
                       "plugin %s: says that its description has %zu bytes; the mandatory fields need %zu", path,
                       theirs->size, PLUGIN_MIN);
    }
    if (!rv_layout_fits(theirs, theirs->size, sizeof(*theirs)))
        return refuse_later(path, "its description", theirs->size, sizeof(*theirs), error);
    return REEVE_OK;
}

/* Whether a table of what ("handler") can be. */
static reeve_status check_table(const void *table, size_t count, size_t max, size_t stride, size_t min,
                                const char *what, const char *path, rv_error *error)
{
    if (count > max) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: says that it has %zu %ss; at most %zu can be", path, count,
                       what, max);
    }
    if (stride < min || stride > RV_LAYOUT_MAX || stride % _Alignof(void *) != 0) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: says that a %s has %zu bytes, which cannot be", path, what,
                       stride);
    }
    return table != NULL ? REEVE_OK : rv_fail(error, REEVE_EPLUGIN, "plugin %s: has no %ss", path, what);
}

static reeve_status check_tables(const reeve_plugin *plugin, const char *path, rv_error *error)
{
    reeve_status status = REEVE_OK;

    if (plugin->name == NULL || plugin->name[0] == '\0') {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: has no name", path);
    }
    if (plugin->handler_count == 0 && plugin->layer_count == 0) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: has no handlers and no layers", path);
    }
    if (plugin->handler_count > 0) {
        status = check_table(plugin->handlers, plugin->handler_count, HANDLERS_MAX, plugin->handler_size, HANDLER_MIN,
                             "handler", path, error);
    }
    if (status == REEVE_OK && plugin->layer_count > 0) {
        status = check_table(plugin->layers, plugin->layer_count, REEVE_LAYERS_MAX, plugin->layer_size, LAYER_MIN,
                             "layer", path, error);
    }
    if (status == REEVE_OK && plugin->option_count > 0) {
        status = check_table(plugin->options, plugin->option_count, REEVE_OPTIONS_MAX, plugin->option_size, OPTION_MIN,
                             "option", path, error);
    }
    if (status == REEVE_OK && plugin->load != NULL && plugin->load_with_options != NULL)
        status = rv_fail(error, REEVE_EPLUGIN, "plugin %s: has both load and load_with_options", path);
    return status;
}

/* Copies one struct of a table, which begins with its size, into a zeroed one of ours. */
static reeve_status copy_struct(void *target, size_t target_size, const char *theirs, size_t stride, size_t min,
                                const char *what, size_t number, const char *path, rv_error *error)
{
    size_t size;

    memcpy(&size, theirs, sizeof(size));
    if (size == 0) size = stride; /* written without REEVE_HANDLER; the stride says the same */
    if (size < min || size > stride) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: %s %zu says that it has %zu bytes, which cannot be", path,
                       what, number, size);
    }
    if (!rv_layout_fits(theirs, size, target_size)) {
        char name[40];
        (void)snprintf(name, sizeof(name), "%s %zu", what, number);
        return refuse_later(path, name, size, target_size, error);
    }
    memcpy(target, theirs, smaller(size, target_size));
    memcpy(target, &target_size, sizeof(target_size));
    return REEVE_OK;
}
_Static_assert(offsetof(reeve_handler, size) == 0 && offsetof(reeve_layer, size) == 0 &&
                   offsetof(reeve_option, size) == 0,
               "copy_struct reads it there");

static reeve_status check_handler(const reeve_handler *handlers, size_t index, const char *path, rv_error *error)
{
    const reeve_handler *handler = &handlers[index];

    if (handler->type == NULL) {
        return rv_fail(error, REEVE_EINVAL, "plugin %s: handler %zu has no type", path, index + 1);
    }
    if (!rv_valid_type_pattern(handler->type, strnlen(handler->type, REEVE_TYPE_MAX + 1))) {
        return rv_fail(error, REEVE_EINVAL,
                       "plugin %s: handler %zu: \"%.100s\" is no task type (1 to %d of A-Z a-z 0-9 . _ - : /)", path,
                       index + 1, handler->type, REEVE_TYPE_MAX);
    }
    rv_error why;
    if (rv_handler_check(handler, "it", &why) != REEVE_OK) {
        return rv_fail(error, REEVE_EINVAL, "plugin %s: the handler of \"%s\": %s", path, handler->type, why.text);
    }
    if (rv_backoff_check(&handler->backoff, &why) != REEVE_OK) {
        return rv_fail(error, REEVE_EINVAL, "plugin %s: the handler of \"%s\": %s", path, handler->type, why.text);
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(handlers[i].type, handler->type) == 0) {
            return rv_fail(error, REEVE_EDUPLICATE, "plugin %s: has two handlers of type \"%s\"", path, handler->type);
        }
    }
    return REEVE_OK;
}

static reeve_status read_handlers(reeve_plugin_handle *plugin, const char *path, rv_error *error)
{
    reeve_plugin *ours = &plugin->plugin;
    reeve_status status = REEVE_OK;

    plugin->handlers = rv_zalloc_array(ours->handler_count + 1, sizeof(*plugin->handlers));
    if (plugin->handlers == NULL) return rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", path);
    for (size_t i = 0; i < ours->handler_count && status == REEVE_OK; i++) {
        const char *at = (const char *)ours->handlers + i * ours->handler_size;

        status = copy_struct(&plugin->handlers[i], sizeof(*plugin->handlers), at, ours->handler_size, HANDLER_MIN,
                             "handler", i + 1, path, error);
        if (status == REEVE_OK) status = check_handler(plugin->handlers, i, path, error);
    }
    ours->handler_size = sizeof(*plugin->handlers);
    ours->handlers = plugin->handlers;
    return status;
}

static reeve_status read_layers(reeve_plugin_handle *plugin, const char *path, rv_error *error)
{
    reeve_plugin *ours = &plugin->plugin;
    char owner[300];
    reeve_status status = REEVE_OK;

    (void)snprintf(owner, sizeof(owner), "plugin %.280s: ", path);
    plugin->layers = rv_zalloc_array(ours->layer_count + 1, sizeof(*plugin->layers));
    if (plugin->layers == NULL) return rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", path);
    for (size_t i = 0; i < ours->layer_count && status == REEVE_OK; i++) {
        const char *at = (const char *)ours->layers + i * ours->layer_size;

        status = copy_struct(&plugin->layers[i], sizeof(*plugin->layers), at, ours->layer_size, LAYER_MIN, "layer",
                             i + 1, path, error);
        if (status == REEVE_OK) status = rv_layers_check(&plugin->layers[i], owner, error);
    }
    ours->layer_size = sizeof(*plugin->layers);
    ours->layers = plugin->layers;
    return status;
}

static reeve_status read_options(reeve_plugin_handle *plugin, const char *path, rv_error *error)
{
    reeve_plugin *ours = &plugin->plugin;
    reeve_status status = REEVE_OK;

    plugin->declared = rv_zalloc_array(ours->option_count + 1, sizeof(*plugin->declared));
    if (plugin->declared == NULL) return rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", path);
    for (size_t i = 0; i < ours->option_count && status == REEVE_OK; i++) {
        const char *at = (const char *)ours->options + i * ours->option_size;

        status = copy_struct(&plugin->declared[i], sizeof(*plugin->declared), at, ours->option_size, OPTION_MIN,
                             "option", i + 1, path, error);
        if (status == REEVE_OK) status = rv_plugin_option_check(&plugin->declared[i], plugin->declared, i, path, error);
    }
    ours->option_size = sizeof(*plugin->declared);
    ours->options = plugin->declared;
    return status;
}

reeve_status rv_plugin_read(reeve_plugin_handle *plugin, const reeve_plugin *theirs, const char *path, rv_error *error)
{
    reeve_plugin *ours = &plugin->plugin;
    reeve_status status = check_head(theirs, path, error);

    if (status != REEVE_OK) return status;
    memcpy(ours, theirs, smaller(theirs->size, sizeof(*ours)));
    ours->size = sizeof(*ours);
    status = check_tables(ours, path, error);
    if (status == REEVE_OK) status = read_handlers(plugin, path, error);
    if (status == REEVE_OK) status = read_layers(plugin, path, error);
    if (status == REEVE_OK) status = read_options(plugin, path, error);
    return status;
}
