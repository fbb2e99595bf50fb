/*
 * limits_view.h - limits and holds for people and for programs.
 *
 * For programs: null is no limit; of a group of its own, null is "those of each group" and -1 (a rate's count: 0) none.
 */
#ifndef CLI_LIMITS_VIEW_H
#define CLI_LIMITS_VIEW_H

#include "cli.h"
#include "json.h"
#include "page.h"

#define CLI_LIMIT_TEXT 96

/* In memory of the caller's, which is returned. Anything but a positive number, or count, is "none". */
const char *cli_concurrency_text(int64_t concurrency, char ret[CLI_LIMIT_TEXT]);
const char *cli_limit_rate_text(const reeve_rate *rate, char ret[CLI_LIMIT_TEXT]);
/* "until 2026-11-21T09:00:00.000Z (in 3 s)", "none" when that has passed. */
const char *cli_pause_text(int64_t until_ms, char ret[CLI_LIMIT_TEXT]);

/* The members "concurrency" and "rate"; own: of one group. */
void cli_concurrency_json(cli_json *json, int64_t concurrency, bool own);
void cli_rate_json(cli_json *json, const reeve_rate *rate, bool own);

/* The object of a group, type or limit key. */
void cli_group_limits_json(cli_json *json, const reeve_group_limits *group);
/* The object of the limits of a queue, up to and with the opening of the array "groups". */
void cli_limits_json_begin(cli_json *json, FILE *out, const char *queue, const reeve_limits *limits);

/* Prints the limits of a queue and a page of its groups; returns the exit status. */
int cli_show_limits(cli_context *cli, const char *queue, const cli_page *page);

#endif
