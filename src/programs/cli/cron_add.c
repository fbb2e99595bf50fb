/*
 * cron_add.c - `reeve cron add`.
 */
#include <stdio.h>

#include "args.h"
#include "base/buf.h"
#include "cron_keep.h"
#include "json.h"

#define NAMES_MAX 256

static int check(const cli_context *cli, const reeve_cron_entry *entry)
{
    char words[512] = "";

    reeve_status result = reeve_cron_check(entry, words, sizeof(words));
    if (result == REEVE_OK) return CLI_DONE;
    return cli_fault_say(cli, cli_exit_of(result), &(cli_fault){.code = cli_code_of(result)}, "%s", words);
}

static void print_json(const cli_context *cli, const cli_kept *kept, const reeve_cron_entry *entry, bool changed,
                       const char *from)
{
    cli_json json;

    cli_cron_json_begin(cli, &json, entry->task->queue, entry->name, changed);
    cli_json_text(&json, "moved_from", from[0] == '\0' ? NULL : from);
    cli_json_open_array(&json, "kept");
    for (size_t i = 0; i < kept->count; i++) cli_json_text(&json, NULL, kept->names[i]);
    cli_json_close_array(&json);
    cli_json_end(&json);
}

static void report(const cli_context *cli, const cli_kept *kept, const reeve_cron_entry *entry, bool changed,
                   const char *from)
{
    rv_buf names;

    if (cli->json) {
        print_json(cli, kept, entry, changed, from);
        return;
    }
    (void)printf("%s %s/%s\n", changed ? "set" : "unchanged", entry->task->queue, entry->name);
    if (from[0] != '\0') cli_note(cli, "it was %s/%s before, which is not there any more", from, entry->name);
    if (!changed || kept->count == 0) return;
    rv_buf_init(&names, NAMES_MAX);
    for (size_t i = 0; i < kept->count; i++) rv_buf_addf(&names, "%s%s", i > 0 ? ", " : "", kept->names[i]);
    if (!names.failed) cli_note(cli, "kept as it was: %s; --replace keeps nothing", rv_buf_text(&names));
    rv_buf_fini(&names);
}

static int set(cli_context *cli, cli_cron_options *options)
{
    const reeve_cron_entry *entry = &options->entry;
    char from[REEVE_QUEUE_MAX + 1] = "";
    cli_kept kept = {0};
    bool changed = false;
    int status = check(cli, entry);

    if (status == CLI_DONE) status = cli_open(cli);
    if (status == CLI_DONE && !options->replace) status = cli_cron_keep(cli, options, &kept);
    if (status == CLI_DONE && kept.old != NULL) status = check(cli, entry);
    if (status == CLI_DONE) {
        reeve_status result = reeve_cron_set_with_origin(cli->client, entry, &changed, from);
        if (result != REEVE_OK) status = cli_fail_call(cli, result, NULL);
    }
    if (status == CLI_DONE) report(cli, &kept, entry, changed || from[0] != '\0', from);
    reeve_cron_entry_free(kept.old);
    return status;
}

/* The interval is moved so that a slot is at that time, and begins there. */
static int set_first(const cli_context *cli, cli_cron_options *options)
{
    reeve_cron_entry *entry = &options->entry;
    rv_cron cron;

    if (rv_cron_parse(&cron, entry->spec, NULL) != REEVE_OK || cron.interval_ms == 0)
        return cli_usage(cli, "--first goes with an interval, as \"every 6h\"; a spec of fields takes --starts");
    if (cli_was_given(cli, "starts") || cli_was_given(cli, "offset"))
        return cli_usage(cli, "--first sets --starts and --offset: give it, or these");
    entry->starts_ms = options->first_ms;
    entry->offset_ms = options->first_ms % cron.interval_ms;
    return CLI_DONE;
}

int cli_cron_add(cli_context *cli, void *pointer)
{
    cli_cron_options *options = pointer;
    reeve_cron_entry *entry = &options->entry;
    rv_buf payload;

    if (options->overlap && options->no_overlap) return cli_usage(cli, "either --overlap or --no-overlap");
    if (cli_task_options_finish(cli, &options->task, cli->rest[3], cli->rest[4]) != CLI_DONE) return CLI_USAGE;
    entry->size = sizeof(*entry);
    entry->name = cli->rest[1];
    entry->spec = cli->rest[2];
    entry->local = options->zone == RV_ZONE_LOCAL;
    entry->zone = options->zone == RV_ZONE_UTC || entry->local ? NULL : rv_zone_name(options->zone);
    entry->catch_up_max = (unsigned)options->catch_up_max;
    entry->no_overlap = options->no_overlap;
    entry->task = &options->task.spec;
    if (options->first_ms > 0 && set_first(cli, options) != CLI_DONE) return CLI_USAGE;
    cli->layers = options->layers;
    int status = cli_read_payload(cli, &payload, cli->count > 5 ? cli->rest[5] : NULL);
    options->task.spec.payload = (reeve_bytes){payload.data, payload.length};
    if (status == CLI_DONE) status = set(cli, options);
    rv_buf_fini(&payload);
    return status;
}
