/*
 * verb_fail.c - tasks die by hand.
 */
#include "control.h"
#include "task_options.h"
#include "verbs.h"

struct fail_options {
    const char *kind;
    const char *message;
};

#define AT(field) offsetof(struct fail_options, field)

static const cli_option fail_table[] = {
    {"kind", "KIND", "kind of the error (manual)", CLI_TEXT, AT(kind), 0, 0, NULL},
    {"message", "TEXT", "message of the error (failed by hand)", CLI_TEXT, AT(message), 0, 0, NULL},
    {0},
};
static const struct fail_options fail_defaults = {.kind = "manual", .message = "failed by hand"};

static reeve_status fail_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const struct fail_options *options = pointer;

    (void)ret_running;
    return reeve_fail(client, handle->queue, handle->id, options->kind, options->message);
}

static int fail(cli_context *cli, void *pointer)
{
    const struct fail_options *options = pointer;

    if (cli_check_text(cli, "kind", options->kind) != CLI_DONE) return CLI_USAGE;
    if (cli_check_text(cli, "message", options->message) != CLI_DONE) return CLI_USAGE;
    return cli_control(cli, "failed", fail_one, options);
}

const cli_verb cli_verb_fail = {
    .name = "fail",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--kind KIND] [--message TEXT]",
    .summary = "Makes waiting or running tasks dead, with an error",
    .options = fail_table,
    .options_size = sizeof(struct fail_options),
    .defaults = &fail_defaults,
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = fail,
    .notes =
        "The tasks become dead letters, as if their handlers had failed for good: `reeve failures` counts them, and\n"
        "`reeve retry` can retry them. A running task loses its lease, as with `reeve expire`.\n" CLI_CONTROL_INPUT_NOTE
        "\nExample:\n"
        "  reeve fail default/order-17 --kind obsolete --message 'the customer is gone'\n",
};
