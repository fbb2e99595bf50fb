#include "table.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "terminal.h"
#include "utf8.h"

#define CELL_MAX (256 * 1024)
#define GAP 2
#define SHRUNK_MIN 12 /* columns of the terminal that a column keeps when it is made narrower */

void cli_table_init(cli_table *table, const cli_column *columns, size_t count)
{
    memset(table, 0, sizeof(*table));
    table->columns = columns;
    table->count = count;
    for (size_t i = 0; i < count; i++) table->width[i] = cli_utf8_columns(columns[i].title, strlen(columns[i].title));
}

static void forget_rows(cli_table *table)
{
    for (size_t i = 0; i < table->used; i++) rv_free(table->cells[i]);
    table->used = 0;
}

void cli_table_fini(cli_table *table)
{
    forget_rows(table);
    rv_free(table->cells);
    table->cells = NULL;
    table->capacity = 0;
}

static bool grow(cli_table *table)
{
    size_t capacity = table->capacity == 0 ? 64 : table->capacity * 2;
    char **cells;

    if (table->used < table->capacity) return true;
    cells = rv_realloc_array(table->cells, capacity, sizeof(*cells));
    if (cells == NULL) return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

/* The text of a cell: harmless, cut, never empty. NULL: no memory. */
static char *make_cell(const char *text, size_t max)
{
    rv_buf buf;
    char *cell;

    rv_buf_init(&buf, CELL_MAX);
    cli_utf8_add_safe(&buf, text, strnlen(text, CELL_MAX / 8), false);
    cli_utf8_cut(&buf, max);
    if (buf.length == 0) rv_buf_addc(&buf, '-');
    cell = buf.failed ? NULL : rv_strdup(buf.data);
    rv_buf_fini(&buf);
    return cell;
}

void cli_table_cell(cli_table *table, const char *text)
{
    size_t column = table->used % table->count;
    size_t width;
    char *cell;

    if (table->failed) return;
    cell = grow(table) ? make_cell(text == NULL ? "" : text, table->columns[column].max) : NULL;
    if (cell == NULL) {
        table->failed = true;
        return;
    }
    table->cells[table->used++] = cell;
    width = cli_utf8_columns(cell, strlen(cell));
    if (width > table->width[column] && !(table->cut && table->columns[column].max > 0)) table->width[column] = width;
}

void cli_table_cellf(cli_table *table, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli_table_cell(table, text);
}

/* Whether no column that is printed follows. */
static bool is_last(const cli_table *table, size_t column)
{
    while (++column < table->count)
        if (!table->hidden[column]) return false;
    return true;
}

static void pad(FILE *out, size_t columns)
{
    while (columns-- > 0) (void)fputc(' ', out);
}

/* ---- terminals that are too narrow ------------------------------------------------------------------------------ */

static bool is_wide;

void cli_table_wide(bool wide)
{
    is_wide = wide;
}

static size_t total_width(const cli_table *table)
{
    size_t total = 0;

    for (size_t i = 0; i < table->count; i++)
        if (!table->hidden[i]) total += table->width[i] + (total > 0 ? GAP : 0);
    return total;
}

/* Makes the widest column that may be cut narrower by up to `excess`. False: there is none. */
static bool shrink_one(cli_table *table, size_t excess)
{
    size_t widest = table->count, room;

    for (size_t i = 0; i < table->count; i++) {
        if (table->hidden[i] || table->columns[i].max == 0 || table->width[i] <= SHRUNK_MIN) continue;
        if (widest == table->count || table->width[i] > table->width[widest]) widest = i;
    }
    if (widest == table->count) return false;
    room = table->width[widest] - SHRUNK_MIN;
    table->width[widest] -= excess < room ? excess : room;
    return true;
}

static bool drop_one(cli_table *table)
{
    size_t first = table->count;

    for (size_t i = 0; i < table->count; i++) {
        if (table->hidden[i] || table->columns[i].drop == 0) continue;
        if (first == table->count || table->columns[i].drop >= table->columns[first].drop) first = i;
    }
    if (first == table->count) return false;
    table->hidden[first] = true;
    return true;
}

/* Columns that were made narrower to no avail get their width back from the room that others left. */
static void widen(cli_table *table, const size_t *natural, size_t limit)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t total = total_width(table), room = limit > total ? limit - total : 0;
        size_t wanted = natural[i] - table->width[i];

        if (!table->hidden[i]) table->width[i] += wanted < room ? wanted : room;
    }
}

