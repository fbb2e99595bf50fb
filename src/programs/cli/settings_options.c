#include "settings_options.h"

#include <inttypes.h>
#include <string.h>

#include "base/backoff_text.h"
#include "base/id.h"
#include "base/text.h"

#define PART_MAX 128

static bool is_part_of(const rv_queue_setting *row, const char *flag)
{
    return row < rv_queue_settings + RV_QUEUE_SETTINGS && row->flag != NULL && strcmp(row->flag, flag) == 0;
}

static bool parse_number(const rv_queue_setting *row, const char *text, int64_t *ret)
{
    switch (row->type) {
    case RV_QUEUE_IS_MS:
        return rv_parse_duration(text, ret) && *ret >= row->min && *ret <= row->max;
    case RV_QUEUE_IS_BYTES:
        return rv_parse_size(text, ret) && *ret >= row->min && *ret <= row->max;
    case RV_QUEUE_IS_FLAG:
        *ret = strcmp(text, "yes") == 0;
        return *ret != 0 || strcmp(text, "no") == 0;
    default:
        return rv_parse_int(text, row->min, row->max, ret);
    }
}

static bool parse_word(const rv_queue_setting *row, const char *text, int64_t *ret)
{
    for (const rv_queue_word *word = row->words; word->word != NULL; word++) {
        *ret = word->number;
        if (strcmp(word->word, text) == 0) return true;
    }
    return false;
}

static bool parse(const rv_queue_setting *row, const char *text, rv_queue_values *values)
{
    size_t i = (size_t)(row - rv_queue_settings);
    bool is_word = parse_word(row, text, &values->number[i]);

    values->given[i] = true;
    if (row->type != RV_QUEUE_IS_TYPE) return is_word || parse_number(row, text, &values->number[i]);
    values->text[i] = is_word ? "" : text;
    return is_word || rv_valid_type(text, strlen(text));
}

/* "7d:100" by two rows. */
static bool parse_parts(const rv_queue_setting *row, const char *value, rv_queue_values *values)
{
    const char *flag = row->flag;

    for (; is_part_of(row, flag); row++) {
        size_t length = strcspn(value, ":");
        char part[PART_MAX] = "";

        if (length < PART_MAX) rv_copy_text(part, length + 1, value);
        if (!parse(row, part, values)) return false;
        if (value[length] == '\0') return true;
        value += length + 1;
    }
    return false;
}

static void add_expected(rv_buf *out, const rv_queue_setting *row)
{
    if (row->example != NULL)
        rv_buf_addf(out, "%s, for instance %s", row->value, row->example);
    else if (row->type == RV_QUEUE_IS_MS)
        rv_buf_adds(out, "a duration above zero " RV_DURATION_EXAMPLES);
    else if (row->type == RV_QUEUE_IS_BYTES)
        rv_buf_addf(out, "bytes from %" PRId64 " to %" PRId64 " such as 4096, 64K or 1M", row->min, row->max);
    else if (row->type == RV_QUEUE_IS_FLAG)
        rv_buf_adds(out, "yes or no");
    else if (row->type == RV_QUEUE_IS_TYPE)
        rv_buf_adds(out, "a type (1 to 100 of A-Z a-z 0-9 . _ - : /)");
    else
        rv_buf_addf(out, "a whole number from %" PRId64 " to %" PRId64, row->min, row->max);
    for (const rv_queue_word *word = row->words; row->example == NULL && word->word != NULL; word++)
        rv_buf_addf(out, ", or %s", word->word);
}

static int read_backoff(const cli_context *cli, const cli_option *option, rv_queue_values *values, const char *value)
{
    rv_error why;

    values->given[option->at] = true;
    values->number[option->at] = strcmp(value, "default") != 0;
    if (values->number[option->at] == 0 || rv_backoff_text_parse(value, &values->backoff, &why) == REEVE_OK)
        return CLI_DONE;
    return cli_usage(cli, "--%s: %s; or default", option->name, why.text);
}

int cli_read_queue_setting(const cli_context *cli, const cli_option *option, void *values, char *value)
{
    const rv_queue_setting *row = &rv_queue_settings[option->at];
    rv_buf expected;

    if (row->type == RV_QUEUE_IS_BACKOFF) return read_backoff(cli, option, values, value);
    if (is_part_of(row + 1, row->flag) ? parse_parts(row, value, values) : parse(row, value, values)) return CLI_DONE;
    rv_buf_init(&expected, 1024);
    add_expected(&expected, row);
    int status = cli_bad_value(cli, option, value, rv_buf_text(&expected));
    rv_buf_fini(&expected);
    return status;
}
