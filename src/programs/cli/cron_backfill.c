/*
 * cron_backfill.c - `reeve cron backfill`: tasks for the slots of a range.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "handle.h"
#include "json.h"
#include "protocol/cron_definition.h"
#include "verb_cron.h"

/* The entry that is meant: QUEUE/NAME, or NAME in the queue in which it is. */
static int find_entry(const cli_context *cli, cli_handle *ret, const char *text)
{
    reeve_cron_entry *entry = NULL;
    reeve_status result;

    if (strchr(text, '/') != NULL) return CLI_DONE;
    result = reeve_cron_get(cli->client, NULL, text, &entry);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    (void)snprintf(ret->queue, sizeof(ret->queue), "%s", entry->task->queue);
    (void)snprintf(ret->id, sizeof(ret->id), "%s", text);
    reeve_cron_entry_free(entry);
    return CLI_DONE;
}

static int check(const cli_context *cli, const cli_cron_options *options, cli_handle *ret)
{
    const char *text = cli->rest[1];
    const char *name = strchr(text, '/') != NULL ? strchr(text, '/') + 1 : text;

    if (rv_cron_definition_check_name(name, NULL) != REEVE_OK || (name != text && !cli_handle_parse(ret, text)))
        return cli_usage(cli, "\"%.200s\" is no entry: expected NAME or QUEUE/NAME", text);
    if (options->from_ms < 0 || options->to_ms < 0)
        return cli_usage(cli, "which slots? give --from TIME and --to TIME");
    if (options->to_ms < options->from_ms) return cli_usage(cli, "--to is before --from");
    return CLI_DONE;
}

static void report(const cli_context *cli, const cli_cron_options *options, const cli_handle *entry,
                   const reeve_backfill *done)
{
    cli_json json;

    if (cli->json) {
        cli_json_begin(&json, stdout);
        cli_json_text(&json, "queue", entry->queue);
        cli_json_text(&json, "name", entry->id);
        cli_json_text(&json, "action", "backfill");
        cli_json_uint(&json, "slots", done->slots);
        cli_json_uint(&json, "enqueued", done->enqueued);
        cli_json_bool(&json, "dry_run", options->dry_run);
        cli_json_end(&json);
    } else if (options->dry_run) {
        (void)printf("%" PRIu64 " slots; nothing was done\n", done->slots);
    } else {
        (void)printf("enqueued %" PRIu64 " of %" PRIu64 " slots\n", done->enqueued, done->slots);
    }
    if (done->slots == (uint64_t)options->limit) cli_note(cli, "only the first slots, see --limit");
}

int cli_cron_backfill(cli_context *cli, void *pointer)
{
    cli_cron_options *options = pointer;
    reeve_backfill done = {0};
    cli_handle entry;
    int status = check(cli, options, &entry);

    if (status == CLI_DONE) status = cli_open(cli);
    if (status == CLI_DONE) status = find_entry(cli, &entry, cli->rest[1]);
    if (status != CLI_DONE) return status;
    reeve_status result = reeve_cron_backfill(cli->client, entry.queue, entry.id, options->from_ms, options->to_ms,
                                              (size_t)options->limit, options->dry_run, &done);
    if (result != REEVE_OK) return cli_fail_call(cli, result, cli->rest[1]);
    report(cli, options, &entry, &done);
    return CLI_DONE;
}
