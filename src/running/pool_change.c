#include "running/pool_change.h"

#include <string.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "running/bound.h"
#include "running/pool.h"
#include "running/pool_partitions.h"
#include "running/pool_runner.h"
#include "running/pool_threads.h"
#include "running/processors.h"
#include "running/wakeup.h"

#define TARGET_WAIT_MS 500
#define SHRINK_AFTER_MS 30000

/* ---- finding; all with reeve_worker.changing ------------------------------------------------------------------- */

static rv_pool *find(reeve_worker *worker, const char *name)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (!atomic_load(&pool->removed) && strncmp(pool->name, name, RV_POOL_NAME_MAX) == 0) return pool;
    }
    return NULL;
}

static rv_pool *find_or_fail(reeve_worker *worker, const char *name, rv_error *error)
{
    rv_pool *pool = name != NULL ? find(worker, name) : NULL;
    if (pool == NULL)
        (void)rv_fail(error, REEVE_ENOTFOUND, "the worker has no pool \"%.64s\"", name != NULL ? name : "");
    return pool;
}

/* The pool is in the line of the first pool of this name, if there is one. */
static void join_line(reeve_worker *worker, rv_pool *pool)
{
    size_t i = 0;
    while (rv_worker_pool(worker, i) != pool && strcmp(rv_worker_pool(worker, i)->name, pool->name) != 0) i++;
    rv_lock(&worker->lock);
    pool->line = rv_worker_pool(worker, i)->line;
    rv_unlock(&worker->lock);
}

static bool has_queues(const rv_pool *pool, const reeve_pool_options *o)
{
    if (pool->queue_session_count != o->queue_count) return false;
    for (size_t i = 0; i < o->queue_count; i++)
        if (strcmp(pool->queue_sessions[i]->queue, o->queues[i]) != 0) return false;
    if (pool->weights == NULL || o->weights == NULL) return (pool->weights == NULL) == (o->weights == NULL);
    return memcmp(pool->weights, o->weights, o->queue_count * sizeof(*o->weights)) == 0;
}

static bool has_runner(const rv_pool *pool, const reeve_pool_options *o)
{
    rv_error unused;
    reeve_runner_options wanted;
    rv_runner_sandbox sandbox;
    if (rv_pool_read_runner(&wanted, o, &unused) != REEVE_OK) return false;
    if (rv_runner_sandbox_choose(&sandbox, &wanted, &unused) != REEVE_OK) return false;
    return rv_pool_runner_equals(&pool->runner, &pool->sandbox, &wanted, &sandbox);
}

static bool has_cpus(const rv_pool *pool, const char *cpus)
{
    return pool->cpus == NULL || cpus == NULL ? pool->cpus == cpus : strcmp(pool->cpus, cpus) == 0;
}

static bool is_like(const rv_pool *pool, const reeve_pool_options *o)
{
    if (pool->nice != o->nice || !has_cpus(pool, o->cpus)) return false;
    return pool->batch == rv_pool_batch(o) && pool->batch_us == rv_pool_batch_us(o) && pool->order == o->order &&
           pool->isolated == (o->isolation == REEVE_ISOLATION_PROCESS) && has_runner(pool, o) && has_queues(pool, o);
}

/* One that was removed and had this form, or NULL. */
static rv_pool *find_removed(reeve_worker *worker, const reeve_pool_options *o)
{
    for (size_t i = 0; i < worker->pool_count && o->name != NULL; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (atomic_load(&pool->removed) && strncmp(pool->name, o->name, RV_POOL_NAME_MAX) == 0 && is_like(pool, o))
            return pool;
    }
    return NULL;
}

static size_t count_pools(reeve_worker *worker)
{
    size_t count = 0;
    for (size_t i = 0; i < worker->pool_count; i++) count += !atomic_load(&rv_worker_pool(worker, i)->removed);
    return count;
}

/* ---- one step -------------------------------------------------------------------------------------------------- */

static reeve_status check_phase(const reeve_worker *worker, rv_error *error)
{
    if (worker->is_consumer && rv_worker_phase(worker) != RV_PHASE_CREATED)
        return rv_fail(error, REEVE_ESTATE, "the pool of a consumer cannot change");
    if (rv_worker_phase(worker) >= RV_PHASE_STOPPING) return rv_fail(error, REEVE_ESTATE, "the worker is stopping");
    return REEVE_OK;
}

static reeve_status check_threads(unsigned min, unsigned max, rv_error *error)
{
    if (min < 1 || min > max || max > RV_POOL_THREADS_MAX)
        return rv_fail(error, REEVE_EINVAL, "from %u to %u threads: 1 to %d, the lower number first", min, max,
                       RV_POOL_THREADS_MAX);
    return REEVE_OK;
}

