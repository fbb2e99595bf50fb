/*
 * history.h - a task's history in words.
 */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "base/buf.h"

/* Appends a line for each entry; history is a JSON array as reeve_task_info has it. What is none adds nothing. */
void cli_history_add(rv_buf *buf, const char *history);

#endif
