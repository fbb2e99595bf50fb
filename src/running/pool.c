/*
 * pool.c - pools and their queue sessions: which threads serve which queues.
 */
#include <stdio.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "running/pool.h"
#include "running/pool_slots.h"
#include "running/share.h"
#include "running/thread.h"

#define QUEUES_MAX 1000
#define THREADS_MAX 1024
#define DEFAULT_BATCH 128
#define DEFAULT_BATCH_MS 5
#define BATCH_MS_MAX 1000

/* The worker's queue session on a queue; pools that serve the same queue share it. */
static rv_queue_session *queue_session_of(reeve_worker *worker, const char *queue)
{
    for (size_t i = 0; i < worker->queue_session_count; i++) {
        if (strcmp(worker->queue_sessions[i]->queue, queue) == 0) return worker->queue_sessions[i];
    }
    rv_queue_session **queue_sessions =
        rv_realloc_array(worker->queue_sessions, worker->queue_session_count + 1, sizeof(rv_queue_session *));
    if (queue_sessions == NULL) return NULL;
    worker->queue_sessions = queue_sessions;
    rv_queue_session *queue_session = rv_zalloc(sizeof(*queue_session));
    if (queue_session == NULL) return NULL;
    rv_queue_session_init(queue_session, worker->ns, queue, worker->id);
    worker->queue_sessions[worker->queue_session_count++] = queue_session;
    return queue_session;
}

static reeve_status check_order(const reeve_pool_options *o, const char *name, rv_error *error)
{
    if (o->order != REEVE_ORDER_STRICT && o->order != REEVE_ORDER_WEIGHTED && o->order != REEVE_ORDER_ROUND_ROBIN)
        return rv_fail(error, REEVE_EINVAL, "pool %s: there is no such order", name);
    if (o->weights == NULL) return REEVE_OK;
    if (o->order != REEVE_ORDER_WEIGHTED)
        return rv_fail(error, REEVE_EINVAL, "pool %s: weights are for REEVE_ORDER_WEIGHTED only", name);
    for (size_t i = 0; i < o->queue_count; i++) {
        if (o->weights[i] >= 1 && o->weights[i] <= RV_WEIGHT_MAX) continue;
        return rv_fail(error, REEVE_EINVAL, "pool %s: the weight of queue %zu is %u: it must be from 1 to %d", name,
                       i + 1, o->weights[i], RV_WEIGHT_MAX);
    }
    return REEVE_OK;
}

