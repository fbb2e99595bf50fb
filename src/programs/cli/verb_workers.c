#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "crashes_view.h"
#include "page.h"
#include "table.h"
#include "verbs.h"
#include "when.h"
#include "worker_json.h"

static const cli_column columns[] = {
    {"WORKER", false, 0, 0}, {"NAME", false, 30, 2}, {"HOST", false, 30, 5}, {"PID", true, 0, 5},
    {"STATE", false, 0, 0},  {"BUSY", true, 0, 0},   {"UTIL", true, 0, 2},   {"PROCESSED", true, 0, 3},
    {"FAILED", true, 0, 3},  {"MEMORY", true, 0, 4}, {"REDIS", true, 0, 4},  {"UP SINCE", false, 0, 6},
    {"SEEN", false, 0, 1},
};
static const cli_column running_columns[] = {
    {"WORKER", false, 0, 0}, {"THREAD", false, 0, 3}, {"TASK", false, 0, 0},
    {"TYPE", false, 40, 2},  {"FOR", true, 0, 1},
};

static const cli_column pool_columns[] = {
    {"WORKER", false, 0, 0}, {"POOL", false, 30, 0},   {"THREADS", true, 0, 1},
    {"UTIL", true, 0, 2},    {"5 MIN", true, 0, 4},    {"15 MIN", true, 0, 4},
    {"ORDER", false, 0, 5},  {"QUEUES", false, 70, 0}, {"LAST DECISION", false, 80, 3},
};

static const cli_column plugin_columns[] = {
    {"WORKER", false, 0, 0}, {"PLUGIN", false, 30, 0}, {"VERSION", false, 20, 0},
    {"LOADED", false, 0, 2}, {"STATE", false, 0, 1},   {"FILE", false, 80, 3},
};

struct workers_options {
    bool running;
    bool pools;
    bool plugins;
    bool crashes;
    cli_page page;
};
#define AT(field) offsetof(struct workers_options, field)

static const cli_option workers_table[] = {
    {"running", NULL, "show the task that each thread runs", CLI_FLAG, AT(running), 0, 0, NULL},
    {"pools", NULL, "show the pools, with their threads and queues", CLI_FLAG, AT(pools), 0, 0, NULL},
    {"plugins", NULL, "show the plugins, with their versions and files", CLI_FLAG, AT(plugins), 0, 0, NULL},
    {"crashes", NULL, "show the last crashes of supervised workers, workers with a crash_dir, and runners", CLI_FLAG,
     AT(crashes), 0, 0, NULL},
    CLI_PAGE_LIMIT_OR_ALL(AT(page)),
    CLI_PAGE_OFFSET(AT(page)),
    {0},
};

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

/* share: from 0 to 1; negative: unknown. */
static void add_share(cli_table *table, double share)
{
    if (share >= 0)
        cli_table_cellf(table, "%.0f%%", 100 * share);
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
    add_share(table, info->utilisation);
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
        cli_table_cellf(table, "%s%s", text,
                        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "stuck")) ? " (stuck)" : "");
    }
    cJSON_Delete(list);
}

/* ---- pools ----------------------------------------------------------------------------------------------------- */

static void add_queues(cli_table *table, const cJSON *queues)
{
    const cJSON *queue;
    rv_buf text;

    rv_buf_init(&text, 65536);
    cJSON_ArrayForEach(queue, queues)
    {
        if (cJSON_IsString(queue)) rv_buf_addf(&text, "%s%s", text.length > 0 ? " " : "", queue->valuestring);
    }
    cli_table_cell(table, rv_buf_text(&text));
    rv_buf_fini(&text);
}

static int count_of(const cJSON *item, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, name);

    return cJSON_IsNumber(number) ? number->valueint : 0;
}

/* From 0 to 1; -1: not known. */
static double share_of(const cJSON *item, const char *name)
{
    const cJSON *share = cJSON_GetObjectItemCaseSensitive(item, name);

    return cJSON_IsNumber(share) && share->valuedouble <= 1 ? share->valuedouble : -1;
}

/* "8"; "4 (2-32)" where the number follows the work. */
static void add_threads(cli_table *table, const cJSON *pool)
{
    int threads = count_of(pool, "threads"), max = count_of(pool, "max");

    if (max > 0)
        cli_table_cellf(table, "%d (%d-%d)", threads, count_of(pool, "min"), max);
    else
        cli_table_cellf(table, "%d", threads);
}

