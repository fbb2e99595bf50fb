/*
 * ut_cron_zone.c - slots at clock changes, by table; and slots of random specs against a walk through every second or
 * minute, with a matcher that shares nothing with the one of the library. CRON_SEED repeats a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cron.h"
#include "base/text.h"
#include "support/cmocka.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CENTRAL_EUROPE "CET-1CEST,M3.5.0,M10.5.0/3"
#define SYDNEY "AEST-10AEDT,M10.1.0,M4.1.0/3"
#define LORD_HOWE "LHST-10:30LHDT-11,M10.1.0,M4.1.0"
#define HAVANA "CST5CDT,M3.2.0/0,M11.1.0/1"

static void set_zone(const char *zone)
{
    assert_int_equal(setenv("TZ", zone, 1), 0);
    tzset();
}

static rv_cron parsed(const char *spec)
{
    rv_cron cron = {0};
    rv_error error = {0};
    if (rv_cron_parse(&cron, spec, &error) != REEVE_OK) fail_msg("\"%s\": %s", spec, error.text);
    return cron;
}

/* "2026-03-29 03:00+02:00", "2026-03-29 01:59:59+01:00" */
static int64_t at(const char *text)
{
    char rfc[40];
    int64_t ms = 0;
    snprintf(rfc, sizeof(rfc), "%.16s%s%s", text, text[16] == ':' ? "" : ":00", text + 16);
    if (!rv_parse_time(rfc, &ms)) fail_msg("no time: \"%s\"", rfc);
    return ms;
}

static void same_time(const char *what, const char *zone, int64_t ms, int64_t expected)
{
    char is[RV_TIME_TEXT];
    char should[RV_TIME_TEXT];
    rv_format_time(ms, is);
    rv_format_time(expected, should);
    if (ms != expected) fail_msg("\"%s\" in %s: %s instead of %s", what, zone, is, should);
}

typedef struct change {
    const char *zone;
    const char *spec;
    const char *after;
    const char *slots[4];
} change;

/* Forward one after the other, and backward as what was missed. */
static void check_changes(const change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const change *one = &changes[i];
        int64_t expected[4];
        int64_t missed[5];
        size_t slots = 0;

        set_zone(one->zone);
        rv_cron cron = parsed(one->spec);
        int64_t last = at(one->after);
        for (; slots < 4 && one->slots[slots] != NULL; slots++) {
            expected[slots] = at(one->slots[slots]);
            last = rv_cron_next(&cron, RV_ZONE_LOCAL, last);
            same_time(one->spec, one->zone, last, expected[slots]);
        }
        assert_int_equal(rv_cron_missed(&cron, RV_ZONE_LOCAL, at(one->after) + 1, last, 5, missed), slots);
        for (size_t k = 0; k < slots; k++) same_time(one->spec, one->zone, missed[k], expected[k]);
    }
}

static void times_that_are_leapt_over(void **state)
{
    (void)state;
    static const change changes[] = {
        {CENTRAL_EUROPE,
         "30 2 * * *",
         "2026-03-27 12:00+01:00",
         {"2026-03-28 02:30+01:00", "2026-03-29 03:00+02:00", "2026-03-30 02:30+02:00"}},
        {CENTRAL_EUROPE, "30 2 * * *", "2026-03-29 01:59:59+01:00", {"2026-03-29 03:00+02:00"}},
        {CENTRAL_EUROPE, "0 2 * * *", "2026-03-28 12:00+01:00", {"2026-03-29 03:00+02:00", "2026-03-30 02:00+02:00"}},
        {CENTRAL_EUROPE, "0 3 * * *", "2026-03-28 12:00+01:00", {"2026-03-29 03:00+02:00", "2026-03-30 03:00+02:00"}},
        {CENTRAL_EUROPE,
         "*/30 1-3 * * *",
         "2026-03-29 01:00+01:00",
         {"2026-03-29 01:30+01:00", "2026-03-29 03:00+02:00", "2026-03-29 03:30+02:00", "2026-03-30 01:00+02:00"}},
        {CENTRAL_EUROPE, "59 2 29 3 *", "2026-01-01 00:00+01:00", {"2026-03-29 03:00+02:00", "2027-03-29 02:59+02:00"}},
        {CENTRAL_EUROPE,
         "59 2 * * sun",
         "2026-03-23 00:00+01:00",
         {"2026-03-29 03:00+02:00", "2026-04-05 02:59+02:00"}},
        {SYDNEY, "30 2 * * *", "2026-10-03 12:00+10:00", {"2026-10-04 03:00+11:00", "2026-10-05 02:30+11:00"}},
        {LORD_HOWE, "15 2 * * *", "2026-10-03 12:00+10:30", {"2026-10-04 02:30+11:00", "2026-10-05 02:15+11:00"}},
        {LORD_HOWE, "45 2 * * *", "2026-10-03 12:00+10:30", {"2026-10-04 02:45+11:00", "2026-10-05 02:45+11:00"}},
        {HAVANA, "0 0 * * *", "2026-03-07 12:00-05:00", {"2026-03-08 01:00-04:00", "2026-03-09 00:00-04:00"}},
        {HAVANA, "30 0 8 3 *", "2026-03-07 12:00-05:00", {"2026-03-08 01:00-04:00", "2027-03-08 00:30-05:00"}},
    };
    check_changes(changes, COUNT(changes));
}

