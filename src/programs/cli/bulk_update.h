/*
 * bulk_update.h - what the verbs that change tasks do to many tasks of a queue at once.
 */
#ifndef CLI_BULK_UPDATE_H
#define CLI_BULK_UPDATE_H

#include "control.h"
#include "filter.h"

/* What the options of a verb become. It is the first member of the options struct of a verb. */
typedef struct cli_bulk_update_options {
    cli_filter filter;
    bool all;
    bool cascade; /* of single tasks: with those that wait for them */
    bool dry_run;
    bool completed;     /* of single tasks: retry completed ones, too */
    const char *reason; /* of single tasks: why they are cancelled; NULL: not given */
    int64_t limit;      /* 0: none */
} cli_bulk_update_options;

/* What a verb does. States are in the order in which they are gone through. */
typedef struct cli_bulk_update_plan {
    const char *done;          /* "retried" */
    const char *done_one;      /* the same before the handle of one task; NULL: done */
    cli_control_fn call;       /* what is done to one task */
    const reeve_action *steps; /* what reeve_bulk_update does to many; NULL: the call is made for each of them */
    const reeve_state *states; /* without --state */
    size_t state_count;
    const reeve_state *allowed; /* with --state */
    size_t allowed_count;
    size_t named_count; /* how many of the last of `allowed` --state all leaves out: they have to be named */
    bool asks;          /* running tasks are only asked to stop */
} cli_bulk_update_plan;

/* Rows of a verb's table whose options struct is a cli_bulk_update_options. */
#define CLI_BULK_UPDATE_AT(field) offsetof(cli_bulk_update_options, field)
#define CLI_BULK_UPDATE_ALL(help)                                        \
    {                                                                    \
        "all", NULL, help, CLI_FLAG, CLI_BULK_UPDATE_AT(all), 0, 0, NULL \
    }
#define CLI_BULK_UPDATE_CASCADE(help)                                            \
    {                                                                            \
        "cascade", NULL, help, CLI_FLAG, CLI_BULK_UPDATE_AT(cascade), 0, 0, NULL \
    }
/* clang-format off */
#define CLI_BULK_UPDATE_LIMITS \
    {"limit", "N", "change at most N tasks; 0: no limit (0)", CLI_COUNT, \
     CLI_BULK_UPDATE_AT(limit), 0, INT64_MAX, NULL}, \
    {"dry-run", NULL, "change nothing; print the number of selected tasks, and the first 10", CLI_FLAG, \
     CLI_BULK_UPDATE_AT(dry_run), 0, 0, NULL}
/* clang-format on */

/* For the help of a verb. did: what the command does to a task, "retried". */
/* clang-format off */
#define CLI_BULK_UPDATE_NOTE(did)                                                                                      \
    "\nWith a QUEUE and --all, the command selects all tasks of this queue in the states described above. With\n"      \
    "filters (--type and so on), it selects those of them that match all filters. It works in steps, so that\n"        \
    "Redis serves other clients in between. At the end it prints how many tasks it " did ", and how many it\n"         \
    "examined. It may leave out tasks whose state changes meanwhile.\n"
#define CLI_BULK_UPDATE_SYNOPSIS(verb) "\n       reeve " verb " QUEUE --all | FILTER... [--state STATE] [--limit N] [--dry-run]"
/* clang-format on */

/*
 * Does it to the tasks whose handles are the arguments (control.h), or, with options that select tasks, to those of the
 * queue that is the one argument: until it is through or the user interrupts; tells how far on a terminal, and the sums
 * at the end. Returns the exit status. options: the verb's options struct, which the call gets, too.
 */
int cli_bulk_update(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options);

/* The same for a verb that takes no handles. */
int cli_bulk_update_queue(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options);

#endif
