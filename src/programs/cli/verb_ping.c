/*
 * verb_ping.c - the verb that says which Redis answers, and how fast.
 */
#include <inttypes.h>
#include <stdio.h>

#include "client/checkup.h"
#include "json.h"
#include "table.h"
#include "verbs.h"

#define MIB 1048576.0

static void print_json(const cli_context *cli, const rv_checkup *redis)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "url", cli->client->url.redacted);
    cli_json_text(&json, "version", redis->version[0] != '\0' ? redis->version : NULL);
    cli_json_text(&json, "role", redis->role[0] != '\0' ? redis->role : NULL);
    cli_json_text(&json, "mode", redis->mode[0] != '\0' ? redis->mode : NULL);
    cli_json_int(&json, "best_us", redis->best_us);
    cli_json_int(&json, "median_us", redis->median_us);
    cli_json_int(&json, "clock_ahead_ms", redis->ahead_ms);
    cli_json_maybe(&json, "used_memory_bytes", redis->used_bytes);
    cli_json_maybe(&json, "max_memory_bytes", redis->max_bytes > 0 ? redis->max_bytes : -1);
    cli_json_end(&json);
}

static bool print_fields(const cli_context *cli, const rv_checkup *redis)
{
    cli_fields fields;
    bool printed;

    cli_fields_init(&fields);
    cli_fields_add(&fields, "url", cli->client->url.redacted);
    if (redis->version[0] != '\0')
        cli_fields_addf(&fields, "redis", "%s, %s, %s", redis->version, redis->mode, redis->role);
    cli_fields_addf(&fields, "round trip", "%.3f ms (the best of five; median %.3f ms)", (double)redis->best_us / 1000,
                    (double)redis->median_us / 1000);
    cli_fields_addf(&fields, "clock", "%+" PRId64 " ms against this machine's, +/- %" PRId64, redis->ahead_ms,
                    redis->about_ms);
    if (redis->used_bytes >= 0 && redis->max_bytes > 0)
        cli_fields_addf(&fields, "memory", "%.1f of %.1f MiB", (double)redis->used_bytes / MIB,
                        (double)redis->max_bytes / MIB);
    else if (redis->used_bytes >= 0)
        cli_fields_addf(&fields, "memory", "%.1f MiB, no limit", (double)redis->used_bytes / MIB);
    printed = cli_fields_print(&fields, stdout);
    cli_fields_fini(&fields);
    return printed;
}

static int ping(cli_context *cli, void *options)
{
    rv_checkup redis;
    int status = cli_open(cli);

    (void)options;
    if (status != CLI_DONE) return status;
    reeve_status result = rv_checkup_take(cli->client, &redis);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    if (!cli->json) return print_fields(cli, &redis) ? CLI_DONE : cli_no_memory(cli);
    print_json(cli, &redis);
    return CLI_DONE;
}

const cli_verb cli_verb_ping = {
    .name = "ping",
    .section = CLI_SERVERS,
    .synopsis = "",
    .summary = "Shows whether Redis answers, its version and role, and the round trip time",
    .run = ping,
    .notes = "`reeve doctor` looks for problems.\n"
             "\n"
             "Examples:\n"
             "  reeve ping\n"
             "  reeve ping --json | jq .best_us\n"
             "  until reeve ping >/dev/null 2>&1; do sleep 1; done\n",
    .exits = "0 it answers",
};
