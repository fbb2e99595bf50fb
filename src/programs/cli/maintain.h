/*
 * maintain.h - a queue that a command is about is maintained when no worker does (reeve/maintain.h), and that is said.
 */
#ifndef CLI_MAINTAIN_H
#define CLI_MAINTAIN_H

#include "cli.h"

/* Once for each queue in a process, of at most 64 queues. cli->client is open. A failure is of no matter to the command
 * and is not said: a user who may only read can still look. True when something was done. */
bool cli_maintain(const cli_context *cli, const char *queue);

/* cli_open, and then this. CLI_DONE, or the exit status of a failure that was said. */
int cli_open_queue(cli_context *cli, const char *queue);

#endif
