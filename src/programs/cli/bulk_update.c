/*
 * bulk_update.c - many tasks by a filter, step by step; and purge, which is nothing else.
 */
#include "bulk_update.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "json.h"
#include "maintain.h"
#include "progress.h"
#include "stop.h"
#include "verbs.h"

struct bulk_update {
    cli_context *cli;
    const cli_bulk_update_plan *plan;
    cli_bulk_update_options options;
    reeve_bulk_result before; /* in the states that are through */
    reeve_bulk_result sums;   /* in all */
    cli_progress progress;
    uint64_t total; /* how many there are to look at, about; 0: not known */
};

/* ---- options --------------------------------------------------------------------------------------------------- */

static bool is_among(reeve_state state, const reeve_state *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == state) return true;
    return false;
}

static int say_bad_state(const cli_context *cli, const cli_bulk_update_plan *plan, reeve_state state)
{
    rv_buf names;
    int status;

    rv_buf_init(&names, 256);
    for (size_t i = 0; i < plan->allowed_count; i++)
        rv_buf_addf(&names, "%s%s",
                    i == 0                        ? ""
                    : i + 1 < plan->allowed_count ? ", "
                                                  : " or ",
                    reeve_state_name(plan->allowed[i]));
    status = cli_usage(cli, "--state %s: %s tasks are not for %s; expected %s", reeve_state_name(state),
                       reeve_state_name(state), cli->verb->name, rv_buf_text(&names));
    rv_buf_fini(&names);
    return status;
}

static int check(const cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options)
{
    const cli_filter *filter = &options->filter;

    if (strcmp(cli->rest[0], "-") == 0 || strchr(cli->rest[0], '/') != NULL)
        return cli_usage(cli, "\"%.200s\" names single tasks; options that pick tasks go with a QUEUE", cli->rest[0]);
    if (cli->count > 1)
        return cli_usage(cli, "\"%.200s\" is one argument too many: options that pick tasks go with one QUEUE",
                         cli->rest[1]);
    if (filter->has_state && !filter->all_states && !is_among(filter->state, plan->allowed, plan->allowed_count))
        return say_bad_state(cli, plan, filter->state);
    if (options->all && cli_filter_is_set(filter))
        return cli_usage(cli, "--all takes all of them; it does not go with options that pick some");
    if (cli_filter_check(cli, filter) != CLI_DONE) return CLI_USAGE;
    return cli_queue_argument(cli, cli->rest[0]);
}

/* The states to go through. */
static const reeve_state *states_of(const struct bulk_update *update, size_t *ret_count)
{
    const cli_filter *filter = &update->options.filter;

    *ret_count = 1;
    if (filter->has_state && !filter->all_states) return &filter->state;
    *ret_count = filter->all_states ? update->plan->allowed_count : update->plan->state_count;
    return filter->all_states ? update->plan->allowed : update->plan->states;
}

/* The filter in a state, behind `done` tasks in others. */
static reeve_filter filter_of(const struct bulk_update *update, reeve_state state, uint64_t done)
{
    reeve_filter filter = cli_filter_in(&update->options.filter, state);

    if (update->options.limit > 0) filter.limit = (uint64_t)update->options.limit - done;
    return filter;
}

/* Whether a limit was reached. */
static bool is_enough(const struct bulk_update *update, uint64_t done)
{
    return update->options.limit > 0 && done >= (uint64_t)update->options.limit;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

static void print_sums(const struct bulk_update *update, FILE *out)
{
    const reeve_bulk_result *sums = &update->sums;
    char done[CLI_COUNT_TEXT], seen[CLI_COUNT_TEXT], refused[CLI_COUNT_TEXT];

    (void)fprintf(out, "%s %s of %s", update->plan->done, cli_count_text(sums->done, done),
                  cli_count_text(sums->seen, seen));
    if (sums->refused > 0) (void)fprintf(out, " (%s refused)", cli_count_text(sums->refused, refused));
}

static void print_json(const struct bulk_update *update)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", update->cli->rest[0]);
    cli_json_text(&json, "action", update->cli->verb->name);
    cli_json_uint(&json, "seen", update->sums.seen);
    cli_json_uint(&json, "done", update->sums.done);
    cli_json_uint(&json, "refused", update->sums.refused);
    cli_json_bool(&json, "dry_run", false);
    cli_json_null(&json, "first");
    cli_json_end(&json);
}

