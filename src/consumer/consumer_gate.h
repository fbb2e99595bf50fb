/*
 * consumer_gate.h - lets one call of a consumer through at a time, in the order in which they come. A call that waits
 * for tasks in Redis is interrupted when another one comes.
 */
#ifndef RV_CONSUMER_CONSUMER_GATE_H
#define RV_CONSUMER_CONSUMER_GATE_H

#include "consumer/consumer_state.h"

void rv_consumer_gate_init(reeve_consumer *consumer);
void rv_consumer_gate_fini(reeve_consumer *consumer);

/* Waits until it is this call's turn, clears the consumer's error, and sets the time limit of the call: wait_ms or
 * command_ms from now, whichever is longer; wait_ms < 0: none. REEVE_ESTATE: the process was forked; nothing to leave.
 * */
reeve_status rv_consumer_gate_enter(reeve_consumer *consumer, int64_t wait_ms);
void rv_consumer_gate_leave(reeve_consumer *consumer);

/* Lets the calls through that came meanwhile; this one then goes on. */
void rv_consumer_gate_yield(reeve_consumer *consumer);

/* Around a wait in Redis. begin returns false when another call waits at the gate: there is to be no wait. */
bool rv_consumer_gate_begin_wait(reeve_consumer *consumer);
void rv_consumer_gate_end_wait(reeve_consumer *consumer);

/* The status and message of a call that gave up: Redis could not be reached in time. */
reeve_status rv_consumer_gate_gave_up(reeve_consumer *consumer);

#endif
