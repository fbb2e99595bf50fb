/*
 * verb_settle.c - a task that `reeve lease` has leased ends with an outcome.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "handle.h"
#include "json.h"
#include "settle_word.h"
#include "task_options.h"
#include "verbs.h"

struct settle_options {
    const char *lease;
    const char *result;
    int64_t delay_ms;
    const char *kind;
    const char *message;
    const char *reason;
    const char *layers;
    reeve_parent after[CLI_SETTLE_AFTER_MAX];
    size_t after_count;
};

#define AT(field) offsetof(struct settle_options, field)

static int read_after(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct settle_options *options = pointer;

    if (options->after_count == CLI_SETTLE_AFTER_MAX)
        return cli_usage(cli, "--after: at most %d of them", CLI_SETTLE_AFTER_MAX);
    reeve_parent *parent = &options->after[options->after_count];
    char given[128]; /* the value is cut where the rule begins */

    (void)snprintf(given, sizeof(given), "%s", value);
    if (!cli_settle_word_after(value, parent)) return cli_bad_value(cli, option, given, CLI_SETTLE_AFTER);
    options->after_count++;
    return CLI_DONE;
}

static const cli_option settle_table[] = {
    {"lease", "TOKEN", "token of the lease, as `reeve lease` printed it (required)", CLI_TEXT, AT(lease), 0, 0, NULL},
    {"result", "R|-|@FILE", "done: the result", CLI_TEXT, AT(result), 0, 0, NULL},
    {"in", "DURATION", "retry, snooze: the delay (retry: that of the backoff; snooze: required)", CLI_DURATION,
     AT(delay_ms), 0, 0, NULL},
    {"kind", "KIND", "retry, fail: kind of the error (failed)", CLI_TEXT, AT(kind), 0, 0, NULL},
    {"message", "TEXT", "retry, fail: message of the error", CLI_TEXT, AT(message), 0, 0, NULL},
    {"reason", "TEXT", "cancel: the reason; it is cut at 200 bytes", CLI_TEXT, AT(reason), 0, 0, NULL},
    {"after", "HANDLE[:RULE]", "wait: block the task until this task has ended; may be repeated", CLI_OTHER, 0, 0, 0,
     read_after},
    {"layers", "PLUGIN", "pass the outcome through the layers of this plugin", CLI_TEXT, AT(layers), 0, 0, NULL},
    {0},
};

static const cli_settle_word *find_word(const cli_context *cli, const char *text)
{
    const cli_settle_word *word = cli_settle_word_find(text);

    if (word == NULL) (void)cli_usage(cli, "\"%.40s\" is no outcome: " CLI_SETTLE_WORDS, text);
    return word;
}

static int check_options(const cli_context *cli, const cli_settle_word *word)
{
    for (const char *const *name = cli_settle_word_options; *name != NULL; name++)
        if (cli_was_given(cli, *name) && !cli_settle_word_takes(word, *name))
            return cli_usage(cli, "--%s does not go with %s", *name, word->word);
    if (strcmp(word->word, "snooze") == 0 && !cli_was_given(cli, "in"))
        return cli_usage(cli, "snooze needs --in DURATION; give-back has no delay");
    if (strcmp(word->word, "wait") == 0 && !cli_was_given(cli, "after"))
        return cli_usage(cli, "wait needs --after HANDLE: the task to wait for");
    return CLI_DONE;
}

static void print(const cli_context *cli, const cli_handle *handle, const char *outcome)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%s/%s %s\n", handle->queue, handle->id, outcome);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, handle->queue, handle->id);
    cli_json_text(&json, "outcome", outcome);
    cli_json_end(&json);
}

static int send_outcome(cli_context *cli, const struct settle_options *options, const cli_handle *handle,
                        const cli_settle_word *word, reeve_bytes result)
{
    const reeve_lease_outcome outcome = {.size = sizeof(outcome),
                                         .outcome = word->outcome,
                                         .has_delay = cli_was_given(cli, "in"),
                                         .delay_ms = options->delay_ms,
                                         .result = result,
                                         .kind = options->kind,
                                         .message = options->reason != NULL ? options->reason : options->message,
                                         .after = options->after,
                                         .after_count = options->after_count};
    char name[REEVE_HANDLE_MAX + 1];
    cli->layers = options->layers;
    int status = cli_open(cli);

    if (status != CLI_DONE) return status;
    cli_handle_text(handle, name);
    reeve_status settled = reeve_lease_settle(cli->client, handle->queue, handle->id, options->lease, &outcome);
    if (settled == REEVE_EINVAL) return cli_usage(cli, "%s", reeve_client_error(cli->client));
    if (settled != REEVE_OK) return cli_fault_call(cli, settled, &(cli_fault){.handle = name});
    print(cli, handle, word->word);
    return CLI_DONE;
}

static int settle(cli_context *cli, void *pointer)
{
    const struct settle_options *options = pointer;
    const cli_settle_word *word = find_word(cli, cli->rest[1]);
    cli_handle handle;
    rv_buf result;
    int status;

    if (word == NULL || check_options(cli, word) != CLI_DONE) return CLI_USAGE;
    if (cli_handle_argument(cli, &handle, cli->rest[0]) != CLI_DONE) return CLI_USAGE;
    if (options->lease == NULL) return cli_usage(cli, "--lease TOKEN is missing; `reeve lease` prints it");
    if (cli_check_text(cli, "kind", options->kind) != CLI_DONE) return CLI_USAGE;
    if (cli_check_text(cli, "message", options->message) != CLI_DONE) return CLI_USAGE;
    if (cli_check_text(cli, "reason", options->reason) != CLI_DONE) return CLI_USAGE;
    status = cli_read_payload(cli, &result, options->result);
    if (status == CLI_DONE)
        status = send_outcome(cli, options, &handle, word, (reeve_bytes){result.data, result.length});
    rv_buf_fini(&result);
    return status;
}

const cli_verb cli_verb_settle = {
    .name = "settle",
    .section = CLI_TASKS,
    .synopsis = "HANDLE done|retry|fail|snooze|give-back|cancel|discard|wait --lease TOKEN [OPTION...]",
    .summary = "Settles a leased task: reports its outcome",
    .options = settle_table,
    .options_size = sizeof(struct settle_options),
    .min = 2,
    .max = 2,
    .run = settle,
    .notes =
        "  done       the task is completed, with the result of --result: the text, - for standard input, or @FILE\n"
        "  retry      the attempt failed; the task is retried, or dies if this was its last attempt\n"
        "  fail       the task dies\n"
        "  snooze     the task runs again after --in; this does not count as a failed attempt\n"
        "  give-back  the task returns to the front of its queue\n"
        "  cancel     the task is cancelled, with the reason that --reason gives\n"
        "  discard    the task is cancelled, and no record of it is kept\n"
        "  wait       the task runs again when the tasks of --after have ended; this does not count as a failed\n"
        "             attempt\n"
        "\n"
        "An outcome counts only while the lease lasts; otherwise the exit status is 1.\n"
        "\n"
        "Example:\n"
        "  reeve settle thumbs/17 done --lease \"$token\" --result @thumb.png\n",
};
