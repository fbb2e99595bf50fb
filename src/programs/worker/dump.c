#include "dump.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/backoff_text.h"
#include "base/decimal.h"
#include "handlers/plugin.h"
#include "handlers/plugin_option.h"

#define DUMP_MAX (4 * 1024 * 1024)

/* ---- for people ------------------------------------------------------------------------------------------------ */

static void add_line(rv_buf *out, const char *name, const char *value)
{
    if (value != NULL && *value != '\0') rv_buf_addf(out, "%-14s%s\n", name, value);
}

static void add_count(rv_buf *out, const char *name, int64_t given, int64_t standard)
{
    if (given > 0)
        rv_buf_addf(out, "  %-12s%lld\n", name, (long long)given);
    else
        rv_buf_addf(out, "  %-12s%lld (default)\n", name, (long long)standard);
}

static void add_backoff(rv_buf *out, const reeve_backoff *backoff)
{
    rv_buf_addf(out, "  %-12s", "backoff");
    rv_backoff_text_format(out, backoff);
    rv_buf_adds(out, rv_backoff_is_given(backoff) ? "\n" : " (default)\n");
}

static void add_seconds(rv_buf *out, const char *name, int64_t ms)
{
    rv_buf_addf(out, "  %-12s", name);
    rv_decimal_add(out, (double)ms / 1000, 10);
    rv_buf_adds(out, " s\n");
}

static void describe_handler(rv_buf *out, const reeve_handler *handler)
{
    rv_buf_addf(out, "\n%s", handler->type);
    if (handler->summary != NULL) rv_buf_addf(out, ": %s", handler->summary);
    rv_buf_addc(out, '\n');
    add_count(out, "attempts", handler->attempts, RV_MAX_ATTEMPTS);
    add_count(out, "max_crashes", handler->max_crashes, RV_MAX_CRASHES);
    if (handler->timeout_ms > 0)
        add_seconds(out, "timeout", handler->timeout_ms);
    else
        rv_buf_addf(out, "  %-12snone\n", "timeout");
    if (handler->heartbeat_ms > 0) add_seconds(out, "heartbeat", handler->heartbeat_ms);
    if (handler->retry_for_ms > 0) add_seconds(out, "retry_for", handler->retry_for_ms);
    if (handler->max_snoozes > 0) rv_buf_addf(out, "  %-12s%d\n", "max_snoozes", handler->max_snoozes);
    if (handler->at_most_once) rv_buf_addf(out, "  %-12sat most once\n", "runs");
    add_backoff(out, &handler->backoff);
    if (handler->run_batch == NULL) return;
    add_count(out, "batch_size", handler->batch_size, REEVE_BATCH_SIZE_DEFAULT);
    add_seconds(out, "batch_wait", handler->batch_wait_ms);
}

static void describe_layer(rv_buf *out, const reeve_layer *layer)
{
    rv_buf_addf(out, "\nlayer %s", layer->name);
    if (layer->summary != NULL) rv_buf_addf(out, ": %s", layer->summary);
    rv_buf_addf(out, "\n  %-12s%s\n", "around", layer->type != NULL ? layer->type : "all types");
}

static void describe_option(rv_buf *out, const reeve_option *option)
{
    char expected[300];

    rv_plugin_option_expected(option, expected, sizeof(expected));
    rv_buf_addf(out, "\noption %s", option->name);
    if (option->summary != NULL) rv_buf_addf(out, ": %s", option->summary);
    rv_buf_addf(out, "\n  %-12s%s\n", "expected", expected);
    if (option->otherwise != NULL)
        rv_buf_addf(out, "  %-12s%s\n", "default", option->otherwise);
    else
        rv_buf_addf(out, "  %-12s%s\n", "default", option->required ? "required" : "not set");
}

