/*
 * verb_log.c - lines are added to the logs of tasks by hand.
 */
#include "control.h"
#include "task_options.h"
#include "verbs.h"

struct log_options {
    const char *line;
};

static const cli_option log_table[] = {
    {"line", "TEXT", "the line to add, at most 1000 bytes", CLI_TEXT, offsetof(struct log_options, line), 0, 0, NULL},
    {0},
};

static reeve_status log_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const struct log_options *options = pointer;

    (void)ret_running;
    return reeve_add_log(client, handle->queue, handle->id, options->line);
}

static int add_lines(cli_context *cli, void *pointer)
{
    const struct log_options *options = pointer;

    if (options->line == NULL || options->line[0] == '\0') return cli_usage(cli, "which line? give --line TEXT");
    if (cli_check_text(cli, "line", options->line) != CLI_DONE) return CLI_USAGE;
    return cli_control(cli, "noted in the log of", log_one, options);
}

const cli_verb cli_verb_log = {
    .name = "log",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- --line TEXT",
    .summary = "Adds a line to the logs of tasks that are not running",
    .options = log_table,
    .options_size = sizeof(struct log_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = add_lines,
    .notes = "`reeve show --log` prints the log of a task, with the lines of its handler.\n" CLI_CONTROL_INPUT_NOTE
             "\nExample:\n"
             "  reeve log default/order-17 --line 'asked the customer for a new address'\n",
};
