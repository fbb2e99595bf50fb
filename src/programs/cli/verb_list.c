/*
 * verb_list.c - the tasks of a queue in one state, page by page, so that memory does not grow with the queue. With a
 * filter, or in all states: list_find.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/clock.h"
#include "list_find.h"
#include "new_queue.h"
#include "page.h"
#include "protocol/definition.h"
#include "table.h"
#include "task_view.h"
#include "verbs.h"
#include "when.h"

#define PAGE_FIRST 16
#define PAGE_MAX 512
#define PAGE_BYTES ((size_t)1024 * 1024)
#define TABLE_ROWS 1000 /* rows whose columns are lined up together */

struct list_options {
    cli_filter filter; /* comes first: filter.h */
    cli_page page;
    int64_t scan;
};

#define AT(field) offsetof(struct list_options, field)
#define SCAN_DEFAULT 100000

static const cli_option list_table[] = {
    CLI_FILTER_STATE("state of the tasks: " RV_ALL_STATES_TEXT
                     ", or all (ready; dead with --kind as the only filter, all with any other filter)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ANY),
    CLI_FILTER_WORKER(CLI_FILTER_RUNS_OR_RAN),
    CLI_FILTER_DUE,
    CLI_FILTER_ENDED,
    CLI_PAGE_LIMIT(AT(page)),
    CLI_PAGE_OFFSET(AT(page)),
    {"scan", "N", "with a filter, examine at most about N tasks; 0: no limit (100000; with --json 0)", CLI_COUNT,
     AT(scan), 0, INT64_MAX, NULL},
    {0},
};
static const struct list_options list_defaults = {.page = CLI_PAGE_DEFAULT, .scan = SCAN_DEFAULT};

static const char *when_title(reeve_state state)
{
#define TITLE(name, word, title) [REEVE_STATE_##name] = title,
    static const char *const titles[REEVE_STATE_COUNT] = {RV_STATES(TITLE)};
#undef TITLE

    return titles[state];
}

void cli_task_error_cell(cli_table *table, const reeve_task_info *info)
{
    const char *kind = info->error_kind == NULL ? "" : info->error_kind;
    const char *message = info->error_message == NULL ? "" : info->error_message;

    if (info->stalled)
        cli_table_cell(table, "stalled: its worker is gone");
    else
        cli_table_cellf(table, "%.100s%s%.150s", kind, kind[0] != '\0' && message[0] != '\0' ? ": " : "", message);
}

static void add_task(cli_table *table, const reeve_task_info *info)
{
    char when[CLI_WHEN_TEXT];

    cli_ago_text(cli_task_when(info), rv_wall_ms(), when);
    cli_table_cellf(table, "%s/%s", info->queue, info->id);
    cli_table_cell(table, info->type);
    cli_table_cell(table, when);
    cli_table_cellf(table, "%u", info->failures);
    cli_task_error_cell(table, info);
}

/* A listing under way. */
struct listing {
    cli_context *cli;
    const char *queue;
    reeve_state state;
    const char *kind; /* NULL: any */
    uint64_t offset;
    cli_table table;
    size_t page;    /* how many tasks to ask for at once */
    uint64_t shown; /* so far */
    uint64_t left;  /* of the limit */
    uint64_t total;
};

/* Pages come with their payloads: ask for fewer at once when those are large. */
static void adapt_page(struct listing *listing, reeve_task_info **page, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) bytes += page[i]->payload.length + page[i]->result.length;
    if (bytes < PAGE_BYTES / 2 && listing->page < PAGE_MAX)
        listing->page *= 2;
    else if (bytes > PAGE_BYTES && listing->page > 1)
        listing->page /= 2;
}

static bool flush_table(cli_table *table, size_t min)
{
    return table->used <= min * table->count || cli_table_print(table, stdout);
}

static bool take_page(struct listing *listing, reeve_task_info **page, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (listing->cli->json)
            cli_task_json(page[i], stdout);
        else
            add_task(&listing->table, page[i]);
    }
    listing->shown += count;
    listing->left -= count;
    adapt_page(listing, page, count);
    return !listing->table.failed && flush_table(&listing->table, TABLE_ROWS);
}

static reeve_status ask(struct listing *listing, uint64_t offset, reeve_task_info ***ret, size_t *ret_count)
{
    size_t want = listing->left < listing->page ? (size_t)listing->left : listing->page;
    reeve_client *client = listing->cli->client;

    if (listing->kind != NULL)
        return reeve_list_kind(client, listing->queue, listing->kind, offset, want, ret, ret_count, &listing->total);
    return reeve_list(client, listing->queue, listing->state, offset, want, ret, ret_count, &listing->total);
}

/* Asks for a page. *ret_more: there is another. */
static int list_page(struct listing *listing, bool *ret_more)
{
    uint64_t offset = listing->offset + listing->shown;
    reeve_task_info **page = NULL;
    size_t count = 0;
    reeve_status status = ask(listing, offset, &page, &count);
    bool well;

    if (status != REEVE_OK) return cli_fail_call(listing->cli, status, listing->queue);
    well = take_page(listing, page, count);
    reeve_task_list_free(page, count);
    *ret_more = count > 0 && listing->left > 0 && offset + count < listing->total;
    if (!well) return cli_no_memory(listing->cli);
    return ferror(stdout) == 0 ? CLI_DONE : CLI_REFUSED;
}

