/*
 * utf8.h - text on its way to people: what is a character, how wide it is, and how to make it harmless.
 *
 * Harmless means: no byte reaches a terminal that would move the cursor, change a mode or reorder text. Control
 * characters, bidirectional overrides and bytes that are no UTF-8 become visible escapes (\n, \x1b, \u202e).
 * Widths are those of the C library (wcwidth) in the locale C.UTF-8, whatever the locale of the program is; without that
 * locale each character counts as one column. No I/O; any thread.
 */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Reads one character of length > 0 bytes; returns how many it takes (1 to 4), or 0 when the bytes are no UTF-8. */
size_t cli_utf8_next(const char *text, size_t length, uint32_t *ret);

bool cli_utf8_valid(const char *text, size_t length);

/* A character that must not reach a terminal as it is. */
bool cli_utf8_unsafe(uint32_t character);

/* Valid UTF-8 whose only control characters are line feeds and tabs. */
bool cli_utf8_is_text(const char *text, size_t length);

/* How many columns of a terminal text takes, counting wide characters twice and combining ones not at all. */
size_t cli_utf8_columns(const char *text, size_t length);

/* Appends text made harmless; with keep_lines, line feeds and tabs pass. */
void cli_utf8_add_safe(rv_buf *buf, const char *text, size_t length, bool keep_lines);

/* Cuts buf to so many columns, with an ellipsis as the last one when anything was cut off. */
void cli_utf8_cut(rv_buf *buf, size_t columns);

#endif
