/* ut_cron.c - specs: what they mean, what is refused and with which words, the newest of what was missed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cron.h"
#include "base/text.h"
#include "support/cmocka.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Both stand before the C library's: how much was asked of the calendar and of the zone. */
static unsigned asked;

struct tm *localtime_r(const time_t *time, struct tm *ret)
{
    static struct tm *(*real)(const time_t *, struct tm *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "localtime_r");
    asked++;
    return real(time, ret);
}

struct tm *gmtime_r(const time_t *time, struct tm *ret)
{
    static struct tm *(*real)(const time_t *, struct tm *);
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "gmtime_r");
    asked++;
    return real(time, ret);
}

static rv_cron parsed(const char *spec)
{
    rv_cron cron = {0};
    rv_error error = {0};
    if (rv_cron_parse(&cron, spec, &error) != REEVE_OK) fail_msg("\"%s\": %s", spec, error.text);
    return cron;
}

/* "2026-11-21 09:00:00" */
static int64_t at(const char *text)
{
    char rfc[40];
    int64_t ms = 0;
    snprintf(rfc, sizeof(rfc), "%sZ", text);
    if (!rv_parse_time(rfc, &ms)) fail_msg("no time: \"%s\"", text);
    return ms;
}

static void same_time(const char *what, int64_t ms, int64_t expected)
{
    char is[RV_TIME_TEXT];
    char should[RV_TIME_TEXT];
    rv_format_time(ms, is);
    rv_format_time(expected, should);
    if (ms != expected) fail_msg("\"%s\": %s instead of %s", what, is, should);
}

