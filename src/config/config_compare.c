#include "config/config_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "config/setting_rows.h"

#define VALUE_MAX ((size_t)64 * 1024)
#define PATH_MAX_LENGTH 1024

typedef struct comparison {
    void (*take)(const rv_config_difference *difference, void *context);
    void *context;
    bool no_memory;
} comparison;

typedef struct list {
    char *items;
    size_t count;
} list;

static list list_at(const rv_setting *row, const char *base)
{
    list ret;

    memcpy(&ret.items, base + row->at, sizeof(ret.items));
    memcpy(&ret.count, base + row->count_at, sizeof(ret.count));
    return ret;
}

static char *text_at(const rv_setting *row, const char *base)
{
    char *text;

    memcpy(&text, base + row->at, sizeof(text));
    return text;
}

static int64_t number_at(const rv_setting *row, const char *base)
{
    int64_t number;

    memcpy(&number, base + row->at, sizeof(number));
    return number;
}

static bool flag_at(const char *at)
{
    bool flag;

    memcpy(&flag, at, sizeof(flag));
    return flag;
}

/* Whether the row has a value there. */
static bool is_given(const rv_setting *row, const char *base)
{
    double share;

    if (row->given_at != 0) return flag_at(base + row->given_at);
    switch (row->kind) {
    case RV_SETTING_GROUP:
        if (row->short_name != NULL) return is_given(rv_setting_find(row, row->short_name), base);
        return row->at == RV_NOWHERE || flag_at(base + row->at);
    case RV_SETTING_TEXT:
        return text_at(row, base) != NULL;
    case RV_SETTING_GROUPS:
    case RV_SETTING_OPTIONS:
    case RV_SETTING_NAMES:
    case RV_SETTING_NUMBERS:
        return list_at(row, base).count > 0;
    case RV_SETTING_WHOLE:
    case RV_SETTING_SECONDS:
    case RV_SETTING_SWITCH:
    case RV_SETTING_DELAYS:
        return row->standard != NULL || number_at(row, base) != 0;
    case RV_SETTING_SHARE:
        memcpy(&share, base + row->at, sizeof(share));
        return row->standard != NULL || share != 0;
    default:
        return true;
    }
}

/* ---- values as text -------------------------------------------------------------------------------------------- */

static void add_value(rv_buf *out, const rv_setting *row, const char *base);

static void add_seconds(rv_buf *out, int64_t ms)
{
    rv_decimal_add(out, ms < 0 ? -1 : (double)ms / 1000, 16);
}

static void add_delays(rv_buf *out, const rv_setting *row, const char *base)
{
    int64_t delays[REEVE_BACKOFF_LIST_MAX];

    memcpy(delays, base + row->at, sizeof(delays));
    rv_buf_adds(out, "[ ");
    for (size_t i = 0; i < REEVE_BACKOFF_LIST_MAX && delays[i] != 0; i++) {
        if (i > 0) rv_buf_adds(out, ", ");
        add_seconds(out, delays[i]);
    }
    rv_buf_adds(out, " ]");
}

static void add_choice(rv_buf *out, const rv_setting *row, const char *base)
{
    int value = 0;

    if (row->at != RV_NOWHERE) memcpy(&value, base + row->at, sizeof(value));
    for (const rv_choice *choice = row->choices; choice->name != NULL; choice++) {
        if (choice->value != value) continue;
        rv_buf_addf(out, "\"%s\"", choice->name);
        return;
    }
}

static void add_share(rv_buf *out, const rv_setting *row, const char *base)
{
    double share;

    memcpy(&share, base + row->at, sizeof(share));
    rv_decimal_add(out, share < 0 ? 0 : share, 16);
}

/* Of names and numbers. Options may be secret. */
static void add_list(rv_buf *out, const rv_setting *row, const char *base)
{
    list all = list_at(row, base);

    rv_buf_adds(out, "[ ");
    for (size_t i = 0; i < all.count; i++) {
        const void *item = all.items + i * row->item_size;

        if (i > 0) rv_buf_adds(out, ", ");
        if (row->kind == RV_SETTING_NUMBERS)
            rv_buf_addf(out, "%" PRId64, ((const rv_config_number *)item)->number);
        else
            rv_buf_addf(out, "\"%s\"", ((const rv_config_name *)item)->text);
    }
    rv_buf_adds(out, " ]");
}

