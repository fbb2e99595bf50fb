#include "bulk_listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- values ---------------------------------------------------------------------------------------------------- */

static bool is_named(const cli_value *key, const char *name)
{
    return key->length == strlen(name) + 2 && memcmp(key->text + 1, name, key->length - 2) == 0;
}

static bool read_ms(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    int64_t *place = (int64_t *)(void *)((char *)&reading->line->spec + member->at);
    char text[32];

    if (value->kind == CLI_VALUE_NUMBER && value->length < sizeof(text)) {
        memcpy(text, value->text, value->length);
        text[value->length] = '\0';
        if (rv_parse_int(text, 0, INT64_MAX, place)) return true;
    }
    return cli_bulk_refuse_type(reading, "milliseconds");
}

/* The payload itself, not JSON. */
static bool read_payload(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    size_t length;

    (void)member;
    if (value->kind != CLI_VALUE_STRING || !cli_scan_string(value, reading->at, &length))
        return cli_bulk_refuse_type(reading, "a string");
    reading->line->spec.payload = (reeve_bytes){reading->at, length};
    reading->at += length;
    return true;
}

/* The weight 1 is listed for tasks without a group, too. */
static bool read_weight(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    return (value->length == 1 && value->text[0] == '1') || cli_bulk_read_int(reading, member, value);
}

static bool read_state(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    const char *name = "";
    reeve_state state;

    (void)member;
    if (!cli_bulk_take_string(reading, value, &name)) return false;
    if (reeve_state_parse(name, &state) != REEVE_OK) return cli_bulk_refuse_value(reading, value, "a state");
    reading->line->has_ended = state >= REEVE_STATE_COMPLETED;
    return true;
}

/* ---- parents --------------------------------------------------------------------------------------------------- */

static bool take_rule(const char *name, reeve_on_parent_death *ret)
{
    static const char *const rules[] = {"fail", "go", "wait", "death"}; /* by reeve_on_parent_death */

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (strcmp(rules[i], name) != 0) continue;
        *ret = (reeve_on_parent_death)i;
        return true;
    }
    return false;
}

/* One that has ended needs not be waited for, unless a retry is. The others may come later in the input. */
static bool read_parent(cli_bulk_reading *reading, const cli_value *object)
{
    cli_bulk_line *line = reading->line;
    reeve_parent parent = {.unknown = REEVE_UNKNOWN_EXPECTED};
    const char *rule = "";
    bool has_ended = false;
    cli_value key, value;
    cli_walk walk;

    if (object->kind != CLI_VALUE_OBJECT) return cli_bulk_refuse_type(reading, "an array of parents");
    cli_walk_init(&walk, object);
    while (cli_walk_next(&walk, &key, &value)) {
        if (is_named(&key, "ended")) has_ended = value.kind != CLI_VALUE_NULL;
        if (is_named(&key, "handle") && !cli_bulk_take_string(reading, &value, &parent.handle)) return false;
        if (is_named(&key, "on_death") && !cli_bulk_take_string(reading, &value, &rule)) return false;
    }
    if (has_ended) return true;
    if (parent.handle == NULL || !take_rule(rule, &parent.on_death))
        return cli_bulk_refuse_type(reading, "parents as `reeve list --json` prints them");
    line->after[line->spec.after_count++] = parent;
    return true;
}

static bool read_parents(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    size_t count = 0;
    cli_walk walk;
    cli_value one;

    (void)member;
    if (value->kind != CLI_VALUE_ARRAY) return cli_bulk_refuse_type(reading, "an array of parents");
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, NULL, &one)) count++;
    line->after = rv_zalloc_array(count + 1, sizeof(*line->after));
    if (line->after == NULL) return cli_bulk_no_memory(reading);
    line->spec.after = line->after;
    line->listed_parents = count;
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, NULL, &one))
        if (!read_parent(reading, &one)) return false;
    return true;
}

static bool read_parent_count(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    (void)member;
    reading->line->parent_count = value->kind == CLI_VALUE_NUMBER ? strtoull(value->text, NULL, 10) : 0;
    return true;
}

