/*
 * verb_list_tag.c - the tasks with a tag, in any state or in one, page by page.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "new_queue.h"
#include "page.h"
#include "table.h"
#include "task_pages.h"
#include "task_view.h"
#include "verbs.h"
#include "when.h"

#define PAGE_SIZE 100

static const cli_column columns[] = {
    {"HANDLE", false, 0, 0}, {"TYPE", false, 40, 3}, {"STATE", false, 0, 0},
    {"SINCE", false, 0, 1},  {"TAGS", false, 70, 4},
};

static void add_task(cli_table *table, const reeve_task_info *info)
{
    char when[CLI_WHEN_TEXT];

    cli_ago_text(cli_task_when(info), rv_wall_ms(), when);
    cli_table_cellf(table, "%s/%s", info->queue, info->id);
    cli_table_cell(table, info->type);
    cli_table_cell(table, reeve_state_name(info->state));
    cli_table_cell(table, when);
    cli_table_cell(table, info->tags);
}

/* A listing under way. */
struct listing {
    cli_context *cli;
    const char *queue, *tag;
    const reeve_state *state; /* NULL: any */
    cli_task_pages pages;
};

static int list_pages(struct listing *listing)
{
    int64_t next = 0;

    while (next >= 0 && listing->pages.left > 0) {
        reeve_task_info **page = NULL;
        size_t count = 0;
        reeve_status status = reeve_list_tag(listing->cli->client, listing->queue, listing->tag, listing->state,
                                             (uint64_t)next, PAGE_SIZE, &page, &count, &next);
        bool well;

        if (status != REEVE_OK) return cli_fail_call(listing->cli, status, listing->queue);
        well = cli_task_pages_print(&listing->pages, page, count, 0);
        reeve_task_list_free(page, count);
        if (!well) return cli_no_memory(listing->cli);
        if (ferror(stdout) != 0) return CLI_REFUSED;
    }
    return CLI_DONE;
}

/* For people: that there is nothing, or perhaps more. */
static void say_rest(const struct listing *listing)
{
    if (listing->cli->json || !cli_flush(listing->cli)) return;
    if (listing->pages.shown == 0)
        (void)fprintf(stderr, "no %s%stask with the tag %s in %s\n",
                      listing->state == NULL ? "" : reeve_state_name(*listing->state),
                      listing->state == NULL ? "" : " ", listing->tag, listing->queue);
    else if (listing->pages.left == 0)
        (void)fprintf(stderr, "the first %" PRIu64 " tasks (--limit 0 lists all)\n", listing->pages.shown);
}

int cli_list_tag(cli_context *cli, const char *queue, const char *tag, const reeve_state *state, const cli_page *page)
{
    struct listing listing = {.cli = cli, .queue = queue, .tag = tag, .state = state, .pages = {.add_row = add_task}};
    int status = cli_queue_argument(cli, queue);

    if (status == CLI_DONE) status = cli_open_known_queue(cli, queue);
    if (status != CLI_DONE) return status;
    cli_task_pages_init(&listing.pages, cli, page, columns, sizeof(columns) / sizeof(columns[0]));
    status = list_pages(&listing);
    if (status == CLI_DONE) say_rest(&listing);
    cli_task_pages_fini(&listing.pages);
    return status;
}