static void times_that_come_twice(void **state)
{
    (void)state;
    static const change changes[] = {
        {CENTRAL_EUROPE, "30 2 * * *", "2026-10-24 12:00+02:00", {"2026-10-25 02:30+02:00", "2026-10-26 02:30+01:00"}},
        {CENTRAL_EUROPE, "0 2 * * *", "2026-10-24 12:00+02:00", {"2026-10-25 02:00+02:00", "2026-10-26 02:00+01:00"}},
        {CENTRAL_EUROPE, "0 3 * * *", "2026-10-24 12:00+02:00", {"2026-10-25 03:00+01:00", "2026-10-26 03:00+01:00"}},
        {CENTRAL_EUROPE, "30 2 * * *", "2026-10-25 02:29+01:00", {"2026-10-26 02:30+01:00"}},
        {CENTRAL_EUROPE,
         "*/30 1-3 * * *",
         "2026-10-25 02:00+02:00",
         {"2026-10-25 02:30+02:00", "2026-10-25 03:00+01:00", "2026-10-25 03:30+01:00", "2026-10-26 01:00+01:00"}},
        {CENTRAL_EUROPE, "*/30 1-3 * * *", "2026-10-25 02:00+01:00", {"2026-10-25 03:00+01:00"}},
        {SYDNEY, "30 2 * * *", "2026-04-04 12:00+11:00", {"2026-04-05 02:30+11:00", "2026-04-06 02:30+10:00"}},
        {LORD_HOWE, "45 1 * * *", "2026-04-04 12:00+11:00", {"2026-04-05 01:45+11:00", "2026-04-06 01:45+10:30"}},
        {LORD_HOWE, "0 2 * * *", "2026-04-04 12:00+11:00", {"2026-04-05 02:00+10:30", "2026-04-06 02:00+10:30"}},
        {HAVANA, "0 0 * * *", "2026-10-31 12:00-04:00", {"2026-11-01 00:00-04:00", "2026-11-02 00:00-05:00"}},
        {HAVANA, "0 23 * * *", "2026-10-31 12:00-04:00", {"2026-10-31 23:00-04:00", "2026-11-01 23:00-05:00"}},
    };
    check_changes(changes, COUNT(changes));
}

