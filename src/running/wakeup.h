/*
 * wakeup.h - what a worker's threads tell one another. Any thread; none of these blocks.
 */
#ifndef RV_RUNNING_WAKEUP_H
#define RV_RUNNING_WAKEUP_H

#include "running/worker_state.h"

/* The keeper is needed at a time (monotonic ms): rings it if it would sleep longer. */
void rv_keeper_expect(reeve_worker *worker, int64_t at_ms);

/* The server said that it is not the one to talk to (RV_REFUSAL_NODE): the control channel is heard elsewhere. */
void rv_keeper_leave_node(reeve_worker *worker);

/* Redis was lost, and is there again: it may have forgotten what it was told last. */
void rv_keeper_look_for_strays(reeve_worker *worker);

/* A queue session's queue is to be tended at a time (monotonic ms) at the latest. Does not ring. */
void rv_scheduler_set_due(rv_scheduler *scheduler, size_t queue_session, int64_t at_ms);

/* Something in a queue is due at a time on Redis's clock, as the control channel says: tend it then, or now as long as
 * we do not know how far that clock is from ours. */
void rv_scheduler_due(reeve_worker *worker, const char *queue, int64_t at_ms);

/* Tend every queue now: something may have been missed. */
void rv_scheduler_kick(reeve_worker *worker);

/* Ask Redis which of the running tasks were cancelled: it may not have been heard. */
void rv_scheduler_ask_cancelled(reeve_worker *worker);

/* How many handed outcomes the keeper has settled so far: to be read before Redis is asked what stands there. */
unsigned long rv_keeper_settled(reeve_worker *worker);

/*
 * Which of some leases the keeper holds outcomes for, handed over by their thread and not settled yet. False, with
 * nothing told, when it has settled any since `settled` was read: what Redis said of these leases may not be so any
 * more.
 */
bool rv_keeper_holds(reeve_worker *worker, const rv_queue_session *queue_session, const char *session,
                     unsigned long settled, const rv_lease *leases, size_t count, bool *ret_held);

/* The session is gone: a handler that runs under it should end. */
void rv_tell_lost(reeve_worker *worker, const rv_queue_session *queue_session, const char *session);

/* Logs a failure, task.retry or task.dead; nothing for other outcomes. */
void rv_wakeup_log_failure(const char *queue, const rv_lease *lease, const rv_settlement *outcome);

/* Logs the beginning and the end of an outage, once each for the whole worker. words: the error. An attempt to reach
 * Redis begins with rv_note_try; when it fails after another has succeeded, it says nothing: it is the next one that
 * knows. */
unsigned rv_note_try(const reeve_worker *worker);
void rv_note_down(reeve_worker *worker, unsigned tried, const char *words);
void rv_note_up(reeve_worker *worker);

/* Logs that connections are lost again and again, although Redis can be reached: once, until one was of use. */
void rv_note_lost(reeve_worker *worker, const char *words);
void rv_note_used(reeve_worker *worker);

/* Logs the first of the errors that Redis answers with (its disk is full, say), and the end of that: once each for the
 * whole worker, where the end is a heartbeat that it took. message: what was refused. words: the error. */
void rv_note_refusal(reeve_worker *worker, const char *message, const char *words);
void rv_note_acceptance(reeve_worker *worker);

#endif
