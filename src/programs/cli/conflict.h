/*
 * conflict.h - the words for what a unique key does, on the command line and in bulk lines. Any thread.
 */
#ifndef CLI_CONFLICT_H
#define CLI_CONFLICT_H

#include <stdbool.h>

#include "reeve/client.h"

#define CLI_UNTIL_NAMES "started or ended"
#define CLI_CONFLICT_NAMES "reject, replace or debounce"

/* False: it is none of the names. */
bool cli_until_parse(const char *text, bool *ret_until_started);
#define CLI_EXISTS_NAMES "refuse, ignore or again"
bool cli_exists_parse(const char *text, reeve_if_exists *ret);
bool cli_conflict_parse(const char *text, reeve_conflict *ret);

#endif
