/*
 * task_view.h - a task for people and for programs.
 */
#ifndef CLI_TASK_VIEW_H
#define CLI_TASK_VIEW_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "cli.h"
#include "table.h"

/* The state of a parent of the list info->parents, from what is told there or why; NULL: it is not known. */
const char *cli_parent_state(const cJSON *parent, const reeve_why *why);

/* task_json.c: everything about a task, as one JSON object on a line. */
void cli_task_json(const reeve_task_info *info, FILE *out);

/* The same with why it does not run; NULL: that is null. */
void cli_task_json_why(const reeve_task_info *info, const reeve_why *why, FILE *out);

/* Everything there is to tell, as "name: value" lines; why: NULL is left out. False: out of memory. */
bool cli_task_fields(const reeve_task_info *info, const reeve_why *why, FILE *out);

/* task_log.c: its log, a line each; as JSON an object a line. False: out of memory. */
bool cli_task_log(const reeve_task_info *info, FILE *out);
void cli_task_log_json(const reeve_task_info *info, FILE *out);

/* How it ended, or stands: state, result, what went wrong. False: out of memory. */
bool cli_task_outcome_fields(const reeve_task_info *info, FILE *out);

/* verb_list.c: adds a cell with its last error, or that it is stalled. */
void cli_task_error_cell(cli_table *table, const reeve_task_info *info);

/* The one time that matters in its state, or -1. */
int64_t cli_task_when(const reeve_task_info *info);

#endif
