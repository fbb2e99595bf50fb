#include "protocol/size_limits.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "reeve/task.h"

typedef struct size_limit {
    const char *name;
    size_t at;
    int64_t otherwise;
    int64_t max;
} size_limit;

/* field, default, maximum */
#define SIZE_LIMITS(ROW)                                               \
    ROW(payload, REEVE_PAYLOAD_MAX, REEVE_PAYLOAD_MAX)                 \
    ROW(result, REEVE_RESULT_MAX, REEVE_RESULT_MAX)                    \
    ROW(checkpoint, REEVE_CHECKPOINT_MAX, REEVE_CHECKPOINT_MAX)        \
    ROW(meta, REEVE_META_MAX, REEVE_META_MAX)                          \
    ROW(type, REEVE_TYPE_MAX, REEVE_TYPE_MAX)                          \
    ROW(id, REEVE_ID_LENGTH_MAX, REEVE_ID_LENGTH_MAX)                  \
    ROW(group, REEVE_GROUP_MAX, REEVE_GROUP_MAX)                       \
    ROW(unique, REEVE_UNIQUE_MAX, REEVE_UNIQUE_MAX)                    \
    ROW(tag, REEVE_TAG_MAX, REEVE_TAG_MAX)                             \
    ROW(tags, REEVE_TAGS_MAX, REEVE_TAGS_MAX)                          \
    ROW(parents, REEVE_SIZE_LIMIT_PARENTS, REEVE_SIZE_LIMIT_COUNT_MAX) \
    ROW(batch, REEVE_SIZE_LIMIT_BATCH, REEVE_SIZE_LIMIT_COUNT_MAX)

#define AS_ROW(field, otherwise, max) {#field, offsetof(reeve_size_limits, field), otherwise, max},
#define AS_FIELD(field, otherwise, max) .field = (otherwise),

static const size_limit table[] = {SIZE_LIMITS(AS_ROW)};
#define COUNT (sizeof(table) / sizeof(table[0]))
_Static_assert(COUNT * sizeof(int64_t) == sizeof(reeve_size_limits), "each size limit has a row");

const reeve_size_limits rv_size_limits_default = {SIZE_LIMITS(AS_FIELD)};

static int64_t value_at(const reeve_size_limits *size_limits, size_t at)
{
    int64_t value;
    memcpy(&value, (const char *)size_limits + at, sizeof(value));
    return value;
}

static void set_value(reeve_size_limits *size_limits, size_t at, int64_t value)
{
    memcpy((char *)size_limits + at, &value, sizeof(value));
}

static reeve_status check_value(const size_limit *row, int64_t value, rv_error *error)
{
    if (value >= 1 && value <= row->max) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "size_limits.%s: a limit of %lld: must be from 1 to %lld", row->name,
                   (long long)value, (long long)row->max);
}

reeve_status rv_size_limits_choose(reeve_size_limits *ret, const reeve_size_limits *given, rv_error *error)
{
    reeve_size_limits chosen = rv_size_limits_default;
    for (size_t i = 0; i < COUNT; i++) {
        int64_t value = value_at(given, table[i].at);
        if (value == 0) continue;
        if (check_value(&table[i], value, error) != REEVE_OK) return REEVE_EINVAL;
        set_value(&chosen, table[i].at, value);
    }
    *ret = chosen;
    return REEVE_OK;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static const size_limit *find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) return &table[i];
    }
    return NULL;
}

/* "name=size", of a length. */
static reeve_status parse_one(reeve_size_limits *ret, const char *text, size_t length, rv_error *error)
{
    char size[32] = "";
    const char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - text) : length;
    const size_limit *row = find(text, name);
    int64_t value;
    if (row == NULL) {
        return rv_fail(
            error, REEVE_EINVAL,
            "there is no size limit \"%.*s\": expected payload, result, checkpoint, meta, type, id, group, unique, "
            "tag, tags, parents or batch, as payload=64K,tags=8",
            (int)(name < 60 ? name : 60), text);
    }
    if (equals != NULL && length - name - 1 < sizeof(size)) memcpy(size, equals + 1, length - name - 1);
    if (!rv_parse_size(size, &value)) {
        return rv_fail(error, REEVE_EINVAL,
                       "size_limits.%s: expected a whole number such as %s=4096 or 64K, not \"%.30s\"", row->name,
                       row->name, size);
    }
    if (check_value(row, value, error) != REEVE_OK) return REEVE_EINVAL;
    set_value(ret, row->at, value);
    return REEVE_OK;
}

reeve_status rv_size_limits_parse(reeve_size_limits *ret, const char *text, rv_error *error)
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

reeve_status rv_size_limits_refuse(rv_error *error, const reeve_size_limits *size_limits, size_t at, const char *format,
                                   ...)
{
    char what[256];
    const size_limit *row = table;
    va_list arguments;
    while (row->at != at) row++;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    int64_t limit = value_at(size_limits, at);
    if (limit >= row->max)
        return rv_fail(error, REEVE_ETOOBIG, "%s: at most %lld (no setting raises it)", what, (long long)limit);
    return rv_fail(error, REEVE_ETOOBIG, "%s: at most %lld (size_limits.%s raises it, up to %lld)", what,
                   (long long)limit, row->name, (long long)row->max);
}

reeve_status rv_size_limits_check_name(rv_error *error, const reeve_size_limits *size_limits, size_t at,
                                       const char *what, const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    if (length <= (size_t)value_at(size_limits, at)) return REEVE_OK;
    return rv_size_limits_refuse(error, size_limits, at, "%s \"%.*s%s\" has %zu bytes", what,
                                 (int)rv_utf8_cut(text, length, NAME_SHOWN), text, length > NAME_SHOWN ? "..." : "",
                                 length);
}
