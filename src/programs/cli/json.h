/*
 * json.h - writing JSON to a stream, a member at a time.
 *
 *     cli_json json;
 *     cli_json_begin(&json, stdout);
 *     cli_json_text(&json, "queue", queue);
 *     cli_json_end(&json);                     {"queue":"emails"} and a line feed
 *
 * Text that is no UTF-8 gets U+FFFD for the bytes that are none, so that what is written is always JSON. Control
 * characters and what would reorder text on a terminal are written as \u escapes. Write errors stay in the stream.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "reeve/status.h"

typedef struct cli_json {
    FILE *out;
    bool comma; /* the next member needs one before it */
} cli_json;

void cli_json_begin(cli_json *json, FILE *out); /* { */
void cli_json_end(cli_json *json);              /* } and a line feed */

/* text NULL: null; key NULL: an element of an array. */
void cli_json_text(cli_json *json, const char *key, const char *text);
void cli_json_int(cli_json *json, const char *key, int64_t number);
void cli_json_uint(cli_json *json, const char *key, uint64_t number);
/* With six digits that count at least; what is no number: null. */
void cli_json_real(cli_json *json, const char *key, double number);
/* A number alone, with at most so many digits, a point in every locale, and null for what is none. */
void cli_json_number(FILE *out, double number, unsigned digits);
void cli_json_bool(cli_json *json, const char *key, bool value);
void cli_json_null(cli_json *json, const char *key);

/* A point in time or another number that -1 stands for the lack of: null then. */
void cli_json_maybe(cli_json *json, const char *key, int64_t number);

/* JSON text as it is, made one line; what is no JSON is written as a string. NULL: null. */
void cli_json_raw(cli_json *json, const char *key, const char *text);

/* "KEY": a string when the bytes are UTF-8, else "KEY_base64". Data NULL and length 0: KEY is null when or_null. */
void cli_json_bytes(cli_json *json, const char *key, reeve_bytes bytes, bool or_null);

/* An object as a member's value, or (key NULL) as an element of an array, and its end. */
void cli_json_open(cli_json *json, const char *key);
void cli_json_close(cli_json *json);

/* An array as a member's value, and its end. */
void cli_json_open_array(cli_json *json, const char *key);
void cli_json_close_array(cli_json *json);

#endif
