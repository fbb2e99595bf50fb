#include "base/cron_clock.h"

#include <stddef.h>
#include <time.h>

#define DAY_SECONDS 86400

typedef struct date {
    int64_t number; /* days since 1970-01-01 */
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
} date;

static int64_t day_number(int64_t shown)
{
    int64_t number = shown / DAY_SECONDS;
    return shown % DAY_SECONDS < 0 ? number - 1 : number;
}

static date date_of(int64_t number)
{
    time_t seconds = (time_t)(number * DAY_SECONDS);
    struct tm utc = {.tm_mday = 1};
    gmtime_r(&seconds, &utc);
    return (date){.number = number, .year = utc.tm_year + 1900, .month = utc.tm_mon + 1, .day = utc.tm_mday};
}

static int days_in_month(const date *at)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = at->year % 4 == 0 && (at->year % 100 != 0 || at->year % 400 == 0);
    return days[at->month - 1] + (at->month == 2 && leap);
}

static bool has(uint64_t set, int member)
{
    return (set >> member & 1) != 0;
}

static bool day_matches(const rv_cron *cron, const date *at)
{
    int weekday = (int)((at->number % 7 + 11) % 7); /* 1970 began on a Thursday */

    if (!has(cron->months, at->month)) return false;
    bool by_day = has(cron->days, at->day) || (cron->last_day && at->day == days_in_month(at));
    bool by_weekday = has(cron->weekdays, weekday);
    return cron->either_day ? by_day || by_weekday : by_day && by_weekday;
}

/* To the next day; out of a month that does not match, to the next month. */
static void forward(const rv_cron *cron, date *at)
{
    int days = has(cron->months, at->month) ? 1 : days_in_month(at) - at->day + 1;

    at->number += days;
    at->day += days;
    if (at->day <= days_in_month(at)) return;
    at->day = 1;
    at->month = at->month % 12 + 1;
    at->year += at->month == 1;
}

static void backward(const rv_cron *cron, date *at)
{
    int days = has(cron->months, at->month) ? 1 : at->day;

    at->number -= days;
    at->day -= days;
    if (at->day > 0) return;
    at->month = at->month == 1 ? 12 : at->month - 1;
    at->year -= at->month == 12;
    at->day = days_in_month(at);
}

/* The smallest member from least on, -1: none. */
static int member_from(uint64_t set, int min)
{
    set = min < 64 ? set >> min << min : 0;
    return set != 0 ? __builtin_ctzll(set) : -1;
}

/* The largest member up to most, -1: none. */
static int member_to(uint64_t set, int max)
{
    set &= max >= 0 ? UINT64_MAX >> (63 - max) : 0;
    return set != 0 ? 63 - __builtin_clzll(set) : -1;
}

/* The first time of day that matches, from a second of the day on; -1: none. A higher hand that moves lets the lower
 * ones begin anew. */
static int64_t time_from(const rv_cron *cron, int64_t from)
{
    int from_hour = (int)(from / 3600);
    int from_minute = (int)(from / 60 % 60);

    int second = member_from(cron->seconds, (int)(from % 60));
    int minute = member_from(cron->minutes, second < 0 ? from_minute + 1 : from_minute);
    if (minute != from_minute) second = member_from(cron->seconds, 0);
    int hour = member_from(cron->hours, minute < 0 ? from_hour + 1 : from_hour);
    if (hour != from_hour) {
        minute = member_from(cron->minutes, 0);
        second = member_from(cron->seconds, 0);
    }
    return hour < 0 || minute < 0 || second < 0 ? -1 : hour * 3600 + minute * 60 + second;
}

static int64_t time_to(const rv_cron *cron, int64_t to)
{
    int to_hour = (int)(to / 3600);
    int to_minute = (int)(to / 60 % 60);

    int second = member_to(cron->seconds, (int)(to % 60));
    int minute = member_to(cron->minutes, second < 0 ? to_minute - 1 : to_minute);
    if (minute != to_minute) second = member_to(cron->seconds, 59);
    int hour = member_to(cron->hours, minute < 0 ? to_hour - 1 : to_hour);
    if (hour != to_hour) {
        minute = member_to(cron->minutes, 59);
        second = member_to(cron->seconds, 59);
    }
    return hour < 0 || minute < 0 || second < 0 ? -1 : hour * 3600 + minute * 60 + second;
}

bool rv_cron_clock_first_shown(const rv_cron *cron, int64_t from, int64_t until, int64_t *ret)
{
    date at = date_of(day_number(from));
    int64_t time = from - at.number * DAY_SECONDS;

    for (; at.number <= day_number(until); forward(cron, &at), time = 0) {
        if (!day_matches(cron, &at)) continue;
        int64_t found = time_from(cron, time);
        if (found < 0) continue;
        int64_t shown = at.number * DAY_SECONDS + found;
        if (shown > until) return false;
        *ret = shown;
        return true;
    }
    return false;
}

bool rv_cron_clock_last_shown(const rv_cron *cron, int64_t from, int64_t until, int64_t *ret)
{
    date at = date_of(day_number(until));
    int64_t time = until - at.number * DAY_SECONDS;

    for (; at.number >= day_number(from); backward(cron, &at), time = DAY_SECONDS - 1) {
        if (!day_matches(cron, &at)) continue;
        int64_t found = time_to(cron, time);
        if (found < 0) continue;
        int64_t shown = at.number * DAY_SECONDS + found;
        if (shown < from) return false;
        *ret = shown;
        return true;
    }
    return false;
}
