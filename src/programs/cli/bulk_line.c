#include "bulk_line.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "base/text.h"
#include "bulk_listed.h"
#include "bulk_values.h"
#include "protocol/task_options.h"

/* ---- members --------------------------------------------------------------------------------------------------- */

#define AT(field) offsetof(reeve_task_spec, field)
#define MEMBER(name, read, field, min, max) \
    {                                       \
        name, read, AT(field), min, max     \
    }

static const cli_bulk_member members[] = {
    {"queue", cli_bulk_read_text, AT(queue), 0, 0},
    {"type", cli_bulk_read_text, AT(type), 0, 0},
    {"payload", cli_bulk_read_payload, 0, 0, 0},
    {"payload_base64", cli_bulk_read_base64, 0, 0, 0},
    RV_BULK_MEMBERS(MEMBER),
};
#define MEMBERS (sizeof(members) / sizeof(members[0]))
_Static_assert(MEMBERS <= 64, "reading.seen has a bit for each");

static const cli_bulk_member *find_member(const char *name)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (strcmp(members[i].name, name) == 0) return &members[i];
    return NULL;
}

static bool seen(const cli_bulk_reading *reading, const char *name)
{
    return (reading->seen >> (find_member(name) - members) & 1) != 0;
}

static bool refuse_member(cli_bulk_reading *reading)
{
    rv_nearest nearest;

    rv_nearest_init(&nearest, reading->name);
    for (size_t i = 0; i < MEMBERS; i++) rv_nearest_try(&nearest, members[i].name);
    if (nearest.name == NULL) return cli_bulk_refuse(reading, "unknown member", "unknown member \"%s\"", reading->name);
    return cli_bulk_refuse(reading, "unknown member", "unknown member \"%s\"; did you mean \"%s\"?", reading->name,
                           nearest.name);
}

/* The member's name for comparing and for words; one that is too long to be any is shown by its beginning. */
static void take_name(cli_bulk_reading *reading, const cli_value *key)
{
    size_t length;

    if (key->length > CLI_BULK_NAME_SHOWN || !cli_scan_string(key, reading->name, &length)) {
        length = rv_utf8_cut(key->text + 1, key->length - 2, CLI_BULK_NAME_SHOWN - 4);
        memcpy(reading->name, key->text + 1, length);
        memcpy(reading->name + length, "...", 3);
        length += 3;
    }
    reading->name[length] = '\0';
}

static bool read_member(cli_bulk_reading *reading, const cli_value *key, const cli_value *value)
{
    const cli_bulk_member *member;
    uint64_t bit;

    take_name(reading, key);
    member = find_member(reading->name);
    if (member == NULL) return refuse_member(reading);
    bit = (uint64_t)1 << (member - members);
    if ((reading->seen & bit) != 0)
        return cli_bulk_refuse(reading, "member twice", "\"%s\" stands twice", member->name);
    reading->seen |= bit;
    return member->read(reading, member, value);
}

static bool check_unique(cli_bulk_reading *reading)
{
    static const char *const with_key[] = {"unique_until", "unique_for", "on_conflict"};

    if (seen(reading, "unique_until") && seen(reading, "unique_for"))
        return cli_bulk_refuse(reading, "members that exclude each other",
                               "\"unique_until\" and \"unique_for\": give one of them");
    for (size_t i = 0; i < sizeof(with_key) / sizeof(with_key[0]) && !seen(reading, "unique"); i++)
        if (seen(reading, with_key[i]))
            return cli_bulk_refuse(reading, "member missing", "\"unique\" is missing; \"%s\" goes with it",
                                   with_key[i]);
    return true;
}

static bool check_spec(cli_bulk_reading *reading)
{
    const reeve_task_spec *spec = &reading->line->spec;
    char words[400];
    reeve_status status;

    if (spec->queue == NULL) return cli_bulk_refuse(reading, "member missing", "\"queue\" is missing");
    if (spec->type == NULL) return cli_bulk_refuse(reading, "member missing", "\"type\" is missing");
    status = reeve_task_spec_check(spec, words, sizeof(words));
    if (status == REEVE_OK) return true;
    (void)cli_bulk_refuse(reading, reeve_status_text(status), "%s", words);
    reading->fault->status = status;
    return false;
}

/* What no single member can tell. */
static bool check_together(cli_bulk_reading *reading, const cli_bulk_defaults *defaults)
{
    reeve_task_spec *spec = &reading->line->spec;

    if (seen(reading, "payload") && seen(reading, "payload_base64"))
        return cli_bulk_refuse(reading, "members that exclude each other",
                               "\"payload\" and \"payload_base64\": give one of them");
    if (seen(reading, "in") && seen(reading, "at"))
        return cli_bulk_refuse(reading, "members that exclude each other", "\"in\" and \"at\": give one of them");
    if (!check_unique(reading)) return false;
    if (spec->queue == NULL) spec->queue = defaults->queue;
    if (spec->type == NULL) spec->type = defaults->type;
    return check_spec(reading);
}

static bool scan_line(cli_bulk_reading *reading, const char *text, size_t length, cli_value *ret)
{
    cli_scan scan;

    if (memchr(text, '\0', length) != NULL)
        return cli_bulk_refuse(reading, "invalid JSON", "invalid JSON: a zero byte in the line");
    cli_scan_init(&scan, text, length);
    if (!cli_scan_value(&scan, ret) || !cli_scan_end(&scan))
        return cli_bulk_refuse(reading, "invalid JSON", "invalid JSON at byte %zu: expected %s",
                               (size_t)(scan.at - text) + 1, scan.expected);
    if (ret->kind != CLI_VALUE_OBJECT)
        return cli_bulk_refuse(reading, "no object",
                               "expected an object such as {\"queue\":\"default\",\"type\":\"noop\"}");
    return true;
}

static bool read_line(cli_bulk_reading *reading, const cli_value *object, const cli_bulk_defaults *defaults)
{
    cli_value key, value;
    cli_walk walk;

    if (cli_bulk_listed_is(object)) return cli_bulk_listed_read(reading, object) && check_spec(reading);
    cli_walk_init(&walk, object);
    while (cli_walk_next(&walk, &key, &value))
        if (!read_member(reading, &key, &value)) return false;
    return check_together(reading, defaults);
}

bool cli_bulk_line_parse(cli_bulk_line *ret, const char *text, size_t length, const cli_bulk_defaults *defaults,
                         cli_bulk_fault *ret_fault)
{
    cli_bulk_line line = {.spec = {.size = sizeof(line.spec)}};
    cli_bulk_reading reading = {.line = &line, .fault = ret_fault};
    cli_value object;

    if (!scan_line(&reading, text, length, &object)) return false;
    line.memory = reading.at = rv_alloc(object.length);
    if (line.memory == NULL) return cli_bulk_no_memory(&reading);
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
    rv_free(line->limit_keys);
    rv_free(line->meta);
    rv_free(line->after);
    rv_free(line->backoff);
    memset(line, 0, sizeof(*line));
}
