#include "args.h"
#include "bulk_update.h"
#include "verbs.h"

struct reschedule_options {
    cli_bulk_update_options bulk;
    int64_t delay_ms; /* negative: not given */
    int64_t at_ms;
    bool has_at;
    bool now;
    bool has_priority;
    int priority;
};

static int read_at(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct reschedule_options *options = pointer;

    options->has_at = true;
    return cli_read_time(cli, option, value, &options->at_ms);
}

static int read_priority(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct reschedule_options *options = pointer;
    int64_t number = 0;
    int status = cli_read_number(cli, option, value, &number);

    options->has_priority = true;
    options->priority = (int)number;
    return status;
}

#define AT(field) offsetof(struct reschedule_options, field)

static const cli_option reschedule_table[] = {
    {"in", "DURATION", "run them after this delay", CLI_DURATION, AT(delay_ms), 0, 0, NULL},
    {"at", "TIME", "run them at this time (RFC 3339, or seconds since the epoch)", CLI_OTHER, 0, 0, 0, read_at},
    {"now", NULL, "run them now", CLI_FLAG, AT(now), 0, 0, NULL},
    {"priority", "N", "their new priority from -128 to 127; lower runs sooner", CLI_OTHER, 0, REEVE_PRIORITY_MIN,
     REEVE_PRIORITY_MAX, read_priority},
    CLI_BULK_UPDATE_ALL("all tasks of the queue in these states"),
    CLI_FILTER_STATE("tasks in this state: scheduled, parked or ready, with --priority alone also blocked; or all of "
                     "these (all)"),
    CLI_FILTER_ROWS(CLI_FILTER_RETRYING, CLI_FILTER_OLD_ENQUEUED),
    CLI_FILTER_DUE,
    CLI_BULK_UPDATE_LIMITS,
    {0},
};
static const struct reschedule_options reschedule_defaults = {.delay_ms = -1};

/* The priority comes first: with it, a task that becomes ready goes to its right place. */
static reeve_status reschedule_one(reeve_client *client, const cli_handle *handle, const void *pointer,
                                   bool *ret_running)
{
    const struct reschedule_options *options = pointer;
    reeve_status status = REEVE_OK;

    (void)ret_running;
    if (options->has_priority) status = reeve_set_priority(client, handle->queue, handle->id, options->priority);
    if (status != REEVE_OK) return status;
    if (options->delay_ms >= 0) return reeve_reschedule_in(client, handle->queue, handle->id, options->delay_ms);
    if (options->has_at || options->now)
        return reeve_reschedule(client, handle->queue, handle->id, options->now ? 0 : options->at_ms);
    return REEVE_OK;
}

static int reschedule(cli_context *cli, void *pointer)
{
    const struct reschedule_options *options = pointer;
    static const reeve_state placed[] = {REEVE_STATE_SCHEDULED, REEVE_STATE_PARKED, REEVE_STATE_READY,
                                         REEVE_STATE_BLOCKED};
    int times = (options->delay_ms >= 0) + options->has_at + options->now;

    if (times > 1) return cli_usage(cli, "--in, --at and --now: give one of them");
    if (times == 0 && !options->has_priority)
        return cli_usage(cli, "to when? give --in DURATION, --at TIME or --now, or a new --priority N");
    const size_t count = sizeof(placed) / sizeof(placed[0]) - (times > 0 ? 1 : 0);
    const cli_bulk_update_plan plan = {.done = "rescheduled",
                                       .call = reschedule_one,
                                       .states = placed,
                                       .state_count = count,
                                       .allowed = placed,
                                       .allowed_count = count};
    return cli_bulk_update(cli, &plan, &options->bulk);
}

const cli_verb cli_verb_reschedule = {
    .name = "reschedule",
    .section = CLI_CHANGES,
    .synopsis = "HANDLE...|- [--in DURATION | --at TIME | --now] [--priority N]\n"
                "       reeve reschedule QUEUE --all | FILTER... [--state STATE] [--limit N] [--dry-run] ...",
    .summary = "Gives waiting tasks another time, another priority, or both",
    .options = reschedule_table,
    .options_size = sizeof(struct reschedule_options),
    .defaults = &reschedule_defaults,
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = reschedule,
    .notes = "The command accepts ready, scheduled and parked tasks, and, for --priority alone, blocked tasks. A past\n"
             "time means now. A task with a new priority is placed like a newly enqueued one.\n" CLI_CONTROL_INPUT_NOTE
                 CLI_BULK_UPDATE_NOTE(
                     "rescheduled") "\nExamples:\n"
                                    "  reeve reschedule default/order-17 --in 10m\n"
                                    "  reeve reschedule default/order-17 default/order-18 --now --priority -10\n"
                                    "  reeve reschedule default --tag customer-4 --state scheduled --now\n",
};
