#include "handlers/plugin_option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/text.h"

/* What a double holds exactly; also more milliseconds than anything lasts. */
#define SECONDS_MAX 1e12
#define EXPECTED_MAX 300

typedef struct entry {
    char *text; /* NULL: not set */
    int64_t whole;
    double number;
    bool truth;
} entry;

struct reeve_options {
    const reeve_option *declared; /* borrowed */
    size_t count;
    entry entries[];
};

/* ---- one value ------------------------------------------------------------------------------------------------- */

static bool has_range(const reeve_option *option)
{
    return option->min < 0 || option->min > 0 || option->max < 0 || option->max > 0;
}

static bool is_in_range(const reeve_option *option, double number)
{
    return !has_range(option) || (number >= option->min && number <= option->max);
}

static bool is_choice(const reeve_option *option, const char *text)
{
    const char *const *choice = option->choices;

    if (choice == NULL) return true;
    while (*choice != NULL && strcmp(*choice, text) != 0) choice++;
    return *choice != NULL;
}

/* Reads a value by the type of its option; the text is stored by the caller. */
static bool read_value(const reeve_option *option, const char *text, entry *ret)
{
    switch (option->type) {
    case REEVE_OPTION_TEXT:
        return is_choice(option, text);
    case REEVE_OPTION_WHOLE:
        return rv_parse_int(text, INT64_MIN, INT64_MAX, &ret->whole) && is_in_range(option, (double)ret->whole);
    case REEVE_OPTION_NUMBER:
        return rv_decimal_read(text, &ret->number) && is_in_range(option, ret->number);
    case REEVE_OPTION_SECONDS:
        if (!rv_decimal_read(text, &ret->number) || fabs(ret->number) > SECONDS_MAX) return false;
        ret->whole = llround(ret->number * 1000);
        return is_in_range(option, ret->number);
    case REEVE_OPTION_TRUTH:
        ret->truth = strcmp(text, "true") == 0;
        return ret->truth || strcmp(text, "false") == 0;
    }
    return false;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

const char *rv_plugin_option_type_name(reeve_option_type type)
{
    static const char *const names[] = {"text", "whole", "number", "seconds", "truth"};

    return names[type];
}

static void expect_choices(const reeve_option *option, char *ret, size_t size)
{
    size_t length = 0;

    ret[0] = '\0';
    for (const char *const *choice = option->choices; *choice != NULL && length < size; choice++) {
        int added = snprintf(ret + length, size - length, "%s\"%s\"", length > 0 ? " or " : "", *choice);
        if (added > 0) length += (size_t)added;
    }
}

static void expect_range(const reeve_option *option, const char *type, char *ret, size_t size)
{
    char min[RV_DECIMAL_TEXT], max[RV_DECIMAL_TEXT];

    rv_decimal_write(min, option->min, 16);
    rv_decimal_write(max, option->max, 16);
    (void)snprintf(ret, size, "%s from %s to %s", type, min, max);
}

void rv_plugin_option_expected(const reeve_option *option, char *ret, size_t size)
{
    static const char *const words[] = {"text", "a whole number", "a number", "seconds", "true or false"};
    bool numeric = option->type != REEVE_OPTION_TEXT && option->type != REEVE_OPTION_TRUTH;

    if (option->type == REEVE_OPTION_TEXT && option->choices != NULL)
        expect_choices(option, ret, size);
    else if (numeric && has_range(option))
        expect_range(option, words[option->type], ret, size);
    else
        (void)snprintf(ret, size, "%s", words[option->type]);
}

static reeve_status refuse_value(const reeve_option *option, const char *value, const char *path, rv_error *error)
{
    char expected[EXPECTED_MAX];

    rv_plugin_option_expected(option, expected, sizeof(expected));
    return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\": expected %s, got \"%.100s\"", path, option->name,
                   expected, value);
}

