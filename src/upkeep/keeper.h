/*
 * keeper.h - the keeper's thread: it takes over items that wait behind a long task, enforces time limits, listens to
 * the control channel, and makes the last calls of a worker that leaves.
 */
#ifndef RV_UPKEEP_KEEPER_H
#define RV_UPKEEP_KEEPER_H

#include "running/worker_state.h"

reeve_status rv_keeper_open(reeve_worker *worker, rv_error *error);
reeve_status rv_keeper_start(reeve_worker *worker, rv_error *error);
void rv_keeper_fini(reeve_worker *worker);

#endif
