#include "task_view.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "bytes_view.h"
#include "history.h"
#include "protocol/task_options.h"
#include "when.h"
#include "why_view.h"

static void add_bytes(cli_fields *fields, const char *name, reeve_bytes bytes)
{
    rv_buf buf;

    rv_buf_init(&buf, CLI_BYTES_PREVIEW_MAX);
    cli_bytes_preview(&buf, bytes);
    if (buf.failed)
        fields->failed = true;
    else
        cli_fields_add(fields, name, rv_buf_text(&buf));
    rv_buf_fini(&buf);
}

static void add_time(cli_fields *fields, const char *name, int64_t time_ms)
{
    char text[CLI_WHEN_TEXT];

    cli_time_text(time_ms, rv_wall_ms(), text);
    if (text[0] != '\0') cli_fields_add(fields, name, text);
}

static void add_span(cli_fields *fields, const char *name, int64_t ms)
{
    char text[CLI_WHEN_TEXT];

    if (ms <= 0) return;
    cli_duration_text(ms, text);
    cli_fields_add(fields, name, text);
}

static void add_count(cli_fields *fields, const char *name, unsigned count, int max)
{
    if (count == 0 && max == 0) return;
    if (max > 0)
        cli_fields_addf(fields, name, "%u of %d", count, max);
    else
        cli_fields_addf(fields, name, "%u", count);
}

static void add_state(cli_fields *fields, const reeve_task_info *info)
{
    cli_fields_add(fields, "state", reeve_state_name(info->state));
    if (info->progress >= 0)
        cli_fields_addf(fields, "progress", "%d %%%s%.200s", info->progress, info->progress_words == NULL ? "" : " ",
                        info->progress_words == NULL ? "" : info->progress_words);
    add_time(fields, "due", info->due_ms);
    if (info->state < REEVE_STATE_RUNNING) add_time(fields, "deadline", info->deadline_ms);
    add_time(fields, "started", info->started_ms);
    add_time(fields, "ended", info->ended_ms);
    if (info->state == REEVE_STATE_COMPLETED && info->started_ms >= 0 && info->ended_ms >= info->started_ms)
        cli_fields_addf(fields, "ran", "%" PRId64 " ms", info->ended_ms - info->started_ms);
}

/* The age of a lease is that of "started". */
static void add_lease(cli_fields *fields, const reeve_task_info *info)
{
    char time[CLI_WHEN_TEXT];

    if (info->lease_expires_ms < 0) return;
    cli_time_text(info->lease_expires_ms, rv_wall_ms(), time);
    if (!info->stalled)
        cli_fields_addf(fields, "lease", "until %s, unless prolonged", time);
    else if (info->lease_expires_ms == 0)
        cli_fields_add(fields, "lease", "stalled: it is being taken back from a dead worker");
    else
        cli_fields_addf(fields, "lease", "stalled: it ended %s; its worker is gone", time);
}

static void add_failure(cli_fields *fields, const reeve_task_info *info)
{
    add_count(fields, "failures", info->failures, info->attempts);
    add_count(fields, "crashes", info->crashes, info->max_crashes);
    add_count(fields, "snoozes", info->snoozes, info->max_snoozes);
    cli_fields_add(fields, "error kind", info->error_kind);
    cli_fields_add(fields, "error", info->error_message);
    cli_fields_add(fields, "backtrace", info->backtrace);
    add_time(fields, "failed", info->failed_ms);
    if (info->state == REEVE_STATE_CANCELLED || info->cancelling) cli_fields_add(fields, "reason", info->cancel_reason);
}

static void add_history(cli_fields *fields, const reeve_task_info *info)
{
    rv_buf buf;

    if (info->history == NULL) return;
    rv_buf_init(&buf, 65536);
    cli_history_add(&buf, info->history);
    if (buf.failed)
        fields->failed = true;
    else if (buf.length > 0)
        cli_fields_add(fields, "history", rv_buf_text(&buf));
    rv_buf_fini(&buf);
}