static void show_progress(struct bulk_update *update)
{
    if (!cli_progress_begin(&update->progress, update->sums.seen, update->total)) return;
    print_sums(update, stderr);
    cli_progress_end(&update->progress);
}

/* ---- doing it -------------------------------------------------------------------------------------------------- */

static void add_up(struct bulk_update *update, const reeve_bulk_result *now)
{
    const reeve_bulk_result *before = &update->before;

    update->sums =
        (reeve_bulk_result){before->seen + now->seen, before->done + now->done, before->refused + now->refused};
}

static bool on_step(const reeve_bulk_result *sums, void *user)
{
    struct bulk_update *update = user;

    add_up(update, sums);
    show_progress(update);
    return cli_stop_signal() == 0;
}

static reeve_status update_state(struct bulk_update *update, reeve_state state)
{
    const cli_context *cli = update->cli;
    const reeve_filter filter = filter_of(update, state, update->sums.done);
    reeve_bulk_result sums = {0};
    reeve_status status;

    update->before = update->sums;
    status = reeve_bulk_update(cli->client, cli->rest[0], update->plan->action, &filter, on_step, update, &sums);
    add_up(update, &sums);
    return status;
}

static reeve_status update_states(struct bulk_update *update)
{
    reeve_status status = REEVE_OK;
    size_t count;
    const reeve_state *states = states_of(update, &count);

    for (size_t i = 0; i < count && status == REEVE_OK && !is_enough(update, update->sums.done); i++)
        status = update_state(update, states[i]);
    return status;
}

/* ---- a dry run ------------------------------------------------------------------------------------------------- */

struct preview {
    reeve_bulk_result found;
    char ids[REEVE_PREVIEW_MAX][REEVE_ID_MAX];
    size_t count;
};

static reeve_status look_at_state(const struct bulk_update *update, reeve_state state, struct preview *all)
{
    const reeve_filter filter = filter_of(update, state, all->found.done);
    char ids[REEVE_PREVIEW_MAX][REEVE_ID_MAX];
    reeve_bulk_result found = {0};
    size_t count = 0;
    reeve_status status = reeve_bulk_update_preview(update->cli->client, update->cli->rest[0], update->plan->action,
                                                    &filter, &found, ids, &count);

    all->found.seen += found.seen;
    all->found.done += found.done;
    for (size_t i = 0; i < count && all->count < REEVE_PREVIEW_MAX; i++)
        memcpy(all->ids[all->count++], ids[i], sizeof(ids[i]));
    return status;
}

static void print_preview_json(const struct bulk_update *update, const struct preview *all)
{
    const char *queue = update->cli->rest[0];
    char handle[REEVE_HANDLE_MAX + 1];
    cli_json json;
    rv_buf first;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "action", update->cli->verb->name);
    cli_json_uint(&json, "seen", all->found.seen);
    cli_json_uint(&json, "done", all->found.done);
    cli_json_uint(&json, "refused", 0);
    cli_json_bool(&json, "dry_run", true);
    rv_buf_init(&first, sizeof(all->ids) * 4);
    for (size_t i = 0; i < all->count; i++) {
        (void)snprintf(handle, sizeof(handle), "%s/%s", queue, all->ids[i]);
        rv_buf_adds(&first, i == 0 ? "[" : ",");
        rv_buf_add_json(&first, handle, strlen(handle));
    }
    rv_buf_adds(&first, all->count == 0 ? "[]" : "]");
    cli_json_raw(&json, "first", first.failed ? NULL : rv_buf_text(&first));
    cli_json_end(&json);
    rv_buf_fini(&first);
}

static void print_preview(const struct bulk_update *update, const struct preview *all)
{
    char done[CLI_COUNT_TEXT], seen[CLI_COUNT_TEXT];

    if (update->cli->json) {
        print_preview_json(update, all);
        return;
    }
    (void)printf("%s of %s would be %s; nothing was done\n", cli_count_text(all->found.done, done),
                 cli_count_text(all->found.seen, seen), update->plan->done);
    for (size_t i = 0; i < all->count; i++) (void)printf("  %s/%s\n", update->cli->rest[0], all->ids[i]);
    if (all->found.done > all->count)
        (void)printf("  and %s more\n", cli_count_text(all->found.done - all->count, done));
}

