/*
 * help.h - what --help prints.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

/* All verbs by section, the global options, the exit statuses. */
void cli_print_help(void);

/* One verb: synopsis, options, notes, exit statuses. */
void cli_print_verb_help(const cli_verb *verb);

#endif
