/*
 * top_view.c - the screen of `reeve top` as lines of text, for the terminal, --once and tests.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "top_model.h"
#include "utf8.h"
#include "when.h"

#define HEAD_LINES 3 /* before the table */

/* A line of at most `columns`. */
static void print_line(FILE *out, size_t columns, const char *text)
{
    rv_buf buf;

    rv_buf_init(&buf, 4096);
    cli_utf8_add_safe(&buf, text, strlen(text), false);
    cli_utf8_cut(&buf, columns);
    (void)fprintf(out, "%s\n", buf.failed ? "" : rv_buf_text(&buf));
    rv_buf_fini(&buf);
}

static void print_tabs(const cli_top *top, FILE *out, size_t columns)
{
    char line[256], *at = line, *end = line + sizeof(line);

    for (int tab = 0; tab < CLI_TOP_TABS && at < end; tab++)
        at += snprintf(at, (size_t)(end - at), tab == (int)top->tab ? "[%d %s] " : " %d %s  ", tab + 1,
                       cli_top_tab_name((cli_top_tab)tab));
    if (at < end && top->totals.at_ms != 0)
        (void)snprintf(at, (size_t)(end - at), " top %.1f ms", (double)top->totals.cost_us / 1000);
    print_line(out, columns, line);
}

static const char *rate_text(double rate, char ret[16])
{
    (void)snprintf(ret, 16, "%.1f", rate);
    return rate < 0 ? "-" : ret;
}

/* Leaves one of two blanks. */
static void narrow(char *text)
{
    char *to = text;

    for (const char *at = text; *at != '\0'; at++)
        if (at[0] != ' ' || at[1] != ' ') *to++ = *at;
    *to = '\0';
}

/* What matters most comes first: a narrow terminal cuts the end off. */
static void print_totals(const cli_top *top, FILE *out, size_t columns)
{
    const cli_top_totals *totals = &top->totals;
    char line[512], oldest[CLI_WHEN_TEXT] = "-", share[16] = "-", done[16], failed[16];

    if (totals->oldest_ready_ms >= 0) cli_span_text(rv_wall_ms() - totals->oldest_ready_ms, oldest);
    if (totals->utilisation >= 0) (void)snprintf(share, sizeof(share), "%.0f%%", 100 * totals->utilisation);
    (void)snprintf(line, sizeof(line),
                   "ready %" PRIu64 "  running %" PRIu64 "  dead %" PRIu64 "  oldest %s  workers %" PRIu64
                   " (%s)  done/s %s  failed/s %s",
                   totals->ready, totals->running, totals->dead, oldest, totals->workers, share,
                   rate_text(totals->done_rate, done), rate_text(totals->failed_rate, failed));
    if (strlen(line) > columns) narrow(line);
    print_line(out, columns, line);
}

/* What the rows are: of which queue and state, filtered, sorted, marked. */
static void print_choice(const cli_top *top, FILE *out, size_t columns)
{
    char line[512] = "", *at = line, *end = line + sizeof(line);
    size_t count;
    const cli_column *titles = cli_top_columns(top, &count);

    if (top->tab == CLI_TOP_TASKS)
        at += snprintf(at, (size_t)(end - at), "queue %s, %s (s: next state)  ", top->queue,
                       reeve_state_name(top->state));
    else if (top->tab == CLI_TOP_DEAD || top->tab == CLI_TOP_LOG)
        at += snprintf(at, (size_t)(end - at), "queue %s  ", top->queue);
    if (top->filter[0] != '\0') at += snprintf(at, (size_t)(end - at), "filter \"%s\"  ", top->filter);
    if (top->sort > 0 && top->sort <= count)
        at += snprintf(at, (size_t)(end - at), "by %s%s  ", titles[top->sort - 1].title,
                       top->descending ? ", descending" : "");
    if (top->mark_count > 0) at += snprintf(at, (size_t)(end - at), "%zu marked  ", top->mark_count);
    if (top->follow) (void)snprintf(at, (size_t)(end - at), "follows  ");
    print_line(out, columns, line);
}

static void print_rows(const cli_top *top, FILE *out, size_t columns)
{
    cli_table table;
    size_t count, last = top->first + top->visible;
    const cli_column *titles = cli_top_columns(top, &count);

    cli_table_init(&table, titles, count);
    table.limit = columns;
    for (size_t i = top->first; i < last && i < top->rows.count; i++) {
        const cli_top_row *row = &top->rows.list[i];

        cli_table_cell(&table, cli_top_is_marked(top, row->key) ? "*" : i == top->selected ? ">" : " ");
        for (size_t j = 1; j < count; j++) cli_table_cell(&table, row->cells[j]);
    }
    (void)cli_table_print(&table, out);
    cli_table_fini(&table);
}

static const char *const help_lines[] = {
    "1 to 6, Tab        the tabs; in Tasks, s chooses the next state",
    "j k, arrows        the cursor; PgUp PgDn g G: by pages, to the ends",
    "Enter, Esc         into a queue, and back; space marks a row, u unmarks all",
    "/                  filter; an empty one shows all",
    "< >                sort by another column; r: reverse; F: follow the row",
    ":                  any command of reeve, such as  :why mail",
    "q, Ctrl-Z, Ctrl-L  quit, suspend, draw anew",
    "",
    "Capital letters change the marked rows, or that at the cursor, and ask before:",
};

static void print_help(const cli_top *top, FILE *out, size_t columns)
{
    char line[160], words[80];

    (void)top;
    for (size_t i = 0; i < sizeof(help_lines) / sizeof(help_lines[0]); i++) print_line(out, columns, help_lines[i]);
    for (const cli_top_action *action = cli_top_actions; action->words != NULL; action++) {
        (void)snprintf(line, sizeof(line), "%c in %-10s %s (reeve %s)", action->key, cli_top_tab_name(action->tab),
                       action->about, cli_top_action_text(action, "WORKER", words, sizeof(words)));
        print_line(out, columns, line);
    }
}

static long count_lines(const char *text)
{
    long count = 0;

    for (; *text != '\0'; text++) count += *text == '\n';
    return count;
}

char *cli_top_view(cli_top *top, size_t columns, size_t lines, long *ret_cursor)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL) return NULL;
    top->visible = lines > HEAD_LINES + 2 ? lines - HEAD_LINES - 2 : 1;
    cli_top_move(top, 0);
    print_tabs(top, out, columns);
    print_totals(top, out, columns);
    print_choice(top, out, columns);
    if (top->help)
        print_help(top, out, columns);
    else
        print_rows(top, out, columns);
    (void)fflush(out);
    *ret_cursor = top->help || top->rows.count == 0 ? -1 : (long)(HEAD_LINES + 1 + top->selected - top->first);
    for (long i = text == NULL ? 0 : count_lines(text); i + 1 < (long)lines; i++) (void)fputc('\n', out);
    print_line(out, columns, top->note[0] != '\0' ? top->note : "?: help  q: quit");
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}
