/*
 * verb_enqueue.c - one task from the command line; bulk.c does many.
 */
#include <stdio.h>
#include <string.h>

#include "after.h"
#include "args.h"
#include "base/text.h"
#include "conflict.h"
#include "handle.h"
#include "maintain.h"
#include "task_options.h"
#include "verbs.h"

struct enqueue_options {
    cli_task_options task; /* first: see task_options.h */
    bool until;            /* --unique-until was given, */
    bool clash;            /* and --on-conflict */
    bool bulk;
    bool wait;
    int64_t wait_ms; /* negative: no limit */
};

/* ---- options --------------------------------------------------------------------------------------------------- */

static int read_wait(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct enqueue_options *options = pointer;

    options->wait = true;
    options->wait_ms = -1;
    if (value == NULL || rv_parse_duration(value, &options->wait_ms)) return CLI_DONE;
    return cli_bad_value(cli, option, value, "a duration " RV_DURATION_EXAMPLES);
}

static int read_until(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct enqueue_options *options = pointer;

    options->until = true;
    if (cli_until_parse(value, &options->task.spec.unique_until_started)) return CLI_DONE;
    return cli_bad_value(cli, option, value, CLI_UNTIL_NAMES);
}

static int read_conflict(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct enqueue_options *options = pointer;

    options->clash = true;
    if (cli_conflict_parse(value, &options->task.spec.on_conflict)) return CLI_DONE;
    return cli_bad_value(cli, option, value, CLI_CONFLICT_NAMES);
}

#define AT(field) offsetof(struct enqueue_options, field)

static const cli_option enqueue_table[] = {
    {"in", "DURATION", "run it so much later", CLI_DURATION, AT(task.spec.delay_ms), 0, 0, NULL},
    {"at", "TIME", "run it at this time (RFC 3339, or seconds since the epoch)", CLI_TIME, AT(task.spec.at_ms), 0, 0,
     NULL},
    {"expires-in", "DURATION", "dead if it has not begun by then", CLI_DURATION, AT(task.spec.expires_in_ms), 1, 0,
     NULL},
    {"deadline", "TIME", "the same, at a time", CLI_TIME, AT(task.spec.deadline_ms), 1, 0, NULL},
    {"id", "ID", "its id; one that is taken is refused (a new UUIDv7)", CLI_TEXT, AT(task.spec.id), 0, 0, NULL},
    {"priority", "N", "lower runs sooner, -128 to 127 (0)", CLI_INT, AT(task.spec.priority), REEVE_PRIORITY_MIN,
     REEVE_PRIORITY_MAX, NULL},
    {"group", "G", "groups take turns", CLI_TEXT, AT(task.spec.group), 0, 0, NULL},
    {"weight", "N", "the share of --group against others, 1 to 256 (1)", CLI_INT, AT(task.weight), 1, 256, NULL},
    {"attempts", "N", "dead after so many failures (the handler's)", CLI_INT, AT(task.spec.max_attempts), 1,
     REEVE_ATTEMPTS_MAX, NULL},
    {"timeout", "DURATION", "run time limit (the handler's)", CLI_DURATION, AT(task.spec.timeout_ms), 1, 0, NULL},
    {"heartbeat", "DURATION", "silence for longer is a failure (the handler's)", CLI_DURATION,
     AT(task.spec.heartbeat_ms), 1, 0, NULL},
    {"at-most-once", NULL, "completed before it runs, so that it never runs twice", CLI_FLAG,
     AT(task.spec.at_most_once), 0, 0, NULL},
    {"max-crashes", "N", "dead after so many crashes (the handler's)", CLI_INT, AT(task.spec.max_crashes), 1,
     REEVE_ATTEMPTS_MAX, NULL},
    {"backoff", "SPEC", "how long failed attempts wait (the handler's)", CLI_OTHER, 0, 0, 0, cli_read_backoff},
    {"tag", "T", "a tag; may be repeated", CLI_OTHER, 0, 0, 0, cli_read_tag},
    {"meta", "KEY=VALUE", "metadata; may be repeated", CLI_OTHER, 0, 0, 0, cli_read_meta},
    {"unique", "KEY", "refused while another task of the queue has this key", CLI_TEXT, AT(task.spec.unique), 0, 0,
     NULL},
    {"unique-until", "WHEN", "the key is free once the task has " CLI_UNTIL_NAMES " (settled)", CLI_OTHER, 0, 0, 0,
     read_until},
    {"unique-for", "DURATION", "the key is free so long from now, whatever became of the task", CLI_DURATION,
     AT(task.spec.unique_for_ms), 1, 0, NULL},
    {"on-conflict", "WHAT", "if the key is taken: " CLI_CONFLICT_NAMES " (reject)", CLI_OTHER, 0, 0, 0, read_conflict},
    {"on-dead", "TYPE", "should it die, enqueue a task of this type; \"\": none (the queue's)", CLI_TEXT,
     AT(task.spec.on_dead), 0, 0, NULL},
    {"wait", "[TIMEOUT]", "wait for its end and print how it ended", CLI_OTHER, 0, 0, 0, read_wait},
    {"bulk", NULL, "read tasks from standard input", CLI_FLAG, AT(bulk), 0, 0, NULL},
    {"after", "HANDLE[:RULE]", "blocked until that task has ended; may be repeated", CLI_OTHER, 0, 0, 0,
     cli_read_after},
    {0},
};

