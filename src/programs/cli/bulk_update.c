/*
 * bulk_update.c - many tasks by a filter: by scripts that change some at a time, or by a call for each (bulk_each.c).
 */
#include "bulk_update.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/id.h"
#include "bulk_each.h"
#include "json.h"
#include "new_queue.h"
#include "progress.h"
#include "protocol/definition.h"
#include "stop.h"
#include "verbs.h"

struct bulk_update {
    cli_context *cli;
    const cli_bulk_update_plan *plan;
    cli_bulk_update_options options;
    const void *own; /* the options, as the verb gave them */
    const reeve_state *states;
    size_t state_count;
    reeve_bulk_result before; /* in the states that are through */
    reeve_bulk_result sums;   /* in all */
    uint64_t asked;           /* running tasks that were asked to stop, beside those that are done */
    cli_progress progress;
    uint64_t total;   /* how many there are to look at, about; 0: not known */
    rv_error refusal; /* of the first task that a call refused */
    cli_handle refused;
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

/* The states to go through. CLI_DONE, or CLI_USAGE after words: the filter selects no task in them. */
static int choose_states(struct bulk_update *update)
{
    const cli_bulk_update_plan *plan = update->plan;
    const cli_filter *filter = &update->options.filter;

    update->states = plan->states;
    update->state_count = plan->state_count;
    if (filter->all_states) {
        update->states = plan->allowed;
        update->state_count = plan->allowed_count - plan->named_count;
    } else if (filter->has_state) {
        update->states = &filter->state;
        update->state_count = 1;
    }
    return cli_filter_check_states(update->cli, update->states, update->state_count);
}

/* Whether a call is made for each task: scripts change no running ones. */
static bool is_by_call(const struct bulk_update *update)
{
    return update->plan->steps == NULL || update->states[0] == REEVE_STATE_RUNNING;
}

/* Whether the tasks are running ones that are only asked to stop. */
static bool is_asking(const struct bulk_update *update)
{
    return update->plan->asks && update->states[0] == REEVE_STATE_RUNNING;
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
    if (update->asked > 0)
        (void)fprintf(out, "; asked %s running task%s to stop", cli_count_text(update->asked, done),
                      update->asked == 1 ? "" : "s");
}

static void begin_json(const struct bulk_update *update, cli_json *json, const reeve_bulk_result *sums, uint64_t asked)
{
    cli_json_begin(json, stdout);
    cli_json_text(json, "queue", update->cli->rest[0]);
    cli_json_text(json, "action", update->cli->verb->name);
    cli_json_uint(json, "seen", sums->seen);
    cli_json_uint(json, "done", sums->done);
    cli_json_uint(json, "cancelling", asked);
    cli_json_uint(json, "refused", sums->refused);
    cli_json_bool(json, "dry_run", update->options.dry_run);
}

static void print_json(const struct bulk_update *update)
{
    cli_json json;

    begin_json(update, &json, &update->sums, update->asked);
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
    status = reeve_bulk_update(cli->client, cli->rest[0], *update->plan->steps, &filter, on_step, update, &sums);
    add_up(update, &sums);
    return status;
}

static reeve_status update_states(struct bulk_update *update)
{
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < update->state_count && status == REEVE_OK && !is_enough(update, update->sums.done); i++)
        status = update_state(update, update->states[i]);
    return status;
}

/* ---- a call for each ------------------------------------------------------------------------------------------- */

static bool goes_on(void *user)
{
    struct bulk_update *update = user;

    show_progress(update);
    return cli_stop_signal() == 0;
}

/* A call has failed. Returns REEVE_OK unless that ends the work. A task that has left its state is left out. */
static reeve_status count_refusal(struct bulk_update *update, const cli_bulk_each *each, const cli_handle *handle,
                                  reeve_state state, reeve_status status)
{
    rv_error why = {.status = status};

    if (!cli_bulk_each_is_of_task(status)) return status;
    rv_copy_text(why.text, sizeof(why.text), reeve_client_error(update->cli->client));
    if (status == REEVE_ENOTFOUND || (status == REEVE_ESTATE && cli_bulk_each_has_left(each, handle, state)))
        return REEVE_OK;
    if (update->sums.refused++ > 0) return REEVE_OK;
    update->refusal = why;
    update->refused = *handle;
    return REEVE_OK;
}

