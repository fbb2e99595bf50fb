/*
 * verb_events.c - whether a queue keeps its events, and those that it has kept.
 */
#include <inttypes.h>
#include <stdio.h>

#include "args.h"
#include "json.h"
#include "maintain.h"
#include "new_queue.h"
#include "verbs.h"

struct events_options {
    int64_t keep; /* negative: not given */
};

static const cli_option events_table[] = {
    {"keep", "N", "keep about the last N events; 0: none", CLI_COUNT, offsetof(struct events_options, keep), 0,
     REEVE_EVENTS_MAX, NULL},
    {0},
};
static const struct events_options events_defaults = {.keep = -1};

static void report(const cli_context *cli, const char *queue, int64_t kept, uint64_t count)
{
    cli_json json;

    if (!cli->json && kept == 0) {
        (void)printf("%s keeps no events\n", queue);
    } else if (!cli->json) {
        (void)printf("%s keeps about %" PRId64 " events, and has %" PRIu64 "\n", queue, kept, count);
    } else {
        cli_json_begin(&json, stdout);
        cli_json_text(&json, "queue", queue);
        cli_json_int(&json, "keep", kept);
        cli_json_uint(&json, "count", count);
        cli_json_end(&json);
    }
}

static int events(cli_context *cli, void *pointer)
{
    const struct events_options *options = pointer;
    const char *queue = cli->rest[0];
    int64_t kept = 0;
    uint64_t count = 0;
    reeve_status result = REEVE_OK;
    int status = cli_queue_argument(cli, queue);

    if (status == CLI_DONE) status = cli_open_queue(cli, queue);
    if (status != CLI_DONE) return status;
    if (options->keep >= 0)
        cli_note_new_queue(cli, queue);
    else
        cli_note_no_queue(cli, queue);
    if (options->keep >= 0) result = reeve_events_keep(cli->client, queue, options->keep);
    if (result == REEVE_OK) result = reeve_events_get(cli->client, queue, &kept, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, queue);
    report(cli, queue, kept, count);
    return CLI_DONE;
}

const cli_verb cli_verb_events = {
    .name = "events",
    .section = CLI_QUEUES,
    .synopsis = "QUEUE [--keep N]",
    .summary = "Shows or sets how many events a queue keeps",
    .options = events_table,
    .options_size = sizeof(struct events_options),
    .defaults = &events_defaults,
    .min = 1,
    .max = 1,
    .run = events,
    .notes =
        "An event records a change of a task's state. A queue writes events only while it keeps events, or a\n"
        "program watches it. It writes one event for each change of a task. If one call to Redis changes\n"
        "several tasks in the same way, it writes one event for all of them; `reeve watch` prints a line for each\n"
        "of these tasks. `reeve watch QUEUE --since DURATION` prints the events that a queue has kept.\n"
        "\n"
        "Examples:\n"
        "  reeve events default --keep 10000\n"
        "  reeve events default --keep 0\n",
};
