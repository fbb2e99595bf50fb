/*
 * verb_cron.c - `reeve cron`: what its words are, and those that do something to an entry. cron_add.c and cron_list.c
 * have the others.
 */
#include "verb_cron.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "handle.h"
#include "json.h"
#include "protocol/cron_definition.h"
#include "verbs.h"
#include "words.h"

/* ---- one entry ------------------------------------------------------------------------------------------------- */

static int entry_argument(const cli_context *cli, cli_handle *ret, const char *text)
{
    if (cli_handle_parse(ret, text) && rv_cron_definition_check_name(ret->id, NULL) == REEVE_OK) return CLI_DONE;
    return cli_usage(cli, "\"%.200s\" is no entry: expected QUEUE/NAME", text);
}

void cli_cron_json_begin(const cli_context *cli, cli_json *json, const char *queue, const char *name, bool changed)
{
    cli_json_begin(json, stdout);
    cli_json_text(json, "queue", queue);
    cli_json_text(json, "name", name);
    cli_json_text(json, "action", cli->rest[0]);
    cli_json_bool(json, "changed", changed);
}

void cli_cron_report(const cli_context *cli, const char *done, const char *queue, const char *name, bool changed)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%s %s/%s\n", done, queue, name);
        return;
    }
    cli_cron_json_begin(cli, &json, queue, name, changed);
    cli_json_null(&json, "moved_from");
    cli_json_null(&json, "kept");
    cli_json_end(&json);
}

typedef reeve_status (*control_fn)(reeve_client *client, const char *queue, const char *name, bool *ret_changed);

static int control(cli_context *cli, const char *done, control_fn call)
{
    cli_handle entry;
    int status = CLI_DONE;

    for (size_t i = 1; i < cli->count && status == CLI_DONE; i++) status = entry_argument(cli, &entry, cli->rest[i]);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    for (size_t i = 1; i < cli->count; i++) {
        bool changed = true;

        (void)cli_handle_parse(&entry, cli->rest[i]);
        reeve_status result = call(cli->client, entry.queue, entry.id, &changed);
        if (result != REEVE_OK) return cli_fail_call(cli, result, cli->rest[i]);
        cli_cron_report(cli, done, entry.queue, entry.id, changed);
    }
    return CLI_DONE;
}

static reeve_status call_remove(reeve_client *client, const char *queue, const char *name, bool *ret_changed)
{
    (void)ret_changed;
    return reeve_cron_remove(client, queue, name);
}

static int remove_entries(cli_context *cli, void *pointer)
{
    (void)pointer;
    return control(cli, "removed", call_remove);
}

static int pause_entries(cli_context *cli, void *pointer)
{
    (void)pointer;
    return control(cli, "paused", reeve_cron_pause);
}

static int resume_entries(cli_context *cli, void *pointer)
{
    (void)pointer;
    return control(cli, "resumed", reeve_cron_resume);
}

static int run_entry(cli_context *cli, void *pointer)
{
    cli_handle entry, task;
    int status = entry_argument(cli, &entry, cli->rest[1]);

    (void)pointer;
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    (void)snprintf(task.queue, sizeof(task.queue), "%s", entry.queue);
    reeve_status result = reeve_cron_run(cli->client, entry.queue, entry.id, task.id);
    if (result != REEVE_OK) return cli_fail_call(cli, result, cli->rest[1]);
    cli_handle_print(cli, &task);
    return CLI_DONE;
}

/* ---- the words ------------------------------------------------------------------------------------------------- */

#define BACKFILL " from to limit dry-run "