static reeve_status call_each(struct bulk_update *update, const cli_bulk_each *each)
{
    reeve_status status = REEVE_OK;
    cli_handle handle;
    reeve_state state = REEVE_STATE_READY;
    const char *id;
    size_t place = 0;

    rv_copy_text(handle.queue, sizeof(handle.queue), update->cli->rest[0]);
    while (status == REEVE_OK && (id = cli_bulk_each_next(each, &place, &state)) != NULL) {
        bool running = false;

        if (!goes_on(update)) return REEVE_EINTERRUPTED;
        rv_copy_text(handle.id, sizeof(handle.id), id);
        status = update->plan->call(update->cli->client, &handle, update->own, &running);
        if (status == REEVE_OK && running)
            update->asked++;
        else if (status == REEVE_OK)
            update->sums.done++;
        else
            status = count_refusal(update, each, &handle, state, status);
    }
    return status;
}

static uint64_t count_changed(const struct bulk_update *update)
{
    return update->sums.done + update->asked;
}

static reeve_status update_by_calls(struct bulk_update *update)
{
    cli_bulk_each each;
    reeve_status status;

    cli_bulk_each_init(&each, update->cli, &update->options.filter, update->states, update->state_count);
    do {
        uint64_t left = update->options.limit > 0 ? (uint64_t)update->options.limit - count_changed(update) : 0;

        status = cli_bulk_each_find(&each, left, goes_on, update);
        update->sums.seen = each.seen;
        if (status == REEVE_OK) status = call_each(update, &each);
    } while (status == REEVE_OK && each.count > 0 && !is_enough(update, count_changed(update)));
    cli_bulk_each_fini(&each);
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
    reeve_status status = reeve_bulk_update_preview(update->cli->client, update->cli->rest[0], *update->plan->steps,
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
    const uint64_t asked = is_asking(update) ? all->found.done : 0;
    const reeve_bulk_result sums = {.seen = all->found.seen, .done = all->found.done - asked};
    cli_json json;
    rv_buf first;

    begin_json(update, &json, &sums, asked);
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
                 cli_count_text(all->found.seen, seen), is_asking(update) ? "asked to stop" : update->plan->done);
    for (size_t i = 0; i < all->count; i++) (void)printf("  %s/%s\n", update->cli->rest[0], all->ids[i]);
    if (all->found.done > all->count)
        (void)printf("  and %s more\n", cli_count_text(all->found.done - all->count, done));
}

static bool always(void *user)
{
    (void)user;
    return true;
}

/* The same for tasks of all states for which calls are made. */
static reeve_status look_at_each(const struct bulk_update *update, struct preview *all)
{
    cli_bulk_each each;
    reeve_state state;
    const char *id;
    size_t place = 0;
    reeve_status status;

    cli_bulk_each_init(&each, update->cli, &update->options.filter, update->states, update->state_count);
    status = cli_bulk_each_find(&each, (uint64_t)update->options.limit, always, NULL);
    all->found = (reeve_bulk_result){.seen = each.seen, .done = each.count};
    while (all->count < REEVE_PREVIEW_MAX && (id = cli_bulk_each_next(&each, &place, &state)) != NULL)
        rv_copy_text(all->ids[all->count++], sizeof(all->ids[0]), id);
    cli_bulk_each_fini(&each);
    return status;
}

static int dry_run(const struct bulk_update *update)
{
    struct preview all = {.count = 0};
    reeve_status status = REEVE_OK;

    if (is_by_call(update)) status = look_at_each(update, &all);
    for (size_t i = 0; !is_by_call(update) && i < update->state_count; i++) {
        if (status != REEVE_OK || is_enough(update, all.found.done)) break;
        status = look_at_state(update, update->states[i], &all);
    }
    if (status != REEVE_OK) return cli_fail_call(update->cli, status, update->cli->rest[0]);
    print_preview(update, &all);
    return CLI_DONE;
}

