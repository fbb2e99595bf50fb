/*
 * offload.h - the keeper takes over what a long task holds up.
 */
#ifndef RV_UPKEEP_OFFLOAD_H
#define RV_UPKEEP_OFFLOAD_H

#include "running/worker_state.h"

/* Takes over what waits behind long tasks, and tasks whose time is up; returns when to look again (monotonic ms). The
 * keeper's thread. */
int64_t rv_offload_relieve(reeve_worker *worker);

/* When the time of a task that runs now is up first (monotonic ms), or RV_FOREVER. */
int64_t rv_offload_next_limit(reeve_worker *worker);

/* Settles what was taken over, on the keeper's open connection; what could not be delivered stays. deadline: 0: the
 * usual one for each call. The keeper's thread.
 */
void rv_offload_deliver(reeve_worker *worker, int64_t deadline);

/* A task that stands in Redis under a thread's name, and is not the thread's, goes back to the front of its queue; one
 * that was taken over already is left. The keeper's thread. */
void rv_offload_give_back(rv_thread *t, rv_queue_session *queue_session, const char *session, const char *id,
                          int64_t since_ms);

#endif
