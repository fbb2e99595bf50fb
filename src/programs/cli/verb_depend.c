/*
 * verb_depend.c - waiting tasks come after others, too, or do not any more.
 */
#include "reeve/depend.h"

#include <string.h>

#include "after.h"
#include "args.h"
#include "bulk_update.h"
#include "protocol/definition.h"
#include "protocol/parents.h"
#include "verbs.h"

#define EDGES_MAX 64

struct depend_options {
    cli_bulk_update_options bulk;
    reeve_parent after[EDGES_MAX];
    size_t after_count;
    const char *removed[EDGES_MAX];
    size_t removed_count;
};

static int read_after(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct depend_options *options = pointer;

    if (options->after_count == EDGES_MAX) return cli_usage(cli, "--after: at most %d of them", EDGES_MAX);
    if (!cli_after_parse(value, &options->after[options->after_count]))
        return cli_bad_value(cli, option, value, "QUEUE/ID, or that with a rule behind it: " CLI_AFTER_NAMES);
    options->after_count++;
    return CLI_DONE;
}

static int read_remove_after(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct depend_options *options = pointer;
    cli_handle handle;

    if (options->removed_count == EDGES_MAX) return cli_usage(cli, "--remove-after: at most %d of them", EDGES_MAX);
    if (strcmp(value, REEVE_PARENT_OPEN) != 0 && rv_parents_signal(value) == NULL && !cli_handle_parse(&handle, value))
        return cli_bad_value(cli, option, value, "QUEUE/ID, \"!NAME\" for a signal, or \"!\" for the placeholder");
    options->removed[options->removed_count++] = value;
    return CLI_DONE;
}

static const cli_option depend_table[] = {
    {"after", "HANDLE[:RULE]", "add this parent; may be repeated", CLI_OTHER, 0, 0, 0, read_after},
    {"remove-after", "HANDLE", "remove this parent; may be repeated", CLI_OTHER, 0, 0, 0, read_remove_after},
    CLI_BULK_UPDATE_ALL("all waiting tasks of the queue"),
    CLI_FILTER_STATE("tasks in this state: " RV_WAITING_STATES_TEXT ", or all of these (all)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ENQUEUED),
    CLI_FILTER_DUE,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

/* Whether the task would wait for itself. That is a fault of this task alone: --after can name one of many that the
 * filter selects. */
static bool is_own_parent(const struct depend_options *options, const cli_handle *handle)
{
    char name[REEVE_HANDLE_MAX + 1];

    cli_handle_text(handle, name);
    for (size_t i = 0; i < options->after_count; i++)
        if (strcmp(options->after[i].handle, name) == 0) return true;
    return false;
}

/* What is new comes first: a task that changes its parents does not become ready in between. */
static reeve_status depend_one(reeve_client *client, const cli_handle *handle, const void *pointer, bool *ret_running)
{
    const struct depend_options *options = pointer;
    reeve_status status = REEVE_OK;

    (void)ret_running;
    if (options->after_count > 0)
        status = reeve_add_dependency(client, handle->queue, handle->id, options->after, options->after_count);
    if (status == REEVE_OK && options->removed_count > 0)
        status = reeve_remove_dependency(client, handle->queue, handle->id, options->removed, options->removed_count);
    return status == REEVE_EINVAL && is_own_parent(options, handle) ? REEVE_EREFUSED : status;
}

#define STATE(name) REEVE_STATE_##name,

static int depend(cli_context *cli, void *pointer)
{
    const struct depend_options *options = pointer;
    static const reeve_state waiting[] = {RV_WAITING_STATES(STATE)};
    static const cli_bulk_update_plan plan = {.done = "changed",
                                              .call = depend_one,
                                              .states = waiting,
                                              .state_count = sizeof(waiting) / sizeof(waiting[0]),
                                              .allowed = waiting,
                                              .allowed_count = sizeof(waiting) / sizeof(waiting[0])};

    if (options->after_count + options->removed_count == 0)
        return cli_usage(cli, "on what? give --after HANDLE or --remove-after HANDLE");
    return cli_bulk_update(cli, &plan, &options->bulk);
}

const cli_verb cli_verb_depend = {
    .name = "depend",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--after HANDLE[:RULE]]... [--remove-after HANDLE]...\n"
                "       reeve depend QUEUE --all | FILTER... [--state STATE] [--limit N] [--dry-run] [--after ...]",
    .summary = "Adds or removes dependencies of waiting tasks",
    .options = depend_table,
    .options_size = sizeof(struct depend_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = depend,
    .notes =
        "The command accepts blocked, ready, scheduled and parked tasks. A parent is a task that must end\n"
        "before another task, its child, can run. RULE decides what happens if the parent dies, as for `reeve\n"
        "enqueue --after`: fail, go, wait or death. A program can give a task the placeholder ! as a parent, which\n"
        "keeps the task blocked until the program removes it. If that program has died, --remove-after '!'\n"
        "removes the placeholder. The command does not refuse a circle of tasks that wait for each other. They\n"
        "stay blocked, and `reeve why` names the circle.\n" CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE(
            "changed") "\nExamples:\n"
                       "  reeve depend default/merge --after files/part-3:go\n"
                       "  reeve depend default/merge --remove-after files/part-1\n"
                       "  reeve depend mail --tag newsletter --state scheduled --after default/approval\n",
};
