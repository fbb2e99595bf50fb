/*
 * consumer.h - the heartbeats of a consumer whose program sends them. For the call that the gate has let through.
 */
#ifndef RV_CONSUMER_CONSUMER_H
#define RV_CONSUMER_CONSUMER_H

#include "consumer/consumer_state.h"

/* REEVE_OK at once where a thread sends them. */
reeve_status rv_consumer_heartbeat(reeve_consumer *consumer);
/* The same, if the last one is a third of a session ago. */
reeve_status rv_consumer_heartbeat_when_due(reeve_consumer *consumer);

#endif
