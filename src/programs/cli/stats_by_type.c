/*
 * stats_by_type.c - `reeve stats --types`: what was done of each type of task, in a table and in JSON.
 */
#include <inttypes.h>

#include "verb_stats.h"

const cli_column cli_stats_types_columns[CLI_STATS_TYPES_COLUMNS] = {
    {"QUEUE", false, 0, 0}, {"TYPE", false, 40, 0}, {"DONE", true, 0, 0}, {"FAILED", true, 0, 2},
    {"DEAD", true, 0, 1},   {"WAIT", true, 0, 0},   {"MIN", true, 0, 4},  {"MAX", true, 0, 3},
    {"RUN", true, 0, 0},    {"MIN", true, 0, 4},    {"MAX", true, 0, 3},
};

static void add_range(cli_table *table, const reeve_range *range)
{
    const double values[] = {range->mean_ms, range->min_ms, range->max_ms};
    char text[CLI_STATS_TEXT];

    for (size_t i = 0; i < 3; i++) {
        cli_length_text(range->count > 0 ? values[i] : -1, text);
        cli_table_cell(table, text);
    }
}

void cli_stats_types_add(cli_table *table, const char *queue, const reeve_day *day)
{
    for (size_t i = 0; i < day->type_count; i++) {
        const reeve_type_stats *type = &day->types[i];
        cli_table_cell(table, queue);
        cli_table_cell(table, type->type[0] == '\0' ? "(others)" : type->type);
        cli_table_cellf(table, "%" PRIu64, type->completed);
        cli_table_cellf(table, "%" PRIu64, type->failed);
        cli_table_cellf(table, "%" PRIu64, type->dead);
        add_range(table, &type->wait);
        add_range(table, &type->run);
    }
}

static void print_range(cli_json *json, const char *key, const reeve_range *range)
{
    cli_json_open(json, key);
    cli_json_uint(json, "count", range->count);
    cli_json_real(json, "mean_ms", range->mean_ms);
    cli_json_real(json, "min_ms", range->min_ms);
    cli_json_real(json, "max_ms", range->max_ms);
    cli_json_close(json);
}

void cli_stats_types_json(cli_json *json, const reeve_day *day)
{
    cli_json_open_array(json, "types");
    for (size_t i = 0; i < day->type_count; i++) {
        const reeve_type_stats *type = &day->types[i];
        cli_json_open(json, NULL);
        cli_json_text(json, "type", type->type[0] == '\0' ? NULL : type->type);
        cli_json_uint(json, "completed", type->completed);
        cli_json_uint(json, "failed", type->failed);
        cli_json_uint(json, "dead", type->dead);
        print_range(json, "wait", &type->wait);
        print_range(json, "run", &type->run);
        cli_json_close(json);
    }
    cli_json_close_array(json);
}
