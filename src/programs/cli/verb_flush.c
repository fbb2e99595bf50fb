/*
 * verb_flush.c - delivers the tasks of a buffer file (reeve/buffer.h) to Redis.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "json.h"
#include "verbs.h"

struct flush_options {
    int64_t timeout_ms;
};

#define AT(field) offsetof(struct flush_options, field)

static const cli_option flush_table[] = {
    {"timeout", "DURATION", "end after this time (30s)", CLI_DURATION, AT(timeout_ms), 1, 0, NULL},
    {0},
};

/* A task that Redis has refused. The client has not ended its call. */
static void say_refused(const char *handle, reeve_status status, const char *message, void *user)
{
    const cli_context *cli = user;

    (void)cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = cli_code_of(status), .handle = handle},
                        "%s is dropped: %s", handle, message);
}

static void report(const cli_context *cli, const reeve_buffer_info *info)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%" PRIu64 " delivered, %" PRIu64 " dropped, %" PRIu64 " left\n", info->delivered,
                     info->refused + info->unknown, info->tasks);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_json_uint(&json, "delivered", info->delivered);
    cli_json_uint(&json, "refused", info->refused);
    cli_json_uint(&json, "unknown", info->unknown);
    cli_json_uint(&json, "left", info->tasks);
    cli_json_end(&json);
}

static int flush_file(cli_context *cli, void *pointer)
{
    const struct flush_options *options = pointer;
    reeve_buffer_info info = {0};
    int status;

    if (access(cli->rest[0], F_OK) != 0)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "input"}, "%s: %s", cli->rest[0], strerror(errno));
    cli->buffer = cli->rest[0];
    cli->buffer_refused = say_refused;
    status = cli_open(cli);
    if (status != CLI_DONE) return status;
    reeve_status result = reeve_client_flush(cli->client, options->timeout_ms > 0 ? options->timeout_ms : 30000);
    if (result != REEVE_OK) status = cli_fail_call(cli, result, NULL);
    (void)reeve_client_buffer(cli->client, &info);
    report(cli, &info);
    return status == CLI_DONE && info.refused + info.unknown > 0 ? CLI_REFUSED : status;
}

const cli_verb cli_verb_flush = {
    .name = "flush",
    .section = CLI_TASKS,
    .synopsis = "FILE [--timeout DURATION]",
    .summary = "Delivers the tasks of a buffer file to Redis",
    .options = flush_table,
    .options_size = sizeof(struct flush_options),
    .min = 1,
    .max = 1,
    .run = flush_file,
    .notes = "FILE is the buffer of `reeve enqueue --buffer FILE`, or the buffer (buffer_path) of a program that no\n"
             "longer runs. The tasks are enqueued in their order, each once. A task that Redis refuses, for instance\n"
             "because its id exists, is dropped, and its handle is printed on standard error. If Redis cannot be\n"
             "reached, the tasks stay in FILE.\n"
             "\n"
             "Examples:\n"
             "  reeve enqueue mail greet ann --buffer mail.buffer\n"
             "  until reeve flush mail.buffer; do sleep 10; done\n",
    .exits = "0 FILE is empty now, 1 tasks were dropped, or FILE is in use or damaged",
};
