/*
 * verb_enqueue.c - one task from the command line; bulk.c does many.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/text.h"
#include "handle.h"
#include "maintain.h"
#include "task_options.h"
#include "verbs.h"

struct enqueue_options {
    cli_task_options task; /* first: see task_options.h */
    const char *layers;
    const char *buffer;
    int64_t wait_replicas;
    int64_t wait_replicas_ms;
    bool wait_disk;
    bool bulk;
    bool ended;
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

#define AT(field) offsetof(struct enqueue_options, field)

static const cli_option enqueue_table[] = {
    RV_TASK_FLAGS(CLI_TASK_ROW),
    {"wait", "[TIMEOUT]", "wait until the task has ended, and print its state and result", CLI_OTHER, 0, 0, 0,
     read_wait},
    {"bulk", NULL, "read tasks from standard input", CLI_FLAG, AT(bulk), 0, 0, NULL},
    {"ended", NULL, "with --bulk: also enqueue listed tasks that had ended", CLI_FLAG, AT(ended), 0, 0, NULL},
    {"buffer", "FILE", "while Redis cannot be reached, keep the task in this file", CLI_TEXT, AT(buffer), 0, 0, NULL},
    {"wait-replicas", "N", "wait until N replicas have received the tasks", CLI_COUNT, AT(wait_replicas), 1, 1000,
     NULL},
    {"wait-disk", NULL, "wait until the append-only files have the tasks on the disk (Redis 7.2)", CLI_FLAG,
     AT(wait_disk), 0, 0, NULL},
    {"wait-replicas-for", "DURATION", "how long --wait-replicas and --wait-disk wait (1s)", CLI_DURATION,
     AT(wait_replicas_ms), 1, 3600000, NULL},
    {"layers", "PLUGIN", "pass the tasks through the layers of this plugin", CLI_TEXT, AT(layers), 0, 0, NULL},
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

bool cli_may_be_enqueued(reeve_status status)
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

/* Done, as far as the producer is concerned. */
static int say_buffered(cli_context *cli, const cli_handle *handle)
{
    char name[REEVE_HANDLE_MAX + 1];

    cli_handle_text(handle, name);
    cli_handle_print(cli, handle);
    (void)cli_fault_say(cli, CLI_DONE, &(cli_fault){.code = cli_code_of(REEVE_BUFFERED), .handle = name},
                        "Redis cannot be reached: the task is in %s; `reeve flush %s` delivers it", cli->buffer,
                        cli->buffer);
    return CLI_DONE;
}

/* In Redis, and perhaps lost by a failover. */
static int say_unconfirmed(cli_context *cli, const cli_handle *handle)
{
    char name[REEVE_HANDLE_MAX + 1];

    cli_handle_text(handle, name);
    cli_handle_print(cli, handle);
    return cli_fault_say(cli, CLI_UNKNOWN, &(cli_fault){.code = cli_code_of(REEVE_UNCONFIRMED), .handle = name},
                         "%s: %s", name, reeve_client_error(cli->client));
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
    if (result == REEVE_BUFFERED) return say_buffered(cli, &handle);
    if (result == REEVE_UNCONFIRMED) return say_unconfirmed(cli, &handle);
    if (cli_may_be_enqueued(result)) return say_unknown(cli, result, &handle);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    if (options->wait) return wait_for_end(cli, &handle, options->wait_ms);
    cli_handle_print(cli, &handle);
    return CLI_DONE;
}

static int check_unique(const cli_context *cli, const reeve_task_spec *spec)
{
    static const char *const with_key[] = {"unique-until", "unique-for", "on-conflict"};

    for (size_t i = 0; i < sizeof(with_key) / sizeof(with_key[0]) && spec->unique == NULL; i++)
        if (cli_was_given(cli, with_key[i])) return cli_usage(cli, "--%s goes with --unique KEY", with_key[i]);
    if (cli_was_given(cli, "unique-until") && cli_was_given(cli, "unique-for"))
        return cli_usage(cli, "--unique-until and --unique-for: give one of them");
    return cli_check_text(cli, "unique", spec->unique);
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
    if (spec->in_ms > 0 && spec->at_ms != 0) return cli_usage(cli, "--in and --at: give one of them");
    if (cli_task_options_finish(cli, &options->task, cli->rest[0], cli->rest[1]) != CLI_DONE) return CLI_USAGE;
    if (check_unique(cli, spec) != CLI_DONE) return CLI_USAGE;
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

    cli->layers = options->layers;
    cli->buffer = options->buffer;
    cli->wait_replicas = (unsigned)options->wait_replicas;
    cli->wait_replicas_ms = options->wait_replicas_ms;
    cli->wait_disk = options->wait_disk;
    if (cli_was_given(cli, "wait-replicas-for") && options->wait_replicas == 0 && !options->wait_disk)
        return cli_usage(cli, "--wait-replicas-for goes with --wait-replicas N or --wait-disk");
    if (options->buffer != NULL && options->wait) return cli_usage(cli, "either --buffer or --wait");
    if (options->bulk) {
        if (cli->given > 1u + options->ended + (options->layers != NULL) + (options->buffer != NULL) +
                             cli_was_given(cli, "wait-replicas") + options->wait_disk +
                             cli_was_given(cli, "wait-replicas-for"))
            return cli_usage(cli, "--bulk goes with no other option of enqueue; the lines have members for them");
        if (cli->count > 2) return cli_usage(cli, "--bulk takes no payload; the lines have them");
        return cli_bulk(cli, &(cli_bulk_call){.queue = cli->count > 0 ? cli->rest[0] : NULL,
                                              .type = cli->count > 1 ? cli->rest[1] : NULL,
                                              .with_ended = options->ended});
    }
    if (options->ended) return cli_usage(cli, "--ended goes with --bulk");
    if (cli->count < 2) return cli_usage(cli, "%s is missing", cli->count == 0 ? "QUEUE" : "TYPE");
    return enqueue_one(cli, options);
}

const cli_verb cli_verb_enqueue = {
    .name = "enqueue",
    .section = CLI_TASKS,
    .synopsis = "QUEUE TYPE [PAYLOAD|-|@FILE] [OPTION...]\n       reeve enqueue --bulk [QUEUE [TYPE]] < LINES",
    .summary = "Enqueues a task, or many from JSON lines, and prints their handles",
    .options = enqueue_table,
    .options_size = sizeof(struct enqueue_options),
    .max = 3,
    .run = enqueue,
    .notes =
        "PAYLOAD is the payload itself, - for standard input, or @FILE for a file; without it, the payload is empty.\n"
        "It may be any bytes.\n"
        "\n"
        "A backoff SPEC is exponential[:BASE[:CAP]], fixed:DELAY or list:DELAY,DELAY,.... An exponential backoff\n"
        "begins with BASE (1s), and doubles the delay with each failure, up to CAP (1h). After the end of a list,\n"
        "its last delay applies. ~JITTER at the end of SPEC changes each delay at random by up to this fraction,\n"
        "from 0 to 1 (0.2). Example: list:1s,10s,1m~0.1.\n"
        "\n"
        "At most one task of a queue holds a unique KEY. A task holds its key until it has ended; with\n"
        "--unique-until started, until it is leased for the first time; with --unique-for, for this time.\n"
        "--on-conflict decides what happens if another task, the holder, has the key:\n"
        "\n"
        "  reject    the new task is refused, and the handle of the holder is printed\n"
        "  replace   the holder is removed. The new task takes over its place in the queue, its time and its\n"
        "            priority, except those that --in, --at or --priority (other than 0) set\n"
        "  debounce  the holder is removed. The new task runs at its own time (--in), so that each new task\n"
        "            postpones the run\n"
        "\n"
        "A holder that is running or has ended is not removed: the new task is refused.\n"
        "\n"
        "A task with --after is blocked until all these tasks, its parents, have ended. RULE decides what happens\n"
        "if a parent dies, is cancelled or is deleted:\n"
        "\n"
        "  fail  this task dies. This is the default\n"
        "  go    this task continues, as if the parent had completed\n"
        "  wait  this task keeps waiting, because the parent may be retried. If the parent is deleted, or its record\n"
        "        is no longer kept, this task dies\n"
        "  death this task runs only in this case: it becomes ready when a parent dies, is cancelled or is deleted.\n"
        "        If all parents complete, it is deleted. Use this rule for all parents of a task, or for none\n"
        "\n"
        "If a parent in QUEUE does not exist, the new task is refused. If a parent in another queue does not exist,\n"
        "the new task is enqueued, and dies later. With HANDLE:known-or-gone or HANDLE:RULE:known-or-gone, a\n"
        "parent that does not exist counts as completed.\n"
        "\n"
        "With --buffer, if Redis cannot be reached, the task is kept in FILE. Its handle is printed on standard\n"
        "output, and a notice on standard error. The next `reeve enqueue` with the same FILE, or `reeve flush\n"
        "FILE`, delivers it.\n"
        "\n"
        "With --bulk each line of standard input is a JSON object for one task. Its members are \"queue\" and "
        "\"type\"\n"
        "(by default QUEUE and TYPE of the command line), \"payload\" (any JSON value, kept as written) or\n"
        "\"payload_base64\", and options:\n" RV_TASK_OPTION_NAMES ".\n"
        "The lines that `reeve list --json` and `reeve show --json` print are also accepted. They enqueue the\n"
        "listed task again. It keeps its id, type, payload, options and time, and its parents that had not ended.\n"
        "Its failures, log, history, progress and checkpoint are not kept. A task that was running\n"
        "becomes ready. Tasks that had ended are skipped unless --ended is given. A line that is refused does not\n"
        "stop the others: it is reported on standard error, and counted at the end.\n"
        "\n"
        "Examples:\n"
        "  reeve enqueue default echo '{\"hello\":\"world\"}' --wait=10s\n"
        "  reeve enqueue thumbs resize @job.json --in 5m --priority -10 --tag nightly --meta customer=17\n"
        "  reeve enqueue search reindex --unique catalogue --on-conflict debounce --in 30s\n"
        "  reeve enqueue default merge --after files/part-1 --after files/part-2:go\n"
        "  reeve list default --state all --json | reeve --redis redis://other enqueue --bulk\n"
        "  printf '{\"payload\":{\"path\":\"%s\"}}\\n' /etc/* | reeve enqueue --bulk files checksum\n",
    .exits = "0 all enqueued (with --wait: and completed), 1 something was refused, 2 wrong usage, 3 no Redis,\n"
             "4 it is unknown whether the task was enqueued, or too few replicas have confirmed it (--wait-replicas).\n"
             "The handle QUEUE/ID is printed: enqueue the task again\n"
             "with --id ID. With --wait: 5 the task is dead, 6 it was cancelled, 7 it has not ended in time.",
};