static reeve_status check(reeve_worker *worker, const reeve_pool_options *o)
{
    rv_error *error = &worker->error;
    const char *name = o->name != NULL ? o->name : "(unnamed)";
    if (o->queues == NULL || o->queue_count == 0) return rv_fail(error, REEVE_EINVAL, "pool %s serves no queue", name);
    if (o->queue_count > QUEUES_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: at most %d queues", name, QUEUES_MAX);
    if (o->threads > THREADS_MAX) return rv_fail(error, REEVE_EINVAL, "pool %s: at most %d threads", name, THREADS_MAX);
    if (o->batch > RV_BATCH_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a batch has at most %d tasks", name, RV_BATCH_MAX);
    if (o->batch_ms < 0 || o->batch_ms > BATCH_MS_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a batch takes at most %d ms", name, BATCH_MS_MAX);
    reeve_status ordered = check_order(o, name, error);
    if (ordered != REEVE_OK) return ordered;
    for (size_t i = 0; i < o->queue_count; i++) {
        reeve_status status = rv_keys_check_queue(o->queues[i], error);
        if (status != REEVE_OK) return status;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(o->queues[i], o->queues[j]) == 0) {
                return rv_fail(error, REEVE_EDUPLICATE, "pool %s: queue %s stands there twice", name, o->queues[i]);
            }
        }
    }
    return REEVE_OK;
}

void rv_pool_free(rv_pool *pool)
{
    if (pool == NULL) return;
    for (unsigned i = 0; pool->threads != NULL && i < pool->thread_count; i++) rv_thread_fini(&pool->threads[i]);
    rv_free(pool->threads);
    rv_share_fini(&pool->own_sharing);
    rv_free(pool->queue_sessions);
    rv_free(pool->weights);
    rv_free(pool);
}

/* Whether threads of both would ask the same queues in the same order. */
static bool is_like(const rv_pool *pool, const rv_pool *other)
{
    size_t count = pool->queue_session_count;
    if (other->queue_session_count != count || other->order != pool->order) return false;
    if ((other->weights == NULL) != (pool->weights == NULL)) return false;
    if (memcmp(other->queue_sessions, pool->queue_sessions, count * sizeof(rv_queue_session *)) != 0) return false;
    return pool->weights == NULL || memcmp(other->weights, pool->weights, count * sizeof(*pool->weights)) == 0;
}

/* Its threads share calls with one another, and with those of a pool that is like it. */
static bool share(reeve_worker *worker, rv_pool *pool)
{
    size_t i = 0;
    while (i < worker->pool_count && !is_like(pool, worker->pools[i])) i++;
    bool alone = i == worker->pool_count;
    if (alone && !rv_share_init(&pool->own_sharing, pool->order, pool->queue_session_count)) return false;
    pool->sharing = alone ? &pool->own_sharing : worker->pools[i]->sharing;
    pool->sharing->threads += pool->thread_count;
    return true;
}

static rv_pool *make(reeve_worker *worker, const reeve_pool_options *o)
{
    rv_pool *pool = rv_zalloc(sizeof(*pool));
    if (pool == NULL) return NULL;
    snprintf(pool->name, sizeof(pool->name), "pool-%u", (unsigned)(worker->pool_count + 1) % 100000);
    if (o->name != NULL && o->name[0] != '\0') rv_copy_text(pool->name, sizeof(pool->name), o->name);
    pool->batch = o->batch == 0 ? DEFAULT_BATCH : o->batch;
    pool->batch_us = 1000 * (o->batch_ms == 0 ? DEFAULT_BATCH_MS : o->batch_ms);
    pool->thread_count = o->threads == 0 ? 1 : o->threads;
    pool->order = o->order;
    if (o->weights != NULL) pool->weights = rv_memdup(o->weights, o->queue_count * sizeof(*o->weights));
    pool->queue_sessions = rv_zalloc_array(o->queue_count, sizeof(rv_queue_session *));
    bool good = pool->queue_sessions != NULL && (o->weights == NULL || pool->weights != NULL);
    for (size_t i = 0; good && i < o->queue_count; i++) {
        pool->queue_sessions[pool->queue_session_count] = queue_session_of(worker, o->queues[i]);
        good = pool->queue_sessions[pool->queue_session_count++] != NULL;
    }
    if (good && share(worker, pool)) return pool;
    rv_pool_free(pool);
    return NULL;
}

reeve_status reeve_worker_add_pool_sized(reeve_worker *worker, const reeve_pool_options *given, size_t options_size)
{
    reeve_pool_options options;
    if (worker == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = RV_LAYOUT_READ(&options, given, options_size, "the pool's options", &worker->error);
    if (status != REEVE_OK) return status;
    if (rv_worker_phase(worker) != RV_PHASE_CREATED)
        return rv_fail(&worker->error, REEVE_ESTATE, "the worker has started: pools are added before");
    status = check(worker, &options);
    if (status != REEVE_OK) return status;
    rv_pool **pools = rv_realloc_array(worker->pools, worker->pool_count + 1, sizeof(rv_pool *));
    if (pools == NULL) return rv_fail(&worker->error, REEVE_ENOMEM, "no memory for a pool");
    worker->pools = pools;
    rv_pool *pool = make(worker, &options);
    if (pool == NULL) return rv_fail(&worker->error, REEVE_ENOMEM, "no memory for a pool");
    worker->pools[worker->pool_count++] = pool;
    worker->thread_count += pool->thread_count;
    return REEVE_OK;
}

reeve_status rv_pool_prepare(rv_pool *pool, reeve_worker *worker, unsigned *number, rv_error *error)
{
    reeve_status fit = rv_pool_slots_check(pool, worker, error);
    if (fit != REEVE_OK) return fit;
    pool->threads = rv_zalloc_array(pool->thread_count, sizeof(*pool->threads));
    if (pool->threads == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for %u threads", pool->thread_count);
    for (unsigned i = 0; i < pool->thread_count; i++) pool->threads[i].waker.fd = -1;
    for (unsigned i = 0; i < pool->thread_count; i++) {
        reeve_status status = rv_thread_init(&pool->threads[i], pool, worker, (*number)++, error);
        if (status != REEVE_OK) return status;
    }
    return REEVE_OK;
}
