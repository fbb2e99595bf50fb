/*
 * verb_stats.c - `reeve stats`: what was done, how long it waited and ran, what it failed of.
 */
#include "verb_stats.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "by_queue.h"
#include "maintain.h"
#include "new_queue.h"
#include "stop.h"
#include "table.h"
#include "verbs.h"

#define DAY_MS INT64_C(86400000)

struct stats_options {
    int days;
    int minutes;
    bool histogram;
    bool types;
    int64_t watch_ms; /* 0: once */
};

static const cli_option stats_table[] = {
    {"days", "N", "the last N days, up to today (1)", CLI_INT, offsetof(struct stats_options, days), 1,
     REEVE_STATS_DAYS_MAX, NULL},
    {"minutes", "N", "instead, show the last N minutes, up to 1440", CLI_INT, offsetof(struct stats_options, minutes),
     1, REEVE_STATS_MINUTES_MAX, NULL},
    {"types", NULL, "show a row for each type of task", CLI_FLAG, offsetof(struct stats_options, types), 0, 0, NULL},
    {"histogram", NULL, "also show the histograms of wait times and run times", CLI_FLAG,
     offsetof(struct stats_options, histogram), 0, 0, NULL},
    {"watch", "DURATION", "repeat the output after each DURATION, until a signal ends the command", CLI_DURATION,
     offsetof(struct stats_options, watch_ms), 100, 86400000, NULL},
    {0},
};
static const struct stats_options stats_defaults = {.days = 1};

#define COLUMNS(first)                                                                                               \
    {                                                                                                                \
        {first, false, 0, 0}, {"DONE", true, 0, 0}, {"FAILED", true, 0, 1}, {"DEAD", true, 0, 0},                    \
            {"AVG/HOUR", true, 0, 3}, {"WAIT", true, 0, 0}, {"P50", true, 0, 5}, {"P95", true, 0, 2},                \
            {"P99", true, 0, 4}, {"RUN", true, 0, 0}, {"P50", true, 0, 5}, {"P95", true, 0, 2}, {"P99", true, 0, 4}, \
            {"KINDS", false, 60, 6},                                                                                 \
    }
#define COLUMN_COUNT 14
static const cli_column by_queue[COLUMN_COUNT] = COLUMNS("QUEUE"), by_day[COLUMN_COUNT] = COLUMNS("DAY");

/* What is shown, and what of it adds up. */
struct showing {
    cli_context *cli;
    const struct stats_options *options;
    cli_table table;
    reeve_day *total; /* of all that was shown, or NULL */
};

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* How much of these days has passed. */
static double hours_of(const reeve_day *day)
{
    int64_t from = day->day * DAY_MS, to = from + (int64_t)day->days * DAY_MS, now = rv_wall_ms();

    if (now < to) to = now;
    return to - from > 60000 ? (double)(to - from) / 3600000 : 1.0 / 60;
}

static void add_times(cli_table *table, const reeve_times *times)
{
    static const double percents[] = {50, 95, 99};
    char text[CLI_STATS_TEXT];

    cli_length_text(times->count > 0 ? times->mean_ms : -1, text);
    cli_table_cell(table, text);
    for (size_t i = 0; i < 3; i++) {
        cli_length_text(reeve_stats_percentile(times, percents[i]), text);
        cli_table_cell(table, text);
    }
}

static void add_row(cli_table *table, const char *first, const reeve_day *day)
{
    char kinds[200];

    cli_kinds_text(day, kinds, sizeof(kinds));
    cli_table_cell(table, first);
    cli_table_cellf(table, "%" PRIu64, day->completed);
    cli_table_cellf(table, "%" PRIu64, day->failed);
    cli_table_cellf(table, "%" PRIu64, day->dead);
    cli_table_cellf(table, "%.0f", (double)day->completed / hours_of(day));
    add_times(table, &day->wait);
    add_times(table, &day->run);
    cli_table_cell(table, kinds);
}

