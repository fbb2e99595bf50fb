#include "upkeep/unheard.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "protocol/heartbeat_call.h"

/* Tasks that were settled before they ran have no lease, and items that the keeper took over are counted there.
 * Handlers of a lost session may still run: Redis does not count their tasks in the present session. */
static size_t count_batch(rv_thread *t, const rv_queue_session *queue_session, const char *session)
{
    size_t count = 0;
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (t->pool->queue_sessions[item->lease.queue] != queue_session) continue;
        if (strcmp(t->batch.sessions[item->lease.queue], session) != 0) continue;
        count += !rv_batch_is_taken(item) && !item->accepted;
    }
    rv_unlock(&t->batch.lock);
    return count;
}

static size_t count_offloaded(rv_keeper *keeper, const rv_queue_session *queue_session, const char *session)
{
    size_t count = 0;
    rv_lock(&keeper->thread.lock);
    for (size_t i = 0; i < keeper->offloaded_count; i++) {
        const rv_offloaded *offloaded = &keeper->offloaded[i];
        count += offloaded->queue_session == queue_session && strcmp(offloaded->session, session) == 0;
    }
    rv_unlock(&keeper->thread.lock);
    return count;
}

static bool serves(const rv_pool *pool, const rv_queue_session *queue_session)
{
    for (size_t i = 0; i < pool->queue_session_count; i++)
        if (pool->queue_sessions[i] == queue_session) return true;
    return false;
}

static uint64_t count_known(reeve_worker *worker, const rv_queue_session *queue_session, const char *session)
{
    uint64_t known = count_offloaded(&worker->keeper, queue_session, session);
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (!serves(pool, queue_session)) continue;
        for (unsigned j = 0; j < pool->thread_count; j++)
            known += count_batch(rv_worker_pool_thread(pool, j), queue_session, session);
    }
    return known;
}

/* Those that have waited since before the last heartbeat. Returns how many. */
static unsigned wake_resting(reeve_worker *worker, const rv_queue_session *queue_session)
{
    unsigned woken = 0, heartbeats = atomic_load(&worker->heart.heartbeats);
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (!serves(pool, queue_session)) continue;
        for (unsigned j = 0; j < pool->thread_count; j++) {
            unsigned since = atomic_load_explicit(&rv_worker_pool_thread(pool, j)->rests_since, memory_order_relaxed);
            if (since == 0 || since >= heartbeats) continue;
            rv_waker_ring(&rv_worker_pool_thread(pool, j)->waker);
            woken++;
        }
    }
    return woken;
}

/* The pause between attempts is bounded: a task that does not arrive later has to be noticed, too. */
#define HEARTBEATS_MAX 8

/* At the 2nd and 4th heartbeat, and at each 8th: fields that another version keeps in the session make its count too
 * large for ever. */
static bool is_time(unsigned heartbeats)
{
    return heartbeats % HEARTBEATS_MAX == 0 || heartbeats == 2 || heartbeats == 4;
}

/* A waiting thread consumes a wake-up at once: one that remains has reached no thread. */
static bool is_heard(reeve_worker *worker, const rv_queue_session *queue_session, const char *session,
                     const rv_heartbeat_reply *heartbeat)
{
    if (rv_worker_phase(worker) != RV_PHASE_RUNNING) return true;
    return !heartbeat->woken &&
           (heartbeat->held == 0 || heartbeat->held <= count_known(worker, queue_session, session));
}

void rv_unheard_check(reeve_worker *worker, rv_queue_session *queue_session, const char *session,
                      const rv_heartbeat_reply *heartbeat)
{
    if (is_heard(worker, queue_session, session, heartbeat)) {
        queue_session->unheard = 0;
        return;
    }
    if (!is_time(++queue_session->unheard) || wake_resting(worker, queue_session) == 0) return;
    rv_log(REEVE_LOG_WARN, "redis.unheard",
           "a wake-up or a task did not reach the idle threads of this worker: they reconnect to Redis", "queue",
           queue_session->queue, NULL);
}
