/*
 * task_info.c - a task as people see it: from the replies of show.lua and list.lua to reeve_task_info.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "protocol/definition.h"
#include "protocol/envelope.h"
#include "protocol/json_parse.h"
#include "protocol/option_read.h"
#include "protocol/task_options.h"

#define STATE(name, word, title) [REEVE_STATE_##name] = word,
static const char *const state_names[REEVE_STATE_COUNT] = {RV_STATES(STATE)};
#undef STATE

const char *reeve_state_name(reeve_state state)
{
    return (unsigned)state < REEVE_STATE_COUNT ? state_names[state] : "unknown";
}

reeve_status reeve_state_parse(const char *name, reeve_state *ret)
{
    for (int i = 0; name != NULL && i < REEVE_STATE_COUNT; i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *ret = (reeve_state)i;
            return REEVE_OK;
        }
    }
    return REEVE_EINVAL;
}

#define NOTHING(...)
#define FREE(field, name) rv_free(info->field);

void reeve_task_info_free(reeve_task_info *info)
{
    if (info == NULL) return;
    rv_free(info->queue);
    rv_free(info->id);
    rv_free(info->type);
    rv_free((void *)info->payload.data);
    rv_free((void *)info->result.data);
    rv_free(info->backoff);
    rv_free(info->error_kind);
    rv_free(info->error_message);
    rv_free(info->backtrace);
    rv_free(info->progress_words);
    rv_free(info->worker);
    rv_free(info->session);
    rv_free(info->tags);
    rv_free(info->limit_keys);
    rv_free(info->meta);
    for (size_t i = 0; i < info->log_count; i++) rv_free(info->log[i].text);
    rv_free(info->log);
    rv_free(info->history);
    rv_free(info->parents);
    rv_free(info->children);
    RV_TASK_OPTIONS_READ(NOTHING, NOTHING, NOTHING, FREE)
    rv_free(info->thread);
    rv_free(info->cancel_reason);
    rv_free(info);
}

/* A copy with a zero byte behind it, as everything in an info is. */
static bool copy_bytes(reeve_bytes *ret, const void *data, size_t length)
{
    char *copy = rv_strndup(data, length);
    if (copy == NULL) return false;
    ret->data = copy;
    ret->length = length;
    return true;
}

static bool copy_text(char **ret, const rv_reply *reply)
{
    rv_free(*ret);
    *ret = rv_strndup(reply->text, reply->length);
    return *ret != NULL;
}

/* Of a malformed task a field may be of another type: it is not shown. */
static bool copy_json(char **ret, const cJSON *item, bool is_type)
{
    if (!is_type) return true;
    char *text = cJSON_PrintUnformatted(item);
    *ret = rv_strdup(text);
    cJSON_free(text);
    return *ret != NULL;
}

static bool format_backoff(char **ret, const rv_task_policy *policy)
{
    rv_buf text;
    if (!policy->has_backoff) return true;
    rv_buf_init(&text, 1000);
    rv_backoff_text_format(&text, &policy->backoff);
    *ret = text.failed ? NULL : rv_strdup(rv_buf_text(&text));
    rv_buf_fini(&text);
    return *ret != NULL;
}

static bool copy_string(char **ret, const cJSON *item)
{
    if (!cJSON_IsString(item)) return true;
    *ret = rv_strdup(item->valuestring);
    return *ret != NULL;
}

#define WHOLE(field, name, min, max, type) info->field = (type)rv_option_read_int(json, name, min, max);
#define SPAN(field, name) info->field = rv_option_read_span(json, name);
#define FLAG(field, name) info->field = rv_option_read_flag(json, name);
#define TEXT(field, name) good = good && copy_string(&info->field, cJSON_GetObjectItemCaseSensitive(json, name));

/* Out of range is as a worker takes it: a larger number is the largest, a smaller one is not set. */
static bool read_options(reeve_task_info *info, const rv_envelope *envelope)
{
    cJSON *json;
    rv_task_policy policy;
    if (rv_json_parse(&json, envelope->header, envelope->header_length) == REEVE_ENOMEM) return false;
    bool good = true;
    RV_TASK_OPTIONS_READ(WHOLE, SPAN, FLAG, TEXT)
    if (info->weight == 0) info->weight = 1;
    const char *until = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "until"));
    info->unique_until_started = until != NULL && strcmp(until, "started") == 0;
    const cJSON *tags = cJSON_GetObjectItemCaseSensitive(json, "tags");
    const cJSON *limit_keys = cJSON_GetObjectItemCaseSensitive(json, "limit_keys");
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(json, "meta");
    const cJSON *reason = cJSON_GetObjectItemCaseSensitive(json, "reason");
    good =
        good && copy_json(&info->tags, tags, cJSON_IsArray(tags)) && copy_json(&info->meta, meta, cJSON_IsObject(meta));
    good = good && copy_json(&info->limit_keys, limit_keys, cJSON_IsArray(limit_keys));
    rv_task_policy_take(&policy, json); /* all zero when it is no header */
    good = good && format_backoff(&info->backoff, &policy) && copy_string(&info->cancel_reason, reason);
    cJSON_Delete(json);
    return good;
}

