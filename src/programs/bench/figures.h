/*
 * figures.h - what was measured: named figures, a value a round, shown by median, least and most.
 *
 * Figures appear in the order in which they were first noted. One thread.
 */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/json.h"

#define BENCH_FIGURES_MAX 64
#define BENCH_ROUNDS_MAX 100

typedef struct bench_figure {
    char name[48];    /* "tasks_per_s": as --json names it */
    const char *unit; /* borrowed, a literal */
    double values[BENCH_ROUNDS_MAX];
    size_t count;
} bench_figure;

typedef struct bench_figures {
    bench_figure list[BENCH_FIGURES_MAX];
    size_t count;
} bench_figures;

/* Notes a round's value of prefix and name, written together ("one_", "tasks_per_s"). What does not fit is dropped. */
void bench_note(bench_figures *figures, const char *prefix, const char *name, const char *unit, double value);

double bench_median(const bench_figure *figure);
double bench_min(const bench_figure *figure);
double bench_max(const bench_figure *figure);

/* A line a figure; least and most where there were rounds to compare. False: out of memory. */
bool bench_print_figures(const bench_figures *figures, FILE *out);

/* "figures": {"tasks_per_s": {"unit": "tasks/s", "median": 1, "min": 1, "max": 1}, ...} */
void bench_write_figures(const bench_figures *figures, cli_json *json);

/* ---- samples of one round --------------------------------------------------------------------------------------- */

/* Sorts, and notes 50th, 90th, 99th percentile and the longest of them as PREFIXp50, p90, p99, max. */
void bench_note_samples(bench_figures *figures, const char *prefix, const char *unit, double *samples, size_t count);

#endif
