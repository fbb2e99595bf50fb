#include "cron_json.h"

#include "base/backoff_text.h"
#include "json.h"
#include "protocol/cron_definition.h"

/* The task's own, or null. */
static void write_own(cli_json *json, const char *key, int64_t number)
{
    cli_json_maybe(json, key, number > 0 ? number : -1);
}

static void write_list(cli_json *json, const char *name, const char *const *texts, size_t count)
{
    cli_json_open_array(json, name);
    for (size_t i = 0; i < count; i++) cli_json_text(json, NULL, texts[i]);
    cli_json_close_array(json);
}

static void write_texts(cli_json *json, const reeve_task_spec *task)
{
    write_list(json, "tags", task->tags, task->tag_count);
    cli_json_open(json, "meta");
    for (size_t i = 0; i < task->meta_count; i++) cli_json_text(json, task->meta[i].key, task->meta[i].value);
    cli_json_close(json);
}

/* The options of its tasks, by the names of the JSON of a task. Of an entry that is not understood: null. */
static void write_task(cli_json *json, const reeve_task_spec *task)
{
    rv_buf backoff;

    if (task == NULL) {
        cli_json_null(json, "task");
        return;
    }
    rv_buf_init(&backoff, 4096);
    if (task->backoff != NULL) rv_backoff_text_format(&backoff, task->backoff);
    cli_json_open(json, "task");
    cli_json_int(json, "priority", task->priority);
    cli_json_text(json, "group", task->group);
    cli_json_int(json, "weight", task->weight > 0 ? task->weight : 1);
    write_own(json, "cost", task->cost);
    write_list(json, "limit_keys", task->limit_keys, task->limit_key_count);
    write_own(json, "attempts", task->attempts);
    write_own(json, "max_crashes", task->max_crashes);
    write_own(json, "retry_for_ms", task->retry_for_ms);
    write_own(json, "max_snoozes", task->max_snoozes);
    write_own(json, "keep_ms", task->keep_ms);
    write_own(json, "timeout_ms", task->timeout_ms);
    write_own(json, "heartbeat_ms", task->heartbeat_ms);
    write_own(json, "expires_in_ms", task->expires_in_ms);
    cli_json_bool(json, "at_most_once", task->at_most_once);
    cli_json_text(json, "backoff", task->backoff != NULL && !backoff.failed ? rv_buf_text(&backoff) : NULL);
    cli_json_text(json, "on_dead", task->on_dead);
    write_texts(json, task);
    cli_json_close(json);
    rv_buf_fini(&backoff);
}

static void write_range(cli_json *json, const reeve_cron_info *info)
{
    const reeve_cron_entry *entry = info->entry;

    write_own(json, "starts_ms", entry == NULL ? 0 : entry->starts_ms);
    write_own(json, "ends_ms", entry == NULL ? 0 : entry->ends_ms);
    write_own(json, "offset_ms", entry == NULL ? 0 : entry->offset_ms);
    write_own(json, "jitter_ms", entry == NULL ? 0 : entry->jitter_ms);
    write_own(json, "runs", entry == NULL ? 0 : entry->runs);
    cli_json_int(json, "enqueued", info->enqueued);
}

void cli_cron_json(const reeve_cron_info *info, FILE *out)
{
    char last[REEVE_HANDLE_MAX + 1];
    cli_json json;

    (void)snprintf(last, sizeof(last), "%s/%s", info->queue, info->last_id);
    cli_json_begin(&json, out);
    cli_json_text(&json, "queue", info->queue);
    cli_json_text(&json, "name", info->name);
    cli_json_text(&json, "spec", info->spec);
    cli_json_text(&json, "zone", info->zone);
    cli_json_text(&json, "catch_up", rv_cron_definition_catch_up_name(info->catch_up));
    cli_json_maybe(&json, "catch_up_max", info->catch_up_max > 0 ? (int64_t)info->catch_up_max : -1);
    cli_json_bool(&json, "overlap", !info->no_overlap);
    cli_json_bool(&json, "paused", info->paused);
    cli_json_bool(&json, "ended", info->ended);
    cli_json_maybe(&json, "next_ms", info->next_ms);
    cli_json_text(&json, "last_handle", info->last_id[0] == '\0' ? NULL : last);
    cli_json_text(&json, "type", info->type);
    cli_json_bytes(&json, "payload", info->payload, false);
    write_range(&json, info);
    write_task(&json, info->entry == NULL ? NULL : info->entry->task);
    cli_json_end(&json);
}
