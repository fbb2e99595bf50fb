/*
 * top_model.c - what `reeve top` shows: the choice of the user over what Redis says.
 */
#include "top_model.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const cli_column queue_columns[] = {
    {" ", false, 0, 0},      {"QUEUE", false, 0, 0},    {"PAUSED", false, 0, 3}, {"READY", true, 0, 0},
    {"RUNNING", true, 0, 0}, {"SCHEDULED", true, 0, 4}, {"DEAD", true, 0, 1},    {"DONE", true, 0, 6},
    {"FAILED", true, 0, 5},  {"OLDEST", false, 0, 2},
};
static const cli_column task_columns[] = {
    {" ", false, 0, 0},     {"HANDLE", false, 0, 0},  {"TYPE", false, 40, 2},  {"STATE", false, 0, 4},
    {"SINCE", false, 0, 1}, {"FAILURES", true, 0, 3}, {"ERROR", false, 70, 5},
};
static const cli_column worker_columns[] = {
    {" ", false, 0, 0},     {"WORKER", false, 0, 0}, {"NAME", false, 30, 1}, {"HOST", false, 30, 5},
    {"STATE", false, 0, 0}, {"BUSY", true, 0, 0},    {"UTIL", true, 0, 1},   {"PROCESSED", true, 0, 2},
    {"FAILED", true, 0, 3}, {"MEMORY", true, 0, 4},  {"SEEN", false, 0, 2},
};
static const cli_column cron_columns[] = {
    {" ", false, 0, 0},    {"ENTRY", false, 0, 0},  {"SPEC", false, 40, 2},
    {"NEXT", false, 0, 0}, {"PAUSED", false, 0, 1}, {"TYPE", false, 40, 3},
};
static const cli_column log_columns[] = {
    {" ", false, 0, 0},      {"TIME", false, 0, 2},   {"EVENT", false, 0, 0},
    {"HANDLE", false, 0, 0}, {"WORKER", false, 0, 3}, {"KIND", false, 70, 1},
};
static const struct {
    const char *name;
    const cli_column *columns;
    size_t count;
} tabs[CLI_TOP_TABS] = {
    {"Queues", queue_columns, COUNT(queue_columns)},    {"Tasks", task_columns, COUNT(task_columns)},
    {"Workers", worker_columns, COUNT(worker_columns)}, {"Dead", task_columns, COUNT(task_columns)},
    {"Cron", cron_columns, COUNT(cron_columns)},        {"Log", log_columns, COUNT(log_columns)},
};

void cli_top_init(cli_top *top, cli_context *cli)
{
    memset(top, 0, sizeof(*top));
    top->cli = cli;
    top->state = REEVE_STATE_READY;
    top->visible = 20;
    top->totals.oldest_ready_ms = -1;
    top->totals.utilisation = top->totals.done_rate = top->totals.failed_rate = -1;
}

void cli_top_fini(cli_top *top)
{
    reeve_watch_close(top->watch);
    cli_top_clear_marks(top);
    cli_top_rows_clear(&top->rows);
    cli_top_rows_clear(&top->events);
}

const char *cli_top_tab_name(cli_top_tab tab)
{
    return tabs[tab].name;
}

const cli_column *cli_top_columns(const cli_top *top, size_t *ret_count)
{
    *ret_count = tabs[top->tab].count;
    return tabs[top->tab].columns;
}

void cli_top_show(cli_top *top, cli_top_tab tab)
{
    if (tab != top->tab) top->sort = 0;
    if (tab != CLI_TOP_LOG) {
        reeve_watch_close(top->watch);
        top->watch = NULL;
    }
    top->tab = tab;
    top->selected = top->first = 0;
    cli_top_clear_marks(top);
    cli_top_rows_clear(&top->rows);
}

const cli_top_row *cli_top_at_cursor(const cli_top *top)
{
    return top->selected < top->rows.count ? &top->rows.list[top->selected] : NULL;
}

void cli_top_move(cli_top *top, long by)
{
    long at = (long)top->selected + by, last = top->rows.count == 0 ? 0 : (long)top->rows.count - 1;

    top->selected = (size_t)(at < 0 ? 0 : at > last ? last : at);
    if (top->selected < top->first) top->first = top->selected;
    if (top->visible > 0 && top->selected >= top->first + top->visible) top->first = top->selected - top->visible + 1;
}

/* ---- marks --------------------------------------------------------------------------------------------------------- */

static size_t find_mark(const cli_top *top, const char *key)
{
    size_t at = 0;

    while (at < top->mark_count && strcmp(top->marks[at], key) != 0) at++;
    return at;
}

bool cli_top_is_marked(const cli_top *top, const char *key)
{
    return find_mark(top, key) < top->mark_count;
}

void cli_top_toggle_mark(cli_top *top, const char *key)
{
    size_t at = find_mark(top, key);
    char **marks, *copy;

    if (at < top->mark_count) {
        rv_free(top->marks[at]);
        top->marks[at] = top->marks[--top->mark_count];
        return;
    }
    marks = rv_realloc_array(top->marks, top->mark_count + 1, sizeof(*marks));
    if (marks == NULL) return;
    top->marks = marks;
    copy = rv_strdup(key);
    if (copy != NULL) top->marks[top->mark_count++] = copy;
}

void cli_top_clear_marks(cli_top *top)
{
    for (size_t i = 0; i < top->mark_count; i++) rv_free(top->marks[i]);
    rv_free(top->marks);
    top->marks = NULL;
    top->mark_count = 0;
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

/* The cursor stays on its row, wherever that is now; with `follow` also when the row moves. */
static void find_cursor(cli_top *top, const char *key)
{
    for (size_t i = 0; key[0] != '\0' && top->follow && i < top->rows.count; i++)
        if (strcmp(top->rows.list[i].key, key) == 0) top->selected = i;
    cli_top_move(top, 0);
}

void cli_top_refresh(cli_top *top)
{
    const cli_top_row *row = cli_top_at_cursor(top);
    char key[CLI_TOP_KEY] = "";
    reeve_status status;

    if (row != NULL) memcpy(key, row->key, sizeof(key));
    cli_top_rows_clear(&top->rows);
    status = cli_top_fetch(top);
    top->refreshes++;
    if (top->away && status == REEVE_OK) top->note[0] = '\0';
    top->away = status != REEVE_OK;
    if (top->away) {
        const char *words = reeve_client_error(top->cli->client);
        (void)snprintf(top->note, sizeof(top->note), "%.380s", words[0] == '\0' ? reeve_status_text(status) : words);
    }
    if (top->filter[0] != '\0') cli_top_rows_filter(&top->rows, top->filter);
    if (top->sort > 0) cli_top_rows_sort(&top->rows, top->sort - 1, top->descending);
    find_cursor(top, key);
}
