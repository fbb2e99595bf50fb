/*
 * scheduler.h - the scheduler's thread: tends the queues when something in them is due, and sleeps until then.
 */
#ifndef RV_SCHEDULER_H
#define RV_SCHEDULER_H

#include "worker/state.h"

reeve_status rv_scheduler_init(reeve_worker *worker, rv_error *error);
reeve_status rv_scheduler_start(reeve_worker *worker, rv_error *error);
void rv_scheduler_join(reeve_worker *worker);
void rv_scheduler_fini(reeve_worker *worker);

/* Something in a queue is due earlier than was known, as the control channel says: look when (that look also tells how
 * far Redis's clock is from then, so ours need not agree with it). Any thread. */
void rv_scheduler_due(reeve_worker *worker, const char *queue);

/* Tend every queue now: something may have been missed. Any thread. */
void rv_scheduler_kick(reeve_worker *worker);

#endif
