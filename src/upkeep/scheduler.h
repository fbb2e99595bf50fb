/*
 * scheduler.h - the scheduler's thread: maintains the queues when something in them is due, and sleeps until then.
 */
#ifndef RV_UPKEEP_SCHEDULER_H
#define RV_UPKEEP_SCHEDULER_H

#include "running/worker_state.h"

reeve_status rv_scheduler_open(reeve_worker *worker, rv_error *error);
reeve_status rv_scheduler_start(reeve_worker *worker, rv_error *error);
void rv_scheduler_fini(reeve_worker *worker);

#endif