static const cli_word words[] = {
    {"add", "NAME SPEC QUEUE TYPE [PAYLOAD|-|@FILE] [OPTION...]", 4, 5, cli_cron_add, NULL, BACKFILL, false},
    {"list", "[QUEUE]", 0, 1, cli_cron_list, "", NULL, false},
    {"remove", "QUEUE/NAME...", 1, CLI_ANY_NUMBER, remove_entries, "", NULL, false},
    {"pause", "QUEUE/NAME...", 1, CLI_ANY_NUMBER, pause_entries, "", NULL, false},
    {"resume", "QUEUE/NAME...", 1, CLI_ANY_NUMBER, resume_entries, "", NULL, false},
    {"run", "QUEUE/NAME", 1, 1, run_entry, "", NULL, false},
    {"next", "SPEC [N] [--zone ZONE]", 1, 2, cli_cron_next, " zone ", NULL, false},
    {"backfill", "[QUEUE/]NAME --from TIME --to TIME [--limit N] [--dry-run]", 1, 1, cli_cron_backfill, BACKFILL, NULL,
     false},
};

static int cron(cli_context *cli, void *options)
{
    return cli_words_run(cli, words, sizeof(words) / sizeof(words[0]), options);
}

/* ---- options --------------------------------------------------------------------------------------------------- */

static int read_zone(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_cron_options *options = pointer;
    rv_error why = {0};

    options->zoned = true;
    if (rv_zone_find(value, &options->zone, &why) == REEVE_OK) return CLI_DONE;
    return cli_usage(cli, "--%s: %s", option->name, why.text);
}

static int read_catch_up(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_cron_options *options = pointer;

    if (rv_cron_definition_parse_catch_up(value, &options->entry.catch_up)) return CLI_DONE;
    return cli_bad_value(cli, option, value, "skip, once or all");
}

#define AT(field) offsetof(cli_cron_options, field)

static const cli_option cron_table[] = {
    {"zone", "ZONE", "time zone of the SPEC: utc, local (that of the workers), or a name such as Europe/Berlin (utc)",
     CLI_OTHER, 0, 0, 0, read_zone},
    {"catch-up", "HOW", "skip: enqueue nothing for missed slots; once: one task; all: one task for each (once)",
     CLI_OTHER, 0, 0, 0, read_catch_up},
    {"catch-up-max", "N", "with --catch-up all: only the last N slots, 1 to 1000 (100)", CLI_INT, AT(catch_up_max), 1,
     REEVE_CRON_CATCH_UP_MAX, NULL},
    {"no-overlap", NULL, "skip a slot while the task of the previous slot has not ended", CLI_FLAG, AT(no_overlap), 0,
     0, NULL},
    {"overlap", NULL, "enqueue the task of a slot even if the task of the previous slot has not ended (default)",
     CLI_FLAG, AT(overlap), 0, 0, NULL},
    {"starts", "TIME", "no slot is before this time (RFC 3339, or seconds since the epoch)", CLI_TIME,
     AT(entry.starts_ms), 1, 0, NULL},
    {"ends", "TIME", "no slot is after this time", CLI_TIME, AT(entry.ends_ms), 1, 0, NULL},
    {"first", "TIME", "for an interval: time of the first slot", CLI_TIME, AT(first_ms), 1, 0, NULL},
    {"offset", "DURATION", "for an interval: slots are at its multiples since the epoch, plus this time (0)",
     CLI_DURATION, AT(entry.offset_ms), 0, 0, NULL},
    {"jitter", "DURATION", "fire after a random delay of up to this time, for each slot; at most 1h (0)", CLI_DURATION,
     AT(entry.jitter_ms), 0, 0, NULL},
    {"runs", "N", "stop after N tasks; 0: no limit (0)", CLI_COUNT, AT(entry.runs), 0, 1000000000, NULL},
    {"from", "TIME", "with backfill: first time of the range", CLI_TIME, AT(from_ms), 0, 0, NULL},
    {"to", "TIME", "with backfill: last time of the range", CLI_TIME, AT(to_ms), 0, 0, NULL},
    {"limit", "N", "with backfill: only the first N slots, at most 100000 (1000)", CLI_COUNT, AT(limit), 1,
     REEVE_CRON_BACKFILL_MAX, NULL},
    {"dry-run", NULL, "with backfill: enqueue nothing, and print the number of slots", CLI_FLAG, AT(dry_run), 0, 0,
     NULL},
    {"replace", NULL, "with add: replace the whole entry; options that are not given get their defaults", CLI_FLAG,
     AT(replace), 0, 0, NULL},
    {"layers", "PLUGIN", "with add: pass the task through the layers of this plugin before it is stored", CLI_TEXT,
     AT(layers), 0, 0, NULL},
    RV_CRON_FLAGS(CLI_TASK_ROW),
    {0},
};

