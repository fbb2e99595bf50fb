#include "protocol/guards.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "reeve/task.h"

typedef struct guard {
    const char *name;
    size_t at;
    int64_t standard;
    int64_t most;
} guard;

/* (guard, standard, maximum) */
#define GUARDS(ROW)                                             \
    ROW(payload, REEVE_PAYLOAD_MAX, REEVE_PAYLOAD_MAX)          \
    ROW(result, REEVE_RESULT_MAX, REEVE_RESULT_MAX)             \
    ROW(checkpoint, REEVE_CHECKPOINT_MAX, REEVE_CHECKPOINT_MAX) \
    ROW(meta, REEVE_META_MAX, REEVE_META_MAX)                   \
    ROW(type, REEVE_TYPE_MAX, REEVE_TYPE_MAX)                   \
    ROW(id, REEVE_ID_LENGTH_MAX, REEVE_ID_LENGTH_MAX)           \
    ROW(group, REEVE_GROUP_MAX, REEVE_GROUP_MAX)                \
    ROW(unique, REEVE_UNIQUE_MAX, REEVE_UNIQUE_MAX)             \
    ROW(tag, REEVE_TAG_MAX, REEVE_TAG_MAX)                      \
    ROW(tags, REEVE_TAGS_MAX, REEVE_TAGS_MAX)                   \
    ROW(parents, REEVE_GUARD_PARENTS, REEVE_GUARD_COUNT_MAX)    \
    ROW(batch, REEVE_GUARD_BATCH, REEVE_GUARD_COUNT_MAX)

#define AS_ROW(field, standard, most) {#field, offsetof(reeve_guards, field), standard, most},
#define AS_FIELD(field, standard, most) .field = (standard),

static const guard guards_table[] = {GUARDS(AS_ROW)};
#define COUNT (sizeof(guards_table) / sizeof(guards_table[0]))
_Static_assert(COUNT * sizeof(int64_t) == sizeof(reeve_guards), "each guard has a row");

const reeve_guards rv_guards_standard = {GUARDS(AS_FIELD)};

static int64_t value_at(const reeve_guards *guards, size_t at)
{
    int64_t value;
    memcpy(&value, (const char *)guards + at, sizeof(value));
    return value;
}

static void set_value(reeve_guards *guards, size_t at, int64_t value)
{
    memcpy((char *)guards + at, &value, sizeof(value));
}

static reeve_status check_value(const guard *row, int64_t value, rv_error *error)
{
    if (value >= 1 && value <= row->most) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "guards.%s: a limit of %lld: must be from 1 to %lld", row->name,
                   (long long)value, (long long)row->most);
}

reeve_status rv_guards_choose(reeve_guards *ret, const reeve_guards *said, rv_error *error)
{
    reeve_guards chosen = rv_guards_standard;
    for (size_t i = 0; i < COUNT; i++) {
        int64_t value = value_at(said, guards_table[i].at);
        if (value == 0) continue;
        if (check_value(&guards_table[i], value, error) != REEVE_OK) return REEVE_EINVAL;
        set_value(&chosen, guards_table[i].at, value);
    }
    *ret = chosen;
    return REEVE_OK;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static const guard *find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strlen(guards_table[i].name) == length && memcmp(guards_table[i].name, name, length) == 0)
            return &guards_table[i];
    }
    return NULL;
}

/* "name=size", of a length. */
static reeve_status parse_one(reeve_guards *ret, const char *text, size_t length, rv_error *error)
{
    char size[32] = "";
    const char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - text) : length;
    const guard *row = find(text, name);
    int64_t value;
    if (row == NULL) {
        return rv_fail(
            error, REEVE_EINVAL,
            "there is no guard \"%.*s\": expected payload, result, checkpoint, meta, type, id, group, unique, "
            "tag, tags, parents or batch, as payload=64K,tags=8",
            (int)(name < 60 ? name : 60), text);
    }
    if (equals != NULL && length - name - 1 < sizeof(size)) memcpy(size, equals + 1, length - name - 1);
    if (!rv_parse_size(size, &value)) {
        return rv_fail(error, REEVE_EINVAL, "guards.%s: expected a whole number such as %s=4096 or 64K, not \"%.30s\"",
                       row->name, row->name, size);
    }
    if (check_value(row, value, error) != REEVE_OK) return REEVE_EINVAL;
    set_value(ret, row->at, value);
    return REEVE_OK;
}

reeve_status rv_guards_parse(reeve_guards *ret, const char *text, rv_error *error)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        reeve_status status = parse_one(ret, text, length, error);
        if (status != REEVE_OK) return status;
        text += length;
        if (*text == ',') text++;
    }
    return REEVE_OK;
}

/* ---- refusing -------------------------------------------------------------------------------------------------- */

#define NAME_SHOWN 80

reeve_status rv_guard_refuse(rv_error *error, const reeve_guards *guards, size_t at, const char *format, ...)
{
    char what[256];
    const guard *row = guards_table;
    va_list arguments;
    while (row->at != at) row++;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    int64_t limit = value_at(guards, at);
    if (limit >= row->most)
        return rv_fail(error, REEVE_ETOOBIG, "%s: at most %lld (no setting raises it)", what, (long long)limit);
    return rv_fail(error, REEVE_ETOOBIG, "%s: at most %lld (guards.%s raises it, up to %lld)", what, (long long)limit,
                   row->name, (long long)row->most);
}

reeve_status rv_guard_name(rv_error *error, const reeve_guards *guards, size_t at, const char *what, const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    if (length <= (size_t)value_at(guards, at)) return REEVE_OK;
    return rv_guard_refuse(error, guards, at, "%s \"%.*s%s\" has %zu bytes", what,
                           (int)rv_utf8_cut(text, length, NAME_SHOWN), text, length > NAME_SHOWN ? "..." : "", length);
}
