/*
 * tags.c - the tags of a queue's tasks, or of all queues.
 */
#include <inttypes.h>
#include <stdio.h>

#include "args.h"
#include "base/clock.h"
#include "json.h"
#include "page.h"
#include "table.h"
#include "verbs.h"
#include "when.h"

#define PAGE_MOST 500

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

static const cli_column columns[] = {{"QUEUE", false, 0}, {"TAG", false, 70}, {"TASKS", true, 0}, {"LAST", false, 0}};

static void print_json(const char *queue, const reeve_tag *tag)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "tag", tag->name);
    cli_json_uint(&json, "count", tag->count);
    cli_json_maybe(&json, "last_ms", tag->last_ms);
    cli_json_end(&json);
}

static void add_row(cli_table *table, const char *queue, const reeve_tag *tag)
{
    char last[CLI_WHEN_TEXT];

    cli_ago_text(tag->last_ms, rv_wall_ms(), last);
    cli_table_cell(table, queue);
    cli_table_cell(table, tag->name);
    cli_table_cellf(table, "%" PRIu64, tag->count);
    cli_table_cell(table, last);
}

/* What is shown of a queue. */
struct showing {
    cli_context *cli;
    cli_table table;
    uint64_t shown, total; /* in all queues so far */
};

static int show_page(struct showing *showing, const char *queue, uint64_t offset, uint64_t left, size_t *ret_count,
                     uint64_t *ret_total)
{
    reeve_tag *list = NULL;
    reeve_status status = reeve_tags(showing->cli->client, queue, offset, left < PAGE_MOST ? (size_t)left : PAGE_MOST,
                                     &list, ret_count, ret_total);

    if (status != REEVE_OK) return cli_fail_call(showing->cli, status, queue);
    for (size_t i = 0; i < *ret_count; i++) {
        if (showing->cli->json)
            print_json(queue, &list[i]);
        else
            add_row(&showing->table, queue, &list[i]);
    }
    reeve_tags_free(list);
    return ferror(stdout) == 0 ? CLI_DONE : CLI_REFUSED;
}

static int show_queue(struct showing *showing, const char *queue, const cli_page *page)
{
    uint64_t offset = (uint64_t)page->offset, total = 0;
    uint64_t left = page->limit == 0 ? UINT64_MAX : (uint64_t)page->limit;
    size_t count = 1;
    int status = CLI_DONE;

    while (status == CLI_DONE && left > 0 && count > 0 && (total == 0 || offset < total)) {
        count = 0;
        status = show_page(showing, queue, offset, left, &count, &total);
        offset += count;
        left -= count;
        showing->shown += count;
    }
    showing->total += total;
    return status;
}

static int show_all(struct showing *showing, const cli_page *page)
{
    reeve_queue_info *list = NULL;
    size_t count = 0;
    reeve_status result = reeve_queues(showing->cli->client, &list, &count);
    int status = CLI_DONE;

    if (result != REEVE_OK) return cli_fail_call(showing->cli, result, NULL);
    for (size_t i = 0; i < count && status == CLI_DONE; i++) status = show_queue(showing, list[i].name, page);
    reeve_queues_free(list);
    return status;
}

/* For people: that there is nothing, or more. */
static void say_rest(const struct showing *showing)
{
    const cli_context *cli = showing->cli;

    if (cli->json || !cli_flush(cli)) return;
    if (showing->total == 0)
        (void)fprintf(stderr, "no task with a tag in %s\n", cli->count == 0 ? "any queue" : cli->rest[0]);
    else if (showing->shown < showing->total)
        (void)fprintf(stderr, "%" PRIu64 " of %" PRIu64 " tags (--limit 0 lists all)\n", showing->shown,
                      showing->total);
}

static int tags(cli_context *cli, void *pointer)
{
    const struct tags_options *options = pointer;
    struct showing showing = {.cli = cli};
    int status = cli->count > 0 ? cli_queue_argument(cli, cli->rest[0]) : CLI_DONE;

    if (status == CLI_DONE && cli->count == 0 && options->page.offset > 0)
        status = cli_usage(cli, "--offset goes with a QUEUE");
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    cli_table_init(&showing.table, columns, sizeof(columns) / sizeof(columns[0]));
    status = cli->count > 0 ? show_queue(&showing, cli->rest[0], &options->page) : show_all(&showing, &options->page);
    if ((showing.table.used > 0 || showing.table.failed) && !cli_table_print(&showing.table, stdout))
        status = cli_no_memory(cli);
    if (status == CLI_DONE) say_rest(&showing);
    cli_table_fini(&showing.table);
    return status;
}

const cli_verb cli_verb_tags = {
    .name = "tags",
    .synopsis = "[QUEUE] [--limit N] [--offset N]",
    .summary = "Shows the tags of tasks, and how many tasks have them",
    .options = tags_table,
    .options_size = sizeof(struct tags_options),
    .defaults = &tags_defaults,
    .most = 1,
    .run = tags,
    .notes = "TASKS counts tasks in any state; the tag that was given last comes first. Without a QUEUE: the tags of\n"
             "all queues, of each so many as --limit says.\n"
             "\nExamples:\n"
             "  reeve tags default\n"
             "  reeve list default --tag invoice\n",
};
