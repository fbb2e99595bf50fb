/* ut_text.c - numbers, durations, times, UTF-8; and the words of errors and statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"
#include "reeve/status.h"
#include "reeve/version.h"

#define UNTOUCHED 424242

/* ---- numbers --------------------------------------------------------------------------------------------------- */

static void expect_int(const char *text, int64_t min, int64_t max, int64_t expected)
{
    int64_t number = UNTOUCHED;
    if (!rv_parse_int(text, min, max, &number)) fail_msg("\"%s\" was refused", text);
    assert_true(number == expected);
}

static void refuse_int(const char *text, int64_t min, int64_t max)
{
    int64_t number = UNTOUCHED;
    if (rv_parse_int(text, min, max, &number)) fail_msg("\"%s\" was taken", text == NULL ? "NULL" : text);
    assert_int_equal(number, UNTOUCHED);
}

static void whole_numbers(void **state)
{
    (void)state;
    expect_int("0", 0, 10, 0);
    expect_int("-0", 0, 10, 0);
    expect_int("10", 0, 10, 10);
    expect_int("007", 0, 10, 7);
    expect_int("-128", -128, 127, -128);
    expect_int("9223372036854775807", INT64_MIN, INT64_MAX, INT64_MAX);
    expect_int("-9223372036854775808", INT64_MIN, INT64_MAX, INT64_MIN);

    static const char *const wrong[] = {NULL,
                                        "",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1.0",
                                        "0x1",
                                        "1e3",
                                        "--1",
                                        "one",
                                        "1\n",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) refuse_int(wrong[i], INT64_MIN, INT64_MAX);
    refuse_int("11", 0, 10);
    refuse_int("-1", 0, 10);
}

/* ---- durations ------------------------------------------------------------------------------------------------- */

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } right[] = {
        {"0", 0},
        {"90", 90000},
        {"1.5", 1500},
        {"250ms", 250},
        {"90s", 90000},
        {"5m", 300000},
        {"2h", 7200000},
        {"1d", 86400000},
        {"0.1", 100},
        {"0.001s", 1},
        {"0.0009s", 0},
        {"1.5h", 5400000},
        {"0.5d", 43200000},
        {"1.9999999999s", 1999},
        {"2000000000000ms", RV_DURATION_MAX_MS},
        {"2000000000", RV_DURATION_MAX_MS},
        {"007s", 7000},
    };
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        int64_t ms = UNTOUCHED;
        if (!rv_parse_duration(right[i].text, &ms)) fail_msg("\"%s\" was refused", right[i].text);
        if (ms != right[i].ms) fail_msg("\"%s\" gave %lld", right[i].text, (long long)ms);
    }
}

static void durations_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {NULL,
                                        "",
                                        "s",
                                        "-1",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "1.s",
                                        "1 s",
                                        " 1",
                                        "1s ",
                                        "1S",
                                        "1e3",
                                        "1.5.5s",
                                        "1sm",
                                        "1ss",
                                        "inf",
                                        "nan",
                                        "1h30m",
                                        "0x1",
                                        "1,5",
                                        "99999999999999999999",
                                        "2000000000001ms",
                                        "2000000000.001",
                                        "23149d",
                                        "9223372036854775807ms",
                                        "9223372036854775808ms",
                                        "9223372036854775807",
                                        "106751991168d",
                                        "9223372036854775.808"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int64_t ms = UNTOUCHED;
        if (rv_parse_duration(wrong[i], &ms)) fail_msg("\"%s\" was taken as %lld", wrong[i], (long long)ms);
        assert_int_equal(ms, UNTOUCHED);
    }
}

/* ---- times ----------------------------------------------------------------------------------------------------- */

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } right[] = {
        {"0", 0},
        {"1795251600", 1795251600000},
        {"1795251600.25", 1795251600250},
        {"1795251600.9999", 1795251600999},
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00z", 0},
        {"1970-01-01 00:00:00Z", 0},
        {"2026-11-21T09:00:00Z", 1795251600000},
        {"2026-11-21T10:00:00+01:00", 1795251600000},
        {"2026-11-21T03:30:00-05:30", 1795251600000},
        {"2026-11-22T08:59:00+23:59", 1795251600000},
        {"2026-11-21T09:00:00.5Z", 1795251600500},
        {"2026-11-21T09:00:00.123456789123Z", 1795251600123},
        {"2026-11-21T09:00:00-00:00", 1795251600000},
        {"1969-12-31T23:59:59.5Z", -500},
        {"2000-02-29T00:00:00Z", 951782400000},
        {"2024-02-29T00:00:00Z", 1709164800000},
        {"0000-01-01T00:00:00Z", -62167219200000},
        {"9999-12-31T23:59:59.999Z", 253402300799999},
        {"253402300799.999", 253402300799999},
        {"2016-12-31T23:59:60Z", 1483228800000}, /* a leap second */
        {"2017-01-01T00:59:60+01:00", 1483228800000},
    };
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        int64_t ms = UNTOUCHED;
        if (!rv_parse_time(right[i].text, &ms)) fail_msg("\"%s\" was refused", right[i].text);
        if (ms != right[i].ms) fail_msg("\"%s\" gave %lld", right[i].text, (long long)ms);
    }
}

