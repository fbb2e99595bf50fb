#include "history.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "when.h"

static int64_t number_of(const cJSON *entry, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(entry, name);

    return cJSON_IsNumber(item) && fabs(item->valuedouble) < 9e15 ? (int64_t)item->valuedouble : -1;
}

static const char *text_of(const cJSON *entry, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, name));
}

static void add_span(rv_buf *line, const char *before, int64_t ms)
{
    char text[CLI_WHEN_TEXT];

    if (ms < 0) return;
    cli_span_text(ms, text);
    rv_buf_addf(line, "%s%s", before, text);
}

static void add_entry(rv_buf *line, const cJSON *entry)
{
    int64_t at = number_of(entry, "at"), due = number_of(entry, "due");
    const char *what = text_of(entry, "what"), *worker = text_of(entry, "worker"), *kind = text_of(entry, "kind");
    const char *message = text_of(entry, "message"), *from = text_of(entry, "from");
    const cJSON *priority = cJSON_GetObjectItemCaseSensitive(entry, "priority");
    char time[CLI_WHEN_TEXT];

    cli_time_text(at, at, time);
    time[strcspn(time, " ")] = '\0';
    rv_buf_addf(line, "%s %s", time, what == NULL ? "?" : what);
    if (cJSON_IsNumber(priority)) rv_buf_addf(line, " %d", priority->valueint);
    if (from != NULL) rv_buf_addf(line, " (was %s)", from);
    add_span(line, ", again in ", number_of(entry, "delay"));
    if (due > at) add_span(line, " by ", due - at);
    if (worker != NULL) rv_buf_addf(line, ", worker %s", worker);
    if (kind != NULL) rv_buf_addf(line, ", %s", kind);
    if (message != NULL && message[0] != '\0') rv_buf_addf(line, ": %s", message);
}

void cli_history_add(rv_buf *buf, const char *history)
{
    cJSON *list = cJSON_Parse(history);
    const cJSON *entry;

    cJSON_ArrayForEach(entry, list)
    {
        if (buf->length > 0) rv_buf_addc(buf, '\n');
        add_entry(buf, entry);
    }
    cJSON_Delete(list);
}

/* ---- for programs ---------------------------------------------------------------------------------------------- */

static void write_entry(cli_json *json, const cJSON *entry)
{
    const cJSON *priority = cJSON_GetObjectItemCaseSensitive(entry, "priority");

    cli_json_open(json, NULL);
    cli_json_maybe(json, "at_ms", number_of(entry, "at"));
    cli_json_text(json, "event", text_of(entry, "what"));
    cli_json_text(json, "worker", text_of(entry, "worker"));
    cli_json_text(json, "kind", text_of(entry, "kind"));
    cli_json_text(json, "message", text_of(entry, "message"));
    cli_json_maybe(json, "delay_ms", number_of(entry, "delay"));
    cli_json_maybe(json, "due_ms", number_of(entry, "due"));
    if (cJSON_IsNumber(priority))
        cli_json_int(json, "priority", priority->valueint);
    else
        cli_json_null(json, "priority");
    cli_json_text(json, "from", text_of(entry, "from"));
    cli_json_text(json, "by", text_of(entry, "by"));
    cli_json_close(json);
}

void cli_history_json(cli_json *json, const char *history)
{
    cJSON *list = history == NULL ? NULL : cJSON_Parse(history);
    const cJSON *entry;

    if (list == NULL) {
        cli_json_null(json, "history");
        return;
    }
    cli_json_open_array(json, "history");
    cJSON_ArrayForEach(entry, list) write_entry(json, entry);
    cli_json_close_array(json);
    cJSON_Delete(list);
}
