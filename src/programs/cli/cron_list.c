/*
 * cron_list.c - `reeve cron list`, and `reeve cron next`, which needs no Redis.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "cron_json.h"
#include "json.h"
#include "new_queue.h"
#include "table.h"
#include "verb_cron.h"

/* ---- list ------------------------------------------------------------------------------------------------------ */

static const cli_column columns[] = {
    {"QUEUE", false, 0, 0}, {"NAME", false, 0, 0}, {"SPEC", false, 40, 0},  {"ZONE", false, 0, 5},
    {"NEXT", false, 0, 0},  {"LAST", false, 0, 4}, {"PAUSED", false, 0, 2}, {"TYPE", false, 0, 3},
};

static void add_row(cli_table *table, const reeve_cron_info *info)
{
    char next[RV_TIME_TEXT] = "";

    if (info->ended) rv_copy_text(next, sizeof(next), "ended");
    if (info->next_ms >= 0) rv_format_time(info->next_ms, next);
    cli_table_cell(table, info->queue);
    cli_table_cell(table, info->name);
    cli_table_cell(table, info->spec);
    cli_table_cell(table, info->zone);
    cli_table_cell(table, next);
    cli_table_cell(table, info->last_id);
    cli_table_cell(table, info->paused ? "yes" : "no");
    cli_table_cell(table, info->type);
}

int cli_cron_list(cli_context *cli, void *pointer)
{
    const char *queue = cli->count > 1 ? cli->rest[1] : NULL;
    int status = queue == NULL ? CLI_DONE : cli_queue_argument(cli, queue);
    reeve_cron_info *list;
    cli_table table;
    size_t count;

    (void)pointer;
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    reeve_status result = reeve_cron_list(cli->client, queue, &list, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, queue);
    cli_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < count; i++) {
        if (cli->json)
            cli_cron_json(&list[i], stdout);
        else
            add_row(&table, &list[i]);
    }
    if (table.used > 0 && !cli_table_print(&table, stdout)) status = cli_no_memory(cli);
    if (count == 0 && queue != NULL) cli_note_no_queue(cli, queue);
    if (count == 0 && !cli->json) (void)fprintf(stderr, "no entry yet; `reeve cron add` makes one\n");
    cli_table_fini(&table);
    reeve_cron_free(list, count);
    return status;
}

/* ---- next ------------------------------------------------------------------------------------------------------ */

#define NEXT_DEFAULT 5
#define NEXT_MAX 1000

/* RFC 3339 in the zone. */
static void format_slot(int64_t ms, rv_zone zone, char ret[RV_TIME_TEXT])
{
    time_t seconds = (time_t)(ms / 1000);
    int64_t offset = rv_zone_offset(zone, ms / 1000);
    time_t shown = seconds + (time_t)offset;
    struct tm tm;

    if (zone == RV_ZONE_UTC || gmtime_r(&shown, &tm) == NULL) {
        rv_format_time(ms, ret);
        return;
    }
    char sign = offset < 0 ? '-' : '+';
    unsigned minutes = (unsigned)(offset < 0 ? -offset : offset) / 60;
    (void)snprintf(ret, RV_TIME_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u.%03u%c%02u:%02u",
                   (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100, (unsigned)tm.tm_mday % 100,
                   (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100, (unsigned)tm.tm_sec % 100,
                   (unsigned)(ms % 1000), sign, minutes / 60 % 100, minutes % 60);
}

static void print_slot(const cli_context *cli, int64_t ms, rv_zone zone)
{
    char text[RV_TIME_TEXT];
    cli_json json;

    format_slot(ms, zone, text);
    if (!cli->json) {
        (void)printf("%s\n", text);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_json_int(&json, "slot_ms", ms);
    cli_json_text(&json, "slot", text);
    cli_json_end(&json);
}

int cli_cron_next(cli_context *cli, void *pointer)
{
    cli_cron_options *options = pointer;
    int64_t count = NEXT_DEFAULT, at = rv_wall_ms();
    rv_error error = {0};
    rv_cron cron;

    if (rv_cron_parse(&cron, cli->rest[1], &error) != REEVE_OK) return cli_fail(cli, CLI_USAGE, "%s", error.text);
    if (cli->count > 2 && !rv_parse_int(cli->rest[2], 1, NEXT_MAX, &count))
        return cli_usage(cli, "\"%.200s\": expected a whole number from 1 to %d", cli->rest[2], NEXT_MAX);
    for (; count > 0; count--) {
        at = rv_cron_next(&cron, options->zone, at);
        if (at < 0) break;
        print_slot(cli, at, options->zone);
    }
    return CLI_DONE;
}