static void describe(rv_buf *out, const reeve_plugin *plugin, const char *path)
{
    char concurrency[32] = "any number of handlers at once";

    if (plugin->concurrency > 0) (void)snprintf(concurrency, sizeof(concurrency), "%u at once", plugin->concurrency);
    add_line(out, "name", plugin->name);
    add_line(out, "version", plugin->version);
    add_line(out, "summary", plugin->summary);
    add_line(out, "file", path);
    rv_buf_addf(out, "%-14s%u\n", "abi", plugin->abi);
    add_line(out, "concurrency", concurrency);
    rv_buf_addf(out, "%-14s%zu\n", "handlers", plugin->handler_count);
    if (plugin->layer_count > 0) rv_buf_addf(out, "%-14s%zu\n", "layers", plugin->layer_count);
    if (plugin->option_count > 0) rv_buf_addf(out, "%-14s%zu\n", "options", plugin->option_count);
    for (size_t i = 0; i < plugin->option_count; i++) describe_option(out, &plugin->options[i]);
    for (size_t i = 0; i < plugin->handler_count; i++) describe_handler(out, &plugin->handlers[i]);
    for (size_t i = 0; i < plugin->layer_count; i++) describe_layer(out, &plugin->layers[i]);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void add_key(rv_buf *out, const char *key)
{
    char last = out->length == 0 ? '{' : out->data[out->length - 1];
    rv_buf_addf(out, "%s\"%s\":", last == '{' ? "" : ",", key);
}

static void add_text(rv_buf *out, const char *key, const char *value)
{
    add_key(out, key);
    if (value == NULL)
        rv_buf_adds(out, "null");
    else
        rv_buf_add_json(out, value, strlen(value));
}

/* null: not given, the default holds. */
static void add_number(rv_buf *out, const char *key, int64_t value)
{
    add_key(out, key);
    if (value > 0)
        rv_buf_addi(out, value);
    else
        rv_buf_adds(out, "null");
}

static void add_jitter(rv_buf *out, double jitter)
{
    add_key(out, "jitter");
    if (jitter < 0 || jitter > 0)
        rv_decimal_add(out, jitter < 0 ? 0 : jitter, 10);
    else
        rv_buf_adds(out, "null");
}

static void add_backoff_json(rv_buf *out, const reeve_backoff *backoff)
{
    static const char *const shapes[] = {"exponential", "fixed", "list"};

    add_key(out, "backoff");
    rv_buf_addc(out, '{');
    add_text(out, "shape", shapes[backoff->shape]);
    add_number(out, "base_ms", backoff->base_ms);
    add_number(out, "cap_ms", backoff->cap_ms);
    add_jitter(out, backoff->jitter);
    if (backoff->shape == REEVE_BACKOFF_LIST) {
        add_key(out, "list_ms");
        for (size_t i = 0; i < rv_backoff_list_count(backoff); i++) {
            rv_buf_addc(out, i == 0 ? '[' : ',');
            rv_buf_addi(out, backoff->list_ms[i]);
        }
        rv_buf_addc(out, ']');
    }
    rv_buf_addc(out, '}');
}

static void add_handler_json(rv_buf *out, const reeve_handler *handler)
{
    rv_buf_addc(out, '{');
    add_text(out, "type", handler->type);
    add_text(out, "summary", handler->summary);
    add_number(out, "attempts", handler->attempts);
    add_number(out, "max_crashes", handler->max_crashes);
    add_number(out, "timeout_ms", handler->timeout_ms);
    add_number(out, "heartbeat_ms", handler->heartbeat_ms);
    add_number(out, "retry_for_ms", handler->retry_for_ms);
    add_number(out, "max_snoozes", handler->max_snoozes);
    add_number(out, "at_most_once", handler->at_most_once);
    add_backoff_json(out, &handler->backoff);
    /* Only of those that take many. */
    if (handler->run_batch != NULL) {
        add_number(out, "batch_size", handler->batch_size);
        add_number(out, "batch_wait_ms", handler->batch_wait_ms);
    }
    rv_buf_addc(out, '}');
}

static void add_layer_json(rv_buf *out, const reeve_layer *layer)
{
    rv_buf_addc(out, '{');
    add_text(out, "name", layer->name);
    add_text(out, "type", layer->type);
    add_text(out, "summary", layer->summary);
    rv_buf_addc(out, '}');
}

static void add_option_json(rv_buf *out, const reeve_option *option)
{
    char expected[300];

    rv_plugin_option_expected(option, expected, sizeof(expected));
    rv_buf_addc(out, '{');
    add_text(out, "name", option->name);
    add_text(out, "type", rv_plugin_option_type_name(option->type));
    add_text(out, "expected", expected);
    add_text(out, "default", option->otherwise);
    add_key(out, "required");
    rv_buf_adds(out, option->required ? "true" : "false");
    add_text(out, "summary", option->summary);
    rv_buf_addc(out, '}');
}

static void describe_json(rv_buf *out, const reeve_plugin *plugin, const char *path)
{
    rv_buf_addc(out, '{');
    add_text(out, "name", plugin->name);
    add_text(out, "version", plugin->version);
    add_text(out, "summary", plugin->summary);
    add_text(out, "file", path);
    add_key(out, "abi");
    rv_buf_addi(out, plugin->abi);
    add_key(out, "concurrency");
    rv_buf_addi(out, plugin->concurrency);
    add_key(out, "handlers");
    rv_buf_addc(out, '[');
    for (size_t i = 0; i < plugin->handler_count; i++) {
        if (i > 0) rv_buf_addc(out, ',');
        add_handler_json(out, &plugin->handlers[i]);
    }
    rv_buf_addc(out, ']');
    add_key(out, "layers");
    rv_buf_addc(out, '[');
    for (size_t i = 0; i < plugin->layer_count; i++) {
        if (i > 0) rv_buf_addc(out, ',');
        add_layer_json(out, &plugin->layers[i]);
    }
    rv_buf_addc(out, ']');
    add_key(out, "options");
    rv_buf_addc(out, '[');
    for (size_t i = 0; i < plugin->option_count; i++) {
        if (i > 0) rv_buf_addc(out, ',');
        add_option_json(out, &plugin->options[i]);
    }
    rv_buf_adds(out, "]}\n");
}

/* A file here goes by its name alone, as people type it; else a bare name is sought in the plugin directory. */
static reeve_status open_plugin(reeve_plugin_handle **ret, const char *name, rv_error *error)
{
    rv_buf path;

    rv_buf_init(&path, 4096);
    if (strchr(name, '/') == NULL && access(name, F_OK) == 0) {
        rv_buf_addf(&path, "./%s", name);
        name = rv_buf_text(&path);
    }
    reeve_status status = rv_plugin_open_unloaded(ret, name, NULL, error);
    rv_buf_fini(&path);
    return status;
}

int host_dump_plugin(const char *name, bool json)
{
    reeve_plugin_handle *plugin;
    rv_error error;
    rv_buf out;

    rv_error_clear(&error);
    if (open_plugin(&plugin, name, &error) != REEVE_OK) {
        (void)fprintf(stderr, "reeve-worker: %s\n", error.text);
        return 2;
    }
    rv_buf_init(&out, DUMP_MAX);
    if (json)
        describe_json(&out, reeve_plugin_get(plugin), reeve_plugin_path(plugin));
    else
        describe(&out, reeve_plugin_get(plugin), reeve_plugin_path(plugin));
    bool written = !out.failed && fwrite(rv_buf_text(&out), 1, out.length, stdout) == out.length && fflush(stdout) == 0;
    if (!written) (void)fprintf(stderr, "reeve-worker: cannot write the description\n");
    rv_buf_fini(&out);
    reeve_plugin_close(plugin);
    return written ? 0 : 1;
}
