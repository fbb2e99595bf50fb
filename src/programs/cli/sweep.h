/*
 * sweep.h - what retry, cancel, delete and purge do to many tasks of a queue at once.
 */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli.h"

/* Which tasks; what the options of a verb become. */
typedef struct cli_sweep_options {
    bool all;
    bool has_state;
    reeve_state state;
    const char *kind;
    const char *type;
    const char *tag;
    int64_t older_ms;
    bool cascade; /* of single tasks: with those that wait for them */
    bool dry_run;
} cli_sweep_options;

/* What a verb does. States are in the order in which they are gone through. */
typedef struct cli_sweep_plan {
    reeve_action action;
    const char *done;          /* "retried" */
    const reeve_state *states; /* without --state */
    size_t state_count;
    const reeve_state *allowed; /* with --state */
    size_t allowed_count;
} cli_sweep_plan;

/* cli_option.read of --state. */
int cli_sweep_read_state(const cli_context *cli, const cli_option *option, void *options, char *value);

/* Rows of a verb's table whose options struct is a cli_sweep_options. */
#define CLI_SWEEP_AT(field) offsetof(cli_sweep_options, field)
#define CLI_SWEEP_ALL(help)                                        \
    {                                                              \
        "all", NULL, help, CLI_FLAG, CLI_SWEEP_AT(all), 0, 0, NULL \
    }
#define CLI_SWEEP_STATE(help)                                            \
    {                                                                    \
        "state", "STATE", help, CLI_OTHER, 0, 0, 0, cli_sweep_read_state \
    }
#define CLI_SWEEP_KIND                                                                                      \
    {                                                                                                       \
        "kind", "KIND", "only dead tasks with this kind of error", CLI_TEXT, CLI_SWEEP_AT(kind), 0, 0, NULL \
    }
#define CLI_SWEEP_CASCADE                                                                                            \
    {                                                                                                                \
        "cascade", NULL,                                                                                             \
            "with a HANDLE: also cancel (not delete) all tasks that depend on it, directly or indirectly", CLI_FLAG, \
            CLI_SWEEP_AT(cascade), 0, 0, NULL                                                                        \
    }
/* clang-format off */
#define CLI_SWEEP_OTHERS                                                                                               \
    {"type", "TYPE", "only tasks of this type", CLI_TEXT, CLI_SWEEP_AT(type), 0, 0, NULL}, \
    {"tag", "TAG", "only tasks with this tag", CLI_TEXT, CLI_SWEEP_AT(tag), 0, 0, NULL}, \
    {"older-than", "DURATION", "only tasks that ended (waiting tasks: were enqueued) at least this long ago", CLI_DURATION, \
     CLI_SWEEP_AT(older_ms), 1, 0, NULL},                                                                              \
    {"dry-run", NULL, "with a QUEUE: change nothing; print the number of tasks, and the first 10", CLI_FLAG, \
     CLI_SWEEP_AT(dry_run), 0, 0, NULL}
/* clang-format on */

/*
 * Does it to the tasks of the queue that is the one argument, until it is through or the user interrupts; tells how far
 * on a terminal, and the sums at the end. Returns the exit status.
 */
int cli_sweep(cli_context *cli, const cli_sweep_plan *plan, const cli_sweep_options *options);

#endif