static reeve_status refuse_unknown(const reeve_plugin *plugin, const char *name, const char *path, rv_error *error)
{
    rv_nearest nearest;

    if (plugin->option_count == 0)
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%.100s\" is unknown; the plugin has no options", path,
                       name);
    rv_nearest_init(&nearest, name);
    for (size_t i = 0; i < plugin->option_count; i++) rv_nearest_try(&nearest, plugin->options[i].name);
    if (nearest.name != NULL)
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%.100s\" is unknown; did you mean \"%s\"?", path, name,
                       nearest.name);
    return rv_fail(error, REEVE_EINVAL,
                   "plugin %s: option \"%.100s\" is unknown; `reeve-worker --dump-plugin` prints the options", path,
                   name);
}

/* ---- declarations ---------------------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    size_t length = strnlen(name, REEVE_OPTION_NAME_MAX + 1);

    return length > 0 && length <= REEVE_OPTION_NAME_MAX && name[0] != '.' && name[length - 1] != '.' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.")] == '\0';
}

reeve_status rv_plugin_option_check(const reeve_option *option, const reeve_option *earlier, size_t count,
                                    const char *path, rv_error *error)
{
    entry value = {0};

    if (option->name == NULL || !is_name(option->name))
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option %zu: \"%.100s\" is no name (1 to %d of a-z 0-9 _ .)",
                       path, count + 1, option->name != NULL ? option->name : "", REEVE_OPTION_NAME_MAX);
    if ((unsigned)option->type > REEVE_OPTION_TRUTH)
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\": type %u is unknown", path, option->name,
                       (unsigned)option->type);
    if (!isfinite(option->min) || !isfinite(option->max) || option->min > option->max)
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\": its range is empty", path, option->name);
    if (option->choices != NULL && (option->type != REEVE_OPTION_TEXT || option->choices[0] == NULL))
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\": only a text has choices, at least one", path,
                       option->name);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(earlier[i].name, option->name) == 0)
            return rv_fail(error, REEVE_EINVAL, "plugin %s: declares option \"%s\" twice", path, option->name);
    }
    if (option->otherwise != NULL && !read_value(option, option->otherwise, &value))
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\": its default \"%.100s\" is no valid value", path,
                       option->name, option->otherwise);
    return REEVE_OK;
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static size_t find_option(const reeve_plugin *plugin, const char *name)
{
    size_t at = 0;

    while (at < plugin->option_count && strcmp(plugin->options[at].name, name) != 0) at++;
    return at;
}

static reeve_status set_value(reeve_options *options, size_t at, const char *text, const char *path, rv_error *error)
{
    const reeve_option *option = &options->declared[at];
    entry *value = &options->entries[at];

    if (strnlen(text, REEVE_OPTION_VALUE_MAX + 1) > REEVE_OPTION_VALUE_MAX)
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\": the value is longer than %d bytes", path,
                       option->name, REEVE_OPTION_VALUE_MAX);
    if (!read_value(option, text, value)) return refuse_value(option, text, path, error);
    value->text = rv_strdup(text);
    return value->text != NULL ? REEVE_OK : rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", path);
}

static reeve_status set_given(reeve_options *options, const reeve_plugin *plugin, const reeve_option_value *given,
                              const char *path, rv_error *error)
{
    if (given->name == NULL || given->value == NULL)
        return rv_fail(error, REEVE_EINVAL, "plugin %s: an option has no name or no value", path);
    size_t at = find_option(plugin, given->name);
    if (at == plugin->option_count) return refuse_unknown(plugin, given->name, path, error);
    if (options->entries[at].text != NULL)
        return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\" is given twice", path, given->name);
    return set_value(options, at, given->value, path, error);
}

static reeve_status set_default(reeve_options *options, size_t at, const char *path, rv_error *error)
{
    const reeve_option *option = &options->declared[at];

    if (options->entries[at].text != NULL) return REEVE_OK;
    if (option->otherwise != NULL) return set_value(options, at, option->otherwise, path, error);
    if (!option->required) return REEVE_OK;
    char expected[EXPECTED_MAX];
    rv_plugin_option_expected(option, expected, sizeof(expected));
    return rv_fail(error, REEVE_EINVAL, "plugin %s: option \"%s\" is required: %s", path, option->name, expected);
}

reeve_status rv_plugin_option_read(reeve_options **ret, const reeve_plugin *plugin, const reeve_option_value *values,
                                   size_t count, const char *path, size_t *ret_bad, rv_error *error)
{
    reeve_options *options = rv_zalloc(sizeof(*options) + plugin->option_count * sizeof(options->entries[0]));
    reeve_status status = REEVE_OK;

    *ret = NULL;
    *ret_bad = RV_PLUGIN_OPTION_NONE;
    if (options == NULL) return rv_fail(error, REEVE_ENOMEM, "plugin %s: out of memory", path);
    options->declared = plugin->options;
    options->count = plugin->option_count;
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        status = set_given(options, plugin, &values[i], path, error);
        if (status != REEVE_OK) *ret_bad = i;
    }
    for (size_t i = 0; i < options->count && status == REEVE_OK; i++) status = set_default(options, i, path, error);
    if (status == REEVE_OK)
        *ret = options;
    else
        rv_plugin_option_free(options);
    return status;
}

void rv_plugin_option_free(reeve_options *options)
{
    if (options == NULL) return;
    for (size_t i = 0; i < options->count; i++) rv_free(options->entries[i].text);
    rv_free(options);
}

bool rv_plugin_option_next(const reeve_options *options, size_t index, const char **ret_name, const char **ret_value)
{
    if (options == NULL || index >= options->count) return false;
    *ret_name = options->declared[index].name;
    *ret_value = options->entries[index].text;
    return true;
}

size_t rv_plugin_option_given(const reeve_options *options, reeve_option_value *ret)
{
    size_t count = 0;
    for (size_t i = 0; options != NULL && i < options->count; i++) {
        const reeve_option *declared = &options->declared[i];
        const char *text = options->entries[i].text;
        if (text == NULL || (declared->otherwise != NULL && strcmp(text, declared->otherwise) == 0)) continue;
        ret[count++] = (reeve_option_value){.name = declared->name, .value = text};
    }
    return count;
}

bool rv_plugin_option_equal(const reeve_options *one, const reeve_options *other)
{
    for (size_t i = 0; i < one->count; i++) {
        const char *first = one->entries[i].text, *second = other->entries[i].text;
        if ((first == NULL) != (second == NULL)) return false;
        if (first != NULL && strcmp(first, second) != 0) return false;
    }
    return true;
}

/* ---- for plugins ----------------------------------------------------------------------------------------------- */

