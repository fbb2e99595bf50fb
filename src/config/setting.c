/*
 * What can be done with the rows of the table without a file: find, describe, fill with defaults, store, free.
 */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/setting_rows.h"

/* The part of a row's path that comes after its parent's, or NULL when it does not stand below that parent. */
static const char *below(const rv_setting *parent, const char *path)
{
    if (parent == NULL) return path;
    size_t length = strlen(parent->path);
    if (strncmp(path, parent->path, length) != 0) return NULL;
    path += length;
    if (parent->kind == RV_SETTING_GROUPS) {
        if (strncmp(path, "[]", 2) != 0) return NULL;
        path += 2;
    }
    return *path == '.' ? path + 1 : NULL;
}

const rv_setting *rv_setting_next(const rv_setting *parent, const rv_setting *before)
{
    const rv_setting *end = rv_settings + rv_setting_count;

    for (const rv_setting *row = before == NULL ? rv_settings : before + 1; row < end; row++) {
        const char *rest = below(parent, row->path);
        if (rest != NULL && strpbrk(rest, ".[") == NULL) return row;
    }
    return NULL;
}

const rv_setting *rv_setting_find(const rv_setting *parent, const char *name)
{
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        if (strcmp(rv_setting_name(row), name) == 0) return row;
    }
    return NULL;
}

const char *rv_setting_name(const rv_setting *setting)
{
    const char *dot = strrchr(setting->path, '.');
    return dot == NULL ? setting->path : dot + 1;
}

const rv_choice *rv_setting_choice(const rv_choice *choices, const char *name)
{
    for (; choices->name != NULL; choices++) {
        if (strcmp(choices->name, name) == 0) return choices;
    }
    return NULL;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

static void add_choices(const rv_choice *choices, rv_buf *out)
{
    for (const rv_choice *choice = choices; choice->name != NULL; choice++) {
        rv_buf_addf(out, "%s\"%s\"", choice == choices ? "" : " or ", choice->name);
    }
}

static void add_range(const rv_setting *setting, const char *what, rv_buf *out)
{
    rv_buf_addf(out, "%s from ", what);
    rv_decimal_add(out, setting->min, 16);
    rv_buf_adds(out, " to ");
    rv_decimal_add(out, setting->max, 16);
    if (setting->forever) rv_buf_adds(out, ", or -1");
}

void rv_setting_expected(const rv_setting *setting, rv_buf *out)
{
    switch (setting->kind) {
    case RV_SETTING_GROUP:
        rv_buf_addf(out, "a group { ... }%s%s", setting->short_name != NULL ? ", or its " : "",
                    setting->short_name != NULL ? setting->short_name : "");
        break;
    case RV_SETTING_GROUPS:
        if (setting->short_name != NULL)
            rv_buf_addf(out, "a list ( ... ), each a group { ... } or the text of its %s", setting->short_name);
        else
            rv_buf_adds(out, "a list of groups ( { ... }, { ... } )");
        break;
    case RV_SETTING_OPTIONS:
        rv_buf_adds(out, "a group { name = value; ... }");
        break;
    case RV_SETTING_TEXT:
        rv_buf_adds(out, setting->expected);
        break;
    case RV_SETTING_NAMES:
        rv_buf_addf(out, "a list [ ... ], each %s", setting->expected);
        break;
    case RV_SETTING_NUMBERS:
        add_range(setting, "a list [ ... ], each a whole number", out);
        break;
    case RV_SETTING_WHOLE:
        add_range(setting, "a whole number", out);
        break;
    case RV_SETTING_SECONDS:
        add_range(setting, "seconds", out);
        break;
    case RV_SETTING_DELAYS:
        rv_buf_addf(out, "a list [ ... ] of 1 to %d, each ", REEVE_BACKOFF_LIST_MAX);
        add_range(setting, "seconds", out);
        break;
    case RV_SETTING_SHARE:
        add_range(setting, "a number", out);
        break;
    case RV_SETTING_CHOICE:
        add_choices(setting->choices, out);
        break;
    case RV_SETTING_TRUTH:
    case RV_SETTING_SWITCH:
        rv_buf_adds(out, "true or false");
        break;
    }
}

/* ---- places in the structs ------------------------------------------------------------------------------------- */

void rv_setting_store_number(const rv_setting *setting, char *base, double number)
{
    int64_t whole;

    if (setting->kind == RV_SETTING_SHARE) {
        if (number == 0) number = -1;
        memcpy(base + setting->at, &number, sizeof(number));
        return;
    }
    bool forever = setting->forever && number < 0;
    whole = forever ? -1 : llround(setting->kind == RV_SETTING_SECONDS ? number * 1000 : number);
    memcpy(base + setting->at, &whole, sizeof(whole));
}

_Static_assert(sizeof(reeve_order) == sizeof(int) && sizeof(rv_log_format) == sizeof(int) &&
                   sizeof(rv_settings_from) == sizeof(int) && sizeof(reeve_log_level) == sizeof(int) &&
                   sizeof(reeve_backoff_shape) == sizeof(int) && sizeof(reeve_catch_up) == sizeof(int),
               "choices are stored as int");

void rv_setting_store_choice(const rv_setting *setting, char *base, const rv_choice *choice)
{
    if (setting->at != RV_NOWHERE) memcpy(base + setting->at, &choice->value, sizeof(choice->value));
}

static bool store_text(const rv_setting *setting, char *base, const char *text)
{
    char *copy = rv_strdup(text);
    memcpy(base + setting->at, &copy, sizeof(copy));
    return copy != NULL;
}

/* Defaults are whole numbers in their row's unit, names of choices, or text. */
static bool fill_one(const rv_setting *setting, char *base)
{
    int64_t number;

    switch (setting->kind) {
    case RV_SETTING_TEXT:
        return store_text(setting, base, setting->standard);
    case RV_SETTING_CHOICE:
        rv_setting_store_choice(setting, base, rv_setting_choice(setting->choices, setting->standard));
        return true;
    case RV_SETTING_TRUTH:
        memcpy(base + setting->at, &(bool){strcmp(setting->standard, "true") == 0}, sizeof(bool));
        return true;
    case RV_SETTING_WHOLE:
    case RV_SETTING_SECONDS:
        if (rv_parse_int(setting->standard, INT64_MIN, INT64_MAX, &number))
            rv_setting_store_number(setting, base, (double)number);
        return true;
    default:
        return true;
    }
}

bool rv_setting_fill(const rv_setting *parent, char *base)
{
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        if (row->kind == RV_SETTING_GROUP && !rv_setting_fill(row, base)) return false;
        if (row->standard != NULL && !fill_one(row, base)) return false;
    }
    return true;
}

