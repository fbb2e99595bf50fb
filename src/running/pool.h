/*
 * pool.h - pools, for the worker's start and end.
 */
#ifndef RV_RUNNING_POOL_H
#define RV_RUNNING_POOL_H

#include "running/worker_state.h"

/* Makes the pool's threads, not yet running; *number counts them through the worker. On failure rv_pool_free cleans up.
 */
reeve_status rv_pool_prepare(rv_pool *pool, reeve_worker *worker, unsigned *number, rv_error *error);
void rv_pool_free(rv_pool *pool);

#endif
