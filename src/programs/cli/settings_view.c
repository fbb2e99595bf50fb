#include "settings_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/backoff_text.h"
#include "base/text.h"
#include "json.h"
#include "protocol/queue_settings.h"
#include "table.h"
#include "when.h"

#define TEXT_MAX 4096
#define NAME_MAX 64

/* A backoff as its option takes it; the default where none is set. */
static void add_backoff(rv_buf *out, const rv_queue_values *values)
{
    static const reeve_backoff otherwise = {
        .base_ms = RV_BACKOFF_BASE_MS, .cap_ms = RV_BACKOFF_CAP_MS, .jitter = RV_BACKOFF_JITTER};

    rv_backoff_text_format(out, values->number[RV_QUEUE_BACKOFF] != 0 ? &values->backoff : &otherwise);
}

/* ---- for programs ---------------------------------------------------------------------------------------------- */

/* Ends the objects that are open and begins others: from "keep.completed" to "keep.dead", say. */
static void enter(cli_json *json, char current[NAME_MAX], const char *path)
{
    const char *dot = strrchr(path, '.');
    size_t length = dot == NULL ? 0 : (size_t)(dot - path), common = strlen(current);

    while (common > 0 && (common > length || strncmp(current, path, common) != 0 || path[common] != '.')) {
        cli_json_close(json);
        while (common > 0 && current[--common] != '.') {}
        current[common] = '\0';
    }
    while (common < length) {
        char name[NAME_MAX];
        size_t from = common > 0 ? common + 1 : 0;

        common = from + strcspn(path + from, ".");
        rv_copy_text(name, common - from + 1, path + from);
        rv_copy_text(current, common + 1, path);
        cli_json_open(json, name);
    }
}

static void add_json(cli_json *json, const rv_queue_values *values, size_t i)
{
    const rv_queue_setting *row = &rv_queue_settings[i];
    const char *dot = strrchr(row->json, '.'), *name = dot == NULL ? row->json : dot + 1;
    rv_buf text;

    if (row->type == RV_QUEUE_IS_TYPE) {
        cli_json_text(json, name, values->text[i] == NULL || *values->text[i] == '\0' ? NULL : values->text[i]);
    } else if (row->type == RV_QUEUE_IS_FLAG) {
        cli_json_bool(json, name, values->number[i] != 0);
    } else if (row->type == RV_QUEUE_IS_BACKOFF) {
        rv_buf_init(&text, TEXT_MAX);
        add_backoff(&text, values);
        cli_json_text(json, name, values->number[i] != 0 ? rv_buf_text(&text) : NULL);
        rv_buf_fini(&text);
    } else if (values->number[i] == row->json_null) {
        cli_json_null(json, name);
    } else {
        cli_json_int(json, name, values->number[i]);
    }
}

static void print_json(const char *queue, const rv_queue_values *values)
{
    char current[NAME_MAX] = "";
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", queue);
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        if (rv_queue_settings[i].json == NULL) continue;
        enter(&json, current, rv_queue_settings[i].json);
        add_json(&json, values, i);
    }
    enter(&json, current, "");
    cli_json_end(&json);
}

/* ---- for people ------------------------------------------------------------------------------------------------ */

/* As the options take it: 65536 is 64K. */
static void add_size(rv_buf *out, int64_t bytes)
{
    static const char *const units[] = {"", "K", "M", "G"};
    size_t unit = 0;

    while (unit + 1 < sizeof(units) / sizeof(units[0]) && bytes % 1024 == 0 && bytes > 0) {
        bytes /= 1024;
        unit++;
    }
    rv_buf_addf(out, "%" PRId64 "%s", bytes, units[unit]);
}

static void add_number(rv_buf *out, const rv_queue_setting *row, int64_t number)
{
    char text[CLI_WHEN_TEXT];

    if (row->type == RV_QUEUE_IS_MS) {
        cli_duration_text(number, text);
        rv_buf_adds(out, text);
    } else if (row->type == RV_QUEUE_IS_BYTES) {
        add_size(out, number);
    } else {
        rv_buf_addf(out, "%" PRId64 "%s", number, row->type == RV_QUEUE_IS_DAYS ? "d" : "");
    }
}

static const char *word_of(const rv_queue_setting *row, int64_t number)
{
    for (const rv_queue_word *word = row->words; word->word != NULL; word++) {
        if (word->number == number) return word->word;
    }
    return NULL;
}

/* One part of an option's value. */
static void add_part(rv_buf *out, const rv_queue_setting *row, const rv_queue_values *values)
{
    size_t i = (size_t)(row - rv_queue_settings);
    const char *word = word_of(row, values->number[i]);
    bool is_default = row->can_unset && values->number[i] == 0;

    if (row->type == RV_QUEUE_IS_TYPE)
        rv_buf_adds(out, values->text[i] == NULL || *values->text[i] == '\0' ? word : values->text[i]);
    else if (row->type == RV_QUEUE_IS_FLAG)
        rv_buf_adds(out, values->number[i] != 0 ? "yes" : "no");
    else if (row->type == RV_QUEUE_IS_BACKOFF)
        add_backoff(out, values);
    else if (is_default && row->otherwise == 0)
        rv_buf_adds(out, "none");
    else if (is_default)
        add_number(out, row, row->otherwise);
    else if (word != NULL)
        rv_buf_adds(out, word);
    else
        add_number(out, row, values->number[i]);
    if (is_default && row->type != RV_QUEUE_IS_TYPE && row->type != RV_QUEUE_IS_FLAG) rv_buf_adds(out, " (default)");
}

/* The value of an option as it takes it. A part that keeps nothing stands for all; an unlimited last part is left
 * out. */
static void add_value(rv_buf *out, const rv_queue_setting *row, const rv_queue_values *values)
{
    const rv_queue_setting *first = row, *end = rv_queue_settings + RV_QUEUE_SETTINGS;

    for (; row < end && row->flag != NULL && strcmp(row->flag, first->flag) == 0; row++) {
        size_t i = (size_t)(row - rv_queue_settings);
        const char *word = word_of(row, values->number[i]);

        if (row > first && row->can_unset && values->number[i] == 0) continue;
        if (first->example != NULL && word != NULL && strcmp(word, "none") == 0) {
            rv_buf_clear(out);
            rv_buf_adds(out, word);
            return;
        }
        if (row > first) rv_buf_addc(out, ':');
        add_part(out, row, values);
    }
}

static bool print_fields(const char *queue, const rv_queue_values *values)
{
    char names[RV_QUEUE_SETTINGS][NAME_MAX];
    cli_fields fields;
    rv_buf text;

    cli_fields_init(&fields);
    cli_fields_add(&fields, "queue", queue);
    rv_buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        if (rv_queue_settings[i].value == NULL) continue;
        rv_copy_text(names[i], NAME_MAX, rv_queue_settings[i].flag);
        for (char *at = names[i]; *at != '\0'; at++) *at = *at == '-' ? ' ' : *at;
        rv_buf_clear(&text);
        add_value(&text, &rv_queue_settings[i], values);
        cli_fields_add(&fields, names[i], rv_buf_text(&text));
    }
    bool printed = !text.failed && cli_fields_print(&fields, stdout);
    rv_buf_fini(&text);
    cli_fields_fini(&fields);
    return printed;
}

int cli_show_settings(const cli_context *cli, const char *queue, const reeve_queue_settings *settings)
{
    rv_queue_values values;

    rv_queue_settings_from(&values, settings);
    if (cli->json)
        print_json(queue, &values);
    else if (!print_fields(queue, &values))
        return cli_no_memory(cli);
    return CLI_DONE;
}
