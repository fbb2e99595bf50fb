/*
 * heartbeat_call.h - calls of heartbeat.lua: a session is renewed, and the worker's counts are flushed.
 */
#ifndef RV_PROTOCOL_HEARTBEAT_CALL_H
#define RV_PROTOCOL_HEARTBEAT_CALL_H

#include "protocol/keys.h"
#include "protocol/tally.h"
#include "redis/conn.h"

void rv_heartbeat_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms);
/* The same with sums for the statistics. number: larger than that of any flush before it, or that of the one sent
 * again. */
void rv_heartbeat_call_build_flush(rv_conn *conn, const rv_prefix *prefix, const char *session, int64_t session_ms,
                                   const rv_tally *tally, uint64_t number);

typedef struct rv_heartbeat_reply {
    bool alive;    /* false: the session is gone */
    bool woken;    /* a wake-up waits for a thread of the queue */
    uint64_t held; /* tasks of the session */
} rv_heartbeat_reply;

/* False: no such reply. */
bool rv_heartbeat_call_read(rv_heartbeat_reply *ret, const rv_reply *reply);

#endif
