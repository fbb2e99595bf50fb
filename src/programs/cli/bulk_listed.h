/*
 * bulk_listed.h - a line of `reeve list --json` as input of `reeve enqueue --bulk`: what is listed is enqueued again.
 * No I/O; any thread.
 */
#ifndef CLI_BULK_LISTED_H
#define CLI_BULK_LISTED_H

#include "bulk_values.h"

/* Whether a line is such a line: it tells a state, which no task to enqueue has. */
bool cli_bulk_listed_is(const cli_value *object);

/* Fills reading->line. Members that no option of a task keeps are passed over. False: it is refused, and the fault is
 * filled. */
bool cli_bulk_listed_read(cli_bulk_reading *reading, const cli_value *object);

#endif
