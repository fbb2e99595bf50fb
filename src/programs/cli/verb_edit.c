/*
 * verb_edit.c - tasks get other options, another payload, other tags or metadata.
 */
#include <string.h>

#include "args.h"
#include "base/backoff_text.h"
#include "edit_options.h"
#include "protocol/definition.h"
#include "verbs.h"

/* The names of --unset: options of the task that an edit can remove. */
static const struct {
    const char *name;
    unsigned field;
} removable[] = {
    {"priority", REEVE_EDIT_PRIORITY},       {"group", REEVE_EDIT_GROUP},     {"attempts", REEVE_EDIT_ATTEMPTS},
    {"max-crashes", REEVE_EDIT_MAX_CRASHES}, {"timeout", REEVE_EDIT_TIMEOUT}, {"heartbeat", REEVE_EDIT_HEARTBEAT},
    {"backoff", REEVE_EDIT_BACKOFF},         {"on-dead", REEVE_EDIT_ON_DEAD}, {"retry-for", REEVE_EDIT_RETRY_FOR},
    {"max-snoozes", REEVE_EDIT_MAX_SNOOZES}, {"keep", REEVE_EDIT_KEEP},       {"cost", REEVE_EDIT_COST},
    {"limit-key", REEVE_EDIT_LIMIT_KEYS},
};

static int read_unset(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_edit_options *options = pointer;

    for (size_t i = 0; i < sizeof(removable) / sizeof(removable[0]); i++) {
        if (strcmp(removable[i].name, value) != 0) continue;
        options->edit.fields |= removable[i].field;
        return CLI_DONE;
    }
    return cli_bad_value(
        cli, option, value,
        "priority, group, cost, limit-key, attempts, max-crashes, timeout, heartbeat, backoff, retry-for, max-snoozes, "
        "keep or on-dead");
}

static int read_backoff(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_edit_options *options = pointer;
    rv_error why;

    if (rv_backoff_text_parse(value, &options->backoff, &why) != REEVE_OK)
        return cli_usage(cli, "--%s: %s", option->name, why.text);
    options->edit.backoff = &options->backoff;
    return CLI_DONE;
}

#define AT(field) offsetof(cli_edit_options, edit) + offsetof(reeve_task_edit, field)

