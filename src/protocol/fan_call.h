/*
 * fan_call.h - calls of fan.lua: tasks are told how the tasks ended that they waited for.
 */
#ifndef RV_PROTOCOL_FAN_CALL_H
#define RV_PROTOCOL_FAN_CALL_H

#include "protocol/keys.h"
#include "redis/conn.h"

typedef struct rv_fan_reply {
    bool more;       /* call again */
    uint64_t outbox; /* messages to other queues (client/outbox.h) */
} rv_fan_reply;

/* max: how many are told at most, from 1 to 40. */
void rv_fan_call_build(rv_conn *conn, const rv_prefix *prefix, unsigned max);
bool rv_fan_call_read(rv_fan_reply *ret, const rv_reply *reply);

#endif
