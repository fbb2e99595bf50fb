/*
 * verb_unlock.c - unique keys are freed by hand.
 */
#include <stdio.h>

#include "handle.h"
#include "json.h"
#include "verbs.h"

static void report(const cli_context *cli, const char *queue, const char *key, const char *holder)
{
    cli_json json;
    char name[REEVE_HANDLE_MAX + 1];

    (void)snprintf(name, sizeof(name), "%s/%s", queue, holder);
    if (!cli->json) {
        (void)printf("unlocked \"%s\", which %s held\n", key, name);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "unique", key);
    cli_json_text(&json, "holder", name);
    cli_json_end(&json);
}

static int unlock(cli_context *cli, void *options)
{
    int status = cli_queue_argument(cli, cli->rest[0]);

    (void)options;
    if (status == CLI_DONE) status = cli_open(cli);
    bool ends = status != CLI_DONE;
    for (size_t i = 1; i < cli->count && !ends; i++) {
        char holder[REEVE_ID_MAX];
        reeve_status result = reeve_unlock(cli->client, cli->rest[0], cli->rest[i], holder);

        if (result == REEVE_OK)
            report(cli, cli->rest[0], cli->rest[i], holder);
        else
            status = cli_fail_call(cli, result, NULL);
        ends = cli_fails_for_all(result);
    }
    return status;
}

const cli_verb cli_verb_unlock = {
    .name = "unlock",
    .section = CLI_CHANGES,
    .synopsis = "QUEUE KEY...",
    .summary = "Releases unique keys, whichever tasks hold them",
    .min = 2,
    .max = CLI_ANY_NUMBER,
    .run = unlock,
    .notes = "Another task can then take the key. The previous holder then has no unique key.\n"
             "\nExample:\n"
             "  reeve unlock default 'to ann'\n",
};
