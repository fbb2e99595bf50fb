/*
 * handle.h - "queue/id", the name of a task.
 */
#ifndef CLI_HANDLE_H
#define CLI_HANDLE_H

#include "cli.h"

typedef struct cli_handle {
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX];
} cli_handle;

/* False when text is no handle. */
bool cli_handle_parse(cli_handle *ret, const char *text);

/* The same for an argument: CLI_DONE, or CLI_USAGE after saying what a handle is. */
int cli_handle_argument(const cli_context *cli, cli_handle *ret, const char *text);

struct cli_json;

/* Its members of a JSON object: handle, queue and id. */
void cli_handle_json(struct cli_json *json, const char *queue, const char *id);

/* Prints the handle on a line of standard output; with --json an object with these members. */
void cli_handle_print(const cli_context *cli, const cli_handle *handle);

/* "queue/id" again. */
void cli_handle_text(const cli_handle *handle, char ret[REEVE_HANDLE_MAX + 1]);

#endif
