/*
 * verb_heartbeat.c - a lease that `reeve lease` made lasts longer.
 */
#include <stdio.h>

#include "handle.h"
#include "json.h"
#include "verbs.h"

struct heartbeat_options {
    const char *lease;
    int64_t for_ms;
};

#define AT(field) offsetof(struct heartbeat_options, field)

static const cli_option heartbeat_table[] = {
    {"lease", "TOKEN", "token of the lease, as `reeve lease` printed it (required)", CLI_TEXT, AT(lease), 0, 0, NULL},
    {"for", "DURATION", "how long the lease lasts from now (30s)", CLI_DURATION, AT(for_ms), 1, 0, NULL},
    {0},
};
static const struct heartbeat_options heartbeat_defaults = {.for_ms = 30000};

static void print(const cli_context *cli, const cli_handle *handle, int64_t for_ms)
{
    cli_json json;

    if (!cli->json) {
        cli_handle_print(cli, handle);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, handle->queue, handle->id);
    cli_json_int(&json, "for_ms", for_ms);
    cli_json_end(&json);
}

static int heartbeat(cli_context *cli, void *pointer)
{
    const struct heartbeat_options *options = pointer;
    char name[REEVE_HANDLE_MAX + 1];
    cli_handle handle;
    int status;

    if (cli_handle_argument(cli, &handle, cli->rest[0]) != CLI_DONE) return CLI_USAGE;
    if (options->lease == NULL) return cli_usage(cli, "--lease TOKEN is missing; `reeve lease` prints it");
    status = cli_open(cli);
    if (status != CLI_DONE) return status;
    cli_handle_text(&handle, name);
    reeve_status extended = reeve_lease_extend(cli->client, handle.queue, handle.id, options->lease, options->for_ms);
    if (extended == REEVE_EINVAL) return cli_usage(cli, "%s", reeve_client_error(cli->client));
    if (extended != REEVE_OK) return cli_fault_call(cli, extended, &(cli_fault){.handle = name});
    print(cli, &handle, options->for_ms);
    return CLI_DONE;
}

const cli_verb cli_verb_heartbeat = {
    .name = "heartbeat",
    .section = CLI_TASKS,
    .synopsis = "HANDLE --lease TOKEN [--for DURATION]",
    .summary = "Extends the lease of a task",
    .options = heartbeat_table,
    .options_size = sizeof(struct heartbeat_options),
    .defaults = &heartbeat_defaults,
    .min = 1,
    .max = 1,
    .run = heartbeat,
    .notes =
        "The lease expires after the time of --for, from now. So do all leases of the same call of `reeve lease`.\n"
        "Exit status 1: the lease has expired, or the task was settled.\n"
        "\n"
        "Example:\n"
        "  reeve heartbeat thumbs/17 --lease \"$token\" --for 5m\n",
};
