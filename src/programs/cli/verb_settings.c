/*
 * verb_settings.c - `reeve settings`: changes the settings of a queue; settings_view.c shows them. Options, their
 * help and the synopsis come from protocol/definition/settings.lua.
 */
#include "maintain.h"
#include "new_queue.h"
#include "settings_options.h"
#include "settings_view.h"
#include "verbs.h"

#define OPTION(name, value, help, row) {name, value, help, CLI_OTHER, row, 0, 0, cli_read_queue_setting},
static const cli_option settings_table[] = {RV_QUEUE_OPTIONS(OPTION){0}};

/* Settings that were read first, and those that options change. A policy is replaced as a whole, and so is the
 * retention of a state: what no option gives keeps its value. */
static void merge(rv_queue_values *values, const rv_queue_values *options)
{
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        values->given[i] = options->given[i];
        if (!options->given[i]) continue;
        values->number[i] = options->number[i];
        values->text[i] = options->text[i];
    }
    if (options->given[RV_QUEUE_BACKOFF]) values->backoff = options->backoff;
}

static reeve_status change(const cli_context *cli, const rv_queue_values *options, const reeve_queue_settings *before)
{
    rv_queue_values values;
    rv_held_settings changed;

    rv_queue_settings_from(&values, before);
    merge(&values, options);
    rv_queue_settings_hold(&changed, &values, false);
    return reeve_queue_set(cli->client, cli->rest[0], &changed.settings);
}

static int run_settings(cli_context *cli, void *options)
{
    const char *queue = cli->rest[0];
    reeve_queue_settings *held = NULL;
    reeve_status result;
    int status = cli_queue_argument(cli, queue);

    if (status == CLI_DONE) status = cli_open_queue(cli, queue);
    if (status != CLI_DONE) return status;
    if (cli->given == 0) cli_note_no_queue(cli, queue);
    result = reeve_queue_settings_get(cli->client, queue, &held);
    if (result == REEVE_OK && cli->given > 0) {
        cli_note_new_queue(cli, queue);
        result = change(cli, options, held);
        reeve_queue_settings_free(held);
        held = NULL;
        if (result == REEVE_OK) result = reeve_queue_settings_get(cli->client, queue, &held);
    }
    if (result != REEVE_OK) return cli_fail_call(cli, result, queue);
    status = cli_show_settings(cli, queue, held);
    reeve_queue_settings_free(held);
    return status;
}

const cli_verb cli_verb_settings = {
    .name = "settings",
    .section = CLI_QUEUES,
    .synopsis = RV_QUEUE_SYNOPSIS,
    .summary = "Shows or sets the settings of a queue",
    .options = settings_table,
    .options_size = sizeof(rv_queue_values),
    .min = 1,
    .max = 1,
    .run = run_settings,
    .notes =
        "The command changes the settings that are given, and prints all settings. A change is in force at once,\n"
        "for all workers. Options such as --attempts, --backoff and --timeout apply to tasks that do not set the\n"
        "option themselves, and whose handlers do not set it either. If the configuration of a worker has\n"
        "settings of the queue, the worker overwrites the settings in Redis with them when it starts.\n"
        "\n"
        "AGE is a duration, \"forever\", or \"none\", which keeps nothing. COUNT is a number or \"all\". In\n"
        "--keep-completed, BYTES is the maximum total length of the results of all completed tasks, such as 64M, or\n"
        "\"any\". A COUNT or BYTES that is not given stays as it is. The oldest records are deleted first. A task "
        "whose result is longer than\n"
        "--result-max dies with kind \"result\".\n"
        "\n"
        "Examples:\n"
        "  reeve settings mail --attempts 10 --backoff exponential:500ms:10m\n"
        "  reeve settings mail --timeout default --keep-completed 12h:5000\n"
        "  reeve settings thumbs --result-max 1M --keep-completed 1d:all:512M\n"
        "  reeve settings mail\n",
};
