#include "bulk_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "after.h"
#include "base/backoff_text.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base64.h"
#include "conflict.h"
#include "json_scan.h"

#define NAME_MAX_SHOWN 64

/* Reading one line: where its strings go, and which members it had. */
struct reading {
    cli_bulk_line *line;
    char *at; /* the free part of line->memory; what is put there is never longer than its source, so it never ends */
    cli_bulk_fault *fault;
    uint32_t seen;                 /* a bit for each row of the member table */
    char name[NAME_MAX_SHOWN + 1]; /* the member being read */
};

struct member {
    const char *name;
    bool (*read)(struct reading *reading, const struct member *member, const cli_value *value);
    size_t at; /* offset in reeve_task_spec */
    int64_t least, most;
};

__attribute__((format(printf, 3, 4))) static bool refuse(struct reading *reading, const char *reason,
                                                         const char *format, ...)
{
    va_list arguments;

    reading->fault->reason = reason;
    va_start(arguments, format);
    (void)vsnprintf(reading->fault->words, sizeof(reading->fault->words), format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse_type(struct reading *reading, const char *should_be)
{
    return refuse(reading, "wrong type", "\"%s\": expected %s", reading->name, should_be);
}

static bool refuse_value(struct reading *reading, const cli_value *value, const char *should_be)
{
    int shown = value->length > 100 ? 100 : (int)value->length;

    return refuse(reading, "wrong value", "\"%s\": expected %s, not %.*s", reading->name, should_be, shown,
                  value->text);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

/* A string's characters with a zero byte, in the line's memory. */
static bool take_string(struct reading *reading, const cli_value *value, const char **ret)
{
    size_t length;

    if (value->kind != CLI_VALUE_STRING) return refuse_type(reading, "a string");
    if (!cli_scan_string(value, reading->at, &length))
        return refuse(reading, "wrong value", "\"%s\": half of a surrogate pair is no character", reading->name);
    if (memchr(reading->at, '\0', length) != NULL)
        return refuse(reading, "wrong value", "\"%s\": a zero byte (\\u0000) is not allowed here", reading->name);
    *ret = reading->at;
    reading->at[length] = '\0';
    reading->at += length + 1;
    return true;
}

static bool read_text(struct reading *reading, const struct member *member, const cli_value *value)
{
    return take_string(reading, value, (const char **)(void *)((char *)&reading->line->spec + member->at));
}

/* A short number's source as text that ends. */
static bool number_text(const cli_value *value, char ret[32])
{
    if (value->kind != CLI_VALUE_NUMBER || value->length >= 32) return false;
    memcpy(ret, value->text, value->length);
    ret[value->length] = '\0';
    return true;
}

static bool read_int(struct reading *reading, const struct member *member, const cli_value *value)
{
    char text[32], should_be[96];
    int64_t number;

    if (value->kind != CLI_VALUE_NUMBER) return refuse_type(reading, "a whole number");
    if (number_text(value, text) && rv_parse_int(text, member->least, member->most, &number)) {
        *(int *)(void *)((char *)&reading->line->spec + member->at) = (int)number;
        return true;
    }
    (void)snprintf(should_be, sizeof(should_be), "a whole number from %" PRId64 " to %" PRId64, member->least,
                   member->most);
    return refuse_value(reading, value, should_be);
}

/* Durations and times: a number of seconds, or a string as on the command line. */
static bool read_clock(struct reading *reading, const struct member *member, const cli_value *value,
                       bool (*parse)(const char *, int64_t *), const char *should_be)
{
    int64_t *place = (int64_t *)(void *)((char *)&reading->line->spec + member->at);
    const char *text;
    char number[32];

    if (value->kind == CLI_VALUE_NUMBER)
        text = number_text(value, number) ? number : "";
    else if (value->kind != CLI_VALUE_STRING)
        return refuse_type(reading, should_be);
    else if (!take_string(reading, value, &text))
        return false;
    return (parse(text, place) && *place >= member->least) || refuse_value(reading, value, should_be);
}

static bool read_duration(struct reading *reading, const struct member *member, const cli_value *value)
{
    return read_clock(reading, member, value, rv_parse_duration,
                      member->least > 0 ? "seconds above zero, or a string such as \"5m\""
                                        : "seconds, or a string such as \"5m\"");
}

static bool read_time(struct reading *reading, const struct member *member, const cli_value *value)
{
    return read_clock(reading, member, value, rv_parse_time,
                      "a time such as \"2026-11-21T09:00:00Z\", or seconds since the epoch");
}

static bool read_payload(struct reading *reading, const struct member *member, const cli_value *value)
{
    reeve_bytes *payload = &reading->line->spec.payload;

    (void)member;
    payload->data = reading->at;
    payload->length = cli_scan_compact(value, reading->at);
    reading->at += payload->length;
    return true;
}

static bool read_base64(struct reading *reading, const struct member *member, const cli_value *value)
{
    const char *text;
    size_t length;
    unsigned char *target = (unsigned char *)reading->at;

    (void)member;
    if (!take_string(reading, value, &text)) return false;
    if (!cli_base64_decode(text, strlen(text), target, &length))
        return refuse(reading, "wrong value", "\"%s\": is no base64 (RFC 4648, with padding)", reading->name);
    reading->line->spec.payload = (reeve_bytes){target, length};
    return true;
}

static size_t count_members(const cli_value *container)
{
    cli_walk walk;
    cli_value key, value;
    size_t count = 0;

    cli_walk_init(&walk, container);
    while (cli_walk_next(&walk, &key, &value)) count++;
    return count;
}

static bool read_tags(struct reading *reading, const struct member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    size_t count;
    cli_walk walk;
    cli_value tag;

    (void)member;
    if (value->kind != CLI_VALUE_ARRAY) return refuse_type(reading, "an array of strings");
    if ((count = count_members(value)) == 0) return true;
    line->tags = rv_zalloc_array(count, sizeof(*line->tags));
    if (line->tags == NULL) return refuse(reading, "out of memory", "out of memory");
    line->spec.tags = line->tags;
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, NULL, &tag)) {
        if (tag.kind != CLI_VALUE_STRING) return refuse_type(reading, "an array of strings");
        if (!take_string(reading, &tag, &line->tags[line->spec.tag_count])) return false;
        line->spec.tag_count++;
    }
    return true;
}

static bool read_meta(struct reading *reading, const struct member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    size_t count;
    cli_walk walk;
    cli_value key, text;

    (void)member;
    if (value->kind != CLI_VALUE_OBJECT) return refuse_type(reading, "an object of strings");
    if ((count = count_members(value)) == 0) return true;
    line->meta = rv_zalloc_array(count, sizeof(*line->meta));
    if (line->meta == NULL) return refuse(reading, "out of memory", "out of memory");
    line->spec.meta = line->meta;
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, &key, &text)) {
        reeve_meta *meta = &line->meta[line->spec.meta_count];

        if (text.kind != CLI_VALUE_STRING) return refuse_type(reading, "an object of strings");
        if (!take_string(reading, &key, &meta->key) || !take_string(reading, &text, &meta->value)) return false;
        line->spec.meta_count++;
    }
    return true;
}

