/*
 * begin_session_call.h - calls of begin_session.lua: a worker's session begins in a queue.
 */
#ifndef RV_PROTOCOL_BEGIN_SESSION_CALL_H
#define RV_PROTOCOL_BEGIN_SESSION_CALL_H

#include "protocol/keys.h"
#include "redis/conn.h"

/* about: the session's description, an object of JSON. session_ms: how long it lives without a heartbeat. */
void rv_begin_session_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms,
                                 const char *about);

typedef struct rv_begin_session_reply {
    bool alive;             /* false: the session has ended, and does not begin again */
    const rv_reply *policy; /* the queue's (task_policy.h), a text; empty: it has none. NULL when not alive */
    int64_t result_max;     /* in bytes; 0: no limit */
    int64_t payload_max;    /* the same */
} rv_begin_session_reply;

/* False: no such reply. */
bool rv_begin_session_call_read(rv_begin_session_reply *ret, const rv_reply *reply);

#endif
