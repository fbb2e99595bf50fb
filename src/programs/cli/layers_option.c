/*
 * layers_option.c - --layers PLUGIN: the layers of a plugin see the tasks that a verb enqueues, leases or settles
 * (reeve/layer.h).
 */
#include "base/error.h"
#include "cli.h"
#include "reeve/layer.h"
#include "reeve/plugin.h"

int cli_add_layers(cli_context *cli)
{
    char words[512] = "";
    reeve_status status = reeve_plugin_open(&cli->layers_plugin, cli->layers, NULL, words, sizeof(words));

    if (status != REEVE_OK)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "plugin"}, "%s",
                             words[0] == '\0' ? reeve_status_text(status) : words);
    const reeve_plugin *plugin = reeve_plugin_get(cli->layers_plugin);
    for (size_t i = 0; i < plugin->layer_count && status == REEVE_OK; i++) {
        reeve_layer layer = plugin->layers[i];
        layer.free_user = NULL; /* the plugin frees it */
        status = reeve_client_add_layer(cli->client, &layer);
    }
    return status == REEVE_OK ? CLI_DONE : cli_fail_call(cli, status, NULL);
}

reeve_status cli_add_consumer_layers(const cli_context *cli, reeve_consumer *consumer, char *ret_error, size_t size)
{
    if (cli->layers_plugin == NULL) return REEVE_OK;
    const reeve_plugin *plugin = reeve_plugin_get(cli->layers_plugin);
    reeve_status status = REEVE_OK;
    for (size_t i = 0; i < plugin->layer_count && status == REEVE_OK; i++) {
        reeve_layer layer = plugin->layers[i];
        layer.free_user = NULL;
        status = reeve_consumer_add_layer(consumer, &layer);
    }
    if (status != REEVE_OK) rv_copy_text(ret_error, size, reeve_consumer_error(consumer));
    return status;
}
