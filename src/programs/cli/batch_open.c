/*
 * batch_open.c - `reeve batch open`: the callbacks of a new batch, each a JSON object.
 */
#include <stdio.h>
#include <string.h>

#include "bulk_line.h"
#include "json.h"
#include "verb_batch.h"

static const char *const names[CLI_BATCH_CALLBACKS] = {"success", "complete", "death"};

static void print_opened(const cli_context *cli, const reeve_batch *batch)
{
    const char *const handles[CLI_BATCH_CALLBACKS] = {batch->success, batch->complete, batch->death};
    cli_json json;

    if (cli->json) cli_json_begin(&json, stdout);
    for (size_t i = 0; i < CLI_BATCH_CALLBACKS; i++) {
        bool is_there = handles[i][0] != '\0';

        if (cli->json)
            cli_json_text(&json, names[i], is_there ? handles[i] : NULL);
        else if (is_there)
            (void)printf("%s\n", handles[i]);
    }
    if (cli->json) cli_json_end(&json);
}

/* After an error: a callback that may exist keeps waiting. */
static int say_failed(cli_context *cli, reeve_status result, const reeve_batch *batch)
{
    const char *const handles[CLI_BATCH_CALLBACKS] = {batch->success, batch->complete, batch->death};
    int status = cli_fail_call(cli, result, NULL);

    for (size_t i = 0; i < CLI_BATCH_CALLBACKS; i++)
        if (handles[i][0] != '\0') cli_note(cli, "%s may exist, and stays blocked: delete it", handles[i]);
    return status;
}

static int open_with(cli_context *cli, const reeve_batch_callbacks *callbacks)
{
    reeve_batch batch;
    int status = cli_open(cli);

    if (status != CLI_DONE) return status;
    reeve_status result = reeve_batch_open(cli->client, &batch, callbacks);
    if (result != REEVE_OK) return say_failed(cli, result, &batch);
    print_opened(cli, &batch);
    return CLI_DONE;
}

int cli_batch_open(cli_context *cli, void *pointer)
{
    const cli_batch_options *options = pointer;
    static const cli_bulk_defaults defaults = {NULL, NULL};
    cli_bulk_line lines[CLI_BATCH_CALLBACKS] = {0};
    const reeve_task_spec *specs[CLI_BATCH_CALLBACKS] = {NULL};
    cli_bulk_fault fault;
    int status = CLI_DONE;

    if (cli->given == 0) return cli_usage(cli, "a batch has a callback: give --success, --complete or --death");
    for (size_t i = 0; i < CLI_BATCH_CALLBACKS && status == CLI_DONE; i++) {
        const char *text = options->callbacks[i];

        if (text == NULL) continue;
        if (cli_bulk_line_parse(&lines[i], text, strlen(text), &defaults, &fault))
            specs[i] = &lines[i].spec;
        else
            status = cli_usage(cli, "--%s: %s", names[i], fault.words);
    }
    if (status == CLI_DONE)
        status = open_with(cli, &(reeve_batch_callbacks){.success = specs[0], .complete = specs[1], .death = specs[2]});
    for (size_t i = 0; i < CLI_BATCH_CALLBACKS; i++)
        if (specs[i] != NULL) cli_bulk_line_fini(&lines[i]);
    return status;
}
