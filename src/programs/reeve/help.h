/*
 * help.h - what --help and `reeve help` print, from the table of the verbs.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

/* All verbs by section, the global options, the exit statuses. */
void cli_print_help(void);

/* One verb: synopsis, options, notes, exit statuses. */
void cli_print_verb_help(const cli_verb *verb);

/* help_json.c: the same as one object on a line of standard output. verb NULL: all verbs. */
void cli_print_help_json(const cli_verb *verb);

/* The title of a section. */
const char *cli_section_title(cli_section section);

/* What the words of the help mean; whole lines. */
extern const char cli_help_terms[];

/* The exit statuses of a verb, as a sentence. */
#define CLI_EXITS_TEXT 512
void cli_verb_exits(const cli_verb *verb, char *ret, size_t size);

#endif
