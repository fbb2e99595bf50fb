/*
 * why_view.h - reasons why a task or queue does not run, in words and as JSON.
 */
#ifndef CLI_WHY_VIEW_H
#define CLI_WHY_VIEW_H

#include "base/buf.h"
#include "json.h"
#include "reeve/reeve.h"

/* A sentence without its full stop, and no line feed. */
void cli_reason_words(rv_buf *buf, const reeve_why *why, const reeve_reason *reason);

/* All of them, a line each. */
void cli_why_words(rv_buf *buf, const reeve_why *why);

/* The member "KEY": a list of the shape `reason` (docs/json.md). NULL: null. */
void cli_reasons_json(cli_json *json, const char *key, const reeve_why *why);

#endif
