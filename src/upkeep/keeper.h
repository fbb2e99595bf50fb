/*
 * keeper.h - the thread that relieves threads which are held up by a long task, ends tasks whose time is up, hears the
 * control channel, and says good-bye for the worker.
 */
#ifndef RV_UPKEEP_KEEPER_H
#define RV_UPKEEP_KEEPER_H

#include "running/worker_state.h"

reeve_status rv_keeper_open(reeve_worker *worker, rv_error *error);
reeve_status rv_keeper_start(reeve_worker *worker, rv_error *error);
void rv_keeper_fini(reeve_worker *worker);

#endif
