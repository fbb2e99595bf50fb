#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "json.h"
#include "table.h"
#include "verbs.h"
#include "when.h"

static const cli_column columns[] = {
    {"WORKER", false, 0}, {"NAME", false, 30},    {"HOST", false, 30}, {"PID", true, 0},       {"STATE", false, 0},
    {"BUSY", true, 0},    {"PROCESSED", true, 0}, {"FAILED", true, 0}, {"UP SINCE", false, 0}, {"SEEN", false, 0},
};

static void print_json(const reeve_worker_info *info)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "worker", info->id);
    cli_json_text(&json, "name", info->name);
    cli_json_text(&json, "host", info->host);
    cli_json_int(&json, "pid", info->pid);
    cli_json_text(&json, "version", info->version);
    cli_json_text(&json, "state", info->state);
    cli_json_maybe(&json, "started_ms", info->started_ms);
    cli_json_maybe(&json, "seen_ms", info->seen_ms);
    cli_json_uint(&json, "threads", info->threads);
    cli_json_uint(&json, "busy", info->busy);
    cli_json_uint(&json, "processed", info->processed);
    cli_json_uint(&json, "failed", info->failed);
    cli_json_raw(&json, "pools", info->pools);
    cli_json_end(&json);
}

static void add_ago(cli_table *table, int64_t time_ms)
{
    char text[CLI_WHEN_TEXT];

    cli_ago_text(time_ms, rv_wall_ms(), text);
    cli_table_cell(table, text);
}

static void add_row(cli_table *table, const reeve_worker_info *info)
{
    cli_table_cell(table, info->id);
    cli_table_cell(table, info->name);
    cli_table_cell(table, info->host);
    cli_table_cellf(table, "%" PRId64, info->pid);
    cli_table_cell(table, info->state);
    cli_table_cellf(table, "%u/%u", info->busy, info->threads);
    cli_table_cellf(table, "%" PRIu64, info->processed);
    cli_table_cellf(table, "%" PRIu64, info->failed);
    add_ago(table, info->started_ms);
    add_ago(table, info->seen_ms);
}

static bool print_table(const reeve_worker_info *list, size_t count)
{
    cli_table table;
    bool printed;

    cli_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < count; i++) add_row(&table, &list[i]);
    printed = cli_table_print(&table, stdout);
    cli_table_fini(&table);
    return printed;
}

static int workers(cli_context *cli, void *options)
{
    reeve_worker_info *list = NULL;
    reeve_status result;
    size_t count = 0;
    int status = cli_open(cli);

    (void)options;
    if (status != CLI_DONE) return status;
    result = reeve_workers(cli->client, &list, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    for (size_t i = 0; i < count && cli->json; i++) print_json(&list[i]);
    if (!cli->json && count > 0 && !print_table(list, count)) status = cli_no_memory(cli);
    if (!cli->json && count == 0) (void)fprintf(stderr, "no worker is alive; `reeve-worker -c FILE` starts one\n");
    reeve_workers_free(list, count);
    return status;
}

const cli_verb cli_verb_workers = {
    .name = "workers",
    .synopsis = "",
    .summary = "Shows all live workers",
    .run = workers,
    .notes = "BUSY is how many threads ran a handler, of how many there are, at the last heartbeat (SEEN).\n"
             "\nExample:\n"
             "  reeve workers --json | jq -r 'select(.state == \"running\") | .worker'\n",
};
