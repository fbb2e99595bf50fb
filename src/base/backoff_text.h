/*
 * backoff_text.h - a backoff as people write it:
 *
 *     exponential[:BASE[:CAP]]    "exponential", "exponential:500ms:10m"
 *     fixed:DELAY                 "fixed:30s"
 *     list:DELAY,DELAY,...        "list:1s,10s,1m"; 1 to REEVE_BACKOFF_LIST_MAX of them
 *
 * each, if wanted, followed by its jitter, a share from 0 to 1: "list:1s,10s,1m~0.1". Delays are durations as in
 * text.h, above zero. Pure functions; any thread.
 */
#ifndef RV_BACKOFF_TEXT_H
#define RV_BACKOFF_TEXT_H

#include "base/buf.h"
#include "base/error.h"
#include "reeve/task.h"

/* Fills *ret. REEVE_EINVAL, with a message: the text is not a backoff. */
reeve_status rv_backoff_text_parse(const char *text, reeve_backoff *ret, rv_error *why);

/* Appends it in words that rv_backoff_text_parse reads again; what was not given is left out where that can be. */
void rv_backoff_text_format(rv_buf *out, const reeve_backoff *backoff);

#endif
