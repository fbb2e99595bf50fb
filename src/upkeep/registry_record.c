#include "upkeep/registry_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/process_memory.h"
#include "base/text.h"
#include "running/phase.h"
#include "running/pool_threads.h"
#include "upkeep/utilisation.h"

static unsigned count_busy(reeve_worker *worker)
{
    unsigned busy = 0;
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (!atomic_load(&pool->removed)) busy += rv_pool_threads_busy(pool, worker);
    }
    return busy;
}

static void add_text(rv_buf *json, const char *name, const char *text)
{
    rv_buf_adds(json, name);
    rv_buf_add_json(json, text, strlen(text));
}

static void add_share(rv_buf *json, const char *before, double share)
{
    rv_buf_adds(json, before);
    rv_decimal_add_fixed(json, share, 4);
}

/* Of a pool whose number of threads follows the work. */
static void add_sizing(rv_buf *json, reeve_worker *worker, const rv_pool *pool)
{
    const rv_pool_sizing *sizing = &pool->sizing;
    rv_buf_addf(json, ",\"min\":%u,\"max\":%u", atomic_load(&pool->min), atomic_load(&pool->max));
    rv_lock(&worker->lock);
    if (sizing->wait_us >= 0) rv_buf_addf(json, ",\"wait_ms\":%lld", (long long)sizing->wait_us / 1000);
    if (sizing->processor >= 0) add_share(json, ",\"processor\":", sizing->processor);
    if (sizing->why[0] != '\0') add_text(json, ",\"why\":", sizing->why);
    rv_unlock(&worker->lock);
}

static void add_isolation(rv_buf *json, reeve_worker *worker, const rv_pool *pool)
{
    if (!pool->isolated) return;
    rv_buf_adds(json, ",\"isolation\":\"process\"");
    rv_lock(&worker->lock);
    if (pool->in_force[0] != '\0') add_text(json, ",\"sandbox\":", pool->in_force);
    rv_unlock(&worker->lock);
}

static void add_pools(rv_buf *json, reeve_worker *worker)
{
    const char *before = "{\"name\":";
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (atomic_load(&pool->removed)) continue;
        unsigned min = atomic_load(&pool->min), max = atomic_load(&pool->max);
        add_text(json, before, pool->name);
        before = ",{\"name\":";
        rv_buf_addf(json, ",\"threads\":%u,\"busy\":%u", atomic_load(&pool->target),
                    rv_pool_threads_busy(pool, worker));
        add_share(json, ",\"utilisation\":", pool->utilisation.share);
        add_share(json, ",\"utilisation_5m\":", pool->utilisation.share_5m);
        add_share(json, ",\"utilisation_15m\":", pool->utilisation.share_15m);
        if (min != max) add_sizing(json, worker, pool);
        add_isolation(json, worker, pool);
        if (pool->order != REEVE_ORDER_STRICT) rv_buf_addf(json, ",\"order\":\"%s\"", rv_queue_order_word(pool->order));
        rv_buf_adds(json, ",\"queues\":[");
        for (size_t j = 0; j < pool->queue_session_count; j++)
            add_text(json, j > 0 ? "," : "", pool->queue_sessions[j]->queue);
        rv_buf_adds(json, "]}");
    }
}

/* Adds the types of the handlers, up to a number that keeps the record small. */
static void add_types(rv_buf *json, const rv_handlers *handlers)
{
    rv_buf_adds(json, ",\"types\":[");
    for (size_t i = 0; i < handlers->count && i < RV_REGISTRY_RECORD_TYPES; i++)
        add_text(json, i > 0 ? "," : "", handlers->list[i]->handler.type);
    rv_buf_adds(json, handlers->count > RV_REGISTRY_RECORD_TYPES ? "],\"types_more\":true" : "]");
}

static bool is_newer(const rv_handler_set *from, const rv_handler_set *to, const reeve_plugin_handle *plugin)
{
    for (; from != to; from = from->older)
        for (size_t i = 0; i < from->plugin_count; i++)
            if (from->plugins[i] == plugin) return true;
    return false;
}

static void add_plugin(rv_buf *json, const reeve_plugin_handle *plugin, bool ends)
{
    const char *version = plugin->plugin.version;
    add_text(json, "{\"name\":", plugin->plugin.name);
    add_text(json, ",\"version\":", version != NULL ? version : "");
    add_text(json, ",\"path\":", plugin->path);
    rv_buf_addf(json, ",\"loaded\":%lld,\"ends\":%s}", (long long)plugin->loaded_ms, ends ? "true" : "false");
}

/* Adds the plugins, and behind them the versions that were replaced and in which tasks still run. */
static void add_plugins(rv_buf *json, const rv_handler_set *present)
{
    unsigned added = 0;
    rv_buf_adds(json, ",\"plugins\":[");
    for (const rv_handler_set *set = present; set != NULL; set = set->older) {
        for (size_t i = 0; i < set->plugin_count && added < RV_REGISTRY_RECORD_PLUGINS; i++) {
            if (is_newer(present, set, set->plugins[i])) continue;
            rv_buf_adds(json, added++ > 0 ? "," : "");
            add_plugin(json, set->plugins[i], set != present);
        }
    }
    rv_buf_adds(json, "]");
}

/* ---- what runs ------------------------------------------------------------------------------------------------- */

typedef struct running {
    rv_thread *thread;
    int64_t since_ms;
} running;

