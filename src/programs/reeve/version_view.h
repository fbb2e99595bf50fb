/*
 * version_view.h - what --version and `reeve version` print.
 */
#ifndef CLI_VERSION_VIEW_H
#define CLI_VERSION_VIEW_H

#include "cli/cli.h"

/* On standard output; with --json an object. */
void cli_print_version(const cli_context *cli);

#endif
