#include "web_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static const cli_option rows[] = {CLI_FILTER_ROWS("", ""), CLI_FILTER_WORKER(""), CLI_FILTER_DUE, CLI_FILTER_ENDED};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Reading one filter. */
struct reading {
    web_call *call;
    web_filter *filter;
    bool good;
    bool seen[ROWS + 1]; /* the last one: state */
};

static void refuse(struct reading *reading, const char *name, const char *expected)
{
    if (reading->good) web_refuse(reading->call, 400, "invalid", "%.40s: expected %s", name, expected);
    reading->good = false;
}

/* A copy of a value, which lives as long as the filter. */
static char *keep(struct reading *reading, const char *name, const char *value, bool encoded)
{
    web_filter *filter = reading->filter;
    char *at = filter->text + filter->used;
    size_t room = sizeof(filter->text) - filter->used, length = strlen(value);
    bool fits = encoded ? rv_http_path_decode(at, room, value, length) : length < room;

    if (!fits || !rv_utf8_is_valid(encoded ? at : value, strlen(encoded ? at : value))) {
        refuse(reading, name, "a shorter text, UTF-8");
        return NULL;
    }
    if (!encoded) memcpy(at, value, length + 1);
    filter->used += strlen(at) + 1;
    return at;
}

static void read_state(struct reading *reading, const char *value)
{
    cli_filter *filter = &reading->filter->filter;

    filter->has_state = true;
    filter->all_states = strcmp(value, "all") == 0;
    if (!filter->all_states && reeve_state_parse(value, &filter->state) != REEVE_OK)
        refuse(reading, "state", "a state, or all");
}

static void read_meta(struct reading *reading, char *value)
{
    cli_filter *filter = &reading->filter->filter;
    char *equals = strchr(value, '=');

    if (filter->meta_count == REEVE_FILTER_META_MAX || equals == NULL || equals == value) {
        refuse(reading, "meta", "KEY=VALUE, at most eight of them");
        return;
    }
    *equals = '\0';
    filter->meta[filter->meta_count++] = (reeve_meta){value, equals + 1};
}

static void set_row(struct reading *reading, const cli_option *row, char *value)
{
    char *at = (char *)&reading->filter->filter + row->at;

    switch (row->kind) {
    case CLI_TEXT:
        *(const char **)(void *)at = value;
        if (value[0] == '\0') refuse(reading, row->name, "a text that is not empty");
        break;
    case CLI_FLAG:
        *(bool *)(void *)at = strcmp(value, "false") != 0 && strcmp(value, "0") != 0;
        break;
    case CLI_DURATION:
        if (!rv_parse_duration(value, (int64_t *)(void *)at) || *(int64_t *)(void *)at < row->min)
            refuse(reading, row->name, "a duration, " RV_DURATION_EXAMPLES);
        break;
    case CLI_TIME:
        if (!rv_parse_time(value, (int64_t *)(void *)at)) refuse(reading, row->name, "a time, as 2026-11-21T09:00:00Z");
        break;
    default:
        read_meta(reading, value);
    }
}

/* A member that is given twice would silently replace the first. */
static bool is_first(struct reading *reading, const char *name, size_t row)
{
    bool first = !reading->seen[row] || strcmp(name, "meta") == 0;

    if (!first) refuse(reading, name, "one value");
    reading->seen[row] = true;
    return first;
}

/* An unknown name is refused: without it, the filter would select more than was meant. */
static void read_one(struct reading *reading, const char *name, const char *value, bool encoded)
{
    size_t row = 0;
    bool is_state = strcmp(name, "state") == 0;

    if (!reading->good) return;
    while (row < ROWS && (is_state || strcmp(rows[row].name, name) != 0)) row++;
    if (row == ROWS && !is_state) {
        refuse(reading, name, "a filter's name: state, type, kind, tag, group, meta, ... (docs/guide/web.md)");
        return;
    }
    char *kept = is_first(reading, name, row) ? keep(reading, name, value, encoded) : NULL;
    if (kept == NULL) return;
    if (is_state)
        read_state(reading, kept);
    else
        set_row(reading, &rows[row], kept);
}

/* The parameters of the page stand beside those of the filter. */
static void read_query(void *user, const char *name, const char *value)
{
    if (strcmp(name, "limit") != 0 && strcmp(name, "cursor") != 0) read_one(user, name, value, true);
}

/* A filter that selects no task in the state selects nothing, silently. */
static void check_state(struct reading *reading)
{
    const cli_filter *filter = &reading->filter->filter;

    for (size_t row = 0; row < ROWS && filter->has_state && !filter->all_states && reading->good; row++) {
        const char *only = reading->seen[row] ? cli_filter_only(rows[row].name, &filter->state, 1) : NULL;
        if (only == NULL) continue;
        web_refuse(reading->call, 400, "invalid", "%s selects only tasks with the state %s", rows[row].name, only);
        reading->good = false;
    }
}

static bool check(struct reading *reading)
{
    const cli_filter *filter = &reading->filter->filter;
    const web_options *options = &reading->call->web->options;

    check_state(reading);
    if (filter->payload_has != NULL && (options->hide_payloads || options->redact != NULL) && reading->good) {
        web_refuse(reading->call, 403, "forbidden",
                   "payload-has: this server hides payloads, so it does not search them");
        reading->good = false;
    }
    if (filter->failed && filter->not_failed) refuse(reading, "failed", "one of failed and not-failed");
    return reading->good;
}

bool web_filter_from_query(web_call *call, web_filter *ret)
{
    struct reading reading = {.call = call, .filter = ret, .good = true};

    memset(ret, 0, sizeof(*ret));
    rv_http_server_each_query(call->http, read_query, &reading);
    return check(&reading);
}

static void read_member(struct reading *reading, const char *name, const cJSON *value)
{
    const cJSON *element;

    if (cJSON_IsString(value)) {
        read_one(reading, name, value->valuestring, false);
    } else if (cJSON_IsBool(value)) {
        read_one(reading, name, cJSON_IsTrue(value) ? "true" : "false", false);
    } else if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach(element, value) read_member(reading, name, cJSON_IsString(element) ? element : NULL);
    } else {
        refuse(reading, name, "a text");
    }
}

bool web_filter_from_object(web_call *call, const cJSON *object, web_filter *ret)
{
    struct reading reading = {.call = call, .filter = ret, .good = object == NULL || cJSON_IsObject(object)};
    const cJSON *member;

    memset(ret, 0, sizeof(*ret));
    if (!reading.good) web_refuse(call, 400, "invalid", "\"filter\": expected an object");
    if (!reading.good) return false;
    cJSON_ArrayForEach(member, object) read_member(&reading, member->string, member);
    return check(&reading);
}

bool web_filter_resolve(web_call *call, web_filter *filter)
{
    reeve_worker_info *list = NULL;
    size_t count = 0;
    cli_filter *of = &filter->filter;

    if (of->worker == NULL) return true;
    reeve_status status = reeve_workers(call->client, &list, &count);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return false;
    }
    rv_copy_text(of->worker_id, sizeof(of->worker_id), of->worker);
    for (size_t i = 0; i < count; i++)
        if (list[i].name != NULL && list[i].id != NULL && strcmp(list[i].name, of->worker) == 0)
            rv_copy_text(of->worker_id, sizeof(of->worker_id), list[i].id);
    reeve_workers_free(list, count);
    of->worker = of->worker_id;
    return true;
}
