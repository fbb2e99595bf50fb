#include "task_view.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "history.h"
#include "json.h"
#include "utf8.h"
#include "when.h"

#define TEXT_SHOWN 4096
#define DUMP_SHOWN 128
#define DUMP_LINE 16

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

static void dump_line(rv_buf *buf, const unsigned char *data, size_t at, size_t length)
{
    rv_buf_addf(buf, "\n%04zx ", at);
    for (size_t i = 0; i < DUMP_LINE; i++) {
        if (i < length)
            rv_buf_addf(buf, " %02x", data[at + i]);
        else
            rv_buf_adds(buf, "   ");
    }
    rv_buf_adds(buf, "  ");
    for (size_t i = 0; i < length; i++) {
        char c = (char)data[at + i];
        rv_buf_addc(buf, c >= 0x20 && c < 0x7f ? c : '.');
    }
}

static void add_more(rv_buf *buf, size_t more)
{
    if (more > 0) rv_buf_addf(buf, "\n(%zu bytes more)", more);
}

static void add_dump(rv_buf *buf, reeve_bytes bytes)
{
    size_t shown = bytes.length < DUMP_SHOWN ? bytes.length : DUMP_SHOWN;

    rv_buf_addf(buf, "%zu bytes that are no text", bytes.length);
    for (size_t at = 0; at < shown; at += DUMP_LINE)
        dump_line(buf, bytes.data, at, shown - at < DUMP_LINE ? shown - at : DUMP_LINE);
    add_more(buf, bytes.length - shown);
}

void cli_bytes_preview(rv_buf *buf, reeve_bytes bytes)
{
    size_t shown;

    if (bytes.length == 0) {
        rv_buf_adds(buf, "(empty)");
        return;
    }
    shown = rv_utf8_cut(bytes.data, bytes.length, TEXT_SHOWN);
    if (!cli_utf8_is_text(bytes.data, shown)) {
        add_dump(buf, bytes);
        return;
    }
    rv_buf_add(buf, bytes.data, shown);
    add_more(buf, bytes.length - shown);
}

static void add_bytes(cli_fields *fields, const char *name, reeve_bytes bytes)
{
    rv_buf buf;

    rv_buf_init(&buf, (size_t)4 * TEXT_SHOWN);
    cli_bytes_preview(&buf, bytes);
    if (buf.failed)
        fields->failed = true;
    else
        cli_fields_add(fields, name, rv_buf_text(&buf));
    rv_buf_fini(&buf);
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

static void add_time(cli_fields *fields, const char *name, int64_t time_ms)
{
    char text[CLI_WHEN_TEXT];

    cli_time_text(time_ms, rv_wall_ms(), text);
    if (text[0] != '\0') cli_fields_add(fields, name, text);
}

static void add_span(cli_fields *fields, const char *name, int64_t ms)
{
    char text[CLI_WHEN_TEXT];

    cli_span_text(ms, text);
    if (ms > 0) cli_fields_add(fields, name, text);
}

static void add_count(cli_fields *fields, const char *name, unsigned count, int most)
{
    if (count == 0 && most == 0) return;
    if (most > 0)
        cli_fields_addf(fields, name, "%u of %d", count, most);
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
}

static void add_failure(cli_fields *fields, const reeve_task_info *info)
{
    add_count(fields, "failures", info->failures, info->max_attempts);
    add_count(fields, "crashes", info->crashes, info->max_crashes);
    cli_fields_add(fields, "error kind", info->error_kind);
    cli_fields_add(fields, "error", info->error_message);
    add_time(fields, "failed", info->failed_ms);
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

static void add_member(rv_buf *buf, const cJSON *member)
{
    const char *ended = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(member, "ended"));
    const char *rule = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(member, "on_death"));
    const cJSON *name = cJSON_IsObject(member) ? cJSON_GetObjectItemCaseSensitive(member, "handle") : member;
    const char *handle = cJSON_GetStringValue(name);

    rv_buf_adds(buf, handle != NULL ? handle : "?");
    if (rule == NULL) return;
    rv_buf_addf(buf, " (%s", ended != NULL ? ended : "has not ended");
    if (strcmp(rule, "fail") != 0) rv_buf_addf(buf, "; on death: %s", rule);
    rv_buf_addc(buf, ')');
}

