/*
 * bulk_update.h - what retry, cancel, delete and purge do to many tasks of a queue at once.
 */
#ifndef CLI_BULK_UPDATE_H
#define CLI_BULK_UPDATE_H

#include "cli.h"

/* Which tasks; what the options of a verb become. */
typedef struct cli_bulk_update_options {
    bool all;
    bool has_state;
    reeve_state state;
    const char *kind;
    const char *type;
    const char *tag;
    int64_t older_ms;
    bool cascade; /* of single tasks: with those that wait for them */
    bool dry_run;
} cli_bulk_update_options;

/* What a verb does. States are in the order in which they are gone through. */
typedef struct cli_bulk_update_plan {
    reeve_action action;
    const char *done;          /* "retried" */
    const reeve_state *states; /* without --state */
    size_t state_count;
    const reeve_state *allowed; /* with --state */
    size_t allowed_count;
} cli_bulk_update_plan;

/* cli_option.read of --state. */
int cli_bulk_update_read_state(const cli_context *cli, const cli_option *option, void *options, char *value);

/* Rows of a verb's table whose options struct is a cli_bulk_update_options. */
#define CLI_BULK_UPDATE_AT(field) offsetof(cli_bulk_update_options, field)
#define CLI_BULK_UPDATE_ALL(help)                                        \
    {                                                                    \
        "all", NULL, help, CLI_FLAG, CLI_BULK_UPDATE_AT(all), 0, 0, NULL \
    }
#define CLI_BULK_UPDATE_STATE(help)                                            \
    {                                                                          \
        "state", "STATE", help, CLI_OTHER, 0, 0, 0, cli_bulk_update_read_state \
    }
#define CLI_BULK_UPDATE_KIND                                                                                      \
    {                                                                                                             \
        "kind", "KIND", "only dead tasks with this kind of error", CLI_TEXT, CLI_BULK_UPDATE_AT(kind), 0, 0, NULL \
    }
#define CLI_BULK_UPDATE_CASCADE                                                                                      \
    {                                                                                                                \
        "cascade", NULL,                                                                                             \
            "with a HANDLE: also cancel, not delete, all tasks that depend on it, directly or indirectly", CLI_FLAG, \
            CLI_BULK_UPDATE_AT(cascade), 0, 0, NULL                                                                  \
    }
#define CLI_BULK_UPDATE_ENDED "only tasks that ended at least this long ago"
#define CLI_BULK_UPDATE_WAITING "only tasks that were enqueued at least this long ago"
#define CLI_BULK_UPDATE_ANY \
    "only tasks that ended at least this long ago; waiting tasks: that were enqueued at least this long ago"
/* clang-format off */
/* older: what the age of a task is in the states of the verb. */
#define CLI_BULK_UPDATE_OTHERS(older)                                                            \
    {"type", "TYPE", "only tasks of this type", CLI_TEXT, CLI_BULK_UPDATE_AT(type), 0, 0, NULL}, \
    {"tag", "TAG", "only tasks with this tag", CLI_TEXT, CLI_BULK_UPDATE_AT(tag), 0, 0, NULL}, \
    {"older-than", "DURATION", older, CLI_DURATION, CLI_BULK_UPDATE_AT(older_ms), 1, 0, NULL}, \
    {"dry-run", NULL, "with a QUEUE: change nothing; print the number of tasks, and the first 10", CLI_FLAG, \
     CLI_BULK_UPDATE_AT(dry_run), 0, 0, NULL}
/* clang-format on */

/*
 * Does it to the tasks of the queue that is the one argument, until it is through or the user interrupts; tells how far
 * on a terminal, and the sums at the end. Returns the exit status.
 */
int cli_bulk_update(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options);

#endif
