#include "cron_entries.h"

#include "base/log.h"
#include "base/mem.h"
#include "cron_stored.h"
#include "outage.h"
#include "reeve/layer.h"
#include "reeve/plugin.h"

#define CALL_MS 1000
#define NOT_WRITTEN "recurring entries could not be written, trying again later"

static reeve_status write_one(reeve_client *client, const rv_config_cron *cron)
{
    rv_config_entry made;
    char from[REEVE_QUEUE_MAX + 1] = "";
    bool changed = false;

    reeve_status status = rv_config_entry_make(&made, cron);
    if (status != REEVE_OK) {
        rv_log(REEVE_LOG_WARN, "program.cron", NOT_WRITTEN, "error", reeve_status_text(status), NULL);
        return status;
    }
    status = reeve_cron_set_with_origin(client, &made.entry, &changed, from);
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "program.cron", NOT_WRITTEN, "queue", cron->queue, "entry", cron->name, "error",
               reeve_client_error(client), NULL);
    else if (from[0] != '\0')
        rv_log(REEVE_LOG_WARN, "program.cron_moved", "a recurring entry of this name was in another queue: it is moved",
               "queue", cron->queue, "entry", cron->name, "from", from, "spec", cron->spec, NULL);
    else if (changed)
        rv_log(REEVE_LOG_INFO, "program.cron", "a recurring entry is set", "queue", cron->queue, "entry", cron->name,
               "spec", cron->spec, NULL);
    rv_config_entry_fini(&made);
    return status;
}

static void log_kept(const rv_config_difference *of, void *context)
{
    const rv_config_cron *cron = context;

    rv_log(REEVE_LOG_WARN, "program.cron_kept",
           "Redis has another recurring entry of this name: it stays in force (worker.settings_from)", "entry",
           cron->name, "setting", of->path, "in_force", of->from, "in_file", of->to, NULL);
}

/* Only those that Redis does not have. */
static reeve_status write_missing(reeve_client *client, const rv_config *config)
{
    host_cron_stored stored;

    reeve_status status = host_cron_stored_read(&stored, client);
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "program.cron", NOT_WRITTEN, "error", reeve_client_error(client), NULL);
    for (size_t i = 0; i < config->cron_count && status == REEVE_OK; i++) {
        rv_config_cron *cron = &config->cron[i];

        if (!host_cron_stored_compare(&stored, cron, log_kept, cron)) status = write_one(client, cron);
    }
    host_cron_stored_fini(&stored);
    return status;
}

static bool write_entries(reeve_client *client, const rv_config *config)
{
    reeve_status status = REEVE_OK;
    bool written = true;

    if (config->worker.settings_from == RV_SETTINGS_FROM_REDIS) return write_missing(client, config) == REEVE_OK;
    for (size_t i = 0; i < config->cron_count && !host_is_outage(status); i++) {
        status = write_one(client, &config->cron[i]);
        written = written && status == REEVE_OK;
    }
    return written;
}

/* The entries pass the layers of the plugins, as tasks of handlers do. The handles of the plugins are closed behind the
 * client. */
static bool add_layers(reeve_client *client, const rv_config *config, reeve_plugin_handle **handles)
{
    char words[512] = "";

    for (size_t i = 0; i < config->plugin_count; i++) {
        reeve_status status =
            reeve_plugin_open(&handles[i], config->plugins[i].name, config->plugin_dir, words, sizeof(words));
        const reeve_plugin *plugin = status == REEVE_OK ? reeve_plugin_get(handles[i]) : NULL;
        for (size_t j = 0; plugin != NULL && j < plugin->layer_count && status == REEVE_OK; j++) {
            reeve_layer layer = plugin->layers[j];
            layer.free_user = NULL;
            if (layer.enqueue != NULL) status = reeve_client_add_layer(client, &layer);
        }
        if (status == REEVE_OK) continue;
        rv_log(REEVE_LOG_WARN, "program.cron", NOT_WRITTEN, "error",
               words[0] != '\0' ? words : reeve_client_error(client), NULL);
        return false;
    }
    return true;
}

static bool write_all(reeve_client *client, const rv_config *config)
{
    reeve_plugin_handle **handles = rv_zalloc_array(config->plugin_count + 1, sizeof(*handles));
    bool written = handles != NULL && add_layers(client, config, handles) && write_entries(client, config);

    reeve_client_close(client);
    for (size_t i = 0; i < config->plugin_count && handles != NULL; i++) reeve_plugin_close(handles[i]);
    rv_free(handles);
    return written;
}

bool host_write_entries(const rv_config *config, const char *redis)
{
    reeve_client_options options = {.size = sizeof(options),
                                    .redis = redis,
                                    .tls = &config->tls,
                                    .ns = config->ns,
                                    .timeout_ms = CALL_MS,
                                    .name = "reeve-worker-cron",
                                    .size_limits = config->worker.size_limits};
    char words[512];
    reeve_client *client;

    if (config->cron_count == 0) return true;
    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) {
        rv_log(REEVE_LOG_WARN, "program.cron", NOT_WRITTEN, "error", words, NULL);
        return false;
    }
    return write_all(client, config);
}
