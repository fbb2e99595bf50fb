#include "when.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

static const struct {
    int64_t ms;
    const char *name;
} units[] = {{86400000, "d"}, {3600000, "h"}, {60000, "m"}, {1000, "s"}, {1, "ms"}};

void cli_span_text(int64_t ms, char ret[CLI_WHEN_TEXT])
{
    size_t i = 0;

    if (ms < 0) ms = 0;
    while (units[i].ms > 1 && ms < units[i].ms) i++;
    (void)snprintf(ret, CLI_WHEN_TEXT, "%" PRId64 " %s", ms / units[i].ms, units[i].name);
}

void cli_duration_text(int64_t ms, char ret[CLI_WHEN_TEXT])
{
    size_t i = 0;

    while (units[i].ms > 1 && ms % units[i].ms != 0) i++;
    (void)snprintf(ret, CLI_WHEN_TEXT, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
}

void cli_ago_text(int64_t time_ms, int64_t now_ms, char ret[CLI_WHEN_TEXT])
{
    int64_t ago = now_ms - time_ms;
    char span[CLI_WHEN_TEXT];

    cli_span_text(ago < 0 ? -ago : ago, span);
    if (time_ms < 0)
        ret[0] = '\0';
    else if (ago < 1000 && ago > -1000)
        (void)snprintf(ret, CLI_WHEN_TEXT, "now");
    else
        (void)snprintf(ret, CLI_WHEN_TEXT, ago < 0 ? "in %.32s" : "%.32s ago", span);
}

void cli_time_text(int64_t time_ms, int64_t now_ms, char ret[CLI_WHEN_TEXT])
{
    char time[RV_TIME_TEXT];
    char ago[CLI_WHEN_TEXT];

    if (time_ms < 0) {
        ret[0] = '\0';
        return;
    }
    rv_format_time(time_ms, time);
    cli_ago_text(time_ms, now_ms, ago);
    (void)snprintf(ret, CLI_WHEN_TEXT, "%s (%.40s)", time, ago);
}
