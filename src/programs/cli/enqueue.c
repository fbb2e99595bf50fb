/*
 * enqueue.c - one task from the command line; bulk.c does many.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/text.h"
#include "handle.h"
#include "utf8.h"
#include "verbs.h"

#define TAGS_MOST 256

struct enqueue_options {
    reeve_task_spec spec;
    int weight;
    bool bulk;
    bool wait;
    int64_t wait_ms; /* negative: no limit */
    const char *tags[TAGS_MOST];
    reeve_meta meta[TAGS_MOST];
};

/* ---- options --------------------------------------------------------------------------------------------------- */

/* These stand in the task's JSON header; a payload may be any bytes. */
static int check_text(const cli_context *cli, const char *name, const char *value)
{
    if (value == NULL || cli_utf8_valid(value, strlen(value))) return CLI_DONE;
    return cli_usage(cli, "--%s \"%.200s\": expected UTF-8", name, value);
}

static int read_tag(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct enqueue_options *options = pointer;

    if (options->spec.tag_count == TAGS_MOST)
        return cli_usage(cli, "--%s: at most %d of them", option->name, TAGS_MOST);
    options->tags[options->spec.tag_count++] = value;
    return check_text(cli, option->name, value);
}

static int read_meta(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct enqueue_options *options = pointer;
    reeve_meta *meta = &options->meta[options->spec.meta_count];
    char *equals = strchr(value, '=');

    if (options->spec.meta_count == TAGS_MOST)
        return cli_usage(cli, "--%s: at most %d of them", option->name, TAGS_MOST);
    if (equals == NULL || equals == value) return cli_bad_value(cli, option, value, "KEY=VALUE");
    if (check_text(cli, option->name, value) != CLI_DONE) return CLI_USAGE;
    *equals = '\0';
    meta->key = value;
    meta->value = equals + 1;
    options->spec.meta_count++;
    return CLI_DONE;
}

static int read_wait(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct enqueue_options *options = pointer;

    options->wait = true;
    options->wait_ms = -1;
    if (value == NULL || rv_parse_duration(value, &options->wait_ms)) return CLI_DONE;
    return cli_bad_value(cli, option, value, "a duration such as 90 (seconds), 1.5, 250ms, 5m, 2h or 1d");
}

static int refuse_later_version(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    (void)pointer;
    (void)value;
    return cli_usage(cli, "--%s is not available in this version", option->name);
}

#define AT(field) offsetof(struct enqueue_options, field)

static const cli_option enqueue_table[] = {
    {"in", "DURATION", "run it so much later", CLI_DURATION, AT(spec.delay_ms), 0, 0, NULL},
    {"at", "TIME", "run it at this time (RFC 3339, or seconds since the epoch)", CLI_TIME, AT(spec.at_ms), 0, 0, NULL},
    {"id", "ID", "its id; one that is taken is refused (a new UUIDv7)", CLI_TEXT, AT(spec.id), 0, 0, NULL},
    {"priority", "N", "lower runs sooner, -128 to 127 (0)", CLI_INT, AT(spec.priority), REEVE_PRIORITY_MIN,
     REEVE_PRIORITY_MAX, NULL},
    {"group", "G", "groups take turns", CLI_TEXT, AT(spec.group), 0, 0, NULL},
    {"weight", "N", "the group's share against others, 1 to 256 (1)", CLI_INT, AT(weight), 1, 256, NULL},
    {"attempts", "N", "dead after so many failures (the handler's)", CLI_INT, AT(spec.max_attempts), 1, INT32_MAX,
     NULL},
    {"timeout", "DURATION", "run time limit (the handler's)", CLI_DURATION, AT(spec.timeout_ms), 1, 0, NULL},
    {"max-crashes", "N", "dead after so many crashes (the handler's)", CLI_INT, AT(spec.max_crashes), 1, INT32_MAX,
     NULL},
    {"tag", "T", "a tag; may be repeated", CLI_OTHER, 0, 0, 0, read_tag},
    {"meta", "KEY=VALUE", "metadata; may be repeated", CLI_OTHER, 0, 0, 0, read_meta},
    {"wait", "[TIMEOUT]", "wait for its end and print how it ended", CLI_OTHER, 0, 0, 0, read_wait},
    {"bulk", NULL, "read tasks from standard input", CLI_FLAG, AT(bulk), 0, 0, NULL},
    {"unique", "KEY", NULL, CLI_OTHER, 0, 0, 0, refuse_later_version},
    {"after", "HANDLE", NULL, CLI_OTHER, 0, 0, 0, refuse_later_version},
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
    status = cli_wait(cli, handle, timeout_ms, &printed);
    if (cli->json && !printed) cli_handle_print(cli, handle);
    return status;
}

static int send_task(cli_context *cli, const struct enqueue_options *options)
{
    cli_handle handle;
    int status = cli_open(cli);
    reeve_status result;

    if (status != CLI_DONE) return status;
    (void)snprintf(handle.queue, sizeof(handle.queue), "%s", options->spec.queue);
    result = reeve_enqueue(cli->client, &options->spec, handle.id);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    if (options->wait) return wait_for_end(cli, &handle, options->wait_ms);
    cli_handle_print(cli, &handle);
    return CLI_DONE;
}

static int enqueue_one(cli_context *cli, struct enqueue_options *options)
{
    reeve_task_spec *spec = &options->spec;
    char words[512] = "";
    reeve_status checked;
    rv_buf payload;
    int status;

    if (spec->delay_ms > 0 && spec->at_ms != 0) return cli_usage(cli, "--in and --at: give one of them");
    if (check_text(cli, "group", spec->group) != CLI_DONE) return CLI_USAGE;
    spec->size = sizeof(*spec);
    spec->queue = cli->rest[0];
    spec->type = cli->rest[1];
    spec->weight = (unsigned)options->weight;
    spec->tags = options->tags;
    spec->meta = options->meta;
    status = cli_read_payload(cli, &payload, cli->count > 2 ? cli->rest[2] : NULL);
    spec->payload = (reeve_bytes){payload.data, payload.length};
    if (status == CLI_DONE) {
        checked = reeve_task_spec_check(spec, words, sizeof(words));
        if (checked != REEVE_OK)
            status = cli_fail(cli, cli_exit_of(checked), "%s", words);
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
             "With --bulk each line of standard input is an object with \"queue\", \"type\" (QUEUE and TYPE of the "
             "command line\n"
             "stand in for them), \"payload\" (any JSON value; blanks aside kept as written) or \"payload_base64\", and optionally "
             "\"id\", \"in\",\n"
             "\"at\", \"priority\", \"group\", \"weight\", \"attempts\", \"max_crashes\", \"timeout\", \"tags\" (an "
             "array), \"meta\" (an\n"
             "object). Refused lines are told on standard error and counted at the end; the others are enqueued.\n"
             "\n"
             "Examples:\n"
             "  reeve enqueue default echo '{\"hello\":\"world\"}' --wait=10s\n"
             "  reeve enqueue thumbs resize @job.json --in 5m --priority -10 --tag nightly --meta customer=17\n"
             "  printf '{\"payload\":{\"path\":\"%s\"}}\\n' /etc/* | reeve enqueue --bulk files checksum\n",
    .exits = "0 all enqueued (with --wait: and completed), 1 something was refused",
};
