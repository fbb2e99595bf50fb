#include "consumer/pulled.h"

#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "consumer/pulled_host.h"
#include "running/alone.h"
#include "running/at_most_once.h"
#include "running/run_task.h"
#include "running/wakeup.h"

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* The lease, in memory of its own: id, envelope, type. Other threads read the item's id. */
static bool copy_lease(rv_pulled *p, rv_batch *batch, rv_item *item)
{
    rv_envelope *envelope = &item->lease.envelope;
    size_t id = rv_lease_id_length(&item->lease) + 1, length = rv_envelope_length(envelope);
    char *block = rv_alloc(id + length + 1 + envelope->type_length + 1);
    if (block == NULL) return false;
    memcpy(block, item->lease.id, id);
    memcpy(block + id, envelope->header, length);
    block[id + length] = '\0';
    char *type = block + id + length + 1;
    if (envelope->type_length > 0) memcpy(type, envelope->type, envelope->type_length);
    type[envelope->type_length] = '\0';
    rv_lock(&batch->lock);
    rv_envelope_take(envelope, block + id, length); /* the copy has the same content */
    item->lease.id = block;
    rv_unlock(&batch->lock);
    p->memory = block;
    p->call.task.type = type;
    return true;
}

static void free_pulled(rv_pulled *p)
{
    reeve_consumer *c = p->consumer;
    if (p->previous != NULL)
        p->previous->next = p->next;
    else
        c->first = p->next;
    if (p->next != NULL) p->next->previous = p->previous;
    if (c->alone == p) c->alone = NULL;
    rv_task_fini(&p->call.task);
    rv_arena_fini(&p->answers);
    rv_free(p->memory);
    rv_free(p);
}

static rv_pulled *make(reeve_consumer *c, rv_item *item)
{
    rv_pulled *p = rv_zalloc(sizeof(*p));
    if (p == NULL) return NULL;
    if (!copy_lease(p, &c->thread->batch, item)) {
        rv_free(p);
        return NULL;
    }
    const char *type = p->call.task.type;
    rv_task_init(&p->call.task);
    rv_arena_init(&p->answers);
    p->consumer = c;
    p->call.item = item;
    memcpy(p->session, c->thread->batch.sessions[item->lease.queue], sizeof(p->session));
    p->since_ms = item->lease.since_ms;
    p->next = c->first;
    if (p->next != NULL) p->next->previous = p;
    c->first = p;
    rv_run_task_prepare(c->thread, &p->call.task, &p->call.host, item, NULL);
    p->call.task.type = type;
    rv_pulled_host_take(p);
    rv_lock(&c->thread->batch.lock);
    atomic_store(&p->call.stop, item->cancelled);
    atomic_store(&p->call.cancelled, item->cancelled);
    item->call = &p->call;
    rv_unlock(&c->thread->batch.lock);
    return p;
}

void rv_pulled_release(rv_pulled *p)
{
    if (p->held) p->consumer->held--;
    p->held = false;
    atomic_store(&p->consumer->thread->activity, p->consumer->held > 0 ? RV_ACTIVITY_RUNS : RV_ACTIVITY_NONE);
    if (p->call.item == NULL) free_pulled(p);
}

void rv_pulled_note_left(rv_item *item)
{
    rv_pulled *p = (rv_pulled *)(void *)item->call;
    p->call.task.kept_options = item->options; /* the program may still ask for them */
    item->options = NULL;
    p->call.item = NULL;
    p->status = !p->finished || item->refused || rv_batch_is_taken(item) ? REEVE_EREFUSED : REEVE_OK;
    if (!p->held) free_pulled(p);
}

void rv_pulled_free_all(reeve_consumer *c)
{
    while (c->first != NULL) free_pulled(c->first);
}

/* ---- a task that runs alone ------------------------------------------------------------------------------------ */

/* A task that has crashed often: the session notes whether the program holds others beside it, so that the next crash
 * counts for it alone. False: the session does not hold it. */
