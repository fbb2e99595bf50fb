#include "config/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"

#define TEXT_MAX (64 * 1024)
#define WORDS_MAX 1024
#define QUOTE_MAX 100

void rv_config_errors_init(rv_config_errors *errors)
{
    rv_buf_init(&errors->text, TEXT_MAX);
    errors->count = 0;
}

void rv_config_errors_fini(rv_config_errors *errors)
{
    rv_buf_fini(&errors->text);
    errors->count = 0;
}

static void complain(rv_config_errors *errors, const char *where, const char *path, const char *format, va_list args)
{
    char words[WORDS_MAX];

    if (++errors->count > RV_CONFIG_ERRORS_MAX) return;
    if (vsnprintf(words, sizeof(words), format, args) < 0) words[0] = '\0';
    rv_utf8_clean(words, strlen(words));
    rv_buf_addf(&errors->text, "%s: %s%s%s\n", where, path, *path == '\0' ? "" : ": ", words);
}

void rv_complain(rv_config_errors *errors, const char *where, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    complain(errors, where, "", format, args);
    va_end(args);
}

void rv_complain_add_included(rv_buf *out, const char *file, const char *name, size_t length)
{
    const char *slash = strrchr(file, '/');

    if (slash != NULL) rv_buf_add(out, file, (size_t)(slash - file) + 1);
    rv_buf_add(out, name, length);
}

void rv_complain_add_where(rv_buf *out, const char *file, const config_setting_t *at)
{
    const char *source = config_setting_source_file(at);
    unsigned line = config_setting_source_line(at);

    if (source == NULL)
        rv_buf_adds(out, file);
    else
        rv_complain_add_included(out, file, source, strlen(source));
    if (line > 0) rv_buf_addf(out, ":%u", line);
}

/* "pools[1].threads"; nothing for the file itself. */
static void add_path(rv_buf *out, const config_setting_t *at)
{
    const config_setting_t *parent = config_setting_parent(at);
    const char *name = config_setting_name(at);

    if (parent == NULL) return;
    add_path(out, parent);
    if (name == NULL) {
        rv_buf_addf(out, "[%d]", config_setting_index(at));
    } else {
        if (out->length > 0) rv_buf_addc(out, '.');
        rv_buf_adds(out, name);
    }
}

void rv_complain_at(rv_config_errors *errors, const char *file, const config_setting_t *at, const char *name,
                    const char *format, ...)
{
    rv_buf where, path;
    va_list args;

    rv_buf_init(&where, TEXT_MAX);
    rv_buf_init(&path, WORDS_MAX);
    rv_complain_add_where(&where, file, at);
    add_path(&path, at);
    if (name != NULL) rv_buf_addf(&path, "%s%s", path.length > 0 ? "." : "", name);
    va_start(args, format);
    complain(errors, rv_buf_text(&where), rv_buf_text(&path), format, args);
    va_end(args);
    rv_buf_fini(&where);
    rv_buf_fini(&path);
}

static void add_got(rv_buf *out, const config_setting_t *at)
{
    const char *text;
    size_t length;

    switch (config_setting_type(at)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        rv_buf_addi(out, config_setting_get_int64(at));
        break;
    case CONFIG_TYPE_FLOAT:
        rv_decimal_add(out, config_setting_get_float(at), 10);
        break;
    case CONFIG_TYPE_BOOL:
        rv_buf_adds(out, config_setting_get_bool(at) ? "true" : "false");
        break;
    case CONFIG_TYPE_STRING:
        text = config_setting_get_string(at);
        length = rv_utf8_cut(text, strlen(text), QUOTE_MAX);
        rv_buf_add_json(out, text, length);
        if (text[length] != '\0') rv_buf_adds(out, "...");
        break;
    case CONFIG_TYPE_GROUP:
        rv_buf_adds(out, "a group");
        break;
    default:
        rv_buf_adds(out, config_setting_length(at) == 0 ? "an empty list" : "a list");
        break;
    }
}

void rv_complain_expected_text(rv_config_errors *errors, const char *file, const config_setting_t *at,
                               const char *expected)
{
    rv_buf got;

    rv_buf_init(&got, WORDS_MAX);
    add_got(&got, at);
    rv_complain_at(errors, file, at, NULL, "expected %s, got %s", expected, rv_buf_text(&got));
    rv_buf_fini(&got);
}

void rv_complain_expected(rv_config_errors *errors, const char *file, const config_setting_t *at,
                          const rv_setting *setting)
{
    rv_buf words;

    rv_buf_init(&words, WORDS_MAX);
    rv_setting_expected(setting, &words);
    rv_complain_expected_text(errors, file, at, rv_buf_text(&words));
    rv_buf_fini(&words);
}
