/*
 * From what the clock shows to real time and back.
 *
 * A zone is a function from real seconds to an offset, with a jump here and there: a shift. All questions are asked
 * within VICINITY of some moment, which is more than any offset and any shift, and in which a zone is taken to shift
 * once at most. Then both ways are plain. With the offsets before and after a shift at T, the clock would show T +
 * before when it is set to T + after. So a time shown below T + before was first shown before the shift, at shown -
 * before; any other is shown from T on, at shown - after, or it is leapt over and belongs to T. That holds for shifts
 * in both directions, and the moment so found never falls when the time shown rises: the next slot is the moment of the
 * next time shown.
 */
#include "base/cron.h"
#include "base/cron_clock.h"

#define VICINITY ((int64_t)26 * 3600)
#define LAST_SECOND ((int64_t)253402300799) /* 9999-12-31T23:59:59Z */
#define ALL_HOURS 0xffffffu

/* The first moment at which the offset is another; when it is not, before and after are equal and at is the lower end.
 */
typedef struct shift {
    int64_t at;
    int64_t before;
    int64_t after;
} shift;

/* The shift within (low, high]. */
static shift find_shift(rv_zone zone, int64_t low, int64_t high)
{
    shift found = {.at = low, .before = rv_zone_offset(zone, low), .after = rv_zone_offset(zone, high)};

    if (found.before == found.after) return found;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rv_zone_offset(zone, middle) == found.before)
            low = middle;
        else
            high = middle;
    }
    found.at = high;
    return found;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* When the clock first shows this, or has leapt over it. */
static int64_t moment_of(rv_zone zone, int64_t shown)
{
    shift near = find_shift(zone, shown - VICINITY, shown + VICINITY);
    if (shown < near.at + near.before) return shown - near.before;
    return larger(near.at, shown - near.after);
}

/* The least shown whose moment is not before this one. */
static int64_t min_shown(rv_zone zone, int64_t moment)
{
    shift past = find_shift(zone, moment - VICINITY, moment);
    if (moment == past.at) return past.at + past.before;
    return larger(moment + past.after, past.at + past.before);
}

/* The largest shown whose moment is not after this one. */
static int64_t largest_shown(rv_zone zone, int64_t moment)
{
    shift past = find_shift(zone, moment - VICINITY, moment);
    return larger(moment + past.after, past.at + past.before - 1);
}

static bool first_by_clock(const rv_cron *cron, rv_zone zone, int64_t from, int64_t until, int64_t *ret)
{
    int64_t shown;
    if (!rv_cron_clock_first_shown(cron, min_shown(zone, from), until + VICINITY, &shown)) return false;
    *ret = moment_of(zone, shown);
    return *ret <= until;
}

static bool last_by_clock(const rv_cron *cron, rv_zone zone, int64_t from, int64_t until, int64_t *ret)
{
    int64_t shown;
    if (!rv_cron_clock_last_shown(cron, from - VICINITY, largest_shown(zone, until), &shown)) return false;
    *ret = moment_of(zone, shown);
    return *ret >= from;
}

/*
 * Every moment at which the clock shows a match, be it for the second time. One stretch without a shift after the
 * other; when the next match is far, right to its vicinity. That nothing matches of what is shown on one side of a
 * shift says nothing about the other side: it may show the same hour, and more of it.
 */
static bool first_as_it_runs(const rv_cron *cron, rv_zone zone, int64_t from, int64_t until, int64_t *ret)
{
    while (from <= until) {
        shift ahead = find_shift(zone, from, from + VICINITY);
        bool shifts = ahead.before != ahead.after;
        int64_t end = shifts ? ahead.at : from + VICINITY; /* the offset is known before this */
        int64_t shown = 0;

        bool any = rv_cron_clock_first_shown(cron, from + ahead.before, until + VICINITY, &shown);
        if (!any && !shifts) return false;
        if (any && shown - ahead.before < end) {
            *ret = shown - ahead.before;
            return *ret <= until;
        }
        from = shifts ? end : larger(end, shown - ahead.before - VICINITY);
    }
    return false;
}

