/*
 * verb_control.c - retry, cancel and delete: single tasks by their handles (control.c), or many of a queue
 * (bulk_update.c).
 */
#include <string.h>

#include "bulk_update.h"
#include "control.h"
#include "protocol/definition.h"
#include "reeve/depend.h"
#include "reeve/task.h"
#include "verbs.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* clang-format off */
#define RETRY_NOTES                                                                                                    \
    "The failures and crashes of a dead task are set to 0. A task is not retried while another task holds its "        \
    "unique key.\n"                                                                                                    \
    "A completed task runs again only with --completed, or for a QUEUE with --state completed. Its result is "         \
    "removed.\n"                                                                                                       \
    CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE("retried")                                                                        \
    "\nExamples:\n"                                                                                                    \
    "  reeve retry default/order-17\n"                                                                                 \
    "  reeve retry default --kind timeout --type charge\n"                                                             \
    "  reeve retry default --all\n"

#define CANCEL_NOTES                                                                                                   \
    "The handler of a running task is asked to stop. If it then ends with the outcome done, the task is "              \
    "completed, else\n"                                                                                                \
    "it is cancelled. `reeve wait HANDLE` waits for the end. The records of cancelled tasks are kept.\n"               \
    CLI_CONTROL_CHILDREN_NOTE CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE("cancelled")                                            \
    "To keep tasks from starting meanwhile, run `reeve pause QUEUE` before. --state running asks all handlers to stop.\n"                                         \
    "\nExamples:\n"                                                                                                    \
    "  reeve cancel default/order-17\n"                                                                                \
    "  reeve cancel default --tag customer-4 --state scheduled\n"

#define DELETE_NOTES                                                                                                   \
    CLI_CONTROL_CHILDREN_NOTE CLI_CONTROL_INPUT_NOTE CLI_BULK_UPDATE_NOTE("deleted")                                              \
    "\nExamples:\n"                                                                                                    \
    "  reeve delete default/order-17\n"                                                                                \
    "  reeve delete default --type report --state scheduled\n"
/* clang-format on */

#define STATE(name) REEVE_STATE_##name,

/* ---- retry ----------------------------------------------------------------------------------------------------- */

static const reeve_state dead[] = {REEVE_STATE_DEAD};

static reeve_status retry_one(reeve_client *client, const cli_handle *handle, const void *options, bool *ret_running)
{
    const cli_bulk_update_options *chosen = options;

    (void)ret_running;
    if (chosen->completed) return reeve_retry_completed(client, handle->queue, handle->id);
    return reeve_retry(client, handle->queue, handle->id);
}

static int retry(cli_context *cli, void *pointer)
{
    const cli_bulk_update_options *options = pointer;
    static const reeve_action steps = REEVE_ACTION_RETRY;
    /* Completed tasks run again only where their state is named. */
    static const reeve_state allowed[] = {REEVE_STATE_SCHEDULED, REEVE_STATE_DEAD, REEVE_STATE_CANCELLED,
                                          REEVE_STATE_COMPLETED};
    static const cli_bulk_update_plan plan = {.done = "retried",
                                              .call = retry_one,
                                              .steps = &steps,
                                              .states = dead,
                                              .state_count = COUNT(dead),
                                              .allowed = allowed,
                                              .allowed_count = COUNT(allowed),
                                              .named_count = 1};

    if (options->completed && (options->all || options->filter.has_state || cli_filter_is_set(&options->filter)))
        return cli_usage(cli, "--completed goes with a HANDLE; for tasks of a queue: --state completed");
    return cli_bulk_update(cli, &plan, options);
}

static const cli_option retry_table[] = {
    {"completed", NULL, "with a HANDLE: also accept a completed task", CLI_FLAG, CLI_BULK_UPDATE_AT(completed), 0, 0,
     NULL},
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_FILTER_STATE("state of the tasks: " RV_RETRIED_STATES_TEXT "; or all, which omits completed (dead)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ANY),
    CLI_FILTER_WORKER(CLI_FILTER_RAN),
    CLI_FILTER_DUE,
    CLI_FILTER_ENDED,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};

const cli_verb cli_verb_retry = {
    .name = "retry",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--completed]" CLI_BULK_UPDATE_SYNOPSIS("retry"),
    .summary = "Makes dead, cancelled, scheduled or completed tasks ready now",
    .options = retry_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = retry,
    .notes = RETRY_NOTES,
};

/* ---- cancel ---------------------------------------------------------------------------------------------------- */

/* `ready` comes last, so that a task that becomes ready meanwhile is still met. */
static const reeve_state waiting[] = {RV_WAITING_STATES(STATE)};

