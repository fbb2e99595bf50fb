/*
 * verb_stats.h - what `reeve stats` prints: texts, a histogram, JSON.
 */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "table.h"

#define CLI_STATS_TEXT 32

/* A length of time in three digits or so: "0.25ms", "12.5s", "3.2m", "1.5h", "4.0d"; "" for a negative one. */
void cli_length_text(double ms, char ret[CLI_STATS_TEXT]);

/* "2026-11-21", of days since the epoch. */
void cli_day_text(int64_t day, char ret[CLI_STATS_TEXT]);

/* The most frequent kinds of errors and how often: "io 5, timeout 2, ..."; cut where ret ends. */
void cli_kinds_text(const reeve_day *day, char *ret, size_t size);

/* A line for each range of times, and a bar; nothing when nothing was counted. title: what was timed. */
void cli_print_histogram(FILE *out, const char *title, const reeve_times *times);

/* A minute of a queue; one line. */
void cli_minute_json(const char *queue, const reeve_minute *minute, FILE *out);

/* One line. */
void cli_print_stats_json(FILE *out, const char *queue, const reeve_day *day);

#define CLI_STATS_TYPES_COLUMNS 11
extern const cli_column cli_stats_types_columns[CLI_STATS_TYPES_COLUMNS];

/* Adds a row for each type. */
void cli_stats_types_add(cli_table *table, const char *queue, const reeve_day *day);

/* The member "types". */
void cli_stats_types_json(cli_json *json, const reeve_day *day);

/* Prints the last minutes of a queue, or (NULL) of all. Returns the exit status. */
int cli_stats_minutes(cli_context *cli, const char *queue, unsigned minutes);

#endif
