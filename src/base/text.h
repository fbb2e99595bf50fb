/*
 * text.h - reading numbers, durations, times; cutting text on a character. No locale.
 */
#ifndef RV_TEXT_H
#define RV_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole decimal number, the entire text, within [min, max]. */
bool rv_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret);
/* The number from 0 to max that a text begins with, up to a blank; -1: there is none. */
int64_t rv_parse_before_blank(const char *text, size_t length, int64_t max);
/* Reads `count` whole numbers at the beginning of a text, which spaces separate. *ret_rest, when not NULL: the text
 * that follows. False: there are fewer, or one of them does not fit. */
bool rv_parse_numbers(const char *text, long long *ret, size_t count, const char **ret_rest);
/* "90", "1.5", "250ms", "90s", "5m", "2h", "1d": a bare number counts seconds. Milliseconds, from 0 to the longest that
 * anybody may give: 63 years. */
#define RV_DURATION_MAX_MS (INT64_C(2000000000) * 1000)
#define RV_DURATION_EXAMPLES "such as 90 (seconds), 1.5, 250ms, 5m, 2h or 1d, up to 2000000000 seconds"
bool rv_parse_duration(const char *text, int64_t *ret_ms);
/* "4096", "64K", "1M", "2G": a whole number, maybe of 1024s; >= 0. */
bool rv_parse_size(const char *text, int64_t *ret);
/* RFC 3339 ("2026-11-21T09:00:00Z", "...+01:00", fractions), or seconds since the epoch, maybe with a fraction; up
 * to the year 9999, so that milliseconds in their place are refused. */
bool rv_parse_time(const char *text, int64_t *ret_ms);
/* RFC 3339 in UTC with milliseconds. */
#define RV_TIME_TEXT 32
void rv_format_time(int64_t ms, char ret[RV_TIME_TEXT]);
/* The longest length <= max at which the text can be cut without splitting a UTF-8 character. */
size_t rv_utf8_cut(const char *text, size_t length, size_t max);
/* Replaces bytes that are no UTF-8 by '?', in place. */
void rv_utf8_clean(char *text, size_t length);
bool rv_utf8_is_valid(const char *text, size_t length);

/* A number as text, in memory of the caller's, which is returned: for logs. */
#define RV_NUMBER_TEXT 24
const char *rv_number_text(char ret[RV_NUMBER_TEXT], uint64_t number);

#endif
