#include "limits_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "rate.h"
#include "table.h"
#include "when.h"

#define PAGE_MAX 500

/* ---- words ----------------------------------------------------------------------------------------------------- */

const char *cli_concurrency_text(int64_t concurrency, char ret[CLI_LIMIT_TEXT])
{
    if (concurrency > 0)
        (void)snprintf(ret, CLI_LIMIT_TEXT, "%" PRId64, concurrency);
    else
        (void)snprintf(ret, CLI_LIMIT_TEXT, "none");
    return ret;
}

_Static_assert(CLI_RATE_TEXT <= CLI_LIMIT_TEXT, "a rate fits");

const char *cli_limit_rate_text(const reeve_rate *rate, char ret[CLI_LIMIT_TEXT])
{
    if (rate->count > 0)
        cli_rate_text(rate, ret);
    else
        (void)snprintf(ret, CLI_LIMIT_TEXT, "none");
    return ret;
}

const char *cli_pause_text(int64_t until_ms, char ret[CLI_LIMIT_TEXT])
{
    char time[CLI_WHEN_TEXT];
    int64_t now_ms = rv_wall_ms();

    if (until_ms > now_ms) cli_time_text(until_ms, now_ms, time);
    (void)snprintf(ret, CLI_LIMIT_TEXT, until_ms > now_ms ? "until %s" : "none", time);
    return ret;
}

/* ---- for programs ---------------------------------------------------------------------------------------------- */

void cli_concurrency_json(cli_json *json, int64_t concurrency, bool own)
{
    if (concurrency > 0 || (own && concurrency < 0))
        cli_json_int(json, "concurrency", concurrency);
    else
        cli_json_null(json, "concurrency");
}

void cli_rate_json(cli_json *json, const reeve_rate *rate, bool own)
{
    if (rate->count <= 0 && !own) {
        cli_json_null(json, "rate");
        return;
    }
    cli_json_open(json, "rate");
    cli_json_int(json, "count", rate->count > 0 ? rate->count : 0);
    cli_json_int(json, "period_ms", rate->count <= 0 ? 0 : rate->period_ms == 0 ? 1000 : rate->period_ms);
    cli_json_int(json, "burst", rate->count <= 0 ? 0 : rate->burst == 0 ? rate->count : rate->burst);
    cli_json_close(json);
}

static void pause_json(cli_json *json, int64_t until_ms)
{
    cli_json_maybe(json, "pause_until_ms", until_ms > 0 ? until_ms : -1);
}

void cli_group_limits_json(cli_json *json, const reeve_group_limits *group)
{
    cli_json_open(json, NULL);
    cli_json_text(json, "group", group->type[0] == '\0' && group->key[0] == '\0' ? group->group : NULL);
    if (group->type[0] != '\0') cli_json_text(json, "type", group->type);
    if (group->key[0] != '\0') cli_json_text(json, "key", group->key);
    cli_concurrency_json(json, group->concurrency, true);
    cli_rate_json(json, &group->rate, group->rate.count < 0);
    pause_json(json, group->pause_until_ms);
    cli_json_uint(json, "running", group->running);
    cli_json_uint(json, "parked", group->parked);
    if (group->strict != 0) cli_json_bool(json, "strict", group->strict > 0);
    cli_json_close(json);
}

