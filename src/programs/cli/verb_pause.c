#include <stdio.h>

#include "json.h"
#include "maintain.h"
#include "new_queue.h"
#include "verbs.h"

static void report(const cli_context *cli, const char *queue, bool paused)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%s %s\n", paused ? "paused" : "resumed", queue);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_bool(&json, "paused", paused);
    cli_json_end(&json);
}

static int set_paused(cli_context *cli, bool paused)
{
    int status = CLI_DONE;

    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++) status = cli_queue_argument(cli, cli->rest[i]);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    for (size_t i = 0; i < cli->count; i++) {
        cli_maintain(cli, cli->rest[i]);
        if (paused)
            cli_note_new_queue(cli, cli->rest[i]);
        else
            cli_note_no_queue(cli, cli->rest[i]);
        reeve_status result = paused ? reeve_pause(cli->client, cli->rest[i]) : reeve_resume(cli->client, cli->rest[i]);

        if (result != REEVE_OK) return cli_fail_call(cli, result, cli->rest[i]);
        report(cli, cli->rest[i], paused);
    }
    return CLI_DONE;
}

static int pause_queues(cli_context *cli, void *options)
{
    (void)options;
    return set_paused(cli, true);
}

static int resume_queues(cli_context *cli, void *options)
{
    (void)options;
    return set_paused(cli, false);
}

const cli_verb cli_verb_pause = {
    .name = "pause",
    .section = CLI_QUEUES,
    .synopsis = "QUEUE...",
    .summary = "Pauses queues: no task is leased; running tasks continue, and tasks can be enqueued",
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = pause_queues,
    .notes = "Example:\n"
             "  reeve pause default thumbs\n",
};

const cli_verb cli_verb_resume = {
    .name = "resume",
    .section = CLI_QUEUES,
    .synopsis = "QUEUE...",
    .summary = "Resumes paused queues",
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = resume_queues,
    .notes = "Example:\n"
             "  reeve resume default thumbs\n",
};
