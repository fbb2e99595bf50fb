/*
 * From the words of a spec to sets of numbers.
 */
#include <stdio.h>
#include <string.h>

#include "base/cron.h"
#include "base/text.h"

#define FORMS \
    "minute hour day month weekday, maybe with the second first (\"0 3 * * mon-fri\"), \"@daily\" or \"every 90s\""

enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

typedef struct field {
    const char *name;
    int min;
    int top;           /* where "*" and "a/n" end */
    int max;           /* what may be written */
    const char *names; /* of three letters each, from least on; or NULL */
    const char *allowed;
} field;

static const field fields[FIELDS] = {
    [SECOND] = {"second", 0, 59, 59, NULL, "0 to 59"},
    [MINUTE] = {"minute", 0, 59, 59, NULL, "0 to 59"},
    [HOUR] = {"hour", 0, 23, 23, NULL, "0 to 23"},
    [DAY] = {"day", 1, 31, 31, NULL, "1 to 31, or L alone for the last of the month"},
    [MONTH] = {"month", 1, 12, 12, "janfebmaraprmayjunjulaugsepoctnovdec", "1 to 12 or jan to dec"},
    [WEEKDAY] = {"weekday", 0, 6, 7, "sunmontuewedthufrisat", "0 to 7 (0 and 7 are Sunday) or sun to sat"},
};

/* A part of the text between blanks or commas. */
typedef struct slice {
    const char *at;
    const char *end;
} slice;

typedef struct meaning {
    uint64_t sets[FIELDS];
    bool stars[FIELDS]; /* begins with "*" or "?" */
    bool last_day;
} meaning;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool starts_with(slice text, const char *start)
{
    for (; *start != '\0'; start++, text.at++)
        if (text.at == text.end || lower(*text.at) != *start) return false;
    return true;
}