static const cli_cron_options cron_defaults = {.from_ms = -1, .to_ms = -1, .limit = 1000};

const cli_verb cli_verb_cron = {
    .name = "cron",
    .section = CLI_QUEUES,
    .synopsis = "add NAME SPEC QUEUE TYPE [PAYLOAD|-|@FILE] [OPTION...]\n"
                "       reeve cron list [QUEUE]\n"
                "       reeve cron remove|pause|resume QUEUE/NAME...\n"
                "       reeve cron run QUEUE/NAME\n"
                "       reeve cron next SPEC [N] [--zone ZONE]\n"
                "       reeve cron backfill [QUEUE/]NAME --from TIME --to TIME [--limit N] [--dry-run]",
    .summary = "Recurring tasks: adds, lists, removes, pauses and runs entries",
    .options = cron_table,
    .options_size = sizeof(cli_cron_options),
    .defaults = &cron_defaults,
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = cron,
    .notes =
        "An entry is a recurring task. Its SPEC sets its slots, the times at which it enqueues its task. A SPEC has\n"
        "five fields: minute hour day month weekday; or six: second minute hour day month weekday. A field is *, a\n"
        "number, a name (jan, mon), a range (mon-fri), a step (*/5), or a list of these. If both day and weekday are\n"
        "restricted, a day matches if one of the two does. A SPEC can also be @minutely, @hourly, @daily, @weekly,\n"
        "@monthly or @yearly, or an interval such as \"every 90s\". `cron next` prints the next slots of a SPEC,\n"
        "without Redis.\n"
        "\n"
        "A slot enqueues at most one task, however many workers serve the queue. The id of the task is\n"
        "cron:NAME:SLOT; SLOT is the time of the slot in milliseconds since the epoch. An entry fires, that is,\n"
        "enqueues its task, only while a worker serves its queue. A slot is missed if the entry cannot fire\n"
        "within 2 s. --catch-up decides what happens then. With \"skip\", no task is enqueued. With \"once\", one\n"
        "task is enqueued, for the last missed slot. With \"all\", one task is enqueued for each of the last missed\n"
        "slots, at most --catch-up-max.\n"
        "\n"
        "The name of an entry is unique in its namespace. If an entry NAME exists, `add` changes it. Options and a\n"
        "payload that are not given stay as they are, unless --replace is given. A paused entry stays paused. If\n"
        "QUEUE is another queue, the entry moves to it. `run` enqueues the task of an entry now, and prints its\n"
        "handle. `remove` removes an entry; the tasks that it has enqueued stay.\n"
        "\n"
        "--starts and --ends limit the times of the slots, and --runs the number of tasks. --jitter spreads entries\n"
        "that would fire at the same time. `backfill` enqueues the task of an entry for each slot of a range, with\n"
        "the id of the slot. It skips a slot if the task of that slot, or its record, exists.\n"
        "\n"
        "Examples:\n"
        "  reeve cron backfill default/nightly --from 2026-11-01T00:00:00Z --to 2026-11-30T23:59:59Z --dry-run\n"
        "  reeve cron add sync 'every 6h' default sync --first 2026-12-01T09:30:00Z --runs 10 --jitter 5m\n"
        "  reeve cron add nightly '0 3 * * *' default report '{\"what\":\"sales\"}' --zone Europe/Berlin --no-overlap\n"
        "  reeve cron add poll 'every 90s' default fetch --catch-up skip\n"
        "  reeve cron list --json | jq -r .name\n"
        "  reeve cron run default/nightly\n"
        "  reeve cron next '0 9 * * mon-fri' 10\n",
};
