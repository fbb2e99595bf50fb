/*
 * cron_add.c - `reeve cron add`.
 */
#include "cron.h"

static int set(cli_context *cli, const reeve_cron_entry *entry)
{
    char words[512] = "";
    bool changed = false;
    int status;

    reeve_status result = reeve_cron_check(entry, words, sizeof(words));
    if (result != REEVE_OK)
        return cli_fault_say(cli, cli_exit_of(result), &(cli_fault){.code = cli_code_of(result)}, "%s", words);
    status = cli_open(cli);
    if (status != CLI_DONE) return status;
    result = reeve_cron_set(cli->client, entry, &changed);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    cli_cron_report(cli, changed ? "set" : "unchanged", entry->task->queue, entry->name, changed);
    return CLI_DONE;
}

int cli_cron_add(cli_context *cli, cli_cron_options *options)
{
    reeve_cron_entry *entry = &options->entry;
    rv_buf payload;

    if (cli_task_options_finish(cli, &options->task, cli->rest[3], cli->rest[4]) != CLI_DONE) return CLI_USAGE;
    entry->size = sizeof(*entry);
    entry->name = cli->rest[1];
    entry->spec = cli->rest[2];
    entry->local = options->zone == RV_ZONE_LOCAL;
    entry->catch_up_most = (unsigned)options->most;
    entry->no_overlap = options->no_overlap;
    entry->task = &options->task.spec;
    int status = cli_read_payload(cli, &payload, cli->count > 5 ? cli->rest[5] : NULL);
    options->task.spec.payload = (reeve_bytes){payload.data, payload.length};
    if (status == CLI_DONE) status = set(cli, entry);
    rv_buf_fini(&payload);
    return status;
}
