/*
 * bound.h - tasks that this worker alone is to run (reeve_broadcast).
 *
 * Each is blocked by the signal "!worker.<id of the worker>", and nobody else leases it. The keeper notes it here when the
 * client asks the worker to take it, and wakes the threads of a pool that serves its queue. The first thread that is free
 * leases it by its id (lease_task.lua). A worker that ends first leaves it blocked, until its deadline.
 */
#ifndef RV_RUNNING_BOUND_H
#define RV_RUNNING_BOUND_H

#include "base/error.h"
#include "running/worker_state.h"

/* For the keeper. REEVE_ESTATE: it takes no tasks, has no handlers or too many such tasks; REEVE_ENOTFOUND: no pool of it
 * serves the queue. */
reeve_status rv_bound_add(reeve_worker *worker, const char *queue, const char *id, rv_error *error);

/* Whether any waits for a thread of the pool. */
static inline bool rv_bound_any(const rv_pool *pool)
{
    return atomic_load_explicit(&pool->bound, memory_order_relaxed) > 0;
}

/* For a thread that may take tasks: leases the next one of its pool into its batch. False: the worker leaves. */
bool rv_bound_lease(rv_thread *thread);

/* Pools were removed: what waits for their threads waits for those of other pools from now on. */
void rv_bound_move(reeve_worker *worker);

void rv_bound_fini(reeve_worker *worker);

#endif
