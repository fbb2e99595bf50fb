#include "upkeep/away.h"

#include "base/lock.h"
#include "base/log.h"
#include "running/pool_threads.h"
#include "running/wakeup.h"

static bool serves(const rv_pool *pool, const rv_queue_session *queue_session)
{
    for (size_t i = 0; i < pool->queue_session_count; i++)
        if (pool->queue_sessions[i] == queue_session) return true;
    return false;
}

/* A thread of a pool that was removed may still run a task of the queue. */
static bool is_served(reeve_worker *worker, const rv_queue_session *queue_session)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (!serves(pool, queue_session)) continue;
        if (!atomic_load(&pool->removed) || rv_pool_threads_alive(pool, worker) > 0) return true;
    }
    return false;
}

static bool has_offloaded(reeve_worker *worker, const rv_queue_session *queue_session)
{
    rv_keeper *keeper = &worker->keeper;
    bool found = false;
    rv_lock(&keeper->thread.lock);
    for (size_t i = 0; i < keeper->offloaded_count; i++)
        found = found || keeper->offloaded[i].queue_session == queue_session;
    rv_unlock(&keeper->thread.lock);
    return found;
}

/* With reeve_worker.changing: no pool begins to serve the queue meanwhile. A session that cannot be ended now expires by
 * itself, because it gets no heartbeat. */
static bool look_at(reeve_worker *worker, size_t index, rv_away_leave leave)
{
    rv_queue_session *queue_session = rv_worker_queue_session(worker, index);
    if (atomic_load(&queue_session->away) || is_served(worker, queue_session)) return true;
    if (has_offloaded(worker, queue_session)) return false;
    rv_session_text session;
    if (rv_queue_session_get(queue_session, session) && rv_queue_session_has_tally(queue_session)) {
        rv_wakeup_show_change(worker); /* a heartbeat takes it along */
        return false;
    }
    if (!leave(worker, queue_session)) return false;
    atomic_store(&queue_session->away, true);
    atomic_store(&queue_session->last_look, true);
    rv_wakeup_set_due(&worker->scheduler, index, rv_now_ms());
    rv_waker_ring(&worker->scheduler.thread.waker);
    rv_log(REEVE_LOG_INFO, "queue.left", "no pool serves the queue any more: its session has ended", "worker",
           worker->id, "queue", queue_session->queue, NULL);
    return true;
}

bool rv_away_look(reeve_worker *worker, rv_away_leave leave)
{
    bool done = true;
    if (!atomic_exchange(&worker->keeper.looks_at_queues, false)) return true;
    rv_lock(&worker->changing);
    for (size_t i = 0; i < worker->queue_session_count; i++) done = look_at(worker, i, leave) && done;
    rv_unlock(&worker->changing);
    if (!done) atomic_store(&worker->keeper.looks_at_queues, true);
    return done;
}
