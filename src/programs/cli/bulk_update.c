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

struct sweeping {
    cli_context *cli;
    const cli_bulk_update_plan *plan;
    const cli_bulk_update_options *options;
    reeve_bulk_result before; /* in the states that are through */
    reeve_bulk_result swept;  /* in all */
    cli_progress progress;
    uint64_t total; /* how many there are to look at, about; 0: not known */
};

/* ---- options --------------------------------------------------------------------------------------------------- */

int cli_bulk_update_read_state(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_bulk_update_options *options = pointer;

    options->has_state = true;
    if (reeve_state_parse(value, &options->state) == REEVE_OK) return CLI_DONE;
    return cli_usage(cli, "--%s \"%.100s\": there is no such state", option->name, value);
}

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

static bool is_filtered(const cli_bulk_update_options *options)
{
    return options->kind != NULL || options->type != NULL || options->tag != NULL || options->older_ms > 0;
}

static int check(const cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options)
{
    reeve_state state = options->has_state ? options->state : plan->states[0];

    if (strcmp(cli->rest[0], "-") == 0 || strchr(cli->rest[0], '/') != NULL)
        return cli_usage(cli, "\"%.200s\" names single tasks; options that pick tasks go with a QUEUE", cli->rest[0]);
    if (cli->count > 1)
        return cli_usage(cli, "\"%.200s\" is one argument too many: options that pick tasks go with one QUEUE",
                         cli->rest[1]);
    if (options->has_state && !is_among(options->state, plan->allowed, plan->allowed_count))
        return say_bad_state(cli, plan, options->state);
    if (options->kind != NULL && state != REEVE_STATE_DEAD)
        return cli_usage(cli, "--kind goes with --state dead: %s tasks did not die of anything",
                         reeve_state_name(state));
    if (options->all && is_filtered(options))
        return cli_usage(cli, "--all takes all of them; it does not go with options that pick some");
    return cli_queue_argument(cli, cli->rest[0]);
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

static void print_sums(const struct sweeping *sweeping, FILE *out)
{
    const reeve_bulk_result *swept = &sweeping->swept;
    char done[CLI_COUNT_TEXT], seen[CLI_COUNT_TEXT], refused[CLI_COUNT_TEXT];

    (void)fprintf(out, "%s %s of %s", sweeping->plan->done, cli_count_text(swept->done, done),
                  cli_count_text(swept->seen, seen));
    if (swept->refused > 0) (void)fprintf(out, " (%s refused)", cli_count_text(swept->refused, refused));
}

static void print_json(const struct sweeping *sweeping)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", sweeping->cli->rest[0]);
    cli_json_text(&json, "action", sweeping->cli->verb->name);
    cli_json_uint(&json, "seen", sweeping->swept.seen);
    cli_json_uint(&json, "done", sweeping->swept.done);
    cli_json_uint(&json, "refused", sweeping->swept.refused);
    cli_json_bool(&json, "dry_run", false);
    cli_json_null(&json, "first");
    cli_json_end(&json);
}

static void show_progress(struct sweeping *sweeping)
{
    if (!cli_progress_begin(&sweeping->progress, sweeping->swept.seen, sweeping->total)) return;
    print_sums(sweeping, stderr);
    cli_progress_end(&sweeping->progress);
}

/* ---- doing it -------------------------------------------------------------------------------------------------- */

static void add_up(struct sweeping *sweeping, const reeve_bulk_result *now)
{
    const reeve_bulk_result *before = &sweeping->before;

    sweeping->swept =
        (reeve_bulk_result){before->seen + now->seen, before->done + now->done, before->refused + now->refused};
}

static bool on_step(const reeve_bulk_result *swept, void *user)
{
    struct sweeping *sweeping = user;

    add_up(sweeping, swept);
    show_progress(sweeping);
    return cli_stop_signal() == 0;
}

static reeve_filter filter_of(const cli_bulk_update_options *options, reeve_state state)
{
    return (reeve_filter){.size = sizeof(reeve_filter),
                          .state = state,
                          .kind = options->kind,
                          .type = options->type,
                          .tag = options->tag,
                          .older_ms = options->older_ms};
}

