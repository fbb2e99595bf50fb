/*
 * verb_cron.h - the parts of `reeve cron`.
 */
#ifndef CLI_CRON_H
#define CLI_CRON_H

#include "base/cron.h"
#include "json.h"
#include "task_options.h"

typedef struct cli_cron_options {
    cli_task_options task; /* first: see task_options.h */
    reeve_cron_entry entry;
    rv_zone zone;
    bool zoned; /* --zone was given */
    int catch_up_max;
    bool no_overlap;
    bool overlap;
    bool replace;
    int64_t first_ms; /* --first; 0: not given */
    /* of backfill */
    int64_t from_ms, to_ms; /* to: -1: not given */
    int64_t limit;
    bool dry_run;
    const char *layers;
} cli_cron_options;

/* What follows "cron"; cli->rest[0] is the word itself. pointer: cli_cron_options. All return the exit status. */
int cli_cron_add(cli_context *cli, void *pointer);
int cli_cron_list(cli_context *cli, void *pointer);
int cli_cron_next(cli_context *cli, void *pointer);
int cli_cron_backfill(cli_context *cli, void *pointer);

/* Says what was done to an entry: a line, or an object with --json. */
void cli_cron_report(const cli_context *cli, const char *done, const char *queue, const char *name, bool changed);

/* Its members that all words have. */
void cli_cron_json_begin(const cli_context *cli, cli_json *json, const char *queue, const char *name, bool changed);

#endif
