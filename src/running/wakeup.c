#include "running/wakeup.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "running/admission.h"
#include "running/invocation.h"

void rv_keeper_expect(reeve_worker *worker, int64_t at_ms)
{
    if (at_ms < atomic_load_explicit(&worker->keeper.wake_at_ms, memory_order_relaxed))
        rv_waker_ring(&worker->keeper.thread.waker);
}

void rv_keeper_leave_node(reeve_worker *worker)
{
    atomic_store(&worker->keeper.leaves, true);
    rv_waker_ring(&worker->keeper.thread.waker);
}

void rv_keeper_look_for_strays(reeve_worker *worker)
{
    atomic_store(&worker->keeper.lost, true);
    rv_waker_ring(&worker->keeper.thread.waker);
}

unsigned long rv_keeper_settled(reeve_worker *worker)
{
    rv_lock(&worker->keeper.thread.lock);
    unsigned long settled = worker->keeper.settled;
    rv_unlock(&worker->keeper.thread.lock);
    return settled;
}

static bool is_of_lease(const rv_offloaded *handed, const rv_queue_session *queue_session, const char *session,
                        const rv_lease *lease)
{
    return handed->kept != NULL && handed->queue_session == queue_session && handed->since_ms == lease->since_ms &&
           strcmp(handed->session, session) == 0 && strcmp(handed->settlement.id, lease->id) == 0;
}

bool rv_keeper_holds(reeve_worker *worker, const rv_queue_session *queue_session, const char *session,
                     unsigned long settled, const rv_lease *leases, size_t count, bool *ret_held)
{
    rv_keeper *keeper = &worker->keeper;
    rv_lock(&keeper->thread.lock);
    bool same = keeper->settled == settled;
    for (size_t i = 0; same && i < count; i++) {
        ret_held[i] = false;
        for (size_t j = 0; j < keeper->handed_count && !ret_held[i]; j++)
            ret_held[i] = is_of_lease(&keeper->handed[j], queue_session, session, &leases[i]);
    }
    rv_unlock(&keeper->thread.lock);
    return same;
}

void rv_scheduler_set_due(rv_scheduler *scheduler, size_t queue_session, int64_t at)
{
    rv_lock(&scheduler->thread.lock);
    if (at < scheduler->due[queue_session]) scheduler->due[queue_session] = at;
    rv_unlock(&scheduler->thread.lock);
}

void rv_scheduler_due(reeve_worker *worker, const char *queue, int64_t at_ms)
{
    int64_t ahead = atomic_load(&worker->scheduler.clock_ahead_ms), at = ahead == 0 ? 0 : at_ms - ahead;
    for (size_t i = 0; i < worker->queue_session_count; i++) {
        if (strcmp(worker->queue_sessions[i]->queue, queue) != 0) continue;
        rv_scheduler_set_due(&worker->scheduler, i, at);
        rv_waker_ring(&worker->scheduler.thread.waker);
    }
}

void rv_scheduler_kick(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->queue_session_count; i++) rv_scheduler_set_due(&worker->scheduler, i, rv_now_ms());
    rv_waker_ring(&worker->scheduler.thread.waker);
}

void rv_scheduler_ask_cancelled(reeve_worker *worker)
{
    atomic_store(&worker->scheduler.asks_cancelled, true);
    rv_waker_ring(&worker->scheduler.thread.waker);
}

void rv_tell_lost(reeve_worker *worker, const rv_queue_session *queue_session, const char *session)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < worker->pools[i]->thread_count; j++) {
            rv_thread *t = &worker->pools[i]->threads[j];
            rv_lock(&t->batch.lock);
            const rv_batch *batch = &t->batch;
            size_t queue = batch->running != RV_NONE ? batch->items[batch->running].lease.queue : RV_NONE;
            if (queue != RV_NONE && t->pool->queue_sessions[queue] == queue_session &&
                strcmp(batch->sessions[queue], session) == 0) {
                rv_invocation_stop_all(t);
            }
            rv_unlock(&t->batch.lock);
            /* What it may wait to be handed was for that session. */
            if (t->pool->queue_session_count == 1 && t->pool->queue_sessions[0] == queue_session)
                rv_waker_ring(&t->waker);
        }
    }
    rv_admission_recheck(worker);
}

unsigned rv_note_try(const reeve_worker *worker)
{
    return atomic_load(&worker->reached);
}

void rv_note_down(reeve_worker *worker, unsigned tried, const char *words)
{
    if (atomic_load(&worker->reached) != tried || atomic_exchange(&worker->down, true)) return;
    rv_log(REEVE_LOG_WARN, "redis.down", "Redis cannot be reached: trying again until it is back", "url",
           worker->target->redacted, "error", words, NULL);
    /* Who brings an embedded server back is the scheduler, which may have nothing to do for long. */
    if (worker->embedded != NULL) rv_scheduler_kick(worker);
}

void rv_note_up(reeve_worker *worker)
{
    atomic_fetch_add(&worker->reached, 1);
    if (!atomic_load_explicit(&worker->down, memory_order_relaxed) || !atomic_exchange(&worker->down, false)) return;
    rv_log(REEVE_LOG_INFO, "redis.up", "Redis is back", "url", worker->target->redacted, NULL);
}

void rv_note_lost(reeve_worker *worker, const char *words)
{
    if (atomic_exchange(&worker->loses, true)) return;
    rv_log(REEVE_LOG_WARN, "redis.lost", "connections are closed as soon as they are used: pausing before each new one",
           "url", worker->target->redacted, "error", words, NULL);
}

void rv_note_used(reeve_worker *worker)
{
    atomic_store(&worker->loses, false);
}

void rv_note_refusal(reeve_worker *worker, const char *message, const char *words)
{
    if (atomic_exchange(&worker->refused, true)) return;
    const char *advice = rv_refusal_advice(words);
    advice += strspn(advice, "; ");
    rv_log(REEVE_LOG_ERROR, "redis.error", message, "url", worker->target->redacted, "error", words,
           advice[0] != '\0' ? "advice" : NULL, advice, NULL);
}

void rv_note_acceptance(reeve_worker *worker)
{
    if (!atomic_load_explicit(&worker->refused, memory_order_relaxed) || !atomic_exchange(&worker->refused, false))
        return;
    rv_log(REEVE_LOG_INFO, "redis.accepts", "Redis takes heartbeats again", "url", worker->target->redacted, NULL);
}

void rv_wakeup_log_failure(const char *queue, const rv_lease *lease, const rv_settlement *outcome)
{
    bool dead = outcome->outcome == REEVE_OUTCOME_FAIL;
    reeve_log_level level = dead ? REEVE_LOG_WARN : REEVE_LOG_INFO;
    if ((!dead && outcome->outcome != REEVE_OUTCOME_RETRY) || !rv_log_on(level)) return;
    char type[REEVE_TYPE_MAX + 1];
    size_t length = lease->envelope.type_length < REEVE_TYPE_MAX ? lease->envelope.type_length : REEVE_TYPE_MAX;
    memcpy(type, lease->envelope.type, length);
    type[length] = '\0';
    rv_log(level, dead ? "task.dead" : "task.retry", dead ? "task is dead" : "task failed, will be tried again",
           "queue", queue, "id", outcome->id, "type", type, "kind", outcome->kind, "error", outcome->message, NULL);
}
