/*
 * new_queue.h - a verb that changes a queue also changes one that has had no task yet, and the name may be misspelt.
 */
#ifndef CLI_NEW_QUEUE_H
#define CLI_NEW_QUEUE_H

#include "cli.h"

/* Warns people on standard error where there is no such queue yet. The change does not enter the name. */
void cli_note_new_queue(const cli_context *cli, const char *queue);

#endif
