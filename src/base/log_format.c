/*
 * The ready-made log callbacks: a record becomes one line, logfmt or JSON, in one write. A line is always UTF-8, and
 * nothing in a record can end it early.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

#define LINE_MAX_BYTES 65536
#define LOST "a log record was too long, or memory ran out"

static const char *level_name(reeve_log_level level)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    size_t count = sizeof(names) / sizeof(names[0]);
    return (size_t)level < count ? names[level] : names[count - 1];
}

static void add_bare_key(rv_buf *line, const char *key)
{
    for (; *key != '\0'; key++) {
        unsigned char c = (unsigned char)*key;
        rv_buf_addc(line, c <= ' ' || c == '=' || c == '"' || c == 0x7f ? '_' : *key);
    }
}

static bool needs_quotes(const char *value)
{
    if (*value == '\0') return true;
    unsigned code;
    for (size_t left = strlen(value); left > 0; value++, left--) {
        unsigned char c = (unsigned char)*value;
        if (c <= ' ' || c == '=' || c == '"' || c == '\\' || c == 0x7f) return true;
        if (c >= 0xc2 && rv_buf_hidden_control(value, left, &code) > 0) return true;
    }
    return false;
}

static void add_logfmt(rv_buf *line, const char *key, const char *value)
{
    if (value == NULL) value = "";
    if (line->length > 0) rv_buf_addc(line, ' ');
    add_bare_key(line, key);
    rv_buf_addc(line, '=');
    if (needs_quotes(value)) {
        rv_buf_add_json(line, value, strlen(value));
    } else {
        rv_buf_adds(line, value);
    }
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* Whether the value of a key is a number: counts, and keys with a unit. An id or a name may look like a number and
 * is not one. */
static bool is_number_key(const char *key)
{
    static const char *const names[] = {"attempt", "completed", "count", "dead",    "dropped", "failed",  "given_back",
                                        "leased",  "left",      "lines", "pid",     "refused", "retried", "seconds",
                                        "signal",  "status",    "tasks", "threads", "busy",    "crashes", "failures"};
    static const char *const units[] = {"_ms", "_us", "_seconds", "_bytes", "_count"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(key, names[i]) == 0) return true;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (ends_with(key, units[i])) return true;
    return false;
}

/* A number as JSON writes it: digits without leading zeros, perhaps a sign and a fraction. */
static bool is_number(const char *text)
{
    if (*text == '-') text++;
    size_t whole = strspn(text, "0123456789");
    if (whole == 0 || whole > 20 || (whole > 1 && text[0] == '0')) return false;
    text += whole;
    if (*text != '.') return *text == '\0';
    size_t fraction = strspn(text + 1, "0123456789");
    return fraction > 0 && text[1 + fraction] == '\0';
}

static void add_json(rv_buf *line, const char *key, const char *value)
{
    if (value == NULL) value = "";
    rv_buf_addc(line, line->length > 0 ? ',' : '{');
    rv_buf_add_json(line, key, strlen(key));
    rv_buf_addc(line, ':');
    if (is_number_key(key) && is_number(value)) {
        rv_buf_adds(line, value);
    } else {
        rv_buf_add_json(line, value, strlen(value));
    }
}

typedef void (*add_pair)(rv_buf *line, const char *key, const char *value);

static void add_record(rv_buf *line, const reeve_log_record *record, add_pair add)
{
    char time[RV_TIME_TEXT];

    rv_format_time(record->time_ms, time);
    add(line, "time", time);
    add(line, "level", level_name(record->level));
    add(line, "event", record->event);
    add(line, "message", record->message);
    for (size_t i = 0; i < record->field_count; i++) add(line, record->fields[i].key, record->fields[i].value);
}

const char *rv_log_line(rv_buf *line, const reeve_log_record *record, bool json)
{
    add_record(line, record, json ? add_json : add_logfmt);
    rv_buf_adds(line, json ? "}\n" : "\n");
    if (line->failed) {
        return json ? "{\"level\":\"error\",\"event\":\"log.lost\",\"message\":\"" LOST "\"}\n"
                    : "level=error event=log.lost message=\"" LOST "\"\n";
    }
    rv_utf8_clean(line->data, line->length);
    return line->data;
}

/* The results of stdio are ignored on purpose: there is no way to report a full disk or a closed pipe from here. */
static void write_line(FILE *file, const reeve_log_record *record, bool json)
{
    rv_buf line;

    if (file == NULL) return;
    rv_buf_init(&line, LINE_MAX_BYTES);
    const char *text = rv_log_line(&line, record, json);
    (void)fwrite(text, 1, strlen(text), file);
    (void)fflush(file);
    rv_buf_fini(&line);
}

void reeve_log_to_logfmt(const reeve_log_record *record, void *user)
{
    write_line(user, record, false);
}

void reeve_log_to_json(const reeve_log_record *record, void *user)
{
    write_line(user, record, true);
}