static bool read_envelope(reeve_task_info *info, const rv_reply *reply)
{
    rv_envelope envelope;
    /* An envelope that some other program broke is still shown, as a payload. */
    if (!rv_envelope_read(&envelope, reply->text, reply->length)) {
        info->type = rv_strdup("?");
        return info->type != NULL && copy_bytes(&info->payload, reply->text, reply->length);
    }
    info->type = rv_strndup(envelope.type, envelope.type_length);
    info->enqueued_ms = envelope.at_ms;
    if (envelope.deadline_ms > 0) info->deadline_ms = envelope.deadline_ms;
    info->cancelling = envelope.cancelled && info->state == REEVE_STATE_RUNNING;
    return info->type != NULL && copy_bytes(&info->payload, envelope.payload.data, envelope.payload.length) &&
           (envelope.plain || read_options(info, &envelope));
}

/* Lines of JSON become an array. */
static bool read_history(reeve_task_info *info, const rv_reply *lines)
{
    char *text = rv_alloc(lines->length + 3);
    if (text == NULL) return false;
    text[0] = '[';
    for (size_t i = 0; i < lines->length; i++) text[i + 1] = lines->text[i] == '\n' ? ',' : lines->text[i];
    text[lines->length + 1] = ']';
    text[lines->length + 2] = '\0';
    rv_free(info->history);
    info->history = text;
    return true;
}

/* The worker's id in a session's description. */
static bool read_worker(reeve_task_info *info, const rv_reply *about)
{
    cJSON *json;
    if (rv_json_parse(&json, about->text, about->length) == REEVE_ENOMEM) return false;
    rv_free(info->worker);
    info->worker = NULL;
    bool good = copy_string(&info->worker, cJSON_GetObjectItemCaseSensitive(json, "worker"));
    cJSON_Delete(json);
    return good;
}

/* A line of the log with its number. */
typedef struct log_line {
    long long number;
    reeve_log_line line;
} log_line;

/* "<number> <ms> <text>"; sort_log takes the number away. */
static bool add_log_line(reeve_task_info *info, const rv_reply *value)
{
    long long numbers[2]; /* its number, its time */
    if (!rv_parse_numbers(value->text, numbers, 2, NULL)) return true;
    reeve_log_line *log = rv_realloc_array(info->log, info->log_count + 1, sizeof(*log));
    if (log == NULL) return false;
    info->log = log;
    log[info->log_count] = (reeve_log_line){.time_ms = numbers[1], .text = rv_strndup(value->text, value->length)};
    return log[info->log_count++].text != NULL;
}

/* A lease, "<since ms> <thread>". */
static bool read_lease(reeve_task_info *info, const char *lease)
{
    char since[24];
    const char *thread = strchr(lease, ' ');
    rv_copy_text(since, sizeof(since), lease);
    since[strcspn(since, " ")] = '\0';
    (void)rv_parse_int(since, 0, INT64_MAX, &info->started_ms);
    if (thread == NULL) return true;
    rv_free(info->thread);
    info->thread = rv_strndup(thread + 1, strcspn(thread + 1, " "));
    return info->thread != NULL;
}

/* The last run of a completed task: its lease, a blank and the session, which begins with its worker's id. */
static bool read_run(reeve_task_info *info, const char *run)
{
    const char *session = strrchr(run, ' ');
    if (info->state != REEVE_STATE_COMPLETED || session == NULL) return true;
    rv_free(info->session);
    rv_free(info->worker);
    info->session = rv_strdup(session + 1);
    info->worker = rv_strndup(session + 1, strcspn(session + 1, "-"));
    return info->session != NULL && info->worker != NULL && read_lease(info, run);
}