static bool is(slice text, const char *word)
{
    return (size_t)(text.end - text.at) == strlen(word) && starts_with(text, word);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next run without blanks; empty at the end. */
static slice next_word(const char **at)
{
    while (is_blank(**at)) (*at)++;
    slice word = {*at, *at};
    while (*word.end != '\0' && !is_blank(*word.end)) word.end++;
    *at = word.end;
    return word;
}

static reeve_status refuse(rv_error *error, const field *which, slice item, const char *why)
{
    size_t length = rv_utf8_cut(item.at, (size_t)(item.end - item.at), 60);
    return rv_fail(error, REEVE_EINVAL, "%s \"%.*s\": %s", which->name, (int)length, item.at, why);
}

static reeve_status refuse_value(rv_error *error, const field *which, slice item)
{
    char why[160];
    snprintf(why, sizeof(why), "allowed are %s, \"*\", ranges (a-b), steps (*/n, a-b/n) and lists of these (a,b)",
             which->allowed);
    return refuse(error, which, item, why);
}

static bool read_digits(slice *at, int *ret)
{
    int value = 0;

    if (at->at == at->end || *at->at < '0' || *at->at > '9') return false;
    for (; at->at < at->end && *at->at >= '0' && *at->at <= '9'; at->at++)
        if (value < 1000) value = value * 10 + (*at->at - '0');
    *ret = value;
    return true;
}

static bool read_name(slice *at, const field *which, int *ret)
{
    for (size_t i = 0; which->names != NULL && which->names[3 * i] != '\0'; i++) {
        char name[4] = {0};
        memcpy(name, which->names + 3 * i, 3);
        if (!starts_with(*at, name)) continue;
        at->at += 3;
        *ret = which->min + (int)i;
        return true;
    }
    return false;
}

static bool read_value(slice *at, const field *which, int *ret)
{
    if (!read_digits(at, ret) && !read_name(at, which, ret)) return false;
    return *ret >= which->min && *ret <= which->max;
}

static bool skip(slice *at, const char *marks)
{
    if (at->at == at->end || strchr(marks, *at->at) == NULL) return false;
    at->at++;
    return true;
}

static bool is_of_days(const field *which)
{
    return which == &fields[DAY] || which == &fields[WEEKDAY];
}

static reeve_status refuse_backwards(rv_error *error, const field *which, slice item, int first, int last)
{
    char why[160];
    snprintf(why, sizeof(why), "a range runs upwards; write it as two: \"%d-%d,%d-%d\"", first, which->top, which->min,
             last);
    return refuse(error, which, item, why);
}

/* "*", "a" or "a-b"; alone: a single value, which a step would extend to the top. */
static reeve_status read_range(slice *at, const field *which, slice item, int ret[2], bool *ret_alone, rv_error *error)
{
    *ret_alone = false;
    ret[0] = which->min;
    ret[1] = which->top;
    if (skip(at, is_of_days(which) ? "*?" : "*")) return REEVE_OK;

    if (!read_value(at, which, &ret[0])) return refuse_value(error, which, item);
    ret[1] = ret[0];
    *ret_alone = !skip(at, "-");
    if (*ret_alone) return REEVE_OK;
    if (!read_value(at, which, &ret[1])) return refuse_value(error, which, item);
    if (which == &fields[WEEKDAY] && ret[1] == 0 && ret[0] > 0) ret[1] = 7; /* a week may end with Sunday */
    if (ret[0] > ret[1]) return refuse_backwards(error, which, item, ret[0], ret[1]);
    return REEVE_OK;
}

static reeve_status read_step(slice *at, const field *which, slice item, int *ret, rv_error *error)
{
    char why[160];
    int max = which->top - which->min + 1;

    *ret = 1;
    if (!skip(at, "/")) return REEVE_OK;
    if (read_digits(at, ret) && *ret >= 1 && *ret <= max) return REEVE_OK;
    snprintf(why, sizeof(why), "a step is a number from 1 to %d; for other distances there is \"every 90m\"", max);
    return refuse(error, which, item, why);
}

static reeve_status read_item(meaning *ret, int index, slice item, rv_error *error)
{
    const field *which = &fields[index];
    slice at = item;
    int range[2];
    int step;
    bool alone;
    reeve_status status;

    if (at.at == at.end) return refuse(error, which, item, "a list has an item on both sides of each comma");
    if (index == DAY && is(item, "l")) {
        ret->last_day = true;
        return REEVE_OK;
    }
    if ((status = read_range(&at, which, item, range, &alone, error)) != REEVE_OK) return status;
    bool stepped = at.at < at.end && *at.at == '/';
    if ((status = read_step(&at, which, item, &step, error)) != REEVE_OK) return status;
    if (at.at != at.end) return refuse_value(error, which, item);

    if (alone && stepped && range[1] < which->top) range[1] = which->top;
    for (int value = range[0]; value <= range[1]; value += step)
        ret->sets[index] |= UINT64_C(1) << (index == WEEKDAY ? value % 7 : value);
    return REEVE_OK;
}

static reeve_status read_field(meaning *ret, int index, slice text, rv_error *error)
{
    ret->stars[index] = *text.at == '*' || *text.at == '?';
    for (slice item = text;; item.at = item.end + 1, item.end = text.end) {
        const char *comma = memchr(item.at, ',', (size_t)(text.end - item.at));
        if (comma != NULL) item.end = comma;
        reeve_status status = read_item(ret, index, item, error);
        if (status != REEVE_OK || comma == NULL) return status;
    }
}

/* A day of the month that no month meant has. */
static bool never_comes(const meaning *read)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool either = !read->stars[DAY] && !read->stars[WEEKDAY];

    if (either || read->last_day) return false;
    for (int month = 1; month <= 12; month++) {
        uint64_t in_month = (UINT64_C(2) << days[month - 1]) - 1;
        if ((read->sets[MONTH] >> month & 1) != 0 && (read->sets[DAY] & in_month) != 0) return false;
    }
    return true;
}

