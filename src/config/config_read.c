#include "config/config_read.h"

#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "config/complain.h"
#include "config/planned.h"

typedef struct reader {
    const char *file;
    rv_config_errors *errors;
    bool no_memory;
} reader;

static void read_group(reader *in, const config_setting_t *group, const rv_setting *row, char *base);
static void read_setting(reader *in, const config_setting_t *at, const rv_setting *row, char *base);

static void expected(reader *in, const config_setting_t *at, const rv_setting *row)
{
    rv_complain_expected(in->errors, in->file, at, row);
}

/* Refuses what a later version has: the setting of this name below row, or this value of the row itself. */
static bool refuse_planned(reader *in, const config_setting_t *at, const rv_setting *row, const char *name,
                           const char *value)
{
    char above[256] = "";

    if (row != NULL && name != NULL)
        (void)snprintf(above, sizeof(above), "%s%s", row->path, row->kind == RV_SETTING_GROUPS ? "[]" : "");
    const rv_planned *planned = rv_planned_find(above, name != NULL ? name : row->path, value);
    if (planned == NULL) return false;
    rv_complain_at(in->errors, in->file, at, NULL, "%s%s%snot available in this version: %s", value != NULL ? "\"" : "",
                   value != NULL ? value : "", value != NULL ? "\" is " : "", planned->purpose);
    return true;
}

/* ---- one value ------------------------------------------------------------------------------------------------- */

static bool number_of(const config_setting_t *at, double *ret)
{
    int type = config_setting_type(at);

    if (type == CONFIG_TYPE_FLOAT) *ret = config_setting_get_float(at);
    if (type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64) *ret = (double)config_setting_get_int64(at);
    return type == CONFIG_TYPE_FLOAT || type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
}

static void read_number(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    double number = 0;
    bool fits = number_of(at, &number);

    if (fits && row->kind == RV_SETTING_WHOLE) fits = config_setting_type(at) != CONFIG_TYPE_FLOAT;
    if (fits && !(row->forever && number == -1)) fits = number >= row->min && number <= row->max;
    if (fits)
        rv_setting_store_number(row, base, number);
    else
        expected(in, at, row);
}

static void read_choice(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    const char *name = config_setting_get_string(at);
    const rv_choice *choice = name == NULL ? NULL : rv_setting_choice(row->choices, name);

    if (choice != NULL)
        rv_setting_store_choice(row, base, choice);
    else if (name == NULL || !refuse_planned(in, at, row, NULL, name))
        expected(in, at, row);
}

static void read_truth(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    bool value = config_setting_get_bool(at) != 0;

    if (config_setting_type(at) != CONFIG_TYPE_BOOL)
        expected(in, at, row);
    else if (row->kind == RV_SETTING_SWITCH)
        memcpy(base + row->at, &(int64_t){value ? 1 : -1}, sizeof(int64_t));
    else
        memcpy(base + row->at, &value, sizeof(value));
}

/* A copy of a text that passed its row's check, else NULL. */
static char *checked_text(reader *in, const config_setting_t *at, const rv_setting *row)
{
    const char *text = config_setting_get_string(at);
    rv_error why;

    rv_error_clear(&why);
    if (text == NULL || (row->check == NULL ? *text == '\0' : !row->check(text, &why))) {
        if (why.text[0] != '\0')
            rv_complain_at(in->errors, in->file, at, NULL, "%s", why.text);
        else
            rv_complain_expected_text(in->errors, in->file, at, row->expected);
        return NULL;
    }
    char *copy = rv_strdup(text);
    if (copy == NULL) in->no_memory = true;
    return copy;
}

static void read_text(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    char *text = checked_text(in, at, row), *before;

    if (text == NULL) return;
    memcpy(&before, base + row->at, sizeof(before)); /* the default */
    rv_free(before);
    memcpy(base + row->at, &text, sizeof(text));
}