static void add_family(cli_fields *fields, const char *name, const char *text, int64_t count)
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
        add_member(&buf, member);
    }
    if (count > shown) rv_buf_addf(&buf, "\n(%" PRId64 " more)", count - shown);
    if (buf.failed)
        fields->failed = true;
    else if (shown > 0)
        cli_fields_add(fields, name, rv_buf_text(&buf));
    rv_buf_fini(&buf);
    cJSON_Delete(list);
}

static void add_options(cli_fields *fields, const reeve_task_info *info)
{
    if (info->priority != 0) cli_fields_addf(fields, "priority", "%d", info->priority);
    cli_fields_add(fields, "group", info->group);
    if (info->weight > 1) cli_fields_addf(fields, "weight", "%u", info->weight);
    cli_fields_add(fields, "backoff", info->backoff);
    add_span(fields, "timeout", info->timeout_ms);
    add_span(fields, "heartbeat", info->heartbeat_ms);
    if (info->at_most_once) cli_fields_add(fields, "runs", "at most once");
    cli_fields_add(fields, "unique", info->unique);
    cli_fields_add(fields, "tags", info->tags);
    cli_fields_add(fields, "meta", info->meta);
    add_family(fields, "after", info->parents, info->parent_count);
    add_family(fields, "before", info->children, info->child_count);
}