static void times_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        NULL,
        "",
        "now",
        "-1",
        "1.",
        ".5",
        "1795251600s",
        "2026-11-21",
        "2026-11-21T09:00:00",
        "2026-11-21T09:00Z",
        "2026-11-21X09:00:00Z",
        "2026-11-21T09:00:00ZZ",
        "2026-11-21T09:00:00Z ",
        " 2026-11-21T09:00:00Z",
        "2026-11-21T09:00:00.Z",
        "2026-11-21T09:00:00,5Z",
        "2026-11-21T09:00:00+1:00",
        "2026-11-21T09:00:00+0100",
        "2026-11-21T09:00:00+24:00",
        "2026-11-21T09:00:00+01:60",
        "2026-11-21T09:00:00+01:00:00",
        "2026-1-21T09:00:00Z",
        "26-11-21T09:00:00Z",
        "2026-00-21T09:00:00Z",
        "2026-13-21T09:00:00Z",
        "2026-11-00T09:00:00Z",
        "2026-11-31T09:00:00Z",
        "2026-04-31T09:00:00Z",
        "2026-01-32T09:00:00Z",
        "2026-02-29T00:00:00Z", /* no leap year */
        "1900-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T09:60:00Z",
        "2026-11-21T09:00:60Z", /* leap seconds end a day of UTC */
        "2016-12-31T23:59:60+01:00",
        "2016-12-31T23:59:61Z",
        "10000-01-01T00:00:00Z",
        "99999999999999999999",
        "253402300800",
        "1763712000123",
        "9223372036854775807",
        "2026/11/21T09:00:00Z",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int64_t ms = UNTOUCHED;
        if (rv_parse_time(wrong[i], &ms)) fail_msg("\"%s\" was taken as %lld", wrong[i], (long long)ms);
        assert_int_equal(ms, UNTOUCHED);
    }
}

static void times_are_written_in_utc(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } pairs[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {1795251600007, "2026-11-21T09:00:00.007Z"},
        {-62167219200000, "0000-01-01T00:00:00.000Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
        {INT64_MIN, "0000-01-01T00:00:00.000Z"}, /* what cannot be written is clamped */
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        char text[RV_TIME_TEXT];
        rv_format_time(pairs[i].ms, text);
        assert_string_equal(text, pairs[i].text);
    }
}

/* Every day of two of the calendar's cycles of 400 years, at a changing time of day, there (by the C library) and back.
 */
static void the_calendar_is_that_of_the_c_library(void **state)
{
    (void)state;
    int64_t day_ms = 86400000;
    for (int64_t ms = -11676096000000; ms < 13569465600000; ms += day_ms + 7919) { /* 1600 to 2400 */
        char text[RV_TIME_TEXT];
        int64_t back = UNTOUCHED;
        rv_format_time(ms, text);
        if (!rv_parse_time(text, &back) || back != ms) fail_msg("%s: %lld, %lld", text, (long long)ms, (long long)back);
    }
}

/* ---- UTF-8 ----------------------------------------------------------------------------------------------------- */

static void text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x8f\xa0z"; /* 1, 2, 3, 4, 1 bytes */
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t max = 0; max < sizeof(expected) / sizeof(expected[0]); max++) {
        assert_int_equal(rv_utf8_cut(text, 11, max), expected[max]);
    }
    assert_int_equal(rv_utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5); /* no UTF-8: nothing to spare */
    assert_int_equal(rv_utf8_cut("\x80\x80\x80", 3, 1), 1);
    assert_int_equal(rv_utf8_cut("", 0, 0), 0);
}

static void expect_clean(const char *text, const char *expected)
{
    char copy[64];
    size_t length = strlen(text);
    memcpy(copy, text, length + 1);
    rv_utf8_clean(copy, length);
    assert_string_equal(copy, expected);
}