static bool read_backoff(struct reading *reading, const struct member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    const char *text;
    rv_error why;

    (void)member;
    if (!take_string(reading, value, &text)) return false;
    line->backoff = rv_zalloc(sizeof(*line->backoff));
    if (line->backoff == NULL) return refuse(reading, "out of memory", "out of memory");
    if (rv_backoff_parse(text, line->backoff, &why) != REEVE_OK)
        return refuse(reading, "wrong value", "\"%s\": %s", reading->name, why.text);
    line->spec.backoff = line->backoff;
    return true;
}

static bool read_until(struct reading *reading, const struct member *member, const cli_value *value)
{
    const char *text = NULL;

    (void)member;
    if (!take_string(reading, value, &text)) return false;
    return cli_until_parse(text, &reading->line->spec.unique_until_started) ||
           refuse_value(reading, value, CLI_UNTIL_NAMES);
}

static bool read_conflict(struct reading *reading, const struct member *member, const cli_value *value)
{
    const char *text = NULL;

    (void)member;
    if (!take_string(reading, value, &text)) return false;
    return cli_conflict_parse(text, &reading->line->spec.on_conflict) ||
           refuse_value(reading, value, CLI_CONFLICT_NAMES);
}

static bool read_truth(struct reading *reading, const struct member *member, const cli_value *value)
{
    if (value->kind != CLI_VALUE_TRUE && value->kind != CLI_VALUE_FALSE) return refuse_type(reading, "true or false");
    *(bool *)(void *)((char *)&reading->line->spec + member->at) = value->kind == CLI_VALUE_TRUE;
    return true;
}

