/*
 * plugin_read.c - from the plugin's description, in the layout of the reeve that it was compiled with, to ours.
 *
 * Only size and abi are read before both are known to make sense. Then the smaller of both sizes is copied and the rest
 * stays zero, for the plugin and for each of its handlers, which stand as far apart as the plugin says.
 */
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/retry.h"
#include "worker/plugin.h"

#define END_OF(type, field) (offsetof(type, field) + sizeof(((type *)NULL)->field))

/* What ABI 1 began with; less cannot be. */
#define PLUGIN_LEAST END_OF(reeve_plugin, handler_count)
#define HANDLER_LEAST END_OF(reeve_handler, run)
/* More is a number that was never meant as a size. */
#define STRUCT_MOST ((size_t)65536)
#define HANDLERS_MOST ((size_t)4096)

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static reeve_status check_head(const reeve_plugin *theirs, const char *path, rv_error *error)
{
    if (theirs == NULL) return rv_fail(error, REEVE_EPLUGIN, "plugin %s: its entry function returned NULL", path);
    if (theirs->size < END_OF(reeve_plugin, abi) || theirs->size > STRUCT_MOST) {
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
    if (theirs->size < PLUGIN_LEAST) {
        return rv_fail(error, REEVE_EPLUGIN,
                       "plugin %s: says that its description has %zu bytes; the mandatory fields need %zu", path,
                       theirs->size, PLUGIN_LEAST);
    }
    return REEVE_OK;
}

static reeve_status check_table(const reeve_plugin *plugin, const char *path, rv_error *error)
{
    size_t stride = plugin->handler_size;

    if (plugin->name == NULL || plugin->name[0] == '\0') {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: has no name", path);
    }
    if (stride < HANDLER_LEAST || stride > STRUCT_MOST || stride % _Alignof(void *) != 0) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: says that a handler has %zu bytes, which cannot be", path,
                       stride);
    }
    if (plugin->handler_count > HANDLERS_MOST) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: says that it has %zu handlers; at most %zu can be", path,
                       plugin->handler_count, HANDLERS_MOST);
    }
    if (plugin->handlers == NULL || plugin->handler_count == 0) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: has no handlers", path);
    }
    return REEVE_OK;
}

static reeve_status copy_handler(reeve_handler *target, const char *theirs, size_t stride, size_t number,
                                 const char *path, rv_error *error)
{
    size_t size;

    memcpy(&size, theirs + offsetof(reeve_handler, size), sizeof(size));
    if (size == 0) size = stride; /* written without REEVE_HANDLER; the stride says the same */
    if (size < HANDLER_LEAST || size > stride) {
        return rv_fail(error, REEVE_EPLUGIN, "plugin %s: handler %zu says that it has %zu bytes, which cannot be", path,
                       number, size);
    }
    memcpy(target, theirs, smaller(size, sizeof(*target)));
    target->size = sizeof(*target);
    return REEVE_OK;
}

static reeve_status check_handler(const reeve_handler *handlers, size_t index, const char *path, rv_error *error)
{
    const reeve_handler *handler = &handlers[index];

    if (handler->type == NULL) {
        return rv_fail(error, REEVE_EINVAL, "plugin %s: handler %zu has no type", path, index + 1);
    }
    if (!rv_valid_type(handler->type, strnlen(handler->type, REEVE_TYPE_MAX + 1))) {
        return rv_fail(error, REEVE_EINVAL,
                       "plugin %s: handler %zu: \"%.100s\" is no task type (1 to %d of A-Z a-z 0-9 . _ - : /)", path,
                       index + 1, handler->type, REEVE_TYPE_MAX);
    }
    if (handler->run == NULL) {
        return rv_fail(error, REEVE_EINVAL, "plugin %s: the handler of \"%s\" has no function to run", path,
                       handler->type);
    }
    rv_error why;
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

reeve_status rv_plugin_read(reeve_plugin_handle *plugin, const reeve_plugin *theirs, const char *path, rv_error *error)
{
    reeve_plugin *ours = &plugin->plugin;
    reeve_status status = check_head(theirs, path, error);

    if (status != REEVE_OK) return status;
    memcpy(ours, theirs, smaller(theirs->size, sizeof(*ours)));
    status = check_table(ours, path, error);
    if (status != REEVE_OK) return status;

    plugin->handlers = rv_zalloc_array(ours->handler_count, sizeof(*plugin->handlers));
    if (plugin->handlers == NULL) return rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", path);
    for (size_t i = 0; i < ours->handler_count && status == REEVE_OK; i++) {
        const char *at = (const char *)theirs->handlers + i * ours->handler_size;

        status = copy_handler(&plugin->handlers[i], at, ours->handler_size, i + 1, path, error);
        if (status == REEVE_OK) status = check_handler(plugin->handlers, i, path, error);
    }
    ours->size = sizeof(*ours);
    ours->handler_size = sizeof(*plugin->handlers);
    ours->handlers = plugin->handlers;
    return status;
}
