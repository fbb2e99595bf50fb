#include "isolation/runner_hello.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "handlers/plugin_option.h"

#define PLUGINS_MAX 1000

/* ---- writing --------------------------------------------------------------------------------------------------- */

static void write_plugin(rv_buf *ret, const reeve_plugin_handle *plugin)
{
    const char *name, *value;
    size_t count = 0;
    char copy[64] = "";
    if (plugin->copy >= 0) (void)snprintf(copy, sizeof(copy), "/proc/%ld/fd/%d", (long)getpid(), plugin->copy);
    rv_runner_message_put_text(ret, plugin->path);
    rv_runner_message_put_text(ret, copy);
    while (rv_plugin_option_next(plugin->options, count, &name, &value)) count++;
    rv_runner_message_put_number(ret, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        (void)rv_plugin_option_next(plugin->options, i, &name, &value);
        rv_runner_message_put_text(ret, name);
        rv_runner_message_put_number(ret, value != NULL);
        rv_runner_message_put_text(ret, value != NULL ? value : "");
    }
}

void rv_runner_hello_write(rv_buf *ret, reeve_plugin_handle *const *plugins, size_t count,
                           const reeve_size_limits *size_limits, const reeve_runner_options *limits,
                           const rv_runner_sandbox *sandbox)
{
    reeve_runner_options sent = *limits;
    sent.scratch = NULL; /* a directory comes with each run */
    sent.user = NULL;    /* the sandbox has it */
    sent.paths = NULL;
    sent.cgroup = NULL;
    rv_runner_message_put_text(ret, REEVE_VERSION);
    rv_runner_message_put_number(ret, sizeof(rv_runner_flags));
    rv_runner_message_put_bytes(ret, size_limits, sizeof(*size_limits));
    rv_runner_message_put_bytes(ret, &sent, sizeof(sent));
    rv_runner_sandbox_put(ret, sandbox);
    rv_runner_message_put_number(ret, (int64_t)count);
    for (size_t i = 0; i < count; i++) rv_runner_message_put_text(ret, plugins[i]->path);
    for (size_t i = 0; i < count; i++) write_plugin(ret, plugins[i]);
}

/* ---- loading --------------------------------------------------------------------------------------------------- */

/* The worker's private copy, so that all runners have the worker's version; not what has its number by now. */
static bool is_copy(const char *path)
{
    char shown[16];
    return path != NULL && path[0] != '\0' && readlink(path, shown, sizeof(shown)) > 7 &&
           strncmp(shown, "/memfd:", 7) == 0;
}

/* Messages begin with "plugin PATH: ". */
static void name_file(rv_error *error, const char *copy, const char *path)
{
    rv_error of_copy = *error;
    const char *rest = strstr(of_copy.text, copy);
    if (rest != NULL) (void)rv_fail(error, of_copy.status, "plugin %s%s", path, rest + strlen(copy));
}

static reeve_status open_plugin(rv_runner_loaded *loaded, rv_runner_reader *in, rv_error *error)
{
    reeve_option_value values[REEVE_OPTIONS_MAX];
    size_t count = 0, bad;
    const char *path = rv_runner_message_get_text(in, PATH_MAX);
    const char *copy = rv_runner_message_get_text(in, PATH_MAX);
    size_t given = (size_t)rv_runner_message_get_number(in, 0, REEVE_OPTIONS_MAX);
    for (size_t i = 0; i < given; i++) {
        const char *name = rv_runner_message_get_text(in, REEVE_OPTION_NAME_MAX);
        bool is_set = rv_runner_message_get_number(in, 0, 1) == 1;
        const char *value = rv_runner_message_get_text(in, REEVE_OPTION_VALUE_MAX);
        if (is_set) values[count++] = (reeve_option_value){name, value};
    }
    if (in->failed) return rv_fail(error, REEVE_EPROTO, "the hello of the worker cannot be read");
    reeve_plugin_handle **place = &loaded->plugins[loaded->plugin_count];
    bool copies = is_copy(copy);
    reeve_status status = rv_plugin_open(place, copies ? copy : path, NULL, values, count, &bad, error);
    if (status != REEVE_OK && copies) name_file(error, copy, path);
    if (status == REEVE_OK) loaded->plugin_count++;
    return status;
}