/* What may be done about it. */
static void add_hint(cli_fields *fields, const reeve_task_info *info)
{
    switch (info->state) {
    case REEVE_STATE_RUNNING:
        if (info->cancelling) cli_fields_add(fields, "hint", "it was cancelled, and told to stop");
        break;
    case REEVE_STATE_DEAD:
    case REEVE_STATE_CANCELLED:
        cli_fields_addf(fields, "hint", "run it again with: reeve retry %s/%s", info->queue, info->id);
        break;
    case REEVE_STATE_BLOCKED:
        cli_fields_add(fields, "hint", "it waits for the tasks that it comes after");
        break;
    case REEVE_STATE_SCHEDULED:
        cli_fields_addf(fields, "hint", "run it now with: reeve reschedule %s/%s --now", info->queue, info->id);
        break;
    case REEVE_STATE_PARKED:
        cli_fields_addf(fields, "hint", "its group is at its limit or held; see: reeve limit %s", info->queue);
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

bool cli_task_fields(const reeve_task_info *info, FILE *out)
{
    cli_fields fields;

    cli_fields_init(&fields);
    cli_fields_addf(&fields, "handle", "%s/%s", info->queue, info->id);
    cli_fields_add(&fields, "type", info->type);
    add_time(&fields, "enqueued", info->enqueued_ms);
    add_options(&fields, info);
    add_state(&fields, info);
    cli_fields_add(&fields, "worker", info->worker);
    cli_fields_add(&fields, "session", info->session);
    add_failure(&fields, info);
    add_history(&fields, info);
    add_bytes(&fields, "payload", info->payload);
    add_result(&fields, info);
    if (info->checkpoint_bytes >= 0)
        cli_fields_addf(&fields, "checkpoint", "%" PRId64 " bytes", info->checkpoint_bytes);
    if (info->logged > 0) cli_fields_addf(&fields, "log", "%" PRIu64 " lines; --log shows the last", info->logged);
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

/* ---- for programs ---------------------------------------------------------------------------------------------- */

static void write_times(cli_json *json, const reeve_task_info *info)
{
    cli_json_maybe(json, "enqueued_ms", info->enqueued_ms);
    cli_json_maybe(json, "due_ms", info->due_ms);
    cli_json_maybe(json, "deadline_ms", info->deadline_ms);
    cli_json_maybe(json, "started_ms", info->started_ms);
    cli_json_maybe(json, "ended_ms", info->ended_ms);
}

static void write_options(cli_json *json, const reeve_task_info *info)
{
    cli_json_int(json, "priority", info->priority);
    cli_json_text(json, "group", info->group);
    cli_json_int(json, "weight", info->weight);
    cli_json_int(json, "max_attempts", info->max_attempts);
    cli_json_int(json, "max_crashes", info->max_crashes);
    cli_json_int(json, "timeout_ms", info->timeout_ms);
    cli_json_int(json, "heartbeat_ms", info->heartbeat_ms);
    cli_json_bool(json, "at_most_once", info->at_most_once);
    cli_json_text(json, "backoff", info->backoff);
    cli_json_text(json, "unique", info->unique);
    cli_json_raw(json, "tags", info->tags);
    cli_json_raw(json, "meta", info->meta);
    cli_json_raw(json, "parents", info->parents);
    cli_json_maybe(json, "parent_count", info->parent_count);
    cli_json_raw(json, "children", info->children);
    cli_json_maybe(json, "child_count", info->child_count);
}

static void write_run(cli_json *json, const reeve_task_info *info)
{
    cli_json_uint(json, "failures", info->failures);
    cli_json_uint(json, "crashes", info->crashes);
    cli_json_text(json, "error_kind", info->error_kind);
    cli_json_text(json, "error_message", info->error_message);
    cli_json_maybe(json, "failed_ms", info->failed_ms);
    cli_json_maybe(json, "progress", info->progress);
    cli_json_text(json, "progress_words", info->progress_words);
    cli_json_text(json, "worker", info->worker);
    cli_json_text(json, "session", info->session);
    cli_json_raw(json, "history", info->history);
}

void cli_task_json(const reeve_task_info *info, FILE *out)
{
    char handle[REEVE_HANDLE_MAX + 1];
    cli_json json;

    (void)snprintf(handle, sizeof(handle), "%s/%s", info->queue, info->id);
    cli_json_begin(&json, out);
    cli_json_text(&json, "handle", handle);
    cli_json_text(&json, "queue", info->queue);
    cli_json_text(&json, "id", info->id);
    cli_json_text(&json, "type", info->type);
    cli_json_text(&json, "state", reeve_state_name(info->state));
    cli_json_bool(&json, "cancelling", info->cancelling);
    write_times(&json, info);
    write_options(&json, info);
    write_run(&json, info);
    cli_json_bytes(&json, "payload", info->payload, false);
    cli_json_bytes(&json, "result", info->result, true);
    cli_json_maybe(&json, "checkpoint_bytes", info->checkpoint_bytes);
    cli_json_uint(&json, "logged", info->logged);
    cli_json_end(&json);
}

bool cli_task_log(const reeve_task_info *info, FILE *out)
{
    char time[RV_TIME_TEXT];
    bool good;
    rv_buf buf;

    rv_buf_init(&buf, (size_t)8 * REEVE_LOG_LINES * REEVE_MESSAGE_MAX);
    for (size_t i = 0; i < info->log_count; i++) {
        const char *text = info->log[i].text;

        rv_format_time(info->log[i].time_ms, time);
        rv_buf_addf(&buf, "%s  ", time);
        cli_utf8_add_safe(&buf, text, strlen(text), false);
        rv_buf_addc(&buf, '\n');
    }
    good = !buf.failed;
    if (good) (void)fwrite(rv_buf_text(&buf), 1, buf.length, out);
    rv_buf_fini(&buf);
    return good;
}

void cli_task_log_json(const reeve_task_info *info, FILE *out)
{
    for (size_t i = 0; i < info->log_count; i++) {
        cli_json json;

        cli_json_begin(&json, out);
        cli_json_int(&json, "time_ms", info->log[i].time_ms);
        cli_json_text(&json, "text", info->log[i].text);
        cli_json_end(&json);
    }
}
