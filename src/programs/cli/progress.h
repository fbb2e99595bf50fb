/*
 * progress.h - a line on the terminal that tells how far a verb is: on standard error, over and over in its place, and
 * only when that is a terminal and no program reads (--json).
 *
 *     if (cli_progress_begin(&progress, done, total)) {    [##########----------]  50 %
 *         fprintf(stderr, "retried %s", ...);
 *         cli_progress_end(&progress);
 *     }
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdio.h>

#include "cli.h"

typedef struct cli_progress {
    bool shows;
    bool stands;      /* there is a line to clear */
    int64_t shown_ms; /* when last */
} cli_progress;

void cli_progress_init(cli_progress *progress, const cli_context *cli);

/* True when it is time to show it again: a bar stands there, unless total is 0, and words may follow it. */
bool cli_progress_begin(cli_progress *progress, uint64_t done, uint64_t total);
void cli_progress_end(cli_progress *progress);

/* Takes it away: before other words, and at the end. */
void cli_progress_clear(cli_progress *progress);

/* Only the bar, as above. */
void cli_progress_bar(FILE *out, uint64_t done, uint64_t total);

#define CLI_COUNT_TEXT 32

/* "1,234,567"; returns ret. */
const char *cli_count_text(uint64_t number, char ret[CLI_COUNT_TEXT]);

#endif
