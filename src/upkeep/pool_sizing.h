/*
 * pool_sizing.h - sets the number of threads of pools whose number follows the work (running/pool_size.h decides).
 */
#ifndef RV_UPKEEP_POOL_SIZING_H
#define RV_UPKEEP_POOL_SIZING_H

#include "running/worker_state.h"

/* For the keeper: measures the pools that are to be measured now, and starts or retires threads. Returns when to look
 * again (monotonic ms); RV_FOREVER: not before a thread rings. Never calls Redis. */
int64_t rv_pool_sizing_look(reeve_worker *worker);

#endif
