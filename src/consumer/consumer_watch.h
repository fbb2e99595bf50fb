/*
 * consumer_watch.h - a consumer's descriptor to poll, and the thread behind it.
 *
 * While the thread is armed it waits for wake-ups of the consumer's queues, on a connection of its own. It takes a
 * wake-up, as a worker's thread does (turn.lua), and makes the descriptor readable; the next lease passes the wake-up
 * on. If the program does not lease within a second, the thread passes it on, so that another worker looks.
 */
#ifndef RV_CONSUMER_CONSUMER_WATCH_H
#define RV_CONSUMER_CONSUMER_WATCH_H

#include "consumer/consumer_state.h"

/* Before a lease, and after it; `again`: the program wants to know of the next task. Nothing where nobody watches. For
 * the call that the gate has let through. */
void rv_consumer_watch_begin_lease(reeve_consumer *consumer);
void rv_consumer_watch_end_lease(reeve_consumer *consumer, bool again);

/* Ends the thread. The worker still runs. */
void rv_consumer_watch_end(reeve_consumer *consumer);

static inline bool rv_consumer_watch_is_on(const reeve_consumer *consumer)
{
    return consumer->watch.started;
}

#endif
