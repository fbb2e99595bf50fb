/*
 * wakeup.h - what a worker's threads tell one another. Any thread; none of these blocks.
 */
#ifndef RV_RUNNING_WAKEUP_H
#define RV_RUNNING_WAKEUP_H

#include "running/worker_state.h"

/* The keeper is needed at a time (monotonic ms): rings it if it would sleep longer. */
void rv_wakeup_keeper_at(reeve_worker *worker, int64_t at_ms);

/* The server said that it is not the one to talk to (RV_REFUSAL_NODE): the control channel is heard elsewhere. */
void rv_wakeup_leave_node(reeve_worker *worker);

/* Redis was lost, and is there again: it may have forgotten what it was told last. */
void rv_wakeup_look_for_strays(reeve_worker *worker);

/* A queue session's queue is to be tended at a time (monotonic ms) at the latest. Does not ring. */
void rv_wakeup_set_due(rv_scheduler *scheduler, size_t queue_session, int64_t at_ms);

/* Something in a queue is due at a time on Redis's clock, as the control channel says: tend it then, or now as long as
 * we do not know how far that clock is from ours. */
void rv_wakeup_queue_at(reeve_worker *worker, const char *queue, int64_t at_ms);

/* Tend every queue now: something may have been missed. */
void rv_wakeup_all_queues(reeve_worker *worker);

/* Ask Redis which of the running tasks were cancelled: it may not have been heard. */
void rv_wakeup_ask_cancelled(reeve_worker *worker);

/* The session is gone: a handler that runs under it should end. */
void rv_wakeup_session_lost(reeve_worker *worker, const rv_queue_session *queue_session, const char *session);

#endif
