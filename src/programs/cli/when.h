/*
 * when.h - times and durations in words for people.
 */
#ifndef CLI_WHEN_H
#define CLI_WHEN_H

#include <stdint.h>

#define CLI_WHEN_TEXT 80

/* "350 ms", "12 s", "5 m", "3 h", "2 d": one unit, cut down. Negative counts as 0. */
void cli_span_text(int64_t ms, char ret[CLI_WHEN_TEXT]);

/* Nothing cut, as durations are read: "350ms", "90s", "3h", "2d". */
void cli_duration_text(int64_t ms, char ret[CLI_WHEN_TEXT]);

/* "3 s ago", "in 5 m", "now" (within a second); "" for a time of -1. now_ms is on the wall clock. */
void cli_ago_text(int64_t time_ms, int64_t now_ms, char ret[CLI_WHEN_TEXT]);

/* RFC 3339 and how long ago: "2026-11-21T09:00:00.000Z (3 s ago)"; "" for a time of -1. */
void cli_time_text(int64_t time_ms, int64_t now_ms, char ret[CLI_WHEN_TEXT]);

#endif
