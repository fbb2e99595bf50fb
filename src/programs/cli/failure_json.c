#include "failure_json.h"

#include "json.h"

void cli_failure_json(const char *queue, const reeve_failure *failure, FILE *out)
{
    char handle[REEVE_HANDLE_MAX + 1];
    cli_json json;

    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, failure->last_id);
    cli_json_begin(&json, out);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "kind", failure->kind);
    cli_json_uint(&json, "count", failure->count);
    cli_json_maybe(&json, "last_ms", failure->last_ms);
    cli_json_text(&json, "last_handle", handle);
    cli_json_text(&json, "last_type", failure->last_type);
    cli_json_text(&json, "last_message", failure->last_message);
    cli_json_end(&json);
}

void cli_type_failure_json(const char *queue, const reeve_type_failure *failure, FILE *out)
{
    char handle[REEVE_HANDLE_MAX + 1];
    cli_json json;

    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, failure->last_id);
    cli_json_begin(&json, out);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "type", failure->type);
    cli_json_uint(&json, "count", failure->count);
    cli_json_maybe(&json, "last_ms", failure->last_ms);
    cli_json_text(&json, "last_handle", handle);
    cli_json_text(&json, "last_kind", failure->last_kind);
    cli_json_text(&json, "last_message", failure->last_message);
    cli_json_end(&json);
}
