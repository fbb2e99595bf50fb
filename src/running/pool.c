/*
 * pool.c - pools and their queue sessions: which threads serve which queues.
 */
#include <stdio.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "base/text.h"
#include "isolation/runner_cgroup.h"
#include "protocol/partition.h"
#include "running/flight.h"
#include "running/pool.h"
#include "running/pool_runner.h"
#include "running/pool_slots.h"
#include "running/pool_threads.h"
#include "running/processors.h"
#include "running/share.h"
#include "running/task_metrics.h"
#include "running/thread.h"
#include "running/wakeup.h"

#define QUEUES_MAX 1000
#define RUNNER_MEMORY_MIN (16 * 1024 * 1024)
#define RUNNER_FILES_MIN 16
#define DEFAULT_BATCH 128
#define DEFAULT_BATCH_MS 25
#define BATCH_MS_MAX 1000

/* The worker's queue session on a queue; pools that serve the same queue share it. */
static rv_queue_session *queue_session_of(reeve_worker *worker, const char *queue)
{
    for (size_t i = 0; i < worker->queue_session_count; i++) {
        if (strcmp(rv_worker_queue_session(worker, i)->queue, queue) == 0) return rv_worker_queue_session(worker, i);
    }
    if (!rv_wakeup_add_queue(worker)) return NULL;
    rv_queue_session *queue_session = rv_zalloc(sizeof(*queue_session));
    if (queue_session == NULL) return NULL;
    rv_queue_session_init(queue_session, worker->ns, queue, worker->id);
    /* For want of memory its tasks are not counted. */
    if (worker->metrics) queue_session->metrics = rv_task_metrics_new(&worker->task_series);
    void *list = rv_grown_add(&worker->all_queue_sessions, worker->queue_session_count, queue_session);
    if (list == NULL) {
        rv_queue_session_fini(queue_session);
        rv_free(queue_session);
        return NULL;
    }
    rv_flight_add_queue(worker, queue_session);
    atomic_store(&worker->queue_sessions, list);
    atomic_fetch_add(&worker->queue_session_count, 1);
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

static reeve_status check_runner(const reeve_pool_options *o, const char *name, rv_error *error)
{
    reeve_runner_options runner;
    if (o->runner == NULL) return REEVE_OK;
    if (o->isolation != REEVE_ISOLATION_PROCESS)
        return rv_fail(error, REEVE_EINVAL, "pool %s: limits of runners are for REEVE_ISOLATION_PROCESS only", name);
    reeve_status status = rv_pool_read_runner(&runner, o, error);
    if (status != REEVE_OK) return status;
    const int64_t limits[] = {runner.memory,    runner.cpu_ms,       runner.files,      runner.processes,
                              runner.file_size, runner.max_tasks,    runner.max_memory, runner.max_age_ms,
                              runner.grace_ms,  runner.cgroup_memory};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i] < 0) return rv_fail(error, REEVE_EINVAL, "pool %s: a limit of its runners is negative", name);
    rv_error why = {0};
    rv_runner_sandbox sandbox;
    status = rv_runner_sandbox_choose(&sandbox, &runner, &why);
    if (status != REEVE_OK) return rv_fail(error, status, "pool %s: %.800s", name, why.text);
    bool is_path = runner.cgroup == NULL || runner.cgroup[0] == '/' || strcmp(runner.cgroup, RV_RUNNER_CGROUP_OWN) == 0;
    if (!is_path || (runner.cgroup == NULL && runner.cgroup_memory != 0))
        return rv_fail(error, REEVE_EINVAL, "pool %s: the cgroup of runners must be \"own\" or an absolute path", name);
    if (runner.cgroup_memory != 0 && runner.cgroup_memory < RUNNER_MEMORY_MIN)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a cgroup needs at least %d bytes of memory", name,
                       RUNNER_MEMORY_MIN);
    if (runner.memory != 0 && runner.memory < RUNNER_MEMORY_MIN)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a runner needs at least %d bytes of memory", name,
                       RUNNER_MEMORY_MIN);
    if (runner.files != 0 && runner.files < RUNNER_FILES_MIN)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a runner needs at least %d descriptors", name, RUNNER_FILES_MIN);
    return REEVE_OK;
}

reeve_status rv_pool_read_runner(reeve_runner_options *ret, const reeve_pool_options *o, rv_error *error)
{
    if (o->runner != NULL && o->runner->size == 0)
        return rv_fail(error, REEVE_EINVAL, "the limits of runners lack their size");
    return RV_LAYOUT_READ(ret, o->runner, sizeof(*ret), "the limits of runners", error);
}