static const entry *find_value(const reeve_options *options, const char *name, int type)
{
    if (options == NULL || name == NULL) return NULL;
    for (size_t i = 0; i < options->count; i++) {
        if (strcmp(options->declared[i].name, name) != 0) continue;
        bool fits = type < 0 || (int)options->declared[i].type == type;
        return fits && options->entries[i].text != NULL ? &options->entries[i] : NULL;
    }
    return NULL;
}

const char *reeve_option_text(const reeve_options *options, const char *name)
{
    const entry *value = find_value(options, name, REEVE_OPTION_TEXT);
    return value != NULL ? value->text : NULL;
}

int64_t reeve_option_whole(const reeve_options *options, const char *name)
{
    const entry *value = find_value(options, name, REEVE_OPTION_WHOLE);
    return value != NULL ? value->whole : 0;
}

double reeve_option_number(const reeve_options *options, const char *name)
{
    const entry *value = find_value(options, name, REEVE_OPTION_NUMBER);
    return value != NULL ? value->number : 0;
}

int64_t reeve_option_ms(const reeve_options *options, const char *name)
{
    const entry *value = find_value(options, name, REEVE_OPTION_SECONDS);
    return value != NULL ? value->whole : 0;
}

bool reeve_option_truth(const reeve_options *options, const char *name)
{
    const entry *value = find_value(options, name, REEVE_OPTION_TRUTH);
    return value != NULL && value->truth;
}

bool reeve_option_is_set(const reeve_options *options, const char *name)
{
    return find_value(options, name, -1) != NULL;
}
