/*
 * batch_show.c - `reeve batch show`: how many members a batch has, and how these have ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "handle.h"
#include "json.h"
#include "progress.h"
#include "verb_batch.h"

void cli_batch_json(const char *handle, const char *callback, const reeve_batch_counts *counts)
{
    cli_handle parts;
    cli_json json;

    (void)cli_handle_parse(&parts, handle);
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, parts.queue, parts.id);
    if (callback != NULL) cli_json_text(&json, "callback", callback);
    cli_json_bool(&json, "open", counts->open);
    cli_json_uint(&json, "members", counts->members);
    cli_json_uint(&json, "completed", counts->completed);
    cli_json_uint(&json, "dead", counts->dead);
    cli_json_uint(&json, "cancelled", counts->cancelled);
    cli_json_uint(&json, "left", counts->left);
    cli_json_uint(&json, "failed", counts->failed);
    cli_json_end(&json);
}

void cli_batch_show_counts(const cli_context *cli, const char *handle, const reeve_batch_counts *counts)
{
    if (cli->json) {
        cli_batch_json(handle, NULL, counts);
        return;
    }
    if (isatty(STDOUT_FILENO) == 1) {
        cli_progress_bar(stdout, counts->members - counts->left, counts->members);
        (void)putchar('\n');
    }
    (void)printf("batch:     %s\n", handle);
    (void)printf("open:      %s\n", counts->open ? "yes" : "no");
    (void)printf("members:   %" PRIu64 "\n", counts->members);
    (void)printf("completed: %" PRIu64 "\n", counts->completed);
    (void)printf("dead:      %" PRIu64 "\n", counts->dead);
    (void)printf("cancelled: %" PRIu64 "\n", counts->cancelled);
    (void)printf("left:      %" PRIu64 "\n", counts->left);
    (void)printf("failed:    %" PRIu64 "\n", counts->failed);
}

int cli_batch_show(cli_context *cli, void *pointer)
{
    reeve_batch_counts counts;
    int status = cli_open(cli);

    (void)pointer;
    if (status != CLI_DONE) return status;
    reeve_status result = reeve_batch_count(cli->client, cli->rest[1], &counts);
    if (result != REEVE_OK) return cli_fail_call(cli, result, cli->rest[1]);
    cli_batch_show_counts(cli, cli->rest[1], &counts);
    return CLI_DONE;
}
