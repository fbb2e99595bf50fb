/*
 * turn_outcomes.c - what Redis said to the outcomes of a turn: refused ones are marked, all are counted.
 */
#include "running/turn_outcomes.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "protocol/turn_reply.h"
#include "running/outcome_counts.h"
#include "running/task_metrics.h"
#include "running/turn_call.h"

/* The keeper looks at finished items, too. */
void rv_turn_outcomes_note_refused(rv_thread *t, const rv_reply *refused, size_t groups)
{
    if (refused->count == 0) return;
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < refused->count; i++) {
        size_t group, length;
        const char *id = rv_turn_reply_refused(refused->items[i], groups, &group, &length);
        for (size_t j = 0; id != NULL && j < t->batch.count; j++) {
            rv_item *item = &t->batch.items[j];
            if (item->state != RV_ITEM_FINISHED || item->accepted) continue;
            if (t->groups[group].prefix != &t->pool->queue_sessions[item->lease.queue]->prefix) continue;
            if (rv_lease_has_id(&item->lease, id, length)) item->refused = true;
        }
    }
    rv_unlock(&t->batch.lock);
}

static void log_refused(const rv_thread *t, const rv_item *item)
{
    if (item->settlement.outcome == REEVE_OUTCOME_SNOOZE) return;
    rv_log(REEVE_LOG_WARN, "task.refused", "Redis refused an outcome: the lease had expired, the task runs elsewhere",
           "queue", t->pool->queue_sessions[item->lease.queue]->queue, "task", item->settlement.id, NULL);
}

static rv_attempt attempt_of(const rv_item *item)
{
    return (rv_attempt){.type = item->lease.envelope.type,
                        .type_length = item->lease.envelope.type_length,
                        .wait_ms = rv_batch_item_wait(item),
                        .run_us = item->run_us};
}

static void tally_queue(rv_thread *t, size_t queue, int64_t now_ms)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[queue];
    rv_tally *tally = rv_queue_session_open_tally(queue_session, now_ms);
    for (size_t i = 0; tally != NULL && i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED || item->refused) continue;
        rv_attempt attempt = attempt_of(item);
        rv_tally_add(tally, &item->settlement, &attempt);
    }
    rv_queue_session_close_tally(queue_session);
}

/* For the metrics of the worker. */
static void measure_queue(rv_thread *t, size_t queue)
{
    rv_queue_session *queue_session = t->pool->queue_sessions[queue];
    rv_lock(&queue_session->lock);
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED) continue;
        rv_attempt attempt = attempt_of(item);
        rv_task_metrics_add(queue_session->metrics, &item->settlement, &attempt, item->refused);
    }
    rv_unlock(&queue_session->lock);
}

/* Counts the outcomes of one queue, and logs those that Redis refused. */
static void count_queue(rv_thread *t, size_t queue, int64_t now_ms)
{
    rv_outcome_counts counts = {0};
    for (size_t i = 0; i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->lease.queue != queue || item->state != RV_ITEM_FINISHED) continue;
        if (item->refused) log_refused(t, item);
        rv_outcome_counts_add(&counts, &item->settlement, item->refused);
    }
    rv_outcome_counts_publish(&counts, &t->worker->stats);
    if (rv_outcome_counts_have_tally(&counts)) tally_queue(t, queue, now_ms);
    if (t->pool->queue_sessions[queue]->metrics != NULL) measure_queue(t, queue);
}

void rv_turn_outcomes_count(rv_thread *t, int64_t now_ms)
{
    for (size_t queue = rv_turn_call_next_queue(t, 0); queue < t->pool->queue_session_count;
         queue = rv_turn_call_next_queue(t, queue + 1))
        count_queue(t, queue, now_ms);
}
