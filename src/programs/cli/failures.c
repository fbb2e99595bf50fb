/*
 * failures.c - the dead letters by the kind of error: what goes wrong, where, how often; and the tasks of one kind.
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

struct failures_options {
    cli_page page;
};

#define AT(field) offsetof(struct failures_options, field)

static const cli_option failures_table[] = {
    CLI_PAGE_LIMIT(AT(page)),
    CLI_PAGE_OFFSET(AT(page)),
    {0},
};
static const struct failures_options failures_defaults = {.page = CLI_PAGE_DEFAULT};

static const cli_column columns[] = {
    {"QUEUE", false, 0}, {"KIND", false, 40}, {"DEAD", true, 0},
    {"LAST", false, 0},  {"TYPE", false, 40}, {"MESSAGE", false, 70},
};

static void print_json(const char *queue, const reeve_failure *failure)
{
    char handle[REEVE_HANDLE_MAX + 1];
    cli_json json;

    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, failure->last_id);
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "kind", failure->kind);
    cli_json_uint(&json, "count", failure->count);
    cli_json_maybe(&json, "last_ms", failure->last_ms);
    cli_json_text(&json, "last_handle", handle);
    cli_json_text(&json, "last_type", failure->last_type);
    cli_json_text(&json, "last_message", failure->last_message);
    cli_json_end(&json);
}

static void add_row(cli_table *table, const char *queue, const reeve_failure *failure)
{
    char last[CLI_WHEN_TEXT];

    cli_ago_text(failure->last_ms, rv_wall_ms(), last);
    cli_table_cell(table, queue);
    cli_table_cell(table, failure->kind);
    cli_table_cellf(table, "%" PRIu64, failure->count);
    cli_table_cell(table, last);
    cli_table_cell(table, failure->last_type);
    cli_table_cell(table, failure->last_message);
}

/* What is shown of a queue. */
struct showing {
    cli_context *cli;
    cli_table table;
    uint64_t shown; /* in all queues so far */
    uint64_t total; /* how many kinds these have */
};

static int show_page(struct showing *showing, const char *queue, uint64_t offset, uint64_t left, size_t *ret_count,
                     uint64_t *ret_total)
{
    reeve_failure *list = NULL;
    reeve_status status = reeve_failures(showing->cli->client, queue, offset,
                                         left < PAGE_MOST ? (size_t)left : PAGE_MOST, &list, ret_count, ret_total);

    if (status != REEVE_OK) return cli_fail_call(showing->cli, status, queue);
    for (size_t i = 0; i < *ret_count; i++) {
        if (showing->cli->json)
            print_json(queue, &list[i]);
        else
            add_row(&showing->table, queue, &list[i]);
    }
    reeve_failures_free(list);
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
    for (size_t i = 0; i < count && status == CLI_DONE; i++)
        if (list[i].count[REEVE_STATE_DEAD] > 0) status = show_queue(showing, list[i].name, page);
    reeve_queues_free(list);
    return status;
}

/* For people: that there is nothing, or more. */
static void say_rest(const struct showing *showing)
{
    const cli_context *cli = showing->cli;

    if (cli->json || !cli_flush(cli)) return;
    if (showing->total == 0)
        (void)fprintf(stderr, "no dead task in %s\n", cli->count == 0 ? "any queue" : cli->rest[0]);
    else if (showing->shown < showing->total)
        (void)fprintf(stderr, "%" PRIu64 " of %" PRIu64 " kinds (--limit 0 lists all)\n", showing->shown,
                      showing->total);
}

static int show_kinds(cli_context *cli, const cli_page *page)
{
    struct showing showing = {.cli = cli};
    int status = cli->count > 0 ? cli_queue_argument(cli, cli->rest[0]) : CLI_DONE;

    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    cli_table_init(&showing.table, columns, sizeof(columns) / sizeof(columns[0]));
    status = cli->count > 0 ? show_queue(&showing, cli->rest[0], page) : show_all(&showing, page);
    if ((showing.table.used > 0 || showing.table.failed) && !cli_table_print(&showing.table, stdout))
        status = cli_no_memory(cli);
    if (status == CLI_DONE) say_rest(&showing);
    cli_table_fini(&showing.table);
    return status;
}

static int failures(cli_context *cli, void *pointer)
{
    const struct failures_options *options = pointer;

    if (cli->count == 2) return cli_list(cli, cli->rest[0], REEVE_STATE_DEAD, cli->rest[1], &options->page);
    if (cli->count == 0 && options->page.offset > 0) return cli_usage(cli, "--offset goes with a QUEUE");
    return show_kinds(cli, &options->page);
}

const cli_verb cli_verb_failures = {
    .name = "failures",
    .synopsis = "[QUEUE [KIND]] [--limit N] [--offset N]",
    .summary = "Shows what dead tasks died of, by kind of error; or the tasks of one kind",
    .options = failures_table,
    .options_size = sizeof(struct failures_options),
    .defaults = &failures_defaults,
    .most = 2,
    .run = failures,
    .notes = "Without a QUEUE: the kinds of all queues, of each so many as --limit says. With a QUEUE: its kinds,\n"
             "the one that was seen last first. With a KIND: its dead tasks, as `reeve list` shows them. DEAD\n"
             "counts those that are still kept; LAST, TYPE and MESSAGE are those of the latest.\n"
             "\nExamples:\n"
             "  reeve failures\n"
             "  reeve failures default timeout --limit 5\n"
             "  reeve retry default --kind timeout\n",
};
