/*
 * pool_slots.h - in a Redis Cluster: a pool whose queues are in several hash slots.
 *
 * A script call and a blocking command can use keys of one slot only. So a thread of such a pool takes a turn with the
 * queues of one slot at a time. A *round* of turns asks the queues in their order (queue_order.h), each turn those that
 * follow one another there and are in one slot, and ends when a turn leases something, or when all were asked. Outcomes
 * go to the slots of their tasks, in a call for each. A thread that found nothing waits for the wake-ups of all slots at
 * once (rv_conn_wait_any); the next round asks the slots that it was woken for, and wakes another thread for each of them
 * that it did not come to.
 *
 * So strict, round-robin and weighted orders hold as on one server, but that a turn does not fill up a batch from queues
 * of another slot. Threads of such a pool do not share turns (share.h), and are not handed tasks.
 */
#ifndef RV_RUNNING_POOL_SLOTS_H
#define RV_RUNNING_POOL_SLOTS_H

#include "running/worker_state.h"

#define RV_POOL_SLOTS_MAX 64 /* hash slots of one pool: each idle thread has a connection for each */

/*
 * Finds the slots of the pool's queues: sets pool->slots if there are several. REEVE_EUNSUPPORTED, with words that say
 * what to do, where there are more than RV_POOL_SLOTS_MAX, or the worker is a consumer; REEVE_ENOMEM.
 */
reeve_status rv_pool_slots_find(rv_pool *pool, const reeve_worker *worker, rv_error *error);

/* Of a pool of several slots: one wait for each slot, in their order, for rv_conn_wait_any. */
void rv_pool_slots_build_waits(const rv_pool *pool, rv_conn *conn);

/* Whether two queues of the pool are in the same slot. */
static inline bool rv_pool_slots_are_one(const rv_pool *pool, size_t queue, size_t other)
{
    return pool->slots == NULL || pool->slots[queue] == pool->slots[other];
}

#endif