static bool last_as_it_runs(const rv_cron *cron, rv_zone zone, int64_t from, int64_t until, int64_t *ret)
{
    while (until >= from) {
        shift past = find_shift(zone, until - VICINITY, until);
        bool shifts = past.before != past.after;
        int64_t shown = 0;

        bool any = rv_cron_clock_last_shown(cron, from - VICINITY, until + past.after, &shown);
        if (!any && !shifts) return false;
        if (any && shown - past.after >= past.at) {
            *ret = shown - past.after;
            return *ret >= from;
        }
        until = shifts ? past.at - 1 : smaller(past.at - 1, shown - past.after + VICINITY);
    }
    return false;
}

/* The first slot within [from, until], in seconds, and the last. */
static bool first_slot(const rv_cron *cron, rv_zone zone, int64_t from, int64_t until, int64_t *ret)
{
    if (cron->hours == ALL_HOURS) return first_as_it_runs(cron, zone, from, until, ret);
    return first_by_clock(cron, zone, from, until, ret);
}

static bool last_slot(const rv_cron *cron, rv_zone zone, int64_t from, int64_t until, int64_t *ret)
{
    if (cron->hours == ALL_HOURS) return last_as_it_runs(cron, zone, from, until, ret);
    return last_by_clock(cron, zone, from, until, ret);
}

int64_t rv_cron_next(const rv_cron *cron, rv_zone zone, int64_t after_ms)
{
    int64_t slot;

    if (after_ms >= LAST_SECOND * 1000) return -1;
    if (cron->interval_ms > 0) {
        int64_t behind = after_ms - cron->offset_ms; /* negative: the first slot is at the offset */
        return (after_ms < 0 || behind < 0 ? 0 : behind / cron->interval_ms + 1) * cron->interval_ms + cron->offset_ms;
    }
    if (!first_slot(cron, zone, after_ms < 0 ? 0 : after_ms / 1000 + 1, LAST_SECOND, &slot)) return -1;
    return slot * 1000;
}

static size_t missed_intervals(const rv_cron *cron, int64_t from_ms, int64_t until_ms, size_t max, int64_t *ret_slots)
{
    int64_t interval = cron->interval_ms;

    if (until_ms < cron->offset_ms) return 0;
    from_ms = larger(from_ms - cron->offset_ms, 0);
    until_ms -= cron->offset_ms;
    int64_t last = until_ms / interval;
    int64_t first = from_ms / interval + (from_ms % interval != 0);
    size_t count = last < first ? 0 : (size_t)(last - first + 1);

    if (count > max) count = max;
    for (size_t i = 0; i < count; i++) ret_slots[i] = (last - (int64_t)(count - 1 - i)) * interval + cron->offset_ms;
    return count;
}

size_t rv_cron_missed(const rv_cron *cron, rv_zone zone, int64_t from_ms, int64_t until_ms, size_t max,
                      int64_t *ret_slots)
{
    from_ms = larger(from_ms, 0);
    until_ms = smaller(until_ms, LAST_SECOND * 1000);
    if (from_ms > until_ms) return 0;
    if (cron->interval_ms > 0) return missed_intervals(cron, from_ms, until_ms, max, ret_slots);

    int64_t from = from_ms / 1000 + (from_ms % 1000 != 0);
    int64_t until = until_ms / 1000;
    size_t count = 0;
    for (; count < max && last_slot(cron, zone, from, until, &until); until--) ret_slots[count++] = until * 1000;

    for (size_t i = 0; i < count / 2; i++) { /* they came newest first */
        int64_t newer = ret_slots[i];
        ret_slots[i] = ret_slots[count - 1 - i];
        ret_slots[count - 1 - i] = newer;
    }
    return count;
}
