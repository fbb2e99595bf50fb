/*
 * verb_batch.h - the parts of `reeve batch`.
 */
#ifndef CLI_VERB_BATCH_H
#define CLI_VERB_BATCH_H

#include "cli.h"

#define CLI_BATCH_CALLBACKS 3

typedef struct cli_batch_options {
    char *callbacks[CLI_BATCH_CALLBACKS]; /* --success, --complete, --death: JSON objects; NULL: not given */
    const char *queue, *type;             /* for lines that lack them */
    int64_t timeout_ms;                   /* negative: no limit */
    int64_t limit;                        /* list: 0: all */
    const char *reason;                   /* cancel; NULL: none */
} cli_batch_options;

/* What follows "batch"; cli->rest[0] is the word itself. pointer: cli_batch_options. All return the exit status. */
int cli_batch_open(cli_context *cli, void *pointer);
int cli_batch_show(cli_context *cli, void *pointer);
int cli_batch_wait(cli_context *cli, void *pointer);
int cli_batch_list(cli_context *cli, void *pointer);
int cli_batch_cancel(cli_context *cli, void *pointer);

/* batch_show.c: prints the counts of the members: lines, with a bar on a terminal, or an object with --json. */
void cli_batch_show_counts(const cli_context *cli, const char *handle, const reeve_batch_counts *counts);

/* The object; callback: of `list`, else NULL. */
void cli_batch_json(const char *handle, const char *callback, const reeve_batch_counts *counts);

#endif
