/*
 * verb_fail.c - tasks die by hand.
 */
#include "bulk_update.h"
#include "protocol/definition.h"
#include "task_options.h"
#include "verbs.h"

struct fail_options {
    cli_bulk_update_options bulk;
    const char *kind;
    const char *message;
};

#define STATE(name) REEVE_STATE_##name,
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

#define AT(field) offsetof(struct fail_options, field)

static const cli_option fail_table[] = {
    {"kind", "KIND", "kind of the error (manual)", CLI_TEXT, AT(kind), 0, 0, NULL},
    {"message", "TEXT", "message of the error (failed by hand)", CLI_TEXT, AT(message), 0, 0, NULL},
    CLI_BULK_UPDATE_ALL("all waiting tasks of the queue"),
    CLI_FILTER_STATE("state of the tasks: running, " RV_WAITING_STATES_TEXT "; or all, which omits running (all)"),
    CLI_FILTER_ROWS_AS("only-", "", CLI_FILTER_RETRYING, CLI_FILTER_OLD_ENQUEUED),
    CLI_FILTER_WORKER(CLI_FILTER_RUNS),
    CLI_FILTER_DUE,
    CLI_BULK_UPDATE_LIMITS,
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
    static const reeve_state allowed[] = {RV_WAITING_STATES(STATE) REEVE_STATE_RUNNING};
    static const cli_bulk_update_plan plan = {.done = "failed",
                                              .call = fail_one,
                                              .states = allowed,
                                              .state_count = COUNT(allowed) - 1,
                                              .allowed = allowed,
                                              .allowed_count = COUNT(allowed),
                                              .named_count = 1};

    if (cli_check_text(cli, "kind", options->kind) != CLI_DONE) return CLI_USAGE;
    if (cli_check_text(cli, "message", options->message) != CLI_DONE) return CLI_USAGE;
    return cli_bulk_update(cli, &plan, &options->bulk);
}

const cli_verb cli_verb_fail = {
    .name = "fail",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--kind KIND] [--message TEXT]" CLI_BULK_UPDATE_SYNOPSIS("fail"),
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
            CLI_BULK_UPDATE_NOTE(
                "failed") "\nExamples:\n"
                          "  reeve fail default/order-17 --kind obsolete --message 'the customer is gone'\n"
                          "  reeve fail default --tag customer-4 --kind obsolete\n",
};
