/*
 * history.h - a task's history, in words and for programs.
 */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "base/buf.h"
#include "json.h"

/* Appends a line for each entry; history is a JSON array as reeve_task_info has it. What is none adds nothing. */
void cli_history_add(rv_buf *buf, const char *history);

/* The member "history": an array of objects as docs/json.md has them; history NULL: null. */
void cli_history_json(cli_json *json, const char *history);

#endif
