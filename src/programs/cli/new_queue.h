/*
 * new_queue.h - a queue that has had neither a task nor a worker yet, and whose name may be misspelt.
 */
#ifndef CLI_NEW_QUEUE_H
#define CLI_NEW_QUEUE_H

#include "cli.h"

/* Whether it has no settings either; false also where that cannot be read. */
bool cli_is_new_queue(const cli_context *cli, const char *queue);

/* For a verb that changes a queue: warns people on standard error where there is no such queue yet. The change is made,
 * and does not enter the name. */
void cli_note_new_queue(const cli_context *cli, const char *queue);

/* For a verb that reads a queue: warns people where the queue has no settings either, and names the most similar one.
 * What the verb prints is that of an empty queue. */
void cli_note_no_queue(const cli_context *cli, const char *queue);

/* cli_open_queue, and cli_note_no_queue. */
int cli_open_known_queue(cli_context *cli, const char *queue);

#endif
