#include "worker/many.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "worker/lock.h"
#include "worker/notice.h"
#include "worker/once.h"
#include "worker/run.h"

reeve_status rv_many_check(const reeve_handler *handler, const char *what, rv_error *error)
{
    if (handler->run == NULL && handler->run_many == NULL)
        return rv_fail(error, REEVE_EINVAL, "%s has no function to run", what);
    if (handler->run != NULL && handler->run_many != NULL)
        return rv_fail(error, REEVE_EINVAL, "%s has both run and run_many: it can have one of them", what);
    if (handler->run_many == NULL && (handler->many != 0 || handler->many_wait_ms != 0))
        return rv_fail(error, REEVE_EINVAL, "%s takes one task at a time: many is for those with run_many", what);
    if (handler->many > REEVE_MANY_MAX)
        return rv_fail(error, REEVE_EINVAL, "%s is to take %u tasks in a call: at most %d", what, handler->many,
                       REEVE_MANY_MAX);
    if (handler->many_wait_ms < 0) return rv_fail(error, REEVE_EINVAL, "%s: the wait for many tasks is negative", what);
    return REEVE_OK;
}

/* ---- outcomes --------------------------------------------------------------------------------------------------- */

static reeve_outcome take_outcome(reeve_task *task, const char *type)
{
    if (task->verb != REEVE_OUTCOME_NONE) return task->verb;
    return rv_task_failed(task, REEVE_OUTCOME_RETRY, "handler",
                          "the handler of \"%s\" called no verb (reeve_task_done and so on) on this task", type);
}

reeve_outcome rv_many_run_one(reeve_task *task, const reeve_handler *handler)
{
    reeve_task *const tasks[] = {task};
    handler->run_many(tasks, 1, handler->user);
    return take_outcome(task, handler->type);
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

/* More than this is not kept for company. */
#define KEPT_BYTES ((size_t)32 * 1024 * 1024)

typedef struct group {
    size_t count;
    const rv_item *oldest;
} group;

static bool is_of_group(const rv_item *item, const rv_item *first)
{
    return item->state == RV_ITEM_WAITING && item->many == first->many && item->lease.queue == first->lease.queue &&
           item->lease.crashes == 0;
}

static group look_at_group(const rv_batch *batch, const rv_item *first)
{
    group found = {.oldest = first};
    for (size_t i = 0; i < batch->count; i++) {
        const rv_item *item = &batch->items[i];
        if (!is_of_group(item, first)) continue;
        found.count++;
        if (item->leased_ms < found.oldest->leased_ms) found.oldest = item;
    }
    return found;
}

/* A task that a crash left behind and that came to company: it waits until the others are settled. */
static bool has_suspect(const rv_batch *batch)
{
    for (size_t i = 0; batch->count > 1 && i < batch->count; i++) {
        if (batch->items[i].lease.crashes > 0 && batch->items[i].state == RV_ITEM_WAITING) return true;
    }
    return false;
}

bool rv_many_is_ripe(const rv_thread *t, const rv_item *item, int64_t now_ms)
{
    const rv_batch *batch = &t->batch;
    if (!t->gathers) return true;
    if (item->lease.crashes > 0) return batch->count == 1;
    if (item->many == NULL) return true;
    const reeve_handler *handler = &item->many->handler;
    group found = look_at_group(batch, item);
    if (found.count >= rv_many_most(handler) || 2 * batch->count >= batch->capacity) return true;
    if (t->kept_bytes > KEPT_BYTES || has_suspect(batch)) return true;
    /* (When the lease was as large as was asked for there may be more: that is asked once.) */
    return now_ms - found.oldest->leased_ms >= handler->many_wait_ms && (!t->full || found.oldest->held != NULL);
}

size_t rv_many_pick(rv_thread *t, size_t first)
{
    rv_batch *batch = &t->batch;
    size_t count = 1, most = rv_many_most(&batch->items[first].many->handler);
    t->picked[0] = &batch->items[first];
    for (size_t i = first + 1; i < batch->count && count < most && t->picked[0]->lease.crashes == 0; i++) {
        if (is_of_group(&batch->items[i], t->picked[0])) t->picked[count++] = &batch->items[i];
    }
    for (size_t i = 0; i < count; i++) {
        t->picked[i]->state = RV_ITEM_RUNNING;
        t->picked[i]->until_ms = RV_FOREVER;
    }
    return count;
}

static unsigned smaller(size_t a, size_t b)
{
    return (unsigned)(a < b ? a : b);
}

unsigned rv_many_want(const rv_thread *t)
{
    const rv_batch *batch = &t->batch;
    unsigned want = !t->mixed && t->many_want > t->want ? t->many_want : t->want;
    if (!t->gathers) return t->want;
    for (size_t i = 0; i < batch->count; i++) {
        const rv_item *item = &batch->items[i];
        if (item->state != RV_ITEM_WAITING) continue;
        if (item->lease.crashes > 0) return 0; /* (it is to be alone) */
        if (item->many == NULL || (i > 0 && batch->items[i - 1].many == item->many)) continue;
        if (t->mixed) continue;
        unsigned most = rv_many_most(&item->many->handler);
        size_t count = look_at_group(batch, item).count;
        if (count < most && most - count > want) want = (unsigned)(most - count);
    }
    return smaller(want, smaller(batch->capacity / 2, batch->capacity - batch->count));
}

void rv_many_learn(rv_thread *t, size_t called, unsigned most, bool others)
{
    if (called > 0) t->many_want = smaller(4 * called, most);
    /* (What comes with tasks of other types would wait behind these: they say how many.) */
    if (others) {
        t->mixed = true;
    } else if (called > 0 || t->fresh > 0) {
        t->mixed = false;
    }
}

int64_t rv_many_until(const rv_thread *t)
{
    int64_t until = RV_FOREVER;
    for (size_t i = 0; t->gathers && i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->state != RV_ITEM_WAITING || item->many == NULL) continue;
        int64_t wait = item->many->handler.many_wait_ms;
        int64_t ripe = wait < RV_FOREVER - item->leased_ms ? item->leased_ms + wait : RV_FOREVER;
        if (ripe < until) until = ripe;
    }
    return until;
}