static bool note_suspect(rv_pulled *p)
{
    reeve_consumer *c = p->consumer;
    if (!rv_alone_note(c->thread, p->call.item, c->held == 0 ? "alone" : "beside")) return false;
    if (c->held == 0) c->alone = p;
    return true;
}

void rv_pulled_note_company(reeve_consumer *c)
{
    rv_pulled *p = c->alone;
    c->alone = NULL;
    if (p != NULL && p->call.item != NULL) (void)rv_alone_note(c->thread, p->call.item, "beside");
}

/* The note comes before the settlement: then the session still holds the task. */
static void end_suspect(rv_pulled *p)
{
    reeve_consumer *c = p->consumer;
    if (c->alone != p) return;
    c->alone = NULL;
    (void)rv_alone_note(c->thread, p->call.item, atomic_load(&p->call.stop) ? "over" : "clear");
}

/* ---- admission ------------------------------------------------------------------------------------------------- */

/* Whether the program gets the task; if not, the task has an outcome. */
static bool may_run(rv_pulled *p, rv_attempt_policy *policy, bool *ret_counts)
{
    rv_item *item = p->call.item;
    reeve_task *task = &p->call.task;
    *ret_counts = true;
    if (atomic_load(&p->call.cancelled)) {
        (void)reeve_task_snooze(task, 1);
        return false;
    }
    if (rv_run_task_is_barred(task, item, policy)) {
        *ret_counts = false;
        return false;
    }
    bool suspect = rv_alone_is_due(item, policy->max_crashes);
    if ((suspect && !note_suspect(p)) || (policy->once && !rv_at_most_once_settle(p->consumer->thread, item, policy))) {
        (void)rv_run_task_not_begun(task, item);
        return false;
    }
    task->past = policy->once;
    return true;
}

static void set_state(rv_thread *t, rv_item *item, rv_item_state state)
{
    rv_lock(&t->batch.lock);
    item->state = state;
    item->until_ms = RV_FOREVER;
    rv_unlock(&t->batch.lock);
}

/* False: it has an outcome. */
static bool admit(reeve_consumer *c, rv_item *item, reeve_task **ret)
{
    bool counts;
    rv_attempt_policy policy;
    rv_thread *t = c->thread;
    rv_queue_session *queue_session = t->pool->queue_sessions[item->lease.queue];
    rv_pulled *p = rv_attempt_policy_read(item, queue_session) ? make(c, item) : NULL;
    if (p == NULL) {
        rv_run_task_no_memory(t, item);
        set_state(t, item, RV_ITEM_FINISHED);
        return false;
    }
    rv_attempt_policy_choose(&policy, item, NULL, queue_session);
    if (!may_run(p, &policy, &counts)) {
        rv_run_task_settle(t, &p->call.task, item, NULL, &policy, p->call.task.outcome, counts);
        set_state(t, item, RV_ITEM_FINISHED);
        return false;
    }
    p->held = true;
    c->held++;
    set_state(t, item, RV_ITEM_RUNNING);
    rv_run_task_set_limits(t, item, &policy);
    *ret = &p->call.task;
    return true;
}

/* Tasks were admitted. */
static void note_admitted(reeve_consumer *c)
{
    rv_lock(&c->thread->batch.lock);
    rv_batch_note_pulled(&c->thread->batch);
    int64_t until_ms = c->thread->batch.running_until_ms;
    rv_unlock(&c->thread->batch.lock);
    rv_wakeup_keeper_at(c->worker, until_ms);
    atomic_store(&c->thread->activity, RV_ACTIVITY_RUNS);
}

unsigned rv_pulled_admit(reeve_consumer *c, reeve_task **ret, unsigned max)
{
    unsigned count = 0;
    for (size_t i = 0; i < c->thread->batch.count && count < max; i++) {
        rv_item *item = &c->thread->batch.items[i];
        if (item->state == RV_ITEM_WAITING && admit(c, item, &ret[count])) count++;
    }
    if (count > 0) note_admitted(c);
    return count;
}

