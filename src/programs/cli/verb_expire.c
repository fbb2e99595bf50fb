/*
 * verb_expire.c - the leases of running tasks end.
 */
#include "control.h"
#include "verbs.h"

static reeve_status expire_one(reeve_client *client, const cli_handle *handle, const void *options, bool *ret_running)
{
    (void)options;
    (void)ret_running;
    return reeve_expire(client, handle->queue, handle->id);
}

static int expire(cli_context *cli, void *options)
{
    return cli_control(cli, "expired the lease of", expire_one, options);
}

const cli_verb cli_verb_expire = {
    .name = "expire",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|-",
    .summary = "Ends the leases of running tasks; the tasks become ready again",
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = expire,
    .notes =
        "The lease of each task ends at once. The task becomes ready, before all other tasks of its priority.\n"
        "Neither a failure nor a crash is counted. The handler that runs the task is asked to stop, and its outcome\n"
        "is refused. It is not stopped by force, so it can still run during the next attempt.\n" CLI_CONTROL_INPUT_NOTE
        "\nExample:\n"
        "  reeve expire default/order-17\n",
};
