/*
 * outage.h - why a call of a client has failed, as far as trying others is concerned.
 */
#ifndef HOST_OUTAGE_H
#define HOST_OUTAGE_H

#include <stdbool.h>

#include "reeve/status.h"

/* Redis does not answer: other calls would fail, too. */
static inline bool host_is_outage(reeve_status status)
{
    return status == REEVE_ECONNECT || status == REEVE_ELOST || status == REEVE_ETIMEOUT;
}

#endif
