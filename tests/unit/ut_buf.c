/* ut_buf.c - buffers: growth, the maximum, failure that stays, numbers, JSON strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

static void an_empty_buffer_has_a_text(void **state)
{
    (void)state;
    rv_buf buf;
    rv_buf_init(&buf, 10);
    assert_string_equal(rv_buf_text(&buf), "");
    rv_buf_add(&buf, NULL, 0);
    assert_non_null(buf.data);
    assert_string_equal(rv_buf_text(&buf), "");
    rv_buf_fini(&buf);
    rv_buf_fini(&buf);
    assert_int_equal(buf.max, 10);
}

static void bytes_are_appended_in_order(void **state)
{
    (void)state;
    rv_buf buf;
    rv_buf_init(&buf, SIZE_MAX);
    for (int i = 0; i < 100000; i++) {
        rv_buf_addc(&buf, (char)('a' + i % 26));
        assert_int_equal(buf.data[buf.length], '\0');
    }
    assert_int_equal(buf.length, 100000);
    for (int i = 0; i < 100000; i++) assert_int_equal(buf.data[i], 'a' + i % 26);
    rv_buf_fini(&buf);
}

static void growth_doubles(void **state)
{
    (void)state;
    rv_buf buf;
    rv_buf_init(&buf, SIZE_MAX);
    rv_mem_fail_at(0);
    for (int i = 0; i < 1 << 20; i++) rv_buf_addc(&buf, 'x');
    assert_in_range(rv_mem_fail_at(0), 10, 20);
    rv_buf_fini(&buf);
}

static void the_maximum_counts_no_zero_byte(void **state)
{
    (void)state;
    rv_buf buf;
    rv_buf_init(&buf, 100);
    for (int i = 0; i < 100; i++) rv_buf_addc(&buf, 'x');
    assert_false(buf.failed);
    assert_true(buf.capacity <= 101);
    rv_buf_addc(&buf, 'y');
    assert_true(buf.failed);
    assert_int_equal(buf.length, 100);

    rv_buf_clear(&buf);
    rv_buf_adds(&buf, "again");
    assert_false(buf.failed);
    assert_string_equal(rv_buf_text(&buf), "again");
    assert_false(rv_buf_reserve(&buf, SIZE_MAX));
    rv_buf_fini(&buf);

    rv_buf_init(&buf, SIZE_MAX);
    assert_false(rv_buf_reserve(&buf, SIZE_MAX));
    rv_buf_fini(&buf);
}

static void failure_stays_until_cleared(void **state)
{
    (void)state;
    rv_buf buf;
    rv_buf_init(&buf, 8);
    rv_buf_adds(&buf, "1234");
    rv_buf_adds(&buf, "567890");
    rv_buf_adds(&buf, "x");
    rv_buf_addi(&buf, 1);
    rv_buf_addf(&buf, "%d", 1);
    rv_buf_add_json(&buf, "", 0);
    assert_true(buf.failed);
    assert_string_equal(rv_buf_text(&buf), "1234");
    rv_buf_clear(&buf);
    assert_false(buf.failed);
    assert_string_equal(rv_buf_text(&buf), "");
    rv_buf_fini(&buf);
}

static void no_memory_is_a_failure_that_loses_nothing(void **state)
{
    (void)state;
    rv_buf buf;
    rv_buf_init(&buf, SIZE_MAX);
    rv_buf_adds(&buf, "kept");
    rv_mem_fail_at(1);
    assert_false(rv_buf_reserve(&buf, 1000));
    rv_mem_fail_at(0);
    assert_true(buf.failed);
    assert_string_equal(rv_buf_text(&buf), "kept");
    rv_buf_fini(&buf);
}

static void trim_keeps_what_is_in_use(void **state)
{
    (void)state;
    rv_buf buf;
    rv_buf_init(&buf, SIZE_MAX);
    assert_true(rv_buf_reserve(&buf, 100000));
    rv_buf_adds(&buf, "in use");
    rv_buf_trim(&buf, 1000);
    assert_true(buf.capacity > 100000);

    rv_buf_clear(&buf);
    rv_buf_trim(&buf, 1000);
    assert_int_equal(buf.capacity, 1000);
    for (int i = 0; i < 2000; i++) rv_buf_addc(&buf, 'x');
    assert_int_equal(buf.length, 2000);

    rv_buf_clear(&buf);
    rv_buf_trim(&buf, 0);
    assert_null(buf.data);
    rv_buf_adds(&buf, "back");
    assert_string_equal(rv_buf_text(&buf), "back");
    rv_buf_fini(&buf);
}

static void numbers_are_written_as_printf_does(void **state)
{
    (void)state;
    static const int64_t numbers[] = {0, 1, -1, 9, 10, -10, 99, 100, 1234567890123, INT64_MAX, INT64_MIN};
    rv_buf buf;
    char expected[32];

    rv_buf_init(&buf, 100);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        rv_buf_clear(&buf);
        rv_buf_addi(&buf, numbers[i]);
        snprintf(expected, sizeof(expected), "%lld", (long long)numbers[i]);
        assert_string_equal(rv_buf_text(&buf), expected);
    }
    rv_buf_fini(&buf);
}

static void formats_of_any_length(void **state)
{
    (void)state;
    static const int lengths[] = {0, 1, 251, 252, 253, 254, 5000};
    rv_buf buf;

    rv_buf_init(&buf, 6000);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        rv_buf_clear(&buf);
        rv_buf_addf(&buf, "<%0*d>", lengths[i] + 1, 7);
        assert_int_equal(buf.length, lengths[i] + 3);
        assert_int_equal(strlen(rv_buf_text(&buf)), buf.length);
        assert_string_equal(rv_buf_text(&buf) + buf.length - 2, "7>");
    }
    rv_buf_addf(&buf, "%06000d", 1);
    assert_true(buf.failed);
    rv_buf_fini(&buf);
}

static void expect_json(const char *text, size_t length, const char *expected)
{
    rv_buf buf;
    rv_buf_init(&buf, 1000);
    rv_buf_add_json(&buf, text, length);
    assert_false(buf.failed);
    assert_string_equal(rv_buf_text(&buf), expected);
    rv_buf_fini(&buf);
}

static void json_strings_are_escaped(void **state)
{
    (void)state;
    expect_json(NULL, 0, "\"\"");
    expect_json("plain", 5, "\"plain\"");
    expect_json("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    expect_json("\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\"");
    expect_json("a\xc2\x9b\x31\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xc2\xa0\xe2\x82\xac\xc2", 18,
                "\"a\\u009b1\\u202e\\u2066\\u061c\xc2\xa0\xe2\x82\xac\xc2\"");
    expect_json("\0\x01\x1f\x7f ", 5, "\"\\u0000\\u0001\\u001f\\u007f \"");
    expect_json("na\xc3\xafve \xff\x80", 9, "\"na\xc3\xafve \xff\x80\"");
    expect_json("\"", 1, "\"\\\"\"");
    expect_json("cut here", 3, "\"cut\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_buffer_has_a_text),
        cmocka_unit_test(bytes_are_appended_in_order),
        cmocka_unit_test(growth_doubles),
        cmocka_unit_test(the_maximum_counts_no_zero_byte),
        cmocka_unit_test(failure_stays_until_cleared),
        cmocka_unit_test(no_memory_is_a_failure_that_loses_nothing),
        cmocka_unit_test(trim_keeps_what_is_in_use),
        cmocka_unit_test(numbers_are_written_as_printf_does),
        cmocka_unit_test(formats_of_any_length),
        cmocka_unit_test(json_strings_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