static void set_threads(rv_pool *pool, unsigned min, unsigned max)
{
    unsigned target = atomic_load(&pool->target);
    atomic_store(&pool->min, min);
    atomic_store(&pool->max, max);
    atomic_store(&pool->target, target < min ? min : target > max ? max : target);
    atomic_store(&pool->demand.follows, min < max);
}

/* The most that the options say, and the least. */
static reeve_status set_sizes(rv_pool *pool, const reeve_pool_options *o, rv_error *error)
{
    unsigned max = o->threads, min = o->threads_min;
    reeve_status status = max == 0 ? rv_processors_of(o->cpus, &max, error) : REEVE_OK;
    if (status != REEVE_OK) return status;
    set_threads(pool, min == 0 || min > max ? max : min, max);
    atomic_store(&pool->sizing.target_wait_us, 1000 * (o->target_wait_ms == 0 ? TARGET_WAIT_MS : o->target_wait_ms));
    atomic_store(&pool->sizing.shrink_after_us,
                 1000 * (o->shrink_after_ms == 0 ? SHRINK_AFTER_MS : o->shrink_after_ms));
    return REEVE_OK;
}

/* The pool serves its queues: none of them is away. */
static void call_back(rv_pool *pool)
{
    for (size_t i = 0; i < pool->queue_session_count; i++) atomic_store(&pool->queue_sessions[i]->away, false);
}

/* Adds the pool. */
static rv_pool *put(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    rv_pool *pool = find_removed(worker, options);
    if (pool == NULL) {
        pool = rv_pool_add(worker, options, error);
        if (pool == NULL) return NULL;
        if (rv_worker_phase(worker) != RV_PHASE_CREATED) join_line(worker, pool);
    }
    if (set_sizes(pool, options, error) != REEVE_OK) return NULL;
    call_back(pool);
    atomic_store(&pool->removed, false);
    return pool;
}

static void count_threads(reeve_worker *worker)
{
    unsigned threads = 0;
    for (size_t i = 0; i < worker->pool_count; i++)
        if (!atomic_load(&rv_worker_pool(worker, i)->removed))
            threads += atomic_load(&rv_worker_pool(worker, i)->target);
    atomic_store(&worker->thread_count, threads);
}

/* What was changed takes effect. */
static reeve_status take_effect(reeve_worker *worker, rv_error *error)
{
    count_threads(worker);
    if (rv_worker_phase(worker) == RV_PHASE_CREATED) return REEVE_OK;
    reeve_status status = rv_pool_threads_balance(worker, error);
    rv_bound_move(worker);
    rv_wakeup_look_at_queues(worker);
    rv_wakeup_show_change(worker);
    rv_wakeup_all_queues(worker);
    return status;
}

static void log_pool(const reeve_worker *worker, const char *event, const char *message, const rv_pool *pool)
{
    char min[RV_NUMBER_TEXT], max[RV_NUMBER_TEXT], queues[RV_NUMBER_TEXT];
    if (rv_worker_phase(worker) == RV_PHASE_CREATED) return;
    rv_log(REEVE_LOG_INFO, event, message, "worker", worker->id, "pool", pool->name, "min_threads",
           rv_number_text(min, atomic_load(&pool->min)), "max_threads", rv_number_text(max, atomic_load(&pool->max)),
           "queues", rv_number_text(queues, pool->queue_session_count), NULL);
}

/* ---- changes --------------------------------------------------------------------------------------------------- */

static reeve_status check_options(const reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    reeve_status status = check_phase(worker, error);
    return status == REEVE_OK ? rv_pool_check(options, error) : status;
}

static reeve_status add_expanded(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    bool named = options->name != NULL && options->name[0] != '\0';
    if (named && rv_worker_phase(worker) != RV_PHASE_CREATED && find(worker, options->name) != NULL)
        return rv_fail(error, REEVE_EDUPLICATE, "the worker has a pool \"%.64s\" already", options->name);
    rv_pool *pool = put(worker, options, error);
    if (pool == NULL) return error->status;
    log_pool(worker, "pool.added", "a pool was added", pool);
    return take_effect(worker, error);
}

/* With the partitions of its queues, if there are any. */
static reeve_status with_partitions(reeve_worker *worker, const reeve_pool_options *options,
                                    reeve_status (*change)(reeve_worker *, const reeve_pool_options *, rv_error *),
                                    rv_error *error)
{
    rv_pool_partitions expanded;
    if (worker->partitions.count == 0) return change(worker, options, error);
    if (!rv_pool_partitions_init(&expanded, options, &worker->partitions))
        return rv_fail(error, REEVE_ENOMEM, "no memory for a pool");
    reeve_status status = rv_pool_check(&expanded.options, error);
    if (status == REEVE_OK) status = change(worker, &expanded.options, error);
    rv_pool_partitions_fini(&expanded);
    return status;
}

static reeve_status add(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    return with_partitions(worker, options, add_expanded, error);
}