/* Lists the threads that run a task, and since when. */
static size_t find_running(reeve_worker *worker, running *list, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->pool_count; i++) {
        for (unsigned j = 0; j < rv_worker_pool(worker, i)->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(rv_worker_pool(worker, i), j);
            rv_lock(&t->batch.lock);
            if (t->batch.running != RV_NONE && count < max)
                list[count++] = (running){.thread = t, .since_ms = t->batch.running_since_ms};
            rv_unlock(&t->batch.lock);
        }
    }
    return count;
}

static int by_start(const void *a, const void *b)
{
    const running *left = a, *right = b;
    return left->since_ms < right->since_ms ? -1 : left->since_ms > right->since_ms;
}

static void add_item(rv_buf *json, const rv_thread *t, const rv_item *item, int64_t for_ms, const char *comma)
{
    const rv_lease *lease = &item->lease;
    rv_buf_adds(json, comma);
    add_text(json, "{\"thread\":", t->name);
    add_text(json, ",\"queue\":", t->pool->queue_sessions[lease->queue]->queue);
    add_text(json, ",\"id\":", lease->id);
    rv_buf_adds(json, ",\"type\":");
    rv_buf_add_json(json, lease->envelope.type, lease->envelope.type_length);
    rv_buf_addf(json, ",\"for_ms\":%lld", (long long)(for_ms > 0 ? for_ms : 0));
    rv_buf_adds(json, atomic_load(&t->stuck) ? ",\"stuck\":true}" : ",\"stuck\":false}");
}

/* Adds the tasks that the program of a consumer holds, the first leased ones. */
static void add_pulled(rv_buf *json, rv_thread *t, int64_t now_ms)
{
    unsigned added = 0;
    rv_lock(&t->batch.lock);
    for (size_t i = 0; i < t->batch.count && added < RV_REGISTRY_RECORD_RUNNING; i++) {
        const rv_item *item = &t->batch.items[i];
        if (item->state != RV_ITEM_RUNNING || item->taken) continue;
        add_item(json, t, item, now_ms - item->leased_ms, added++ > 0 ? "," : "");
    }
    rv_unlock(&t->batch.lock);
}

/* Adds the running task of a thread, under the lock: the thread reuses the memory of the lease when the task has
 * ended. It may run another task by now. */
static bool add_running(rv_buf *json, rv_thread *t, const char *comma, int64_t now_ms)
{
    rv_batch *batch = &t->batch;
    rv_lock(&batch->lock);
    bool runs = batch->running != RV_NONE;
    if (runs) add_item(json, t, &batch->items[batch->running], now_ms - batch->running_since_ms, comma);
    rv_unlock(&batch->lock);
    return runs;
}

/* Those that retire, or have ended, included. */
static size_t count_threads(reeve_worker *worker)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->pool_count; i++) count += rv_worker_pool(worker, i)->thread_count;
    return count;
}

static void add_all_running(rv_buf *json, reeve_worker *worker)
{
    int64_t now = rv_now_ms();
    if (worker->is_consumer) {
        add_pulled(json, rv_worker_pool_thread(rv_worker_pool(worker, 0), 0), now);
        return;
    }
    size_t max = count_threads(worker);
    running *list = rv_zalloc_array(max + 1, sizeof(*list));
    size_t count = list != NULL ? find_running(worker, list, max) : 0;
    bool any = false;
    if (count > 1) qsort(list, count, sizeof(*list), by_start);
    for (size_t i = 0; i < count && i < RV_REGISTRY_RECORD_RUNNING; i++)
        any = add_running(json, list[i].thread, any ? "," : "", now) || any;
    rv_free(list);
}

/* ---- the entry ------------------------------------------------------------------------------------------------- */

void rv_registry_record_write(rv_buf *json, reeve_worker *worker)
{
    const rv_stats *stats = &worker->stats;
    rv_utilisation_measure(worker, rv_now_us());
    rv_buf_clear(json);
    add_text(json, "{\"name\":", worker->name);
    add_text(json, ",\"host\":", worker->host);
    rv_buf_addf(json, ",\"pid\":%ld,\"version\":\"" REEVE_VERSION "\",\"started\":%lld,\"seen\":%lld,\"state\":\"%s\"",
                (long)getpid(), (long long)worker->started_wall_ms, (long long)rv_wall_ms(), rv_phase_word(worker));
    rv_buf_addf(json, ",\"threads\":%u,\"busy\":%u,\"processed\":%llu,\"failed\":%llu", worker->thread_count,
                count_busy(worker), atomic_load(&stats->completed) + atomic_load(&stats->failed),
                atomic_load(&stats->failed));
    rv_buf_addf(json, ",\"memory\":%lld,\"round_trip\":%lld", (long long)rv_process_memory(0),
                (long long)atomic_load(&worker->heart.round_trip_us));
    add_share(json, ",\"utilisation\":", rv_utilisation_of_worker(worker));
    rv_buf_adds(json, ",\"running\":[");
    add_all_running(json, worker);
    rv_buf_adds(json, "],\"pools\":[");
    add_pools(json, worker);
    rv_buf_adds(json, "]");
    rv_lock(&worker->lock); /* a set that is closed leaves the list under it */
    add_types(json, &worker->set->handlers);
    add_plugins(json, worker->set);
    rv_unlock(&worker->lock);
    rv_buf_adds(json, "}");
}