static void add_result(cli_fields *fields, const reeve_task_info *info)
{
    if (info->result.data != NULL) add_bytes(fields, "result", info->result);
}

/* Handles, with what is told of them: of parents, how they ended, and the rule. From JSON, whose names are known. */
#define FAMILY_SHOWN 10

const char *cli_parent_state(const cJSON *parent, const reeve_why *why)
{
    const char *handle = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parent, "handle"));
    const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parent, "state"));

    if (state != NULL || handle == NULL || why == NULL) return state;
    for (size_t i = 0; i < why->count; i++) {
        const reeve_reason *reason = &why->reasons[i];

        if (reason->kind == REEVE_REASON_PARENT && reason->handle != NULL && strcmp(reason->handle, handle) == 0)
            return reason->state;
    }
    return NULL;
}

/* Of a parent that has not ended as the task sees it. */
static void add_open(rv_buf *buf, const char *state)
{
    if (state == NULL)
        rv_buf_adds(buf, "has not ended");
    else if (strcmp(state, "dead") == 0 || strcmp(state, "cancelled") == 0)
        rv_buf_addf(buf, "%s, waits for a retry of it", state);
    else if (strcmp(state, "gone") == 0)
        rv_buf_adds(buf, "does not exist");
    else
        rv_buf_adds(buf, state);
}

static void add_member(rv_buf *buf, const cJSON *member, const reeve_why *why)
{
    const char *ended = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(member, "ended"));
    const char *rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(member, "on_death"));
    const cJSON *name = cJSON_IsObject(member) ? cJSON_GetObjectItemCaseSensitive(member, "handle") : member;
    const char *handle = cJSON_GetStringValue(name);

    rv_buf_adds(buf, handle != NULL ? handle : "?");
    if (rule == NULL) return;
    rv_buf_adds(buf, " (");
    if (ended != NULL)
        rv_buf_adds(buf, ended);
    else
        add_open(buf, handle != NULL && handle[0] == '!' ? NULL : cli_parent_state(member, why));
    if (strcmp(rule, "fail") != 0) rv_buf_addf(buf, "; on death: %s", rule);
    rv_buf_addc(buf, ')');
}

static void add_family(cli_fields *fields, const char *name, const char *text, int64_t count, const reeve_why *why)
{
    cJSON *list = cJSON_Parse(text);
    const cJSON *member;
    int64_t shown = 0;
    rv_buf buf;

    rv_buf_init(&buf, (size_t)FAMILY_SHOWN * 512);
    cJSON_ArrayForEach(member, list)
    {
        if (shown == FAMILY_SHOWN) break;
        if (shown++ > 0) rv_buf_adds(&buf, "\n");
        add_member(&buf, member, why);
    }
    if (count > shown) rv_buf_addf(&buf, "\n(%" PRId64 " more)", count - shown);
    if (buf.failed)
        fields->failed = true;
    else if (shown > 0)
        cli_fields_add(fields, name, rv_buf_text(&buf));
    rv_buf_fini(&buf);
    cJSON_Delete(list);
}

static void add_weight(cli_fields *fields, const reeve_task_info *info)
{
    if (info->weight > 1) cli_fields_addf(fields, "weight", "%u", info->weight);
}

static void add_unique_until(cli_fields *fields, const reeve_task_info *info)
{
    if (info->unique_until_started) cli_fields_add(fields, "unique until", "it has started");
}

static void add_on_dead(cli_fields *fields, const reeve_task_info *info)
{
    if (info->on_dead != NULL) cli_fields_add(fields, "on dead", info->on_dead[0] == '\0' ? "none" : info->on_dead);
}

#define WHOLE(field, name) \
    if (info->field != 0) cli_fields_addf(fields, name, "%d", info->field);
#define SPAN(field, name) add_span(fields, name, info->field);
#define FLAG(field, name, words) \
    if (info->field) cli_fields_add(fields, name, words);
#define TEXT(field, name) cli_fields_add(fields, name, info->field);
#define OWN(name) add_##name(fields, info);

