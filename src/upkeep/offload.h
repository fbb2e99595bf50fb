/*
 * offload.h - the keeper takes over items that wait behind a long task.
 */
#ifndef RV_UPKEEP_OFFLOAD_H
#define RV_UPKEEP_OFFLOAD_H

#include "running/worker_state.h"

/* Takes over the items that wait behind long tasks, and tasks whose time is up. Returns when to look again
 * (monotonic ms). The keeper's thread. */
int64_t rv_offload_relieve(reeve_worker *worker);

/* The earliest time limit of a running task (monotonic ms), or RV_FOREVER. */
int64_t rv_offload_next_limit(reeve_worker *worker);

/* Settles the items that were taken over, on the keeper's open connection. Items that could not be settled stay.
 * deadline 0: the default of each call. The keeper's thread. */
void rv_offload_deliver(reeve_worker *worker, int64_t deadline);

/* Gives a task back to the front of its queue whose lease has the name of a thread that does not know it. Without
 * effect for an item that was taken over before. The keeper's thread. */
void rv_offload_give_back(rv_thread *t, rv_queue_session *queue_session, const char *session, const rv_lease *lease);

/* Tells Redis that no outcome of this lease, which was ended by hand, is on its way: the session may lease the task
 * again (lib/revoke.lua). The keeper's thread. */
void rv_offload_let_go(rv_thread *t, rv_queue_session *queue_session, const char *session, const rv_lease *lease);

#endif