/* A group that is always there, and in which nothing is set. */
static bool is_empty(const rv_setting *row, const char *base)
{
    if (row->kind != RV_SETTING_GROUP || row->at != RV_NOWHERE) return false;
    for (const rv_setting *below = rv_setting_next(row, NULL); below != NULL; below = rv_setting_next(row, below))
        if (is_given(below, base) && !is_empty(below, base)) return false;
    return true;
}

/* What is set below the row. */
static void add_members(rv_buf *out, const rv_setting *row, const char *base)
{
    for (const rv_setting *below = rv_setting_next(row, NULL); below != NULL; below = rv_setting_next(row, below)) {
        if ((below->at == RV_NOWHERE && below->kind != RV_SETTING_GROUP) || !is_given(below, base)) continue;
        if (is_empty(below, base)) continue;
        rv_buf_addf(out, " %s = ", rv_setting_name(below));
        add_value(out, below, base);
        rv_buf_addc(out, ';');
    }
}

/* Whether a group may be its short setting's value alone, and is: nothing else below it is set. */
static bool is_short(const rv_setting *row, const char *base)
{
    size_t given = 0;

    if (row->kind != RV_SETTING_GROUP || row->short_name == NULL) return false;
    for (const rv_setting *below = rv_setting_next(row, NULL); below != NULL; below = rv_setting_next(row, below))
        given += is_given(below, base);
    return given == 1;
}

static void add_value(rv_buf *out, const rv_setting *row, const char *base)
{
    if (is_short(row, base)) row = rv_setting_find(row, row->short_name);
    switch (row->kind) {
    case RV_SETTING_GROUP:
    case RV_SETTING_GROUPS: /* (of one element) */
        rv_buf_addc(out, '{');
        add_members(out, row, base);
        rv_buf_adds(out, " }");
        break;
    case RV_SETTING_OPTIONS:
        rv_buf_adds(out, "{ ... }");
        break;
    case RV_SETTING_TEXT:
        rv_buf_addf(out, "\"%s\"", text_at(row, base) != NULL ? text_at(row, base) : "");
        break;
    case RV_SETTING_NAMES:
    case RV_SETTING_NUMBERS:
        add_list(out, row, base);
        break;
    case RV_SETTING_WHOLE:
        rv_buf_addf(out, "%" PRId64, number_at(row, base));
        break;
    case RV_SETTING_SECONDS:
        add_seconds(out, number_at(row, base));
        break;
    case RV_SETTING_DELAYS:
        add_delays(out, row, base);
        break;
    case RV_SETTING_SHARE:
        add_share(out, row, base);
        break;
    case RV_SETTING_CHOICE:
        add_choice(out, row, base);
        break;
    case RV_SETTING_TRUTH:
        rv_buf_adds(out, flag_at(base + row->at) ? "true" : "false");
        break;
    case RV_SETTING_SWITCH:
        rv_buf_adds(out, number_at(row, base) > 0 ? "true" : "false");
        break;
    }
}

static void add_value_or_none(rv_buf *out, const rv_setting *row, const char *base)
{
    if (is_given(row, base))
        add_value(out, row, base);
    else
        rv_buf_adds(out, "not set");
}

/* ---- differences ----------------------------------------------------------------------------------------------- */

static void tell(comparison *in, const rv_setting *row, const char *path, const char *from, const char *to)
{
    in->take(&(rv_config_difference){.row = row->path, .path = path, .from = from, .to = to}, in->context);
}

static bool has_same_options(const rv_setting *row, const char *before, const char *after)
{
    list one = list_at(row, before), other = list_at(row, after);
    bool same = one.count == other.count;

    for (size_t i = 0; i < one.count && same; i++) {
        const rv_config_option *a = (const rv_config_option *)(const void *)one.items + i;
        const rv_config_option *b = (const rv_config_option *)(const void *)other.items + i;

        same = strcmp(a->name, b->name) == 0 && strcmp(a->text, b->text) == 0;
    }
    return same;
}

static void compare_secret(comparison *in, const rv_setting *row, const char *path, bool same)
{
    if (!same) tell(in, row, path, "...", "another value");
}

