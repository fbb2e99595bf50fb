/*
 * wakeup.h - how the threads of a worker wake one another and announce events. Any thread; none of these functions
 * blocks.
 */
#ifndef RV_RUNNING_WAKEUP_H
#define RV_RUNNING_WAKEUP_H

#include "running/worker_state.h"

/* Rings the keeper if it would sleep longer than until at_ms (monotonic). */
void rv_wakeup_keeper_at(reeve_worker *worker, int64_t at_ms);

/* The server refuses work (RV_REFUSAL_NODE): the keeper leaves it and subscribes to the control channel of the new
 * one. */
void rv_wakeup_leave_node(reeve_worker *worker);

/* Connections are to be opened anew, where rv_topology_moves grew since the last call: threads that wait on the server
 * of before are woken. */
void rv_wakeup_moved(reeve_worker *worker);

/* Redis is back after an outage and may have lost its last writes: the keeper looks for stray leases (strays.h). */
void rv_wakeup_look_for_strays(reeve_worker *worker);

/* Sets when the queue of a queue session is to be maintained at the latest (monotonic ms). Does not ring the
 * scheduler. */
void rv_wakeup_set_due(rv_scheduler *scheduler, size_t queue_session, int64_t at_ms);

/* The control channel announced that a queue is due at at_ms on Redis's clock. The scheduler maintains it then, or
 * now while it does not know the difference of the clocks. */
void rv_wakeup_queue_at(reeve_worker *worker, const char *queue, int64_t at_ms);

/* The scheduler maintains every queue now: an announcement may have been missed. */
void rv_wakeup_all_queues(reeve_worker *worker);

/* Announcements may have been missed: the scheduler asks Redis which of the tasks that were leased by calls that began
 * before now were cancelled, or have lost their leases. */
void rv_wakeup_note_missed(reeve_worker *worker);

/* The scheduler asks again: such a task may have come in the meantime. */
void rv_wakeup_ask_cancelled(reeve_worker *worker);

/* A queue session is about to be added: room for the time at which the scheduler maintains it; that is at once. False:
 * no memory. */
bool rv_wakeup_add_queue(reeve_worker *worker);

/* A thread has ended: the keeper looks whether a queue is served by no pool any more. */
void rv_wakeup_look_at_queues(reeve_worker *worker);

/* Pools, threads or queues have changed: the worker's record in Redis is written at once. */
void rv_wakeup_show_change(reeve_worker *worker);

/* The session is gone: handlers that run under it are asked to stop. */
void rv_wakeup_session_lost(reeve_worker *worker, const rv_queue_session *queue_session, const char *session);

#endif
