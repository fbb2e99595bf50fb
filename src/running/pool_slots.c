#include "running/pool_slots.h"

#include "redis/slots.h"

reeve_status rv_pool_slots_check(const rv_pool *pool, const reeve_worker *worker, rv_error *error)
{
    const rv_queue_session *first = pool->queue_sessions[0];
    if (worker->target->kind != RV_URL_CLUSTER) return REEVE_OK;
    const unsigned slot = rv_slots_of(first->prefix.text, first->prefix.length);
    for (size_t i = 1; i < pool->queue_session_count; i++) {
        const rv_queue_session *other = pool->queue_sessions[i];
        const unsigned found = rv_slots_of(other->prefix.text, other->prefix.length);
        if (found == slot) continue;
        return rv_fail(error, REEVE_EUNSUPPORTED,
                       "pool %s: queues %s and %s are in different hash slots of the Redis Cluster (%u and %u), and a "
                       "pool serves queues of one slot there: give each queue a pool of its own",
                       pool->name, first->queue, other->queue, slot, found);
    }
    return REEVE_OK;
}
