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
    .summary = "Takes running tasks away from their workers; they are ready again",
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = expire,
    .notes =
        "The lease of each task ends at once, and the task is the next one of its priority. Neither a failure nor a\n"
        "crash is counted. The handler that runs the task is asked to stop, and its outcome is not accepted. It is\n"
        "not stopped by force: until it ends, it may run beside the next attempt.\n" CLI_CONTROL_INPUT_NOTE
        "\nExample:\n"
        "  reeve expire default/order-17\n",
};