static bool read_field(reeve_task_info *info, const rv_reply *name, const rv_reply *value)
{
    if (rv_reply_is_text(name, "failures"))
        info->failures = rv_reply_count(value);
    else if (rv_reply_is_text(name, "crashes"))
        info->crashes = rv_reply_count(value);
    else if (rv_reply_is_text(name, "snoozes"))
        info->snoozes = rv_reply_count(value);
    else if (rv_reply_is_text(name, "failed"))
        info->failed_ms = rv_reply_within(value, 0, RV_REPLY_NUMBER_MAX, -1);
    else if (rv_reply_is_text(name, "due"))
        info->due_ms = rv_reply_within(value, 0, RV_REPLY_NUMBER_MAX, -1);
    else if (rv_reply_is_text(name, "progress"))
        info->progress = (int)rv_reply_within(value, 0, 100, -1);
    else if (rv_reply_is_text(name, "kind"))
        return copy_text(&info->error_kind, value);
    else if (rv_reply_is_text(name, "message"))
        return copy_text(&info->error_message, value);
    else if (rv_reply_is_text(name, "backtrace"))
        return value->length == 0 || copy_text(&info->backtrace, value);
    else if (rv_reply_is_text(name, "progress_message"))
        return copy_text(&info->progress_words, value);
    else if (rv_reply_is_text(name, "result"))
        return copy_bytes(&info->result, value->text, value->length);
    else if (rv_reply_is_text(name, "history"))
        return read_history(info, value);
    else if (rv_reply_is_text(name, "parents"))
        return copy_text(&info->parents, value);
    else if (rv_reply_is_text(name, "children"))
        return copy_text(&info->children, value);
    else if (rv_reply_is_text(name, "parent_count"))
        info->parent_count = rv_reply_within(value, 0, RV_REPLY_NUMBER_MAX, -1);
    else if (rv_reply_is_text(name, "child_count"))
        info->child_count = rv_reply_within(value, 0, RV_REPLY_NUMBER_MAX, -1);
    else if (rv_reply_is_text(name, "run"))
        return read_run(info, value->text);
    else if (rv_reply_is_text(name, "about"))
        return read_worker(info, value);
    else if (rv_reply_is_text(name, "expires") || rv_reply_is_text(name, "stalled")) {
        info->lease_expires_ms = rv_reply_within(value, 0, RV_REPLY_NUMBER_MAX, -1);
        info->stalled = name->text[0] == 's';
    } else if (rv_reply_is_text(name, "checkpoint_bytes"))
        info->checkpoint_bytes = rv_reply_within(value, 0, RV_REPLY_NUMBER_MAX, -1);
    else if (rv_reply_is_text(name, "logged"))
        info->logged = rv_reply_sum(value);
    else if (strncmp(name->text, "log:", 4) == 0)
        return add_log_line(info, value);
    return true;
}

static int by_number(const void *a, const void *b)
{
    const log_line *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

/* They stand in a ring. */
static bool sort_log(reeve_task_info *info)
{
    log_line *lines = rv_zalloc_array(info->log_count + 1, sizeof(*lines));
    if (lines == NULL) return false;
    for (size_t i = 0; i < info->log_count; i++) {
        lines[i].line = info->log[i];
        (void)rv_parse_numbers(info->log[i].text, &lines[i].number, 1, NULL);
    }
    qsort(lines, info->log_count, sizeof(*lines), by_number);
    for (size_t i = 0; i < info->log_count; i++) {
        char *text = lines[i].line.text, *words = strchr(text, ' ');
        words = words != NULL ? strchr(words + 1, ' ') : NULL;
        if (words != NULL) memmove(text, words + 1, strlen(words));
        info->log[i] = lines[i].line;
    }
    rv_free(lines);
    return true;
}

/* Reads the state: for some states the score is a time; a lease is "<since ms> <thread>". */
static bool read_place(reeve_task_info *info, const rv_reply *score, const rv_reply *session, const rv_reply *lease)
{
    int64_t time = -1;
    (void)rv_parse_int(score->text, 0, INT64_MAX, &time);
    if (info->state == REEVE_STATE_SCHEDULED) info->due_ms = time;
    if (info->state >= REEVE_STATE_COMPLETED) info->ended_ms = time;
    if (info->state != REEVE_STATE_RUNNING) return true;
    return read_lease(info, lease->text) && copy_text(&info->session, session);
}

static bool fill(reeve_task_info *info, const char *queue, const rv_reply *reply)
{
    info->queue = rv_strdup(queue);
    if (info->queue != NULL) rv_partition_strip(info->queue);
    info->due_ms = info->started_ms = info->ended_ms = info->failed_ms = -1;
    info->progress = -1;
    info->checkpoint_bytes = info->deadline_ms = info->lease_expires_ms = -1;
    info->parent_count = info->child_count = -1;
    info->weight = 1;
    bool good = info->queue != NULL && copy_text(&info->id, reply->items[0]) && read_envelope(info, reply->items[2]);
    good = good && read_place(info, reply->items[3], reply->items[4], reply->items[5]);
    for (size_t i = 6; good && i + 1 < reply->count; i += 2)
        good = rv_reply_is(reply->items[i], RV_TEXT) && read_field(info, reply->items[i], reply->items[i + 1]);
    if (info->error_kind == NULL || strcmp(info->error_kind, "crash") != 0) { /* of an earlier failure */
        rv_free(info->backtrace);
        info->backtrace = NULL;
    }
    return good && (info->log_count == 0 || sort_log(info));
}

reeve_status rv_task_info_read(const char *queue, const rv_reply *reply, reeve_task_info **ret)
{
    reeve_state state;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 6) return REEVE_EPROTO;
    for (size_t i = 0; i < 6; i++) {
        if (!rv_reply_is(reply->items[i], RV_TEXT)) return REEVE_EPROTO;
    }
    if (reeve_state_parse(reply->items[1]->text, &state) != REEVE_OK) return REEVE_EPROTO;
    reeve_task_info *info = rv_zalloc(sizeof(*info));
    if (info == NULL) return REEVE_ENOMEM;
    info->state = state;
    if (!fill(info, queue, reply)) {
        reeve_task_info_free(info);
        return REEVE_ENOMEM;
    }
    *ret = info;
    return REEVE_OK;
}
