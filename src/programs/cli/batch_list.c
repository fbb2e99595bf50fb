/*
 * batch_list.c - `reeve batch list` and `reeve batch cancel`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "handle.h"
#include "json.h"
#include "maintain.h"
#include "new_queue.h"
#include "table.h"
#include "verb_batch.h"

#define BAR 10

static const cli_column columns[] = {
    {"HANDLE", false, 0, 0}, {"CALLBACK", false, 0, 2}, {"OPEN", false, 0, 3}, {"PROGRESS", false, 0, 0},
    {"MEMBERS", true, 0, 0}, {"LEFT", true, 0, 0},      {"DEAD", true, 0, 0},  {"CANCELLED", true, 0, 1},
};

static const char *bar_of(const reeve_batch_counts *counts, char ret[BAR + 12])
{
    uint64_t ended = counts->members - counts->left;
    uint64_t percent = counts->members == 0 ? 0 : ended * 100 / counts->members;
    char bar[BAR + 1];

    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)(percent * BAR / 100));
    bar[BAR] = '\0';
    (void)snprintf(ret, BAR + 12, "[%s] %3u %%", bar, (unsigned)percent);
    return ret;
}

static void add_row(cli_table *table, const reeve_batch_entry *entry)
{
    char bar[BAR + 12];

    cli_table_cell(table, entry->handle);
    cli_table_cell(table, entry->callback);
    cli_table_cell(table, entry->counts.open ? "yes" : "no");
    cli_table_cell(table, bar_of(&entry->counts, bar));
    cli_table_cellf(table, "%" PRIu64, entry->counts.members);
    cli_table_cellf(table, "%" PRIu64, entry->counts.left);
    cli_table_cellf(table, "%" PRIu64, entry->counts.dead);
    cli_table_cellf(table, "%" PRIu64, entry->counts.cancelled);
}

/* Up to the limit (0: all). False: nothing more is to be printed. */
static bool print_page(const cli_context *cli, cli_table *table, reeve_batch_entry *const *page, size_t count,
                       int64_t limit, int64_t *shown)
{
    for (size_t i = 0; i < count; i++) {
        if (limit > 0 && *shown == limit) return false;
        if (cli->json)
            cli_batch_json(page[i]->handle, page[i]->callback, &page[i]->counts);
        else
            add_row(table, page[i]);
        ++*shown;
    }
    return ferror(stdout) == 0;
}

static int list_all(cli_context *cli, cli_table *table, const char *queue, int64_t limit)
{
    char cursor[REEVE_CURSOR_MAX] = "";
    int64_t shown = 0;
    bool more = true;

    do {
        reeve_batch_entry **page = NULL;
        size_t count = 0;
        reeve_status status = reeve_batch_list(cli->client, queue, cursor, &page, &count, NULL);

        if (status != REEVE_OK) return cli_fail_call(cli, status, queue);
        more = print_page(cli, table, page, count, limit, &shown);
        reeve_batch_list_free(page, count);
    } while (more && cursor[0] != '\0');
    if (!cli->json && shown > 0 && !cli_table_print(table, stdout)) return cli_no_memory(cli);
    if (!cli_flush(cli)) return CLI_REFUSED;
    if (!more || cursor[0] != '\0')
        cli_note(cli, "%" PRId64 " callbacks shown, there may be more (--limit 0 lists all)", shown);
    return CLI_DONE;
}

int cli_batch_list(cli_context *cli, void *pointer)
{
    const cli_batch_options *options = pointer;
    cli_table table;
    int status = cli_open_known_queue(cli, cli->rest[1]);

    if (status != CLI_DONE) return status;
    cli_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    status = list_all(cli, &table, cli->rest[1], options->limit);
    cli_table_fini(&table);
    return status;
}

/* ---- cancel ---------------------------------------------------------------------------------------------------- */

static void print_cancelled(const cli_context *cli, const cli_handle *handle, const reeve_batch_cancelled *counts)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("cancelled %" PRIu64 " members; asked %" PRIu64 " running ones to stop\n", counts->cancelled,
                     counts->asked);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, handle->queue, handle->id);
    cli_json_uint(&json, "cancelled", counts->cancelled);
    cli_json_uint(&json, "asked", counts->asked);
    cli_json_end(&json);
}

int cli_batch_cancel(cli_context *cli, void *pointer)
{
    const cli_batch_options *options = pointer;
    reeve_batch_cancelled counts;
    cli_handle handle;
    int status = cli_handle_argument(cli, &handle, cli->rest[1]);

    if (status == CLI_DONE) status = cli_open_queue(cli, handle.queue);
    if (status != CLI_DONE) return status;
    reeve_status result = reeve_batch_cancel(cli->client, cli->rest[1], options->reason, &counts);
    if (result == REEVE_OK || counts.cancelled + counts.asked > 0) print_cancelled(cli, &handle, &counts);
    if (result != REEVE_OK) return cli_fault_call(cli, result, &(cli_fault){.handle = cli->rest[1]});
    return CLI_DONE;
}