/* ---- gathering ------------------------------------------------------------------------------------------------- */

/* Adds a sum to the total of all queues; frees it. */
static int add_to_total(struct showing *showing, reeve_day *sum)
{
    reeve_day *both = NULL, *old = showing->total;

    if (old == NULL) {
        showing->total = sum;
        return CLI_DONE;
    }
    reeve_day list[] = {*old, *sum};
    reeve_status status = reeve_stats_sum(list, 2, &both);
    reeve_stats_free(sum, 1);
    if (status != REEVE_OK) return cli_no_memory(showing->cli);
    reeve_stats_free(old, 1);
    showing->total = both;
    return CLI_DONE;
}

static void add_days(struct showing *showing, const reeve_day *list, size_t count)
{
    char text[CLI_STATS_TEXT];

    for (size_t i = 0; i < count; i++) {
        cli_day_text(list[i].day, text);
        add_row(&showing->table, text, &list[i]);
    }
}

/* each: a row for each day, not for the queue. */
static int show_queue(struct showing *showing, const char *queue, bool each)
{
    cli_context *cli = showing->cli;
    unsigned days = (unsigned)showing->options->days;
    reeve_day *list = NULL, *sum = NULL;
    reeve_status status = reeve_stats(cli->client, queue, 1 - (int64_t)days, days, &list);

    if (status != REEVE_OK) return cli_fail_call(cli, status, queue);
    for (size_t i = 0; i < days && cli->json; i++) cli_print_stats_json(stdout, queue, &list[i]);
    if (each && !cli->json) add_days(showing, list, days);
    if (!cli->json) status = reeve_stats_sum(list, days, &sum);
    reeve_stats_free(list, days);
    if (status != REEVE_OK) return cli_no_memory(cli);
    if (cli->json) return CLI_DONE;
    if (showing->options->types)
        cli_stats_types_add(&showing->table, queue, sum);
    else if (!each)
        add_row(&showing->table, queue, sum);
    return add_to_total(showing, sum);
}

static int show_among_all(const reeve_queue_info *queue, void *context)
{
    return show_queue(context, queue->name, false);
}

static int show_all(struct showing *showing)
{
    size_t count = 0;
    int status = cli_each_queue(showing->cli, show_among_all, showing, &count);

    if (status != CLI_DONE) return status;
    if (count > 1 && showing->total != NULL && !showing->options->types)
        add_row(&showing->table, "(all)", showing->total);
    if (count == 0 && !showing->cli->json) {
        (void)fprintf(stderr, "no queue yet; the first task of a queue creates it\n");
        cli_note_private(showing->cli);
    }
    return status;
}

static int show_one(struct showing *showing, const char *queue)
{
    bool each = showing->options->days > 1 && !showing->options->types;
    int status = show_queue(showing, queue, each);

    if (status == CLI_DONE && each && showing->total != NULL) add_row(&showing->table, "(all)", showing->total);
    return status;
}

static void print_histograms(const reeve_day *total)
{
    char title[80];

    (void)snprintf(title, sizeof(title), "\nwait of %" PRIu64 " first attempts", total->wait.count);
    cli_print_histogram(stdout, title, &total->wait);
    (void)snprintf(title, sizeof(title), "\nrun of %" PRIu64 " attempts", total->run.count);
    cli_print_histogram(stdout, title, &total->run);
}

static void begin_table(struct showing *showing, bool one)
{
    if (showing->options->types)
        cli_table_init(&showing->table, cli_stats_types_columns, CLI_STATS_TYPES_COLUMNS);
    else
        cli_table_init(&showing->table, one && showing->options->days > 1 ? by_day : by_queue, COLUMN_COUNT);
}

