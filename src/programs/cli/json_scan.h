/*
 * json_scan.h - reading JSON without copying it: checks a text by RFC 8259 and hands out slices of the source, so that
 * a payload reaches Redis as its producer wrote it (a number too big for a double keeps all its digits).
 *
 * The text must be UTF-8, without a byte order mark, nested at most CLI_SCAN_DEPTH deep. No I/O, no memory; any thread.
 */
#ifndef CLI_JSON_SCAN_H
#define CLI_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#define CLI_SCAN_DEPTH 500

typedef enum cli_value_kind {
    CLI_VALUE_OBJECT,
    CLI_VALUE_ARRAY,
    CLI_VALUE_STRING,
    CLI_VALUE_NUMBER,
    CLI_VALUE_TRUE,
    CLI_VALUE_FALSE,
    CLI_VALUE_NULL
} cli_value_kind;

/* A checked value: its source, a string's with the quotes. */
typedef struct cli_value {
    cli_value_kind kind;
    const char *text;
    size_t length;
} cli_value;

typedef struct cli_scan {
    const char *start;
    const char *at;
    const char *end;
    unsigned depth;
    const char *expected; /* after a failure: what should have stood at `at` */
} cli_scan;

void cli_scan_init(cli_scan *scan, const char *text, size_t length);

/* Checks the next value whole, white space before it skipped. False: no value; scan->at is where it went wrong. */
bool cli_scan_value(cli_scan *scan, cli_value *ret);

/* True when only white space is left. */
bool cli_scan_end(cli_scan *scan);

/*
 * Walks the members of an object or the elements of an array that cli_scan_value checked:
 *     cli_walk_init(&walk, &object);
 *     while (cli_walk_next(&walk, &key, &value)) ...
 * key (a string) is not touched in an array and may be NULL there.
 */
typedef struct cli_walk {
    cli_scan scan;
    bool object;
} cli_walk;

void cli_walk_init(cli_walk *walk, const cli_value *container);
bool cli_walk_next(cli_walk *walk, cli_value *ret_key, cli_value *ret_value);

/*
 * Writes a string's characters, at most length - 2 bytes, without a zero byte after them. False: an escape stands for
 * half a surrogate pair, which no text can hold (inside a payload it may stand).
 */
bool cli_scan_string(const cli_value *string, char *target, size_t *ret_length);

/* Writes the value without the white space between its parts, at most length bytes; returns how many. */
size_t cli_scan_compact(const cli_value *value, char *target);

#endif