static const cli_option edit_table[] = {
    {"payload", "PAYLOAD", "new payload: a text, - for standard input, or @FILE", CLI_TEXT,
     offsetof(cli_edit_options, payload), 0, 0, NULL},
    {"type", "TYPE", "new type", CLI_TEXT, AT(type), 0, 0, NULL},
    {"priority", "N", "new priority from -128 to 127; lower runs sooner", CLI_INT, AT(priority), REEVE_PRIORITY_MIN,
     REEVE_PRIORITY_MAX, NULL},
    {"group", "G", "new group", CLI_TEXT, AT(group), 0, 0, NULL},
    {"weight", "N", "with --group: weight of the group, 1 to 256 (1)", CLI_INT, AT(weight), 1, 256, NULL},
    {"cost", "N", "new number of units of the rate limits that each start takes", CLI_INT, AT(cost), 1, REEVE_COST_MAX,
     NULL},
    {"limit-key", "KEY", "limit key, in place of those that the task has; may be repeated, at most 8", CLI_OTHER, 0, 0,
     0, cli_edit_read_limit_key},
    {"attempts", "N", "new number of failed attempts after which the task dies", CLI_INT, AT(attempts), 1,
     REEVE_ATTEMPTS_MAX, NULL},
    {"max-crashes", "N", "new number of crashes after which the task dies", CLI_INT, AT(max_crashes), 1,
     REEVE_ATTEMPTS_MAX, NULL},
    {"timeout", "DURATION", "new run time limit of an attempt", CLI_DURATION, AT(timeout_ms), 1, 0, NULL},
    {"heartbeat", "DURATION", "new heartbeat limit", CLI_DURATION, AT(heartbeat_ms), 1, 0, NULL},
    {"backoff", "SPEC", "new delays between attempts", CLI_OTHER, 0, 0, 0, read_backoff},
    {"retry-for", "DURATION", "new time after the enqueue for which the task is retried", CLI_DURATION,
     AT(retry_for_ms), 1, 0, NULL},
    {"max-snoozes", "N", "new number of times that the handler may snooze the task", CLI_INT, AT(max_snoozes), 1,
     REEVE_ATTEMPTS_MAX, NULL},
    {"keep", "DURATION", "new time for which its record is kept after it has completed", CLI_DURATION, AT(keep_ms), 1,
     0, NULL},
    {"on-dead", "TYPE", "new type of a task to enqueue if this task dies; \"\": none", CLI_TEXT, AT(on_dead), 0, 0,
     NULL},
    {"expire", NULL, "a running task first loses its lease, as by `reeve expire`", CLI_FLAG, AT(expire), 0, 0, NULL},
    {"unset", "OPTION", "remove this option, so that its default applies; may be repeated", CLI_OTHER, 0, 0, 0,
     read_unset},
    {"tag", "T", "add this tag; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_tag},
    {"untag", "T", "remove this tag; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_untag},
    {"meta", "KEY=VALUE", "set this metadata; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_meta},
    {"unmeta", "KEY", "remove this metadata; may be repeated", CLI_OTHER, 0, 0, 0, cli_edit_read_unmeta},
    CLI_BULK_UPDATE_ALL("all waiting tasks of the queue"),
    CLI_FILTER_STATE("state of the tasks: dead, cancelled, " RV_WAITING_STATES_TEXT
                     "; running and completed: see below; or all: all waiting tasks (all)"),
    CLI_FILTER_ROWS_AS("only-", "only-", CLI_FILTER_RETRYING, CLI_FILTER_OLD_ANY),
    CLI_FILTER_WORKER(CLI_FILTER_RUNS_OR_RAN),
    CLI_FILTER_DUE,
    CLI_FILTER_ENDED,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

static reeve_status edit_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const cli_edit_options *options = pointer;

    (void)ret_running;
    return reeve_edit(client, handle->queue, handle->id, &options->edit);
}

/* The fields whose options were given. */
static int finish(const cli_context *cli, cli_edit_options *options)
{
    reeve_task_edit *edit = &options->edit;

    for (size_t i = 0; i < sizeof(removable) / sizeof(removable[0]); i++)
        if (cli_was_given(cli, removable[i].name)) edit->fields |= removable[i].field;
    if (edit->type != NULL) edit->fields |= REEVE_EDIT_TYPE;
    if (options->payload != NULL) edit->fields |= REEVE_EDIT_PAYLOAD;
    if (edit->weight != 0 && edit->group == NULL) return cli_usage(cli, "--weight goes with --group");
    if (edit->fields == 0 &&
        edit->tag_count + edit->removed_tag_count + edit->meta_count + edit->removed_meta_count == 0)
        return cli_usage(cli, "what is to change? give --payload, --priority, --tag or another option");
    if (edit->type != NULL && edit->type[0] == '\0') return cli_usage(cli, "--type: the text is empty");
    if (edit->group != NULL && edit->group[0] == '\0')
        return cli_usage(cli, "--group: the text is empty; --unset group takes a task out of its group");
    cli_edit_finish(options);
    return cli_check_text(cli, "group", edit->group);
}

#define STATE(name) REEVE_STATE_##name,
#define WAITING_COUNT (REEVE_STATE_COUNT - 4)

/* The last ones only with --expire, or where only tags or metadata change. */
static const reeve_state changed[] = {RV_WAITING_STATES(STATE) REEVE_STATE_DEAD, REEVE_STATE_CANCELLED,
                                      REEVE_STATE_RUNNING, REEVE_STATE_COMPLETED};

static int change(cli_context *cli, const cli_edit_options *options)
{
    const bool only_labels = options->edit.fields == 0;
    const size_t allowed = only_labels            ? REEVE_STATE_COUNT
                           : options->edit.expire ? REEVE_STATE_COUNT - 1
                                                  : REEVE_STATE_COUNT - 2;
    const cli_bulk_update_plan plan = {.done = "edited",
                                       .call = edit_one,
                                       .states = changed,
                                       .state_count = WAITING_COUNT,
                                       .allowed = changed,
                                       .allowed_count = allowed,
                                       .named_count = allowed - WAITING_COUNT};

    return cli_bulk_update(cli, &plan, &options->bulk);
}

static int edit(cli_context *cli, void *pointer)
{
    cli_edit_options *options = pointer;
    rv_buf payload;
    int status = finish(cli, options);

    if (status != CLI_DONE) return status;
    rv_buf_init(&payload, (size_t)cli->size_limits.payload + 1);
    status = cli_read_payload(cli, &payload, options->payload);
    if (status == CLI_DONE) {
        options->edit.payload = (reeve_bytes){.data = rv_buf_text(&payload), .length = payload.length};
        status = change(cli, options);
    }
    rv_buf_fini(&payload);
    return status;
}

const cli_verb cli_verb_edit = {
    .name = "edit",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--payload PAYLOAD] [--type TYPE] [--priority N] [--group G] [OPTION]...\n"
                "                  [--unset OPTION]... [--tag T]... [--untag T]... [--meta KEY=VALUE]...\n"
                "       reeve edit QUEUE --all | FILTER... [--state STATE] [--limit N] [--dry-run] [OPTION]...",
    .summary = "Changes options, payload, tags or metadata of tasks",
    .options = edit_table,
    .options_size = sizeof(cli_edit_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = edit,
    .notes = "The command accepts waiting, dead and cancelled tasks. With --expire it also accepts running tasks. If\n"
             "only tags or metadata change, it also accepts running and completed tasks. If the priority or group of\n"
             "a ready task changes, the task is placed like a newly enqueued one. `reeve reschedule` changes the time\n"
             "of a task.\n" CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE(
                 "edited") "The filters --only-type, --only-kind, --only-tag, --only-group and --only-meta select "
                           "tasks;\n--type, --tag, --group and --meta change them.\n"
                           "\nExamples:\n"
                           "  reeve edit default/order-17 --payload '{\"to\":\"ann\"}' --attempts 3\n"
                           "  reeve edit default/order-17 --unset group --tag urgent --meta by=ops\n"
                           "  reeve edit default --only-type report --priority 5 --limit 100\n",
};