static void every_hour_is_an_hour(void **state)
{
    (void)state;
    static const change changes[] = {
        {CENTRAL_EUROPE,
         "30 * * * *",
         "2026-03-29 01:00+01:00",
         {"2026-03-29 01:30+01:00", "2026-03-29 03:30+02:00", "2026-03-29 04:30+02:00"}},
        {CENTRAL_EUROPE,
         "59 59 * * * *",
         "2026-03-29 01:00+01:00",
         {"2026-03-29 01:59:59+01:00", "2026-03-29 03:59:59+02:00"}},
        {CENTRAL_EUROPE,
         "59 59 * * * *",
         "2026-10-25 02:00+02:00",
         {"2026-10-25 02:59:59+02:00", "2026-10-25 02:59:59+01:00"}},
        {CENTRAL_EUROPE, "0 * * * *", "2026-03-29 01:00+01:00", {"2026-03-29 03:00+02:00", "2026-03-29 04:00+02:00"}},
        {CENTRAL_EUROPE,
         "30 * * * *",
         "2026-10-25 02:00+02:00",
         {"2026-10-25 02:30+02:00", "2026-10-25 02:30+01:00", "2026-10-25 03:30+01:00"}},
        {CENTRAL_EUROPE,
         "@hourly",
         "2026-10-25 01:00+02:00",
         {"2026-10-25 02:00+02:00", "2026-10-25 02:00+01:00", "2026-10-25 03:00+01:00"}},
        {CENTRAL_EUROPE,
         "0 0-23 * * *",
         "2026-10-25 01:00+02:00",
         {"2026-10-25 02:00+02:00", "2026-10-25 02:00+01:00", "2026-10-25 03:00+01:00"}},
        {CENTRAL_EUROPE,
         "30 * 25 10 *",
         "2026-10-25 23:00+01:00",
         {"2026-10-25 23:30+01:00", "2027-10-25 00:30+02:00"}},
        {CENTRAL_EUROPE, "0 * 1 1 *", "2026-02-01 00:00+01:00", {"2027-01-01 00:00+01:00", "2027-01-01 01:00+01:00"}},
        {CENTRAL_EUROPE, "0 * 1 7 *", "2026-02-01 00:00+01:00", {"2026-07-01 00:00+02:00", "2026-07-01 01:00+02:00"}},
        {SYDNEY, "15 * * * *", "2026-10-04 01:00+10:00", {"2026-10-04 01:15+10:00", "2026-10-04 03:15+11:00"}},
        {SYDNEY,
         "15 * * * *",
         "2026-04-05 02:00+11:00",
         {"2026-04-05 02:15+11:00", "2026-04-05 02:15+10:00", "2026-04-05 03:15+10:00"}},
        {LORD_HOWE, "15 * * * *", "2026-10-04 01:00+10:30", {"2026-10-04 01:15+10:30", "2026-10-04 03:15+11:00"}},
        {LORD_HOWE,
         "45 * * * *",
         "2026-04-05 01:00+11:00",
         {"2026-04-05 01:45+11:00", "2026-04-05 01:45+10:30", "2026-04-05 02:45+10:30"}},
        {HAVANA, "0 * 31 10 *", "2026-10-31 22:00-04:00", {"2026-10-31 23:00-04:00", "2027-10-31 00:00-04:00"}},
        {HAVANA,
         "0 * 1 11 *",
         "2026-10-31 22:00-04:00",
         {"2026-11-01 00:00-04:00", "2026-11-01 00:00-05:00", "2026-11-01 01:00-05:00"}},
    };
    check_changes(changes, COUNT(changes));
}

/* While times are shown again, the newest of an entry is the newest of the first showing. */
static void missed_until_the_second_showing(void **state)
{
    (void)state;
    int64_t slots[2];
    set_zone(CENTRAL_EUROPE);
    rv_cron cron = parsed("*/30 2 * * *");
    int64_t from = at("2026-10-24 12:00+02:00");
    assert_int_equal(rv_cron_missed(&cron, RV_ZONE_LOCAL, from, at("2026-10-25 02:10+01:00"), 2, slots), 2);
    same_time("*/30 2", "CET", slots[0], at("2026-10-25 02:00+02:00"));
    same_time("*/30 2", "CET", slots[1], at("2026-10-25 02:30+02:00"));
    assert_int_equal(rv_cron_missed(&cron, RV_ZONE_LOCAL, from, at("2026-10-25 02:10+02:00"), 2, slots), 1);
    assert_int_equal(rv_cron_missed(&cron, RV_ZONE_LOCAL, at("2026-10-25 02:00+01:00"), from + 86400000, 2, slots), 0);

    /* Nothing of that day matches before what the second showing has shown so far; the first has shown more. */
    set_zone(HAVANA);
    rv_cron sundays = parsed("35 * * * sun");
    from = at("2026-10-31 12:00-04:00");
    assert_int_equal(rv_cron_missed(&sundays, RV_ZONE_LOCAL, from, at("2026-11-01 00:10-05:00"), 2, slots), 1);
    same_time("35 * sun", "CST", slots[0], at("2026-11-01 00:35-04:00"));
}

