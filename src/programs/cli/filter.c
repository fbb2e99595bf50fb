#include "filter.h"

#include <string.h>

#include "args.h"
#include "base/error.h"
#include "base/id.h"
#include "protocol/definition.h"

int cli_filter_read_state(const cli_context *cli, const cli_option *option, void *options, char *value)
{
    cli_filter *filter = options;

    filter->has_state = true;
    filter->all_states = strcmp(value, "all") == 0;
    if (filter->all_states || reeve_state_parse(value, &filter->state) == REEVE_OK) return CLI_DONE;
    return cli_bad_value(cli, option, value, RV_ALL_STATES_TEXT ", or all");
}

int cli_filter_read_meta(const cli_context *cli, const cli_option *option, void *options, char *value)
{
    cli_filter *filter = options;
    char *equals = strchr(value, '=');

    if (filter->meta_count == REEVE_FILTER_META_MAX)
        return cli_usage(cli, "--%s: at most %d of them", option->name, REEVE_FILTER_META_MAX);
    if (equals == NULL || equals == value) return cli_bad_value(cli, option, value, "KEY=VALUE");
    *equals = '\0';
    filter->meta[filter->meta_count++] = (reeve_meta){value, equals + 1};
    return CLI_DONE;
}

static bool has_times(const cli_filter *filter)
{
    return filter->older_ms > 0 || filter->enqueued_after_ms > 0 || filter->enqueued_before_ms > 0 ||
           filter->due_after_ms > 0 || filter->due_before_ms > 0 || filter->ended_after_ms > 0 ||
           filter->ended_before_ms > 0;
}

bool cli_filter_is_set(const cli_filter *filter)
{
    return filter->kind != NULL || filter->type != NULL || filter->tag != NULL || filter->group != NULL ||
           filter->id_prefix != NULL || filter->payload_has != NULL || filter->worker != NULL ||
           filter->meta_count > 0 || filter->failed || filter->not_failed || has_times(filter);
}

const char *cli_filter_option(const cli_context *cli, size_t at)
{
    for (const cli_option *option = cli->verb->options; option->name != NULL; option++)
        if (option->kind == CLI_TEXT && option->at == at) return option->name;
    return "state";
}

/* An option of the verb that holds a text of the filter, which must not be empty. */
static int check_text(const cli_context *cli, const cli_option *option, const cli_filter *filter)
{
    static const size_t places[] = {CLI_FILTER_AT(tag), CLI_FILTER_AT(group), CLI_FILTER_AT(id_prefix),
                                    CLI_FILTER_AT(payload_has), CLI_FILTER_AT(worker)};

    if (option->kind != CLI_TEXT) return CLI_DONE;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const char *text;

        if (option->at != places[i]) continue;
        memcpy(&text, (const char *)filter + places[i], sizeof(text));
        if (text != NULL && text[0] == '\0') return cli_usage(cli, "--%s: the text is empty", option->name);
    }
    return CLI_DONE;
}

int cli_filter_check(const cli_context *cli, const cli_filter *filter)
{
    int status = CLI_DONE;

    for (const cli_option *option = cli->verb->options; option->name != NULL && status == CLI_DONE; option++)
        status = check_text(cli, option, filter);
    if (status == CLI_DONE && filter->failed && filter->not_failed)
        return cli_usage(cli, "--failed and --not-failed: give one of them");
    return status;
}

/* ---- filters for some states ----------------------------------------------------------------------------------- */

#define STATE(name) REEVE_STATE_##name,

static const struct state_filter {
    const char *names[2]; /* of options */
    reeve_state states[REEVE_STATE_COUNT];
    size_t count;
    const char *text;
} state_filters[] = {
    {{"due-after", "due-before"}, {REEVE_STATE_SCHEDULED}, 1, "scheduled"},
    {{"ended-after", "ended-before"}, {RV_ENDED_STATES(STATE)}, 3, RV_ENDED_STATES_TEXT},
    {{"worker", NULL}, {REEVE_STATE_RUNNING, REEVE_STATE_COMPLETED}, 2, "running or completed"},
};

#define STATE_FILTERS (sizeof(state_filters) / sizeof(state_filters[0]))

