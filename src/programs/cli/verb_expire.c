/*
 * verb_expire.c - the leases of running tasks end.
 */
#include "bulk_update.h"
#include "verbs.h"

static reeve_status expire_one(reeve_client *client, const cli_handle *handle, const void *options, bool *ret_running)
{
    (void)options;
    (void)ret_running;
    return reeve_expire(client, handle->queue, handle->id);
}

static const cli_option expire_table[] = {
    CLI_BULK_UPDATE_ALL("all running tasks of the queue"),
    CLI_FILTER_ROWS(CLI_FILTER_FAILED, CLI_FILTER_OLD_ENQUEUED),
    CLI_FILTER_WORKER(CLI_FILTER_RUNS),
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

static int expire(cli_context *cli, void *options)
{
    static const reeve_state running[] = {REEVE_STATE_RUNNING};
    static const cli_bulk_update_plan plan = {.done = "expired",
                                              .done_one = "expired the lease of",
                                              .call = expire_one,
                                              .states = running,
                                              .state_count = 1,
                                              .allowed = running,
                                              .allowed_count = 1};

    return cli_bulk_update(cli, &plan, options);
}

const cli_verb cli_verb_expire = {
    .name = "expire",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|-\n       reeve expire QUEUE --all | FILTER... [--limit N] [--dry-run]",
    .summary = "Ends the leases of running tasks; the tasks become ready again",
    .options = expire_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = expire,
    .notes =
        "The lease of each task ends at once. The task becomes ready, before all other tasks of its priority.\n"
        "Neither a failure nor a crash is counted. The handler that runs the task is asked to stop, and its outcome\n"
        "is refused. The handler is not stopped by force, so it can still run during the next "
        "attempt.\n" CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE(
            "expired") "\nExamples:\n"
                       "  reeve expire default/order-17\n"
                       "  reeve expire default --worker media-1 --dry-run\n",
};