/* ---- doing it -------------------------------------------------------------------------------------------------- */

/* People see the handle while they wait; a program gets one object, the task's, or the handle's when there is none. */
static int wait_for_end(cli_context *cli, const cli_handle *handle, int64_t timeout_ms)
{
    bool printed = false;
    int status;

    if (!cli->json) cli_handle_print(cli, handle);
    if (!cli_flush(cli)) return CLI_REFUSED;
    status = cli_wait_ours(cli, handle, timeout_ms, &printed);
    if (cli->json && !printed) cli_handle_print(cli, handle);
    return status;
}

/* The id that came back is that of the task which has the key. */
static int say_not_unique(const cli_context *cli, const char *key, const cli_handle *holder)
{
    char name[REEVE_HANDLE_MAX + 1];

    cli_handle_text(holder, name);
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "unique", .unique = key, .holder = name},
                         "the unique key \"%s\" is held by %s", key, name);
}

static bool is_unknown(reeve_status status)
{
    return status == REEVE_ELOST || status == REEVE_ETIMEOUT || status == REEVE_EPROTO;
}

/* The call ended without its answer: the handle is printed all the same, for a second try with that id. */
static int say_unknown(cli_context *cli, reeve_status status, const cli_handle *handle)
{
    char name[REEVE_HANDLE_MAX + 1];

    cli_handle_text(handle, name);
    cli_handle_print(cli, handle);
    return cli_fault_say(
        cli, CLI_UNKNOWN, &(cli_fault){.code = cli_code_of(status), .handle = name},
        "unknown whether %s was enqueued: %s; enqueue it again with --id %s, which does nothing if it is there", name,
        reeve_client_error(cli->client), handle->id);
}

static int send_task(cli_context *cli, const struct enqueue_options *options)
{
    cli_handle handle;
    int status = cli_open(cli);
    reeve_status result;

    if (status != CLI_DONE) return status;
    (void)snprintf(handle.queue, sizeof(handle.queue), "%s", options->task.spec.queue);
    if (options->wait) cli_maintain(cli, handle.queue);
    result = reeve_enqueue(cli->client, &options->task.spec, handle.id);
    if (result == REEVE_EUNIQUE) return say_not_unique(cli, options->task.spec.unique, &handle);
    if (is_unknown(result)) return say_unknown(cli, result, &handle);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    if (options->wait) return wait_for_end(cli, &handle, options->wait_ms);
    cli_handle_print(cli, &handle);
    return CLI_DONE;
}

static int check_unique(const cli_context *cli, const struct enqueue_options *options)
{
    const char *alone = options->until                         ? "unique-until"
                        : options->task.spec.unique_for_ms > 0 ? "unique-for"
                        : options->clash                       ? "on-conflict"
                                                               : NULL;

    if (options->task.spec.unique == NULL && alone != NULL) return cli_usage(cli, "--%s goes with --unique KEY", alone);
    if (options->until && options->task.spec.unique_for_ms > 0)
        return cli_usage(cli, "--unique-until and --unique-for: give one of them");
    return cli_check_text(cli, "unique", options->task.spec.unique);
}