/* ---- members --------------------------------------------------------------------------------------------------- */

#define AT(field) offsetof(reeve_task_spec, field)
#define COUNTED 1, REEVE_ATTEMPTS_MAX

static const cli_bulk_member members[] = {
    {"state", read_state, 0, 0, 0},
    {"queue", cli_bulk_read_text, AT(queue), 0, 0},
    {"id", cli_bulk_read_text, AT(id), 0, 0},
    {"type", cli_bulk_read_text, AT(type), 0, 0},
    {"payload", read_payload, 0, 0, 0},
    {"payload_base64", cli_bulk_read_base64, 0, 0, 0},
    {"due_ms", read_ms, AT(at_ms), 0, 0},
    {"deadline_ms", read_ms, AT(deadline_ms), 0, 0},
    {"priority", cli_bulk_read_int, AT(priority), REEVE_PRIORITY_MIN, REEVE_PRIORITY_MAX},
    {"group", cli_bulk_read_text, AT(group), 0, 0},
    {"weight", read_weight, AT(weight), 1, 256},
    {"cost", cli_bulk_read_int, AT(cost), 1, REEVE_COST_MAX},
    {"limit_keys", cli_bulk_read_limit_keys, 0, 0, 0},
    {"attempts", cli_bulk_read_int, AT(attempts), COUNTED},
    {"max_crashes", cli_bulk_read_int, AT(max_crashes), COUNTED},
    {"retry_for_ms", read_ms, AT(retry_for_ms), 0, 0},
    {"max_snoozes", cli_bulk_read_int, AT(max_snoozes), COUNTED},
    {"keep_ms", read_ms, AT(keep_ms), 0, 0},
    {"timeout_ms", read_ms, AT(timeout_ms), 0, 0},
    {"heartbeat_ms", read_ms, AT(heartbeat_ms), 0, 0},
    {"at_most_once", cli_bulk_read_truth, AT(at_most_once), 0, 0},
    {"backoff", cli_bulk_read_backoff, 0, 0, 0},
    {"unique", cli_bulk_read_text, AT(unique), 0, 0},
    {"unique_until", cli_bulk_read_until, 0, 0, 0},
    {"unique_for_ms", read_ms, AT(unique_for_ms), 0, 0},
    {"on_dead", cli_bulk_read_text, AT(on_dead), 0, 0},
    {"tags", cli_bulk_read_tags, 0, 0, 0},
    {"meta", cli_bulk_read_meta, 0, 0, 0},
    {"parents", read_parents, 0, 0, 0},
    {"parent_count", read_parent_count, 0, 0, 0},
};

static const cli_bulk_member *find_member(const cli_value *key)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (is_named(key, members[i].name)) return &members[i];
    return NULL;
}

bool cli_bulk_listed_is(const cli_value *object)
{
    cli_value key, value;
    cli_walk walk;

    cli_walk_init(&walk, object);
    while (cli_walk_next(&walk, &key, &value))
        if (is_named(&key, "state")) return true;
    return false;
}

bool cli_bulk_listed_read(cli_bulk_reading *reading, const cli_value *object)
{
    const cli_bulk_line *line = reading->line;
    cli_value key, value;
    cli_walk walk;

    cli_walk_init(&walk, object);
    while (cli_walk_next(&walk, &key, &value)) {
        const cli_bulk_member *member = find_member(&key);

        if (member == NULL || value.kind == CLI_VALUE_NULL) continue;
        rv_copy_text(reading->name, sizeof(reading->name), member->name);
        if ((reading->seen >> (member - members) & 1) != 0)
            return cli_bulk_refuse(reading, "member twice", "\"%s\" stands twice", member->name);
        reading->seen |= (uint64_t)1 << (member - members);
        if (!member->read(reading, member, &value)) return false;
    }
    if (line->parent_count <= line->listed_parents) return true;
    return cli_bulk_refuse(reading, "too many parents", "it has %llu parents, and the line lists only %zu of them",
                           (unsigned long long)line->parent_count, line->listed_parents);
}
