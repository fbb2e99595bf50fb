#include "rate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define COUNT_MAX INT64_C(1000000000)
#define PERIOD_MAX (INT64_C(366) * 24 * 3600 * 1000)
#define PART_MAX 32

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
#define UNITS (sizeof(units) / sizeof(units[0]))

/* What stands before any of the ends; false when that is nothing, or too much. */
static bool take_part(const char **text, const char *ends, char ret[PART_MAX])
{
    size_t length = strcspn(*text, ends);

    if (length == 0 || length >= PART_MAX) return false;
    memcpy(ret, *text, length);
    ret[length] = '\0';
    *text += length;
    return true;
}

static bool parse_period(const char *text, int64_t *ret)
{
    for (size_t i = 0; i < UNITS; i++) {
        if (strcmp(text, units[i].name) != 0) continue;
        *ret = units[i].ms;
        return true;
    }
    return rv_parse_duration(text, ret) && *ret >= 1 && *ret <= PERIOD_MAX;
}

bool cli_rate_parse(const char *text, reeve_rate *ret)
{
    reeve_rate rate = {0};
    char part[PART_MAX];

    if (!take_part(&text, "/", part) || !rv_parse_int(part, 1, COUNT_MAX, &rate.count)) return false;
    if (*text++ != '/') return false;
    if (!take_part(&text, ":", part) || !parse_period(part, &rate.period_ms)) return false;
    if (*text == ':' && !rv_parse_int(text + 1, 1, COUNT_MAX, &rate.burst)) return false;
    *ret = rate;
    return true;
}

void cli_rate_text(const reeve_rate *rate, char ret[CLI_RATE_TEXT])
{
    int64_t period = rate->period_ms == 0 ? 1000 : rate->period_ms;
    size_t i = 0;
    char burst[PART_MAX] = "";

    while (units[i].ms > 1 && period % units[i].ms != 0) i++;
    if (rate->burst != 0 && rate->burst != rate->count) (void)snprintf(burst, sizeof(burst), ":%" PRId64, rate->burst);
    (void)snprintf(ret, CLI_RATE_TEXT, "%" PRId64 "/%" PRId64 "%s%s", rate->count, period / units[i].ms, units[i].name,
                   burst);
}
