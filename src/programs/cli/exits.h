/*
 * exits.h - what the exit statuses of `reeve` mean: one table for --help, the manual pages and `reeve help --json`.
 */
#ifndef CLI_EXITS_H
#define CLI_EXITS_H

typedef struct cli_exit {
    int status;
    const char *name; /* one word, for programs */
    const char *meaning;
} cli_exit;

/* In the order of the numbers; a NULL name ends the table. */
extern const cli_exit cli_exits[];

#endif