static bool selects_any(const struct state_filter *row, const reeve_state *states, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < row->count; j++)
            if (states[i] == row->states[j]) return true;
    return false;
}

static const struct state_filter *find_row(const char *name)
{
    for (size_t i = 0; i < STATE_FILTERS; i++)
        for (size_t j = 0; j < 2 && state_filters[i].names[j] != NULL; j++)
            if (strcmp(state_filters[i].names[j], name) == 0) return &state_filters[i];
    return NULL;
}

const char *cli_filter_only(const char *name, const reeve_state *states, size_t count)
{
    const struct state_filter *row = find_row(name);

    return row != NULL && !selects_any(row, states, count) ? row->text : NULL;
}

int cli_filter_check_states(const cli_context *cli, const reeve_state *states, size_t count)
{
    for (const cli_option *option = cli->verb->options; option->name != NULL; option++) {
        const char *only = cli_filter_only(option->name, states, count);

        if (only != NULL && cli_was_given(cli, option->name))
            return cli_usage(cli, "--%s selects only tasks with --state %s", option->name, only);
    }
    return CLI_DONE;
}

static bool has_filters(const cli_verb *verb)
{
    for (const cli_option *option = verb->options; option != NULL && option->name != NULL; option++)
        if (option->read == cli_filter_read_meta) return true;
    return false;
}

const char *cli_filter_missing(const cli_verb *verb, const char *option)
{
    return verb == NULL || !has_filters(verb) ? NULL : cli_filter_only(option, NULL, 0);
}

int cli_filter_resolve(const cli_context *cli, cli_filter *filter)
{
    reeve_worker_info *list = NULL;
    size_t count = 0;
    reeve_status status;

    if (filter->worker == NULL) return CLI_DONE;
    status = reeve_workers(cli->client, &list, &count);
    if (status != REEVE_OK) return cli_fail_call(cli, status, NULL);
    rv_copy_text(filter->worker_id, sizeof(filter->worker_id), filter->worker);
    for (size_t i = 0; i < count; i++)
        if (list[i].name != NULL && list[i].id != NULL && strcmp(list[i].name, filter->worker) == 0)
            rv_copy_text(filter->worker_id, sizeof(filter->worker_id), list[i].id);
    reeve_workers_free(list, count);
    filter->worker = filter->worker_id;
    return CLI_DONE;
}

reeve_filter cli_filter_in(const cli_filter *filter, reeve_state state)
{
    return (reeve_filter){.size = sizeof(reeve_filter),
                          .state = state,
                          .kind = filter->kind,
                          .type = filter->type,
                          .tag = filter->tag,
                          .older_ms = filter->older_ms,
                          .group = filter->group,
                          .id_prefix = filter->id_prefix,
                          .payload_has = filter->payload_has,
                          .meta = filter->meta,
                          .meta_count = filter->meta_count,
                          .worker = filter->worker,
                          .failed = filter->failed       ? REEVE_FAILED_YES
                                    : filter->not_failed ? REEVE_FAILED_NO
                                                         : REEVE_FAILED_ANY,
                          .enqueued_from_ms = filter->enqueued_after_ms,
                          .enqueued_to_ms = filter->enqueued_before_ms,
                          .due_from_ms = filter->due_after_ms,
                          .due_to_ms = filter->due_before_ms,
                          .ended_from_ms = filter->ended_after_ms,
                          .ended_to_ms = filter->ended_before_ms};
}

uint64_t cli_filter_count(const cli_context *cli, const cli_filter *filter, const char *queue,
                          const reeve_state *states, size_t count)
{
    reeve_task_info **page = NULL;
    reeve_queue_info info;
    uint64_t total = 0, dead = 0;
    size_t length = 0;

    if (reeve_queue(cli->client, queue, &info) != REEVE_OK) return 0;
    if (filter->kind != NULL &&
        reeve_list_kind(cli->client, queue, filter->kind, 0, 1, &page, &length, &dead) == REEVE_OK) {
        reeve_task_list_free(page, length);
        info.count[REEVE_STATE_DEAD] = dead;
    }
    for (size_t i = 0; i < count; i++) total += info.count[states[i]];
    return total;
}
