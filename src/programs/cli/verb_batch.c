/*
 * verb_batch.c - `reeve batch`: what its words are, and how members are added to a batch and the batch is closed.
 * batch_open.c, batch_show.c, batch_wait.c and batch_list.c have the others.
 */
#include "verb_batch.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "handle.h"
#include "json.h"
#include "verbs.h"
#include "words.h"

static int add_members(cli_context *cli, void *pointer)
{
    const cli_batch_options *options = pointer;
    const cli_bulk_call call = {
        .queue = options->queue, .type = options->type, .callbacks = cli->rest + 1, .callback_count = cli->count - 1};

    return cli_bulk(cli, &call);
}

static void report_closed(const cli_context *cli, const char *name)
{
    cli_handle handle;
    cli_json json;

    if (!cli->json) {
        (void)printf("closed %s\n", name);
        return;
    }
    (void)cli_handle_parse(&handle, name);
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, handle.queue, handle.id);
    cli_json_end(&json);
}

static int close_batch(cli_context *cli, void *pointer)
{
    reeve_batch batch;
    reeve_status result;
    int status = cli_open(cli);

    (void)pointer;
    if (status != CLI_DONE) return status;
    result = reeve_batch_find(cli->client, (const char *const *)(cli->rest + 1), cli->count - 1, &batch);
    if (result == REEVE_OK) result = reeve_batch_close(cli->client, &batch);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    const char *const handles[CLI_BATCH_CALLBACKS] = {batch.success, batch.complete, batch.death};
    for (size_t i = 0; i < CLI_BATCH_CALLBACKS; i++)
        if (handles[i][0] != '\0') report_closed(cli, handles[i]);
    return CLI_DONE;
}

/* ---- the words ------------------------------------------------------------------------------------------------- */

static const cli_word words[] = {
    {"open", "[--success TASK] [--complete TASK] [--death TASK]", 0, 0, cli_batch_open, " success complete death ",
     NULL, false},
    {"add", "HANDLE... [--queue QUEUE] [--type TYPE] < LINES", 1, CLI_BATCH_CALLBACKS, add_members, " queue type ",
     NULL, true},
    {"close", "HANDLE...", 1, CLI_BATCH_CALLBACKS, close_batch, "", NULL, true},
    {"show", "HANDLE", 1, 1, cli_batch_show, "", NULL, true},
    {"wait", "HANDLE [--timeout DURATION]", 1, 1, cli_batch_wait, " timeout ", NULL, true},
    {"list", "QUEUE [--limit N]", 1, 1, cli_batch_list, " limit ", NULL, false},
    {"cancel", "HANDLE [--reason TEXT]", 1, 1, cli_batch_cancel, " reason ", NULL, true},
};

static int batch(cli_context *cli, void *options)
{
    return cli_words_run(cli, words, sizeof(words) / sizeof(words[0]), options);
}

#define AT(field) offsetof(cli_batch_options, field)

static const cli_option batch_table[] = {
    {"success", "TASK", "with open: callback, as JSON, that runs when all members have completed", CLI_TEXT,
     AT(callbacks[0]), 0, 0, NULL},
    {"complete", "TASK", "with open: callback, as JSON, that runs when all members have ended", CLI_TEXT,
     AT(callbacks[1]), 0, 0, NULL},
    {"death", "TASK", "with open: callback, as JSON, that runs when the first member dies, is cancelled or is deleted",
     CLI_TEXT, AT(callbacks[2]), 0, 0, NULL},
    {"queue", "QUEUE", "with add: the queue of members without a queue", CLI_TEXT, AT(queue), 0, 0, NULL},
    {"type", "TYPE", "with add: the type of members without a type", CLI_TEXT, AT(type), 0, 0, NULL},
    {"timeout", "DURATION", "with wait: give up after this time (never)", CLI_DURATION, AT(timeout_ms), 0, 0, NULL},
    {"limit", "N", "with list: print at most N; 0: all (50)", CLI_COUNT, AT(limit), 0, INT64_MAX, NULL},
    {"reason", "TEXT", "with cancel: the reason, which records and handlers get", CLI_TEXT, AT(reason), 0, 0, NULL},
    {0},
};
static const cli_batch_options batch_defaults = {.timeout_ms = -1, .limit = 50};

const cli_verb cli_verb_batch = {
    .name = "batch",
    .section = CLI_TASKS,
    .synopsis = "open [--success TASK] [--complete TASK] [--death TASK]\n"
                "       reeve batch add CALLBACK... [--queue QUEUE] [--type TYPE] < LINES\n"
                "       reeve batch close HANDLE...\n"
                "       reeve batch show HANDLE\n"
                "       reeve batch wait HANDLE [--timeout DURATION]\n"
                "       reeve batch list QUEUE [--limit N]\n"
                "       reeve batch cancel HANDLE [--reason TEXT]",
    .summary = "Task batches: opens them, adds members, closes them, and shows how many have ended",
    .options = batch_table,
    .options_size = sizeof(cli_batch_options),
    .defaults = &batch_defaults,
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = batch,
    .notes =
        "A task batch is a set of tasks, its members, with one to three callbacks. A callback is a task that runs\n"
        "when all members have completed (--success), when all have ended (--complete), or when the first one dies,\n"
        "is cancelled or is deleted (--death). TASK is a JSON object, such as a line of `reeve enqueue --bulk`.\n"
        "\n"
        "`open` prints the handles of the callbacks. Give all of them to `add` and `close`, in any order. `add`\n"
        "reads members from standard input, like `reeve enqueue --bulk`. If a task already exists, this is reported,\n"
        "and the existing task becomes a member. The callbacks of --success and --complete stay blocked until the\n"
        "batch is closed. A member can add further members while it runs.\n"
        "\n"
        "The members of a batch are the parents of its callbacks. `show` counts the parents of a callback, or of any\n"
        "other task, and prints a progress bar on a terminal.\n"
        "`wait` waits until the batch is closed and all members have ended, and shows the progress meanwhile.\n"
        "`list` lists the callbacks of a queue that have not become ready, with their counts. A task whose parents "
        "all\n"
        "have the same rule (wait, go or death) cannot be distinguished from a callback, and is listed, too.\n"
        "`cancel` cancels the members that have not ended. Members that run are asked to stop. The callbacks react as\n"
        "to any other cancel of a member: --death becomes ready at once, --complete when all members have ended and\n"
        "the batch is closed, and --success waits, because a member may be retried.\n"
        "\n"
        "Examples:\n"
        "  batch=$(reeve batch open --complete '{\"queue\":\"default\",\"type\":\"report\"}')\n"
        "  reeve batch add $batch --queue files --type checksum < lines\n"
        "  reeve batch close $batch\n"
        "  reeve batch wait $batch --timeout 10m\n"
        "  reeve batch list default\n"
        "  reeve batch cancel $batch --reason 'not needed'\n",
    .exits =
        "0 done, with wait: all members have completed; 1 refused or not found, 2 wrong usage, 3 no Redis. With wait:\n"
        "5 a member has died or was cancelled, 7 the batch has not ended in time.",
};
