/*
 * verb_signal_task.c - `reeve signal-task`: what a task waits for has come.
 */
#include "args.h"
#include "base/buf.h"
#include "handle.h"
#include "json.h"
#include "maintain.h"
#include "reeve/signal.h"
#include "verbs.h"

static void print_done(const cli_context *cli, const cli_handle *handle, const char *name)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("signalled %s/%s\n", handle->queue, handle->id);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, handle->queue, handle->id);
    cli_json_text(&json, "signal", name);
    cli_json_end(&json);
}

static int send_signal(cli_context *cli, const cli_handle *handle, const rv_buf *data)
{
    const reeve_bytes bytes = {data->data, data->length};
    int status = cli_open(cli);

    if (status != CLI_DONE) return status;
    cli_maintain(cli, handle->queue);
    reeve_status result = reeve_signal_task(cli->client, handle->queue, handle->id, cli->rest[1], bytes);
    if (result != REEVE_OK) return cli_fail_call(cli, result, cli->rest[0]);
    print_done(cli, handle, cli->rest[1]);
    return CLI_DONE;
}

static int signal_task(cli_context *cli, void *pointer)
{
    cli_handle handle;
    rv_buf data;
    int status = cli_handle_argument(cli, &handle, cli->rest[0]);

    (void)pointer;
    if (status != CLI_DONE) return status;
    status = cli_read_payload(cli, &data, cli->count > 2 ? cli->rest[2] : NULL);
    if (status == CLI_DONE) status = send_signal(cli, &handle, &data);
    rv_buf_fini(&data);
    return status;
}

const cli_verb cli_verb_signal_task = {
    .name = "signal-task",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE NAME [DATA|-|@FILE]",
    .summary = "Sends a signal to a task that waits for it, with data for its handler",
    .min = 2,
    .max = 3,
    .run = signal_task,
    .notes =
        "A task that is enqueued with `--after '!NAME'` is blocked until it receives the signal NAME, such as an\n"
        "approval or the call of a webhook. With --expires-in it dies if no signal comes in time. DATA is the data\n"
        "itself, - for standard input, or @FILE for a file. A second signal of the same name is refused, and the\n"
        "data of the first one stays.\n"
        "\n"
        "Examples:\n"
        "  reeve enqueue default publish --id post-7 --after '!approval' --expires-in 1d\n"
        "  reeve signal-task default/post-7 approval '{\"by\":\"ann\"}'\n",
};