static reeve_status cancel_one(reeve_client *client, const cli_handle *handle, const void *options, bool *ret_running)
{
    const cli_bulk_update_options *chosen = options;

    if (chosen->reason != NULL)
        return reeve_cancel_with_reason(client, handle->queue, handle->id, chosen->reason, chosen->cascade,
                                        ret_running);
    if (chosen->cascade) return reeve_cancel_cascade(client, handle->queue, handle->id);
    return reeve_cancel_with_running(client, handle->queue, handle->id, ret_running);
}

static int cancel(cli_context *cli, void *pointer)
{
    const cli_bulk_update_options *options = pointer;
    static const reeve_action steps = REEVE_ACTION_CANCEL;
    static const reeve_state allowed[] = {RV_WAITING_STATES(STATE) REEVE_STATE_RUNNING};
    static const cli_bulk_update_plan plan = {.done = "cancelled",
                                              .call = cancel_one,
                                              .asks = true,
                                              .steps = &steps,
                                              .states = waiting,
                                              .state_count = COUNT(waiting),
                                              .allowed = allowed,
                                              .allowed_count = COUNT(allowed),
                                              .named_count = 1};

    if (options->reason == NULL) return cli_bulk_update(cli, &plan, options);
    if (strlen(options->reason) > REEVE_REASON_MAX)
        return cli_usage(cli, "--reason: the text has %zu bytes: at most %d", strlen(options->reason),
                         REEVE_REASON_MAX);
    /* The script that cancels many tasks takes no reason: a call for each task does. */
    cli_bulk_update_plan by_calls = plan;
    by_calls.steps = NULL;
    return cli_bulk_update(cli, &by_calls, options);
}

static const cli_option cancel_table[] = {
    CLI_BULK_UPDATE_ALL("all waiting tasks of the queue"),
    CLI_FILTER_STATE("state of the tasks: running, " RV_WAITING_STATES_TEXT "; or all, which omits running (all)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ENQUEUED),
    CLI_FILTER_WORKER(CLI_FILTER_RUNS),
    CLI_FILTER_DUE,
    CLI_BULK_UPDATE_LIMITS,
    CLI_BULK_UPDATE_CASCADE("with a HANDLE: also cancel all tasks that depend on it, directly or indirectly"),
    {"reason", "TEXT", "the reason; the records of the tasks have it, and their handlers can read it", CLI_TEXT,
     CLI_BULK_UPDATE_AT(reason), 0, 0, NULL},
    {0},
};

const cli_verb cli_verb_cancel = {
    .name = "cancel",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--cascade] [--reason TEXT]" CLI_BULK_UPDATE_SYNOPSIS("cancel"),
    .summary = "Cancels tasks: waiting ones at once; running ones are asked to stop",
    .options = cancel_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = cancel,
    .notes = CANCEL_NOTES,
};

/* ---- delete ---------------------------------------------------------------------------------------------------- */

static reeve_status delete_one(reeve_client *client, const cli_handle *handle, const void *options, bool *ret_running)
{
    const cli_bulk_update_options *chosen = options;

    (void)ret_running;
    if (chosen->cascade) return reeve_delete_cascade(client, handle->queue, handle->id);
    return reeve_delete(client, handle->queue, handle->id);
}

static int delete (cli_context *cli, void *options)
{
    static const reeve_state allowed[] = {RV_ENDED_STATES(STATE) RV_WAITING_STATES(STATE)};
    static const reeve_action steps = REEVE_ACTION_DELETE;
    static const cli_bulk_update_plan plan = {.done = "deleted",
                                              .call = delete_one,
                                              .steps = &steps,
                                              .states = dead,
                                              .state_count = COUNT(dead),
                                              .allowed = allowed,
                                              .allowed_count = COUNT(allowed)};

    return cli_bulk_update(cli, &plan, options);
}

static const cli_option delete_table[] = {
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_FILTER_STATE("tasks in this state: any but running, or all of these (dead)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ANY),
    CLI_FILTER_WORKER(CLI_FILTER_RAN),
    CLI_FILTER_DUE,
    CLI_FILTER_ENDED,
    CLI_BULK_UPDATE_LIMITS,
    CLI_BULK_UPDATE_CASCADE(
        "with a HANDLE: also cancel (not delete) all tasks that depend on it, directly or indirectly"),
    {0},
};

const cli_verb cli_verb_delete = {
    .name = "delete",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--cascade]" CLI_BULK_UPDATE_SYNOPSIS("delete"),
    .summary = "Deletes tasks that are not running, with their records and results",
    .options = delete_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = delete,
    .notes = DELETE_NOTES,
};
