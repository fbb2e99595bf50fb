/*
 * web_redact.h - hides the values of members of JSON whose names a list of rules has, such as "password, card.*". The rest of the
 * text stays as it is, so that large numbers keep all their digits. No I/O.
 *
 * A rule is the name of a member, in any object at any depth. With dots it is the names of members, each in the one before:
 * "card.number" is number in card. "*" stands for any characters of a name. Upper and lower case are the same; arrays have no names.
 */
#ifndef WEB_REDACT_H
#define WEB_REDACT_H

#include <stdbool.h>

#include "base/buf.h"
#include "reeve/reeve.h"

#define WEB_REDACT_MAX 1000 /* characters of a list */

/* Whether a text is a list of rules, separated by commas. */
bool web_redact_is_list(const char *rules);

/* Appends a text to `ret` without what the rules hide. A text that is no JSON is hidden as a whole; an empty one stays. False: no
 * memory. */
bool web_redact(rv_buf *ret, const char *rules, const char *text, size_t length);

/* What the server shows of a payload or a result: all of it, what the rules leave, or nothing. What is shown may be in `room`,
 * which the caller has initialised and ends. No memory: nothing is shown. rules: NULL for none. */
reeve_bytes web_redact_shown(rv_buf *room, bool hides_all, const char *rules, reeve_bytes bytes);

#endif
