/*
 * rate.h - a rate as people write it: COUNT/PERIOD[:BURST].
 *
 *     100/1s       100 tasks a second
 *     5/m          5 a minute
 *     100/1s:20    100 a second, at most 20 of them at once
 *
 * PERIOD is a duration as elsewhere ("1s", "1.5", "250ms") or a unit alone. Pure functions; any thread.
 */
#ifndef CLI_RATE_H
#define CLI_RATE_H

#include <stdbool.h>

#include "reeve/limits.h"

/* For words: what cli_rate_parse expects. */
#define CLI_RATE_EXPECTED                                                                 \
    "COUNT/PERIOD[:BURST], for instance 100/1s, 5/m or 100/1s:20 (counts to 1000000000, " \
    "a period from 1ms to 366d)"

#define CLI_RATE_TEXT 96

/* False: text is no rate, or out of range. A burst that is not given is 0. */
bool cli_rate_parse(const char *text, reeve_rate *ret);

/* The rate in words that cli_rate_parse reads again; a burst that is the count is left out. */
void cli_rate_text(const reeve_rate *rate, char ret[CLI_RATE_TEXT]);

#endif
