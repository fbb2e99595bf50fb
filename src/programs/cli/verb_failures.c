/*
 * verb_failures.c - the dead letters by the kind of error, or by type: what goes wrong, where, how often; and the tasks of
 * one kind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/clock.h"
#include "by_queue.h"
#include "failure_json.h"
#include "verbs.h"
#include "when.h"

struct failures_options {
    cli_page page;
    bool by_type;
};

#define AT(field) offsetof(struct failures_options, field)

static int read_by(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct failures_options *options = pointer;

    options->by_type = strcmp(value, "type") == 0;
    if (options->by_type || strcmp(value, "kind") == 0) return CLI_DONE;
    return cli_bad_value(cli, option, value, "kind or type");
}

static const cli_option failures_table[] = {
    {"by", "WHAT", "count dead tasks by kind of error, or by type: kind or type (kind)", CLI_OTHER, 0, 0, 0, read_by},
    CLI_PAGE_LIMIT(AT(page)),
    CLI_PAGE_OFFSET(AT(page)),
    {0},
};
static const struct failures_options failures_defaults = {.page = CLI_PAGE_DEFAULT};

static const cli_column columns[] = {
    {"QUEUE", false, 0, 0}, {"KIND", false, 40, 0}, {"DEAD", true, 0, 0},
    {"LAST", false, 0, 2},  {"TYPE", false, 40, 3}, {"MESSAGE", false, 70, 4},
};

static void print_json(const char *queue, const void *item)
{
    cli_failure_json(queue, item, stdout);
}

static void add_row(cli_table *table, const char *queue, const void *item)
{
    const reeve_failure *failure = item;
    char last[CLI_WHEN_TEXT] = "";

    if (failure->last_ms > 0) cli_ago_text(failure->last_ms, rv_wall_ms(), last);
    cli_table_cell(table, queue);
    cli_table_cell(table, failure->kind);
    cli_table_cellf(table, "%" PRIu64, failure->count);
    cli_table_cell(table, last);
    cli_table_cell(table, failure->last_type);
    cli_table_cell(table, failure->last_message);
}

static reeve_status fetch(reeve_client *client, const char *queue, uint64_t offset, size_t max, void **ret_list,
                          size_t *ret_count, uint64_t *ret_total)
{
    reeve_failure *list = NULL;
    reeve_status status = reeve_failures(client, queue, offset, max, &list, ret_count, ret_total);

    *ret_list = list;
    return status;
}

static void free_list(void *list)
{
    reeve_failures_free(list);
}

static bool has_dead_ones(const reeve_queue_info *queue)
{
    return queue->count[REEVE_STATE_DEAD] > 0;
}

static const cli_by_queue_kind listed = {
    .none = "no dead task",
    .names = "kinds",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
    .item_size = sizeof(reeve_failure),
    .fetch = fetch,
    .free_list = free_list,
    .print_json = print_json,
    .add_row = add_row,
    .may_have = has_dead_ones,
};

/* ---- by type --------------------------------------------------------------------------------------------------- */

static const cli_column type_columns[] = {
    {"QUEUE", false, 0, 0}, {"TYPE", false, 40, 0}, {"DEAD", true, 0, 0},
    {"LAST", false, 0, 2},  {"KIND", false, 40, 3}, {"MESSAGE", false, 70, 4},
};

static void print_type_json(const char *queue, const void *item)
{
    cli_type_failure_json(queue, item, stdout);
}

static void add_type_row(cli_table *table, const char *queue, const void *item)
{
    const reeve_type_failure *failure = item;
    char last[CLI_WHEN_TEXT] = "";

    if (failure->last_ms > 0) cli_ago_text(failure->last_ms, rv_wall_ms(), last);
    cli_table_cell(table, queue);
    cli_table_cell(table, failure->type);
    cli_table_cellf(table, "%" PRIu64, failure->count);
    cli_table_cell(table, last);
    cli_table_cell(table, failure->last_kind);
    cli_table_cell(table, failure->last_message);
}

/* A page of all types, which are counted anew for each. */
static reeve_status fetch_types(reeve_client *client, const char *queue, uint64_t offset, size_t max, void **ret_list,
                                size_t *ret_count, uint64_t *ret_total)
{
    reeve_type_failure *list = NULL;
    size_t count = 0;
    reeve_status status = reeve_failures_by_type(client, queue, 0, &list, &count, NULL);

    if (status != REEVE_OK) return status;
    size_t skip = offset < count ? (size_t)offset : count;
    *ret_total = count;
    *ret_count = count - skip < max ? count - skip : max;
    if (*ret_count > 0) memmove(list, list + skip, *ret_count * sizeof(*list));
    *ret_list = list;
    return REEVE_OK;
}

static void free_types(void *list)
{
    reeve_type_failures_free(list);
}

static const cli_by_queue_kind listed_types = {
    .none = "no dead task",
    .names = "types",
    .columns = type_columns,
    .column_count = sizeof(type_columns) / sizeof(type_columns[0]),
    .item_size = sizeof(reeve_type_failure),
    .fetch = fetch_types,
    .free_list = free_types,
    .print_json = print_type_json,
    .add_row = add_type_row,
    .may_have = has_dead_ones,
};

/* ---- the verb -------------------------------------------------------------------------------------------------- */

static int failures(cli_context *cli, void *pointer)
{
    const struct failures_options *options = pointer;

    if (cli->count == 2 && options->by_type) return cli_usage(cli, "--by type does not go with a KIND");
    if (cli->count == 2) return cli_list(cli, cli->rest[0], REEVE_STATE_DEAD, cli->rest[1], &options->page);
    return cli_by_queue(cli, options->by_type ? &listed_types : &listed, &options->page);
}

const cli_verb cli_verb_failures = {
    .name = "failures",
    .section = CLI_QUEUES,
    .synopsis = "[QUEUE [KIND]] [--by kind|type] [--limit N] [--offset N]",
    .summary = "Counts dead tasks by kind of error or by type of task, or lists the dead tasks of one kind",
    .options = failures_table,
    .options_size = sizeof(struct failures_options),
    .defaults = &failures_defaults,
    .max = 2,
    .run = failures,
    .notes =
        "Without a QUEUE, the command lists the kinds of all queues. With a QUEUE, it lists the kinds of this\n"
        "queue, the most recent one first. With a KIND, it lists the dead tasks of this kind, as `reeve list`\n"
        "does. DEAD is the number of dead tasks that are kept. LAST is when the latest of them died. TYPE and\n"
        "MESSAGE are the type and the error message of that task.\n"
        "\n"
        "With --by type, the command counts the dead tasks of each type, the most frequent type first. It examines\n"
        "all dead tasks of the queue, in small steps.\n"
        "\n"
        "Examples:\n"
        "  reeve failures\n"
        "  reeve failures default timeout --limit 5\n"
        "  reeve failures default --by type\n"
        "  reeve retry default --kind timeout\n",
};
