/*
 * bulk_update.h - what retry, cancel, delete and purge do to many tasks of a queue at once.
 */
#ifndef CLI_BULK_UPDATE_H
#define CLI_BULK_UPDATE_H

#include "filter.h"

/* What the options of a verb become. */
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
    reeve_action action;
    const char *done;          /* "retried" */
    const reeve_state *states; /* without --state */
    size_t state_count;
    const reeve_state *allowed; /* with --state */
    size_t allowed_count;
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
#define CLI_BULK_UPDATE_OTHERS(older) \
    CLI_FILTER_ROWS(older), \
    {"limit", "N", "change at most N tasks; 0: no limit (0)", CLI_COUNT, \
     CLI_BULK_UPDATE_AT(limit), 0, INT64_MAX, NULL}, \
    {"dry-run", NULL, "change nothing; print the number of selected tasks, and the first 10", CLI_FLAG, \
     CLI_BULK_UPDATE_AT(dry_run), 0, 0, NULL}
/* clang-format on */

/*
 * Does it to the tasks of the queue that is the one argument, until it is through or the user interrupts; tells how far
 * on a terminal, and the sums at the end. Returns the exit status.
 */
int cli_bulk_update(cli_context *cli, const cli_bulk_update_plan *plan, const cli_bulk_update_options *options);

#endif