static bool is_same_text(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

/* A value with no settings below it, or a group that one of both does not have. */
static void compare_value(comparison *in, const rv_setting *row, const char *path, const char *before,
                          const char *after)
{
    rv_buf from, to;

    rv_buf_init(&from, VALUE_MAX);
    rv_buf_init(&to, VALUE_MAX);
    add_value_or_none(&from, row, before);
    add_value_or_none(&to, row, after);
    if (from.failed || to.failed)
        in->no_memory = true;
    else if (strcmp(rv_buf_text(&from), rv_buf_text(&to)) != 0)
        tell(in, row, path, rv_buf_text(&from), rv_buf_text(&to));
    rv_buf_fini(&from);
    rv_buf_fini(&to);
}

static void compare_members(comparison *in, const rv_setting *parent, const char *path, const char *before,
                            const char *after);
static void compare_list(comparison *in, const rv_setting *row, const char *path, const char *before,
                         const char *after);

static void compare_one(comparison *in, const rv_setting *row, const char *path, const char *before, const char *after)
{
    if (row->kind == RV_SETTING_GROUPS)
        compare_list(in, row, path, before, after);
    else if (row->kind == RV_SETTING_OPTIONS)
        compare_secret(in, row, path, has_same_options(row, before, after));
    else if (row->kind == RV_SETTING_GROUP && row->short_name == NULL && is_given(row, before) == is_given(row, after))
        compare_members(in, row, path, before, after);
    else if (row->at == RV_NOWHERE && row->kind != RV_SETTING_GROUP)
        return; /* it has no value */
    else if (strcmp(row->path, "redis") == 0)
        compare_secret(in, row, path, is_same_text(text_at(row, before), text_at(row, after)));
    else
        compare_value(in, row, path, before, after);
}

static void compare_members(comparison *in, const rv_setting *parent, const char *path, const char *before,
                            const char *after)
{
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        char below[PATH_MAX_LENGTH];

        (void)snprintf(below, sizeof(below), "%s%s%s", path, *path != '\0' ? "." : "", rv_setting_name(row));
        compare_one(in, row, below, before, after);
    }
}

/* ---- elements of lists ----------------------------------------------------------------------------------------- */

/* What tells an element from others: its name, else its queue and its type or key, else its type; without one, its place.
 */
static const char *name_of(char ret[PATH_MAX_LENGTH], const rv_setting *row, const list *all, size_t index)
{
    static const char *const keys[] = {"name", "type"};
    const rv_setting *queue = rv_setting_find(row, "queue"), *type = rv_setting_find(row, "type");

    if (rv_setting_find(row, "name") == NULL && queue != NULL && type != NULL) {
        const char *item = all->items + index * row->item_size, *of = text_at(queue, item), *name = text_at(type, item);
        const rv_setting *key = rv_setting_find(row, "key");
        const char *limit_key = key != NULL ? text_at(key, item) : NULL;

        if (name == NULL && limit_key != NULL)
            (void)snprintf(ret, PATH_MAX_LENGTH, "%s/key:%s", of != NULL ? of : "", limit_key);
        else
            (void)snprintf(ret, PATH_MAX_LENGTH, "%s/%s", of != NULL ? of : "", name != NULL ? name : "");
        return ret;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const rv_setting *key = rv_setting_find(row, keys[i]);
        const char *text = key == NULL ? NULL : text_at(key, all->items + index * row->item_size);

        if (text == NULL && key == NULL) continue;
        if (text != NULL)
            rv_copy_text(ret, PATH_MAX_LENGTH, text);
        else
            (void)snprintf(ret, PATH_MAX_LENGTH, "pool-%zu", index + 1);
        return ret;
    }
    (void)snprintf(ret, PATH_MAX_LENGTH, "%zu", index);
    return ret;
}

/* The element with this name, or NULL. */
static char *find_element(const rv_setting *row, const list *all, const char *name)
{
    char other[PATH_MAX_LENGTH];

    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(name_of(other, row, all, i), name) == 0) return all->items + i * row->item_size;
    }
    return NULL;
}

static void tell_element(comparison *in, const rv_setting *row, const char *path, const char *element, bool comes)
{
    rv_buf value;

    rv_buf_init(&value, VALUE_MAX);
    add_value(&value, row, element);
    if (value.failed)
        in->no_memory = true;
    else
        tell(in, row, path, comes ? "absent" : rv_buf_text(&value), comes ? rv_buf_text(&value) : "absent");
    rv_buf_fini(&value);
}

