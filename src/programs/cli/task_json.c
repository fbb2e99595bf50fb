/*
 * task_json.c - a task for programs; docs/json.md has the shape.
 */
#include <cjson/cJSON.h>

#include "handle.h"
#include "history.h"
#include "json.h"
#include "protocol/task_options.h"
#include "task_view.h"
#include "why_view.h"

static void write_times(cli_json *json, const reeve_task_info *info)
{
    cli_json_maybe(json, "enqueued_ms", info->enqueued_ms);
    cli_json_maybe(json, "due_ms", info->due_ms);
    cli_json_maybe(json, "deadline_ms", info->deadline_ms);
    cli_json_maybe(json, "started_ms", info->started_ms);
    cli_json_maybe(json, "ended_ms", info->ended_ms);
    cli_json_maybe(json, "run_ms",
                   info->state == REEVE_STATE_COMPLETED && info->started_ms >= 0 && info->ended_ms >= info->started_ms
                       ? info->ended_ms - info->started_ms
                       : -1);
}

/* The task's own, or null. */
static void write_own(cli_json *json, const char *key, int64_t number)
{
    cli_json_maybe(json, key, number > 0 ? number : -1);
}

static const char *text_of(const cJSON *parent, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parent, name));
}

static void write_parents(cli_json *json, const char *text, const reeve_why *why)
{
    cJSON *list = text == NULL ? NULL : cJSON_Parse(text);
    const cJSON *parent;

    if (list == NULL) {
        cli_json_null(json, "parents");
        return;
    }
    cli_json_open_array(json, "parents");
    cJSON_ArrayForEach(parent, list)
    {
        cli_json_open(json, NULL);
        cli_json_text(json, "handle", text_of(parent, "handle"));
        cli_json_text(json, "on_death", text_of(parent, "on_death"));
        cli_json_text(json, "ended", text_of(parent, "ended"));
        cli_json_text(json, "state", text_of(parent, "ended") != NULL ? NULL : cli_parent_state(parent, why));
        cli_json_close(json);
    }
    cli_json_close_array(json);
    cJSON_Delete(list);
}

/* null: no key, or for a time. */
static void write_unique_until(cli_json *json, const reeve_task_info *info)
{
    const char *until = info->unique_until_started ? "started" : "ended";

    cli_json_text(json, "unique_until", info->unique == NULL || info->unique_for_ms > 0 ? NULL : until);
}

#define NUMBER(field, name) write_own(json, name, info->field);
#define ALWAYS(field, name) cli_json_int(json, name, info->field);
#define FLAG(field, name) cli_json_bool(json, name, info->field);
#define TEXT(field, name) cli_json_text(json, name, info->field);
#define RAW(field, name) cli_json_raw(json, name, info->field);
#define OWN(name) write_##name(json, info);

static void write_options(cli_json *json, const reeve_task_info *info, const reeve_why *why)
{
    RV_TASK_OPTIONS_JSON(NUMBER, ALWAYS, FLAG, TEXT, RAW, OWN)
    write_parents(json, info->parents, why);
    cli_json_maybe(json, "parent_count", info->parent_count);
    cli_json_raw(json, "children", info->children);
    cli_json_maybe(json, "child_count", info->child_count);
}

static void write_run(cli_json *json, const reeve_task_info *info)
{
    cli_json_uint(json, "failures", info->failures);
    cli_json_uint(json, "crashes", info->crashes);
    cli_json_uint(json, "snoozes", info->snoozes);
    cli_json_text(json, "error_kind", info->error_kind);
    cli_json_text(json, "error_message", info->error_message);
    cli_json_text(json, "backtrace", info->backtrace);
    cli_json_maybe(json, "failed_ms", info->failed_ms);
    cli_json_text(json, "cancel_reason", info->cancel_reason);
    cli_json_maybe(json, "progress", info->progress);
    cli_json_text(json, "progress_words", info->progress_words);
    cli_json_text(json, "worker", info->worker);
    cli_json_text(json, "session", info->session);
    cli_json_text(json, "thread", info->thread);
    cli_json_maybe(json, "lease_expires_ms", info->lease_expires_ms);
    cli_json_bool(json, "stalled", info->stalled);
    cli_history_json(json, info->history);
}

void cli_task_json(const reeve_task_info *info, FILE *out)
{
    cli_task_json_why(info, NULL, out);
}

void cli_task_json_why(const reeve_task_info *info, const reeve_why *why, FILE *out)
{
    cli_json json;

    cli_json_begin(&json, out);
    cli_handle_json(&json, info->queue, info->id);
    cli_json_text(&json, "type", info->type);
    cli_json_text(&json, "state", reeve_state_name(info->state));
    cli_json_bool(&json, "cancelling", info->cancelling);
    write_times(&json, info);
    write_options(&json, info, why);
    write_run(&json, info);
    cli_json_bytes(&json, "payload", info->payload, false);
    cli_json_bytes(&json, "result", info->result, true);
    cli_json_maybe(&json, "checkpoint_bytes", info->checkpoint_bytes);
    cli_json_uint(&json, "logged", info->logged);
    cli_reasons_json(&json, "why", why);
    cli_json_end(&json);
}
