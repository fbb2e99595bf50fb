/*
 * pool_demand.h - what the threads of a pool note for the keeper, which decides how many of them there are to be
 * (upkeep/pool_sizing.h). A pool with a fixed number of threads notes nothing.
 *
 * The keeper measures only while all threads have something to do, or more threads run than the pool has at least. A
 * thread that leases tasks while no other one rests wakes the keeper for that.
 */
#ifndef RV_RUNNING_POOL_DEMAND_H
#define RV_RUNNING_POOL_DEMAND_H

#include "running/worker_state.h"

void rv_pool_demand_add_rest(rv_thread *thread);
void rv_pool_demand_end_rest(rv_thread *thread);
void rv_pool_demand_add_run(rv_thread *thread);
void rv_pool_demand_end_run(rv_thread *thread);
void rv_pool_demand_add_leases(rv_thread *thread, const rv_lease *leases, size_t count);

static inline bool rv_pool_demand_counts(const rv_thread *thread)
{
    return atomic_load_explicit(&thread->pool->demand.follows, memory_order_relaxed);
}

/* The thread begins, or ends, to wait in Redis for a task. */
static inline void rv_pool_demand_note_rest(rv_thread *thread, bool rests)
{
    if (rests && rv_pool_demand_counts(thread)) rv_pool_demand_add_rest(thread);
    if (!rests && thread->rest_counted) rv_pool_demand_end_rest(thread);
}

/* The thread begins, or ends, to run its batch. */
static inline void rv_pool_demand_note_run(rv_thread *thread, bool runs)
{
    if (runs && rv_pool_demand_counts(thread)) rv_pool_demand_add_run(thread);
    if (!runs && thread->run_counted) rv_pool_demand_end_run(thread);
}

static inline void rv_pool_demand_note_leases(rv_thread *thread, const rv_lease *leases, size_t count)
{
    if (rv_pool_demand_counts(thread)) rv_pool_demand_add_leases(thread, leases, count);
}

/* The thread waited at the gate of a plugin. */
static inline void rv_pool_demand_note_gate(rv_thread *thread, int64_t waited_us)
{
    if (waited_us > 1000 && rv_pool_demand_counts(thread)) atomic_store(&thread->pool->demand.gated, true);
}

#endif