static bool read_parent(struct reading *reading, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    const char *text = NULL;

    if (value->kind != CLI_VALUE_STRING) return refuse_type(reading, "a handle, or an array of handles");
    if (!take_string(reading, value, &text)) return false;
    if (!cli_after_parse((char *)text, &line->after[line->spec.after_count])) /* (it lies in the line's memory) */
        return refuse_value(reading, value, "QUEUE/ID, or that with a rule behind it: " CLI_AFTER_NAMES);
    line->spec.after_count++;
    return true;
}

/* One, or an array. */
static bool read_after(struct reading *reading, const struct member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    size_t count = value->kind == CLI_VALUE_ARRAY ? count_members(value) : 1;
    cli_walk walk;
    cli_value one;

    (void)member;
    if (count == 0) return true;
    line->after = rv_zalloc_array(count, sizeof(*line->after));
    if (line->after == NULL) return refuse(reading, "out of memory", "out of memory");
    line->spec.after = line->after;
    if (value->kind != CLI_VALUE_ARRAY) return read_parent(reading, value);
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, NULL, &one))
        if (!read_parent(reading, &one)) return false;
    return true;
}

/* ---- members --------------------------------------------------------------------------------------------------- */

#define AT(field) offsetof(reeve_task_spec, field)

static const struct member members[] = {
    {"queue", read_text, AT(queue), 0, 0},
    {"type", read_text, AT(type), 0, 0},
    {"payload", read_payload, 0, 0, 0},
    {"payload_base64", read_base64, 0, 0, 0},
    {"id", read_text, AT(id), 0, 0},
    {"in", read_duration, AT(delay_ms), 0, 0},
    {"at", read_time, AT(at_ms), INT64_MIN, 0},
    {"priority", read_int, AT(priority), REEVE_PRIORITY_MIN, REEVE_PRIORITY_MAX},
    {"group", read_text, AT(group), 0, 0},
    {"weight", read_int, AT(weight), 1, 256},
    {"attempts", read_int, AT(max_attempts), 1, INT32_MAX},
    {"max_crashes", read_int, AT(max_crashes), 1, INT32_MAX},
    {"timeout", read_duration, AT(timeout_ms), 1, 0},
    {"backoff", read_backoff, 0, 0, 0},
    {"tags", read_tags, 0, 0, 0},
    {"meta", read_meta, 0, 0, 0},
    {"unique", read_text, AT(unique), 0, 0},
    {"unique_until", read_until, 0, 0, 0},
    {"unique_for", read_duration, AT(unique_for_ms), 1, 0},
    {"on_conflict", read_conflict, 0, 0, 0},
    {"on_dead", read_text, AT(on_dead), 0, 0},
    {"heartbeat", read_duration, AT(heartbeat_ms), 1, 0},
    {"at_most_once", read_truth, AT(at_most_once), 0, 0},
    {"expires_in", read_duration, AT(expires_in_ms), 1, 0},
    {"deadline", read_time, AT(deadline_ms), 1, 0},
    {"after", read_after, 0, 0, 0},
};
#define MEMBERS (sizeof(members) / sizeof(members[0]))
_Static_assert(MEMBERS <= 32, "reading.seen has a bit for each");

static const struct member *find_member(const char *name)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (strcmp(members[i].name, name) == 0) return &members[i];
    return NULL;
}

static bool seen(const struct reading *reading, const char *name)
{
    return (reading->seen >> (find_member(name) - members) & 1) != 0;
}

static bool refuse_member(struct reading *reading)
{
    rv_nearest nearest;

    rv_nearest_init(&nearest, reading->name);
    for (size_t i = 0; i < MEMBERS; i++) rv_nearest_try(&nearest, members[i].name);
    if (nearest.name == NULL) return refuse(reading, "unknown member", "unknown member \"%s\"", reading->name);
    return refuse(reading, "unknown member", "unknown member \"%s\"; did you mean \"%s\"?", reading->name,
                  nearest.name);
}

/* The member's name for comparing and for words; one that is too long to be any is shown by its beginning. */
static void take_name(struct reading *reading, const cli_value *key)
{
    size_t length;

    if (key->length > NAME_MAX_SHOWN || !cli_scan_string(key, reading->name, &length)) {
        length = rv_utf8_cut(key->text + 1, key->length - 2, NAME_MAX_SHOWN - 4);
        memcpy(reading->name, key->text + 1, length);
        memcpy(reading->name + length, "...", 3);
        length += 3;
    }
    reading->name[length] = '\0';
}