static void slots_of_specs(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        const char *after;
        const char *slots[4];
    } cases[] = {
        {"* * * * *", "2026-01-01 00:00:00", {"2026-01-01 00:01:00", "2026-01-01 00:02:00"}},
        {"* * * * *", "2026-12-31 23:59:00", {"2027-01-01 00:00:00"}},
        {"* * * * *", "2026-01-01 00:00:59.999", {"2026-01-01 00:01:00"}},
        {"* * * * *", "2026-01-01 00:00:59.001", {"2026-01-01 00:01:00"}},
        {"* * * * *", "2025-12-31 23:59:59.999", {"2026-01-01 00:00:00"}},
        {"* * * * * *", "2026-01-01 00:00:58.5", {"2026-01-01 00:00:59", "2026-01-01 00:01:00"}},
        {"*/20 * * * * *",
         "2026-01-01 00:00:00",
         {"2026-01-01 00:00:20", "2026-01-01 00:00:40", "2026-01-01 00:01:00"}},
        {"5/25 59 23 * * *", "2026-01-01 23:59:55", {"2026-01-02 23:59:05", "2026-01-02 23:59:30"}},
        {"0 3 * * *", "2026-06-30 03:00:00", {"2026-07-01 03:00:00", "2026-07-02 03:00:00"}},
        {"0 3 * * *", "2026-06-30 02:59:59.999", {"2026-06-30 03:00:00"}},
        {"30 9-17/4 * * *",
         "2026-06-30 09:30:00",
         {"2026-06-30 13:30:00", "2026-06-30 17:30:00", "2026-07-01 09:30:00"}},
        {"15,45,30 22 * * *",
         "2026-06-30 22:20:00",
         {"2026-06-30 22:30:00", "2026-06-30 22:45:00", "2026-07-01 22:15:00"}},
        {"50/5 0 * * *", "2026-06-30 00:50:00", {"2026-06-30 00:55:00", "2026-07-01 00:50:00"}},
        {"0-10/5,58-59 * * * *",
         "2026-06-30 00:05:00",
         {"2026-06-30 00:10:00", "2026-06-30 00:58:00", "2026-06-30 00:59:00"}},
        {"0 0 29 2 *", "2026-01-01 00:00:00", {"2028-02-29 00:00:00", "2032-02-29 00:00:00"}},
        {"0 0 29 2 *", "2096-02-29 00:00:00", {"2104-02-29 00:00:00"}},
        {"0 0 29 2 *", "1996-02-29 00:00:00", {"2000-02-29 00:00:00"}},
        {"0 0 29 2 */6", "2072-03-01 00:00:00", {"2076-02-29 00:00:00", "2088-02-29 00:00:00", "2116-02-29 00:00:00"}},
        {"0 0 31 * *", "2026-01-31 00:00:00", {"2026-03-31 00:00:00", "2026-05-31 00:00:00", "2026-07-31 00:00:00"}},
        {"59 23 31 12 *", "2026-12-31 23:59:00", {"2027-12-31 23:59:00"}},
        {"0 0 L * *",
         "2028-01-15 00:00:00",
         {"2028-01-31 00:00:00", "2028-02-29 00:00:00", "2028-03-31 00:00:00", "2028-04-30 00:00:00"}},
        {"0 0 l 2 *", "2026-01-15 00:00:00", {"2026-02-28 00:00:00", "2027-02-28 00:00:00", "2028-02-29 00:00:00"}},
        {"0 0 15,L 4 ?", "2026-04-15 00:00:00", {"2026-04-30 00:00:00"}},
        {"0 12 * jan,DEC *", "2026-01-31 12:00:00", {"2026-12-01 12:00:00"}},
        {"0 12 1 mar-may/2 *",
         "2026-01-31 12:00:00",
         {"2026-03-01 12:00:00", "2026-05-01 12:00:00", "2027-03-01 12:00:00"}},
        {"0 12 1 10/1 *",
         "2026-01-31 12:00:00",
         {"2026-10-01 12:00:00", "2026-11-01 12:00:00", "2026-12-01 12:00:00", "2027-10-01 12:00:00"}},
        {"0 0 * * 0", "2026-01-01 00:00:00", {"2026-01-04 00:00:00", "2026-01-11 00:00:00"}},
        {"0 0 * * 7", "2026-01-01 00:00:00", {"2026-01-04 00:00:00", "2026-01-11 00:00:00"}},
        {"0 0 * * Sun", "2026-01-01 00:00:00", {"2026-01-04 00:00:00"}},
        {"0 0 ? * mon-FRI", "2026-01-02 00:00:00", {"2026-01-05 00:00:00", "2026-01-06 00:00:00"}},
        {"0 0 * * fri-sun",
         "2026-01-01 00:00:00",
         {"2026-01-02 00:00:00", "2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-09 00:00:00"}},
        {"0 0 * * 5-7", "2026-01-03 00:00:00", {"2026-01-04 00:00:00", "2026-01-09 00:00:00"}},
        {"0 0 * * sun-tue",
         "2026-01-01 00:00:00",
         {"2026-01-04 00:00:00", "2026-01-05 00:00:00", "2026-01-06 00:00:00", "2026-01-11 00:00:00"}},
        {"0 0 * * thu/2", "2026-01-01 00:00:00", {"2026-01-03 00:00:00", "2026-01-08 00:00:00"}},
        {"0 0 * * 7/2", "2026-01-01 00:00:00", {"2026-01-04 00:00:00", "2026-01-11 00:00:00"}},
        {"0 0 * * */3", "2026-01-01 00:00:00", {"2026-01-03 00:00:00", "2026-01-04 00:00:00", "2026-01-07 00:00:00"}},
        /* Both fields of days: either one, unless one begins with a star. */
        {"0 0 13 * fri", "2026-02-01 00:00:00", {"2026-02-06 00:00:00", "2026-02-13 00:00:00", "2026-02-20 00:00:00"}},
        {"0 0 10,13 * fri", "2026-02-06 00:00:00", {"2026-02-10 00:00:00", "2026-02-13 00:00:00"}},
        {"0 0 */2 * mon", "2026-02-01 00:00:00", {"2026-02-09 00:00:00", "2026-02-23 00:00:00", "2026-03-09 00:00:00"}},
        {"0 0 ?/2 * mon", "2026-02-01 00:00:00", {"2026-02-09 00:00:00", "2026-02-23 00:00:00"}},
        {"0 0 1 * */2", "2026-02-01 00:00:00", {"2026-03-01 00:00:00", "2026-08-01 00:00:00", "2026-09-01 00:00:00"}},
        {"0 0 1-31 * mon", "2026-02-01 00:00:00", {"2026-02-02 00:00:00", "2026-02-03 00:00:00"}},
        {"0 0 30 2 mon", "2026-02-01 00:00:00", {"2026-02-02 00:00:00", "2026-02-09 00:00:00"}},
        {"0 0 L * wed", "2026-02-20 00:00:00", {"2026-02-25 00:00:00", "2026-02-28 00:00:00", "2026-03-04 00:00:00"}},
        {"@yearly", "2026-02-01 00:00:00", {"2027-01-01 00:00:00", "2028-01-01 00:00:00"}},
        {"@annually", "2026-02-01 00:00:00", {"2027-01-01 00:00:00"}},
        {"@monthly", "2026-02-01 00:00:00", {"2026-03-01 00:00:00", "2026-04-01 00:00:00"}},
        {"@weekly", "2026-02-01 00:00:00", {"2026-02-08 00:00:00", "2026-02-15 00:00:00"}},
        {"@daily", "2026-02-01 00:00:00", {"2026-02-02 00:00:00", "2026-02-03 00:00:00"}},
        {"@midnight", "2026-02-01 00:00:01", {"2026-02-02 00:00:00"}},
        {" @Hourly\t", "2026-02-01 00:00:01", {"2026-02-01 01:00:00", "2026-02-01 02:00:00"}},
        {"@minutely", "2026-02-01 00:00:01", {"2026-02-01 00:01:00", "2026-02-01 00:02:00"}},
        {"\t 07  08\t* * * ", "2026-02-01 00:00:00", {"2026-02-01 08:07:00"}},
        {"every 90s", "1970-01-01 00:00:00", {"1970-01-01 00:01:30", "1970-01-01 00:03:00"}},
        {"every 90s", "1970-01-01 00:01:29.999", {"1970-01-01 00:01:30"}},
        {"every 90s", "2026-02-01 00:00:30", {"2026-02-01 00:01:30", "2026-02-01 00:03:00"}},
        {"every 1.5h", "1970-01-01 00:00:00", {"1970-01-01 01:30:00", "1970-01-01 03:00:00"}},
        {"EVERY  5m", "2026-02-01 00:00:30", {"2026-02-01 00:05:00", "2026-02-01 00:10:00"}},
        {"every 250ms", "2026-02-01 00:00:00", {"2026-02-01 00:00:00.25", "2026-02-01 00:00:00.5"}},
        {"every 100ms", "2026-02-01 00:00:00.1", {"2026-02-01 00:00:00.2"}},
        {"every 366d", "1970-01-01 00:00:00", {"1971-01-02 00:00:00"}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        rv_cron cron = parsed(cases[i].spec);
        int64_t last = at(cases[i].after);
        for (size_t k = 0; k < 4 && cases[i].slots[k] != NULL; k++) {
            last = rv_cron_next(&cron, RV_ZONE_UTC, last);
            same_time(cases[i].spec, last, at(cases[i].slots[k]));
        }
    }
}