static void add_options(cli_fields *fields, const reeve_task_info *info, const reeve_why *why)
{
    RV_TASK_OPTIONS_VIEW(WHOLE, SPAN, FLAG, TEXT, OWN)
    add_family(fields, "after", info->parents, info->parent_count, why);
    add_family(fields, "before", info->children, info->child_count, NULL);
}

/* What may be done about it. */
static void add_hint(cli_fields *fields, const reeve_task_info *info)
{
    switch (info->state) {
    case REEVE_STATE_RUNNING:
        if (info->stalled)
            cli_fields_add(fields, "hint",
                           "it goes back to the queue when a worker serves that, or by another command");
        else if (info->cancelling)
            cli_fields_add(fields, "hint", "it was cancelled, and told to stop");
        break;
    case REEVE_STATE_DEAD:
    case REEVE_STATE_CANCELLED:
        if (info->error_kind != NULL && strcmp(info->error_kind, "malformed") == 0)
            cli_fields_add(fields, "hint", "it cannot be retried: enqueue it anew");
        else
            cli_fields_addf(fields, "hint", "run it again with: reeve retry %s/%s", info->queue, info->id);
        break;
    case REEVE_STATE_SCHEDULED:
        cli_fields_addf(fields, "hint", "run it now with: reeve reschedule %s/%s --now", info->queue, info->id);
        break;
    case REEVE_STATE_PARKED:
        cli_fields_addf(fields, "hint", "its group, type or limit key is at its limit or held; see: reeve limit %s",
                        info->queue);
        break;
    default:
        break;
    }
}

static bool finish(cli_fields *fields, FILE *out)
{
    bool printed = cli_fields_print(fields, out);

    cli_fields_fini(fields);
    return printed;
}

static void add_why(cli_fields *fields, const reeve_why *why)
{
    rv_buf words;

    if (why == NULL) return;
    rv_buf_init(&words, 65536);
    cli_why_words(&words, why);
    if (words.failed)
        fields->failed = true;
    else
        cli_fields_add(fields, "why", rv_buf_text(&words));
    rv_buf_fini(&words);
}

bool cli_task_fields(const reeve_task_info *info, const reeve_why *why, FILE *out)
{
    cli_fields fields;

    cli_fields_init(&fields);
    cli_fields_addf(&fields, "handle", "%s/%s", info->queue, info->id);
    cli_fields_add(&fields, "type", info->type);
    add_time(&fields, "enqueued", info->enqueued_ms);
    add_options(&fields, info, why);
    add_state(&fields, info);
    cli_fields_add(&fields, "worker", info->worker);
    cli_fields_add(&fields, "thread", info->thread);
    cli_fields_add(&fields, "session", info->session);
    add_lease(&fields, info);
    add_failure(&fields, info);
    add_history(&fields, info);
    add_bytes(&fields, "payload", info->payload);
    add_result(&fields, info);
    if (info->checkpoint_bytes >= 0)
        cli_fields_addf(&fields, "checkpoint", "%" PRId64 " bytes", info->checkpoint_bytes);
    if (info->logged > 0) cli_fields_addf(&fields, "log", "%" PRIu64 " lines; --log shows the last", info->logged);
    add_why(&fields, why);
    add_hint(&fields, info);
    return finish(&fields, out);
}

bool cli_task_outcome_fields(const reeve_task_info *info, FILE *out)
{
    cli_fields fields;

    cli_fields_init(&fields);
    add_state(&fields, info);
    add_failure(&fields, info);
    add_result(&fields, info);
    return finish(&fields, out);
}

int64_t cli_task_when(const reeve_task_info *info)
{
    switch (info->state) {
    case REEVE_STATE_SCHEDULED:
        return info->due_ms;
    case REEVE_STATE_RUNNING:
        return info->started_ms;
    case REEVE_STATE_COMPLETED:
    case REEVE_STATE_DEAD:
    case REEVE_STATE_CANCELLED:
        return info->ended_ms;
    default:
        return info->enqueued_ms;
    }
}