static void add_pools(cli_table *table, const reeve_worker_info *info)
{
    cJSON *list = cJSON_Parse(info->pools);
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        const char *order = text_of(item, "order");

        cli_table_cell(table, info->id);
        cli_table_cell(table, text_of(item, "name"));
        add_threads(table, item);
        add_share(table, share_of(item, "utilisation"));
        add_share(table, share_of(item, "utilisation_5m"));
        add_share(table, share_of(item, "utilisation_15m"));
        cli_table_cell(table, order[0] == '\0' ? "strict" : order);
        add_queues(table, cJSON_GetObjectItemCaseSensitive(item, "queues"));
        cli_table_cell(table, text_of(item, "why"));
    }
    cJSON_Delete(list);
}

/* ---- plugins --------------------------------------------------------------------------------------------------- */

static void add_plugins(cli_table *table, const reeve_worker_info *info)
{
    cJSON *list = info->plugins != NULL ? cJSON_Parse(info->plugins) : NULL;
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        const cJSON *loaded = cJSON_GetObjectItemCaseSensitive(item, "loaded");

        cli_table_cell(table, info->id);
        cli_table_cell(table, text_of(item, "name"));
        cli_table_cell(table, text_of(item, "version"));
        add_ago(table, cJSON_IsNumber(loaded) && loaded->valuedouble < 9e15 ? (int64_t)loaded->valuedouble : 0);
        cli_table_cell(table, cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "ends")) ? "ends" : "in force");
        cli_table_cell(table, text_of(item, "path"));
    }
    cJSON_Delete(list);
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

#define COUNT(columns) (sizeof(columns) / sizeof((columns)[0]))

static bool print_table(const reeve_worker_info *list, size_t count, const struct workers_options *options)
{
    cli_table table;
    bool printed;

    if (options->running)
        cli_table_init(&table, running_columns, COUNT(running_columns));
    else if (options->pools)
        cli_table_init(&table, pool_columns, COUNT(pool_columns));
    else if (options->plugins)
        cli_table_init(&table, plugin_columns, COUNT(plugin_columns));
    else
        cli_table_init(&table, columns, COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        if (options->running)
            add_running(&table, &list[i]);
        else if (options->pools)
            add_pools(&table, &list[i]);
        else if (options->plugins)
            add_plugins(&table, &list[i]);
        else
            add_row(&table, &list[i]);
    }
    if (options->running && table.used == 0 && !table.failed)
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
    size_t count = 0, shown, from;
    int status = CLI_DONE;

    if (options->running + options->pools + options->plugins + options->crashes > 1)
        return cli_usage(cli, "--running, --pools, --plugins and --crashes: give one of them");
    status = cli_open(cli);
    if (status != CLI_DONE) return status;
    if (options->crashes) return cli_crashes_view(cli, &options->page);
    result = reeve_workers(cli->client, &list, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    if (!cli->json && count == 0) {
        (void)fprintf(stderr, "no worker is alive; `reeve-worker -c FILE` starts one\n");
        cli_note_private(cli);
    }
    shown = count;
    from = cli_page_cut(cli, &options->page, "workers", &shown);
    for (size_t i = 0; i < shown && cli->json; i++) cli_worker_json(&list[from + i], stdout);
    if (!cli->json && shown > 0 && !print_table(&list[from], shown, options)) status = cli_no_memory(cli);
    reeve_workers_free(list, count);
    return status;
}

const cli_verb cli_verb_workers = {
    .name = "workers",
    .section = CLI_SERVERS,
    .synopsis = "[--running | --pools | --plugins | --crashes] [--limit N] [--offset N]",
    .summary = "Shows all live workers, the tasks that they run, or their pools",
    .options = workers_table,
    .options_size = sizeof(struct workers_options),
    .run = workers,
    .notes =
        "BUSY is N/ALL: at the last heartbeat, N of ALL threads of the worker ran a handler. UTIL is the percentage\n"
        "of about the last minute during which the threads ran handlers. SEEN is the time since the last heartbeat.\n"
        "MEMORY is the resident memory of the process, and REDIS the round trip time of a heartbeat. --running prints\n"
        "a row for each running task; if a worker runs more than 64 tasks, only for the 64 that have run longest. FOR\n"
        "is the run time at the last heartbeat. --pools prints a row for each pool, with the utilisation of about the\n"
        "last 1, 5 and 15 minutes. THREADS is the number of threads. If the number follows the work, THREADS also\n"
        "shows its limits, as in \"8 (2-32)\", and LAST DECISION is the reason of the last change, or the reason for\n"
        "no change. --plugins prints a row for each plugin, and for each replaced version that still runs tasks.\n"
        "--json always includes the running tasks, the pools and the plugins. --crashes prints the last 100 crashes\n"
        "of workers that have a supervisor or a crash_dir, and of runners (process isolation), the latest first.\n"
        "\n"
        "Example:\n"
        "  reeve workers --json | jq -r 'select(.state == \"running\") | .worker'\n",
};
