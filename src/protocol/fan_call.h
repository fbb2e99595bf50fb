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

/* How many to tell at most in a call beside which others wait: each takes Redis some 0.1 ms, and it serves nobody else
 * during the call. */
#define RV_FAN_CALL_MAX 25

/* One command, whose reply is a number above 0 if there are tasks to tell, or messages to other queues. It is to be a
 * call of its own: behind a script in a pipeline it would come before it where Redis does not know the script. */
void rv_fan_call_ask(rv_conn *conn, const rv_prefix *prefix);

#endif
