/*
 * verb_control.c - retry, cancel and delete: single tasks by their handles (control.c), or many of a queue
 * (bulk_update.c).
 */
#include <string.h>

#include "base/id.h"
#include "bulk_update.h"
#include "control.h"
#include "reeve/depend.h"
#include "verbs.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* An argument that can only be a queue: say what is missing. */
static int check_no_queue(const cli_context *cli, const cli_bulk_update_plan *plan)
{
    for (size_t i = 0; i < cli->count; i++) {
        const char *text = cli->rest[i];

        if (strcmp(text, "-") == 0 || !rv_valid_queue(text, strlen(text))) continue;
        return cli_usage(cli,
                         "\"%s\" is no task but may be a queue: which of its tasks? --all for all %s ones, or pick "
                         "some with %s--type, --tag or --older-than; one task is named QUEUE/ID",
                         text, plan->state_count == 1 ? reeve_state_name(plan->states[0]) : "waiting",
                         plan->states[0] == REEVE_STATE_DEAD ? "--kind, " : "");
    }
    return CLI_DONE;
}

static int run(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options,
               cli_control_fn call)
{
    int status;

    if (options->all || options->kind != NULL || options->type != NULL || options->tag != NULL || options->older_ms > 0)
        return options->cascade ? cli_usage(cli, "--cascade goes with a HANDLE") : cli_bulk_update(cli, plan, options);
    if (options->dry_run)
        return cli_usage(cli, "--dry-run goes with a QUEUE and --all, or options that pick some of its tasks");
    if (options->has_state)
        return cli_usage(cli, "--state alone picks no tasks: --all for all in that state, or pick some of them");
    status = check_no_queue(cli, plan);
    return status == CLI_DONE ? cli_control(cli, plan->done, call, options) : status;
}

/* clang-format off */
#define MANY_NOTE                                                                                                      \
    "\nWith a QUEUE, the command changes all tasks of the queue (--all), or those that a filter selects (--type and so\n" \
    "on). --state selects their state. The command works in steps, so that Redis serves other clients in between. At\n" \
    "the end it prints how many tasks it changed, and how many it compared with the filter. It may leave out tasks\n" \
    "whose state changes meanwhile.\n"

#define RETRY_NOTES                                                                                                    \
    "The failures and crashes of a dead task are set to 0. A task is not retried while another task holds its unique key.\n" \
    CLI_CONTROL_INPUT_NOTE MANY_NOTE                                                                                     \
    "\nExamples:\n"                                                                                                    \
    "  reeve retry default/order-17\n"                                                                                 \
    "  reeve retry default --kind timeout --type charge\n"                                                             \
    "  reeve retry default --all\n"

#define CANCEL_NOTES                                                                                                   \
    "The handler of a running task is asked to stop. If it then ends with the outcome done, the task is completed, else\n" \
    "it is cancelled. `reeve wait HANDLE` waits for the end. The records of cancelled tasks are kept.\n"                                                   \
    CLI_CONTROL_CHILDREN_NOTE CLI_CONTROL_INPUT_NOTE MANY_NOTE                                                             \
    "To keep tasks from starting meanwhile, run `reeve pause QUEUE` before.\n"                                                   \
    "\nExamples:\n"                                                                                                    \
    "  reeve cancel default/order-17\n"                                                                                \
    "  reeve cancel default --tag customer-4 --state scheduled\n"

#define DELETE_NOTES                                                                                                   \
    CLI_CONTROL_CHILDREN_NOTE CLI_CONTROL_INPUT_NOTE MANY_NOTE                                                             \
    "\nExamples:\n"                                                                                                    \
    "  reeve delete default/order-17\n"                                                                                \
    "  reeve delete default --type report --state scheduled\n"
/* clang-format on */

/* ---- retry ----------------------------------------------------------------------------------------------------- */

static const reeve_state dead[] = {REEVE_STATE_DEAD};

static reeve_status retry_one(reeve_client *client, const cli_handle *handle, const void *options, bool *ret_running)
{
    (void)options;
    (void)ret_running;
    return reeve_retry(client, handle->queue, handle->id);
}

