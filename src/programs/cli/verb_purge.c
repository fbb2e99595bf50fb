/*
 * verb_purge.c - ended tasks of a queue are deleted.
 */
#include <string.h>

#include "bulk_update.h"
#include "verbs.h"

static const reeve_state dead[] = {REEVE_STATE_DEAD};
static const reeve_state ended[] = {REEVE_STATE_DEAD, REEVE_STATE_COMPLETED, REEVE_STATE_CANCELLED};

static int purge(cli_context *cli, void *options)
{
    static const reeve_action steps = REEVE_ACTION_DELETE;
    static const cli_bulk_update_plan plan = {
        .done = "purged", .steps = &steps, .states = dead, .state_count = 1, .allowed = ended, .allowed_count = 3};
    const cli_bulk_update_options *given = options;
    const cli_filter *filter = &given->filter;
    bool may = !filter->has_state || filter->all_states || filter->state == REEVE_STATE_DEAD ||
               filter->state == REEVE_STATE_COMPLETED || filter->state == REEVE_STATE_CANCELLED;

    if (may && cli->count == 1 && strchr(cli->rest[0], '/') == NULL && !given->all && !cli_filter_is_set(filter))
        return cli_usage(cli,
                         "which of the %s tasks of %s? --all for all of them, or pick some with --kind, --type, --tag, "
                         "--older-than or the like",
                         filter->all_states  ? "ended"
                         : filter->has_state ? reeve_state_name(filter->state)
                                             : "dead",
                         cli->rest[0]);
    return cli_bulk_update_queue(cli, &plan, options);
}

static const cli_option purge_table[] = {
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_FILTER_STATE("tasks in this state: dead, completed, cancelled, or all of these (dead)"),
    CLI_FILTER_ROWS(CLI_FILTER_FAILED, CLI_FILTER_OLD_ENDED),
    CLI_FILTER_WORKER(CLI_FILTER_RAN),
    CLI_FILTER_ENDED,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

const cli_verb cli_verb_purge = {
    .name = "purge",
    .section = CLI_CHANGES,
    .synopsis = "QUEUE --all | FILTER... [--state STATE] [--limit N] [--dry-run]",
    .summary = "Deletes ended tasks of a queue: all in a state, or those that a filter selects",
    .options = purge_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = 1,
    .run = purge,
    .notes =
        "The command deletes all tasks of the queue in the state (--all), or those that a filter selects (--type\n"
        "and so on); one of the two is required. It does not ask for confirmation. --dry-run changes nothing, and\n"
        "prints what would be deleted. At the end the command prints how many tasks it deleted, and how many it\n"
        "examined. On a terminal it also prints its progress.\n"
        "\n"
        "Examples:\n"
        "  reeve purge default --all --dry-run\n"
        "  reeve purge default --kind decode --older-than 30d\n"
        "  reeve purge default --state completed --type report\n",
};