static void the_ends_of_time(void **state)
{
    (void)state;
    rv_cron minutely = parsed("* * * * *");
    rv_cron interval = parsed("every 7s");
    rv_cron leap = parsed("0 0 29 2 *");
    assert_int_equal(rv_cron_next(&minutely, RV_ZONE_UTC, -1), 0);
    assert_int_equal(rv_cron_next(&minutely, RV_ZONE_UTC, INT64_MIN), 0);
    assert_int_equal(rv_cron_next(&minutely, RV_ZONE_UTC, 0), 60000);
    assert_int_equal(rv_cron_next(&interval, RV_ZONE_UTC, INT64_MIN), 0);
    assert_int_equal(rv_cron_next(&interval, RV_ZONE_UTC, 0), 7000);
    assert_int_equal(rv_cron_next(&minutely, RV_ZONE_UTC, INT64_MAX), -1);
    assert_int_equal(rv_cron_next(&interval, RV_ZONE_UTC, INT64_MAX), -1);
    assert_int_equal(rv_cron_next(&minutely, RV_ZONE_LOCAL, INT64_MAX), -1);
    same_time("* * * * *", rv_cron_next(&minutely, RV_ZONE_UTC, at("9999-12-31 23:58:00")), at("9999-12-31 23:59:00"));
    assert_int_equal(rv_cron_next(&minutely, RV_ZONE_UTC, at("9999-12-31 23:59:00")), -1);
    assert_int_equal(rv_cron_next(&leap, RV_ZONE_UTC, at("9996-02-29 00:00:00")), -1);
    rv_cron yearly = parsed("0 1 1 1 *"); /* its next is in the year 10000 */
    assert_int_equal(rv_cron_next(&yearly, RV_ZONE_UTC, at("9999-06-01 00:00:00")), -1);
    assert_int_equal(rv_cron_next(&(rv_cron){0}, RV_ZONE_UTC, 0), -1);
}