void cli_limits_json_begin(cli_json *json, FILE *out, const char *queue, const reeve_limits *limits)
{
    cli_json_begin(json, out);
    cli_json_text(json, "queue", queue);
    cli_concurrency_json(json, limits->concurrency, false);
    cli_rate_json(json, &limits->rate, false);
    pause_json(json, limits->pause_until_ms);
    cli_json_maybe(json, "running", limits->running);
    cli_json_open(json, "each_group");
    cli_concurrency_json(json, limits->group_concurrency, false);
    cli_rate_json(json, &limits->group_rate, false);
    cli_json_bool(json, "strict", limits->group_strict);
    cli_json_close(json);
    cli_json_uint(json, "group_total", limits->group_total);
    cli_json_open_array(json, "groups");
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

static const cli_column columns[] = {
    {"GROUP", false, 40, 0}, {"CONCURRENCY", false, 0, 0}, {"RATE", false, 0, 0},
    {"RUNNING", true, 0, 0}, {"PARKED", true, 0, 1},       {"HOLD", false, 0, 2},
};

static void add_group(cli_table *table, const reeve_group_limits *group)
{
    char text[CLI_LIMIT_TEXT];

    if (group->type[0] != '\0')
        cli_table_cellf(table, "type:%s", group->type);
    else if (group->key[0] != '\0')
        cli_table_cellf(table, "key:%s", group->key);
    else
        cli_table_cell(table, group->group);
    if (group->strict > 0)
        cli_table_cell(table, "1, strict");
    else
        cli_table_cell(table, group->concurrency == 0 ? "" : cli_concurrency_text(group->concurrency, text));
    cli_table_cell(table, group->rate.count == 0 ? "" : cli_limit_rate_text(&group->rate, text));
    cli_table_cellf(table, "%" PRIu64, group->running);
    cli_table_cellf(table, "%" PRIu64, group->parked);
    cli_table_cell(table, group->pause_until_ms == 0 ? "" : cli_pause_text(group->pause_until_ms, text));
}

static bool print_queue(const char *queue, const reeve_limits *limits)
{
    char text[CLI_LIMIT_TEXT];
    cli_fields fields;
    bool printed;

    cli_fields_init(&fields);
    cli_fields_add(&fields, "queue", queue);
    if (limits->concurrency > 0 && limits->running >= 0)
        cli_fields_addf(&fields, "concurrency", "%" PRId64 " (%" PRId64 " running)", limits->concurrency,
                        limits->running);
    else
        cli_fields_add(&fields, "concurrency", cli_concurrency_text(limits->concurrency, text));
    cli_fields_add(&fields, "rate", cli_limit_rate_text(&limits->rate, text));
    cli_fields_add(&fields, "pause", cli_pause_text(limits->pause_until_ms, text));
    cli_fields_add(&fields, "each group's concurrency",
                   limits->group_strict ? "1, strict" : cli_concurrency_text(limits->group_concurrency, text));
    cli_fields_add(&fields, "each group's rate", cli_limit_rate_text(&limits->group_rate, text));
    printed = cli_fields_print(&fields, stdout);
    cli_fields_fini(&fields);
    return printed;
}

/* ---- page by page ---------------------------------------------------------------------------------------------- */

struct viewing {
    cli_context *cli;
    const char *queue;
    cli_json json;
    cli_table table;
    uint64_t offset; /* of the next page */
    uint64_t left;   /* of the limit */
    uint64_t shown;
    uint64_t total;
    bool begun; /* the queue's own limits are printed */
    bool failed;
};

static void take_page(struct viewing *viewing, const reeve_limits *limits)
{
    bool json = viewing->cli->json;

    if (!viewing->begun && json) cli_limits_json_begin(&viewing->json, stdout, viewing->queue, limits);
    if (!viewing->begun && !json) viewing->failed = !print_queue(viewing->queue, limits);
    viewing->begun = true;
    for (size_t i = 0; i < limits->group_count; i++) {
        if (json)
            cli_group_limits_json(&viewing->json, &limits->groups[i]);
        else
            add_group(&viewing->table, &limits->groups[i]);
    }
    viewing->total = limits->group_total;
    viewing->shown += limits->group_count;
    viewing->offset = limits->next;
    viewing->left -= limits->group_count < viewing->left ? limits->group_count : viewing->left;
}

static int view_pages(struct viewing *viewing)
{
    bool more = true;

    while (more) {
        reeve_limits *limits = NULL;
        size_t want = viewing->left < PAGE_MAX ? (size_t)viewing->left : PAGE_MAX;
        reeve_status status = reeve_limits_get(viewing->cli->client, viewing->queue, viewing->offset, want, &limits);

        if (status != REEVE_OK) return cli_fail_call(viewing->cli, status, viewing->queue);
        take_page(viewing, limits);
        more = viewing->left > 0 && viewing->offset > 0 && ferror(stdout) == 0;
        reeve_limits_free(limits);
    }
    return CLI_DONE;
}

static void print_groups(struct viewing *viewing)
{
    if (viewing->shown == 0) return;
    (void)putchar('\n');
    if (!cli_table_print(&viewing->table, stdout)) viewing->failed = true;
    if (viewing->offset > 0 && viewing->shown < viewing->total && cli_flush(viewing->cli))
        (void)fprintf(stderr, "%" PRIu64 " of %" PRIu64 " groups (--limit 0 lists all)\n", viewing->shown,
                      viewing->total);
}

int cli_show_limits(cli_context *cli, const char *queue, const cli_page *page)
{
    struct viewing viewing = {.cli = cli,
                              .queue = queue,
                              .offset = (uint64_t)page->offset,
                              .left = page->limit == 0 ? UINT64_MAX : (uint64_t)page->limit};
    int status;

    cli_table_init(&viewing.table, columns, sizeof(columns) / sizeof(columns[0]));
    status = view_pages(&viewing);
    if (viewing.begun && cli->json) {
        cli_json_close_array(&viewing.json);
        cli_json_end(&viewing.json);
    } else if (viewing.begun) {
        print_groups(&viewing);
    }
    cli_table_fini(&viewing.table);
    return viewing.failed ? cli_no_memory(cli) : status;
}
