#include "running/pool_demand.h"

void rv_pool_demand_add_rest(rv_thread *t)
{
    rv_pool_demand *demand = &t->pool->demand;
    t->rest_counted = true;
    atomic_fetch_add(&demand->resting, 1);
    atomic_store(&demand->rested, true);
}

void rv_pool_demand_end_rest(rv_thread *t)
{
    t->rest_counted = false;
    atomic_fetch_sub(&t->pool->demand.resting, 1);
}

void rv_pool_demand_add_run(rv_thread *t)
{
    rv_pool_demand *demand = &t->pool->demand;
    t->run_counted = true;
    unsigned running = atomic_fetch_add(&demand->running, 1) + 1, peak = atomic_load(&demand->peak);
    while (running > peak && !atomic_compare_exchange_weak(&demand->peak, &peak, running)) continue;
}

void rv_pool_demand_end_run(rv_thread *t)
{
    t->run_counted = false;
    atomic_fetch_sub(&t->pool->demand.running, 1);
}

void rv_pool_demand_add_leases(rv_thread *t, const rv_lease *leases, size_t count)
{
    rv_pool_demand *demand = &t->pool->demand;
    long long max_ms = atomic_load(&demand->wait_ms);
    unsigned known = 0;
    for (size_t i = 0; i < count; i++) {
        long long wait_ms = rv_lease_wait(&leases[i]);
        known += wait_ms >= 0;
        while (wait_ms > max_ms && !atomic_compare_exchange_weak(&demand->wait_ms, &max_ms, wait_ms)) continue;
    }
    atomic_fetch_add(&demand->leases, known);
    if (count == 0 || atomic_load(&demand->resting) > 0 || atomic_exchange(&demand->watched, true)) return;
    rv_waker_ring(&t->worker->keeper.thread.waker);
}
