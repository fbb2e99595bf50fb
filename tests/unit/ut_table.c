/* ut_table.c - what the command line prints: tables, fields, harmless text, times, JSON. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/base64.h"
#include "cli/bytes_view.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/utf8.h"
#include "cli/when.h"

/* A stream into memory, and its text once it is closed. */
struct sink {
    FILE *out;
    char *text;
    size_t length;
};

static FILE *sink_open(struct sink *sink)
{
    sink->out = open_memstream(&sink->text, &sink->length);
    assert_non_null(sink->out);
    return sink->out;
}

static void sink_expect(struct sink *sink, const char *expected)
{
    assert_int_equal(fclose(sink->out), 0);
    assert_string_equal(sink->text, expected);
    free(sink->text);
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static const cli_column columns[] = {{"NAME", false, 0, 0}, {"N", true, 0, 0}, {"WORDS", false, 8, 0}};

static void add_row(cli_table *table, const char *name, const char *number, const char *words)
{
    cli_table_cell(table, name);
    cli_table_cell(table, number);
    cli_table_cell(table, words);
}

static void columns_fit_their_content(void **state)
{
    (void)state;
    struct sink sink;
    cli_table table;

    cli_table_init(&table, columns, 3);
    add_row(&table, "a", "1", "short");
    add_row(&table, "longer", "12345", "much too long");
    add_row(&table, NULL, "", "12345678");
    assert_true(cli_table_print(&table, sink_open(&sink)));
    sink_expect(&sink, "NAME        N  WORDS\n"
                       "a           1  short\n"
                       "longer  12345  much to…\n"
                       "-           -  12345678\n");
    cli_table_fini(&table);
    cli_table_fini(&table);
}

static void pages_have_one_title(void **state)
{
    (void)state;
    struct sink sink;
    cli_table table;
    FILE *out = sink_open(&sink);

    cli_table_init(&table, columns, 3);
    add_row(&table, "first-page", "1", "x");
    assert_true(cli_table_print(&table, out));
    add_row(&table, "b", "2", "y");
    assert_true(cli_table_print(&table, out));
    sink_expect(&sink, "NAME        N  WORDS\n"
                       "first-page  1  x\n"
                       "b           2  y\n");
    cli_table_fini(&table);
}

static void wide_and_combining_characters(void **state)
{
    (void)state;
    struct sink sink;
    cli_table table;

    cli_table_init(&table, columns, 3);
    add_row(&table, "J\xc3\xbcrgen", "1", "x");
    add_row(&table, "\xe6\x97\xa5\xe6\x9c\xac", "2", "x"); /* two characters, four columns */
    add_row(&table, "e\xcc\x81", "3", "\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5");
    assert_true(cli_table_print(&table, sink_open(&sink)));
    sink_expect(&sink, "NAME    N  WORDS\n"
                       "J\xc3\xbcrgen  1  x\n"
                       "\xe6\x97\xa5\xe6\x9c\xac    2  x\n"
                       "e\xcc\x81       3  \xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5…\n");
    cli_table_fini(&table);
}

static void cells_are_harmless(void **state)
{
    (void)state;
    struct sink sink;
    cli_table table;
    static const cli_column one[] = {{"TEXT", false, 0, 0}};

    cli_table_init(&table, one, 1);
    cli_table_cell(&table, "a\nb\t\x1b[31mc\x7f\xff\xe2\x80\xae\xc2\x9b");
    assert_true(cli_table_print(&table, sink_open(&sink)));
    sink_expect(&sink, "TEXT\na\\nb\\t\\x1b[31mc\\x7f\\xff\\u202e\\x9b\n");
    cli_table_fini(&table);
}

static void tables_without_memory(void **state)
{
    (void)state;
    bool printed = false;

    for (unsigned long nth = 1; !printed; nth++) {
        struct sink sink;
        cli_table table;

        (void)rv_mem_fail_at(nth);
        cli_table_init(&table, columns, 3);
        add_row(&table, "a", "1", "x");
        printed = cli_table_print(&table, sink_open(&sink));
        (void)rv_mem_fail_at(0);
        sink_expect(&sink, printed ? "NAME  N  WORDS\na     1  x\n" : "");
        cli_table_fini(&table);
    }
}

static void fields_line_up(void **state)
{
    (void)state;
    struct sink sink;
    cli_fields fields;

    cli_fields_init(&fields);
    cli_fields_add(&fields, "name", "x");
    cli_fields_add(&fields, "left out", NULL);
    cli_fields_addf(&fields, "payload", "%s", "one\n\n\x1b two\n");
    cli_fields_add(&fields, "empty", "");
    assert_true(cli_fields_print(&fields, sink_open(&sink)));
    sink_expect(&sink, "name:    x\n"
                       "payload: one\n"
                       "\n"
                       "         \\x1b two\n"
                       "empty:\n");
    cli_fields_fini(&fields);
}

/* ---- bytes and times ------------------------------------------------------------------------------------------- */

static void expect_preview(const void *data, size_t length, const char *expected)
{
    rv_buf buf;

    rv_buf_init(&buf, 100000);
    cli_bytes_preview(&buf, (reeve_bytes){data, length});
    assert_string_equal(rv_buf_text(&buf), expected);
    rv_buf_fini(&buf);
}

static void previews(void **state)
{
    (void)state;
    char *text = malloc(5000), *expected = malloc(5000);

    expect_preview(NULL, 0, "(empty)");
    expect_preview("gr\xc3\xbc\xc3\x9f\n", 7, "gr\xc3\xbc\xc3\x9f\n");
    expect_preview("a\0b", 3, "3 bytes that are no text\n0000  61 00 62                                         a.b");
    memset(text, 'x', 5000);
    memset(expected, 'x', 4096);
    (void)strcpy(expected + 4096, "\n(904 bytes more)");
    expect_preview(text, 5000, expected);
    memcpy(text + 4095, "\xc3\xbc", 2); /* a character across the cut is not halved */
    (void)strcpy(expected + 4095, "\n(905 bytes more)");
    expect_preview(text, 5000, expected);
    free(text);
    free(expected);
}

static void spans(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } spans[] = {{-5, "0 ms"},       {0, "0 ms"},       {999, "999 ms"},    {1000, "1 s"},
                 {59999, "59 s"},    {60000, "1 m"},    {3599999, "59 m"},  {3600000, "1 h"},
                 {86399999, "23 h"}, {86400000, "1 d"}, {864000000, "10 d"}};
    char text[CLI_WHEN_TEXT];

    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        cli_span_text(spans[i].ms, text);
        assert_string_equal(text, spans[i].text);
    }
    cli_ago_text(1000000, 1003500, text);
    assert_string_equal(text, "3 s ago");
    cli_ago_text(1300000, 1000000, text);
    assert_string_equal(text, "in 5 m");
    cli_ago_text(1000000, 1000999, text);
    assert_string_equal(text, "now");
    cli_ago_text(-1, 1000000, text);
    assert_string_equal(text, "");
    cli_time_text(1700000000123, 1700000060123, text);
    assert_string_equal(text, "2023-11-14T22:13:20.123Z (1 m ago)");
}

