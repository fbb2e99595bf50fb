/*
 * help.h - what --help prints.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

/* All verbs, the global options, the exit statuses. verbs ends with NULL. */
void cli_print_help(const cli_verb *const *verbs);

/* One verb: synopsis, options, notes, exit statuses. */
void cli_print_verb_help(const cli_verb *verb);

#endif
