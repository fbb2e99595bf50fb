#include <stdio.h>

#include "args.h"
#include "base/clock.h"
#include "client/client.h"
#include "each.h"
#include "json.h"
#include "stop.h"
#include "task_view.h"
#include "verbs.h"
#include "wait_warn.h"

struct wait_options {
    int64_t timeout_ms; /* negative: no limit */
};

static const cli_option wait_table[] = {
    {"timeout", "DURATION", "give up after this time (never)", CLI_DURATION, offsetof(struct wait_options, timeout_ms),
     0, 0, NULL},
    {0},
};
static const struct wait_options wait_defaults = {.timeout_ms = -1};

/* What went wrong is on standard output as well, but there a program reads. */
static int say_dead(const cli_context *cli, const char *name, const reeve_task_info *info)
{
    const char *kind = info == NULL ? NULL : info->error_kind;
    const char *message = info == NULL ? NULL : info->error_message;

    return cli_fault_say(cli, CLI_DEAD, &(cli_fault){.code = "dead", .handle = name}, "%s is dead%s%s%s%s", name,
                         kind == NULL ? "" : ": ", kind == NULL ? "" : kind, message == NULL ? "" : ": ",
                         message == NULL ? "" : message);
}

static int say_outcome(const cli_context *cli, const char *name, reeve_status status, int64_t timeout_ms,
                       const reeve_task_info *info)
{
    switch (status) {
    case REEVE_OK:
        return CLI_DONE;
    case REEVE_EDEAD:
        return say_dead(cli, name, info);
    case REEVE_ECANCELLED:
        return cli_fault_say(cli, CLI_CANCELLED, &(cli_fault){.code = "cancelled", .handle = name}, "%s was cancelled",
                             name);
    case REEVE_EINTERRUPTED:
        return cli_signalled(cli, cli_stop_signal());
    case REEVE_ETIMEOUT:
        if (timeout_ms < 0) break;
        return cli_fault_say(cli, CLI_TIMED_OUT, &(cli_fault){.code = "timeout", .handle = name},
                             "%s has not ended in time; `reeve why %s` explains it", name, name);
    default:
        break;
    }
    return cli_fault_call(cli, status, &(cli_fault){.handle = name});
}

/* It has completed, and that is all that is known: its queue keeps no completed tasks. */
static void print_not_kept(const cli_context *cli, const cli_handle *handle, const char *name)
{
    cli_json json;

    if (!cli->json) {
        (void)printf("%s completed; its record is not kept\n", name);
        return;
    }
    cli_json_begin(&json, stdout);
    cli_handle_json(&json, handle->queue, handle->id);
    cli_json_text(&json, "state", reeve_state_name(REEVE_STATE_COMPLETED));
    cli_json_end(&json);
}

static bool keeps_none(const reeve_keep *keep)
{
    return keep != NULL && (keep->age_ms == 0 || keep->count == 0);
}

/* A task that we enqueued is gone. Where completed tasks are not kept and dead ones are, it has completed. */
static int say_gone(cli_context *cli, const cli_handle *handle, const char *name, reeve_status result)
{
    reeve_queue_settings *settings = NULL;
    bool completed = false, unknown = false;

    if (cli->client->saw_deletion)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "not_found", .handle = name}, "%s was deleted",
                             name);
    if (reeve_queue_settings_get(cli->client, handle->queue, &settings) == REEVE_OK) {
        completed = keeps_none(settings->completed) && !keeps_none(settings->dead);
        unknown = keeps_none(settings->completed) && keeps_none(settings->dead);
        reeve_queue_settings_free(settings);
    }
    if (completed && !cli->json) (void)printf("%s completed; its record is not kept\n", name);
    if (completed) return CLI_DONE;
    if (unknown)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "not_found", .handle = name},
                             "%s has ended; how is not known, for the queue keeps no ended tasks", name);
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = cli_code_of(result), .handle = name},
                         "no task %s (any more)", name);
}

static int wait_for(cli_context *cli, const cli_handle *handle, int64_t timeout_ms, bool ours, bool *ret_printed)
{
    char name[REEVE_HANDLE_MAX + 1];
    reeve_task_info *info = NULL;
    cli_wait_warn *warn;
    reeve_status result;
    bool printed = true;
    int status;

    cli_handle_text(handle, name);
    cli_stop_catch(cli->client);
    warn = cli_wait_warn_start(cli, handle, timeout_ms);
    result = reeve_wait(cli->client, handle->queue, handle->id, timeout_ms, &info);
    cli_wait_warn_stop(warn);
    cli_stop_release();
    if (info != NULL && cli->json)
        cli_task_json(info, stdout);
    else if (info != NULL)
        printed = cli_task_outcome_fields(info, stdout);
    else if (result == REEVE_OK)
        print_not_kept(cli, handle, name);
    if (ret_printed != NULL) *ret_printed = info != NULL || result == REEVE_OK;
    if (ours && result == REEVE_ENOTFOUND) return say_gone(cli, handle, name, result);
    status = say_outcome(cli, name, result, timeout_ms, info);
    reeve_task_info_free(info);
    return printed ? status : cli_no_memory(cli);
}

int cli_wait(cli_context *cli, const cli_handle *handle, int64_t timeout_ms, bool *ret_printed)
{
    return wait_for(cli, handle, timeout_ms, false, ret_printed);
}

int cli_wait_ours(cli_context *cli, const cli_handle *handle, int64_t timeout_ms, bool *ret_printed)
{
    return wait_for(cli, handle, timeout_ms, true, ret_printed);
}

/* The time limit is that of all waits together. Behind its end each task is looked at once. */
static int wait_one(cli_context *cli, const cli_each_item *item, const void *pointer)
{
    const int64_t *deadline = pointer;
    int64_t left_ms = *deadline == RV_FOREVER ? -1 : *deadline - rv_now_ms();

    if (cli->count > 1 && !cli->json) {
        (void)printf("%s\n", item->name);
        (void)fflush(stdout);
    }
    return cli_wait(cli, &item->handle, *deadline != RV_FOREVER && left_ms < 0 ? 0 : left_ms, NULL);
}

static int run_wait(cli_context *cli, void *pointer)
{
    const struct wait_options *options = pointer;
    int64_t deadline = rv_deadline(options->timeout_ms);

    return cli_each(cli, false, wait_one, &deadline);
}

const cli_verb cli_verb_wait = {
    .name = "wait",
    .section = CLI_TASKS,
    .synopsis = "HANDLE... [--timeout DURATION]",
    .summary = "Waits until tasks have ended, and prints their states and results",
    .options = wait_table,
    .options_size = sizeof(struct wait_options),
    .defaults = &wait_defaults,
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = run_wait,
    .notes = "The command waits for the tasks in the order of the handles. With several handles it prints each handle\n"
             "before the state of its task. --timeout limits the time of the whole command.\n"
             "\n"
             "Examples:\n"
             "  reeve wait default/order-17 --timeout 30s\n"
             "  reeve wait default/order-17 default/order-18\n"
             "  reeve wait --json default/order-17 | jq -r .result\n",
    .exits = "0 all completed, 1 one was not found, 2 wrong usage, 3 no Redis, 5 one is dead, 6 one was cancelled, 7 "
             "one has\n"
             "not ended in time. With several of these, the status is that of the last task that has not completed.",
};