static void utf8(void **state)
{
    (void)state;
    static const char *const wrong[] = {"\x80",         "\xc0\xaf",         "\xe0\x80\xaf",
                                        "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80",
                                        "\xc3",         "\xe2\x82",         "\xf0\x9f\x98"};
    static const char *const right[] = {"",
                                        "a",
                                        "\x7f",
                                        "\xc2\x80",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf"};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(cli_utf8_valid(wrong[i], strlen(wrong[i])));
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
        assert_true(cli_utf8_valid(right[i], strlen(right[i])));
    assert_true(cli_utf8_valid("a\0b", 3));
    assert_false(cli_utf8_is_text("a\0b", 3));
    assert_false(cli_utf8_is_text("a\rb", 3));
    assert_true(cli_utf8_is_text("a\tb\n", 4));
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void json_members(void **state)
{
    (void)state;
    struct sink sink;
    cli_json json;

    cli_json_begin(&json, sink_open(&sink));
    cli_json_text(&json, "text", "a\"b\\c\n\r\t\x01\x7f/\xc3\xbc\xff\xe2\x80\xae");
    cli_json_text(&json, "none", NULL);
    cli_json_int(&json, "int", INT64_MIN);
    cli_json_uint(&json, "uint", UINT64_MAX);
    cli_json_bool(&json, "bool", true);
    cli_json_maybe(&json, "when", -1);
    cli_json_open(&json, "object");
    cli_json_int(&json, "x", 1);
    cli_json_close(&json);
    cli_json_raw(&json, "raw", "{ \"a\" :\n[1, 2] }");
    cli_json_raw(&json, "broken", "{oops");
    cli_json_raw(&json, "nothing", NULL);
    cli_json_end(&json);
    sink_expect(&sink, "{\"text\":\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u007f/\xc3\xbc\xef\xbf\xbd\\u202e\",\"none\":null,"
                       "\"int\":-9223372036854775808,\"uint\":18446744073709551615,\"bool\":true,\"when\":null,"
                       "\"object\":{\"x\":1},\"raw\":{\"a\":[1,2]},\"broken\":\"{oops\",\"nothing\":null}\n");
}

static void json_bytes(void **state)
{
    (void)state;
    struct sink sink;
    cli_json json;

    cli_json_begin(&json, sink_open(&sink));
    cli_json_bytes(&json, "text", (reeve_bytes){"a\0b", 3}, true);
    cli_json_bytes(&json, "bytes", (reeve_bytes){"\xff\x00", 2}, true);
    cli_json_bytes(&json, "none", (reeve_bytes){NULL, 0}, true);
    cli_json_bytes(&json, "empty", (reeve_bytes){NULL, 0}, false);
    cli_json_end(&json);
    sink_expect(&sink, "{\"text\":\"a\\u0000b\",\"bytes_base64\":\"/wA=\",\"none\":null,\"empty\":\"\"}\n");
}

static void base64_there_and_back(void **state)
{
    (void)state;
    unsigned char data[256], back[256];
    char text[CLI_BASE64_SIZE(256)];

    for (unsigned i = 0; i < 256; i++) data[i] = (unsigned char)(i * 7);
    for (size_t length = 0; length <= 256; length++) {
        size_t written = cli_base64_encode(data, length, text), got;

        assert_int_equal(written, CLI_BASE64_SIZE(length));
        assert_true(cli_base64_decode(text, written, back, &got));
        assert_int_equal(got, length);
        assert_memory_equal(back, data, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_fit_their_content),
        cmocka_unit_test(pages_have_one_title),
        cmocka_unit_test(wide_and_combining_characters),
        cmocka_unit_test(cells_are_harmless),
        cmocka_unit_test(tables_without_memory),
        cmocka_unit_test(fields_line_up),
        cmocka_unit_test(previews),
        cmocka_unit_test(spans),
        cmocka_unit_test(utf8),
        cmocka_unit_test(json_members),
        cmocka_unit_test(json_bytes),
        cmocka_unit_test(base64_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
