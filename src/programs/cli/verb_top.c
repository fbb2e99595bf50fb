/*
 * verb_top.c - `reeve top`: queues, tasks and workers as they change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "json.h"
#include "new_queue.h"
#include "terminal.h"
#include "top_model.h"
#include "top_screen.h"
#include "verbs.h"

#define COLUMNS_DEFAULT 120

struct top_options {
    bool once;
    int64_t lines;
    int64_t interval_ms;
    const char *tab;
};
#define AT(field) offsetof(struct top_options, field)

static const cli_option top_table[] = {
    {"once", NULL, "print the screen once, and exit", CLI_FLAG, AT(once), 0, 0, NULL},
    {"lines", "N", "with --once: print N lines (24)", CLI_COUNT, AT(lines), 6, 10000, NULL},
    {"interval", "DURATION", "time between two refreshes (1s)", CLI_DURATION, AT(interval_ms), 100, 0, NULL},
    {"tab", "queues|tasks|workers|dead|cron|log", "the tab to begin with (queues)", CLI_TEXT, AT(tab), 0, 0, NULL},
    {0},
};
static const struct top_options top_defaults = {.lines = 24, .interval_ms = 1000};

static int choose_tab(const cli_context *cli, cli_top *top, const char *name)
{
    if (name == NULL) return CLI_DONE;
    for (int tab = 0; tab < CLI_TOP_TABS; tab++) {
        if (strcasecmp(cli_top_tab_name((cli_top_tab)tab), name) == 0) {
            cli_top_show(top, (cli_top_tab)tab);
            return CLI_DONE;
        }
    }
    return cli_usage(cli, "--tab \"%.100s\": expected queues, tasks, workers, dead, cron or log", name);
}

static int print_once(cli_top *top, size_t lines)
{
    size_t columns = cli_terminal_columns(stdout);
    long cursor;
    char *text;

    top->visible = lines;
    cli_top_refresh(top);
    text = cli_top_view(top, columns == 0 ? COLUMNS_DEFAULT : columns, lines, &cursor);
    if (text == NULL) return cli_no_memory(top->cli);
    (void)fputs(text, stdout);
    free(text);
    return top->totals.at_ms == 0 ? CLI_NO_REDIS : CLI_DONE;
}

/* What the head shows of all queues. */
static int print_totals(cli_top *top)
{
    const cli_top_totals *totals = &top->totals;
    cli_json json;

    cli_top_refresh(top);
    if (totals->at_ms == 0) return cli_fail(top->cli, CLI_NO_REDIS, "%s", top->note);
    cli_json_begin(&json, stdout);
    cli_json_uint(&json, "queues", totals->queues);
    cli_json_uint(&json, "workers", totals->workers);
    cli_json_uint(&json, "ready", totals->ready);
    cli_json_uint(&json, "running", totals->running);
    cli_json_uint(&json, "scheduled", totals->scheduled);
    cli_json_uint(&json, "dead", totals->dead);
    cli_json_uint(&json, "completed_total", totals->completed);
    cli_json_uint(&json, "failed_total", totals->failed);
    cli_json_maybe(&json, "oldest_ready_ms", totals->oldest_ready_ms);
    cli_json_int(&json, "round_trip_us", totals->cost_us);
    cli_json_end(&json);
    return CLI_DONE;
}

static int show(cli_top *top, const struct top_options *options)
{
    if (top->cli->json) return print_totals(top);
    return options->once ? print_once(top, (size_t)options->lines) : cli_top_on_screen(top, options->interval_ms);
}

static void choose_queue(const cli_context *cli, cli_top *top, const char *queue)
{
    (void)snprintf(top->queue, sizeof(top->queue), "%s", queue);
    if (cli_is_new_queue(cli, queue)) (void)snprintf(top->note, sizeof(top->note), "no such queue yet: %s", queue);
}

static int run(cli_context *cli, void *pointer)
{
    const struct top_options *options = pointer;
    cli_top top;
    int status;

    cli_top_init(&top, cli);
    status = choose_tab(cli, &top, options->tab);
    if (status == CLI_DONE && cli->count > 0) status = cli_queue_argument(cli, cli->rest[0]);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status == CLI_DONE && cli->count > 0) choose_queue(cli, &top, cli->rest[0]);
    if (status == CLI_DONE) status = show(&top, options);
    cli_top_fini(&top);
    return status;
}

const cli_verb cli_verb_top = {
    .name = "top",
    .section = CLI_QUEUES,
    .synopsis = "[QUEUE] [--tab TAB] [--interval DURATION] [--once [--lines N]]",
    .summary = "Shows queues, tasks and workers continuously, and changes them on key presses",
    .options = top_table,
    .options_size = sizeof(struct top_options),
    .defaults = &top_defaults,
    .max = 1,
    .run = run,
    .notes =
        "The tabs are Queues, Tasks, Workers, Dead, Cron and Log. Tasks, Dead and Log show one queue: QUEUE, or the\n"
        "one on which Enter was pressed. ? lists the keys. Small letters only change the view. Capital letters change\n"
        "the tasks, queues or workers of the marked rows, or of the row under the cursor. Before a change, the "
        "program\n"
        "shows the equivalent command and the number of objects, and asks for confirmation. A colon runs any command\n"
        "of reeve. The head shows rates since the last refresh, the longest wait of a task at the head of a queue, "
        "the\n"
        "utilisation of the threads of all workers, and how long the calls to Redis of the last refresh took. While\n"
        "the tab Log is shown, the queue records its events. --json prints the totals of the head once; `reeve queues "
        "--json` and\n"
        "`reeve workers --json` print the details.\n"
        "\n"
        "Examples:\n"
        "  reeve top\n"
        "  reeve top mail --tab dead\n"
        "  reeve top --once --lines 40\n",
};