/* West of Greenwich 1970 begins on a day of 1969. */
static void the_beginning_in_the_west(void **state)
{
    (void)state;
    set_zone(HAVANA);
    rv_cron evening = parsed("0 20 * * *");
    rv_cron hourly = parsed("30 * 31 12 *");
    same_time("0 20", "CST", rv_cron_next(&evening, RV_ZONE_LOCAL, -1), at("1969-12-31 20:00-05:00"));
    same_time("30 *", "CST", rv_cron_next(&hourly, RV_ZONE_LOCAL, -1), at("1969-12-31 19:30-05:00"));
}

static void intervals_and_utc_have_no_zone(void **state)
{
    (void)state;
    rv_cron interval = parsed("every 1h");
    rv_cron nightly = parsed("30 2 * * *");
    set_zone(LORD_HOWE);
    int64_t after = at("2026-10-03 15:10Z");
    same_time("every 1h", "local", rv_cron_next(&interval, RV_ZONE_LOCAL, after), at("2026-10-03 16:00Z"));
    same_time("30 2", "utc", rv_cron_next(&nightly, RV_ZONE_UTC, after), at("2026-10-04 02:30Z"));
}

/* The matcher of the walk: a spec in its words, and for each field which numbers they mean. */
typedef struct words {
    char field[6][40];
    char spec[260];
    bool means[6][60];
} words;

static bool field_means(const char *field, int min, int max, int value)
{
    char copy[40];
    snprintf(copy, sizeof(copy), "%s", field);
    for (char *rest = copy, *item; (item = strsep(&rest, ",")) != NULL;) {
        int first, last, step = 1;
        if (sscanf(item, "*/%d", &step) == 1 || strcmp(item, "*") == 0) {
            first = min;
            last = max;
        } else if (sscanf(item, "%d-%d/%d", &first, &last, &step) < 2) {
            bool stepped = sscanf(item, "%d/%d", &first, &step) == 2;
            last = stepped ? max : first;
        }
        if (value >= first && value <= last && (value - first) % step == 0) return true;
    }
    return false;
}

static void take_words(words *one)
{
    static const int min[] = {0, 0, 0, 1, 1, 0};
    static const int max[] = {59, 59, 23, 31, 12, 6};
    for (int i = 0; i < 6; i++)
        for (int value = 0; value < 60; value++)
            one->means[i][value] = field_means(one->field[i], min[i], max[i], value);
}

static bool shown_means(const words *one, time_t moment)
{
    struct tm shown;
    gmtime_r(&moment, &shown);
    bool day = one->means[3][shown.tm_mday];
    bool weekday = one->means[5][shown.tm_wday];
    bool star = one->field[3][0] == '*' || one->field[5][0] == '*';

    return (star ? day && weekday : day || weekday) && one->means[4][shown.tm_mon + 1] &&
           one->means[2][shown.tm_hour] && one->means[1][shown.tm_min] && one->means[0][shown.tm_sec];
}

/* What the clock shows, as if it were UTC. */
static time_t clock_at(rv_zone zone, time_t moment)
{
    struct tm fields;
    if (zone == RV_ZONE_UTC) return moment;
    localtime_r(&moment, &fields);
    return timegm(&fields);
}

/* All slots in [from, until], from a walk in steps of a second or a minute. */
static size_t walk(const words *one, rv_zone zone, time_t from, time_t until, time_t step, int64_t *ret, size_t size)
{
    bool as_it_runs = true;
    for (int hour = 0; hour < 24; hour++) as_it_runs = as_it_runs && one->means[2][hour];

    size_t count = 0;
    time_t highest = clock_at(zone, from - step);
    for (time_t moment = from - 86400; moment < from; moment += 60)
        if (clock_at(zone, moment) > highest) highest = clock_at(zone, moment);
    for (time_t moment = from; moment <= until; moment += step) {
        time_t shown = clock_at(zone, moment);
        bool fires = shown_means(one, shown) && (as_it_runs || shown > highest);
        for (time_t leapt = highest + step; !as_it_runs && leapt < shown; leapt += step)
            fires = fires || shown_means(one, leapt);
        if (shown > highest) highest = shown;
        if (!fires) continue;
        assert_true(count < size);
        ret[count++] = (int64_t)moment * 1000;
    }
    return count;
}