static bool read_member(struct reading *reading, const cli_value *key, const cli_value *value)
{
    const struct member *member;
    uint32_t bit;

    take_name(reading, key);
    member = find_member(reading->name);
    if (member == NULL) return refuse_member(reading);
    bit = 1u << (member - members);
    if ((reading->seen & bit) != 0) return refuse(reading, "member twice", "\"%s\" stands twice", member->name);
    reading->seen |= bit;
    return member->read(reading, member, value);
}

static bool check_unique(struct reading *reading)
{
    static const char *const with_key[] = {"unique_until", "unique_for", "on_conflict"};

    if (seen(reading, "unique_until") && seen(reading, "unique_for"))
        return refuse(reading, "members that exclude each other",
                      "\"unique_until\" and \"unique_for\": give one of them");
    for (size_t i = 0; i < sizeof(with_key) / sizeof(with_key[0]) && !seen(reading, "unique"); i++)
        if (seen(reading, with_key[i]))
            return refuse(reading, "member missing", "\"unique\" is missing; \"%s\" goes with it", with_key[i]);
    return true;
}

/* What no single member can tell. */
static bool check_together(struct reading *reading, const cli_bulk_defaults *defaults)
{
    reeve_task_spec *spec = &reading->line->spec;
    char words[400];
    reeve_status status;

    if (seen(reading, "payload") && seen(reading, "payload_base64"))
        return refuse(reading, "members that exclude each other",
                      "\"payload\" and \"payload_base64\": give one of them");
    if (seen(reading, "in") && seen(reading, "at"))
        return refuse(reading, "members that exclude each other", "\"in\" and \"at\": give one of them");
    if (!check_unique(reading)) return false;
    if (spec->queue == NULL) spec->queue = defaults->queue;
    if (spec->type == NULL) spec->type = defaults->type;
    if (spec->queue == NULL) return refuse(reading, "member missing", "\"queue\" is missing");
    if (spec->type == NULL) return refuse(reading, "member missing", "\"type\" is missing");
    status = reeve_task_spec_check(spec, words, sizeof(words));
    return status == REEVE_OK || refuse(reading, reeve_status_text(status), "%s", words);
}

static bool scan_line(struct reading *reading, const char *text, size_t length, cli_value *ret)
{
    cli_scan scan;

    if (memchr(text, '\0', length) != NULL)
        return refuse(reading, "invalid JSON", "invalid JSON: a zero byte in the line");
    cli_scan_init(&scan, text, length);
    if (!cli_scan_value(&scan, ret) || !cli_scan_end(&scan))
        return refuse(reading, "invalid JSON", "invalid JSON at byte %zu: expected %s", (size_t)(scan.at - text) + 1,
                      scan.expected);
    if (ret->kind != CLI_VALUE_OBJECT)
        return refuse(reading, "no object", "expected an object such as {\"queue\":\"default\",\"type\":\"noop\"}");
    return true;
}

static bool read_line(struct reading *reading, const cli_value *object, const cli_bulk_defaults *defaults)
{
    cli_value key, value;
    cli_walk walk;

    cli_walk_init(&walk, object);
    while (cli_walk_next(&walk, &key, &value))
        if (!read_member(reading, &key, &value)) return false;
    return check_together(reading, defaults);
}

bool cli_bulk_line_parse(cli_bulk_line *ret, const char *text, size_t length, const cli_bulk_defaults *defaults,
                         cli_bulk_fault *ret_fault)
{
    cli_bulk_line line = {.spec = {.size = sizeof(line.spec)}};
    struct reading reading = {.line = &line, .fault = ret_fault};
    cli_value object;

    if (!scan_line(&reading, text, length, &object)) return false;
    line.memory = reading.at = rv_alloc(object.length);
    if (line.memory == NULL) return refuse(&reading, "out of memory", "out of memory");
    if (!read_line(&reading, &object, defaults)) {
        cli_bulk_line_fini(&line);
        return false;
    }
    *ret = line;
    return true;
}

void cli_bulk_line_fini(cli_bulk_line *line)
{
    rv_free(line->memory);
    rv_free(line->tags);
    rv_free(line->meta);
    rv_free(line->after);
    rv_free(line->backoff);
    memset(line, 0, sizeof(*line));
}