/* ---- lists ----------------------------------------------------------------------------------------------------- */

/* The place of a setting in the file, "reeve.conf:12"; NULL without memory. */
static char *place_of(reader *in, const config_setting_t *at)
{
    rv_buf where;

    rv_buf_init(&where, 8192);
    rv_complain_add_where(&where, in->file, at);
    char *copy = rv_strdup(rv_buf_text(&where));
    if (copy == NULL || where.failed) in->no_memory = true;
    rv_buf_fini(&where);
    return copy;
}

/* Makes a row's array; every element gets its `where`. NULL: nothing to read. */
static char *make_items(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    size_t count = (size_t)config_setting_length(at);
    char *items = count == 0 ? NULL : rv_zalloc_array(count, row->item_size);

    if (items == NULL) {
        in->no_memory = in->no_memory || count > 0;
        return NULL;
    }
    memcpy(base + row->at, &items, sizeof(items));
    memcpy(base + row->count_at, &count, sizeof(count));
    for (size_t i = 0; i < count; i++) {
        char *copy = place_of(in, config_setting_get_elem(at, (unsigned)i));
        memcpy(items + i * row->item_size, &copy, sizeof(copy));
    }
    return items;
}

bool rv_config_read_is_list(const config_setting_t *at)
{
    return config_setting_type(at) == CONFIG_TYPE_ARRAY || config_setting_type(at) == CONFIG_TYPE_LIST;
}

static void read_names(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    int count = rv_config_read_is_list(at) ? config_setting_length(at) : -1;

    if (count < 0 || (row->required && count == 0)) {
        expected(in, at, row);
        return;
    }
    if (row->max > 0 && count > (int)row->max) {
        rv_complain_at(in->errors, in->file, at, NULL, "expected at most %d, got %d", (int)row->max, count);
        return;
    }
    char *items = make_items(in, at, row, base);
    for (int i = 0; items != NULL && i < count; i++) {
        char *text = checked_text(in, config_setting_get_elem(at, (unsigned)i), row);
        memcpy(items + (size_t)i * row->item_size + offsetof(rv_config_name, text), &text, sizeof(text));
    }
}

static void read_numbers(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    /* The same range, for one number instead of a list. */
    rv_setting each = {.path = row->path, .kind = RV_SETTING_WHOLE, .min = row->min, .max = row->max};

    if (!rv_config_read_is_list(at) || config_setting_length(at) == 0) {
        expected(in, at, row);
        return;
    }
    char *items = make_items(in, at, row, base);
    for (int i = 0; items != NULL && i < config_setting_length(at); i++) {
        each.at = (size_t)i * row->item_size + offsetof(rv_config_number, number);
        read_number(in, config_setting_get_elem(at, (unsigned)i), &each, items);
    }
}

