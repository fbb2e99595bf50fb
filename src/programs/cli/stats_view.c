/*
 * stats_view.c - statistics as text: lengths of time, bars, JSON.
 */
#include "verb_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "json.h"

/* ---- texts ----------------------------------------------------------------------------------------------------- */

static const struct unit {
    const char *name;
    double ms, until; /* until: in this unit, from when on the next one says it better */
} units[] = {{"ms", 1, 1000}, {"s", 1000, 60}, {"m", 60000, 60}, {"h", 3600000, 24}, {"d", 86400000, 1e300}};

void cli_length_text(double ms, char ret[CLI_STATS_TEXT])
{
    const struct unit *unit = units;

    ret[0] = '\0';
    if (ms < 0) return;
    while (ms / unit->ms >= unit->until) unit++;
    double length = ms / unit->ms;
    int digits = length < 9.995 ? 2 : length < 99.95 ? 1 : 0;
    (void)snprintf(ret, CLI_STATS_TEXT, "%.*f%s", digits, length, unit->name);
}

void cli_day_text(int64_t day, char ret[CLI_STATS_TEXT])
{
    time_t seconds = (time_t)(day * 86400);
    struct tm when;

    ret[0] = '\0';
    if (gmtime_r(&seconds, &when) != NULL) (void)strftime(ret, CLI_STATS_TEXT, "%Y-%m-%d", &when);
}

void cli_kinds_text(const reeve_day *day, char *ret, size_t size)
{
    size_t used = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < day->kind_count; i++) {
        const reeve_kind_stats *kind = &day->kinds[i];
        int length = snprintf(ret + used, size - used, "%s%s %" PRIu64, i > 0 ? ", " : "",
                              kind->kind[0] == '\0' ? "(others)" : kind->kind, kind->retried + kind->dead);
        if (length < 0 || (size_t)length >= size - used) return;
        used += (size_t)length;
    }
}

/* ---- the histogram --------------------------------------------------------------------------------------------- */

/* Where the lines begin, in ms: a coarser view of the buckets, whose bounds these are. */
#define S INT64_C(1000)
#define M (60 * S)
#define H (60 * M)
#define D (24 * H)
static const int64_t lines[] = {0,      1,      2,     5,      10,     20,     50, 100,   200,   500,
                                S,      2 * S,  5 * S, 10 * S, 20 * S, 30 * S, M,  2 * M, 5 * M, 10 * M,
                                20 * M, 30 * M, H,     2 * H,  6 * H,  12 * H, D,  2 * D, 7 * D, 30 * D};
#define LINES (sizeof(lines) / sizeof(lines[0]))
#define BAR 40

static size_t line_of(int64_t from_ms)
{
    size_t line = 0;

    while (line + 1 < LINES && from_ms >= lines[line + 1]) line++;
    return line;
}

static void whole_text(int64_t ms, char ret[CLI_STATS_TEXT])
{
    const struct unit *unit = units;

    while (unit->until < 1e9 && ms >= (int64_t)(unit->ms * unit->until)) unit++;
    (void)snprintf(ret, CLI_STATS_TEXT, "%" PRId64 "%s", ms / (int64_t)unit->ms, unit->name);
}

static void print_line(FILE *out, size_t line, uint64_t count, uint64_t max)
{
    static const char bar[] = "########################################";
    char from[CLI_STATS_TEXT], to[CLI_STATS_TEXT] = "";
    int length = (int)((double)count / (double)max * BAR + 0.5);

    whole_text(lines[line], from);
    if (line + 1 < LINES) whole_text(lines[line + 1], to);
    if (count > 0 && length == 0) length = 1;
    (void)fprintf(out, "  %6s - %-6s %10" PRIu64 "%s%.*s\n", from, to, count, length > 0 ? "  " : "", length, bar);
}

void cli_print_histogram(FILE *out, const char *title, const reeve_times *times)
{
    uint64_t counts[LINES] = {0}, max = 0;
    size_t first = LINES, last = 0;

    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) {
        int64_t from, to;
        reeve_stats_bucket(i, &from, &to);
        counts[line_of(from)] += times->histogram[i];
    }
    for (size_t i = 0; i < LINES; i++) {
        if (counts[i] == 0) continue;
        if (first == LINES) first = i;
        last = i;
        if (counts[i] > max) max = counts[i];
    }
    if (max == 0) return;
    (void)fprintf(out, "%s\n", title);
    for (size_t i = first; i <= last; i++) print_line(out, i, counts[i], max);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void print_times(cli_json *json, const char *key, const reeve_times *times)
{
    static const struct {
        const char *name;
        double percent;
    } percentiles[] = {{"p50_ms", 50}, {"p95_ms", 95}, {"p99_ms", 99}};

    cli_json_open(json, key);
    cli_json_uint(json, "count", times->count);
    cli_json_real(json, "mean_ms", times->mean_ms);
    cli_json_real(json, "variance", times->variance);
    cli_json_real(json, "deviation_ms", times->deviation_ms);
    cli_json_real(json, "min_ms", times->min_ms);
    cli_json_real(json, "max_ms", times->max_ms);
    for (size_t i = 0; i < 3; i++) {
        if (times->count > 0)
            cli_json_real(json, percentiles[i].name, reeve_stats_percentile(times, percentiles[i].percent));
        else
            cli_json_null(json, percentiles[i].name);
    }
    cli_json_open_array(json, "histogram");
    for (size_t i = 0; i < REEVE_STATS_BUCKETS; i++) {
        int64_t from, to;
        if (times->histogram[i] == 0) continue;
        reeve_stats_bucket(i, &from, &to);
        cli_json_open(json, NULL);
        cli_json_int(json, "from_ms", from);
        cli_json_maybe(json, "to_ms", to == INT64_MAX ? -1 : to);
        cli_json_uint(json, "count", times->histogram[i]);
        cli_json_close(json);
    }
    cli_json_close_array(json);
    cli_json_close(json);
}

static void print_kinds(cli_json *json, const reeve_day *day)
{
    cli_json_open_array(json, "kinds");
    for (size_t i = 0; i < day->kind_count; i++) {
        const reeve_kind_stats *kind = &day->kinds[i];
        cli_json_open(json, NULL);
        cli_json_text(json, "kind", kind->kind[0] == '\0' ? NULL : kind->kind);
        cli_json_uint(json, "retried", kind->retried);
        cli_json_uint(json, "dead", kind->dead);
        cli_json_close(json);
    }
    cli_json_close_array(json);
}

void cli_print_stats_json(FILE *out, const char *queue, const reeve_day *day)
{
    char text[CLI_STATS_TEXT];
    cli_json json;

    cli_day_text(day->day, text);
    cli_json_begin(&json, out);
    cli_json_text(&json, "queue", queue);
    cli_json_text(&json, "day", text);
    cli_json_uint(&json, "completed", day->completed);
    cli_json_uint(&json, "failed", day->failed);
    cli_json_uint(&json, "retried", day->retried);
    cli_json_uint(&json, "dead", day->dead);
    cli_json_uint(&json, "crashed", day->crashed);
    print_times(&json, "wait", &day->wait);
    print_times(&json, "run", &day->run);
    print_kinds(&json, day);
    cli_stats_types_json(&json, day);
    cli_json_end(&json);
}
