/*
 * steer.h - what verbs do that take handles: the same to each of them.
 */
#ifndef CLI_STEER_H
#define CLI_STEER_H

#include "handle.h"

/* What is done to one task; options are those of cli_steer. *ret_running, false before: set by cancel when it runs and
 * was told to stop. */
typedef reeve_status (*cli_steer_fn)(reeve_client *client, const cli_handle *handle, const void *options,
                                     bool *ret_running);

/*
 * Does it to every handle among the arguments, "-" standing for those on standard input, and tells of each; done is the
 * word for it ("retried"). Returns the exit status.
 */
int cli_steer(cli_context *cli, const char *done, cli_steer_fn call, const void *options);

#define CLI_STEER_INPUT_NOTE \
    "A \"-\" stands for the handles on standard input, one a line, which are all read before anything is changed.\n"

#define CLI_STEER_CHILDREN_NOTE                                                                                   \
    "If other tasks depend on a task, the command refuses it, unless you name those tasks too, in any order, or " \
    "give\n"                                                                                                      \
    "--cascade.\n"

#endif