static int enqueue_one(cli_context *cli, struct enqueue_options *options)
{
    reeve_task_spec *spec = &options->task.spec;
    char words[512] = "";
    reeve_status checked;
    rv_buf payload;
    int status;

    if (spec->expires_in_ms > 0 && spec->deadline_ms != 0)
        return cli_usage(cli, "--expires-in and --deadline: give one of them");
    if (spec->delay_ms > 0 && spec->at_ms != 0) return cli_usage(cli, "--in and --at: give one of them");
    if (cli_task_options_finish(cli, &options->task, cli->rest[0], cli->rest[1]) != CLI_DONE) return CLI_USAGE;
    if (check_unique(cli, options) != CLI_DONE) return CLI_USAGE;
    status = cli_read_payload(cli, &payload, cli->count > 2 ? cli->rest[2] : NULL);
    spec->payload = (reeve_bytes){payload.data, payload.length};
    if (status == CLI_DONE) {
        checked = reeve_task_spec_check(spec, words, sizeof(words));
        if (checked != REEVE_OK)
            status = cli_fault_say(cli, cli_exit_of(checked), &(cli_fault){.code = cli_code_of(checked)}, "%s", words);
        else
            status = send_task(cli, options);
    }
    rv_buf_fini(&payload);
    return status;
}

static int enqueue(cli_context *cli, void *pointer)
{
    struct enqueue_options *options = pointer;

    if (options->bulk) {
        if (cli->given > 1)
            return cli_usage(cli, "--bulk goes with no other option of enqueue; the lines have members for them");
        if (cli->count > 2) return cli_usage(cli, "--bulk takes no payload; the lines have them");
        return cli_bulk(cli, cli->count > 0 ? cli->rest[0] : NULL, cli->count > 1 ? cli->rest[1] : NULL);
    }
    if (cli->count < 2) return cli_usage(cli, "%s is missing", cli->count == 0 ? "QUEUE" : "TYPE");
    return enqueue_one(cli, options);
}

const cli_verb cli_verb_enqueue = {
    .name = "enqueue",
    .synopsis = "QUEUE TYPE [PAYLOAD|-|@FILE] [OPTION...]\n       reeve enqueue --bulk [QUEUE [TYPE]] < LINES",
    .summary = "Enqueues a task, or many from JSON lines, and prints a handle for each",
    .options = enqueue_table,
    .options_size = sizeof(struct enqueue_options),
    .most = 3,
    .run = enqueue,
    .notes = "The payload is any bytes: the argument as it is, standard input (-) or a file (@FILE).\n"
             "\n"
             "A backoff is exponential[:BASE[:CAP]] (1s doubling to 1h), fixed:DELAY or list:DELAY,DELAY,... (the last "
             "one holds\n"
             "for all further failures); ~JITTER behind it, a share from 0 to 1, spreads the delays (0.2): "
             "list:1s,10s,1m~0.1.\n"
             "\n"
             "One task of a queue at a time has a unique KEY: until it has ended, or only until it has started, or for "
             "a time.\n"
             "Another one with that key is refused, and the one that has it is told (reject), or stands in its place "
             "(replace), or\n"
             "does so and comes at its own time, so that each pushes it back (debounce, with --in). What runs is not "
             "replaced.\n"
             "\n"
             "A task that comes after others is blocked until all of them have ended. Should one die or be cancelled, "
             "the RULE is\n"
             "fail, which is the default, or go on, or wait for a retry. A task that is not known is refused, unless "
             "known-or-gone\n"
             "stands behind it, too: then it counts as completed.\n"
             "\n"
             "With --bulk each line of standard input is an object with \"queue\", \"type\" (QUEUE and TYPE of the "
             "command line\n"
             "stand in for them), \"payload\" (any JSON value; blanks aside kept as written) or "
             "\"payload_base64\", and optionally\n"
             "\"id\", \"in\", \"at\", \"priority\", \"group\", \"weight\", \"attempts\", \"max_crashes\", "
             "\"timeout\", \"backoff\", \"expires_in\", \"deadline\",\n"
             "\"heartbeat\", \"at_most_once\",\n"
             "\"unique\", \"unique_until\", \"unique_for\", \"on_conflict\", \"on_dead\", \"tags\" (an array), "
             "\"meta\" (an object), \"after\" (a string or an array).\n"
             "Refused lines are told on standard error and counted at the end; the others are enqueued.\n"
             "\n"
             "Examples:\n"
             "  reeve enqueue default echo '{\"hello\":\"world\"}' --wait=10s\n"
             "  reeve enqueue thumbs resize @job.json --in 5m --priority -10 --tag nightly --meta customer=17\n"
             "  reeve enqueue search reindex --unique catalogue --on-conflict debounce --in 30s\n"
             "  reeve enqueue default merge --after files/part-1 --after files/part-2:go\n"
             "  printf '{\"payload\":{\"path\":\"%s\"}}\\n' /etc/* | reeve enqueue --bulk files checksum\n",
    .exits =
        "0 all enqueued (with --wait: and completed), 1 something was refused, 4 unknown whether it was enqueued: its\n"
        "handle is printed, and the same task can be enqueued again with that --id",
};
