/*
 * verb_log.c - lines are added to the logs of tasks by hand.
 */
#include "bulk_update.h"
#include "protocol/definition.h"
#include "task_options.h"
#include "verbs.h"

struct log_options {
    cli_bulk_update_options bulk;
    const char *line;
};

static const cli_option log_table[] = {
    {"line", "TEXT", "the line to add, at most 1000 bytes", CLI_TEXT, offsetof(struct log_options, line), 0, 0, NULL},
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_FILTER_STATE("tasks in this state: any but running, or all of these (dead)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ANY),
    CLI_FILTER_WORKER(CLI_FILTER_RAN),
    CLI_FILTER_DUE,
    CLI_FILTER_ENDED,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

static reeve_status log_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const struct log_options *options = pointer;

    (void)ret_running;
    return reeve_add_log(client, handle->queue, handle->id, options->line);
}

#define STATE(name) REEVE_STATE_##name,

static int add_lines(cli_context *cli, void *pointer)
{
    const struct log_options *options = pointer;
    static const reeve_state dead[] = {REEVE_STATE_DEAD};
    static const reeve_state allowed[] = {RV_ENDED_STATES(STATE) RV_WAITING_STATES(STATE)};
    static const cli_bulk_update_plan plan = {.done = "noted",
                                              .done_one = "noted in the log of",
                                              .call = log_one,
                                              .states = dead,
                                              .state_count = 1,
                                              .allowed = allowed,
                                              .allowed_count = REEVE_STATE_COUNT - 1};

    if (options->line == NULL || options->line[0] == '\0') return cli_usage(cli, "which line? give --line TEXT");
    if (cli_check_text(cli, "line", options->line) != CLI_DONE) return CLI_USAGE;
    return cli_bulk_update(cli, &plan, &options->bulk);
}

const cli_verb cli_verb_log = {
    .name = "log",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- --line TEXT\n"
                "       reeve log QUEUE --line TEXT --all | FILTER... [--state STATE] [--limit N] [--dry-run]",
    .summary = "Adds a line to the logs of tasks that are not running",
    .options = log_table,
    .options_size = sizeof(struct log_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = add_lines,
    .notes = "`reeve show --log` prints the log of a task, with the lines of its handler.\n" CLI_CONTROL_INPUT_NOTE
        CLI_BULK_UPDATE_NOTE("changed") "\nExamples:\n"
                                        "  reeve log default/order-17 --line 'asked the customer for a new address'\n"
                                        "  reeve log default --kind timeout --line 'the server was down'\n",
};
