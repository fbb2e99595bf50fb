/*
 * lease_exec.h - a command that is run for a leased task: the payload is its standard input, its standard output the
 * result.
 */
#ifndef CLI_LEASE_EXEC_H
#define CLI_LEASE_EXEC_H

#include "cli.h"

/*
 * Runs the command by /bin/sh and settles the task: exit status 0 completes it, anything else fails the attempt with
 * kind "exit" and the end of standard error as its message. A signal to this process (stop.h) or a lost lease ends the
 * command by SIGTERM; the task then goes back. *ret_done: the task was completed. CLI_DONE, or the exit status of a
 * failure that was said.
 */
int cli_lease_exec(cli_context *cli, reeve_consumer *consumer, reeve_task *task, const char *command, bool *ret_done);

#endif
