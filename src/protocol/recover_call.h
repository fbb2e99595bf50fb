/*
 * recover_call.h - calls of recover.lua: the leases that stand under a thread's name.
 */
#ifndef RV_PROTOCOL_RECOVER_CALL_H
#define RV_PROTOCOL_RECOVER_CALL_H

#include "protocol/keys.h"
#include "protocol/lease.h"
#include "redis/conn.h"

void rv_recover_call_build(rv_conn *conn, const rv_prefix *prefix, const char *session, const char *thread,
                           const char *cursor);

typedef struct rv_recover_reply {
    bool alive;
    const char *cursor; /* "0" at the end */
    const rv_reply *extras;
    const rv_reply *tasks;
    size_t next_task, next_extra; /* how far they have been read */
} rv_recover_reply;

bool rv_recover_call_read(rv_recover_reply *ret, const rv_reply *reply);
/* The next ones, at most max; 0: there are no more. They point into the reply. */
size_t rv_recover_call_leases(rv_recover_reply *reply, size_t queue, rv_lease *leases, size_t max);

#endif
