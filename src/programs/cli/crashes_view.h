/*
 * crashes_view.h - the last crashes of supervised workers, for people and for programs.
 */
#ifndef CLI_CRASHES_VIEW_H
#define CLI_CRASHES_VIEW_H

#include "page.h"

/* `reeve workers --crashes`, on the open client. Returns the exit status. */
int cli_crashes_view(cli_context *cli, const cli_page *page);

#endif