reeve_status rv_pool_change_add(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    rv_lock(&worker->changing);
    reeve_status status = check_options(worker, options, error);
    if (status == REEVE_OK) status = add(worker, options, error);
    rv_unlock(&worker->changing);
    return status;
}

static reeve_status replace_pool(reeve_worker *worker, rv_pool *old, const reeve_pool_options *options, rv_error *error)
{
    rv_pool *pool = old;
    if (!is_like(old, options)) {
        unsigned target = atomic_load(&old->target);
        pool = put(worker, options, error);
        if (pool == NULL) return error->status;
        atomic_store(&pool->target, target);
        atomic_store(&old->removed, true);
    }
    reeve_status status = set_sizes(pool, options, error);
    if (status != REEVE_OK) return status;
    log_pool(worker, "pool.changed", "a pool was changed", pool);
    return take_effect(worker, error);
}

static reeve_status replace_expanded(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    rv_pool *old = find_or_fail(worker, options->name, error);
    return old != NULL ? replace_pool(worker, old, options, error) : error->status;
}

static reeve_status replace(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    return with_partitions(worker, options, replace_expanded, error);
}

reeve_status rv_pool_change_replace(reeve_worker *worker, const reeve_pool_options *options, rv_error *error)
{
    rv_lock(&worker->changing);
    reeve_status status = check_options(worker, options, error);
    if (status == REEVE_OK) status = replace(worker, options, error);
    rv_unlock(&worker->changing);
    return status;
}

static reeve_status remove_pool(reeve_worker *worker, const char *name, rv_error *error)
{
    reeve_status status = check_phase(worker, error);
    rv_pool *pool = status == REEVE_OK ? find_or_fail(worker, name, error) : NULL;
    if (pool == NULL) return error->status;
    if (count_pools(worker) == 1)
        return rv_fail(error, REEVE_EINVAL, "pool \"%.64s\" is the last one: a worker has at least one", name);
    atomic_store(&pool->removed, true);
    log_pool(worker, "pool.removed", "a pool was removed: its threads end when their tasks have", pool);
    return take_effect(worker, error);
}

reeve_status rv_pool_change_remove(reeve_worker *worker, const char *name, rv_error *error)
{
    rv_lock(&worker->changing);
    reeve_status status = remove_pool(worker, name, error);
    rv_unlock(&worker->changing);
    return status;
}

static reeve_status change_threads(reeve_worker *worker, const char *name, unsigned min, unsigned max, rv_error *error)
{
    reeve_status status = check_phase(worker, error);
    if (status == REEVE_OK) status = check_threads(min, max, error);
    rv_pool *pool = status == REEVE_OK ? find_or_fail(worker, name, error) : NULL;
    if (pool == NULL) return error->status;
    set_threads(pool, min, max);
    log_pool(worker, "pool.threads", "the number of threads of a pool was set", pool);
    return take_effect(worker, error);
}

reeve_status rv_pool_change_threads(reeve_worker *worker, const char *name, unsigned min, unsigned max, rv_error *error)
{
    rv_lock(&worker->changing);
    reeve_status status = change_threads(worker, name, min, max, error);
    rv_unlock(&worker->changing);
    return status;
}

reeve_status rv_pool_change_target(reeve_worker *worker, rv_pool *pool, unsigned target, rv_error *error)
{
    rv_lock(&worker->changing);
    unsigned min = atomic_load(&pool->min), max = atomic_load(&pool->max);
    atomic_store(&pool->target, target < min ? min : target > max ? max : target);
    count_threads(worker);
    reeve_status status = rv_pool_threads_balance(worker, error);
    rv_unlock(&worker->changing);
    rv_wakeup_show_change(worker);
    return status;
}

/* ---- queues ---------------------------------------------------------------------------------------------------- */

static reeve_status check_queues(const rv_pool *pool, const char *queue, bool adds, rv_error *error)
{
    bool there = false;
    for (size_t i = 0; i < pool->queue_session_count; i++)
        there = there || strcmp(pool->queue_sessions[i]->queue, queue) == 0;
    if (adds && there)
        return rv_fail(error, REEVE_EDUPLICATE, "pool \"%s\" serves queue %.64s already", pool->name, queue);
    if (!adds && !there)
        return rv_fail(error, REEVE_ENOTFOUND, "pool \"%s\" does not serve queue %.64s", pool->name, queue);
    if (!adds && pool->queue_session_count == 1)
        return rv_fail(error, REEVE_EINVAL, "%.64s is the last queue of pool \"%s\": a pool has at least one", queue,
                       pool->name);
    return REEVE_OK;
}

static bool is_part_of(const char *partition, const char *queue)
{
    size_t length = strlen(partition), base = rv_partition_base(partition, length);
    return base < length && strlen(queue) == base && memcmp(partition, queue, base) == 0;
}