static unsigned seed;

static int below(int limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((uint64_t)(seed >> 8) * (uint64_t)limit >> 24);
}

/* From any moment on, and up to any. */
static void compare_cut(const words *one, const char *name, rv_zone zone, int64_t cut, const int64_t *walked,
                        size_t count, int64_t from)
{
    int64_t missed[3];
    size_t before = 0;
    rv_cron cron = parsed(one->spec);

    while (before < count && walked[before] <= cut) before++;
    if (before < count) same_time(one->spec, name, rv_cron_next(&cron, zone, cut), walked[before]);
    size_t expected = before < 3 ? before : 3;
    size_t got = rv_cron_missed(&cron, zone, from, cut, 3, missed);
    if (got != expected) fail_msg("\"%s\" in %s: %zu instead of %zu missed", one->spec, name, got, expected);
    for (size_t i = 0; i < got; i++) same_time(one->spec, name, missed[i], walked[before - got + i]);
}

static void compare(words *one, const char *name, rv_zone zone, time_t from, time_t until, time_t step)
{
    static int64_t walked[100000];
    static int64_t missed[1000];
    rv_cron cron = parsed(one->spec);
    take_words(one);
    size_t count = walk(one, zone, from, until, step, walked, COUNT(walked));

    int64_t slot = (int64_t)from * 1000 - 1;
    for (size_t i = 0; i < count; i++) {
        slot = rv_cron_next(&cron, zone, slot);
        same_time(one->spec, name, slot, walked[i]);
    }
    slot = rv_cron_next(&cron, zone, slot);
    if (slot >= 0 && slot <= (int64_t)until * 1000) fail_msg("\"%s\" in %s: a slot too many", one->spec, name);

    size_t expected = count < COUNT(missed) ? count : COUNT(missed);
    size_t got = rv_cron_missed(&cron, zone, (int64_t)from * 1000, (int64_t)until * 1000, COUNT(missed), missed);
    if (got != expected) fail_msg("\"%s\" in %s: %zu instead of %zu missed", one->spec, name, got, expected);
    for (size_t i = 0; i < got; i++) same_time(one->spec, name, missed[i], walked[count - got + i]);

    for (int i = 0; i < 100; i++) {
        int64_t cut = ((int64_t)from + below((int)(until - from))) * 1000 + below(2) * 999;
        compare_cut(one, name, zone, cut, walked, count, (int64_t)from * 1000);
    }
}

static void random_item(char *ret, size_t size, int min, int max)
{
    int first = min + below(max - min + 1);
    int last = first + below(max - first + 1);
    int step = 1 + below((max - min) / 2);

    switch (below(6)) {
    case 0:
        snprintf(ret, size, "*/%d", step);
        break;
    case 1:
        snprintf(ret, size, "%d-%d", first, last);
        break;
    case 2:
        snprintf(ret, size, "%d-%d/%d", first, last, step);
        break;
    case 3:
        snprintf(ret, size, "%d/%d", first, step);
        break;
    default:
        snprintf(ret, size, "%d", first);
    }
}

static void random_field(char ret[40], int min, int max, int stars_of_ten)
{
    char a[12];
    char b[12];
    random_item(a, sizeof(a), min, max);
    random_item(b, sizeof(b), min, max);
    if (below(10) < stars_of_ten)
        snprintf(ret, 40, "*");
    else if (below(3) == 0)
        snprintf(ret, 40, "%s,%s", a, b);
    else
        snprintf(ret, 40, "%s", a);
}