static void read_delays(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    /* The same range, for one delay instead of a list. */
    rv_setting each = {.path = row->path, .kind = RV_SETTING_SECONDS, .min = row->min, .max = row->max};
    int count = rv_config_read_is_list(at) ? config_setting_length(at) : 0;

    if (count == 0) {
        expected(in, at, row);
        return;
    }
    if (count > REEVE_BACKOFF_LIST_MAX) {
        rv_complain_at(in->errors, in->file, at, NULL, "expected at most %d, got %d", REEVE_BACKOFF_LIST_MAX, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        each.at = row->at + (size_t)i * sizeof(int64_t);
        read_number(in, config_setting_get_elem(at, (unsigned)i), &each, base);
    }
}

static void read_groups(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    int count = rv_config_read_is_list(at) ? config_setting_length(at) : -1;

    if (count < 0 || (row->required && count == 0)) {
        expected(in, at, row);
        return;
    }
    char *items = make_items(in, at, row, base);
    for (int i = 0; items != NULL && i < count; i++) {
        char *item = items + (size_t)i * row->item_size;
        const config_setting_t *element = config_setting_get_elem(at, (unsigned)i);

        if (!rv_setting_fill(row, item)) in->no_memory = true;
        if (config_setting_is_group(element))
            read_group(in, element, row, item);
        else if (row->short_name != NULL)
            read_setting(in, element, rv_setting_find(row, row->short_name), item);
        else
            rv_complain_expected_text(in->errors, in->file, element, "a group { ... }");
    }
}

/* ---- options of a plugin --------------------------------------------------------------------------------------- */

/* The text of a plain value; false: it is none. */
static bool add_plain(rv_buf *out, const config_setting_t *at)
{
    switch (config_setting_type(at)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        rv_buf_addi(out, config_setting_get_int64(at));
        return true;
    case CONFIG_TYPE_FLOAT:
        rv_decimal_add(out, config_setting_get_float(at), 17);
        return true;
    case CONFIG_TYPE_BOOL:
        rv_buf_adds(out, config_setting_get_bool(at) ? "true" : "false");
        return true;
    case CONFIG_TYPE_STRING:
        rv_buf_adds(out, config_setting_get_string(at));
        return true;
    default:
        return false;
    }
}

static size_t count_options(const config_setting_t *group)
{
    size_t count = 0;

    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *at = config_setting_get_elem(group, (unsigned)i);
        count += config_setting_is_group(at) ? count_options(at) : 1;
    }
    return count;
}

/* prefix: the names of the groups that it is in, each with a dot. */
static void read_option(reader *in, const config_setting_t *at, const char *prefix, rv_config_option *ret)
{
    rv_buf name, text;

    rv_buf_init(&name, 8192);
    rv_buf_init(&text, 65536);
    rv_buf_addf(&name, "%s%s", prefix, config_setting_name(at));
    if (!add_plain(&text, at))
        rv_complain_expected_text(in->errors, in->file, at, "a text, a number, true or false, or a group { ... }");
    else if (text.failed || name.failed)
        rv_complain_at(in->errors, in->file, at, NULL, "the name or the value is too long");
    *ret = (rv_config_option){
        .where = place_of(in, at), .name = rv_strdup(rv_buf_text(&name)), .text = rv_strdup(rv_buf_text(&text))};
    if (ret->name == NULL || ret->text == NULL) in->no_memory = true;
    rv_buf_fini(&name);
    rv_buf_fini(&text);
}

/* Returns the place behind the last one that it wrote. */
static rv_config_option *read_option_group(reader *in, const config_setting_t *group, const char *prefix,
                                           rv_config_option *next)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *at = config_setting_get_elem(group, (unsigned)i);
        rv_buf inner;

        if (!config_setting_is_group(at)) {
            read_option(in, at, prefix, next++);
            continue;
        }
        rv_buf_init(&inner, 8192);
        rv_buf_addf(&inner, "%s%s.", prefix, config_setting_name(at));
        next = read_option_group(in, at, rv_buf_text(&inner), next);
        rv_buf_fini(&inner);
    }
    return next;
}

