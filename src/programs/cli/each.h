/*
 * each.h - verbs that look at several tasks or queues, one after the other, in the order of their arguments.
 */
#ifndef CLI_EACH_H
#define CLI_EACH_H

#include "handle.h"

typedef struct cli_each_item {
    const char *name;  /* as it was given */
    cli_handle handle; /* of a queue: id empty */
    bool follows;      /* an earlier item was printed */
} cli_each_item;

/* Looks at one item. Returns the exit status. */
typedef int (*cli_each_fn)(cli_context *cli, const cli_each_item *item, const void *options);

/*
 * Checks all arguments of the verb, opens cli->client, and calls `look` for each argument. queues: an argument without
 * '/' is a queue. An item that is refused does not stop the others; a Redis that is gone, a signal and an output that
 * fails do. Returns the exit status: CLI_DONE, or that of the last item that was not done.
 */
int cli_each(cli_context *cli, bool queues, cli_each_fn look, const void *options);

/* Reads one argument into *ret: a handle, or with `queues` the name of a queue. CLI_DONE, or CLI_USAGE after words. */
int cli_each_read(const cli_context *cli, bool queues, const char *argument, cli_handle *ret);

/* Prints an empty line between two items for people; nothing before the first item, and nothing with --json. */
void cli_each_separate(const cli_context *cli, const cli_each_item *item);

#endif
