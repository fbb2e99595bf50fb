#include <stdio.h>

#include "task_view.h"
#include "verbs.h"

static int show(cli_context *cli, void *options)
{
    reeve_task_info *info = NULL;
    reeve_status result;
    cli_handle handle;
    bool printed = true;
    int status = cli_handle_argument(cli, &handle, cli->rest[0]);

    (void)options;
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    result = reeve_show(cli->client, handle.queue, handle.id, &info);
    if (result != REEVE_OK) return cli_fail_call(cli, result, cli->rest[0]);
    if (cli->json)
        cli_task_json(info, stdout);
    else
        printed = cli_task_fields(info, stdout);
    reeve_task_info_free(info);
    return printed ? CLI_DONE : cli_no_memory(cli);
}

const cli_verb cli_verb_show = {
    .name = "show",
    .synopsis = "HANDLE",
    .summary = "Shows everything about a task",
    .least = 1,
    .most = 1,
    .run = show,
    .notes = "Text is shown up to 4 KiB, other bytes by their beginning; --json has all of them.\n"
             "\nExamples:\n"
             "  reeve show default/order-17\n"
             "  reeve show --json default/order-17 | jq -r .result\n",
};
