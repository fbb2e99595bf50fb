/*
 * pool_slots.h - in a Redis Cluster, what the queues of a pool must have in common.
 */
#ifndef RV_RUNNING_POOL_SLOTS_H
#define RV_RUNNING_POOL_SLOTS_H

#include "running/worker_state.h"

/*
 * A turn asks the queues of a pool in one script call, and a wait is for all of them: in a cluster both can use queues
 * of one hash slot only. REEVE_EUNSUPPORTED, with words that name two queues of different slots and say what to do;
 * REEVE_OK also where there is no cluster.
 */
reeve_status rv_pool_slots_check(const rv_pool *pool, const reeve_worker *worker, rv_error *error);

#endif