static reeve_status update_state(struct sweeping *sweeping, reeve_state state)
{
    const cli_context *cli = sweeping->cli;
    const reeve_filter filter = filter_of(sweeping->options, state);
    reeve_bulk_result swept = {0};
    reeve_status status;

    sweeping->before = sweeping->swept;
    status = reeve_bulk_update(cli->client, cli->rest[0], sweeping->plan->action, &filter, on_step, sweeping, &swept);
    add_up(sweeping, &swept);
    return status;
}

static reeve_status update_states(struct sweeping *sweeping)
{
    const cli_bulk_update_plan *plan = sweeping->plan;
    reeve_status status = REEVE_OK;

    if (sweeping->options->has_state) return update_state(sweeping, sweeping->options->state);
    for (size_t i = 0; i < plan->state_count && status == REEVE_OK; i++)
        status = update_state(sweeping, plan->states[i]);
    return status;
}

/* How many there are to look at. Only for the terminal: what is not known is done without. */
static uint64_t count_all(const struct sweeping *sweeping)
{
    const cli_bulk_update_options *options = sweeping->options;
    reeve_client *client = sweeping->cli->client;
    const char *queue = sweeping->cli->rest[0];
    reeve_task_info **page = NULL;
    reeve_queue_info info;
    uint64_t total = 0;
    size_t count = 0;

    if (options->kind != NULL) {
        if (reeve_list_kind(client, queue, options->kind, 0, 1, &page, &count, &total) == REEVE_OK)
            reeve_task_list_free(page, count);
        return total;
    }
    if (reeve_queue(client, queue, &info) != REEVE_OK) return 0;
    if (options->has_state) return info.count[options->state];
    for (size_t i = 0; i < sweeping->plan->state_count; i++) total += info.count[sweeping->plan->states[i]];
    return total;
}

/* ---- a dry run ------------------------------------------------------------------------------------------------- */

struct preview {
    reeve_bulk_result found;
    char ids[REEVE_PREVIEW_MAX][REEVE_ID_MAX];
    size_t count;
};

static reeve_status look_at_state(const struct sweeping *sweeping, reeve_state state, struct preview *all)
{
    const reeve_filter filter = filter_of(sweeping->options, state);
    char ids[REEVE_PREVIEW_MAX][REEVE_ID_MAX];
    reeve_bulk_result found = {0};
    size_t count = 0;
    reeve_status status = reeve_bulk_update_preview(sweeping->cli->client, sweeping->cli->rest[0],
                                                    sweeping->plan->action, &filter, &found, ids, &count);

    all->found.seen += found.seen;
    all->found.done += found.done;
    for (size_t i = 0; i < count && all->count < REEVE_PREVIEW_MAX; i++)
        memcpy(all->ids[all->count++], ids[i], sizeof(ids[i]));
    return status;
}

static void print_preview_json(const struct sweeping *sweeping, const struct preview *all)
{
    const char *queue = sweeping->cli->rest[0];
    char handle[REEVE_HANDLE_MAX + 1];
    cli_json json;
    rv_buf first;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "action", sweeping->cli->verb->name);
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

static void print_preview(const struct sweeping *sweeping, const struct preview *all)
{
    char done[CLI_COUNT_TEXT], seen[CLI_COUNT_TEXT];

    if (sweeping->cli->json) {
        print_preview_json(sweeping, all);
        return;
    }
    (void)printf("%s of %s would be %s; nothing was done\n", cli_count_text(all->found.done, done),
                 cli_count_text(all->found.seen, seen), sweeping->plan->done);
    for (size_t i = 0; i < all->count; i++) (void)printf("  %s/%s\n", sweeping->cli->rest[0], all->ids[i]);
    if (all->found.done > all->count)
        (void)printf("  and %s more\n", cli_count_text(all->found.done - all->count, done));
}

static int dry_run(const struct sweeping *sweeping)
{
    const cli_bulk_update_plan *plan = sweeping->plan;
    struct preview all = {.count = 0};
    reeve_status status = REEVE_OK;

    if (sweeping->options->has_state) {
        status = look_at_state(sweeping, sweeping->options->state, &all);
    } else {
        for (size_t i = 0; i < plan->state_count && status == REEVE_OK; i++)
            status = look_at_state(sweeping, plan->states[i], &all);
    }
    if (status != REEVE_OK) return cli_fail_call(sweeping->cli, status, sweeping->cli->rest[0]);
    print_preview(sweeping, &all);
    return CLI_DONE;
}