/* ---- over the turns --------------------------------------------------------------------------------------------- */

/* The lease, in memory of the item's own. */
static bool copy_lease(rv_item *item)
{
    rv_envelope *envelope = &item->lease.envelope;
    size_t id = strlen(item->lease.id) + 1, length = envelope->header_length + 1 + envelope->payload.length;
    char *block = rv_alloc(id + length + 1);
    if (block == NULL) return false;
    memcpy(block, item->lease.id, id);
    memcpy(block + id, envelope->header, length);
    block[id + length] = '\0';
    (void)rv_envelope_read(envelope, block + id, length); /* (as it was read before) */
    item->lease.id = block;
    item->held = block;
    return true;
}

static void give_back(rv_item *item)
{
    item->outcome = (rv_settlement){.id = item->lease.id, .verb = REEVE_OUTCOME_SNOOZE};
    item->state = RV_ITEM_FINISHED;
}

void rv_many_keep(rv_thread *t)
{
    rv_batch *batch = &t->batch;
    rv_lock(&batch->lock);
    t->kept_bytes = 0;
    batch->resting = true;
    for (size_t i = 0; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        if (item->state != RV_ITEM_WAITING) continue;
        /* (Without memory it is for somebody else.) */
        if (item->held == NULL && !copy_lease(item)) give_back(item);
        t->kept_bytes += item->lease.envelope.payload.length;
    }
    rv_unlock(&batch->lock);
}

void rv_many_drop_lost(rv_thread *t)
{
    rv_batch *batch = &t->batch;
    size_t asked = RV_NONE;
    bool lost = false;
    if (!t->gathers) return;
    rv_lock(&batch->lock);
    for (size_t i = 0; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        if (item->state != RV_ITEM_WAITING || item->held == NULL) continue;
        if (item->lease.queue != asked) {
            rv_session_text present;
            asked = item->lease.queue;
            (void)rv_claim_get(t->pool->claims[asked], present, NULL);
            lost = strcmp(batch->sessions[asked], present) != 0;
        }
        if (lost) rv_item_lose(item);
    }
    rv_unlock(&batch->lock);
}

void rv_many_begin(rv_thread *t)
{
    if (!t->gathers) return;
    rv_many_drop_lost(t);
    rv_lock(&t->batch.lock);
    t->batch.resting = false;
    rv_unlock(&t->batch.lock);
}

/* ---- the call --------------------------------------------------------------------------------------------------- */

static bool make_room(rv_thread *t, size_t count)
{
    size_t room = t->call_room == 0 ? 16 : t->call_room;
    while (room < count) room *= 2;
    if (t->call_room >= count) return true;
    rv_call *calls = rv_realloc_array(t->calls, room, sizeof(*calls));
    if (calls == NULL) return false;
    t->calls = calls;
    reeve_task **tasks = rv_realloc_array(t->call_tasks, room, sizeof(*tasks));
    if (tasks == NULL) return false;
    t->call_tasks = tasks;
    memset(calls + t->call_room, 0, (room - t->call_room) * sizeof(*calls));
    for (size_t i = t->call_room; i < room; i++) rv_task_init(&calls[i].task);
    t->call_room = room;
    return true;
}

