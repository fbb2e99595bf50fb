/*
 * maintain_call.h - calls of maintain.lua: a queue's maintenance that is due.
 */
#ifndef RV_PROTOCOL_MAINTAIN_CALL_H
#define RV_PROTOCOL_MAINTAIN_CALL_H

#include "protocol/definition.h"
#include "protocol/keys.h"
#include "redis/conn.h"

typedef struct rv_maintain_reply {
    bool more;          /* come again at once */
    int64_t next_in_ms; /* come again after that long; -1: nothing is due */
    uint64_t promoted;
    uint64_t trimmed;
    bool dead; /* a session is dead: reap_call.h */
    bool ends; /* tasks are to be told how their parents ended: fan_call.h */
    const rv_reply
        *policy;    /* the queue's policy (task_policy.h) as text, empty when it has none; NULL: not in the reply */
    int64_t now_ms; /* on Redis's clock */
    const rv_reply *due; /* for rv_maintain_call_due; NULL: not in the reply */
    int64_t result_max;  /* the queue's, or 0 */
    int64_t payload_max; /* the same */
    uint64_t outbox;     /* messages to other queues (client_depend.h) */
    /* for how long sessions are not reaped that expired while no worker maintained the queue; 0: none are */
    int64_t spared_ms;
    bool unread; /* there are messages that were set aside as not understood */
    bool unsent; /* notices of the queue could not be sent lately: it is to be looked at often */
} rv_maintain_reply;

/* A recurring entry that is due (fire.lua). */
typedef struct rv_maintain_due {
    const char *name;
    int64_t due_ms;
    const char *line; /* its definition's first line (protocol/cron_definition.h) */
    size_t length;
} rv_maintain_due;

#define RV_MAINTAIN_DUE_MAX RV_CRON_DUE_MAX /* if the reply has so many entries, more may be due */

/* session_ms: how long a session of the caller's lives; 0: it has none. */
void rv_maintain_call_build(rv_conn *conn, const rv_prefix *prefix, unsigned max, int64_t session_ms);
bool rv_maintain_call_read(rv_maintain_reply *ret, const rv_reply *reply);
/* The entry at an index, from 0; false: there are no more. */
bool rv_maintain_call_due(const rv_maintain_reply *maintained, size_t index, rv_maintain_due *ret);

#endif