static int dry_run(const struct bulk_update *update)
{
    struct preview all = {.count = 0};
    reeve_status status = REEVE_OK;
    size_t count;
    const reeve_state *states = states_of(update, &count);

    for (size_t i = 0; i < count && status == REEVE_OK && !is_enough(update, all.found.done); i++)
        status = look_at_state(update, states[i], &all);
    if (status != REEVE_OK) return cli_fail_call(update->cli, status, update->cli->rest[0]);
    print_preview(update, &all);
    return CLI_DONE;
}

/* The sums are told whatever came in between. */
static int tell(const struct bulk_update *update, reeve_status status)
{
    const cli_context *cli = update->cli;

    if (status == REEVE_OK || status == REEVE_EINTERRUPTED || update->sums.seen > 0) {
        if (cli->json) {
            print_json(update);
        } else {
            print_sums(update, stdout);
            (void)putchar('\n');
        }
    }
    if (status == REEVE_EINTERRUPTED) return cli_signalled(cli, cli_stop_signal());
    if (status != REEVE_OK) return cli_fail_call(cli, status, cli->rest[0]);
    if (update->sums.refused == 0) return CLI_DONE;
    if (update->plan->action != REEVE_ACTION_RETRY)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "state"},
                             "refused: other tasks wait for these; with a HANDLE, --cascade takes them along");
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "unique"},
                         "refused: the unique key of a task is held by another one by now, or the task is malformed");
}

static int run(struct bulk_update *update)
{
    cli_context *cli = update->cli;
    reeve_status result;
    size_t count;
    const reeve_state *states = states_of(update, &count);

    if (update->options.dry_run) return dry_run(update);
    cli_progress_init(&update->progress, cli);
    if (update->progress.shows)
        update->total = cli_filter_count(cli, &update->options.filter, cli->rest[0], states, count);
    cli_stop_catch(NULL);
    result = update_states(update);
    cli_stop_release();
    cli_progress_clear(&update->progress);
    return tell(update, result);
}

int cli_bulk_update(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options)
{
    struct bulk_update update = {.cli = cli, .plan = plan, .options = *options};
    int status = check(cli, plan, options);

    if (status == CLI_DONE) status = cli_open_queue(cli, cli->rest[0]);
    if (status == CLI_DONE) status = cli_filter_resolve(cli, &update.options.filter);
    return status == CLI_DONE ? run(&update) : status;
}

/* ---- purge ----------------------------------------------------------------------------------------------------- */

static const reeve_state dead[] = {REEVE_STATE_DEAD};
static const reeve_state ended[] = {REEVE_STATE_DEAD, REEVE_STATE_COMPLETED, REEVE_STATE_CANCELLED};

static int purge(cli_context *cli, void *options)
{
    static const cli_bulk_update_plan plan = {REEVE_ACTION_DELETE, "purged", dead, 1, ended, 3};
    const cli_bulk_update_options *given = options;
    const cli_filter *filter = &given->filter;
    bool may = !filter->has_state || filter->all_states || is_among(filter->state, ended, 3);

    if (may && cli->count == 1 && strchr(cli->rest[0], '/') == NULL && !given->all && !cli_filter_is_set(filter))
        return cli_usage(cli,
                         "which of the %s tasks of %s? --all for all of them, or pick some with --kind, --type, --tag, "
                         "--older-than or the like",
                         filter->all_states  ? "ended"
                         : filter->has_state ? reeve_state_name(filter->state)
                                             : "dead",
                         cli->rest[0]);
    return cli_bulk_update(cli, &plan, options);
}

static const cli_option purge_table[] = {
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_FILTER_STATE("tasks in this state: dead, completed, cancelled, or all of these (dead)"),
    CLI_BULK_UPDATE_OTHERS(CLI_FILTER_ENDED),
    {0},
};

const cli_verb cli_verb_purge = {
    .name = "purge",
    .section = CLI_CHANGES,
    .synopsis = "QUEUE --all | FILTER... [--state STATE] [--limit N] [--dry-run]",
    .summary = "Deletes ended tasks of a queue: all in a state, or those that a filter selects",
    .options = purge_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = 1,
    .run = purge,
    .notes =
        "The command deletes all tasks of the queue in the state (--all), or those that a filter selects (--type\n"
        "and so on); one of the two is required. It does not ask for confirmation. --dry-run changes nothing, and\n"
        "prints what would be deleted. At the end the command prints how many tasks it deleted, and how many it\n"
        "examined. On a terminal it also prints its progress.\n"
        "\n"
        "Examples:\n"
        "  reeve purge default --all --dry-run\n"
        "  reeve purge default --kind decode --older-than 30d\n"
        "  reeve purge default --state completed --type report\n",
};