static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        const char *words;
    } cases[] = {
        {"", "the cron spec is empty; there are: minute hour day month weekday"},
        {" \t ", "the cron spec is empty"},
        {"*", "\"*\" has 1 field; there are five or six"},
        {"* * * *", "has 4 fields; there are five or six: minute hour day month weekday"},
        {"* * * * * * *", "has 7 fields"},
        {"60 * * * *", "minute \"60\": allowed are 0 to 59"},
        {"60 * * * * *", "second \"60\": allowed are 0 to 59"},
        {"* 24 * * *", "hour \"24\": allowed are 0 to 23"},
        {"* * 0 * *", "day \"0\": allowed are 1 to 31, or L alone"},
        {"* * 32 * *", "day \"32\": allowed are 1 to 31"},
        {"* * * 0 *", "month \"0\": allowed are 1 to 12 or jan to dec"},
        {"* * * 13 *", "month \"13\": allowed are 1 to 12 or jan to dec"},
        {"* * * * 8", "weekday \"8\": allowed are 0 to 7 (0 and 7 are Sunday) or sun to sat"},
        {"* * * mon *", "month \"mon\": allowed are"},
        {"* * * * jan", "weekday \"jan\": allowed are"},
        {"* * * january *", "month \"january\": allowed are"},
        {"* * * * m", "weekday \"m\": allowed are"},
        {"jan * * * *", "minute \"jan\": allowed are"},
        {"-1 * * * *", "minute \"-1\": allowed are"},
        {"+1 * * * *", "minute \"+1\": allowed are"},
        {"1- * * * *", "minute \"1-\": allowed are"},
        {"1-2-3 * * * *", "minute \"1-2-3\": allowed are"},
        {"1-60 * * * *", "minute \"1-60\": allowed are"},
        {"99999999999999999999 * * * *", "minute \"99999999999999999999\": allowed are"},
        {"4294967297 * * * *", "minute \"4294967297\": allowed are"},
        {"2x * * * *", "minute \"2x\": allowed are 0 to 59, \"*\", ranges (a-b), steps (*/n, a-b/n) and lists"},
        {"** * * * *", "minute \"**\": allowed are"},
        {"*5 * * * *", "minute \"*5\": allowed are"},
        {"*-5 * * * *", "minute \"*-5\": allowed are"},
        {"1.5 * * * *", "minute \"1.5\": allowed are"},
        {"? * * * *", "minute \"?\": allowed are"},
        {"* * * ? *", "month \"?\": allowed are"},
        {"* L * * *", "hour \"L\": allowed are"},
        {"* * * * L", "weekday \"L\": allowed are"},
        {"* * 1-L * *", "day \"1-L\": allowed are"},
        {"* * L/2 * *", "day \"L/2\": allowed are"},
        {"* * LW * *", "day \"LW\": allowed are"},
        {"* * * * 5#3", "weekday \"5#3\": allowed are"},
        {"50-10 * * * *", "minute \"50-10\": a range runs upwards; write it as two: \"50-59,0-10\""},
        {"* * * * fri-mon", "weekday \"fri-mon\": a range runs upwards; write it as two: \"5-6,0-1\""},
        {"* * * nov-feb *", "month \"nov-feb\": a range runs upwards; write it as two: \"11-12,1-2\""},
        {"*/0 * * * *", "minute \"*/0\": a step is a number from 1 to 60; for other distances there is \"every 90m\""},
        {"*/61 * * * *", "minute \"*/61\": a step is a number from 1 to 60"},
        {"* 0/25 * * *", "hour \"0/25\": a step is a number from 1 to 24"},
        {"*/ * * * *", "minute \"*/\": a step is a number"},
        {"*/x * * * *", "minute \"*/x\": a step is a number"},
        {"*/-2 * * * *", "minute \"*/-2\": a step is a number"},
        {"*/2/2 * * * *", "minute \"*/2/2\": allowed are"},
        {"/2 * * * *", "minute \"/2\": allowed are"},
        {"* * */8,x * *", "day \"x\": allowed are"},
        {", * * * *", "minute \"\": a list has an item on both sides"},
        {"1, * * * *", "minute \"\": a list has an item on both sides"},
        {"1,,2 * * * *", "minute \"\": a list has an item on both sides"},
        {"0 0 30 2 *", "day \"30\": none of the months of the spec has this day"},
        {"0 0 31 4,jun,9,nov */2", "day \"31\": none of the months of the spec has this day"},
        {"1 0 0 31 feb ?", "day \"31\": none of the months of the spec has this day"},
        {"\xc3\xa9 * * * *", "minute \"\xc3\xa9\": allowed are"},
        {"* * * * \x01", "weekday \"\x01\": allowed are"},
        {"*\n* * * *", "has 4 fields"},
        {"@fortnightly", "\"@fortnightly\" is none of @yearly, @annually, @monthly"},
        {"@", "\"@\" is none of @yearly"},
        {"@reboot", "\"@reboot\" is none of @yearly"},
        {"@daily 5", "there is more after it: \"5\""},
        {"every", "every \"\": a duration is a number with ms, s, m, h or d"},
        {"every day", "every \"day\": a duration is a number"},
        {"every 5 m", "there is more after it: \"m\""},
        {"every 0s", "every \"0s\": an interval is from 100ms to 366d"},
        {"every 99ms", "every \"99ms\": an interval is from 100ms to 366d"},
        {"every 367d", "every \"367d\": an interval is from 100ms to 366d"},
        {"every -5m", "every \"-5m\": a duration is a number"},
        {"every 1000000000000000000000000000000000000s", "a duration is a number"},
        {"every90s", "\"every90s\" has 1 field"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        rv_cron cron = {.interval_ms = 4711};
        rv_error error = {0};
        if (rv_cron_parse(&cron, cases[i].spec, &error) != REEVE_EINVAL) fail_msg("\"%s\" was accepted", cases[i].spec);
        assert_int_equal(error.status, REEVE_EINVAL);
        if (strstr(error.text, cases[i].words) == NULL) fail_msg("\"%s\": %s", cases[i].spec, error.text);
        assert_int_equal(cron.interval_ms, 4711);
        assert_int_equal(rv_cron_parse(&cron, cases[i].spec, NULL), REEVE_EINVAL);
    }
}