/* A pool whose queues change keeps its sandbox. */
static reeve_status check_same(const rv_pool *pool, const reeve_pool_options *o, rv_error *error)
{
    reeve_status status = rv_pool_check(o, error);
    if (status != REEVE_OK || has_runner(pool, o)) return status;
    return rv_fail(error, REEVE_EINVAL, "pool %s: \"%.64s\" is another user now: set the pool again", pool->name,
                   pool->runner.user != NULL ? pool->runner.user : "");
}

/* The pool with one queue more (weight > 0) or less. */
static reeve_status replace_queues(reeve_worker *worker, const rv_pool *pool, const char *queue, unsigned weight,
                                   rv_error *error)
{
    const char **queues = rv_zalloc_array(pool->queue_session_count + 1, sizeof(*queues));
    unsigned *weights = rv_zalloc_array(pool->queue_session_count + 1, sizeof(*weights));
    reeve_pool_options o = rv_pool_get_options(pool);
    o.queues = queues;
    o.weights = pool->weights != NULL ? weights : NULL;
    reeve_status status = REEVE_ENOMEM;
    for (size_t i = 0; queues != NULL && weights != NULL && i < pool->queue_session_count; i++) {
        const char *served = pool->queue_sessions[i]->queue;
        if (strcmp(served, queue) == 0 || (weight == 0 && is_part_of(served, queue))) continue;
        if (pool->weights != NULL) weights[o.queue_count] = pool->weights[i];
        queues[o.queue_count++] = pool->queue_sessions[i]->queue;
    }
    if (queues != NULL && weights != NULL) {
        weights[o.queue_count] = weight;
        if (weight > 0) queues[o.queue_count++] = queue;
        status = check_same(pool, &o, error);
        if (status == REEVE_OK) status = replace(worker, &o, error);
    } else {
        status = rv_fail(error, REEVE_ENOMEM, "no memory for a pool");
    }
    rv_free(queues);
    rv_free(weights);
    return status;
}

/* weight: 0 removes it. */
static reeve_status change_queue(reeve_worker *worker, const char *name, const char *queue, unsigned weight,
                                 rv_error *error)
{
    rv_lock(&worker->changing);
    reeve_status status = check_phase(worker, error);
    rv_pool *pool = status == REEVE_OK ? find_or_fail(worker, name, error) : NULL;
    if (status == REEVE_OK && pool == NULL) status = error->status;
    if (status == REEVE_OK) status = rv_keys_check_queue(queue, error);
    if (status == REEVE_OK) status = check_queues(pool, queue, weight > 0, error);
    if (status == REEVE_OK) status = replace_queues(worker, pool, queue, weight, error);
    rv_unlock(&worker->changing);
    return status;
}

reeve_status rv_pool_change_add_queue(reeve_worker *worker, const char *name, const char *queue, unsigned weight,
                                      rv_error *error)
{
    return change_queue(worker, name, queue, weight == 0 ? 1 : weight, error);
}

reeve_status rv_pool_change_remove_queue(reeve_worker *worker, const char *name, const char *queue, rv_error *error)
{
    return change_queue(worker, name, queue, 0, error);
}

/* ---- partitions ------------------------------------------------------------------------------------------------- */

/* The pool as it is, with the partitions that its queues have now. */
static reeve_status refresh(reeve_worker *worker, rv_pool *pool, rv_error *error)
{
    const char **queues = rv_zalloc_array(pool->queue_session_count, sizeof(*queues));
    if (queues == NULL) return rv_fail(error, REEVE_ENOMEM, "no memory for a pool");
    reeve_pool_options o = rv_pool_get_options(pool);
    o.queues = queues;
    o.queue_count = pool->queue_session_count;
    for (size_t i = 0; i < pool->queue_session_count; i++) queues[i] = pool->queue_sessions[i]->queue;
    rv_pool_partitions expanded;
    reeve_status status = rv_pool_partitions_init(&expanded, &o, &worker->partitions)
                              ? REEVE_OK
                              : rv_fail(error, REEVE_ENOMEM, "no memory for a pool");
    if (status == REEVE_OK && !has_queues(pool, &expanded.options)) {
        status = check_same(pool, &expanded.options, error);
        if (status == REEVE_OK) status = replace_pool(worker, pool, &expanded.options, error);
    }
    rv_pool_partitions_fini(&expanded);
    rv_free(queues);
    return status;
}

reeve_status rv_pool_change_partitions(reeve_worker *worker, rv_error *error)
{
    rv_lock(&worker->changing);
    reeve_status status = check_phase(worker, error);
    size_t count = worker->pool_count;
    for (size_t i = 0; status == REEVE_OK && i < count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        if (!atomic_load(&pool->removed)) status = refresh(worker, pool, error);
    }
    rv_unlock(&worker->changing);
    return status;
}
