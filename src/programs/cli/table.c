#include "table.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "utf8.h"

#define CELL_MAX (256 * 1024)
#define GAP 2

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
    if (width > table->width[column]) table->width[column] = width;
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

static void pad(FILE *out, size_t columns)
{
    while (columns-- > 0) (void)fputc(' ', out);
}

static void print_cell(const cli_table *table, size_t column, const char *text, FILE *out)
{
    size_t space = table->width[column] - cli_utf8_columns(text, strlen(text));
    bool last = column + 1 == table->count;

    if (table->columns[column].right) pad(out, space);
    (void)fputs(text, out);
    if (!table->columns[column].right && !last) pad(out, space);
    if (last)
        (void)fputc('\n', out);
    else
        pad(out, GAP);
}

bool cli_table_print(cli_table *table, FILE *out)
{
    if (table->failed) return false;
    if (!table->titled)
        for (size_t i = 0; i < table->count; i++) print_cell(table, i, table->columns[i].title, out);
    table->titled = true;
    for (size_t i = 0; i < table->used; i++) print_cell(table, i % table->count, table->cells[i], out);
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