static void what_is_no_utf8_is_replaced(void **state)
{
    (void)state;
    expect_clean("", "");
    expect_clean("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8f\xa0", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8f\xa0");
    expect_clean("\xf4\x8f\xbf\xbf \xee\x80\x80 \xed\x9f\xbf", "\xf4\x8f\xbf\xbf \xee\x80\x80 \xed\x9f\xbf");
    expect_clean("\x80 \xbf \xff \xfe", "? ? ? ?");
    expect_clean("\xc0\x80 \xc1\xbf", "?? ??");                     /* overlong */
    expect_clean("\xe0\x80\x80 \xe0\x9f\xbf", "??? ???");           /* overlong */
    expect_clean("\xf0\x80\x80\x80 \xf0\x8f\xbf\xbf", "???? ????"); /* overlong */
    expect_clean("\xed\xa0\x80 \xed\xbf\xbf", "??? ???");           /* surrogates */
    expect_clean("\xf4\x90\x80\x80 \xf5\x80\x80\x80", "???? ????"); /* past U+10FFFF */
    expect_clean("\xc3(", "?(");
    expect_clean("\xe2\x82", "??"); /* ends early */
    expect_clean("\xe2\x82\xe2\x82\xac", "??\xe2\x82\xac");

    char inside[4] = "a\0\xff";
    rv_utf8_clean(inside, 3);
    assert_memory_equal(inside, "a\0?", 4);
    char split[4] = "\xe2\x82\xac"; /* the length ends it, not the bytes */
    rv_utf8_clean(split, 2);
    assert_memory_equal(split, "??\xac", 4);
}

/* ---- errors, statuses ------------------------------------------------------------------------------------------ */

static void errors_keep_status_and_words(void **state)
{
    (void)state;
    rv_error error = {0};
    assert_int_equal(rv_fail(&error, REEVE_EINVAL, "queue \"%s\" is malformed", "a b"), REEVE_EINVAL);
    assert_int_equal(error.status, REEVE_EINVAL);
    assert_string_equal(error.text, "queue \"a b\" is malformed");
    rv_fail(&error, REEVE_ELOST, "worker: %s", error.text); /* may quote itself */
    assert_string_equal(error.text, "worker: queue \"a b\" is malformed");
    rv_error_clear(&error);
    assert_int_equal(error.status, REEVE_OK);
    assert_string_equal(error.text, "");
    assert_int_equal(rv_fail(NULL, REEVE_ENOMEM, "nobody listens"), REEVE_ENOMEM);
    rv_error_clear(NULL);
}

static void long_words_are_cut_on_a_character(void **state)
{
    (void)state;
    char words[1200];
    rv_error error;

    for (size_t i = 0; i + 2 < sizeof(words); i += 2) memcpy(words + i, "\xc3\xa4", 3);
    rv_fail(&error, REEVE_EREDIS, "%s", words);
    assert_int_equal(strlen(error.text), 510); /* 511 would split one */
    rv_fail(&error, REEVE_EREDIS, "x%s", words);
    assert_int_equal(strlen(error.text), 511);
    assert_memory_equal(error.text + 509, "\xc3\xa4", 3);
}

static void words_are_copied_into_what_there_is(void **state)
{
    (void)state;
    char target[8];
    rv_copy_text(target, sizeof(target), "exactly and more");
    assert_string_equal(target, "exactly");
    rv_copy_text(target, 4, "ab\xe2\x82\xac");
    assert_string_equal(target, "ab");
    rv_copy_text(target, 1, "gone");
    assert_string_equal(target, "");
    memcpy(target, "x", 2);
    rv_copy_text(target, 0, "not this");
    assert_string_equal(target, "x");
    rv_copy_text(target, sizeof(target), NULL);
    assert_string_equal(target, "");
    rv_copy_text(NULL, 10, "nowhere");
}

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int i = REEVE_OK; i <= REEVE_ECANCELLED; i++) {
        const char *text = reeve_status_text((reeve_status)i);
        assert_string_not_equal(text, "unknown status");
        assert_true(strlen(text) > 0);
    }
    assert_string_equal(reeve_status_text(REEVE_OK), "success");
    assert_string_equal(reeve_status_text((reeve_status)-1), "unknown status");
    assert_string_equal(reeve_status_text((reeve_status)9999), "unknown status");
}

static void the_version_is_that_of_the_header(void **state)
{
    (void)state;
    char expected[32];
    snprintf(expected, sizeof(expected), "%d.%d.%d", REEVE_VERSION_MAJOR, REEVE_VERSION_MINOR, REEVE_VERSION_PATCH);
    assert_string_equal(reeve_version(), expected);
}

static void numbers_at_the_beginning_of_a_text(void **state)
{
    (void)state;
    long long numbers[3];
    const char *rest;
    assert_true(rv_parse_numbers("12 -3 4x", numbers, 3, &rest));
    assert_int_equal(numbers[0], 12);
    assert_int_equal(numbers[1], -3);
    assert_int_equal(numbers[2], 4);
    assert_string_equal(rest, "x");
    assert_false(rv_parse_numbers("12 x", numbers, 2, NULL));
    assert_false(rv_parse_numbers("", numbers, 1, NULL));
    assert_true(rv_parse_numbers("9223372036854775807", numbers, 1, NULL));
    assert_false(rv_parse_numbers("9223372036854775808", numbers, 1, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(numbers_at_the_beginning_of_a_text),
        cmocka_unit_test(durations),
        cmocka_unit_test(durations_that_are_none),
        cmocka_unit_test(times),
        cmocka_unit_test(times_that_are_none),
        cmocka_unit_test(times_are_written_in_utc),
        cmocka_unit_test(the_calendar_is_that_of_the_c_library),
        cmocka_unit_test(text_is_cut_between_characters),
        cmocka_unit_test(what_is_no_utf8_is_replaced),
        cmocka_unit_test(errors_keep_status_and_words),
        cmocka_unit_test(long_words_are_cut_on_a_character),
        cmocka_unit_test(words_are_copied_into_what_there_is),
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(the_version_is_that_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
