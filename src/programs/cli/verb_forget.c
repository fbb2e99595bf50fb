/*
 * verb_forget.c - queues go, with all that belongs to them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "json.h"
#include "verbs.h"

struct forget_options {
    bool all;
    bool cron;
    bool force;
};

#define AT(field) offsetof(struct forget_options, field)

static const cli_option forget_table[] = {
    {"all", NULL, "delete all tasks of the queue, with their records", CLI_FLAG, AT(all), 0, 0, NULL},
    {"cron", NULL, "remove the recurring entries of the queue", CLI_FLAG, AT(cron), 0, 0, NULL},
    {"force", NULL, "remove the queue even if workers serve it; with --all also running tasks", CLI_FLAG, AT(force), 0,
     0, NULL},
    {0},
};

static void report(const cli_context *cli, const char *queue, uint64_t deleted)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("forgot %s", queue);
        if (deleted > 0) (void)printf(" and deleted its tasks: %" PRIu64, deleted);
        (void)putchar('\n');
        return;
    }
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_uint(&json, "deleted", deleted);
    cli_json_end(&json);
}

static int forget(cli_context *cli, void *pointer)
{
    const struct forget_options *options = pointer;
    unsigned what = (options->all ? (unsigned)REEVE_FORGET_TASKS : 0) |
                    (options->cron ? (unsigned)REEVE_FORGET_CRON : 0) |
                    (options->force ? (unsigned)REEVE_FORGET_SERVED : 0);
    int status = CLI_DONE;

    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++) status = cli_queue_argument(cli, cli->rest[i]);
    if (status == CLI_DONE) status = cli_open(cli);
    bool ends = status != CLI_DONE;
    for (size_t i = 0; i < cli->count && !ends; i++) {
        uint64_t deleted;
        reeve_status result = reeve_queue_forget(cli->client, cli->rest[i], what, &deleted);

        if (result == REEVE_OK)
            report(cli, cli->rest[i], deleted);
        else
            status = cli_fail_call(cli, result, NULL);
        ends = cli_fails_for_all(result);
    }
    return status;
}

const cli_verb cli_verb_forget = {
    .name = "forget",
    .section = CLI_QUEUES,
    .synopsis = "QUEUE... [--all] [--cron] [--force]",
    .summary = "Removes queues, with their settings, limits, statistics and events",
    .options = forget_table,
    .options_size = sizeof(struct forget_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = forget,
    .notes =
        "The command refuses a queue that has tasks (including completed, dead and cancelled ones) unless --all is\n"
        "given. It refuses a queue that has recurring entries unless --cron is given, and a queue that workers\n"
        "serve unless --force is given. Stop the workers first: a worker that serves the queue creates it again. If\n"
        "tasks of other queues depend on deleted tasks, the rules of these dependencies apply. The command works in\n"
        "steps, so that Redis serves other clients in between.\n"
        "\nExamples:\n"
        "  reeve forget old-mail\n"
        "  reeve forget old --all --cron\n",
};
