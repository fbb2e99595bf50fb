#include "running/batch.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "running/flight.h"
#include "running/invocation.h"

reeve_status rv_batch_init(rv_batch *batch, size_t max, size_t queues, rv_error *error)
{
    memset(batch, 0, sizeof(*batch));
    /* Twice the size of a lease: after a lost connection the tasks of the lost lease are here for a moment as well. */
    batch->capacity = 2 * max;
    batch->running = RV_NONE;
    batch->items = rv_zalloc_array(batch->capacity, sizeof(*batch->items));
    batch->sessions = rv_zalloc_array(queues, sizeof(*batch->sessions));
    if (batch->items == NULL || batch->sessions == NULL) {
        rv_free(batch->items);
        rv_free(batch->sessions);
        batch->items = NULL;
        batch->sessions = NULL;
        return rv_fail(error, REEVE_ENOMEM, "no memory for a thread's batch");
    }
    rv_lock_init(&batch->lock);
    return REEVE_OK;
}

void rv_batch_fini(rv_batch *batch)
{
    if (batch->items == NULL) return;
    rv_batch_clear(batch);
    rv_lock_fini(&batch->lock);
    rv_free(batch->items);
    rv_free(batch->sessions);
    batch->items = NULL;
}

static void empty(rv_item *item)
{
    rv_flight_clear(item);
    cJSON_Delete(item->options);
    rv_free(item->kept);
    rv_free(item->held);
    item->options = NULL;
    item->kept = NULL;
    item->held = NULL;
}

void rv_batch_clear(rv_batch *batch)
{
    rv_lock(&batch->lock);
    for (size_t i = 0; i < batch->count; i++) empty(&batch->items[i]);
    batch->count = 0;
    batch->running = RV_NONE;
    rv_flight_forget_data(batch->flight);
    rv_unlock(&batch->lock);
}

void rv_batch_settle(rv_batch *batch)
{
    size_t kept = 0;
    rv_lock(&batch->lock);
    for (size_t i = 0; i < batch->count; i++) {
        rv_item *item = &batch->items[i];
        bool runs = batch->pulled && item->state == RV_ITEM_RUNNING && !item->taken;
        if (item->state != RV_ITEM_WAITING && !runs) {
            if (item->call != NULL && batch->left != NULL) batch->left(item);
            empty(item);
            continue;
        }
        if (i != kept) batch->items[kept] = *item;
        if (batch->pulled && item->call != NULL) item->call->item = &batch->items[kept];
        kept++;
    }
    batch->count = kept;
    batch->running = RV_NONE;
    if (batch->pulled) rv_batch_note_pulled(batch);
    rv_flight_forget_data(batch->flight);
    rv_unlock(&batch->lock);
}

void rv_batch_note_pulled(rv_batch *batch)
{
    batch->running = RV_NONE;
    batch->running_until_ms = RV_FOREVER;
    for (size_t i = batch->count; i-- > 0;) {
        const rv_item *item = &batch->items[i];
        if (item->state != RV_ITEM_RUNNING || item->taken) continue;
        batch->running = i;
        batch->running_since_ms = item->leased_ms;
        if (item->until_ms < batch->running_until_ms) batch->running_until_ms = item->until_ms;
    }
}

size_t rv_batch_count(const rv_batch *batch, rv_item_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) count += batch->items[i].state == state;
    return count;
}

int64_t rv_batch_attention(const rv_batch *batch, int64_t now_ms)
{
    size_t waiting = rv_batch_count(batch, RV_ITEM_WAITING);
    if (batch->running == RV_NONE) return waiting > 0 && !batch->resting ? now_ms + RV_PATIENCE_MS : RV_FOREVER;
    if (batch->pulled) return batch->running_until_ms;
    int64_t at = batch->running_until_ms, impatient = batch->running_since_ms + RV_PATIENCE_MS;
    if (batch->late_run_ms == batch->running_since_ms && batch->stuck_at_ms < at) at = batch->stuck_at_ms;
    bool others = waiting > 0;
    for (size_t i = 0; i < batch->count; i++)
        others = others || (batch->items[i].state == RV_ITEM_FINISHED && !batch->items[i].accepted);
    return others && impatient < at ? impatient : at;
}

void rv_batch_take_item(const rv_batch *batch, rv_item *item)
{
    if (batch->pulled) {
        item->taken = true;
        item->until_ms = RV_FOREVER;
    } else {
        item->state = RV_ITEM_OFFLOADED;
    }
}

/* The program learns of it by the flag, and when it settles the task. */
static void lose_pulled(const rv_batch *batch, rv_item *item)
{
    if (item->accepted || item->refused || item->call == NULL) return;
    item->refused = true;
    atomic_store(&item->call->stop, true);
    if (batch->notice != NULL) rv_waker_ring(batch->notice);
}

void rv_batch_lose_item(rv_batch *batch, rv_item *item)
{
    if (batch->pulled && item->state == RV_ITEM_RUNNING) lose_pulled(batch, item);
    if (item->state != RV_ITEM_WAITING) return;
    item->settlement = rv_settlement_give_back(&item->lease);
    item->state = RV_ITEM_FINISHED;
    item->refused = true;
}

int64_t rv_batch_item_wait(const rv_item *item)
{
    int64_t wait_ms = rv_lease_wait(&item->lease);
    return wait_ms < 0 || item->gate_us == 0 ? wait_ms : wait_ms + item->gate_us / 1000;
}