/* For people: that there is nothing, or more. */
static void say_rest(const struct listing *listing)
{
    const char *state = reeve_state_name(listing->state);

    if (listing->cli->json || !cli_flush(listing->cli)) return;
    if (listing->total == 0)
        (void)fprintf(stderr, "no %s task%s in %s\n", state, listing->kind == NULL ? "" : " of that kind",
                      listing->queue);
    else if (listing->shown < listing->total)
        (void)fprintf(stderr, "%" PRIu64 " of %" PRIu64 " %s tasks (--limit 0 lists all)\n", listing->shown,
                      listing->total, state);
}

static int list_all(struct listing *listing)
{
    bool more = true;
    int status = CLI_DONE;

    while (status == CLI_DONE && more) status = list_page(listing, &more);
    if (!flush_table(&listing->table, 0) && status == CLI_DONE) status = cli_no_memory(listing->cli);
    if (status == CLI_DONE) say_rest(listing);
    return status;
}

int cli_list(cli_context *cli, const char *queue, reeve_state state, const char *kind, const cli_page *page)
{
    const cli_column columns[] = {
        {"HANDLE", false, 0, 0},  {"TYPE", false, 40, 3},  {when_title(state), false, 0, 0},
        {"FAILURES", true, 0, 2}, {"ERROR", false, 70, 4},
    };
    struct listing listing = {.cli = cli,
                              .queue = queue,
                              .state = state,
                              .kind = kind,
                              .offset = (uint64_t)page->offset,
                              .page = PAGE_FIRST,
                              .left = page->limit == 0 ? UINT64_MAX : (uint64_t)page->limit};
    int status = cli_queue_argument(cli, queue);

    if (status == CLI_DONE) status = cli_open_known_queue(cli, queue);
    if (status != CLI_DONE) return status;
    cli_table_init(&listing.table, columns, sizeof(columns) / sizeof(columns[0]));
    status = list_all(&listing);
    cli_table_fini(&listing.table);
    return status;
}

/* Whether nothing but the kind, or the tag, is asked. */
static bool asks_only(const cli_filter *filter, bool tag)
{
    cli_filter rest = *filter;

    if ((tag ? rest.tag : rest.kind) == NULL) return false;
    if (tag)
        rest.tag = NULL;
    else
        rest.kind = NULL;
    return !cli_filter_is_set(&rest);
}

/* In the order in which tasks go through them, so that few are missed while they do. */
#define STATE(name, word, title) REEVE_STATE_##name,
static const reeve_state all_states[REEVE_STATE_COUNT] = {RV_STATES(STATE)};

static int find(cli_context *cli, struct list_options *options)
{
    cli_filter *filter = &options->filter;
    bool all = !filter->has_state || filter->all_states;
    const cli_list_find_plan plan = {
        .filter = filter,
        .states = all ? all_states : &filter->state,
        .count = all ? REEVE_STATE_COUNT : 1,
        .scan = cli->json && !cli_was_given(cli, "scan") ? 0 : (uint64_t)options->scan,
    };

    /* An export. */
    if (cli->json && filter->all_states && !cli_was_given(cli, "limit")) options->page.limit = 0;
    return cli_list_find(cli, cli->rest[0], &plan, &options->page);
}

static int list(cli_context *cli, void *pointer)
{
    struct list_options *options = pointer;
    const cli_filter *filter = &options->filter;
    bool has_one = filter->has_state && !filter->all_states;

    if (cli_filter_check(cli, filter) != CLI_DONE) return CLI_USAGE;
    if (!filter->all_states && asks_only(filter, true))
        return cli_list_tag(cli, cli->rest[0], filter->tag, has_one ? &filter->state : NULL, &options->page);
    if (!filter->all_states && asks_only(filter, false) && (!has_one || filter->state == REEVE_STATE_DEAD))
        return cli_list(cli, cli->rest[0], REEVE_STATE_DEAD, filter->kind, &options->page);
    if (cli_filter_is_set(filter) || filter->all_states) return find(cli, options);
    return cli_list(cli, cli->rest[0], has_one ? filter->state : REEVE_STATE_READY, NULL, &options->page);
}

const cli_verb cli_verb_list = {
    .name = "list",
    .section = CLI_TASKS,
    .synopsis = "QUEUE [--state STATE] [FILTER...] [--limit N] [--offset N] [--scan N]",
    .summary = "Lists the tasks of a queue: those in a state, or those that a filter selects",
    .options = list_table,
    .options_size = sizeof(struct list_options),
    .defaults = &list_defaults,
    .min = 1,
    .max = 1,
    .run = list,
    .notes =
        "Ready and scheduled tasks are listed in the order in which they will run. Tasks that have ended are\n"
        "listed in the order in which they ended, the last one first. With --tag alone, tasks are listed in the\n"
        "order in which they were enqueued, the last one first. A task that changes its state while the command\n"
        "runs may be missing, or be listed twice. With --json each line is as `reeve show --json` prints it.\n"
        "`reeve failures QUEUE` lists the kinds of errors, and `reeve tags QUEUE` lists the tags.\n"
        "\n"
        "The options from --type to --ended-before are filters; a task is listed if all of them match. Redis\n"
        "compares the tasks one by one, state by state. At the end the command prints how many tasks it examined.\n"
        "\n"
        "With --state all and --json the default of --limit is 0: the output is an export of the queue, which\n"
        "`reeve enqueue --bulk` reads.\n"
        "\n"
        "Examples:\n"
        "  reeve list default --state dead --kind timeout\n"
        "  reeve list default --tag invoice --state scheduled\n"
        "  reeve list default --state scheduled --failed --meta customer=4 --due-before 2026-12-01T00:00:00Z\n"
        "  reeve list default --payload-has 'order-17'\n"
        "  reeve list default --state all --json >default.jsonl\n"
        "  reeve list default --state dead --limit 0 --json | jq -r .handle | reeve retry -\n",
};
