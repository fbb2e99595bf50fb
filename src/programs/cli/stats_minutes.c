/*
 * stats_minutes.c - `reeve stats --minutes`: what was done in each of the last minutes.
 */
#include <inttypes.h>
#include <time.h>

#include "by_queue.h"
#include "json.h"
#include "table.h"
#include "verb_stats.h"

#define MINUTE_US 60e6

static const cli_column columns[] = {
    {"TIME", false, 0, 0}, {"DONE", true, 0, 0}, {"FAILED", true, 0, 0}, {"DEAD", true, 0, 1},
    {"WAIT", true, 0, 0},  {"RUN", true, 0, 0},  {"BUSY", true, 0, 2},
};
#define COLUMN_COUNT (sizeof(columns) / sizeof(columns[0]))

/* The minutes of all queues that are shown, added up. */
struct showing {
    cli_context *cli;
    unsigned minutes;
    reeve_minute sums[REEVE_STATS_MINUTES_MAX];
};

static double mean(uint64_t sum, uint64_t count)
{
    return count > 0 ? (double)sum / (double)count : -1;
}

void cli_minute_json(const char *queue, const reeve_minute *minute, FILE *out)
{
    cli_json json;

    cli_json_begin(&json, out);
    cli_json_text(&json, "queue", queue);
    cli_json_int(&json, "at_ms", minute->at_ms);
    cli_json_uint(&json, "completed", minute->completed);
    cli_json_uint(&json, "failed", minute->failed);
    cli_json_uint(&json, "dead", minute->dead);
    cli_json_uint(&json, "waits", minute->waits);
    cli_json_uint(&json, "wait_ms", minute->wait_ms);
    cli_json_uint(&json, "runs", minute->runs);
    cli_json_uint(&json, "run_us", minute->run_us);
    cli_json_real(&json, "busy", (double)minute->run_us / MINUTE_US);
    cli_json_end(&json);
}

static void add_row(cli_table *table, const reeve_minute *minute)
{
    char text[CLI_STATS_TEXT] = "";
    time_t seconds = (time_t)(minute->at_ms / 1000);
    struct tm when;

    if (gmtime_r(&seconds, &when) != NULL) (void)strftime(text, sizeof(text), "%H:%M", &when);
    cli_table_cell(table, text);
    cli_table_cellf(table, "%" PRIu64, minute->completed);
    cli_table_cellf(table, "%" PRIu64, minute->failed);
    cli_table_cellf(table, "%" PRIu64, minute->dead);
    cli_length_text(mean(minute->wait_ms, minute->waits), text);
    cli_table_cell(table, text);
    cli_length_text(mean(minute->run_us, minute->runs) / 1000, text);
    cli_table_cell(table, text);
    cli_table_cellf(table, "%.2f", (double)minute->run_us / MINUTE_US);
}

static void add(reeve_minute *sum, const reeve_minute *more)
{
    sum->at_ms = more->at_ms;
    sum->completed += more->completed;
    sum->failed += more->failed;
    sum->dead += more->dead;
    sum->waits += more->waits;
    sum->wait_ms += more->wait_ms;
    sum->runs += more->runs;
    sum->run_us += more->run_us;
}

static int show_queue(struct showing *showing, const char *queue)
{
    reeve_minute *list = NULL;
    reeve_status status = reeve_stats_minutes(showing->cli->client, queue, showing->minutes, &list);

    if (status != REEVE_OK) return cli_fail_call(showing->cli, status, queue);
    for (unsigned i = 0; i < showing->minutes; i++) {
        if (showing->cli->json) cli_minute_json(queue, &list[i], stdout);
        add(&showing->sums[i], &list[i]);
    }
    reeve_stats_minutes_free(list);
    return CLI_DONE;
}

static int show_among_all(const reeve_queue_info *queue, void *context)
{
    return show_queue(context, queue->name);
}

static int print_table(const struct showing *showing)
{
    cli_table table;

    cli_table_init(&table, columns, COLUMN_COUNT);
    for (unsigned i = 0; i < showing->minutes; i++) add_row(&table, &showing->sums[i]);
    int status = cli_table_print(&table, stdout) ? CLI_DONE : cli_no_memory(showing->cli);
    cli_table_fini(&table);
    return status;
}

int cli_stats_minutes(cli_context *cli, const char *queue, unsigned minutes)
{
    static struct showing showing;
    size_t count = 0;

    showing = (struct showing){.cli = cli, .minutes = minutes};
    int status = queue != NULL ? show_queue(&showing, queue) : cli_each_queue(cli, show_among_all, &showing, &count);
    if (status != CLI_DONE || cli->json) return status;
    return print_table(&showing);
}
