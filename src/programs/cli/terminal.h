/*
 * terminal.h - what a stream that may be a terminal can show.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How many columns the terminal has; 0: the stream is none, or how many is not known. */
size_t cli_terminal_columns(FILE *out);

/* Whether colours may be used: on a terminal that has them (TERM), unless the environment has NO_COLOR. */
bool cli_terminal_colours(FILE *out);

#endif
