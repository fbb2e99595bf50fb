/*
 * verb_ping.c - the verb that says which Redis answers, and how fast.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/checkup.h"
#include "json.h"
#include "redis/topology.h"
#include "table.h"
#include "verbs.h"

#define MIB 1048576.0
#define SERVERS_MAX 65536 /* bytes of their addresses */

/* "host:port" of the server that Sentinels name. False: the URL has it. */
static bool name_master(const cli_context *cli, char *ret, size_t size)
{
    const rv_address *at = rv_conn_address(cli->client->conn);

    if (cli->client->url.topology == NULL || at->path != NULL) return false;
    (void)snprintf(ret, size, strchr(at->host, ':') != NULL ? "[%s]:%d" : "%s:%d", at->host, at->port);
    return true;
}

static void list_servers(cli_json *json, const char *key, char *servers)
{
    char *rest = NULL;

    cli_json_open_array(json, key);
    for (char *at = strtok_r(servers, ", ", &rest); at != NULL; at = strtok_r(NULL, ", ", &rest))
        cli_json_text(json, NULL, at);
    cli_json_close_array(json);
}

static bool print_topology_json(const cli_context *cli, cli_json *json)
{
    char master[RV_HOST_SIZE + 16];
    bool found = name_master(cli, master, sizeof(master));
    rv_buf servers;

    cli_json_text(json, "master", found ? master : NULL);
    rv_buf_init(&servers, SERVERS_MAX);
    rv_topology_write_servers(&cli->client->url, &servers);
    char *copy = rv_strdup(rv_buf_text(&servers));
    rv_buf_fini(&servers);
    if (copy == NULL) return false;
    list_servers(json, "sentinels", copy);
    rv_free(copy);
    return true;
}

static void add_topology(const cli_context *cli, cli_fields *fields)
{
    char master[RV_HOST_SIZE + 16];
    rv_buf servers;

    if (!name_master(cli, master, sizeof(master))) return;
    cli_fields_add(fields, "master", master);
    rv_buf_init(&servers, SERVERS_MAX);
    rv_topology_write_servers(&cli->client->url, &servers);
    cli_fields_add(fields, "sentinels", rv_buf_text(&servers));
    rv_buf_fini(&servers);
}

static bool print_json(const cli_context *cli, const rv_checkup *redis)
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
    bool done = print_topology_json(cli, &json);
    cli_json_end(&json);
    return done;
}

static bool print_fields(const cli_context *cli, const rv_checkup *redis)
{
    cli_fields fields;
    bool printed;

    cli_fields_init(&fields);
    cli_fields_add(&fields, "url", cli->client->url.redacted);
    add_topology(cli, &fields);
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
    bool printed = cli->json ? print_json(cli, &redis) : print_fields(cli, &redis);
    return printed ? CLI_DONE : cli_no_memory(cli);
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
