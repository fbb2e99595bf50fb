#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/mem.h"
#include "base64.h"
#include "json_scan.h"
#include "utf8.h"

static void write_escape(FILE *out, uint32_t character)
{
    switch (character) {
    case '"':
        (void)fputs("\\\"", out);
        break;
    case '\\':
        (void)fputs("\\\\", out);
        break;
    case '\n':
        (void)fputs("\\n", out);
        break;
    case '\r':
        (void)fputs("\\r", out);
        break;
    case '\t':
        (void)fputs("\\t", out);
        break;
    default:
        (void)fprintf(out, "\\u%04x", (unsigned)character);
    }
}

/* Writes runs of ordinary characters at once. */
static void write_string(FILE *out, const char *text, size_t length)
{
    size_t from = 0, step;
    uint32_t character = 0;

    (void)fputc('"', out);
    for (size_t at = 0; at < length; at += step) {
        step = cli_utf8_next(text + at, length - at, &character);
        if (step != 0 && character != '"' && character != '\\' && !cli_utf8_unsafe(character)) continue;
        (void)fwrite(text + from, 1, at - from, out);
        if (step == 0) {
            step = 1;
            (void)fputs("\xef\xbf\xbd", out);
        } else {
            write_escape(out, character);
        }
        from = at + step;
    }
    if (length > from) (void)fwrite(text + from, 1, length - from, out);
    (void)fputc('"', out);
}

/* key NULL: an element of an array. */
static void write_key(cli_json *json, const char *key)
{
    if (json->comma) (void)fputc(',', json->out);
    json->comma = true;
    if (key == NULL) return;
    write_string(json->out, key, strlen(key));
    (void)fputc(':', json->out);
}

void cli_json_begin(cli_json *json, FILE *out)
{
    json->out = out;
    json->comma = false;
    (void)fputc('{', out);
}

void cli_json_end(cli_json *json)
{
    (void)fputs("}\n", json->out);
}

static void open_with(cli_json *json, const char *key, int bracket)
{
    if (key != NULL)
        write_key(json, key);
    else if (json->comma)
        (void)fputc(',', json->out);
    (void)fputc(bracket, json->out);
    json->comma = false;
}

static void close_with(cli_json *json, int bracket)
{
    (void)fputc(bracket, json->out);
    json->comma = true;
}

void cli_json_open(cli_json *json, const char *key)
{
    open_with(json, key, '{');
}

void cli_json_close(cli_json *json)
{
    close_with(json, '}');
}

void cli_json_open_array(cli_json *json, const char *key)
{
    open_with(json, key, '[');
}

void cli_json_close_array(cli_json *json)
{
    close_with(json, ']');
}

void cli_json_null(cli_json *json, const char *key)
{
    write_key(json, key);
    (void)fputs("null", json->out);
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    write_key(json, key);
    if (text == NULL)
        (void)fputs("null", json->out);
    else
        write_string(json->out, text, strlen(text));
}

void cli_json_int(cli_json *json, const char *key, int64_t number)
{
    write_key(json, key);
    (void)fprintf(json->out, "%" PRId64, number);
}

void cli_json_uint(cli_json *json, const char *key, uint64_t number)
{
    write_key(json, key);
    (void)fprintf(json->out, "%" PRIu64, number);
}

void cli_json_number(FILE *out, double number, unsigned digits)
{
    char text[RV_DECIMAL_TEXT] = "null";
    if (isfinite(number)) rv_decimal_write(text, number, digits);
    (void)fputs(text, out);
}

void cli_json_real(cli_json *json, const char *key, double number)
{
    write_key(json, key);
    cli_json_number(json->out, number, 9);
}

void cli_json_bool(cli_json *json, const char *key, bool value)
{
    write_key(json, key);
    (void)fputs(value ? "true" : "false", json->out);
}

void cli_json_maybe(cli_json *json, const char *key, int64_t number)
{
    if (number < 0)
        cli_json_null(json, key);
    else
        cli_json_int(json, key, number);
}

void cli_json_raw(cli_json *json, const char *key, const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    cli_value value;
    cli_scan scan;
    char *line;

    if (text == NULL) {
        cli_json_null(json, key);
        return;
    }
    cli_scan_init(&scan, text, length);
    line = cli_scan_value(&scan, &value) && cli_scan_end(&scan) ? rv_alloc(length + 1) : NULL;
    if (line == NULL) {
        cli_json_text(json, key, text);
        return;
    }
    write_key(json, key);
    (void)fwrite(line, 1, cli_scan_compact(&value, line), json->out);
    rv_free(line);
}

static void write_base64(FILE *out, reeve_bytes bytes)
{
    const unsigned char *data = bytes.data;
    char block[CLI_BASE64_SIZE(3072)];

    for (size_t at = 0; at < bytes.length; at += 3072) {
        size_t length = bytes.length - at < 3072 ? bytes.length - at : 3072;
        (void)fwrite(block, 1, cli_base64_encode(data + at, length, block), out);
    }
}

void cli_json_bytes(cli_json *json, const char *key, reeve_bytes bytes, bool or_null)
{
    char name[64];

    if (bytes.data == NULL && or_null) {
        cli_json_null(json, key);
    } else if (bytes.length == 0 || cli_utf8_valid(bytes.data, bytes.length)) {
        write_key(json, key);
        write_string(json->out, bytes.data, bytes.length);
    } else {
        (void)snprintf(name, sizeof(name), "%s_base64", key);
        write_key(json, name);
        (void)fputc('"', json->out);
        write_base64(json->out, bytes);
        (void)fputc('"', json->out);
    }
}
