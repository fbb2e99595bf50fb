/*
 * The rule of a zone: "CET-1CEST,M3.5.0,M10.5.0/3". The names have no meaning here; offsets count west of Greenwich.
 */
#include <ctype.h>
#include <string.h>

#include "base/tzif.h"

#define DAY ((int64_t)86400)
#define HOURS_MAX 167 /* RFC 9636, of the time of a change */

/* ---- reading --------------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool takes(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool read_digits(cursor *c, int max, int *ret)
{
    int number = 0;
    const char *first = c->at;
    while (c->at < c->end && isdigit((unsigned char)*c->at) && c->at - first < 4)
        number = number * 10 + (*c->at++ - '0');
    *ret = number;
    return c->at > first && number <= max;
}

/* Letters, or anything between < and >. */
static bool skip_name(cursor *c)
{
    const char *first = c->at;
    if (takes(c, '<')) {
        while (c->at < c->end && *c->at != '>') c->at++;
        return takes(c, '>');
    }
    while (c->at < c->end && isalpha((unsigned char)*c->at)) c->at++;
    return c->at - first >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool read_time(cursor *c, int hours_max, int32_t *ret)
{
    bool negative = takes(c, '-');
    int hours, minutes = 0, seconds = 0;
    if (!negative) (void)takes(c, '+');
    if (!read_digits(c, hours_max, &hours)) return false;
    if (takes(c, ':') && !read_digits(c, 59, &minutes)) return false;
    if (minutes >= 0 && takes(c, ':') && !read_digits(c, 59, &seconds)) return false;
    *ret = hours * 3600 + minutes * 60 + seconds;
    if (negative) *ret = -*ret;
    return true;
}

static bool read_day(cursor *c, rv_tzif_date *ret)
{
    if (takes(c, 'M')) {
        ret->kind = 'M';
        return read_digits(c, 12, &ret->month) && ret->month > 0 && takes(c, '.') && read_digits(c, 5, &ret->week) &&
               ret->week > 0 && takes(c, '.') && read_digits(c, 6, &ret->day);
    }
    ret->kind = takes(c, 'J') ? 'J' : 'n';
    return read_digits(c, 365, &ret->day) && (ret->kind == 'n' || ret->day > 0);
}

static bool read_date(cursor *c, rv_tzif_date *ret)
{
    if (!takes(c, ',') || !read_day(c, ret)) return false;
    ret->seconds = 2 * 3600;
    return !takes(c, '/') || read_time(c, HOURS_MAX, &ret->seconds);
}

bool rv_tzif_rule_read(rv_tzif_rule *ret, const char *text, size_t length)
{
    cursor c = {text, text + length};
    rv_tzif_rule rule = {.is_set = true};
    int32_t west;
    if (!skip_name(&c) || !read_time(&c, 24, &west)) return false;
    rule.standard = rule.summer = -west;
    if (c.at < c.end) {
        rule.has_summer = true;
        rule.summer = rule.standard + 3600;
        if (!skip_name(&c)) return false;
        if (c.at < c.end && *c.at != ',') {
            if (!read_time(&c, 24, &west)) return false;
            rule.summer = -west;
        }
        if (!read_date(&c, &rule.begins) || !read_date(&c, &rule.ends)) return false;
    }
    if (c.at != c.end) return false;
    *ret = rule;
    return true;
}

/* ---- reckoning -------------------------------------------------------------------------------------------------- */

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970-01-01 to the first of January of a year. */
static int64_t days_to(int64_t year)
{
    int64_t past = year - 1;
    return 365 * (year - 1970) + (past / 4 - past / 100 + past / 400) - 477;
}

static int64_t year_of(int64_t seconds)
{
    int64_t year = 1970 + seconds / (DAY * 365 + DAY / 4);
    while (days_to(year) * DAY > seconds) year--;
    while (days_to(year + 1) * DAY <= seconds) year++;
    return year;
}

/* The day of the year of a date, counted from 0. */
static int64_t day_of(const rv_tzif_date *date, int64_t year)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    if (date->kind == 'n') return date->day;
    if (date->kind == 'J') return date->day - 1 + (is_leap(year) && date->day >= 60);
    int64_t first = before[date->month - 1] + (date->month > 2 && is_leap(year));
    int64_t days = before[date->month] - before[date->month - 1] + (date->month == 2 && is_leap(year));
    int64_t weekday = (days_to(year) + first + 4) % 7; /* of the first; 1970 began on a Thursday */
    int64_t day = (date->day - weekday + 7) % 7 + 7 * (date->week - 1);
    return first + (day >= days ? day - 7 : day);
}

/* The moment of a change that the clock, with this offset until then, shows. */
static int64_t moment_of(const rv_tzif_date *date, int64_t year, int32_t offset)
{
    return (days_to(year) + day_of(date, year)) * DAY + date->seconds - offset;
}

int64_t rv_tzif_rule_offset(const rv_tzif_rule *rule, int64_t moment)
{
    if (!rule->has_summer) return rule->standard;
    int64_t year = year_of(moment + rule->standard);
    int64_t begins = moment_of(&rule->begins, year, rule->standard), ends = moment_of(&rule->ends, year, rule->summer);
    bool summer = begins < ends ? moment >= begins && moment < ends : !(moment >= ends && moment < begins);
    return summer ? rule->summer : rule->standard;
}
