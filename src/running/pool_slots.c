#include "running/pool_slots.h"

#include "base/mem.h"
#include "redis/slots.h"

static unsigned slot_of(const rv_queue_session *queue_session)
{
    return rv_slots_of(queue_session->prefix.text, queue_session->prefix.length);
}

/* The slots of all queues, numbered from 0 as they appear. Returns how many there are. */
static size_t number_slots(const rv_pool *pool, unsigned *slots)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->queue_session_count; i++) {
        size_t j = 0;
        while (j < i && slot_of(pool->queue_sessions[j]) != slot_of(pool->queue_sessions[i])) j++;
        slots[i] = j < i ? slots[j] : (unsigned)count++;
    }
    return count;
}

static reeve_status refuse_consumer(const rv_pool *pool, rv_error *error)
{
    const rv_queue_session *first = pool->queue_sessions[0];
    size_t i = 1;
    while (i + 1 < pool->queue_session_count && slot_of(pool->queue_sessions[i]) == slot_of(first)) i++;
    return rv_fail(
        error, REEVE_EUNSUPPORTED,
        "queues %s and %s are in different hash slots of the Redis Cluster (%u and %u), and a consumer leases "
        "from queues of one slot there: use a consumer for each",
        first->queue, pool->queue_sessions[i]->queue, slot_of(first), slot_of(pool->queue_sessions[i]));
}

reeve_status rv_pool_slots_find(rv_pool *pool, const reeve_worker *worker, rv_error *error)
{
    if (worker->target->kind != RV_URL_CLUSTER || pool->queue_session_count == 1 || pool->slots != NULL)
        return REEVE_OK;
    unsigned *slots = rv_zalloc_array(pool->queue_session_count, sizeof(*slots));
    if (slots == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a pool");
    pool->slot_count = number_slots(pool, slots);
    if (pool->slot_count > 1 && pool->slot_count <= RV_POOL_SLOTS_MAX && !worker->is_consumer) {
        pool->slots = slots;
        return REEVE_OK;
    }
    rv_free(slots);
    if (pool->slot_count <= 1) return REEVE_OK;
    if (worker->is_consumer) return refuse_consumer(pool, error);
    return rv_fail(
        error, REEVE_EUNSUPPORTED,
        "pool %s: its queues are in %zu hash slots of the Redis Cluster, and a pool serves at most %d: divide "
        "the queues among several pools",
        pool->name, pool->slot_count, RV_POOL_SLOTS_MAX);
}
