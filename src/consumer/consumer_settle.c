/*
 * consumer_settle.c - settling: outcomes become finished items, which a turn without a lease sends.
 */
#include "consumer/consumer.h"
#include "consumer/consumer_gate.h"
#include "consumer/consumer_layers.h"
#include "consumer/pulled.h"
#include "running/turn.h"

/* The size of the results of one turn, as in batch_pass.c. */
#define RESULT_BYTES ((size_t)8 * 1024 * 1024)

static reeve_status send_finished(reeve_consumer *c)
{
    if (!rv_pulled_any_finished(c)) return REEVE_OK;
    if (!rv_turn_run(c->thread, 0)) return rv_consumer_gate_gave_up(c);
    c->finished_bytes = 0;
    return REEVE_OK;
}

/* What became of an outcome that a turn has sent; the task is freed unless that is unknown. */
static reeve_status conclude(rv_pulled *p, reeve_status sent)
{
    reeve_consumer *c = p->consumer;
    if (p->call.item != NULL && sent != REEVE_EREFUSED) return sent;
    reeve_status status = sent == REEVE_EREFUSED ? sent : p->status;
    if (status == REEVE_EREFUSED && c->error.status == REEVE_OK)
        (void)rv_fail(&c->error, status, "%s", reeve_status_text(status));
    rv_pulled_release(p);
    return status;
}

static bool is_final(reeve_status status)
{
    return status == REEVE_OK || status == REEVE_EREFUSED;
}

reeve_status reeve_consumer_settle(reeve_consumer *c, reeve_task *task, reeve_outcome outcome)
{
    return reeve_consumer_settle_many(c, &task, &outcome, 1, NULL);
}

static void note(reeve_status status, size_t i, reeve_status *ret_statuses, reeve_status *first)
{
    if (ret_statuses != NULL) ret_statuses[i] = status;
    if (*first == REEVE_OK) *first = status;
}

/* Settles tasks[from .. ), as many as one turn takes; returns where the next turn begins. */
static size_t settle_some(reeve_consumer *c, reeve_task *const *tasks, const reeve_outcome *outcomes, size_t from,
                          size_t count, reeve_status *ret_statuses, reeve_status *first)
{
    reeve_status statuses[REEVE_CONSUMER_MAX];
    size_t end = from;
    while (end < count && end - from < REEVE_CONSUMER_MAX && (end == from || c->finished_bytes < RESULT_BYTES)) {
        statuses[end - from] = rv_pulled_finish(rv_pulled_of(tasks[end]), outcomes[end]);
        end++;
    }
    reeve_status sent = send_finished(c);
    for (size_t i = from; i < end; i++) {
        reeve_status status = statuses[i - from];
        if (is_final(status)) status = conclude(rv_pulled_of(tasks[i]), status == REEVE_OK ? sent : status);
        note(status, i, ret_statuses, first);
    }
    return end;
}

reeve_status reeve_consumer_settle_many(reeve_consumer *c, reeve_task *const *tasks, const reeve_outcome *outcomes,
                                        size_t count, reeve_status *ret_statuses)
{
    if (c == NULL || (count > 0 && (tasks == NULL || outcomes == NULL))) return REEVE_EINVAL;
    for (size_t i = 0; i < count; i++)
        if (tasks[i] == NULL) return REEVE_EINVAL;
    for (size_t i = 0; i < count; i++) rv_consumer_layers_after(c, tasks[i], outcomes[i]);
    reeve_status status = rv_consumer_gate_enter(c, 0), first = REEVE_OK;
    if (status != REEVE_OK) return status;
    for (size_t i = 0; i < count;) i = settle_some(c, tasks, outcomes, i, count, ret_statuses, &first);
    rv_consumer_gate_leave(c);
    return first;
}

reeve_status reeve_consumer_settle_later(reeve_consumer *c, reeve_task *task, reeve_outcome outcome)
{
    if (c == NULL || task == NULL) return REEVE_EINVAL;
    rv_consumer_layers_after(c, task, outcome);
    reeve_status status = rv_consumer_gate_enter(c, 0);
    if (status != REEVE_OK) return status;
    status = rv_pulled_finish(rv_pulled_of(task), outcome);
    if (is_final(status)) rv_pulled_release(rv_pulled_of(task));
    /* The bytes of more than one turn are not kept; a failure is told by a later call. */
    if (c->finished_bytes >= RESULT_BYTES) (void)send_finished(c);
    rv_consumer_gate_leave(c);
    return status;
}

reeve_status reeve_consumer_flush(reeve_consumer *c)
{
    if (c == NULL) return REEVE_EINVAL;
    reeve_status status = rv_consumer_gate_enter(c, 0);
    if (status != REEVE_OK) return status;
    status = send_finished(c);
    rv_consumer_gate_leave(c);
    return status;
}

/* ---- cancel ---------------------------------------------------------------------------------------------------- */

reeve_status reeve_consumer_cancel(reeve_consumer *c, reeve_task *task)
{
    if (c == NULL || task == NULL) return REEVE_EINVAL;
    const rv_item *item = rv_pulled_of(task)->call.item;
    if (item != NULL && item->state == RV_ITEM_RUNNING && item->accepted)
        return rv_fail(&c->error, REEVE_ESTATE, "it runs at most once, and is completed");
    return reeve_consumer_settle(c, task, reeve_task_cancel(task, "%s", ""));
}
