/*
 * strays.h - leases that Redis still has although the worker settled them. Redis may restart without its last
 * writes: after a crash, or as a replica that was behind. A thread finds such leases of its own before its next turn
 * (recovery.h), but not while it runs a long task; and nobody would release the key of a task that runs at most
 * once. So the keeper looks for these after an outage.
 */
#ifndef RV_UPKEEP_STRAYS_H
#define RV_UPKEEP_STRAYS_H

#include "running/worker_state.h"

/* Looks at one page of a queue, on the keeper's open connection, and has the keeper give back leases that no thread
 * knows. To be called while keeper.strays_left > 0. The keeper's thread. */
void rv_strays_look(reeve_worker *worker, int64_t deadline);

#endif
