/*
 * missed.h - leases that ended by hand while the worker did not hear the control channel. The scheduler learns of them
 * when it asks Redis (rv_cancel_running_ask); the keeper takes the tasks away.
 */
#ifndef RV_UPKEEP_MISSED_H
#define RV_UPKEEP_MISSED_H

#include "running/worker_state.h"
#include "upkeep/cancel_running.h"

/* Notes a copy for the keeper, and wakes it. Any thread. False: there was no memory. */
bool rv_missed_add(reeve_worker *worker, const rv_revoke *revoke);

/* Takes away the tasks that were noted. The keeper. */
void rv_missed_take(reeve_worker *worker);

void rv_missed_fini(reeve_worker *worker);

#endif