void rv_many_fini(rv_thread *t)
{
    rv_free(t->calls); /* (its tasks hold nothing between calls) */
    rv_free(t->call_tasks);
    rv_free(t->picked);
    t->calls = NULL;
    t->call_tasks = NULL;
    t->picked = NULL;
}

/* Prepares the task of an item. */
static void begin_call(rv_thread *t, rv_call *call, rv_item *item)
{
    rv_run_prepare(t, &call->task, &call->host, item, item->many);
    call->host.stop = &call->stop;
    call->host.cancelled = &call->cancelled;
    call->item = item;
    rv_lock(&t->batch.lock);
    atomic_store(&call->stop, item->cancelled || atomic_load(&t->stop));
    atomic_store(&call->cancelled, item->cancelled);
    item->call = call;
    rv_unlock(&t->batch.lock);
}

/* What keeps a task from being run; its limits begin when it is. (One that runs at most once is settled by itself.) */
static void admit(rv_thread *t, rv_call *call, const rv_handler *handler, bool ready)
{
    rv_policy policy;
    rv_item *item = call->item;
    rv_policy_choose(&policy, &item->lease.envelope, handler, t->pool->claims[item->lease.queue]);
    call->counts = true;
    call->task.thread_state = t->states[handler->index];
    if (atomic_load(&call->cancelled)) {
        (void)reeve_task_snooze(&call->task, 1);
    } else if (rv_run_is_barred(&call->task, item, &policy)) {
        call->counts = false;
    } else if (!ready) {
        (void)rv_run_fail_setup(&call->task, handler);
    } else if (policy.once && !rv_thread_settle_first(t, item, &policy)) {
        (void)reeve_task_give_back(&call->task);
    } else {
        rv_run_set_limits(t, item, &policy);
    }
}

/* Those that nothing was decided for yet. */
static size_t list_tasks(rv_thread *t, size_t count)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        if (t->calls[i].task.verb == REEVE_OUTCOME_NONE) t->call_tasks[listed++] = &t->calls[i].task;
    }
    return listed;
}

static void call_handler(rv_thread *t, const rv_handler *handler, size_t count)
{
    size_t listed = list_tasks(t, count);
    if (listed == 0) return;
    if (handler->plugin != NULL) rv_plugin_enter(handler->plugin);
    handler->handler.run_many(t->call_tasks, listed, handler->handler.user);
    if (handler->plugin != NULL) rv_plugin_leave(handler->plugin);
}

static void end_call(rv_thread *t, rv_call *call, const rv_handler *handler)
{
    rv_policy policy;
    rv_item *item = call->item;
    reeve_outcome verb = take_outcome(&call->task, handler->handler.type);
    rv_policy_choose(&policy, &item->lease.envelope, handler, t->pool->claims[item->lease.queue]);
    rv_run_settle(t, &call->task, item, handler, &policy, verb, call->counts);
    rv_lock(&t->batch.lock);
    item->call = NULL;
    rv_unlock(&t->batch.lock);
    rv_task_fini(&call->task);
}

void rv_many_run(rv_thread *t, size_t count)
{
    const rv_handler *handler = t->picked[0]->many;
    if (!make_room(t, count)) {
        for (size_t i = 0; i < count; i++) rv_run_no_memory(t->picked[i]);
        return;
    }
    for (size_t i = 0; i < count; i++) begin_call(t, &t->calls[i], t->picked[i]);
    bool ready = rv_run_set_up(t, handler);
    for (size_t i = 0; i < count; i++) admit(t, &t->calls[i], handler, ready);
    call_handler(t, handler, count);
    for (size_t i = 0; i < count; i++) end_call(t, &t->calls[i], handler);
}

/* ---- which of the running tasks it is --------------------------------------------------------------------------- */

rv_item *rv_many_item(rv_thread *t, const reeve_task *task)
{
    if (task == &t->task) return &t->batch.items[t->batch.running];
    return ((const rv_call *)(const void *)((const char *)task - offsetof(rv_call, task)))->item;
}

atomic_bool *rv_many_stop(rv_thread *t, const rv_item *item)
{
    return item->call != NULL ? &item->call->stop : &t->stop;
}

atomic_bool *rv_many_cancelled(rv_thread *t, const rv_item *item)
{
    return item->call != NULL ? &item->call->cancelled : &t->cancelled;
}

void rv_many_stop_all(rv_thread *t)
{
    atomic_store(&t->stop, true);
    for (size_t i = 0; i < t->batch.count; i++) {
        if (t->batch.items[i].call != NULL) atomic_store(&t->batch.items[i].call->stop, true);
    }
}