static void fit(cli_table *table, FILE *out)
{
    size_t limit = table->limit > 0 ? table->limit : is_wide ? 0 : cli_terminal_columns(out), dropped = 0, total;
    size_t natural[CLI_TABLE_COLUMNS];

    if (limit == 0) return;
    memcpy(natural, table->width, sizeof(natural));
    while ((total = total_width(table)) > limit) {
        table->cut = true;
        if (shrink_one(table, total - limit)) continue;
        if (!drop_one(table)) break;
        dropped++;
    }
    if (table->cut) widen(table, natural, limit);
    if (dropped > 0 && table->limit == 0)
        (void)fprintf(stderr, "%zu column%s left out; --wide prints all\n", dropped, dropped == 1 ? " is" : "s are");
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* A cell of a column that was made narrower. */
static void print_cut(const char *text, size_t width, FILE *out)
{
    rv_buf buf;

    rv_buf_init(&buf, CELL_MAX);
    rv_buf_adds(&buf, text);
    cli_utf8_cut(&buf, width);
    (void)fputs(rv_buf_text(&buf), out);
    rv_buf_fini(&buf);
}

static void print_cell(const cli_table *table, size_t column, const char *text, bool first, FILE *out)
{
    size_t width = table->width[column], own = cli_utf8_columns(text, strlen(text));
    bool is_cut = table->cut && table->columns[column].max > 0 && own > width;
    size_t space = own < width ? width - own : 0;

    if (!first) pad(out, GAP);
    if (table->columns[column].right) pad(out, space);
    if (is_cut)
        print_cut(text, width, out);
    else
        (void)fputs(text, out);
    if (!table->columns[column].right && !is_last(table, column)) pad(out, space);
}

/* cells: one for each column; NULL: the titles. */
static void print_row(const cli_table *table, char *const *cells, FILE *out)
{
    bool first = true;

    for (size_t i = 0; i < table->count; i++) {
        if (table->hidden[i]) continue;
        print_cell(table, i, cells == NULL ? table->columns[i].title : cells[i], first, out);
        first = false;
    }
    (void)fputc('\n', out);
}

bool cli_table_print(cli_table *table, FILE *out)
{
    if (table->failed) return false;
    if (!table->titled) {
        fit(table, out);
        print_row(table, NULL, out);
    }
    table->titled = true;
    for (size_t i = 0; i + table->count <= table->used; i += table->count) print_row(table, table->cells + i, out);
    forget_rows(table);
    return true;
}

/* ---- name: value ------------------------------------------------------------------------------------------------ */

void cli_fields_init(cli_fields *fields)
{
    memset(fields, 0, sizeof(*fields));
}

void cli_fields_fini(cli_fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) rv_free(fields->value[i]);
    fields->count = 0;
}

void cli_fields_add(cli_fields *fields, const char *name, const char *value)
{
    rv_buf buf;

    if (value == NULL || fields->failed) return;
    rv_buf_init(&buf, CELL_MAX);
    cli_utf8_add_safe(&buf, value, strnlen(value, CELL_MAX / 8), true);
    fields->failed = buf.failed || fields->count == CLI_FIELDS;
    if (!fields->failed) {
        fields->name[fields->count] = name;
        fields->value[fields->count] = rv_strdup(rv_buf_text(&buf));
        fields->failed = fields->value[fields->count] == NULL;
        fields->count += fields->failed ? 0 : 1;
    }
    rv_buf_fini(&buf);
}

void cli_fields_addf(cli_fields *fields, const char *name, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli_fields_add(fields, name, text);
}

static void print_value(const char *value, size_t indent, FILE *out)
{
    for (;;) {
        size_t length = strcspn(value, "\n");

        (void)fwrite(value, 1, length, out);
        (void)fputc('\n', out);
        value += length;
        if (*value == '\0' || value[1] == '\0') return;
        value++;
        if (*value != '\n') pad(out, indent);
    }
}

bool cli_fields_print(const cli_fields *fields, FILE *out)
{
    size_t width = 0;

    if (fields->failed) return false;
    for (size_t i = 0; i < fields->count; i++)
        if (strlen(fields->name[i]) > width) width = strlen(fields->name[i]);
    for (size_t i = 0; i < fields->count; i++) {
        (void)fprintf(out, "%s:", fields->name[i]);
        if (fields->value[i][0] != '\0') pad(out, width - strlen(fields->name[i]) + 1);
        print_value(fields->value[i], width + GAP, out);
    }
    return true;
}
