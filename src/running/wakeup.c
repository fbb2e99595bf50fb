#include "running/wakeup.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "redis/topology.h"
#include "running/admission.h"
#include "running/invocation.h"

void rv_wakeup_keeper_at(reeve_worker *worker, int64_t at_ms)
{
    if (at_ms < atomic_load_explicit(&worker->keeper.wake_at_ms, memory_order_relaxed))
        rv_waker_ring(&worker->keeper.thread.waker);
}

void rv_wakeup_leave_node(reeve_worker *worker)
{
    atomic_store(&worker->keeper.leaves, true);
    rv_waker_ring(&worker->keeper.thread.waker);
}

void rv_wakeup_moved(reeve_worker *worker)
{
    unsigned now = rv_topology_moves(worker->target);
    if (atomic_exchange(&worker->failover.noticed, now) == now) return;
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) rv_waker_ring(&rv_worker_pool_thread(pool, j)->waker);
    }
    rv_waker_ring(&worker->heart.thread.waker);
    rv_waker_ring(&worker->keeper.thread.waker);
    rv_waker_ring(&worker->scheduler.thread.waker);
}

void rv_wakeup_look_for_strays(reeve_worker *worker)
{
    atomic_store(&worker->keeper.lost, true);
    rv_waker_ring(&worker->keeper.thread.waker);
}

void rv_wakeup_set_due(rv_scheduler *scheduler, size_t queue_session, int64_t at)
{
    rv_lock(&scheduler->thread.lock);
    if (at < scheduler->due[queue_session]) scheduler->due[queue_session] = at;
    rv_unlock(&scheduler->thread.lock);
}

void rv_wakeup_queue_at(reeve_worker *worker, const char *queue, int64_t at_ms)
{
    int64_t ahead = atomic_load(&worker->scheduler.clock_ahead_ms), at = ahead == 0 ? 0 : at_ms - ahead;
    for (size_t i = 0; i < worker->queue_session_count; i++) {
        if (strcmp(rv_worker_queue_session(worker, i)->queue, queue) != 0) continue;
        rv_wakeup_set_due(&worker->scheduler, i, at);
        rv_waker_ring(&worker->scheduler.thread.waker);
    }
}

void rv_wakeup_all_queues(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->queue_session_count; i++) rv_wakeup_set_due(&worker->scheduler, i, rv_now_ms());
    rv_waker_ring(&worker->scheduler.thread.waker);
}

void rv_wakeup_note_missed(reeve_worker *worker)
{
    (void)atomic_fetch_add(&worker->scheduler.missed, 1);
    rv_wakeup_ask_cancelled(worker);
}

void rv_wakeup_ask_cancelled(reeve_worker *worker)
{
    atomic_store(&worker->scheduler.asks_cancelled, true);
    rv_waker_ring(&worker->scheduler.thread.waker);
}

bool rv_wakeup_add_queue(reeve_worker *worker)
{
    rv_scheduler *scheduler = &worker->scheduler;
    size_t count = worker->queue_session_count;
    if (scheduler->due == NULL) return true; /* the worker has not started */
    rv_lock(&scheduler->thread.lock);
    int64_t *due = rv_realloc_array(scheduler->due, count + 1, sizeof(*due));
    if (due != NULL) scheduler->due = due;
    if (due != NULL) due[count] = 0;
    rv_unlock(&scheduler->thread.lock);
    return due != NULL;
}

void rv_wakeup_look_at_queues(reeve_worker *worker)
{
    atomic_store(&worker->keeper.looks_at_queues, true);
    rv_waker_ring(&worker->keeper.thread.waker);
}

void rv_wakeup_show_change(reeve_worker *worker)
{
    atomic_store(&worker->heart.changed, true);
    rv_waker_ring(&worker->heart.thread.waker);
}

/* The pulled items of that session are lost. */
static void lose_pulled(rv_thread *t, const rv_queue_session *queue_session, const char *session)
{
    rv_lock(&t->batch.lock);
    for (size_t i = 0; t->batch.pulled && i < t->batch.count; i++) {
        rv_item *item = &t->batch.items[i];
        size_t queue = item->lease.queue;
        if (item->state == RV_ITEM_RUNNING && t->pool->queue_sessions[queue] == queue_session &&
            strcmp(t->batch.sessions[queue], session) == 0)
            rv_batch_lose_item(&t->batch, item);
    }
    rv_unlock(&t->batch.lock);
}

void rv_wakeup_session_lost(reeve_worker *worker, const rv_queue_session *queue_session, const char *session)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            rv_lock(&t->batch.lock);
            const rv_batch *batch = &t->batch;
            size_t queue =
                batch->running != RV_NONE && !batch->pulled ? batch->items[batch->running].lease.queue : RV_NONE;
            if (queue != RV_NONE && t->pool->queue_sessions[queue] == queue_session &&
                strcmp(batch->sessions[queue], session) == 0) {
                rv_invocation_stop_all(t);
            }
            rv_unlock(&t->batch.lock);
            lose_pulled(t, queue_session, session);
            /* The thread may wait to be handed a task under that session. */
            if (t->pool->queue_session_count == 1 && t->pool->queue_sessions[0] == queue_session)
                rv_waker_ring(&t->waker);
        }
    }
    rv_admission_recheck(worker);
}