#define WAIT_MS_MAX 3600000
#define SHRINK_MS_MAX 86400000

static reeve_status check_size(const reeve_pool_options *o, const char *name, rv_error *error)
{
    unsigned processors;
    rv_error why = {0};
    if (o->threads > 0 && o->threads_min > o->threads)
        return rv_fail(error, REEVE_EINVAL, "pool %s: at least %u and at most %u threads: the first is larger", name,
                       o->threads_min, o->threads);
    if (o->target_wait_ms < 0 || o->target_wait_ms > WAIT_MS_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a target wait is at most %d ms", name, WAIT_MS_MAX);
    if (o->shrink_after_ms < 0 || o->shrink_after_ms > SHRINK_MS_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: it shrinks after at most %d ms", name, SHRINK_MS_MAX);
    if (o->nice < -20 || o->nice > 19)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a niceness is from -20 to 19", name);
    if (o->cpus == NULL || rv_processors_of(o->cpus, &processors, &why) == REEVE_OK) return REEVE_OK;
    return rv_fail(error, REEVE_EINVAL, "pool %s: %s", name, why.text);
}

reeve_status rv_pool_check(const reeve_pool_options *o, rv_error *error)
{
    const char *name = o->name != NULL ? o->name : "(unnamed)";
    if (o->queues == NULL || o->queue_count == 0) return rv_fail(error, REEVE_EINVAL, "pool %s serves no queue", name);
    if (o->queue_count > QUEUES_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: at most %d queues", name, QUEUES_MAX);
    if (o->threads > RV_POOL_THREADS_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: at most %d threads", name, RV_POOL_THREADS_MAX);
    if (o->batch > RV_BATCH_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a batch has at most %d tasks", name, RV_BATCH_MAX);
    if (o->batch_ms < 0 || o->batch_ms > BATCH_MS_MAX)
        return rv_fail(error, REEVE_EINVAL, "pool %s: a batch takes at most %d ms", name, BATCH_MS_MAX);
    if (o->isolation != REEVE_ISOLATION_THREAD && o->isolation != REEVE_ISOLATION_PROCESS)
        return rv_fail(error, REEVE_EINVAL, "pool %s: there is no such isolation", name);
    reeve_status limited = check_runner(o, name, error);
    if (limited != REEVE_OK) return limited;
    reeve_status sized = check_size(o, name, error);
    if (sized != REEVE_OK) return sized;
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
    for (unsigned i = 0; i < pool->thread_count; i++) {
        rv_thread_fini(rv_worker_pool_thread(pool, i));
        rv_free(rv_worker_pool_thread(pool, i));
    }
    rv_grown_fini(&pool->all_threads);
    rv_share_fini(&pool->own_sharing);
    rv_free(pool->queue_sessions);
    rv_free(pool->weights);
    rv_pool_runner_free(&pool->runner);
    rv_free(pool->slots);
    rv_free(pool->families);
    rv_free(pool->cpus);
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
    while (i < worker->pool_count && !is_like(pool, rv_worker_pool(worker, i))) i++;
    bool alone = i == worker->pool_count;
    if (alone && !rv_share_init(&pool->own_sharing, pool->order, pool->queue_session_count)) return false;
    pool->sharing = alone ? &pool->own_sharing : rv_worker_pool(worker, i)->sharing;
    return true;
}

static void set_name(rv_pool *pool, const reeve_worker *worker, const char *name)
{
    snprintf(pool->name, sizeof(pool->name), "pool-%u", (unsigned)(worker->pool_count + 1) % 100000);
    if (name != NULL && name[0] != '\0') rv_copy_text(pool->name, sizeof(pool->name), name);
}

static bool is_one_queue(const char *one, const char *other)
{
    size_t length = rv_partition_base(one, strlen(one));
    return length == rv_partition_base(other, strlen(other)) && memcmp(one, other, length) == 0;
}

static bool have_equal_weights(const rv_pool *pool, size_t queue, size_t other)
{
    return pool->weights == NULL || pool->weights[queue] == pool->weights[other];
}

/* Partitions of one queue that follow one another, with equal weights; most pools have none. False: no memory. */
static bool find_families(rv_pool *pool)
{
    bool any = false;
    size_t *families = rv_zalloc_array(pool->queue_session_count, sizeof(*families));
    if (families == NULL) return false;
    for (size_t i = 0; i < pool->queue_session_count; i++) {
        bool joins = i > 0 && is_one_queue(pool->queue_sessions[i - 1]->queue, pool->queue_sessions[i]->queue) &&
                     have_equal_weights(pool, i - 1, i);
        families[i] = joins ? families[i - 1] : i;
        any = any || joins;
    }
    if (any)
        pool->families = families;
    else
        rv_free(families);
    return true;
}

/* The options were checked. */
static bool keep_runner(rv_pool *pool, const reeve_pool_options *o)
{
    rv_error unused;
    reeve_runner_options given;
    (void)rv_pool_read_runner(&given, o, &unused);
    if (!rv_pool_runner_copy(&pool->runner, &given)) return false;
    (void)rv_runner_sandbox_choose(&pool->sandbox, &pool->runner, &unused);
    return true;
}

static rv_pool *make(reeve_worker *worker, const reeve_pool_options *o)
{
    rv_pool *pool = rv_zalloc(sizeof(*pool));
    if (pool == NULL) return NULL;
    set_name(pool, worker, o->name);
    pool->line = worker->pool_count;
    pool->batch = rv_pool_batch(o);
    pool->batch_us = rv_pool_batch_us(o);
    pool->order = o->order;
    pool->isolated = o->isolation == REEVE_ISOLATION_PROCESS;
    bool has_runner = keep_runner(pool, o);
    if (o->weights != NULL) pool->weights = rv_memdup(o->weights, o->queue_count * sizeof(*o->weights));
    pool->queue_sessions = rv_zalloc_array(o->queue_count, sizeof(rv_queue_session *));
    pool->nice = o->nice;
    if (o->cpus != NULL) pool->cpus = rv_strdup(o->cpus);
    pool->sizing.wait_us = -1;
    pool->sizing.processor = -1;
    bool good = has_runner && (o->cpus == NULL || pool->cpus != NULL) && pool->queue_sessions != NULL &&
                (o->weights == NULL || pool->weights != NULL);
    for (size_t i = 0; good && i < o->queue_count; i++) {
        pool->queue_sessions[pool->queue_session_count] = queue_session_of(worker, o->queues[i]);
        good = pool->queue_sessions[pool->queue_session_count++] != NULL;
    }
    if (good && find_families(pool) && share(worker, pool)) return pool;
    rv_pool_free(pool);
    return NULL;
}

unsigned rv_pool_batch(const reeve_pool_options *o)
{
    return o->batch == 0 ? DEFAULT_BATCH : o->batch;
}

int64_t rv_pool_batch_us(const reeve_pool_options *o)
{
    return 1000 * (o->batch_ms == 0 ? DEFAULT_BATCH_MS : o->batch_ms);
}

reeve_pool_options rv_pool_get_options(const rv_pool *pool)
{
    return (reeve_pool_options){.size = sizeof(reeve_pool_options),
                                .name = pool->name,
                                .threads = atomic_load(&pool->max),
                                .batch = pool->batch,
                                .batch_ms = pool->batch_us / 1000,
                                .order = pool->order,
                                .weights = pool->weights,
                                .isolation = pool->isolated ? REEVE_ISOLATION_PROCESS : REEVE_ISOLATION_THREAD,
                                .runner = pool->isolated ? &pool->runner : NULL,
                                .threads_min = atomic_load(&pool->min),
                                .nice = pool->nice,
                                .target_wait_ms = atomic_load(&pool->sizing.target_wait_us) / 1000,
                                .shrink_after_ms = atomic_load(&pool->sizing.shrink_after_us) / 1000,
                                .cpus = pool->cpus};
}

rv_pool *rv_pool_add(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    rv_pool *pool = make(worker, options);
    /* The start of the worker checks the pools that it has then: it knows the server only then. */
    bool fits = pool == NULL || rv_worker_phase(worker) == RV_PHASE_CREATED ||
                rv_pool_slots_find(pool, worker, error) == REEVE_OK;
    if (!fits) {
        rv_pool_free(pool);
        rv_wakeup_look_at_queues(worker); /* nobody serves the queues that only this pool would have had */
        return NULL;
    }
    void *list = pool != NULL ? rv_grown_add(&worker->all_pools, worker->pool_count, pool) : NULL;
    if (list == NULL) {
        rv_pool_free(pool);
        (void)rv_fail(error, REEVE_ENOMEM, "no memory for a pool");
        return NULL;
    }
    atomic_store(&worker->pools, list);
    atomic_fetch_add(&worker->pool_count, 1);
    return pool;
}
