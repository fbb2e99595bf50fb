#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "json.h"
#include "table.h"
#include "verbs.h"
#include "when.h"

static const cli_column columns[] = {
    {"WORKER", false, 0},    {"NAME", false, 30},   {"HOST", false, 30}, {"PID", true, 0},  {"STATE", false, 0},
    {"BUSY", true, 0},       {"PROCESSED", true, 0}, {"FAILED", true, 0}, {"MEMORY", true, 0}, {"REDIS", true, 0},
    {"UP SINCE", false, 0},  {"SEEN", false, 0},
};
static const cli_column running_columns[] = {
    {"WORKER", false, 0}, {"THREAD", false, 0}, {"TASK", false, 0}, {"TYPE", false, 40}, {"FOR", true, 0},
};

struct workers_options {
    bool running;
};

static const cli_option workers_table[] = {
    {"running", NULL, "shows what each thread runs", CLI_FLAG, offsetof(struct workers_options, running), 0, 0, NULL},
    {0},
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
    cli_json_maybe(&json, "memory_bytes", info->memory_bytes > 0 ? info->memory_bytes : -1);
    cli_json_maybe(&json, "round_trip_us", info->round_trip_us > 0 ? info->round_trip_us : -1);
    cli_json_raw(&json, "running", info->running);
    cli_json_raw(&json, "pools", info->pools);
    cli_json_end(&json);
}

static void add_ago(cli_table *table, int64_t time_ms)
{
    char text[CLI_WHEN_TEXT];

    cli_ago_text(time_ms, rv_wall_ms(), text);
    cli_table_cell(table, text);
}

static void add_measures(cli_table *table, const reeve_worker_info *info)
{
    if (info->memory_bytes > 0)
        cli_table_cellf(table, "%.1f MiB", (double)info->memory_bytes / (1 << 20));
    else
        cli_table_cell(table, NULL);
    if (info->round_trip_us > 0)
        cli_table_cellf(table, "%.2f ms", (double)info->round_trip_us / 1000);
    else
        cli_table_cell(table, NULL);
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
    add_measures(table, info);
    add_ago(table, info->started_ms);
    add_ago(table, info->seen_ms);
}

/* ---- what runs ------------------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *item, const char *name)
{
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(item, name);
    return cJSON_IsString(text) ? text->valuestring : "";
}

/* As of the last heartbeat. */
static void add_running(cli_table *table, const reeve_worker_info *info)
{
    cJSON *list = cJSON_Parse(info->running);
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        const cJSON *time = cJSON_GetObjectItemCaseSensitive(item, "for_ms");
        char text[CLI_WHEN_TEXT];

        cli_span_text(cJSON_IsNumber(time) && time->valuedouble < 9e15 ? (int64_t)time->valuedouble : 0, text);
        cli_table_cell(table, info->id);
        cli_table_cell(table, text_of(item, "thread"));
        cli_table_cellf(table, "%s/%s", text_of(item, "queue"), text_of(item, "id"));
        cli_table_cell(table, text_of(item, "type"));
        cli_table_cell(table, text);
    }
    cJSON_Delete(list);
}

static bool print_table(const reeve_worker_info *list, size_t count, bool running)
{
    cli_table table;
    bool printed;

    cli_table_init(&table, running ? running_columns : columns,
                   running ? sizeof(running_columns) / sizeof(columns[0]) : sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < count; i++) {
        if (running)
            add_running(&table, &list[i]);
        else
            add_row(&table, &list[i]);
    }
    if (running && table.used == 0 && !table.failed)
        (void)fprintf(stderr, "no thread ran anything at the last heartbeats\n");
    printed = cli_table_print(&table, stdout);
    cli_table_fini(&table);
    return printed;
}

static int workers(cli_context *cli, void *pointer)
{
    const struct workers_options *options = pointer;
    reeve_worker_info *list = NULL;
    reeve_status result;
    size_t count = 0;
    int status = cli_open(cli);

    if (status != CLI_DONE) return status;
    result = reeve_workers(cli->client, &list, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    for (size_t i = 0; i < count && cli->json; i++) print_json(&list[i]);
    if (!cli->json && count > 0 && !print_table(list, count, options->running)) status = cli_no_memory(cli);
    if (!cli->json && count == 0) (void)fprintf(stderr, "no worker is alive; `reeve-worker -c FILE` starts one\n");
    reeve_workers_free(list, count);
    return status;
}

const cli_verb cli_verb_workers = {
    .name = "workers",
    .synopsis = "[--running]",
    .summary = "Shows all live workers, or what they run",
    .options = workers_table,
    .options_size = sizeof(struct workers_options),
    .run = workers,
    .notes = "BUSY is how many threads ran a handler, of how many there are, at the last heartbeat (SEEN). MEMORY\n"
             "is what the process has resident, REDIS how long a heartbeat took, there and back. --running: a row for\n"
             "each thread that ran something, of a worker the 64 that had run longest; FOR is how long, at that time.\n"
             "\nExample:\n"
             "  reeve workers --json | jq -r 'select(.state == \"running\") | .worker'\n",
};