bool rv_pulled_admit_id(reeve_consumer *c, reeve_task **ret, size_t queue, const char *id)
{
    for (size_t i = 0; i < c->thread->batch.count; i++) {
        rv_item *item = &c->thread->batch.items[i];
        if (item->state != RV_ITEM_WAITING || item->lease.queue != queue || strcmp(item->lease.id, id) != 0) continue;
        if (!admit(c, item, ret)) return false;
        note_admitted(c);
        return true;
    }
    return false;
}

/* ---- outcomes -------------------------------------------------------------------------------------------------- */

bool rv_pulled_any_finished(const reeve_consumer *c)
{
    return rv_batch_count(&c->thread->batch, RV_ITEM_FINISHED) > 0;
}

static rv_item_state state_of(rv_thread *t, const rv_item *item, bool *ret_refused)
{
    rv_lock(&t->batch.lock);
    rv_item_state state = item->taken ? RV_ITEM_OFFLOADED : item->state;
    *ret_refused = item->refused;
    rv_unlock(&t->batch.lock);
    return state;
}

/* As rv_batch_note_pulled, for one that ran without a limit. */
static void note_next(rv_batch *batch, const rv_item *item)
{
    if (item->until_ms != RV_FOREVER) {
        rv_batch_note_pulled(batch);
        return;
    }
    if (item != &batch->items[batch->running]) return;
    while (batch->running < batch->count && batch->items[batch->running].state != RV_ITEM_RUNNING) batch->running++;
    if (batch->running == batch->count)
        batch->running = RV_NONE;
    else
        batch->running_since_ms = batch->items[batch->running].leased_ms;
}

/* The keeper may have taken it over meanwhile. */
static reeve_status note_finished(rv_thread *t, rv_item *item)
{
    rv_lock(&t->batch.lock);
    bool runs = item->state == RV_ITEM_RUNNING && !item->taken;
    int64_t run_us = (rv_now_ms() - item->leased_ms) * 1000;
    if (runs) item->run_us = run_us > 0 ? run_us : 1;
    if (runs) item->state = RV_ITEM_FINISHED;
    if (runs) note_next(&t->batch, item);
    rv_unlock(&t->batch.lock);
    return runs ? REEVE_OK : REEVE_EREFUSED;
}

reeve_status rv_pulled_finish(rv_pulled *p, reeve_outcome outcome)
{
    reeve_consumer *c = p->consumer;
    rv_thread *t = c->thread;
    rv_item *item = p->call.item;
    bool refused;
    rv_attempt_policy policy;
    if (p->chosen != REEVE_OUTCOME_NONE && outcome == p->chosen) outcome = p->call.task.outcome;
    if (item == NULL) return REEVE_OK; /* a later call has sent it: p->status tells */
    rv_item_state state = state_of(t, item, &refused);
    if (state == RV_ITEM_FINISHED && p->finished && !refused) return REEVE_OK;
    if (state == RV_ITEM_RUNNING && !refused && (outcome == REEVE_OUTCOME_NONE || outcome != p->call.task.outcome))
        return rv_fail(&c->error, REEVE_EINVAL, "the outcome is not the value of the task's last outcome function");
    if (state != RV_ITEM_RUNNING || refused) {
        if (state == RV_ITEM_RUNNING) (void)note_finished(t, item);
        return rv_fail(&c->error, REEVE_EREFUSED, "%s", reeve_status_text(REEVE_EREFUSED));
    }
    rv_attempt_policy_choose(&policy, item, NULL, t->pool->queue_sessions[item->lease.queue]);
    end_suspect(p);
    rv_at_most_once_end(t, item, &policy);
    rv_run_task_settle(t, &p->call.task, item, NULL, &policy, outcome, true);
    c->finished_bytes += item->settlement.result.length + item->settlement.chained.length;
    p->finished = note_finished(t, item) == REEVE_OK;
    if (p->finished) return REEVE_OK;
    return rv_fail(&c->error, REEVE_EREFUSED, "%s", reeve_status_text(REEVE_EREFUSED));
}