static void long_and_absent_specs(void **state)
{
    (void)state;
    rv_cron cron;
    rv_error error = {0};
    char spec[RV_CRON_SPEC_MAX + 2];

    assert_int_equal(rv_cron_parse(&cron, NULL, &error), REEVE_EINVAL);
    assert_string_equal(error.text, "no cron spec was given");
    memset(spec, ' ', sizeof(spec));
    memcpy(spec, "1 2 3 4 5", 9);
    spec[RV_CRON_SPEC_MAX + 1] = '\0';
    assert_int_equal(rv_cron_parse(&cron, spec, &error), REEVE_EINVAL);
    assert_string_equal(error.text, "the cron spec has 513 bytes: at most 512");
    spec[RV_CRON_SPEC_MAX] = '\0';
    assert_int_equal(rv_cron_parse(&cron, spec, &error), REEVE_OK);

    /* What is quoted is cut, on a character. */
    for (size_t i = 0; i < 400; i++) spec[i] = i % 2 ? '\xa9' : '\xc3';
    memcpy(spec + 400, " * * * *", 9);
    spec[0] = spec[1] = '1';
    assert_int_equal(rv_cron_parse(&cron, spec, &error), REEVE_EINVAL);
    assert_true(strlen(error.text) < 250);
    assert_true(rv_utf8_is_valid(error.text, strlen(error.text)));
}

/* The newest of a walk forward. */
static void missed_as_walked(const char *spec, int64_t from, int64_t until)
{
    static int64_t walked[5000];
    static const size_t mosts[] = {0, 1, 2, 7, 1000, 5000};
    rv_cron cron = parsed(spec);
    size_t count = 0;

    for (int64_t slot = rv_cron_next(&cron, RV_ZONE_UTC, from - 1); slot >= 0 && slot <= until;
         slot = rv_cron_next(&cron, RV_ZONE_UTC, slot)) {
        assert_true(count < COUNT(walked));
        walked[count++] = slot;
    }
    for (size_t i = 0; i < COUNT(mosts); i++) {
        static int64_t slots[5001];
        size_t expected = count < mosts[i] ? count : mosts[i];
        slots[expected] = 4711;
        size_t got = rv_cron_missed(&cron, RV_ZONE_UTC, from, until, mosts[i], slots);
        if (got != expected) fail_msg("\"%s\": %zu instead of %zu missed", spec, got, expected);
        for (size_t k = 0; k < got; k++) same_time(spec, slots[k], walked[count - got + k]);
        assert_int_equal(slots[expected], 4711);
    }
}