static reeve_status add_plugin(rv_runner_loaded *loaded, reeve_plugin_handle *plugin, rv_error *error)
{
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < plugin->plugin.handler_count && status == REEVE_OK; i++) {
        reeve_handler handler = plugin->handlers[i];
        handler.free_user = NULL; /* the unload hook of a plugin frees its user data */
        status = rv_handler_table_add(&loaded->handlers, &handler, plugin, error);
    }
    for (size_t i = 0; i < plugin->plugin.layer_count && status == REEVE_OK; i++) {
        reeve_layer layer = plugin->layers[i];
        layer.free_user = NULL;
        status = rv_layers_add(&loaded->layers, &layer, error);
    }
    return status;
}

/* The files of the plugins come before the plugins, since nothing of these may run unconfined. */
static reeve_status read_and_confine(rv_runner_loaded *loaded, rv_runner_reader *in, rv_runner_confine_fn confine,
                                     size_t *ret_count, rv_error *error)
{
    rv_runner_sandbox sandbox;
    rv_runner_sandbox_get(in, &sandbox);
    size_t count = (size_t)rv_runner_message_get_number(in, 0, PLUGINS_MAX);
    const char **paths = rv_zalloc_array(count + 1, sizeof(*paths));
    if (paths == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the plugins");
    for (size_t i = 0; i < count; i++) paths[i] = rv_runner_message_get_text(in, PATH_MAX);
    reeve_status status = in->failed ? rv_fail(error, REEVE_EPROTO, "the hello of the worker cannot be read")
                                     : confine(&sandbox, paths, count, loaded->in_force, error);
    rv_free(paths);
    *ret_count = count;
    return status;
}

reeve_status rv_runner_hello_load(rv_runner_loaded *ret, const rv_runner_message *message, rv_runner_confine_fn confine,
                                  rv_error *error)
{
    rv_runner_reader in = rv_runner_message_read(message);
    reeve_status status = REEVE_OK;
    const char *version = rv_runner_message_get_text(&in, 64);
    int64_t flags = rv_runner_message_get_number(&in, 0, INT64_MAX);
    reeve_bytes limits = rv_runner_message_get_bytes(&in, sizeof(ret->size_limits));
    reeve_bytes own = rv_runner_message_get_bytes(&in, sizeof(ret->limits));
    size_t count = 0;
    *ret = (rv_runner_loaded){0};
    if (in.failed || strcmp(version, REEVE_VERSION) != 0 || flags != (int64_t)sizeof(rv_runner_flags) ||
        limits.length != sizeof(ret->size_limits) || own.length != sizeof(ret->limits))
        return rv_fail(error, REEVE_EPROTO, "it is of version %s, and its worker of %.60s", REEVE_VERSION, version);
    memcpy(&ret->size_limits, limits.data, limits.length);
    memcpy(&ret->limits, own.data, own.length);
    status = read_and_confine(ret, &in, confine, &count, error);
    if (status != REEVE_OK) return status;
    ret->plugins = rv_zalloc_array(count + 1, sizeof(*ret->plugins));
    if (ret->plugins == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for the plugins");
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        status = open_plugin(ret, &in, error);
        if (status == REEVE_OK) status = add_plugin(ret, ret->plugins[i], error);
    }
    return status == REEVE_OK ? rv_handler_table_wrap(&ret->handlers, &ret->layers, error) : status;
}

void rv_runner_hello_fini(rv_runner_loaded *loaded)
{
    rv_handler_table_fini(&loaded->handlers);
    rv_layers_fini(&loaded->layers);
    for (size_t i = 0; i < loaded->plugin_count; i++) reeve_plugin_close(loaded->plugins[i]);
    rv_free(loaded->plugins);
    *loaded = (rv_runner_loaded){0};
}