static int retry(cli_context *cli, void *options)
{
    static const reeve_state allowed[] = {REEVE_STATE_DEAD, REEVE_STATE_CANCELLED, REEVE_STATE_SCHEDULED};
    static const cli_bulk_update_plan plan = {REEVE_ACTION_RETRY, "retried", dead,
                                              COUNT(dead),        allowed,   COUNT(allowed)};

    return run(cli, &plan, options, retry_one);
}

static const cli_option retry_table[] = {
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_BULK_UPDATE_STATE("tasks in this state: dead, cancelled or scheduled (dead)"),
    CLI_BULK_UPDATE_KIND,
    CLI_BULK_UPDATE_OTHERS(CLI_BULK_UPDATE_ANY),
    {0},
};

const cli_verb cli_verb_retry = {
    .name = "retry",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|-\n       reeve retry QUEUE --all | [--kind KIND] [--type TYPE] [--tag TAG] "
                "[--older-than DURATION] [--state STATE]",
    .summary = "Makes dead, cancelled or scheduled tasks ready now",
    .options = retry_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = retry,
    .notes = RETRY_NOTES,
};

/* ---- cancel ---------------------------------------------------------------------------------------------------- */

/* As a task goes its way, so that one that moves on meanwhile is still met. */
static const reeve_state waiting[] = {REEVE_STATE_BLOCKED, REEVE_STATE_SCHEDULED, REEVE_STATE_PARKED,
                                      REEVE_STATE_READY};

static reeve_status cancel_one(reeve_client *client, const cli_handle *handle, const void *options, bool *ret_running)
{
    const cli_bulk_update_options *chosen = options;

    if (chosen->cascade) return reeve_cancel_cascade(client, handle->queue, handle->id);
    return reeve_cancel_with_running(client, handle->queue, handle->id, ret_running);
}

static int cancel(cli_context *cli, void *options)
{
    static const cli_bulk_update_plan plan = {REEVE_ACTION_CANCEL, "cancelled", waiting,
                                              COUNT(waiting),      waiting,     COUNT(waiting)};

    return run(cli, &plan, options, cancel_one);
}

static const cli_option cancel_table[] = {
    CLI_BULK_UPDATE_ALL("all waiting tasks of the queue"),
    CLI_BULK_UPDATE_STATE("tasks in this state: blocked, scheduled, parked or ready (all of these)"),
    CLI_BULK_UPDATE_OTHERS(CLI_BULK_UPDATE_WAITING),
    CLI_BULK_UPDATE_CASCADE,
    {0},
};

const cli_verb cli_verb_cancel = {
    .name = "cancel",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--cascade]\n       reeve cancel QUEUE --all | [--type TYPE] [--tag TAG] "
                "[--older-than DURATION] [--state STATE]",
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
    static const reeve_state allowed[] = {REEVE_STATE_DEAD,      REEVE_STATE_COMPLETED, REEVE_STATE_CANCELLED,
                                          REEVE_STATE_SCHEDULED, REEVE_STATE_PARKED,    REEVE_STATE_READY,
                                          REEVE_STATE_BLOCKED};
    static const cli_bulk_update_plan plan = {REEVE_ACTION_DELETE, "deleted", dead,
                                              COUNT(dead),         allowed,   COUNT(allowed)};

    return run(cli, &plan, options, delete_one);
}

static const cli_option delete_table[] = {
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_BULK_UPDATE_STATE("tasks in this state: any but running (dead)"),
    CLI_BULK_UPDATE_KIND,
    CLI_BULK_UPDATE_OTHERS(CLI_BULK_UPDATE_ANY),
    CLI_BULK_UPDATE_CASCADE,
    {0},
};

const cli_verb cli_verb_delete = {
    .name = "delete",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--cascade]\n       reeve delete QUEUE --all | [--kind KIND] [--type TYPE] [--tag TAG] "
                "[--older-than DURATION] [--state STATE]",
    .summary = "Deletes tasks that are not running, with their records and results",
    .options = delete_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = delete,
    .notes = DELETE_NOTES,
};
