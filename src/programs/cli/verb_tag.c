/*
 * verb_tag.c - tasks get tags, or lose them, in any state.
 */
#include "edit_options.h"
#include "protocol/definition.h"
#include "verbs.h"

static const cli_option tag_table[] = {
    {"add", "T", "add this tag; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_tag},
    {"remove", "T", "remove this tag; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_untag},
    CLI_BULK_UPDATE_ALL("all tasks of the queue"),
    CLI_FILTER_STATE("tasks in this state: " RV_ALL_STATES_TEXT ", or all (all)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ANY),
    CLI_FILTER_WORKER(CLI_FILTER_RUNS_OR_RAN),
    CLI_FILTER_DUE,
    CLI_FILTER_ENDED,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

static reeve_status tag_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const cli_edit_options *options = pointer;

    (void)ret_running;
    return reeve_edit(client, handle->queue, handle->id, &options->edit);
}

#define STATE(name) REEVE_STATE_##name,

static int tag(cli_context *cli, void *pointer)
{
    cli_edit_options *options = pointer;
    static const reeve_state any[] = {RV_ALL_STATES(STATE)};
    static const cli_bulk_update_plan plan = {.done = "tagged",
                                              .call = tag_one,
                                              .states = any,
                                              .state_count = REEVE_STATE_COUNT,
                                              .allowed = any,
                                              .allowed_count = REEVE_STATE_COUNT};

    if (options->edit.tag_count + options->edit.removed_tag_count == 0)
        return cli_usage(cli, "which tag? give --add T or --remove T");
    cli_edit_finish(options);
    return cli_bulk_update(cli, &plan, &options->bulk);
}

const cli_verb cli_verb_tag = {
    .name = "tag",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--add T]... [--remove T]...\n"
                "       reeve tag QUEUE --all | FILTER... [--state STATE] [--limit N] [--dry-run] [--add T]...",
    .summary = "Adds or removes tags of tasks in any state",
    .options = tag_table,
    .options_size = sizeof(cli_edit_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = tag,
    .notes = CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE(
        "tagged") "\nExamples:\n"
                  "  reeve tag default/order-17 default/order-18 --add urgent --remove new\n"
                  "  reeve tag default --type report --state dead --add looked-at\n",
};
