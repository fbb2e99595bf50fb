/*
 * crashes_view.h - the last crashes of supervised workers, for people and for programs.
 */
#ifndef CLI_CRASHES_VIEW_H
#define CLI_CRASHES_VIEW_H

#include <stdio.h>

#include "page.h"

/* `reeve workers --crashes`, on the open client. Returns the exit status. */
/* The JSON of one crash, with a line feed. */
void cli_crash_json(const reeve_crash_info *crash, FILE *out);

int cli_crashes_view(cli_context *cli, const cli_page *page);

#endif
