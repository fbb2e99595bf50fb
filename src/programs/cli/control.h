/*
 * control.h - what verbs do that take handles: the same to each of them.
 */
#ifndef CLI_CONTROL_H
#define CLI_CONTROL_H

#include "handle.h"

/* What is done to one task; options are those of cli_control. *ret_running, false before: set by cancel when it runs
 * and was told to stop. */
typedef reeve_status (*cli_control_fn)(reeve_client *client, const cli_handle *handle, const void *options,
                                       bool *ret_running);

/*
 * Does it to every handle among the arguments, "-" standing for those on standard input, and tells of each; done is the
 * word for it ("retried"). Returns the exit status.
 */
int cli_control(cli_context *cli, const char *done, cli_control_fn call, const void *options);

#define CLI_CONTROL_INPUT_NOTE                                                                                         \
    "With \"-\" the command reads the handles from standard input, one on each line. It reads all of them before it\n" \
    "changes anything.\n"

#define CLI_CONTROL_CHILDREN_NOTE                                                                                 \
    "The command refuses a task on which other tasks depend, unless the handles of all these tasks are given as " \
    "well, in\n"                                                                                                  \
    "any order, or --cascade is given.\n"

#endif