static int show_once(cli_context *cli, const struct stats_options *options)
{
    struct showing showing = {.cli = cli, .options = options};
    bool one = cli->count > 0;

    if (one) cli_maintain(cli, cli->rest[0]);
    if (showing.options->minutes > 0)
        return cli_stats_minutes(cli, one ? cli->rest[0] : NULL, (unsigned)showing.options->minutes);
    begin_table(&showing, one);
    int status = one ? show_one(&showing, cli->rest[0]) : show_all(&showing);
    if ((showing.table.used > 0 || showing.table.failed) && !cli_table_print(&showing.table, stdout))
        status = cli_no_memory(cli);
    if (status == CLI_DONE && showing.options->histogram && showing.total != NULL) print_histograms(showing.total);
    cli_table_fini(&showing.table);
    reeve_stats_free(showing.total, 1);
    return status;
}

/* On a terminal each print takes the place of the one before; elsewhere they follow one another. */
static int watch(cli_context *cli, const struct stats_options *options)
{
    bool clears = !cli->json && isatty(STDOUT_FILENO) == 1;
    int status = CLI_DONE;

    cli_stop_catch(NULL);
    while (status == CLI_DONE && cli_stop_signal() == 0) {
        if (clears) (void)fputs("\033[H\033[2J", stdout);
        status = show_once(cli, options);
        if (!cli->json && !clears) (void)putchar('\n');
        if (fflush(stdout) != 0) status = CLI_REFUSED;
        struct pollfd stop = {.fd = cli_stop_fd(), .events = POLLIN};
        if (status == CLI_DONE && cli_stop_signal() == 0) (void)poll(&stop, 1, (int)options->watch_ms);
    }
    int came = cli_stop_signal();
    cli_stop_release();
    return status == CLI_DONE && came != 0 ? cli_signalled(cli, came) : status;
}

static int stats(cli_context *cli, void *pointer)
{
    const struct stats_options *options = pointer;
    int status = cli->count > 0 ? cli_queue_argument(cli, cli->rest[0]) : CLI_DONE;

    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    if (cli->count > 0) cli_note_no_queue(cli, cli->rest[0]);
    return options->watch_ms > 0 ? watch(cli, options) : show_once(cli, options);
}

const cli_verb cli_verb_stats = {
    .name = "stats",
    .section = CLI_QUEUES,
    .synopsis =
        "[QUEUE] [--days N] [--types] [--histogram] [--watch DURATION] | [QUEUE] --minutes N [--watch DURATION]",
    .summary = "Shows numbers of tasks, wait times, run times and kinds of errors",
    .options = stats_table,
    .options_size = sizeof(struct stats_options),
    .defaults = &stats_defaults,
    .max = 1,
    .run = stats,
    .notes =
        "Without a QUEUE, the command prints a row for each queue and a total, for today or for the last N days. With\n"
        "a QUEUE, it prints a row for each day and a total. Days are in UTC. Workers add to the numbers every few\n"
        "seconds. DONE is the number of completed tasks, FAILED that of failed attempts, and DEAD that of tasks that\n"
        "died. WAIT is the mean time from the moment when a task became ready until its first attempt; tasks that\n"
        "were snoozed, rescheduled or retried by hand do not count. RUN is the mean duration of completed and failed\n"
        "attempts. P50, P95 and P99 are percentiles, estimated from a histogram. KINDS are the kinds of errors.\n"
        "--json prints a line for each queue and day. --types prints a row for each type of task, with the shortest\n"
        "and the longest wait and run. --minutes prints a row for each minute, of one queue or of all together; BUSY\n"
        "is the mean number of threads that ran its tasks. --watch repeats the output; on a terminal, each output\n"
        "replaces the previous one.\n"
        "\n"
        "Examples:\n"
        "  reeve stats\n"
        "  reeve stats default --days 7 --histogram\n"
        "  reeve stats --types\n"
        "  reeve stats default --watch 5s\n"
        "  reeve stats default --minutes 60\n"
        "  reeve stats default --json | jq .run.p95_ms\n",
};
