/*
 * verb_tag.c - tasks get tags, or lose them, in any state.
 */
#include "control.h"
#include "edit_options.h"
#include "verbs.h"

static const cli_option tag_table[] = {
    {"add", "T", "add this tag; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_tag},
    {"remove", "T", "remove this tag; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_untag},
    {0},
};

static reeve_status tag_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const cli_edit_options *options = pointer;

    (void)ret_running;
    return reeve_edit(client, handle->queue, handle->id, &options->edit);
}

static int tag(cli_context *cli, void *pointer)
{
    cli_edit_options *options = pointer;

    if (options->edit.tag_count + options->edit.removed_tag_count == 0)
        return cli_usage(cli, "which tag? give --add T or --remove T");
    cli_edit_finish(options);
    return cli_control(cli, "tagged", tag_one, options);
}

const cli_verb cli_verb_tag = {
    .name = "tag",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--add T]... [--remove T]...",
    .summary = "Adds or removes tags of tasks in any state",
    .options = tag_table,
    .options_size = sizeof(cli_edit_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = tag,
    .notes = CLI_CONTROL_INPUT_NOTE "\nExample:\n"
                                    "  reeve tag default/order-17 default/order-18 --add urgent --remove new\n",
};
