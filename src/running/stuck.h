/*
 * stuck.h - handlers that do not return. When the time limit of a task is over, the keeper settles it as failed and asks
 * the handler to stop (upkeep/offload.c): the task goes on elsewhere, and what the handler returns is ignored. A handler
 * that then runs on for the grace period is stuck: its thread is reported, and a spare thread opens in its place, up to a
 * number of them (pool_threads.h). When the handler returns after all, a thread retires.
 *
 * It costs nothing while no time limit is over.
 */
#ifndef RV_RUNNING_STUCK_H
#define RV_RUNNING_STUCK_H

#include "running/worker_state.h"

/* The running task's time limit is over: from now on its grace period runs. With the batch's lock. */
void rv_stuck_expect(rv_thread *t, int64_t now_ms);

/* Whether the grace period is over; it is said once. With the batch's lock. */
bool rv_stuck_is_due(rv_thread *t, int64_t now_ms);

/* What runs on a stuck thread. */
typedef struct rv_stuck_task {
    const rv_queue_session *queue_session; /* of its queue */
    rv_session_text session;               /* that held it */
    char id[REEVE_ID_MAX];
    int64_t ran_ms;
} rv_stuck_task;

/* Reports the thread in the log, and opens a spare one. Returns whether it is stuck on a task, *ret. Without a lock. */
bool rv_stuck_note(rv_thread *t, rv_stuck_task *ret);

/* No handler runs on the thread any more. The thread itself, without a lock. */
void rv_stuck_return(rv_thread *t);

#endif
