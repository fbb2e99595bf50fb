#include "settings_view.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/backoff_text.h"
#include "base/retry.h"
#include "json.h"
#include "table.h"
#include "when.h"

#define BACKOFF_TEXT_MAX 4096
#define SIZE_TEXT 24
#define DEFAULT_NOTE " (default)"

/* ---- for programs ---------------------------------------------------------------------------------------------- */

static void number_json(cli_json *json, const char *key, int64_t number)
{
    cli_json_maybe(json, key, number > 0 ? number : -1);
}

static void keep_json(cli_json *json, const char *key, const reeve_keep *keep, int64_t bytes)
{
    cli_json_open(json, key);
    cli_json_maybe(json, "age_ms", keep->age_ms);
    cli_json_maybe(json, "count", keep->count);
    number_json(json, "result_bytes", bytes);
    cli_json_close(json);
}

static void print_json(const char *queue, const reeve_queue_settings *settings, const char *backoff)
{
    const reeve_queue_policy *policy = settings->policy;
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    number_json(&json, "max_attempts", policy->max_attempts);
    cli_json_text(&json, "backoff", policy->backoff != NULL ? backoff : NULL);
    number_json(&json, "max_crashes", policy->max_crashes);
    number_json(&json, "timeout_ms", policy->timeout_ms);
    cli_json_bool(&json, "record_runs", policy->record_runs);
    cli_json_text(&json, "on_dead", settings->on_dead[0] != '\0' ? settings->on_dead : NULL);
    number_json(&json, "result_max_bytes", *settings->result_max);
    cli_json_open(&json, "keep");
    keep_json(&json, "completed", settings->completed, *settings->completed_bytes);
    keep_json(&json, "dead", settings->dead, 0);
    cli_json_uint(&json, "stats_days", *settings->stats_days);
    cli_json_close(&json);
    cli_json_end(&json);
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

static void add_number(cli_fields *fields, const char *name, int number, int otherwise)
{
    cli_fields_addf(fields, name, "%d%s", number > 0 ? number : otherwise, number > 0 ? "" : DEFAULT_NOTE);
}

static void add_timeout(cli_fields *fields, int64_t ms)
{
    char text[CLI_WHEN_TEXT];

    cli_duration_text(ms, text);
    cli_fields_add(fields, "timeout", ms > 0 ? text : "none" DEFAULT_NOTE);
}

/* As the options take it: 65536 is 64K. */
static void size_text(int64_t bytes, char ret[SIZE_TEXT])
{
    static const char units[] = {'\0', 'K', 'M', 'G'};
    size_t unit = 0;

    while (unit + 1 < sizeof(units) && bytes % 1024 == 0 && bytes > 0) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(ret, SIZE_TEXT, "%" PRId64 "%.1s", bytes, &units[unit]);
}

static void add_result_max(cli_fields *fields, int64_t bytes)
{
    char text[SIZE_TEXT];

    size_text(bytes > 0 ? bytes : REEVE_RESULT_MAX, text);
    cli_fields_addf(fields, "result max", "%s%s", text, bytes > 0 ? "" : DEFAULT_NOTE);
}

/* As the options take it. */
static void add_keep(cli_fields *fields, const char *name, const reeve_keep *keep, int64_t most_bytes)
{
    char age[CLI_WHEN_TEXT];

    char count[24] = "all", bytes[SIZE_TEXT + 1] = "";

    cli_duration_text(keep->age_ms, age);
    if (keep->count >= 0) (void)snprintf(count, sizeof(count), "%" PRId64, keep->count);
    if (most_bytes > 0) {
        bytes[0] = ':';
        size_text(most_bytes, bytes + 1);
    }
    if (keep->age_ms == 0 || keep->count == 0)
        cli_fields_add(fields, name, "none");
    else
        cli_fields_addf(fields, name, "%s:%s%s", keep->age_ms < 0 ? "forever" : age, count, bytes);
}

static bool print_fields(const char *queue, const reeve_queue_settings *settings, const char *backoff)
{
    const reeve_queue_policy *policy = settings->policy;
    cli_fields fields;
    bool printed;

    cli_fields_init(&fields);
    cli_fields_add(&fields, "queue", queue);
    add_number(&fields, "attempts", policy->max_attempts, RV_MAX_ATTEMPTS);
    cli_fields_addf(&fields, "backoff", "%s%s", backoff, policy->backoff != NULL ? "" : DEFAULT_NOTE);
    add_number(&fields, "max crashes", policy->max_crashes, RV_MAX_CRASHES);
    add_timeout(&fields, policy->timeout_ms);
    cli_fields_addf(&fields, "record runs", "%s", policy->record_runs ? "yes" : "no");
    cli_fields_add(&fields, "on dead", settings->on_dead[0] != '\0' ? settings->on_dead : "none");
    add_result_max(&fields, *settings->result_max);
    add_keep(&fields, "keep completed", settings->completed, *settings->completed_bytes);
    add_keep(&fields, "keep dead", settings->dead, 0);
    cli_fields_addf(&fields, "keep stats", "%ud", *settings->stats_days);
    printed = cli_fields_print(&fields, stdout);
    cli_fields_fini(&fields);
    return printed;
}

int cli_show_settings(const cli_context *cli, const char *queue, const reeve_queue_settings *settings)
{
    static const reeve_backoff otherwise = {
        .base_ms = RV_BACKOFF_BASE_MS, .cap_ms = RV_BACKOFF_CAP_MS, .jitter = RV_BACKOFF_JITTER};
    const reeve_backoff *backoff = settings->policy->backoff;
    bool good;
    rv_buf text;

    rv_buf_init(&text, BACKOFF_TEXT_MAX);
    rv_backoff_format(&text, backoff != NULL ? backoff : &otherwise);
    good = !text.failed;
    if (good && cli->json)
        print_json(queue, settings, rv_buf_text(&text));
    else if (good)
        good = print_fields(queue, settings, rv_buf_text(&text));
    rv_buf_fini(&text);
    return good ? CLI_DONE : cli_no_memory(cli);
}
