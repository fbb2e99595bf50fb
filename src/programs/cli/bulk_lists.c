/*
 * bulk_lists.c - the members of a bulk line that hold several things: tags, limit keys, metadata, parents.
 */
#include "after.h"
#include "base/mem.h"
#include "bulk_values.h"

static size_t count_members(const cli_value *container)
{
    cli_walk walk;
    cli_value key, value;
    size_t count = 0;

    cli_walk_init(&walk, container);
    while (cli_walk_next(&walk, &key, &value)) count++;
    return count;
}

/* *ret_texts is of the line, which frees it. */
static bool read_texts(cli_bulk_reading *reading, const cli_value *value, const char ***ret_texts, size_t *ret_count)
{
    size_t count;
    cli_walk walk;
    cli_value text;

    if (value->kind != CLI_VALUE_ARRAY) return cli_bulk_refuse_type(reading, "an array of strings");
    if ((count = count_members(value)) == 0) return true;
    *ret_texts = rv_zalloc_array(count, sizeof(**ret_texts));
    if (*ret_texts == NULL) return cli_bulk_no_memory(reading);
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, NULL, &text)) {
        if (text.kind != CLI_VALUE_STRING) return cli_bulk_refuse_type(reading, "an array of strings");
        if (!cli_bulk_take_string(reading, &text, &(*ret_texts)[*ret_count])) return false;
        ++*ret_count;
    }
    return true;
}

bool cli_bulk_read_tags(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;

    (void)member;
    if (!read_texts(reading, value, &line->tags, &line->spec.tag_count)) return false;
    line->spec.tags = line->tags;
    return true;
}

bool cli_bulk_read_limit_keys(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;

    (void)member;
    if (!read_texts(reading, value, &line->limit_keys, &line->spec.limit_key_count)) return false;
    line->spec.limit_keys = line->limit_keys;
    return true;
}

bool cli_bulk_read_meta(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    size_t count;
    cli_walk walk;
    cli_value key, text;

    (void)member;
    if (value->kind != CLI_VALUE_OBJECT) return cli_bulk_refuse_type(reading, "an object of strings");
    if ((count = count_members(value)) == 0) return true;
    line->meta = rv_zalloc_array(count, sizeof(*line->meta));
    if (line->meta == NULL) return cli_bulk_no_memory(reading);
    line->spec.meta = line->meta;
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, &key, &text)) {
        reeve_meta *meta = &line->meta[line->spec.meta_count];

        if (text.kind != CLI_VALUE_STRING) return cli_bulk_refuse_type(reading, "an object of strings");
        if (!cli_bulk_take_string(reading, &key, &meta->key) || !cli_bulk_take_string(reading, &text, &meta->value))
            return false;
        line->spec.meta_count++;
    }
    return true;
}

static bool read_parent(cli_bulk_reading *reading, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    const char *text = NULL;

    if (value->kind != CLI_VALUE_STRING) return cli_bulk_refuse_type(reading, "a handle, or an array of handles");
    if (!cli_bulk_take_string(reading, value, &text)) return false;
    if (!cli_after_parse((char *)text, &line->after[line->spec.after_count])) /* (it lies in the line's memory) */
        return cli_bulk_refuse_value(reading, value, "QUEUE/ID, or that with a rule behind it: " CLI_AFTER_NAMES);
    line->spec.after_count++;
    return true;
}

/* One, or an array. */
bool cli_bulk_read_after(cli_bulk_reading *reading, const cli_bulk_member *member, const cli_value *value)
{
    cli_bulk_line *line = reading->line;
    size_t count = value->kind == CLI_VALUE_ARRAY ? count_members(value) : 1;
    cli_walk walk;
    cli_value one;

    (void)member;
    if (count == 0) return true;
    line->after = rv_zalloc_array(count, sizeof(*line->after));
    if (line->after == NULL) return cli_bulk_no_memory(reading);
    line->spec.after = line->after;
    if (value->kind != CLI_VALUE_ARRAY) return read_parent(reading, value);
    cli_walk_init(&walk, value);
    while (cli_walk_next(&walk, NULL, &one))
        if (!read_parent(reading, &one)) return false;
    return true;
}
