/*
 * cron.h - when entries fire that come again and again. Pure functions of their arguments (and of the local zone): no
 * memory is taken, nothing blocks but the C library's own lock around the zone, any thread may call.
 *
 * A spec is one of
 *
 *     minute hour day month weekday             "0 3 * * *", "30 9-17/2 * * mon-fri"
 *     second minute hour day month weekday      "0,30 * * * * *"
 *     @yearly @annually @monthly @weekly @daily @midnight @hourly @minutely
 *     every DURATION                            "every 90s", "every 1.5h", "every 250ms": 100 ms to 366 days
 *
 * in letters of any case, separated by blanks. A field is a list, separated by commas, of
 *
 *     *   a   a-b      all, one, a range that runs upwards
 *     * /n  a/n  a-b/n (without the blank) every nth of all, from a to the end, of the range
 *
 *     second, minute 0-59   hour 0-23   day 1-31   month 1-12, jan-dec   weekday 0-7, sun-sat; 0 and 7 are sun
 *
 * In the fields of days "?" is the same as "*", and the day "L" is the last of its month. A range may end with sunday:
 * "fri-sun" is "5-7". When both fields of days are restricted, a day that matches either one is meant: "0 0 13 * fri"
 * is each 13th and each Friday. A field is restricted when it does not begin with "*" or "?"; beside one that is not
 * restricted, both must match: "0 0 * /2 * mon" (without the blank) is each Monday that has an odd date.
 *
 * Slots of fields are whole seconds. Slots of an interval are the multiples of the interval since the epoch, so that
 * all workers agree on them without having met; zones do not move them.
 *
 * Clock changes, in all zones but UTC:
 *   - A time that the clock leaps over fires at the first moment after the leap. Several such times of one entry, and
 *     one that is due right then, fire there once. With a leap from 2:00 to 3:00, "30 2 * * *" fires at 3:00.
 *   - A time that the clock shows twice fires the first time only.
 *   - But an entry for all 24 hours ("*" as its hour, "0-23" too) follows the clock as it runs: it fires whenever the
 *     clock shows a time that matches. So "30 * * * *" fires once in each hour that passes, when clocks are set by
 *     whole hours; around a change by half an hour two slots may lie half an hour nearer or farther.
 *
 * The local zone is the C library's: TZ, else the system's. It is read once; a program that changes TZ calls tzset.
 * zone.h tells of zones by name.
 */
#ifndef RV_CRON_H
#define RV_CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/zone.h"

#define RV_CRON_SPEC_MAX 512                             /* bytes of a spec */
#define RV_CRON_MIN_MS 100                               /* the shortest interval */
#define RV_CRON_MAX_MS ((int64_t)366 * 24 * 3600 * 1000) /* the longest */

/* A spec, read. Copied by assignment. Bit n of a set stands for the number n. */
typedef struct rv_cron {
    int64_t interval_ms; /* > 0: an interval, and nothing else but the offset counts */
    int64_t offset_ms;   /* of an interval: its slots are so much later */
    uint64_t seconds;
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;     /* 1 to 31 */
    uint32_t months;   /* 1 to 12 */
    uint32_t weekdays; /* 0 to 6, from Sunday */
    bool last_day;     /* the last day of the month, beside those of days */
    bool either_day;   /* days or weekdays; else both */
} rv_cron;

/*
 * REEVE_EINVAL: not a spec; the message names the field, its value, and the allowed values. A date that no year has
 * ("0 0 30 2 *") is refused, too. ret is written on success only; error may be NULL.
 */
reeve_status rv_cron_parse(rv_cron *ret, const char *spec, rv_error *error);

/*
 * The first slot after (not at) a point in time, in milliseconds since the epoch. -1: none before the year 10000, which
 * is for a cron that was parsed to say that after_ms is that late. Times before 1970 count as its beginning.
 */
int64_t rv_cron_next(const rv_cron *cron, rv_zone zone, int64_t after_ms);

/*
 * Writes the newest slots from from_ms to until_ms, both included, at most `max`, in ascending order. Returns how
 * many were written. The time that it takes depends on the slots written, not on all slots of the range.
 */
size_t rv_cron_missed(const rv_cron *cron, rv_zone zone, int64_t from_ms, int64_t until_ms, size_t max,
                      int64_t *ret_slots);

#endif
