/*
 * verb_move.c - tasks go to another queue.
 */
#include <string.h>

#include "bulk_update.h"
#include "protocol/definition.h"
#include "verbs.h"

struct move_options {
    cli_bulk_update_options bulk;
    const char *to;
    bool expire;
};

static const cli_option move_table[] = {
    {"to", "QUEUE", "the queue to which the tasks go", CLI_TEXT, offsetof(struct move_options, to), 0, 0, NULL},
    {"expire", NULL, "a running task first loses its lease, as by `reeve expire`", CLI_FLAG,
     offsetof(struct move_options, expire), 0, 0, NULL},
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_FILTER_STATE("state of the tasks: any, but running only with --expire; or all: all waiting tasks (all)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ANY),
    CLI_FILTER_WORKER(CLI_FILTER_RUNS_OR_RAN),
    CLI_FILTER_DUE,
    CLI_FILTER_ENDED,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

static reeve_status move_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const struct move_options *options = pointer;

    (void)ret_running;
    return options->expire ? reeve_move_running(client, handle->queue, handle->id, options->to)
                           : reeve_move(client, handle->queue, handle->id, options->to);
}

#define STATE(name) REEVE_STATE_##name,
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The last one only with --expire. */
static const reeve_state moved[] = {RV_WAITING_STATES(STATE) RV_ENDED_STATES(STATE) REEVE_STATE_RUNNING};
static const reeve_state ended[] = {RV_ENDED_STATES(STATE)};

static int move(cli_context *cli, void *pointer)
{
    const struct move_options *options = pointer;
    const size_t allowed = COUNT(moved) - (options->expire ? 0 : 1);
    const cli_bulk_update_plan plan = {.done = "moved",
                                       .call = move_one,
                                       .states = moved,
                                       .state_count = COUNT(moved) - COUNT(ended) - 1,
                                       .allowed = moved,
                                       .allowed_count = allowed,
                                       .named_count = allowed - (COUNT(moved) - COUNT(ended) - 1)};
    int status;

    if (options->to == NULL) return cli_usage(cli, "to which queue? give --to QUEUE");
    if (strcmp(cli->rest[0], options->to) == 0)
        return cli_usage(cli, "--to %s: the tasks are in this queue; give another one", options->to);
    status = cli_queue_argument(cli, options->to);
    return status == CLI_DONE ? cli_bulk_update(cli, &plan, &options->bulk) : status;
}

const cli_verb cli_verb_move = {
    .name = "move",
    .section = CLI_CHANGES,
    .synopsis =
        "HANDLE...|- --to QUEUE [--expire]\n       reeve move QUEUE --to QUEUE --all | FILTER... [--state STATE] "
        "[--limit N] [--dry-run]",
    .summary = "Moves tasks that are not running to another queue",
    .options = move_table,
    .options_size = sizeof(struct move_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = move,
    .notes = "A task keeps its id, options, tags, history, log, failures, unique key and dependencies. A waiting task\n"
             "keeps waiting for its time and its parents. A completed, dead or cancelled task runs again in the other\n"
             "queue.\n" CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE(
                 "moved") "\nExamples:\n"
                          "  reeve move default/order-17 --to slow\n"
                          "  reeve move mail --state dead --type welcome --to mail-again --dry-run\n",
};