static int tell_refused(const struct bulk_update *update)
{
    const cli_context *cli = update->cli;
    char name[REEVE_HANDLE_MAX + 1];

    if (is_by_call(update)) {
        cli_handle_text(&update->refused, name);
        return cli_fault_say(
            cli, CLI_REFUSED, &(cli_fault){.code = cli_code_of(update->refusal.status), .handle = name},
            update->sums.refused == 1 ? "refused: %s" : "refused: %s; others, too", update->refusal.text);
    }
    if (*update->plan->steps != REEVE_ACTION_RETRY)
        return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "state"},
                             "refused: other tasks wait for these; with a HANDLE, --cascade takes them along");
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "unique"},
                         "refused: the unique key of a task is held by another one by now, or the task is malformed");
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
    return update->sums.refused == 0 ? CLI_DONE : tell_refused(update);
}

static int run(struct bulk_update *update)
{
    cli_context *cli = update->cli;
    reeve_status result;

    if (update->options.dry_run) return dry_run(update);
    cli_progress_init(&update->progress, cli);
    if (update->progress.shows)
        update->total =
            cli_filter_count(cli, &update->options.filter, cli->rest[0], update->states, update->state_count);
    cli_stop_catch(NULL);
    result = is_by_call(update) ? update_by_calls(update) : update_states(update);
    cli_stop_release();
    cli_progress_clear(&update->progress);
    return tell(update, result);
}

int cli_bulk_update_queue(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options)
{
    struct bulk_update update = {.cli = cli, .plan = plan, .options = *options, .own = options};
    int status = check(cli, plan, options);

    if (status == CLI_DONE) status = choose_states(&update);
    if (status == CLI_DONE) status = cli_open_known_queue(cli, cli->rest[0]);
    if (status == CLI_DONE) status = cli_filter_resolve(cli, &update.options.filter);
    return status == CLI_DONE ? run(&update) : status;
}

/* ---- handles, or a queue --------------------------------------------------------------------------------------- */

/* An argument that can only be a queue: say what is missing. */
static int check_no_queue(const cli_context *cli, const cli_bulk_update_plan *plan)
{
    const char *which = plan->state_count == 1                  ? reeve_state_name(plan->states[0])
                        : plan->state_count < REEVE_STATE_COUNT ? "waiting"
                                                                : "its";

    for (size_t i = 0; i < cli->count; i++) {
        const char *text = cli->rest[i];

        if (strcmp(text, "-") == 0 || !rv_valid_queue(text, strlen(text))) continue;
        return cli_usage(cli,
                         "\"%s\" is no task but may be a queue: which of its tasks? --all for all %s tasks, or pick "
                         "some with --%s, --%s, --older-than or the like; one task is named QUEUE/ID",
                         text, which, cli_filter_option(cli, CLI_FILTER_AT(type)),
                         cli_filter_option(cli, CLI_FILTER_AT(kind)));
    }
    return CLI_DONE;
}

int cli_bulk_update(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options)
{
    int status;

    if (options->all || cli_filter_is_set(&options->filter))
        return options->cascade ? cli_usage(cli, "--cascade goes with a HANDLE")
                                : cli_bulk_update_queue(cli, plan, options);
    if (options->dry_run)
        return cli_usage(cli, "--dry-run goes with a QUEUE and --all, or options that pick some of its tasks");
    if (options->filter.has_state)
        return cli_usage(cli, "--state alone picks no tasks: --all for all in that state, or pick some of them");
    if (options->limit > 0) return cli_usage(cli, "--limit goes with a QUEUE and options that pick some of its tasks");
    status = check_no_queue(cli, plan);
    if (status != CLI_DONE) return status;
    return cli_control(cli, plan->done_one != NULL ? plan->done_one : plan->done, plan->call, options);
}
