/*
 * verb_tags.c - the tags of a queue's tasks, or of all queues.
 */
#include <inttypes.h>
#include <stdio.h>

#include "args.h"
#include "base/clock.h"
#include "by_queue.h"
#include "json.h"
#include "verbs.h"
#include "when.h"

struct tags_options {
    cli_page page;
};

#define AT(field) offsetof(struct tags_options, field)

static const cli_option tags_table[] = {
    CLI_PAGE_LIMIT(AT(page)),
    CLI_PAGE_OFFSET(AT(page)),
    {0},
};
static const struct tags_options tags_defaults = {.page = CLI_PAGE_DEFAULT};

static const cli_column columns[] = {
    {"QUEUE", false, 0, 0}, {"TAG", false, 70, 0}, {"TASKS", true, 0, 0}, {"LAST", false, 0, 1}};

static void print_json(const char *queue, const void *item)
{
    const reeve_tag *tag = item;
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "tag", tag->name);
    cli_json_uint(&json, "count", tag->count);
    cli_json_maybe(&json, "last_ms", tag->last_ms);
    cli_json_end(&json);
}

static void add_row(cli_table *table, const char *queue, const void *item)
{
    const reeve_tag *tag = item;
    char last[CLI_WHEN_TEXT];

    cli_ago_text(tag->last_ms, rv_wall_ms(), last);
    cli_table_cell(table, queue);
    cli_table_cell(table, tag->name);
    cli_table_cellf(table, "%" PRIu64, tag->count);
    cli_table_cell(table, last);
}

static reeve_status fetch(reeve_client *client, const char *queue, uint64_t offset, size_t max, void **ret_list,
                          size_t *ret_count, uint64_t *ret_total)
{
    reeve_tag *list = NULL;
    reeve_status status = reeve_tags(client, queue, offset, max, &list, ret_count, ret_total);

    *ret_list = list;
    return status;
}

static void free_list(void *list)
{
    reeve_tags_free(list);
}

static const cli_by_queue_kind listed = {
    .none = "no task with a tag",
    .names = "tags",
    .columns = columns,
    .column_count = sizeof(columns) / sizeof(columns[0]),
    .item_size = sizeof(reeve_tag),
    .fetch = fetch,
    .free_list = free_list,
    .print_json = print_json,
    .add_row = add_row,
};

static int tags(cli_context *cli, void *pointer)
{
    const struct tags_options *options = pointer;

    return cli_by_queue(cli, &listed, &options->page);
}

const cli_verb cli_verb_tags = {
    .name = "tags",
    .section = CLI_TASKS,
    .synopsis = "[QUEUE] [--limit N] [--offset N]",
    .summary = "Shows the tags of tasks, and how many tasks have them",
    .options = tags_table,
    .options_size = sizeof(struct tags_options),
    .defaults = &tags_defaults,
    .max = 1,
    .run = tags,
    .notes = "TASKS is the number of tasks with the tag, in all states. LAST is when a task with the tag was last\n"
             "enqueued; the most recent tag comes first. Without a QUEUE, the tags of all queues are listed.\n"
             "\n"
             "Examples:\n"
             "  reeve tags default\n"
             "  reeve list default --tag invoice\n",
};
