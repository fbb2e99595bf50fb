#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"

#define NUMBER_TEXT 40

static bench_figure *find(bench_figures *figures, const char *name, const char *unit)
{
    bench_figure *figure;

    for (size_t i = 0; i < figures->count; i++)
        if (strcmp(figures->list[i].name, name) == 0) return &figures->list[i];
    if (figures->count == BENCH_FIGURES_MAX) return NULL;
    figure = &figures->list[figures->count++];
    memset(figure, 0, sizeof(*figure));
    (void)snprintf(figure->name, sizeof(figure->name), "%s", name);
    figure->unit = unit;
    return figure;
}

void bench_note(bench_figures *figures, const char *prefix, const char *name, const char *unit, double value)
{
    char full[sizeof(figures->list[0].name)];
    bench_figure *figure;

    (void)snprintf(full, sizeof(full), "%s%s", prefix, name);
    figure = find(figures, full, unit);
    if (figure != NULL && figure->count < BENCH_ROUNDS_MAX) figure->values[figure->count++] = value;
}

/* ---- of several rounds ------------------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(const bench_figure *figure)
{
    double sorted[BENCH_ROUNDS_MAX];
    size_t middle = figure->count / 2;

    if (figure->count == 0) return NAN;
    memcpy(sorted, figure->values, figure->count * sizeof(sorted[0]));
    qsort(sorted, figure->count, sizeof(sorted[0]), ascending);
    return figure->count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double bench_min(const bench_figure *figure)
{
    double min = NAN;

    for (size_t i = 0; i < figure->count; i++) min = fmin(min, figure->values[i]);
    return min;
}

double bench_max(const bench_figure *figure)
{
    double max = NAN;

    for (size_t i = 0; i < figure->count; i++) max = fmax(max, figure->values[i]);
    return max;
}

/* ---- showing ---------------------------------------------------------------------------------------------------- */

/* Three digits that count, and whole numbers above that: "2.54", "0.0123", "318042". */
static const char *number(char ret[NUMBER_TEXT], double value)
{
    double size = fabs(value);
    int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;

    (void)snprintf(ret, NUMBER_TEXT, "%.*f", decimals, value);
    return ret;
}

static void add_cells(cli_table *table, const bench_figure *figure, bool rounds)
{
    char text[NUMBER_TEXT];

    cli_table_cell(table, figure->name);
    cli_table_cell(table, number(text, bench_median(figure)));
    if (rounds) {
        cli_table_cell(table, number(text, bench_min(figure)));
        cli_table_cell(table, number(text, bench_max(figure)));
    }
    cli_table_cell(table, figure->unit);
}

bool bench_print_figures(const bench_figures *figures, FILE *out)
{
    static const cli_column once[] = {{"FIGURE", false, 0, 0}, {"VALUE", true, 0, 0}, {"UNIT", false, 0, 0}};
    static const cli_column often[] = {{"FIGURE", false, 0, 0},
                                       {"MEDIAN", true, 0, 0},
                                       {"LEAST", true, 0, 0},
                                       {"MOST", true, 0, 0},
                                       {"UNIT", false, 0, 0}};
    bool rounds = figures->count > 0 && figures->list[0].count > 1, printed;
    cli_table table;

    cli_table_init(&table, rounds ? often : once, rounds ? 5 : 3);
    for (size_t i = 0; i < figures->count; i++) add_cells(&table, &figures->list[i], rounds);
    printed = cli_table_print(&table, out);
    cli_table_fini(&table);
    return printed;
}

void bench_write_figures(const bench_figures *figures, cli_json *json)
{
    cli_json_open(json, "figures");
    for (size_t i = 0; i < figures->count; i++) {
        const bench_figure *figure = &figures->list[i];

        cli_json_open(json, figure->name);
        cli_json_text(json, "unit", figure->unit);
        cli_json_real(json, "median", bench_median(figure));
        cli_json_real(json, "min", bench_min(figure));
        cli_json_real(json, "max", bench_max(figure));
        cli_json_close(json);
    }
    cli_json_close(json);
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

static double at_rank(const double *sorted, size_t count, unsigned percent)
{
    size_t at = count * percent / 100;

    return sorted[at < count ? at : count - 1];
}

void bench_note_samples(bench_figures *figures, const char *prefix, const char *unit, double *samples, size_t count)
{
    if (count == 0) return;
    qsort(samples, count, sizeof(*samples), ascending);
    bench_note(figures, prefix, "p50", unit, at_rank(samples, count, 50));
    bench_note(figures, prefix, "p90", unit, at_rank(samples, count, 90));
    bench_note(figures, prefix, "p99", unit, at_rank(samples, count, 99));
    bench_note(figures, prefix, "max", unit, samples[count - 1]);
}
