/*
 * rates.h - rates, as scripts return them.
 */
#ifndef RV_PROTOCOL_RATES_H
#define RV_PROTOCOL_RATES_H

#include "redis/reply.h"
#include "reeve/client.h"

/* Reads "count period burst"; "0" is an explicit "no limit" (a count of -1). A malformed text is no limit. */
reeve_rate rv_rates_read(const rv_reply *reply);

/* Since when a queue is paused; -1: it is not, or the version that paused it did not say ("1"). */
static inline int64_t rv_rates_paused_since(const rv_reply *reply)
{
    int64_t since = rv_reply_int(reply, -1);
    return since > 1 ? since : -1;
}

#endif
