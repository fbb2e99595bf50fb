#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "json.h"
#include "maintain.h"
#include "page.h"
#include "table.h"
#include "verbs.h"
#include "when.h"

struct queues_options {
    cli_page page;
};

static const cli_option queues_table[] = {
    CLI_PAGE_LIMIT_OR_ALL(offsetof(struct queues_options, page)),
    CLI_PAGE_OFFSET(offsetof(struct queues_options, page)),
    {0},
};

static const cli_column columns[] = {
    {"QUEUE", false, 0}, {"PAUSED", false, 0}, {"READY", true, 0},     {"SCHEDULED", true, 0}, {"BLOCKED", true, 0},
    {"PARKED", true, 0}, {"RUNNING", true, 0}, {"COMPLETED", true, 0}, {"DEAD", true, 0},      {"CANCELLED", true, 0},
    {"DONE", true, 0},   {"FAILED", true, 0},  {"OLDEST", false, 0},
};

static void print_json(const reeve_queue_info *info)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", info->name);
    cli_json_bool(&json, "paused", info->paused);
    for (int state = 0; state < REEVE_STATE_COUNT; state++)
        cli_json_uint(&json, reeve_state_name((reeve_state)state), info->count[state]);
    cli_json_uint(&json, "completed_total", info->completed_total);
    cli_json_uint(&json, "failed_total", info->failed_total);
    cli_json_uint(&json, "dead_total", info->dead_total);
    cli_json_uint(&json, "crashed_total", info->crashed_total);
    cli_json_maybe(&json, "oldest_ready_ms", info->oldest_ready_ms);
    cli_json_maybe(&json, "next_due_ms", info->next_due_ms);
    cli_json_end(&json);
}

static void add_number(cli_table *table, uint64_t number)
{
    cli_table_cellf(table, "%" PRIu64, number);
}

static void add_row(cli_table *table, const reeve_queue_info *info)
{
    char oldest[CLI_WHEN_TEXT];

    cli_ago_text(info->oldest_ready_ms, rv_wall_ms(), oldest);
    cli_table_cell(table, info->name);
    cli_table_cell(table, info->paused ? "yes" : "no");
    add_number(table, info->count[REEVE_STATE_READY]);
    add_number(table, info->count[REEVE_STATE_SCHEDULED]);
    add_number(table, info->count[REEVE_STATE_BLOCKED]);
    add_number(table, info->count[REEVE_STATE_PARKED]);
    add_number(table, info->count[REEVE_STATE_RUNNING]);
    add_number(table, info->count[REEVE_STATE_COMPLETED]);
    add_number(table, info->count[REEVE_STATE_DEAD]);
    add_number(table, info->count[REEVE_STATE_CANCELLED]);
    add_number(table, info->completed_total);
    add_number(table, info->failed_total);
    cli_table_cell(table, oldest);
}

static void take_queue(const cli_context *cli, cli_table *table, const reeve_queue_info *info)
{
    if (cli->json)
        print_json(info);
    else
        add_row(table, info);
}

/* What only maintenance moves on: tasks of a dead worker, and such as are due. */
static bool may_be_neglected(const reeve_queue_info *info)
{
    return info->count[REEVE_STATE_RUNNING] > 0 || (info->next_due_ms >= 0 && info->next_due_ms < rv_wall_ms());
}

static int take_queue_now(const cli_context *cli, cli_table *table, reeve_queue_info *info)
{
    char name[REEVE_QUEUE_MAX + 1];

    if (may_be_neglected(info) && cli_maintain(cli, info->name)) {
        reeve_status status;

        rv_copy_text(name, sizeof(name), info->name);
        status = reeve_queue(cli->client, name, info);
        if (status != REEVE_OK) return cli_fail_call(cli, status, name);
    }
    take_queue(cli, table, info);
    return CLI_DONE;
}

static int take_all(cli_context *cli, cli_table *table, const cli_page *page)
{
    reeve_queue_info *list = NULL;
    size_t count = 0, from;
    reeve_status status = reeve_queues(cli->client, &list, &count);
    int result = CLI_DONE;

    if (status != REEVE_OK) return cli_fail_call(cli, status, NULL);
    if (count == 0 && !cli->json) (void)fprintf(stderr, "no queue yet; one comes to be with its first task\n");
    from = cli_page_cut(cli, page, "queues", &count);
    for (size_t i = 0; i < count && result == CLI_DONE; i++) result = take_queue_now(cli, table, &list[from + i]);
    reeve_queues_free(list);
    return result;
}

static int take_named(cli_context *cli, cli_table *table)
{
    int result = CLI_DONE;

    for (size_t i = 0; i < cli->count && result == CLI_DONE; i++) {
        reeve_queue_info info;
        reeve_status status = reeve_queue(cli->client, cli->rest[i], &info);

        if (status != REEVE_OK) return cli_fail_call(cli, status, cli->rest[i]);
        result = take_queue_now(cli, table, &info);
    }
    return result;
}

static int queues(cli_context *cli, void *pointer)
{
    const struct queues_options *options = pointer;
    cli_table table;
    int status = CLI_DONE;

    if (cli->count > 0 && cli->given > 0) return cli_usage(cli, "--limit and --offset go without a QUEUE");
    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++) status = cli_queue_argument(cli, cli->rest[i]);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    cli_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    status = cli->count == 0 ? take_all(cli, &table, &options->page) : take_named(cli, &table);
    if (table.used > 0 && !cli_table_print(&table, stdout)) status = cli_no_memory(cli);
    cli_table_fini(&table);
    return status;
}

const cli_verb cli_verb_queues = {
    .name = "queues",
    .synopsis = "[QUEUE...]\n       reeve queues [--limit N] [--offset N]",
    .summary = "Shows all queues, or those named, with the number of tasks in each state",
    .options = queues_table,
    .options_size = sizeof(struct queues_options),
    .most = CLI_ANY_NUMBER,
    .run = queues,
    .notes =
        "DONE and FAILED count what was ever completed and how many attempts ever failed; workers add to them every\n"
        "few seconds. BLOCKED tasks wait for others, PARKED ones until their group is below its limit (`reeve limit\n"
        "QUEUE`). OLDEST is the age of the task at the head of the queue.\n"
        "\nExamples:\n"
        "  reeve queues\n"
        "  reeve queues default --json | jq .ready\n",
};
