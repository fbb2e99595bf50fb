/*
 * turn_leases.c - the leases of a turn go into the batch, and the sessions that it did not find are noted.
 */
#include "running/turn_leases.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "running/flight.h"
#include "running/pool_demand.h"
#include "running/recovery.h"
#include "running/redis_report.h"
#include "running/round.h"
#include "running/turn_call.h"
#include "running/wakeup.h"

/* Notes the sessions that are gone, or have not begun. The tasks that could not be leased are still ready; the caller
 * takes another turn. */
void rv_turn_leases_note_gone(rv_thread *t, const rv_reply *gone)
{
    for (size_t i = 0; i < gone->count; i++) {
        int64_t index = rv_reply_int(gone->items[i], 0);
        if (index < 1 || (size_t)index > t->place_count) continue;
        size_t queue = rv_turn_call_queue_at(t, (size_t)index - 1);
        rv_queue_session *queue_session = t->pool->queue_sessions[queue];
        rv_queue_session_want(queue_session);
        if (!rv_queue_session_lose(queue_session, t->sessions[queue])) continue;
        rv_redis_report_session_lost(t->worker);
        rv_log(REEVE_LOG_WARN, "session.lost", "the session was gone from Redis: the worker begins a new one", "queue",
               queue_session->queue, NULL);
        rv_wakeup_session_lost(t->worker, queue_session, t->sessions[queue]);
    }
}

/* Replaces the places in the turn, by which the reply names queues, by indexes of the pool's queues. */
void rv_turn_leases_note_places(rv_thread *t, size_t count)
{
    if (t->pool->queue_session_count == 1) return;
    for (size_t i = 0; t->named != NULL && i < count; i++) t->leases[i].queue = t->named_queue;
    if (t->named != NULL) return;
    for (size_t first = 0, next = 0; first < count; first = next) {
        size_t place = rv_round_place(t, t->leases[first].queue);
        for (; next < count && rv_round_place(t, t->leases[next].queue) == place; next++)
            t->leases[next].queue = rv_queue_order_queue(&t->order, place);
        rv_queue_order_charge(&t->order, place, next - first);
    }
}

static const rv_handler *find_batch_handler(const rv_thread *t, const rv_envelope *envelope)
{
    if (!t->gathers) return NULL;
    const rv_handler *handler = rv_handler_table_find(&t->set->handlers, envelope->type, envelope->type_length);
    return handler != NULL && handler->handler.run_batch != NULL ? handler : NULL;
}

/* A turn that leases as many tasks as requested probably leaves others behind. But one task may be all that a queue at
 * its limit has room for: only so many of these turns in a row show that tasks are not scarce. */
#define SCARCE_TURNS 16

/* Appends t->leases to the batch; items that were kept stay in front. */
void rv_turn_leases_fill(rv_thread *t, size_t count, unsigned want)
{
    size_t kept = t->batch.count;
    int64_t now = t->gathers || t->batch.pulled ? rv_now_ms() : 0;
    t->fresh = count;
    t->full = count >= want;
    t->scarce = !t->full ? SCARCE_TURNS : t->scarce > 0 ? t->scarce - 1 : 0;
    if (count == 0) return;
    rv_pool_demand_note_leases(t, t->leases, count);
    rv_recovery_note_use(t);
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < count; i++) {
        const rv_lease *lease = &t->leases[i];
        t->batch.items[kept + i] = (rv_item){.lease = *lease,
                                             .state = RV_ITEM_WAITING,
                                             .leased_ms = now,
                                             .missed = t->missed,
                                             .batch_handler = find_batch_handler(t, &lease->envelope)};
    }
    for (size_t i = 0; i < count; i++) {
        size_t queue = t->leases[i].queue;
        if (i == 0 || queue != t->leases[i - 1].queue)
            memcpy(t->batch.sessions[queue], t->sessions[queue], sizeof(t->sessions[queue]));
    }
    t->batch.count = kept + count;
    rv_flight_lease(t, kept, count);
    rv_unlock(&t->batch.lock);
    for (size_t i = 0; i < count; i++) {
        size_t queue = t->leases[i].queue;
        if (i == 0 || queue != t->leases[i - 1].queue)
            rv_queue_session_begin(t->pool->queue_sessions[queue], t->sessions[queue]);
    }
    atomic_fetch_add_explicit(&t->worker->stats.leased, count, memory_order_relaxed);
}

void rv_turn_leases_note_malformed(const rv_thread *t)
{
    rv_log(REEVE_LOG_ERROR, "task.malformed", "a leased task is malformed: another program wrote into the queue",
           "worker", t->worker->id, "thread", t->name, NULL);
}

void rv_turn_leases_take(rv_thread *t, const rv_turn_reply *reply, unsigned want)
{
    size_t bad, room = t->batch.capacity - t->batch.count;
    size_t count = rv_turn_reply_leases(reply, t->place_count, t->leases, want < room ? want : room, &bad);
    if (bad > 0) rv_turn_leases_note_malformed(t);
    rv_turn_leases_note_places(t, count);
    rv_turn_leases_fill(t, count, want);
}
