/*
 * verb_move.c - tasks go to another queue.
 */
#include <string.h>

#include "control.h"
#include "verbs.h"

struct move_options {
    const char *to;
    bool expire;
};

static const cli_option move_table[] = {
    {"to", "QUEUE", "the queue to which the tasks go", CLI_TEXT, offsetof(struct move_options, to), 0, 0, NULL},
    {"expire", NULL, "a running task first loses its lease, as by `reeve expire`", CLI_FLAG,
     offsetof(struct move_options, expire), 0, 0, NULL},
    {0},
};

static reeve_status move_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const struct move_options *options = pointer;

    (void)ret_running;
    return options->expire ? reeve_move_running(client, handle->queue, handle->id, options->to)
                           : reeve_move(client, handle->queue, handle->id, options->to);
}

static int move(cli_context *cli, void *pointer)
{
    const struct move_options *options = pointer;
    int status;

    if (options->to == NULL) return cli_usage(cli, "to which queue? give --to QUEUE");
    status = cli_queue_argument(cli, options->to);
    return status == CLI_DONE ? cli_control(cli, "moved", move_one, options) : status;
}

const cli_verb cli_verb_move = {
    .name = "move",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- --to QUEUE",
    .summary = "Moves tasks that are not running to another queue",
    .options = move_table,
    .options_size = sizeof(struct move_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = move,
    .notes = "A task keeps its id, options, tags, history, log, failures, unique key and dependencies. A waiting task\n"
             "keeps waiting for its time and its parents. A completed, dead or cancelled task runs again in the other\n"
             "queue.\n" CLI_CONTROL_INPUT_NOTE "\nExamples:\n"
             "  reeve move default/order-17 --to slow\n"
             "  reeve list mail --state dead --json | jq -r .handle | reeve move - --to mail-again\n",
};
