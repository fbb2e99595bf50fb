/*
 * top_rows.c - rows of `reeve top`: building, filtering, sorting.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "top_model.h"

void cli_top_rows_add(cli_top_rows *rows, const char *key)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity == 0 ? 64 : rows->capacity * 2;
        cli_top_row *list = rv_realloc_array(rows->list, capacity, sizeof(*list));

        if (list == NULL) rows->failed = true;
        if (list == NULL) return;
        rows->list = list;
        rows->capacity = capacity;
    }
    memset(&rows->list[rows->count], 0, sizeof(*rows->list));
    rv_copy_text(rows->list[rows->count++].key, CLI_TOP_KEY, key);
}

void cli_top_rows_cell(cli_top_rows *rows, size_t column, const char *text, double number)
{
    cli_top_row *row;

    if (rows->failed || rows->count == 0) return;
    row = &rows->list[rows->count - 1];
    rv_free(row->cells[column]);
    row->cells[column] = rv_strdup(text == NULL ? "" : text);
    row->number[column] = number;
    rows->failed = row->cells[column] == NULL;
}

static void free_row(cli_top_row *row)
{
    for (size_t i = 0; i < CLI_TOP_COLUMNS; i++) rv_free(row->cells[i]);
}

void cli_top_rows_clear(cli_top_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) free_row(&rows->list[i]);
    rv_free(rows->list);
    memset(rows, 0, sizeof(*rows));
}

void cli_top_rows_filter(cli_top_rows *rows, const char *text)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        bool has = false;

        for (size_t j = 0; j < CLI_TOP_COLUMNS && !has; j++)
            has = rows->list[i].cells[j] != NULL && strcasestr(rows->list[i].cells[j], text) != NULL;
        if (has)
            rows->list[kept++] = rows->list[i];
        else
            free_row(&rows->list[i]);
    }
    rows->count = kept;
}

struct order {
    size_t column;
    bool descending;
};

static int compare(const void *left, const void *right, void *pointer)
{
    const struct order *order = pointer;
    const cli_top_row *a = left, *b = right;
    double x = a->number[order->column], y = b->number[order->column];
    const char *s = a->cells[order->column], *t = b->cells[order->column];
    int result;

    if (!isnan(x) && !isnan(y))
        result = x < y ? -1 : x > y;
    else
        result = strcmp(s == NULL ? "" : s, t == NULL ? "" : t);
    if (result == 0) return strcmp(a->key, b->key);
    return order->descending ? -result : result;
}

void cli_top_rows_sort(cli_top_rows *rows, size_t column, bool descending)
{
    struct order order = {column, descending};

    if (rows->count > 1) qsort_r(rows->list, rows->count, sizeof(*rows->list), compare, &order);
}