/* "pools.media"; a path is quoted, so that its dots are not taken for those between names: plugins["../thumbs.so"]. */
static void set_below(char *ret, size_t size, const char *path, const char *name)
{
    if (strchr(name, '/') != NULL)
        (void)snprintf(ret, size, "%s[\"%s\"]", path, name);
    else
        (void)snprintf(ret, size, "%s.%s", path, name);
}

static void compare_list(comparison *in, const rv_setting *row, const char *path, const char *before, const char *after)
{
    list old = list_at(row, before), new = list_at(row, after);
    char name[PATH_MAX_LENGTH], below[2 * PATH_MAX_LENGTH + 8];

    for (size_t i = 0; i < old.count; i++) {
        char *element = old.items + i * row->item_size;
        char *other = find_element(row, &new, name_of(name, row, &old, i));

        set_below(below, sizeof(below), path, name);
        if (other != NULL)
            compare_members(in, row, below, element, other);
        else
            tell_element(in, row, below, element, false);
    }
    for (size_t i = 0; i < new.count; i++) {
        set_below(below, sizeof(below), path, name_of(name, row, &new, i));
        if (find_element(row, &old, name) == NULL) tell_element(in, row, below, new.items + i * row->item_size, true);
    }
}

reeve_status rv_config_compare(const rv_config *before, const rv_config *after,
                               void (*take)(const rv_config_difference *difference, void *context), void *context)
{
    comparison in = {.take = take, .context = context};

    compare_members(&in, NULL, "", (const char *)before, (const char *)after);
    return in.no_memory ? REEVE_ENOMEM : REEVE_OK;
}

static void note_any(const rv_config_difference *difference, void *context)
{
    (void)difference;
    *(bool *)context = true;
}

bool rv_config_compare_is_same(const char *list_name, const void *one, const void *other)
{
    bool differs = false;
    comparison in = {.take = note_any, .context = &differs};

    compare_members(&in, rv_setting_find(NULL, list_name), list_name, one, other);
    return !differs && !in.no_memory;
}

/* ---- exchange -------------------------------------------------------------------------------------------------- */

bool rv_config_compare_is_below(const char *row, const char *path)
{
    size_t length = strlen(path);

    return strncmp(row, path, length) == 0 && (row[length] == '\0' || row[length] == '.' || row[length] == '[');
}

static void exchange_bytes(char *one, char *other, size_t at, size_t size)
{
    char kept[sizeof(int64_t) * REEVE_BACKOFF_LIST_MAX];

    memcpy(kept, one + at, size);
    memcpy(one + at, other + at, size);
    memcpy(other + at, kept, size);
}

/* The size of a value in the struct; lists: of the pointer. */
static size_t size_of(const rv_setting *row)
{
    switch (row->kind) {
    case RV_SETTING_CHOICE:
        return sizeof(int);
    case RV_SETTING_TRUTH:
    case RV_SETTING_GROUP:
        return sizeof(bool);
    case RV_SETTING_DELAYS:
        return sizeof(int64_t) * REEVE_BACKOFF_LIST_MAX;
    case RV_SETTING_WHOLE:
    case RV_SETTING_SECONDS:
    case RV_SETTING_SWITCH:
        return sizeof(int64_t);
    case RV_SETTING_SHARE:
        return sizeof(double);
    default:
        return sizeof(char *);
    }
}

void rv_config_compare_exchange(rv_config *one, rv_config *other, const char *path)
{
    for (size_t i = 0; i < rv_setting_count; i++) {
        const rv_setting *row = &rv_settings[i];

        /* Elements of lists go with their list. */
        if (!rv_config_compare_is_below(row->path, path) || strchr(row->path, '[') != NULL) continue;
        if (row->at != RV_NOWHERE) exchange_bytes((char *)one, (char *)other, row->at, size_of(row));
        if (row->given_at != 0) exchange_bytes((char *)one, (char *)other, row->given_at, sizeof(bool));
        if (row->count_at != 0) exchange_bytes((char *)one, (char *)other, row->count_at, sizeof(size_t));
    }
}
