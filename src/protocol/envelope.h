/*
 * envelope.h - a task as it lies in Redis: a one-line JSON header, a newline, the raw payload.
 *
 *     {"at":1763712000123,"type":"thumb","priority":-1,"group":"acme","attempts":5,...}\n<payload>
 *
 * Fields, in this order:
 *
 *     info       1: info:<id> has more about the task; only then "cancel":1 may follow: it was cancelled while it ran
 *     at         when it was enqueued, by Redis's clock, in ms
 *     p          the segment in which it came, see lib/segment.lua
 *     deadline   a time, while it has one
 *     type
 *     due, delay when it was to run: a time, or ms from "at" on; "due":0 when it was put off since
 *
 * and then the options that were given: priority group weight cost attempts crashes timeout backoff heartbeat once unique
 * until hold on_dead of tags meta. task_policy.h describes those of attempts, lib/unique.lua those of the unique key.
 */
#ifndef RV_PROTOCOL_ENVELOPE_H
#define RV_PROTOCOL_ENVELOPE_H

#include <stdbool.h>

#include "protocol/size_limits.h"
#include "protocol/task_policy.h"

/* An envelope taken apart in place; all pointers lead into it. */
typedef struct rv_envelope {
    const char *header; /* one line, not ended by a zero byte */
    size_t header_length;
    const char *type;
    size_t type_length;
    int64_t at_ms;
    int64_t deadline_ms; /* it must begin before that; 0: any time */
    int64_t ready_ms;    /* when the task became ready, if the header contains it; else -1 */
    bool plain;          /* no options in the header, but for its time */
    bool flagged;        /* info:<id> exists */
    bool cancelled;
    reeve_bytes payload;
    const char *malformed; /* why nothing could be read of it (rv_envelope_take); NULL: it was */
} rv_envelope;

/* False when it is none. Does not allocate. */
bool rv_envelope_read(rv_envelope *ret, const char *text, size_t length);

/* The same for a leased task, which must be settled even if its envelope is malformed: then type and payload are
 * empty, and the header is the whole text. A zero byte follows the text. */
void rv_envelope_take(rv_envelope *ret, const char *text, size_t length);

/* All of its bytes, from ret->header on. */
size_t rv_envelope_length(const rv_envelope *envelope);

#endif
