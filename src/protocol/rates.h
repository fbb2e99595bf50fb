/*
 * rates.h - rates, as scripts tell them.
 */
#ifndef RV_PROTOCOL_RATES_H
#define RV_PROTOCOL_RATES_H

#include "redis/reply.h"
#include "reeve/client.h"

/* "count period burst"; "0" says that there is explicitly none (a count of -1). What is no rate limits nothing. */
reeve_rate rv_rates_read(const rv_reply *reply);

/* Since when a queue is paused; -1: it is not, or the version that paused it did not say ("1"). */
static inline int64_t rv_rates_paused_since(const rv_reply *reply)
{
    int64_t since = rv_reply_int(reply, -1);
    return since > 1 ? since : -1;
}

#endif
