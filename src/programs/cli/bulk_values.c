#include "bulk_values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "base64.h"
#include "conflict.h"

bool cli_bulk_refuse(cli_bulk_reading *reading, const char *reason, const char *format, ...)
{
    va_list arguments;

    reading->fault->status = REEVE_EINVAL;
    reading->fault->reason = reason;
    va_start(arguments, format);
    (void)vsnprintf(reading->fault->words, sizeof(reading->fault->words), format, arguments);
    va_end(arguments);
    return false;
}

bool cli_bulk_no_memory(cli_bulk_reading *reading)
{
    (void)cli_bulk_refuse(reading, "out of memory", "out of memory");
    reading->fault->status = REEVE_ENOMEM;
    return false;
}

bool cli_bulk_refuse_type(cli_bulk_reading *reading, const char *should_be)
{
    return cli_bulk_refuse(reading, "wrong type", "\"%s\": expected %s", reading->name, should_be);
}

bool cli_bulk_refuse_value(cli_bulk_reading *reading, const cli_value *value, const char *should_be)
{
    int shown = value->length > 100 ? 100 : (int)value->length;

    return cli_bulk_refuse(reading, "wrong value", "\"%s\": expected %s, not %.*s", reading->name, should_be, shown,
                           value->text);
}

bool cli_bulk_take_string(cli_bulk_reading *reading, const cli_value *value, const char **ret)
{
    size_t length;

    if (value->kind != CLI_VALUE_STRING) return cli_bulk_refuse_type(reading, "a string");
    if (!cli_scan_string(value, reading->at, &length))
        return cli_bulk_refuse(reading, "wrong value", "\"%s\": half of a surrogate pair is no character",
                               reading->name);
    if (memchr(reading->at, '\0', length) != NULL)
        return cli_bulk_refuse(reading, "wrong value", "\"%s\": a zero byte (\\u0000) is not allowed here",
                               reading->name);
    *ret = reading->at;
    reading->at[length] = '\0';
    reading->at += length + 1;
    return true;
}

bool cli_bulk_read_text(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    return cli_bulk_take_string(reading, value, (const char **)(void *)((char *)&reading->line->spec + member->at));
}

/* A short number's source as text that ends. */
static bool number_text(const cli_value *value, char ret[32])
{
    if (value->kind != CLI_VALUE_NUMBER || value->length >= 32) return false;
    memcpy(ret, value->text, value->length);
    ret[value->length] = '\0';
    return true;
}

bool cli_bulk_read_int(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    char text[32], should_be[96];
    int64_t number;

    if (value->kind != CLI_VALUE_NUMBER) return cli_bulk_refuse_type(reading, "a whole number");
    if (number_text(value, text) && rv_parse_int(text, member->min, member->max, &number)) {
        *(int *)(void *)((char *)&reading->line->spec + member->at) = (int)number;
        return true;
    }
    (void)snprintf(should_be, sizeof(should_be), "a whole number from %" PRId64 " to %" PRId64, member->min,
                   member->max);
    return cli_bulk_refuse_value(reading, value, should_be);
}

/* Durations and times: a number of seconds, or a string as on the command line. */
static bool read_clock(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value,
                       bool (*parse)(const char *, int64_t *), const char *should_be)
{
    int64_t *place = (int64_t *)(void *)((char *)&reading->line->spec + member->at);
    const char *text;
    char number[32];

    if (value->kind == CLI_VALUE_NUMBER)
        text = number_text(value, number) ? number : "";
    else if (value->kind != CLI_VALUE_STRING)
        return cli_bulk_refuse_type(reading, should_be);
    else if (!cli_bulk_take_string(reading, value, &text))
        return false;
    return (parse(text, place) && *place >= member->min) || cli_bulk_refuse_value(reading, value, should_be);
}

bool cli_bulk_read_duration(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    return read_clock(reading, member, value, rv_parse_duration,
                      member->min > 0 ? "seconds above zero, or a string such as \"5m\", up to 2000000000 seconds"
                                      : "seconds, or a string such as \"5m\", up to 2000000000 seconds");
}

bool cli_bulk_read_time(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    return read_clock(reading, member, value, rv_parse_time,
                      "a time such as \"2026-11-21T09:00:00Z\", or seconds since the epoch, up to the year 9999");
}

bool cli_bulk_read_payload(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    reeve_bytes *payload = &reading->line->spec.payload;

    (void)member;
    payload->data = reading->at;
    payload->length = cli_scan_compact(value, reading->at);
    reading->at += payload->length;
    return true;
}

bool cli_bulk_read_base64(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    const char *text;
    size_t length;
    unsigned char *target = (unsigned char *)reading->at;

    (void)member;
    if (!cli_bulk_take_string(reading, value, &text)) return false;
    if (!cli_base64_decode(text, strlen(text), target, &length))
        return cli_bulk_refuse(reading, "wrong value", "\"%s\": is no base64 (RFC 4648, with padding)", reading->name);
    reading->line->spec.payload = (reeve_bytes){target, length};
    return true;
}

bool cli_bulk_read_truth(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    if (value->kind != CLI_VALUE_TRUE && value->kind != CLI_VALUE_FALSE)
        return cli_bulk_refuse_type(reading, "true or false");
    *(bool *)(void *)((char *)&reading->line->spec + member->at) = value->kind == CLI_VALUE_TRUE;
    return true;
}

bool cli_bulk_read_backoff(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    const char *text;
    rv_error why;

    (void)member;
    if (!cli_bulk_take_string(reading, value, &text)) return false;
    line->backoff = rv_zalloc(sizeof(*line->backoff));
    if (line->backoff == NULL) return cli_bulk_no_memory(reading);
    if (rv_backoff_text_parse(text, line->backoff, &why) != REEVE_OK)
        return cli_bulk_refuse(reading, "wrong value", "\"%s\": %s", reading->name, why.text);
    line->spec.backoff = line->backoff;
    return true;
}

bool cli_bulk_read_until(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    const char *text = NULL;

    (void)member;
    if (!cli_bulk_take_string(reading, value, &text)) return false;
    return cli_until_parse(text, &reading->line->spec.unique_until_started) ||
           cli_bulk_refuse_value(reading, value, CLI_UNTIL_NAMES);
}

bool cli_bulk_read_if_exists(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    const char *text = NULL;

    (void)member;
    if (!cli_bulk_take_string(reading, value, &text)) return false;
    return cli_exists_parse(text, &reading->line->spec.if_exists) ||
           cli_bulk_refuse_value(reading, value, CLI_EXISTS_NAMES);
}

bool cli_bulk_read_conflict(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    const char *text = NULL;

    (void)member;
    if (!cli_bulk_take_string(reading, value, &text)) return false;
    return cli_conflict_parse(text, &reading->line->spec.on_conflict) ||
           cli_bulk_refuse_value(reading, value, CLI_CONFLICT_NAMES);
}
