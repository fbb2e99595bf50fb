#include "running/batch_handler.h"

#include <string.h>

#include "base/lock.h"
#include "base/mem.h"

/* ---- groups ----------------------------------------------------------------------------------------------------- */

/* The maximum size of the payloads of kept tasks. */
#define KEPT_BYTES ((size_t)32 * 1024 * 1024)

typedef struct group {
    size_t count;
    const rv_item *oldest;
} group;

static bool is_of_group(const rv_item *item, const rv_item *first)
{
    return item->state == RV_ITEM_WAITING && item->batch_handler == first->batch_handler &&
           item->lease.queue == first->lease.queue && item->lease.crashes == 0;
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

/* Whether a task that crashed before is in the batch with others: it waits until these are settled. */
static bool has_suspect(const rv_batch *batch)
{
    for (size_t i = 0; batch->count > 1 && i < batch->count; i++) {
        if (batch->items[i].lease.crashes > 0 && batch->items[i].state == RV_ITEM_WAITING) return true;
    }
    return false;
}

bool rv_batch_handler_is_ripe(const rv_thread *t, const rv_item *item, int64_t now_ms)
{
    const rv_batch *batch = &t->batch;
    if (!t->gathers) return true;
    if (item->lease.crashes > 0) return batch->count == 1;
    if (item->batch_handler == NULL) return true;
    const reeve_handler *handler = &item->batch_handler->handler;
    group found = look_at_group(batch, item);
    if (found.count >= rv_batch_handler_max(handler) || 2 * batch->count >= batch->capacity) return true;
    if (t->kept_bytes > KEPT_BYTES || has_suspect(batch)) return true;
    /* When the lease was as large as requested, more tasks may be ready: one more turn asks for them. */
    return now_ms - found.oldest->leased_ms >= handler->batch_wait_ms && (!t->full || found.oldest->held != NULL);
}

bool rv_batch_handler_has_ripe(rv_thread *t)
{
    bool found = false;
    if (!t->gathers) return false;
    int64_t now_ms = rv_now_ms();
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count && !found; i++) {
        const rv_item *item = &t->batch.items[i];
        found = item->state == RV_ITEM_WAITING && rv_batch_handler_is_ripe(t, item, now_ms);
    }
    rv_unlock(&t->batch.lock);
    return found;
}

size_t rv_batch_handler_pick(rv_thread *t, size_t first)
{
    rv_batch *batch = &t->batch;
    size_t count = 1, max = rv_batch_handler_max(&batch->items[first].batch_handler->handler);
    t->picked[0] = &batch->items[first];
    for (size_t i = first + 1; i < batch->count && count < max && t->picked[0]->lease.crashes == 0; i++) {
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

unsigned rv_batch_handler_want(const rv_thread *t)
{
    const rv_batch *batch = &t->batch;
    unsigned want = !t->mixed && t->batch_handler_want > t->want ? t->batch_handler_want : t->want;
    if (!t->gathers) return t->want;
    for (size_t i = 0; i < batch->count; i++) {
        const rv_item *item = &batch->items[i];
        if (item->state != RV_ITEM_WAITING) continue;
        if (item->lease.crashes > 0) return 0; /* it runs alone */
        if (item->batch_handler == NULL || (i > 0 && batch->items[i - 1].batch_handler == item->batch_handler))
            continue;
        if (t->mixed) continue;
        unsigned max = rv_batch_handler_max(&item->batch_handler->handler);
        size_t count = look_at_group(batch, item).count;
        if (count < max && max - count > want) want = (unsigned)(max - count);
    }
    return smaller(want, smaller(batch->capacity / 2, batch->capacity - batch->count));
}

void rv_batch_handler_learn(rv_thread *t, size_t called, unsigned max, bool others)
{
    if (called > 0) t->batch_handler_want = smaller(4 * called, max);
    /* Tasks that are leased together with others would wait behind these, whose run times decide the number then. */
    if (others) {
        t->mixed = true;
    } else if (called > 0 || t->fresh > 0) {
        t->mixed = false;
    }
}

int64_t rv_batch_handler_until(const rv_thread *t)
{
    int64_t until = t->wait_until_ms > 0 ? t->wait_until_ms : RV_FOREVER;
    for (size_t i = 0; t->gathers && i < t->batch.count; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->state != RV_ITEM_WAITING || item->batch_handler == NULL) continue;
        int64_t wait = item->batch_handler->handler.batch_wait_ms;
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
    size_t id = rv_lease_id_length(&item->lease) + 1, length = rv_envelope_length(envelope);
    char *block = rv_alloc(id + length + 1);
    if (block == NULL) return false;
    memcpy(block, item->lease.id, id);
    memcpy(block + id, envelope->header, length);
    block[id + length] = '\0';
    rv_envelope_take(envelope, block + id, length); /* the copy has the same content */
    item->lease.id = block;
    item->held = block;
    return true;
}

static void give_back(rv_item *item)
{
    item->settlement = rv_settlement_give_back(&item->lease);
    item->state = RV_ITEM_FINISHED;
}

void rv_batch_handler_keep(rv_thread *t)
{
    rv_batch *batch = &t->batch;
    rv_lock(&batch->lock);
    t->kept_bytes = 0;
    batch->resting = true;
    for (size_t i = 0; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        if (item->state != RV_ITEM_WAITING) continue;
        /* Without memory for the copy another thread gets the task. */
        if (item->held == NULL && !copy_lease(item)) give_back(item);
        t->kept_bytes += item->lease.envelope.payload.length;
    }
    rv_unlock(&batch->lock);
}

void rv_batch_handler_drop_lost(rv_thread *t)
{
    rv_batch *batch = &t->batch;
    size_t asked = RV_NONE;
    bool lost = false;
    if (!t->gathers && !batch->pulled) return;
    rv_lock(&batch->lock);
    for (size_t i = 0; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        bool pulled = batch->pulled && item->state == RV_ITEM_RUNNING;
        if (!pulled && (item->state != RV_ITEM_WAITING || item->held == NULL)) continue;
        if (item->lease.queue != asked) {
            rv_session_text present;
            asked = item->lease.queue;
            (void)rv_queue_session_get(t->pool->queue_sessions[asked], present);
            lost = strcmp(batch->sessions[asked], present) != 0;
        }
        if (lost) rv_batch_lose_item(batch, item);
    }
    rv_unlock(&batch->lock);
}

void rv_batch_handler_begin(rv_thread *t)
{
    if (!t->gathers) return;
    rv_batch_handler_drop_lost(t);
    rv_lock(&t->batch.lock);
    t->batch.resting = false;
    rv_unlock(&t->batch.lock);
}
