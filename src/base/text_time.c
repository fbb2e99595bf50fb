/*
 * Durations and points in time, as people write them. Integers only: no rounding but the one that drops what is finer
 * than a millisecond.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

#define DAY_SECONDS 86400
#define FIRST_MS (-62167219200000) /* 0000-01-01T00:00:00.000Z */
#define LAST_MS 253402300799999    /* 9999-12-31T23:59:59.999Z */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads ".123" in units of a billionth, digits past the ninth dropped; no dot is no fraction. */
static bool read_fraction(const char **at, int64_t *ret_billionths)
{
    int64_t value = 0;
    int64_t place = 100000000;

    if (**at == '.') {
        (*at)++;
        if (!is_digit(**at)) return false;
        for (; is_digit(**at); (*at)++) {
            value += (**at - '0') * place;
            place /= 10;
        }
    }
    *ret_billionths = value;
    return true;
}

static bool read_decimal(const char **at, int64_t *ret_whole, int64_t *ret_billionths)
{
    int64_t whole = 0;

    if (!is_digit(**at)) return false;
    for (; is_digit(**at); (*at)++) {
        if (__builtin_mul_overflow(whole, 10, &whole)) return false;
        if (__builtin_add_overflow(whole, **at - '0', &whole)) return false;
    }
    if (!read_fraction(at, ret_billionths)) return false;
    *ret_whole = whole;
    return true;
}

/* whole and billionths of a unit of so many milliseconds (at most a day). */
static bool to_ms(int64_t whole, int64_t billionths, int64_t unit_ms, int64_t *ret_ms)
{
    int64_t ms;
    if (__builtin_mul_overflow(whole, unit_ms, &ms)) return false;
    if (__builtin_add_overflow(ms, billionths * unit_ms / 1000000000, &ms)) return false;
    *ret_ms = ms;
    return true;
}

static bool find_unit(const char *name, int64_t *ret_ms)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", DAY_SECONDS * 1000}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(name, units[i].name) != 0) continue;
        *ret_ms = units[i].ms;
        return true;
    }
    return false;
}

bool rv_parse_duration(const char *text, int64_t *ret_ms)
{
    int64_t whole;
    int64_t billionths;
    int64_t unit;

    if (text == NULL || !read_decimal(&text, &whole, &billionths) || !find_unit(text, &unit)) return false;
    int64_t ms;
    if (!to_ms(whole, billionths, unit, &ms) || ms > RV_DURATION_MAX_MS) return false;
    *ret_ms = ms;
    return true;
}

/* Exactly so many digits, a value within [min, max]. */
static bool read_field(const char **at, int digits, int min, int max, int *ret)
{
    int value = 0;
    for (int i = 0; i < digits; i++, (*at)++) {
        if (!is_digit(**at)) return false;
        value = value * 10 + (**at - '0');
    }
    if (value < min || value > max) return false;
    *ret = value;
    return true;
}

static bool read_mark(const char **at, const char *marks)
{
    if (**at == '\0' || strchr(marks, **at) == NULL) return false;
    (*at)++;
    return true;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01. Years are counted from March, so that the leap day is a year's last. */
static int64_t days_since_epoch(int year, int month, int day)
{
    int64_t y = year + 400 - (month <= 2); /* 400 years more, never negative: 146097 days */
    int64_t from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;
    return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 146097 - 719468;
}

static bool read_date(const char **at, int64_t *ret_days)
{
    int year;
    int month;
    int day;

    if (!read_field(at, 4, 0, 9999, &year) || !read_mark(at, "-")) return false;
    if (!read_field(at, 2, 1, 12, &month) || !read_mark(at, "-")) return false;
    if (!read_field(at, 2, 1, days_in_month(year, month), &day)) return false;
    *ret_days = days_since_epoch(year, month, day);
    return true;
}

static bool read_clock(const char **at, int64_t *ret_seconds, bool *ret_leap)
{
    int hour;
    int minute;
    int second;

    if (!read_field(at, 2, 0, 23, &hour) || !read_mark(at, ":")) return false;
    if (!read_field(at, 2, 0, 59, &minute) || !read_mark(at, ":")) return false;
    if (!read_field(at, 2, 0, 60, &second)) return false;
    *ret_seconds = hour * 3600 + minute * 60 + second;
    *ret_leap = second == 60;
    return true;
}

static bool read_offset(const char **at, int64_t *ret_seconds)
{
    int hour;
    int minute;

    *ret_seconds = 0;
    if (read_mark(at, "Zz")) return true;
    bool west = **at == '-';
    if (!read_mark(at, "+-")) return false;
    if (!read_field(at, 2, 0, 23, &hour) || !read_mark(at, ":") || !read_field(at, 2, 0, 59, &minute)) return false;
    *ret_seconds = (west ? -1 : 1) * (hour * 3600 + minute * 60);
    return true;
}

static bool parse_rfc3339(const char *at, int64_t *ret_ms)
{
    int64_t days;
    int64_t seconds;
    int64_t billionths;
    int64_t offset;
    bool leap;

    if (!read_date(&at, &days) || !read_mark(&at, "Tt ") || !read_clock(&at, &seconds, &leap)) return false;
    if (!read_fraction(&at, &billionths) || !read_offset(&at, &offset) || *at != '\0') return false;

    int64_t moment = days * DAY_SECONDS + seconds - offset;
    /* A leap second ends a day of UTC; it is counted as the first second of the next. */
    if (leap && moment % DAY_SECONDS != 0) return false;
    return to_ms(moment, billionths, 1000, ret_ms);
}

bool rv_parse_time(const char *text, int64_t *ret_ms)
{
    int64_t seconds;
    int64_t billionths;
    int64_t ms;
    const char *at = text;

    if (text == NULL) return false;
    if (!read_decimal(&at, &seconds, &billionths) || *at != '\0') return parse_rfc3339(text, ret_ms);
    if (!to_ms(seconds, billionths, 1000, &ms) || ms > LAST_MS) return false;
    *ret_ms = ms;
    return true;
}

void rv_format_time(int64_t ms, char ret[RV_TIME_TEXT])
{
    if (ms < FIRST_MS) ms = FIRST_MS;
    if (ms > LAST_MS) ms = LAST_MS;

    int64_t part = ms % 1000;
    if (part < 0) part += 1000;
    time_t seconds = (time_t)((ms - part) / 1000);
    struct tm utc = {0};
    gmtime_r(&seconds, &utc);

    snprintf(ret, RV_TIME_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)(utc.tm_year + 1900) % 10000u,
             (unsigned)(utc.tm_mon + 1) % 100u, (unsigned)utc.tm_mday % 100u, (unsigned)utc.tm_hour % 100u,
             (unsigned)utc.tm_min % 100u, (unsigned)utc.tm_sec % 100u, (unsigned)part % 1000u);
}
