/*
 * table.h - rows of cells in columns that are as wide as their content, and lists of "name: value" lines.
 *
 * Cells are copied and made harmless (utf8.h). An empty cell shows as "-". Running out of memory is remembered and told
 * by the print call. One thread.
 *
 * On a terminal that is too narrow, columns that may be cut (max) become narrower, and then columns are left out in the
 * order of their `drop`. libsmartcols has no such order; it also holds all rows until the end, where a listing here is
 * printed page by page, and its widths depend on the locale. So this stays our own.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

#define CLI_TABLE_COLUMNS 16

typedef struct cli_column {
    const char *title;
    bool right; /* numbers */
    size_t max; /* columns of the terminal; longer cells are cut; 0: no limit */
    int drop;   /* left out where the terminal is too narrow: the largest first; 0: never */
} cli_column;

typedef struct cli_table {
    const cli_column *columns;
    size_t count;                    /* of columns */
    char **cells;                    /* row by row; owned */
    size_t used, capacity;           /* of cells */
    size_t width[CLI_TABLE_COLUMNS]; /* only grows, so that the pages of a long table line up as far as can be known */
    size_t limit;                    /* columns that a line may have, set after init; 0: those of the terminal */
    bool hidden[CLI_TABLE_COLUMNS];  /* left out, as decided when the titles are printed */
    bool cut;                        /* so that cells of later pages are cut to the width, too */
    bool titled;                     /* the titles were printed */
    bool failed;
} cli_table;

/* Whether all tables print all columns (--wide). */
void cli_table_wide(bool wide);

/* columns: at most CLI_TABLE_COLUMNS, and they outlive the table. */
void cli_table_init(cli_table *table, const cli_column *columns, size_t count);
void cli_table_fini(cli_table *table);

/* Adds the next cell, left to right, row after row. NULL is empty. */
void cli_table_cell(cli_table *table, const char *text);
void cli_table_cellf(cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the rows (with the titles, the first time) and forgets them. False: out of memory, nothing was printed. */
bool cli_table_print(cli_table *table, FILE *out);

/* ---- name: value ------------------------------------------------------------------------------------------------ */

#define CLI_FIELDS 40

typedef struct cli_fields {
    const char *name[CLI_FIELDS]; /* borrowed, literals */
    char *value[CLI_FIELDS];
    size_t count;
    bool failed;
} cli_fields;

void cli_fields_init(cli_fields *fields);
void cli_fields_fini(cli_fields *fields);

/* Adds a line; a NULL value is left out. The lines of a value with line feeds stand below each other. */
void cli_fields_add(cli_fields *fields, const char *name, const char *value);
void cli_fields_addf(cli_fields *fields, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints all lines, values aligned. False: out of memory, nothing was printed. */
bool cli_fields_print(const cli_fields *fields, FILE *out);

#endif
