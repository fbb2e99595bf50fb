/*
 * verb_broadcast.c - a task for each live worker of a queue.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "handle.h"
#include "json.h"
#include "reeve/broadcast.h"
#include "task_options.h"
#include "verbs.h"

struct broadcast_options {
    cli_task_options task; /* first: see task_options.h */
    int64_t wait_ms;       /* 0: the default */
};

static const cli_option broadcast_table[] = {
    RV_BROADCAST_FLAGS(CLI_TASK_ROW),
    {"wait", "DURATION", "how long to wait until the workers have accepted (5s)", CLI_DURATION,
     offsetof(struct broadcast_options, wait_ms), 1, 0, NULL},
    {0},
};

static void print_json(const char *queue, const reeve_broadcast_task *task)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_handle_json(&json, queue, task->id);
    cli_json_text(&json, "worker", task->worker);
    cli_json_text(&json, "name", task->name);
    cli_json_bool(&json, "accepted", task->accepted);
    cli_json_text(&json, "reason", task->accepted ? NULL : task->reason);
    cli_json_end(&json);
}

static int report(cli_context *cli, const char *queue, const reeve_broadcast_task *list, size_t count)
{
    size_t missing = 0;

    for (size_t i = 0; i < count; i++) {
        if (cli->json)
            print_json(queue, &list[i]);
        else
            (void)printf("%s/%s  %s%s%s\n", queue, list[i].id, list[i].name,
                         list[i].accepted ? "" : "  cancelled: ", list[i].reason);
        missing += !list[i].accepted;
    }
    if (missing == 0) return CLI_DONE;
    return cli_fail(cli, CLI_REFUSED, "%zu of %zu workers do not run the task", missing, count);
}

static int send_broadcast(cli_context *cli, const struct broadcast_options *options)
{
    reeve_broadcast_task *list = NULL;
    size_t count = 0;
    int status = cli_open(cli);

    if (status != CLI_DONE) return status;
    reeve_status result = reeve_broadcast(cli->client, &options->task.spec,
                                          options->wait_ms > 0 ? options->wait_ms : 5000, &list, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    status = report(cli, options->task.spec.queue, list, count);
    reeve_broadcast_free(list);
    return status;
}

static int broadcast(cli_context *cli, void *pointer)
{
    struct broadcast_options *options = pointer;
    rv_buf payload;
    int status;

    if (cli_task_options_finish(cli, &options->task, cli->rest[0], cli->rest[1]) != CLI_DONE) return CLI_USAGE;
    status = cli_read_payload(cli, &payload, cli->count > 2 ? cli->rest[2] : NULL);
    options->task.spec.payload = (reeve_bytes){payload.data, payload.length};
    if (status == CLI_DONE) status = send_broadcast(cli, options);
    rv_buf_fini(&payload);
    return status;
}

const cli_verb cli_verb_broadcast = {
    .name = "broadcast",
    .section = CLI_TASKS,
    .synopsis = "QUEUE TYPE [PAYLOAD|-|@FILE] [OPTION...]",
    .summary = "Lets each live worker of a queue run a task once",
    .options = broadcast_table,
    .options_size = sizeof(struct broadcast_options),
    .min = 2,
    .max = 3,
    .run = broadcast,
    .notes =
        "Each worker that serves QUEUE and is alive now gets a task of its own, which no other worker runs. A line\n"
        "for each worker is printed: the handle of its task, and the name of the worker. Workers that start later do\n"
        "not run the task, and consumers (`reeve lease`) do not take part. A worker that refuses, such as one that\n"
        "is quiet, or that gives no answer within --wait, does not run it: its task is cancelled.\n"
        "\n"
        "The task starts on the first thread of the worker that is free, also while the queue is paused or at its\n"
        "limit. It has one attempt, and no group. It dies with\n"
        "kind \"expired\" if it has not begun by its deadline (--expires-in, default 10m), for instance because its\n"
        "worker has ended; with kind \"crash\" if the worker dies while it runs; and with kind \"worker\" if the\n"
        "worker gives it back, or if its handler snoozes it and another worker then leases it.\n"
        "\n"
        "Examples:\n"
        "  reeve broadcast default reload-cache '{\"cache\":\"prices\"}' --tag reload\n"
        "  reeve wait $(reeve broadcast default reload-cache | cut -d' ' -f1)\n",
    .exits = "0 all workers have accepted, 1 no live worker, or some of them did not accept, 2 wrong usage,\n"
             "3 no Redis.",
};