static void the_newest_that_were_missed(void **state)
{
    (void)state;
    int64_t noon = at("2026-02-01 12:00:00");
    missed_as_walked("* * * * * *", noon, noon + 3600000);
    missed_as_walked("* * * * * *", noon + 1, noon + 59999);
    missed_as_walked("*/7 3/10 * * * *", noon, noon + 3 * 86400000);
    missed_as_walked("0 12 * * *", noon, noon);
    missed_as_walked("0 12 * * *", noon + 1, noon + 86399999);
    missed_as_walked("0 12 * * *", noon + 1, noon + 86400000);
    missed_as_walked("30 4 1,15,L * fri", noon, noon + INT64_C(3000) * 86400000);
    missed_as_walked("59 23 29-31 */3 *", 0, noon);
    missed_as_walked("0 0 29 2 *", 0, at("9999-12-31 00:00:00"));
    missed_as_walked("every 90s", noon, noon + 86400000);
    missed_as_walked("every 90s", noon + 1, noon + 89999);
    missed_as_walked("every 90s", noon + 1, noon + 90000);
    missed_as_walked("every 333ms", 1, 333000);
    missed_as_walked("every 333ms", 0, 333000);

    int64_t slots[4];
    rv_cron cron = parsed("* * * * *");
    rv_cron interval = parsed("every 1m");
    assert_int_equal(rv_cron_missed(&cron, RV_ZONE_UTC, noon + 1, noon, 4, slots), 0);
    assert_int_equal(rv_cron_missed(&interval, RV_ZONE_UTC, noon + 1, noon, 4, slots), 0);
    assert_int_equal(rv_cron_missed(&cron, RV_ZONE_UTC, INT64_MIN, 60000, 4, slots), 2);
    assert_int_equal(slots[0], 0);
    assert_int_equal(slots[1], 60000);
    assert_int_equal(rv_cron_missed(&interval, RV_ZONE_UTC, INT64_MIN, 60000, 4, slots), 2);
    assert_int_equal(slots[0], 0);
    assert_int_equal(rv_cron_missed(&cron, RV_ZONE_UTC, INT64_MIN, INT64_MAX, 1, slots), 1);
    same_time("* * * * *", slots[0], at("9999-12-31 23:59:00"));
    assert_int_equal(rv_cron_missed(&cron, RV_ZONE_UTC, INT64_MIN, INT64_MAX, 0, NULL), 0);
}

static void work_is_that_of_the_slots_asked_for(void **state)
{
    (void)state;
    static int64_t slots[1000];
    int64_t until = at("2026-02-01 12:00:00");
    int64_t from = until - INT64_C(366) * 86400000;
    assert_int_equal(setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
    tzset();
    static const char *const specs[] = {"* * * * * *", "* * * * *", "* 0-22 * * *", "* * * 1 *", "0 0 * * *"};

    for (size_t i = 0; i < COUNT(specs); i++) {
        rv_cron cron = parsed(specs[i]);
        for (rv_zone zone = RV_ZONE_UTC; zone <= RV_ZONE_LOCAL; zone++) {
            asked = 0;
            size_t count = rv_cron_missed(&cron, zone, from, until, 1000, slots);
            assert_true(count == 1000 || i == 4);
            if (asked > 8000) fail_msg("\"%s\": %u questions", specs[i], asked);
            assert_true(asked >= count);
        }
    }
    rv_cron leap = parsed("0 0 29 2 *");
    for (rv_zone zone = RV_ZONE_UTC; zone <= RV_ZONE_LOCAL; zone++) {
        asked = 0;
        assert_true(rv_cron_next(&leap, zone, at("2096-03-01 00:00:00")) > 0);
        assert_in_range(asked, 1, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_of_specs),
        cmocka_unit_test(the_ends_of_time),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(long_and_absent_specs),
        cmocka_unit_test(the_newest_that_were_missed),
        cmocka_unit_test(work_is_that_of_the_slots_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