/* In steps of a minute the second is 0 and not written. */
static void random_words(words *ret, time_t step)
{
    rv_cron cron;
    do {
        random_field(ret->field[0], 0, 59, 5);
        if (step == 60) snprintf(ret->field[0], sizeof(ret->field[0]), "0");
        random_field(ret->field[1], 0, 59, 3);
        random_field(ret->field[2], 0, step == 60 ? 23 : 5, 4);
        random_field(ret->field[3], 1, 31, 6);
        random_field(ret->field[4], 1, 12, 8);
        random_field(ret->field[5], 0, 6, 6);
        snprintf(ret->spec, sizeof(ret->spec), "%s%s%s %s %s %s %s", step == 60 ? "" : ret->field[0],
                 step == 60 ? "" : " ", ret->field[1], ret->field[2], ret->field[3], ret->field[4], ret->field[5]);
    } while (rv_cron_parse(&cron, ret->spec, NULL) != REEVE_OK); /* the 31st of February */
}

static void compare_some(int rounds, time_t step, const char *name, const char *from, int days)
{
    rv_zone zone = name == NULL ? RV_ZONE_UTC : RV_ZONE_LOCAL;
    time_t start = (time_t)(at(from) / 1000);

    if (name != NULL) set_zone(name);
    for (int i = 0; i < rounds; i++) {
        words one;
        random_words(&one, step);
        compare(&one, name == NULL ? "UTC" : name, zone, start, start + days * 86400, step);
    }
}

static void random_specs_as_walked_by_minutes(void **state)
{
    (void)state;
    compare_some(25, 60, NULL, "2028-02-20 00:00Z", 21);
    compare_some(25, 60, CENTRAL_EUROPE, "2026-03-27 00:00Z", 5);
    compare_some(25, 60, CENTRAL_EUROPE, "2026-10-23 00:00Z", 5);
    compare_some(25, 60, SYDNEY, "2026-10-02 00:00Z", 5);
    compare_some(25, 60, SYDNEY, "2026-04-03 00:00Z", 5);
    compare_some(25, 60, LORD_HOWE, "2026-10-02 00:00Z", 5);
    compare_some(25, 60, LORD_HOWE, "2026-04-03 00:00Z", 5);
    compare_some(25, 60, HAVANA, "2026-03-06 00:00Z", 5);
    compare_some(25, 60, HAVANA, "2026-10-30 00:00Z", 5);
}

static void random_specs_as_walked_by_seconds(void **state)
{
    (void)state;
    compare_some(8, 1, NULL, "2026-12-31 18:00Z", 1);
    compare_some(8, 1, CENTRAL_EUROPE, "2026-03-28 18:00Z", 1);
    compare_some(8, 1, CENTRAL_EUROPE, "2026-10-24 18:00Z", 1);
    compare_some(8, 1, LORD_HOWE, "2026-10-03 10:00Z", 1);
    compare_some(8, 1, LORD_HOWE, "2026-04-04 10:00Z", 1);
}

static void a_year_as_walked(void **state)
{
    (void)state;
    static words all[] = {
        {.field = {"0", "30", "2", "*", "*", "*"}, .spec = "30 2 * * *"},
        {.field = {"0", "0", "*/6", "1,15", "*", "1-5"}, .spec = "0 */6 1,15 * 1-5"},
        {.field = {"0", "7", "*", "*/2", "*", "0"}, .spec = "7 * */2 * 0"},
        {.field = {"0", "*", "1", "29-31", "2-11/3", "*"}, .spec = "* 1 29-31 2-11/3 *"},
    };
    for (size_t i = 0; i < COUNT(all); i++) {
        compare(&all[i], "UTC", RV_ZONE_UTC, 1798761600, 1798761600 + 366 * 86400, 60);
        set_zone(CENTRAL_EUROPE);
        compare(&all[i], CENTRAL_EUROPE, RV_ZONE_LOCAL, 1798761600, 1798761600 + 366 * 86400, 60);
    }
}

int main(void)
{
    const char *given = getenv("CRON_SEED");
    seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    printf("CRON_SEED=%u\n", seed);

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_that_are_leapt_over),
        cmocka_unit_test(times_that_come_twice),
        cmocka_unit_test(every_hour_is_an_hour),
        cmocka_unit_test(missed_until_the_second_showing),
        cmocka_unit_test(the_beginning_in_the_west),
        cmocka_unit_test(intervals_and_utc_have_no_zone),
        cmocka_unit_test(random_specs_as_walked_by_minutes),
        cmocka_unit_test(random_specs_as_walked_by_seconds),
        cmocka_unit_test(a_year_as_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
