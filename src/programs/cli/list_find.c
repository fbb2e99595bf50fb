/*
 * list_find.c - the tasks that a filter selects, in one state or in several, page by page.
 */
#include "list_find.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "new_queue.h"
#include "progress.h"
#include "table.h"
#include "task_pages.h"
#include "task_view.h"
#include "when.h"

#define PAGE_SIZE 100
#define TABLE_ROWS 1000 /* rows whose columns are lined up together */

static const cli_column columns[] = {
    {"HANDLE", false, 0, 0}, {"TYPE", false, 40, 3},   {"STATE", false, 0, 0},
    {"SINCE", false, 0, 1},  {"FAILURES", true, 0, 2}, {"ERROR", false, 70, 4},
};

/* A search under way. */
struct search {
    cli_context *cli;
    const char *queue;
    const cli_list_find_plan *plan;
    uint64_t seen;
    bool is_cut; /* it ended before its end: by the limit, or by the number of tasks to look at */
    cli_task_pages pages;
};

static void add_task(cli_table *table, const reeve_task_info *info)
{
    char when[CLI_WHEN_TEXT];

    cli_ago_text(cli_task_when(info), rv_wall_ms(), when);
    cli_table_cellf(table, "%s/%s", info->queue, info->id);
    cli_table_cell(table, info->type);
    cli_table_cell(table, reeve_state_name(info->state));
    cli_table_cell(table, when);
    cli_table_cellf(table, "%u", info->failures);
    cli_task_error_cell(table, info);
}

/* Whether nothing more is to be looked at. */
static bool is_through(const struct search *search)
{
    return search->pages.left == 0 || (search->plan->scan > 0 && search->seen >= search->plan->scan);
}

static int find_in_state(struct search *search, reeve_state state)
{
    reeve_filter filter = cli_filter_in(search->plan->filter, state);
    char cursor[REEVE_CURSOR_MAX] = "";

    filter.parents = search->cli->json;
    do {
        reeve_task_info **page = NULL;
        size_t count = 0;
        uint64_t seen = 0;
        reeve_status status =
            reeve_find(search->cli->client, search->queue, &filter, cursor, PAGE_SIZE, &page, &count, &seen);
        bool well;

        if (status != REEVE_OK) return cli_fail_call(search->cli, status, search->queue);
        search->seen += seen;
        well = cli_task_pages_print(&search->pages, page, count, TABLE_ROWS);
        reeve_task_list_free(page, count);
        if (!well) return cli_no_memory(search->cli);
        if (ferror(stdout) != 0) return CLI_REFUSED;
    } while (cursor[0] != '\0' && !is_through(search));
    search->is_cut = cursor[0] != '\0';
    return CLI_DONE;
}

/* For people: how far it looked. */
static void say_rest(const struct search *search)
{
    const cli_list_find_plan *plan = search->plan;
    char seen[CLI_COUNT_TEXT], total[CLI_COUNT_TEXT];
    uint64_t count;

    if (search->cli->json || !cli_flush(search->cli)) return;
    count = cli_filter_count(search->cli, plan->filter, search->queue, plan->states, plan->count);
    if (count < search->seen || !search->is_cut) count = search->seen;
    (void)fprintf(stderr, "%" PRIu64 " task%s shown; looked at %s of %s", search->pages.shown,
                  search->pages.shown == 1 ? "" : "s", cli_count_text(search->seen, seen),
                  cli_count_text(count, total));
    if (search->is_cut)
        (void)fprintf(stderr, search->pages.left == 0 ? " (--limit 0 lists all)" : " (--scan 0 looks at all)");
    (void)fputc('\n', stderr);
}

static int find_all(struct search *search)
{
    int status = CLI_DONE;

    for (size_t i = 0; i < search->plan->count && status == CLI_DONE; i++) {
        if (is_through(search)) {
            search->is_cut = true;
            break;
        }
        status = find_in_state(search, search->plan->states[i]);
    }
    if (search->pages.table.used > 0 && !cli_table_print(&search->pages.table, stdout) && status == CLI_DONE)
        status = cli_no_memory(search->cli);
    if (status == CLI_DONE) say_rest(search);
    return status;
}

int cli_list_find(cli_context *cli, const char *queue, const cli_list_find_plan *plan, const cli_page *page)
{
    struct search search = {.cli = cli, .queue = queue, .plan = plan, .pages = {.add_row = add_task}};
    int status = cli_filter_check(cli, plan->filter);

    if (status == CLI_DONE) status = cli_filter_check_states(cli, plan->states, plan->count);
    if (status == CLI_DONE) status = cli_queue_argument(cli, queue);
    if (status == CLI_DONE) status = cli_open_known_queue(cli, queue);
    if (status == CLI_DONE) status = cli_filter_resolve(cli, plan->filter);
    if (status != CLI_DONE) return status;
    cli_task_pages_init(&search.pages, cli, page, columns, sizeof(columns) / sizeof(columns[0]));
    status = find_all(&search);
    cli_task_pages_fini(&search.pages);
    return status;
}
