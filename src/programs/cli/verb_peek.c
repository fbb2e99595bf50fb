/*
 * verb_peek.c - what a queue hands out next: the first ready tasks in their order, with their payloads.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "new_queue.h"
#include "table.h"
#include "task_view.h"
#include "verbs.h"
#include "when.h"

#define PEEK_DEFAULT 10
#define PEEK_MAX 1000
#define PAYLOAD_SHOWN 200

struct peek_options {
    int64_t limit;
    int64_t offset;
};

static const cli_option peek_table[] = {
    {"limit", "N", "the same as N (10)", CLI_COUNT, offsetof(struct peek_options, limit), 1, PEEK_MAX, NULL},
    {"offset", "N", "skip the first N (0)", CLI_COUNT, offsetof(struct peek_options, offset), 0, INT64_MAX, NULL},
    {0},
};

static const cli_column columns[] = {
    {"#", true, 0, 1},       {"HANDLE", false, 0, 0},   {"TYPE", false, 40, 2},    {"PRIORITY", true, 0, 3},
    {"GROUP", false, 30, 4}, {"ENQUEUED", false, 0, 5}, {"PAYLOAD", false, 70, 6},
};

static void add_payload(cli_table *table, reeve_bytes payload)
{
    size_t length = payload.length < PAYLOAD_SHOWN ? payload.length : PAYLOAD_SHOWN;

    cli_table_cellf(table, "%.*s", (int)length, (const char *)payload.data);
}

static void add_task(cli_table *table, const reeve_task_info *info, uint64_t place)
{
    char when[CLI_WHEN_TEXT];

    cli_ago_text(info->enqueued_ms, rv_wall_ms(), when);
    cli_table_cellf(table, "%" PRIu64, place);
    cli_table_cellf(table, "%s/%s", info->queue, info->id);
    cli_table_cell(table, info->type);
    cli_table_cellf(table, "%d", info->priority);
    cli_table_cell(table, info->group);
    cli_table_cell(table, when);
    add_payload(table, info->payload);
}

/* Pages end early where payloads are large: asks again until there are enough. */
static int take_tasks(cli_context *cli, cli_table *table, uint64_t offset, size_t want)
{
    size_t taken = 0, count = 1;

    while (taken < want && count > 0) {
        reeve_task_info **page = NULL;
        reeve_status status =
            reeve_list(cli->client, cli->rest[0], REEVE_STATE_READY, offset + taken, want - taken, &page, &count, NULL);

        if (status != REEVE_OK) return cli_fail_call(cli, status, cli->rest[0]);
        for (size_t i = 0; i < count; i++) {
            if (cli->json)
                cli_task_json(page[i], stdout);
            else
                add_task(table, page[i], offset + taken + i + 1);
        }
        taken += count;
        reeve_task_list_free(page, count);
    }
    if (taken == 0 && !cli->json) (void)fprintf(stderr, "no ready task in %s\n", cli->rest[0]);
    return CLI_DONE;
}

static int peek(cli_context *cli, void *pointer)
{
    const struct peek_options *options = pointer;
    int64_t want = options->limit > 0 ? options->limit : PEEK_DEFAULT;
    cli_table table;
    int status = cli_queue_argument(cli, cli->rest[0]);

    if (status == CLI_DONE && cli->count > 1 && !rv_parse_int(cli->rest[1], 1, PEEK_MAX, &want))
        status = cli_usage(cli, "\"%.100s\": N is a number from 1 to %d", cli->rest[1], PEEK_MAX);
    if (status == CLI_DONE) status = cli_open_known_queue(cli, cli->rest[0]);
    if (status != CLI_DONE) return status;
    cli_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    status = take_tasks(cli, &table, (uint64_t)options->offset, (size_t)want);
    if ((table.used > 0 || table.failed) && !cli_table_print(&table, stdout)) status = cli_no_memory(cli);
    cli_table_fini(&table);
    return status;
}

const cli_verb cli_verb_peek = {
    .name = "peek",
    .section = CLI_TASKS,
    .synopsis = "QUEUE [N | --limit N] [--offset N]",
    .summary = "Shows the next tasks of a queue, in the order in which they will be leased, with payloads",
    .options = peek_table,
    .options_size = sizeof(struct peek_options),
    .min = 1,
    .max = 2,
    .run = peek,
    .notes =
        "N is at most 1000. Tasks are listed by priority. Within a priority, tasks of different groups alternate.\n"
        "The command ignores limits and pauses: a listed task runs later if its queue or its group is paused or at\n"
        "a limit. With --json each line is as `reeve show --json` prints it.\n"
        "\n"
        "Examples:\n"
        "  reeve peek default\n"
        "  reeve peek default 1 --json | jq -r .payload\n",
};