/* Elements of any list begin with their `where`; names have a text after it, numbers nothing to free. */
static void release_list(const rv_setting *row, char *base)
{
    char *items;
    size_t count;

    memcpy(&items, base + row->at, sizeof(items));
    memcpy(&count, base + row->count_at, sizeof(count));
    for (size_t i = 0; i < count; i++) {
        char *item = items + i * row->item_size, *where;

        memcpy(&where, item, sizeof(where));
        rv_free(where);
        if (row->kind == RV_SETTING_NAMES) {
            rv_free(((rv_config_name *)(void *)item)->text);
        } else if (row->kind == RV_SETTING_OPTIONS) {
            rv_free(((rv_config_option *)(void *)item)->name);
            rv_free(((rv_config_option *)(void *)item)->text);
        } else if (row->kind == RV_SETTING_GROUPS) {
            rv_setting_release(row, item);
        }
    }
    rv_free(items);
}

void rv_setting_release(const rv_setting *parent, char *base)
{
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        char *text;

        switch (row->kind) {
        case RV_SETTING_GROUP:
            rv_setting_release(row, base);
            break;
        case RV_SETTING_GROUPS:
        case RV_SETTING_OPTIONS:
        case RV_SETTING_NAMES:
        case RV_SETTING_NUMBERS:
            release_list(row, base);
            break;
        case RV_SETTING_TEXT:
            memcpy(&text, base + row->at, sizeof(text));
            rv_free(text);
            break;
        default:
            break;
        }
    }
}
