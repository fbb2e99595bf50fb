/*
 * reap_call.h - calls of reap.lua: the tasks of a dead session go back to the front of the queue.
 */
#ifndef RV_PROTOCOL_REAP_CALL_H
#define RV_PROTOCOL_REAP_CALL_H

#include "protocol/keys.h"
#include "redis/conn.h"

typedef struct rv_reap_reply {
    const char *session; /* the dead session, or "" where none is; lives as long as the reply */
    uint64_t recovered;  /* how many of its leases were dissolved */
    bool more;           /* call again */
} rv_reap_reply;

/* max: how many leases at most. session_ms: how long a session of the caller's lives; 0: it has none. */
void rv_reap_call_build(rv_conn *conn, const rv_prefix *prefix, unsigned max, int64_t session_ms);
bool rv_reap_call_read(rv_reap_reply *ret, const rv_reply *reply);

#endif
