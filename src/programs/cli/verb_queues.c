#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "limits_view.h"
#include "maintain.h"
#include "new_queue.h"
#include "page.h"
#include "protocol/definition.h"
#include "protocol/serving.h"
#include "queue_json.h"
#include "table.h"
#include "verbs.h"
#include "when.h"

struct queues_options {
    cli_page page;
};

static const cli_option queues_table[] = {
    CLI_PAGE_LIMIT_OR_ALL(offsetof(struct queues_options, page)),
    CLI_PAGE_OFFSET(offsetof(struct queues_options, page)),
    {0},
};

/* When a narrow terminal loses the column of a state: the larger the number, the earlier; 0: never. */
#define DROP_BLOCKED 9
#define DROP_SCHEDULED 8
#define DROP_READY 0
#define DROP_PARKED 10
#define DROP_RUNNING 0
#define DROP_COMPLETED 9
#define DROP_DEAD 1
#define DROP_CANCELLED 10

/* clang-format off */
#define COLUMN(name, title) {title, true, 0, DROP_##name},
static const cli_column columns[] = {
    {"QUEUE", false, 0, 0}, {"PAUSED", false, 0, 4},
    RV_STATE_COLUMNS(COLUMN)
    {"DONE", true, 0, 6}, {"FAILED", true, 0, 5}, {"OLDEST", false, 0, 4}, {"WORKERS", true, 0, 3}, {"LIMITS", false, 0, 7},
};
/* clang-format on */
#undef COLUMN

/* The live workers, for all queues that are shown. */
static struct {
    reeve_worker_info *list;
    size_t count;
    bool known; /* else: who looks may not read them */
} workers;

static int read_workers(const cli_context *cli)
{
    reeve_status status = reeve_workers(cli->client, &workers.list, &workers.count);

    workers.known = status == REEVE_OK;
    return status == REEVE_OK || status == REEVE_EREDIS ? CLI_DONE : cli_fail_call(cli, status, NULL);
}

/* How many serve the queue; -1: not known. */
static int64_t serving(const char *queue)
{
    rv_serving found;

    if (!workers.known || rv_serving_count(&found, workers.list, workers.count, queue, NULL) != REEVE_OK) return -1;
    return found.workers;
}

static void add_number(cli_table *table, uint64_t number)
{
    cli_table_cellf(table, "%" PRIu64, number);
}

static void add_limit(rv_buf *text, const char *what, const char *limit)
{
    rv_buf_addf(text, "%s%s %s", text->length > 0 ? ", " : "", what, limit);
}

/* What keeps tasks from starting: limits and pauses for a time. */
static void add_limits(cli_table *table, const reeve_queue_info *info)
{
    char one[CLI_LIMIT_TEXT];
    rv_buf text;

    rv_buf_init(&text, 1024);
    if (info->pause_until_ms > rv_wall_ms()) add_limit(&text, "paused", cli_pause_text(info->pause_until_ms, one));
    if (info->concurrency > 0) add_limit(&text, "concurrency", cli_concurrency_text(info->concurrency, one));
    if (info->rate.count > 0) add_limit(&text, "rate", cli_limit_rate_text(&info->rate, one));
    if (info->group_concurrency > 0) add_limit(&text, "each group", cli_concurrency_text(info->group_concurrency, one));
    if (info->group_rate.count > 0) add_limit(&text, "each group", cli_limit_rate_text(&info->group_rate, one));
    cli_table_cell(table, text.failed ? "" : rv_buf_text(&text));
    rv_buf_fini(&text);
}

static void add_serving(cli_table *table, const char *queue)
{
    int64_t count = serving(queue);

    if (count < 0)
        cli_table_cell(table, NULL);
    else
        cli_table_cellf(table, "%" PRId64, count);
}

static void add_paused(cli_table *table, const reeve_queue_info *info)
{
    char since[CLI_WHEN_TEXT];

    cli_ago_text(info->paused_ms, rv_wall_ms(), since);
    cli_table_cell(table, !info->paused ? "no" : since[0] == '\0' ? "yes" : since);
}

static void add_row(cli_table *table, const reeve_queue_info *info)
{
    char oldest[CLI_WHEN_TEXT];

    cli_ago_text(info->oldest_ready_ms, rv_wall_ms(), oldest);
    cli_table_cell(table, info->name);
    add_paused(table, info);
#define ADD(name, title) add_number(table, info->count[REEVE_STATE_##name]);
    RV_STATE_COLUMNS(ADD)
#undef ADD
    add_number(table, info->completed_total);
    add_number(table, info->failed_total);
    cli_table_cell(table, oldest);
    add_serving(table, info->name);
    add_limits(table, info);
}