static void read_options(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    if (!config_setting_is_group(at)) {
        expected(in, at, row);
        return;
    }
    size_t count = count_options(at);
    rv_config_option *options = rv_zalloc_array(count + 1, sizeof(*options));
    if (options == NULL) {
        in->no_memory = true;
        return;
    }
    (void)read_option_group(in, at, "", options);
    memcpy(base + row->at, &options, sizeof(options));
    memcpy(base + row->count_at, &count, sizeof(count));
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

static void note_given(const rv_setting *row, char *base)
{
    if (row->given_at != 0) memcpy(base + row->given_at, &(bool){true}, sizeof(bool));
}

static void read_inner_group(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    if (!config_setting_is_group(at) && row->short_name != NULL) {
        read_setting(in, at, rv_setting_find(row, row->short_name), base);
        return;
    }
    if (!config_setting_is_group(at)) {
        expected(in, at, row);
        return;
    }
    if (row->at != RV_NOWHERE) memcpy(base + row->at, &(bool){true}, sizeof(bool));
    for (const rv_setting *below = rv_setting_next(row, NULL); below != NULL; below = rv_setting_next(row, below)) {
        if (below->standard != NULL) note_given(below, base);
    }
    read_group(in, at, row, base);
}

static void read_setting(reader *in, const config_setting_t *at, const rv_setting *row, char *base)
{
    note_given(row, base);
    switch (row->kind) {
    case RV_SETTING_GROUP:
        read_inner_group(in, at, row, base);
        break;
    case RV_SETTING_GROUPS:
        read_groups(in, at, row, base);
        break;
    case RV_SETTING_OPTIONS:
        read_options(in, at, row, base);
        break;
    case RV_SETTING_TEXT:
        read_text(in, at, row, base);
        break;
    case RV_SETTING_NAMES:
        read_names(in, at, row, base);
        break;
    case RV_SETTING_NUMBERS:
        read_numbers(in, at, row, base);
        break;
    case RV_SETTING_DELAYS:
        read_delays(in, at, row, base);
        break;
    case RV_SETTING_WHOLE:
    case RV_SETTING_SECONDS:
    case RV_SETTING_SHARE:
        read_number(in, at, row, base);
        break;
    case RV_SETTING_CHOICE:
        read_choice(in, at, row, base);
        break;
    case RV_SETTING_TRUTH:
    case RV_SETTING_SWITCH:
        read_truth(in, at, row, base);
        break;
    }
}

/* An unknown name: the message has the most similar name, or all names. */
static void unknown_setting(reader *in, const config_setting_t *at, const rv_setting *parent)
{
    const char *name = config_setting_name(at);
    rv_nearest nearest;
    rv_buf known;

    if (refuse_planned(in, at, parent, name, NULL)) return;
    rv_nearest_init(&nearest, name);
    rv_buf_init(&known, 512);
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        rv_nearest_try(&nearest, rv_setting_name(row));
        rv_buf_addf(&known, "%s%s", known.length > 0 ? ", " : "", rv_setting_name(row));
    }
    if (nearest.name != NULL)
        rv_complain_at(in->errors, in->file, at, NULL, "unknown setting; did you mean \"%s\"?", nearest.name);
    else
        rv_complain_at(in->errors, in->file, at, NULL, "unknown setting; there are: %s", rv_buf_text(&known));
    rv_buf_fini(&known);
}

static void missing_settings(reader *in, const config_setting_t *group, const rv_setting *parent)
{
    for (const rv_setting *row = rv_setting_next(parent, NULL); row != NULL; row = rv_setting_next(parent, row)) {
        if (!row->required || config_setting_get_member(group, rv_setting_name(row)) != NULL) continue;
        rv_buf words;
        rv_buf_init(&words, 512);
        rv_setting_expected(row, &words);
        rv_complain_at(in->errors, in->file, group, rv_setting_name(row), "missing; expected %s", rv_buf_text(&words));
        rv_buf_fini(&words);
    }
}

/* base: the struct that the rows below row are stored in. */
static void read_group(reader *in, const config_setting_t *group, const rv_setting *row, char *base)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *at = config_setting_get_elem(group, (unsigned)i);
        const rv_setting *known = rv_setting_find(row, config_setting_name(at));

        if (known == NULL)
            unknown_setting(in, at, row);
        else
            read_setting(in, at, known, base);
    }
    missing_settings(in, group, row);
}

reeve_status rv_config_read_run(const config_setting_t *root, rv_config *config, rv_config_errors *errors)
{
    reader in = {config->file, errors, false};

    if (!rv_setting_fill(NULL, (char *)config)) return REEVE_ENOMEM;
    read_group(&in, root, NULL, (char *)config);
    return in.no_memory ? REEVE_ENOMEM : REEVE_OK;
}