/* The sums are told whatever came in between. */
static int tell(const struct sweeping *sweeping, reeve_status status)
{
    const cli_context *cli = sweeping->cli;

    if (status == REEVE_OK || status == REEVE_EINTERRUPTED || sweeping->swept.seen > 0) {
        if (cli->json) {
            print_json(sweeping);
        } else {
            print_sums(sweeping, stdout);
            (void)putchar('\n');
        }
    }
    if (status == REEVE_EINTERRUPTED) return cli_signalled(cli, cli_stop_signal());
    if (status != REEVE_OK) return cli_fail_call(cli, status, cli->rest[0]);
    if (sweeping->swept.refused == 0) return CLI_DONE;
    if (sweeping->plan->action != REEVE_ACTION_RETRY)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "state"},
                             "refused: other tasks wait for these; with a HANDLE, --cascade takes them along");
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "unique"},
                         "refused: the unique key of a task is held by another one by now");
}

int cli_bulk_update(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options)
{
    struct sweeping sweeping = {.cli = cli, .plan = plan, .options = options};
    reeve_status result;
    int status = check(cli, plan, options);

    if (status == CLI_DONE) status = cli_open_queue(cli, cli->rest[0]);
    if (status != CLI_DONE) return status;
    if (options->dry_run) return dry_run(&sweeping);
    cli_progress_init(&sweeping.progress, cli);
    if (sweeping.progress.shows) sweeping.total = count_all(&sweeping);
    cli_stop_catch(NULL);
    result = update_states(&sweeping);
    cli_stop_release();
    cli_progress_clear(&sweeping.progress);
    return tell(&sweeping, result);
}

/* ---- purge ----------------------------------------------------------------------------------------------------- */

static const reeve_state dead[] = {REEVE_STATE_DEAD};
static const reeve_state ended[] = {REEVE_STATE_DEAD, REEVE_STATE_COMPLETED, REEVE_STATE_CANCELLED};

static int purge(cli_context *cli, void *options)
{
    static const cli_bulk_update_plan plan = {REEVE_ACTION_DELETE, "purged", dead, 1, ended, 3};
    const cli_bulk_update_options *given = options;
    bool may = !given->has_state || is_among(given->state, ended, 3);

    if (may && cli->count == 1 && strchr(cli->rest[0], '/') == NULL && !given->all && !is_filtered(given))
        return cli_usage(cli,
                         "which of the %s tasks of %s? --all for all of them, or pick some with %s--type, --tag or "
                         "--older-than",
                         reeve_state_name(given->has_state ? given->state : REEVE_STATE_DEAD), cli->rest[0],
                         given->has_state && given->state != REEVE_STATE_DEAD ? "" : "--kind, ");
    return cli_bulk_update(cli, &plan, options);
}

static const cli_option purge_table[] = {
    CLI_BULK_UPDATE_ALL("all tasks of the queue in the state"),
    CLI_BULK_UPDATE_STATE("tasks in this state: dead, completed or cancelled (dead)"),
    CLI_BULK_UPDATE_KIND,
    CLI_BULK_UPDATE_OTHERS(CLI_BULK_UPDATE_ENDED),
    {0},
};

const cli_verb cli_verb_purge = {
    .name = "purge",
    .section = CLI_CHANGES,
    .synopsis = "QUEUE --all | [--kind KIND] [--type TYPE] [--tag TAG] [--older-than DURATION] [--state STATE] "
                "[--dry-run]",
    .summary = "Deletes ended tasks of a queue: all in a state, or those that a filter selects",
    .options = purge_table,
    .options_size = sizeof(cli_bulk_update_options),
    .min = 1,
    .max = 1,
    .run = purge,
    .notes =
        "The command deletes all tasks of the queue in the state (--all), or those that a filter selects (--kind\n"
        "and so on); one of the two is required. It does not ask for confirmation. --dry-run changes nothing, and\n"
        "prints what would be deleted. At the end the command prints how many tasks it deleted, and how many it\n"
        "compared with the filter. On a terminal it also prints its progress.\n"
        "\n"
        "Examples:\n"
        "  reeve purge default --all --dry-run\n"
        "  reeve purge default --kind decode --older-than 30d\n"
        "  reeve purge default --state completed --type report\n",
};