static void take_queue(const cli_context *cli, cli_table *table, const reeve_queue_info *info)
{
    if (cli->json)
        cli_queue_json(info, serving(info->name), stdout);
    else
        add_row(table, info);
}

/* What only maintenance moves on: tasks of a dead worker, such as are due, and messages to other queues. */
static bool may_be_neglected(const reeve_queue_info *info)
{
    return info->count[REEVE_STATE_RUNNING] > 0 || (info->next_due_ms >= 0 && info->next_due_ms < rv_wall_ms()) ||
           serving(info->name) == 0;
}

static int take_queue_now(const cli_context *cli, cli_table *table, reeve_queue_info *info)
{
    char name[REEVE_QUEUE_MAX + 1];

    if (may_be_neglected(info) && cli_maintain(cli, info->name)) {
        reeve_status status;

        rv_copy_text(name, sizeof(name), info->name);
        status = reeve_queue(cli->client, name, info);
        if (status != REEVE_OK) return cli_fail_call(cli, status, name);
    }
    take_queue(cli, table, info);
    return CLI_DONE;
}

static int take_all(cli_context *cli, cli_table *table, const cli_page *page)
{
    reeve_queue_info *list = NULL;
    size_t count = 0, from;
    reeve_status status = reeve_queues(cli->client, &list, &count);
    int result = CLI_DONE;

    if (status != REEVE_OK) return cli_fail_call(cli, status, NULL);
    if (count == 0 && !cli->json) {
        (void)fprintf(stderr, "no queue yet; the first task of a queue creates it\n");
        cli_note_private(cli);
    }
    from = cli_page_cut(cli, page, "queues", &count);
    for (size_t i = 0; i < count && result == CLI_DONE; i++) result = take_queue_now(cli, table, &list[from + i]);
    reeve_queues_free(list);
    return result;
}

static int take_named(cli_context *cli, cli_table *table)
{
    int result = CLI_DONE;

    for (size_t i = 0; i < cli->count && result == CLI_DONE; i++) {
        reeve_queue_info info;
        reeve_status status = reeve_queue(cli->client, cli->rest[i], &info);

        if (status != REEVE_OK) return cli_fail_call(cli, status, cli->rest[i]);
        cli_note_no_queue(cli, cli->rest[i]);
        result = take_queue_now(cli, table, &info);
    }
    return result;
}

static int queues(cli_context *cli, void *pointer)
{
    const struct queues_options *options = pointer;
    cli_table table;
    int status = CLI_DONE;

    if (cli->count > 0 && cli->given > 0) return cli_usage(cli, "--limit and --offset go without a QUEUE");
    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++) status = cli_queue_argument(cli, cli->rest[i]);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status == CLI_DONE) status = read_workers(cli);
    if (status != CLI_DONE) return status;
    cli_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    status = cli->count == 0 ? take_all(cli, &table, &options->page) : take_named(cli, &table);
    if (table.used > 0 && !cli_table_print(&table, stdout)) status = cli_no_memory(cli);
    cli_table_fini(&table);
    reeve_workers_free(workers.list, workers.count);
    return status;
}

const cli_verb cli_verb_queues = {
    .name = "queues",
    .section = CLI_QUEUES,
    .synopsis = "[QUEUE...]\n       reeve queues [--limit N] [--offset N]",
    .summary = "Shows all queues, or the given ones, with the number of tasks in each state",
    .options = queues_table,
    .options_size = sizeof(struct queues_options),
    .max = CLI_ANY_NUMBER,
    .run = queues,
    .notes =
        "DONE is the number of completed tasks, and FAILED the number of failed attempts, since the queue was\n"
        "created. BLOCKED tasks wait for other tasks. PARKED tasks wait because their group is paused or at a\n"
        "limit, or because their type is at a limit (`reeve limit QUEUE`). OLDEST is the time since the enqueue of\n"
        "the task at the head of the queue, which is not always the oldest. PAUSED is the time since the queue was "
        "paused. WORKERS is the number of live\n"
        "workers that serve the queue. `reeve why QUEUE` explains more.\n"
        "\n"
        "Examples:\n"
        "  reeve queues\n"
        "  reeve queues default --json | jq .ready\n",
};
