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

reeve_status rv_pool_slots_find(rv_pool *pool, const reeve_worker *worker, rv_error *error)
{
    if (worker->target->kind != RV_URL_CLUSTER || pool->queue_session_count == 1 || pool->slots != NULL)
        return REEVE_OK;
    unsigned *slots = rv_zalloc_array(pool->queue_session_count, sizeof(*slots));
    if (slots == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a pool");
    pool->slot_count = number_slots(pool, slots);
    if (pool->slot_count > 1 && pool->slot_count <= RV_POOL_SLOTS_MAX) {
        pool->slots = slots;
        return REEVE_OK;
    }
    rv_free(slots);
    if (pool->slot_count <= 1) return REEVE_OK;
    return rv_fail(
        error, REEVE_EUNSUPPORTED,
        "pool %s: its queues are in %zu hash slots of the Redis Cluster, and a pool serves at most %d: divide "
        "the queues among several pools",
        pool->name, pool->slot_count, RV_POOL_SLOTS_MAX);
}

void rv_pool_slots_build_waits(const rv_pool *pool, rv_conn *conn)
{
    for (size_t slot = 0; slot < pool->slot_count; slot++) {
        size_t lists = 0;
        for (size_t i = 0; i < pool->queue_session_count; i++) lists += pool->slots[i] == slot;
        rv_cmd(conn, lists + 2);
        rv_args(conn, "BLPOP");
        for (size_t i = 0; i < pool->queue_session_count; i++) {
            const rv_prefix *prefix = &pool->queue_sessions[i]->prefix;
            if (pool->slots[i] == slot) rv_arg2(conn, prefix->text, prefix->length, "wake", 4);
        }
        rv_args(conn, "0");
    }
}
