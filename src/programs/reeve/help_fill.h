/*
 * help_fill.h - help text in lines that fit a page.
 */
#ifndef CLI_HELP_FILL_H
#define CLI_HELP_FILL_H

#include <stddef.h>

#define CLI_HELP_WIDTH 120 /* columns */

/*
 * Prints words and a line feed to standard output. `column` columns of the line are already used. Further lines begin
 * with `indent` blanks. Text in brackets stays on one line, as a synopsis needs it. A word that is longer than a line
 * is not cut.
 */
void cli_help_fill(const char *text, size_t length, size_t column, size_t indent);

/*
 * Prints the notes of a verb. Lines that follow each other are a paragraph, which is filled. A line that begins with a
 * blank is printed as it is; it belongs to a list, a table or an example.
 */
void cli_help_fill_notes(const char *text);

#endif