static reeve_status read_fields(rv_cron *ret, const char *spec, rv_error *error)
{
    slice words[FIELDS] = {{0}};
    meaning read = {.sets = {[SECOND] = 1}};
    const char *at = spec;
    int count = 0;
    reeve_status status;

    for (slice word = next_word(&at); word.at != word.end; word = next_word(&at), count++)
        if (count < FIELDS) words[count] = word;
    if (count != FIELDS && count != FIELDS - 1)
        return rv_fail(error, REEVE_EINVAL, "\"%.60s\" has %d field%s; there are five or six: " FORMS, spec, count,
                       count == 1 ? "" : "s");

    int first = FIELDS - count;
    for (int i = first; i < FIELDS; i++) {
        if (i == SECOND) read.sets[SECOND] = 0;
        if ((status = read_field(&read, i, words[i - first], error)) != REEVE_OK) return status;
    }
    if (never_comes(&read))
        return refuse(error, &fields[DAY], words[DAY - first], "none of the months of the spec has this day");

    *ret = (rv_cron){
        .seconds = read.sets[SECOND],
        .minutes = read.sets[MINUTE],
        .hours = (uint32_t)read.sets[HOUR],
        .days = (uint32_t)read.sets[DAY],
        .months = (uint32_t)read.sets[MONTH],
        .weekdays = (uint32_t)read.sets[WEEKDAY],
        .last_day = read.last_day,
        .either_day = !read.stars[DAY] && !read.stars[WEEKDAY],
    };
    return REEVE_OK;
}

static reeve_status read_nickname(rv_cron *ret, slice word, rv_error *error)
{
    static const struct {
        const char *name;
        const char *spec;
    } nicknames[] = {{"@yearly", "0 0 1 1 *"},   {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                     {"@weekly", "0 0 * * sun"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                     {"@hourly", "0 * * * *"},   {"@minutely", "* * * * *"}};

    for (size_t i = 0; i < sizeof(nicknames) / sizeof(nicknames[0]); i++)
        if (is(word, nicknames[i].name)) return read_fields(ret, nicknames[i].spec, error);
    return rv_fail(error, REEVE_EINVAL,
                   "\"%.60s\" is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, @minutely",
                   word.at);
}

static reeve_status read_interval(rv_cron *ret, slice word, rv_error *error)
{
    char text[32] = "";
    int64_t ms;

    size_t length = (size_t)(word.end - word.at);
    if (length < sizeof(text)) memcpy(text, word.at, length);
    if (!rv_parse_duration(text, &ms))
        return rv_fail(error, REEVE_EINVAL,
                       "every \"%.60s\": a duration is a number with ms, s, m, h or d, such as 90s or 1.5h", word.at);
    if (ms < RV_CRON_MIN_MS || ms > RV_CRON_MAX_MS)
        return rv_fail(error, REEVE_EINVAL, "every \"%.60s\": an interval is from 100ms to 366d", word.at);
    *ret = (rv_cron){.interval_ms = ms};
    return REEVE_OK;
}

reeve_status rv_cron_parse(rv_cron *ret, const char *spec, rv_error *error)
{
    const char *at = spec;

    if (spec == NULL) return rv_fail(error, REEVE_EINVAL, "no cron spec was given");
    if (strlen(spec) > RV_CRON_SPEC_MAX)
        return rv_fail(error, REEVE_EINVAL, "the cron spec has %zu bytes: at most %d", strlen(spec), RV_CRON_SPEC_MAX);
    slice first = next_word(&at);
    if (first.at == first.end) return rv_fail(error, REEVE_EINVAL, "the cron spec is empty; there are: " FORMS);

    bool interval = is(first, "every");
    if (*first.at != '@' && !interval) return read_fields(ret, spec, error);

    slice second = interval ? next_word(&at) : first;
    slice rest = next_word(&at);
    if (rest.at != rest.end)
        return rv_fail(error, REEVE_EINVAL, "\"%.60s\": there is more after it: \"%.60s\"", first.at, rest.at);
    return interval ? read_interval(ret, second, error) : read_nickname(ret, second, error);
}
