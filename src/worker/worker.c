/*
 * worker.c - a worker's life: create, register, start, quiet, stop, destroy.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/layout.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/size_limits.h"
#include "redis/topology.h"
#include "running/admission.h"
#include "running/alone.h"
#include "running/descriptors.h"
#include "running/flight.h"
#include "running/forked.h"
#include "running/handler_change.h"
#include "running/invocation.h"
#include "running/isolated.h"
#include "running/os_thread.h"
#include "running/phase.h"
#include "running/pool.h"
#include "running/pool_change.h"
#include "running/pool_threads.h"
#include "running/thread.h"
#include "upkeep/failover_watch.h"
#include "upkeep/heartbeat.h"
#include "upkeep/keeper.h"
#include "upkeep/reload_request.h"
#include "upkeep/scheduler.h"
#include "upkeep/upkeep_thread.h"
#include "upkeep/welcome.h"
#include "worker/abandon.h"
#include "worker/crash_dir.h"

#define DEFAULT_SESSION_MS 15000
#define MIN_SESSION_MS 500
#define DEFAULT_GRACE_MS 10000
#define DEFAULT_SPARE_THREADS 4
#define SPARE_THREADS_MAX 1024
#define DEFAULT_COMMAND_MS 10000
#define EMBEDDED_START_MS 10000
/* How long handlers have to notice that they should stop once the deadline has passed. */
#define GRACE_MS 1000

/* ---- create ---------------------------------------------------------------------------------------------------- */

static char *host_name(void)
{
    char host[256];
    if (gethostname(host, sizeof(host)) != 0) rv_copy_text(host, sizeof(host), "unknown");
    host[sizeof(host) - 1] = '\0';
    return rv_strdup(host);
}

/* The field '#' of a session's hash: a description of the worker, padded with spaces to a length that makes Redis
 * store the hash as a table from the start. Its listpacks are slow where many short fields come and go. */
static void describe(reeve_worker *worker)
{
    snprintf(worker->about, sizeof(worker->about), "{\"worker\":\"%s\",\"pid\":%ld,\"started\":%lld%*s}", worker->id,
             (long)getpid(), (long long)worker->started_wall_ms, 70, "");
}

static reeve_status choose_options(reeve_worker *worker, const reeve_worker_options *o)
{
    rv_error *error = &worker->error;
    if (o->session_ms != 0 && o->session_ms < MIN_SESSION_MS) {
        return rv_fail(error, REEVE_EINVAL, "a session of %lld ms: at least %d", (long long)o->session_ms,
                       MIN_SESSION_MS);
    }
    if (rv_size_limits_choose(&worker->size_limits, &o->size_limits, error) != REEVE_OK) return error->status;
    if (o->command_ms < 0)
        return rv_fail(error, REEVE_EINVAL, "a command's deadline of %lld ms", (long long)o->command_ms);
    if (o->grace_ms < 0) return rv_fail(error, REEVE_EINVAL, "a grace period of %lld ms", (long long)o->grace_ms);
    if (o->spare_threads < -1 || o->spare_threads > SPARE_THREADS_MAX)
        return rv_fail(error, REEVE_EINVAL, "%d spare threads: at most %d", o->spare_threads, SPARE_THREADS_MAX);
    const char *ns = rv_keys_choose_ns(o->ns, error);
    if (ns == NULL) return error->status;
    rv_copy_text(worker->ns, sizeof(worker->ns), ns);
    worker->session_ms = o->session_ms != 0 ? o->session_ms : DEFAULT_SESSION_MS;
    worker->on_data_lost = o->on_data_lost;
    worker->on_data_lost_user = o->on_data_lost_user;
    worker->metrics = o->metrics;
    worker->on_request = o->on_request;
    worker->on_request_user = o->on_request_user;
    worker->on_reload = o->on_reload;
    worker->on_reload_user = o->on_reload_user;
    worker->grace_ms = o->grace_ms != 0 ? o->grace_ms : DEFAULT_GRACE_MS;
    worker->spare_threads = o->spare_threads == 0  ? DEFAULT_SPARE_THREADS
                            : o->spare_threads < 0 ? 0
                                                   : (unsigned)o->spare_threads;
    worker->command_ms = o->command_ms != 0 ? o->command_ms : DEFAULT_COMMAND_MS;
    worker->host = host_name();
    worker->name = rv_strdup(o->name != NULL ? o->name : worker->host);
    worker->plugin_dir = rv_strdup(o->plugin_dir);
    worker->crash_dir = rv_strdup(o->crash_dir);
    if (worker->host == NULL || worker->name == NULL || (o->plugin_dir != NULL && worker->plugin_dir == NULL) ||
        (o->crash_dir != NULL && worker->crash_dir == NULL)) {
        return rv_fail(error, REEVE_ENOMEM, "no memory for a worker");
    }
    reeve_status status = rv_url_parse(&worker->url, rv_url_choose(o->redis), error);
    return status == REEVE_OK ? rv_url_secure(&worker->url, o->tls, error) : status;
}

/* Refuses a target that this version does not support at once, and not later in a thread. */
static reeve_status check_target(reeve_worker *worker)
{
    worker->target = &worker->url;
    if (worker->url.kind == RV_URL_EMBEDDED) return REEVE_OK;
    return rv_topology_check(&worker->url, &worker->error);
}

reeve_status reeve_worker_create_sized(reeve_worker **ret, const reeve_worker_options *given, char *ret_error,
                                       size_t size, size_t options_size)
{
    reeve_worker_options options;
    if (ret == NULL) return REEVE_EINVAL;
    *ret = NULL;
    reeve_worker *worker = rv_zalloc(sizeof(*worker));
    if (worker == NULL) {
        rv_copy_text(ret_error, size, reeve_status_text(REEVE_ENOMEM));
        return REEVE_ENOMEM;
    }
    worker->quit.fd = -1;
    rv_lock_init(&worker->lock);
    rv_lock_init(&worker->stopping);
    rv_lock_init(&worker->changing);
    rv_lock_init(&worker->reloading);
    rv_upkeep_thread_init(&worker->scheduler.thread);
    rv_upkeep_thread_init(&worker->keeper.thread);
    rv_upkeep_thread_init(&worker->heart.thread);
    rv_alone_init(&worker->alone);
    rv_pause_init(&worker->pause);
    rv_lock_check(pthread_cond_init(&worker->thread_ended, NULL));
    rv_random_id(worker->id);
    worker->pid = getpid();
    worker->set = rv_handler_set_new();
    reeve_status status = RV_LAYOUT_READ(&options, given, options_size, "the worker's options", &worker->error);
    if (status == REEVE_OK) status = choose_options(worker, &options);
    if (status == REEVE_OK) status = check_target(worker);
    if (status == REEVE_OK && worker->set == NULL)
        status = rv_fail(&worker->error, REEVE_ENOMEM, "no memory for a worker");
    if (status != REEVE_OK) {
        rv_copy_text(ret_error, size, worker->error.text);
        reeve_worker_destroy(worker);
        return status;
    }
    *ret = worker;
    return REEVE_OK;
}

const char *reeve_worker_error(const reeve_worker *worker)
{
    return worker != NULL ? worker->error.text : "";
}

const char *reeve_worker_id(const reeve_worker *worker)
{
    return worker != NULL ? worker->id : "";
}

/* ---- start ----------------------------------------------------------------------------------------------------- */

static reeve_status join_embedded(reeve_worker *worker)
{
    if (worker->url.kind != RV_URL_EMBEDDED) return REEVE_OK;
    reeve_status status = rv_embedded_join(&worker->embedded, &worker->url, &worker->address,
                                           rv_deadline(EMBEDDED_START_MS), &worker->error);
    if (status == REEVE_OK) worker->target = &worker->address;
    return status;
}

/* One runner of a pool with process isolation: a plugin that cannot be loaded there is an error now. */
static reeve_status try_runner(reeve_worker *worker, size_t pool)
{
    const rv_pool *tried = rv_worker_pool(worker, pool);
    if (!tried->isolated || tried->thread_count == 0) return REEVE_OK;
    reeve_status status = rv_isolated_start(rv_worker_pool_thread(tried, 0), &worker->error);
    if (status == REEVE_OK) return status;
    rv_error why = worker->error;
    return rv_fail(&worker->error, status, "pool %s: %.900s", tried->name, why.text);
}

static reeve_status prepare(reeve_worker *worker)
{
    reeve_status status = join_embedded(worker);
    if (status == REEVE_OK) status = rv_waker_init(&worker->quit, &worker->error);
    if (status == REEVE_OK) status = rv_heartbeat_open(worker, &worker->error);
    if (status == REEVE_OK) status = rv_keeper_open(worker, &worker->error);
    if (status == REEVE_OK) status = rv_scheduler_open(worker, &worker->error);
    for (size_t i = 0; status == REEVE_OK && i < worker->pool_count; i++) {
        status = rv_pool_threads_make(rv_worker_pool(worker, i), worker, &worker->error);
    }
    if (status == REEVE_OK) status = rv_crash_dir_begin(worker, &worker->error);
    if (status == REEVE_OK) status = rv_flight_attach(worker, &worker->error);
    if (status == REEVE_OK) status = rv_crash_dir_fill(worker, &worker->error);
    for (size_t i = 0; status == REEVE_OK && i < worker->pool_count; i++) status = try_runner(worker, i);
    return status;
}

/* It was made before a fork, and perhaps both processes start it. */
static void renew_ids(reeve_worker *worker)
{
    worker->pid = getpid();
    rv_random_id(worker->id);
    for (size_t i = 0; i < worker->queue_session_count; i++)
        rv_queue_session_rename(rv_worker_queue_session(worker, i), worker->id);
}

reeve_status reeve_worker_start(reeve_worker *worker)
{
    if (worker == NULL) return REEVE_EINVAL;
    rv_error_clear(&worker->error);
    if (rv_worker_phase(worker) != RV_PHASE_CREATED)
        return rv_fail(&worker->error, REEVE_ESTATE, "the worker was started before");
    if (worker->pool_count == 0)
        return rv_fail(&worker->error, REEVE_EINVAL, "the worker has no pool: add one before starting");
    worker->started_wall_ms = rv_wall_ms();
    if (worker->pid != getpid()) renew_ids(worker);
    worker->generation = rv_fork_generation();
    describe(worker);
    reeve_status status = rv_handler_set_wrap(worker->set, &worker->error);
    if (status == REEVE_OK) status = prepare(worker);
    if (status == REEVE_OK) status = rv_welcome(worker);
    atomic_store(&worker->phase, RV_PHASE_RUNNING);
    if (status == REEVE_OK && !worker->is_manual) status = rv_heartbeat_start(worker, &worker->error);
    if (status == REEVE_OK) status = rv_keeper_start(worker, &worker->error);
    if (status == REEVE_OK) status = rv_scheduler_start(worker, &worker->error);
    if (status == REEVE_OK && !worker->is_manual) status = rv_failover_watch_start(worker, &worker->error);
    if (status == REEVE_OK && atomic_exchange(&worker->partitions_changed, false))
        status = rv_pool_change_partitions(worker, &worker->error);
    if (status == REEVE_OK) status = rv_pool_threads_balance(worker, &worker->error);
    if (status != REEVE_OK) {
        rv_error why = worker->error;
        reeve_worker_stop(worker, 0);
        worker->error = why;
        return status;
    }
    char threads[RV_NUMBER_TEXT];
    rv_log(REEVE_LOG_INFO, "worker.started", "the worker started", "worker", worker->id, "url",
           worker->target->redacted, "threads", rv_number_text(threads, worker->thread_count), NULL);
    return REEVE_OK;
}

/* ---- stop ------------------------------------------------------------------------------------------------------ */

void reeve_worker_quiet(reeve_worker *worker)
{
    if (worker != NULL) (void)rv_phase_quiet(worker);
}

reeve_status reeve_worker_resume(reeve_worker *worker)
{
    if (worker == NULL) return REEVE_EINVAL;
    return rv_phase_resume(worker, &worker->error);
}

/* Waits until all threads have ended or the deadline; returns how many have not. */
static unsigned wait_for_threads(reeve_worker *worker, int64_t deadline)
{
    rv_lock(&worker->lock);
    while (worker->threads_alive > 0) {
        if (deadline == RV_FOREVER) {
            rv_lock_check(pthread_cond_wait(&worker->thread_ended, &worker->lock));
            continue;
        }
        struct timespec until = {.tv_sec = deadline / 1000, .tv_nsec = deadline % 1000 * 1000000};
        int failed = pthread_cond_clockwait(&worker->thread_ended, &worker->lock, CLOCK_MONOTONIC, &until);
        if (failed == ETIMEDOUT) break;
        rv_lock_check(failed);
    }
    unsigned alive = worker->threads_alive;
    rv_unlock(&worker->lock);
    return alive;
}

static void stop_handlers(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(pool, j);
            rv_lock(&t->batch.lock);
            rv_invocation_stop_all(t);
            rv_unlock(&t->batch.lock);
        }
    }
    rv_admission_recheck(worker);
}

static unsigned count_running(reeve_worker *worker)
{
    unsigned running = 0;
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++)
            running += atomic_load(&rv_worker_pool_thread(pool, j)->activity) == RV_ACTIVITY_RUNS;
    }
    return running;
}

/* Those whose handlers run cannot be waited for; the others are on their way out. Returns how many are left. */
static unsigned wait_for_idle_threads(reeve_worker *worker)
{
    int64_t deadline = rv_deadline(GRACE_MS);
    unsigned alive;
    do alive = wait_for_threads(worker, rv_deadline(10));
    while (alive > count_running(worker) && rv_now_ms() < deadline);
    return alive;
}

static reeve_status fail_alive(reeve_worker *worker, unsigned alive)
{
    unsigned running = count_running(worker);
    if (running == 0)
        return rv_fail(&worker->error, REEVE_ETIMEOUT, "%u threads have not ended; no handler runs", alive);
    return rv_fail(&worker->error, REEVE_ETIMEOUT, "%u handlers still run; their tasks were given back", running);
}

/* The threads are started once, and each is joined once. */
static bool has_started(const reeve_worker *worker)
{
    return rv_worker_phase(worker) != RV_PHASE_CREATED;
}

static reeve_status stop(reeve_worker *worker, unsigned alive)
{
    rv_phase before = rv_worker_phase(worker);
    rv_phase_set(worker, RV_PHASE_LEAVING);
    rv_phase_set(worker, RV_PHASE_ENDED);
    /* Threads that wait for Redis still come back at once. */
    if (alive > 0) rv_waker_ring(&worker->quit);
    rv_failover_watch_end(worker);
    rv_upkeep_thread_join(&worker->scheduler.thread, worker);
    rv_upkeep_thread_join(&worker->keeper.thread, worker);
    rv_reload_request_join(worker);
    rv_upkeep_thread_join(&worker->heart.thread, worker);
    alive = alive > 0 ? wait_for_idle_threads(worker) : 0;
    rv_crash_dir_end(worker);
    if (alive > 0) return fail_alive(worker, alive);
    if (before < RV_PHASE_ENDED)
        rv_log(REEVE_LOG_INFO, "worker.stopped", "the worker stopped", "worker", worker->id, NULL);
    return REEVE_OK;
}

reeve_status reeve_worker_stop(reeve_worker *worker, int64_t drain_ms)
{
    if (worker == NULL) return REEVE_EINVAL;
    if (!has_started(worker)) return REEVE_OK;
    /* It would wait for itself, or for threads that only the parent has. */
    if (rv_thread_is_inside(worker) || rv_worker_is_forked(worker)) return REEVE_ESTATE;
    rv_phase_set(worker, RV_PHASE_STOPPING);
    unsigned alive = wait_for_threads(worker, rv_deadline(drain_ms > 0 ? drain_ms : 0));
    if (alive > 0) {
        stop_handlers(worker);
        alive = wait_for_threads(worker, rv_deadline(GRACE_MS));
    }
    rv_lock(&worker->stopping);
    reeve_status status = stop(worker, alive);
    rv_unlock(&worker->stopping);
    return status;
}

static void join_threads(reeve_worker *worker)
{
    (void)wait_for_threads(worker, RV_FOREVER);
    for (size_t i = 0; i < worker->pool_count; i++) {
        rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(pool, j);
            rv_lock(&worker->lock); /* the closer of old handlers joins threads, too */
            if (t->started) rv_lock_check(pthread_join(t->id, NULL));
            t->started = false;
            rv_unlock(&worker->lock);
        }
    }
}

void rv_worker_leave_embedded(reeve_worker *worker)
{
    rv_embedded_leave(worker->embedded);
    worker->embedded = NULL;
}

void rv_worker_set_flight(reeve_worker *worker, struct rv_flight *flight)
{
    worker->flight = flight;
}

void rv_worker_begin_drain(reeve_worker *worker)
{
    atomic_store(&worker->drains, true);
    reeve_worker_quiet(worker);
    if (rv_worker_phase(worker) == RV_PHASE_RUNNING) reeve_worker_quiet(worker); /* it resumed just now */
}

void rv_worker_on_stuck(reeve_worker *worker, void (*call)(const char *thread, bool spared))
{
    worker->on_stuck = call;
}

unsigned rv_worker_stuck(const reeve_worker *worker, unsigned *ret_unspared)
{
    *ret_unspared = atomic_load(&worker->stuck_unspared);
    return atomic_load(&worker->stuck_spared) + *ret_unspared;
}

void rv_worker_on_runner_crash(reeve_worker *worker,
                               bool (*call)(const rv_flight_crash *crash, rv_buf *message, rv_buf *backtrace))
{
    worker->describe_crash = call;
}

void rv_worker_on_descriptors_lost(reeve_worker *worker, void (*call)(void))
{
    worker->on_descriptors_lost = call;
}

void rv_worker_check_descriptors(reeve_worker *worker)
{
    rv_descriptors_check(worker, &worker->quit);
}

void reeve_worker_destroy(reeve_worker *worker)
{
    if (worker == NULL) return;
    if (rv_thread_is_inside(worker)) {
        rv_log(REEVE_LOG_ERROR, "worker.misuse", "a handler called reeve_worker_destroy for its own worker: refused",
               "worker", worker->id, NULL);
        return;
    }
    /* Its resources belong to the parent, including locks that no thread of this process would release. */
    if (has_started(worker) && rv_worker_is_forked(worker)) return;
    (void)reeve_worker_stop(worker, 0);
    join_threads(worker);
    rv_handler_change_join(worker);
    rv_keeper_fini(worker);
    rv_heartbeat_fini(worker);
    rv_scheduler_fini(worker);
    for (size_t i = 0; i < worker->pool_count; i++) rv_pool_free(rv_worker_pool(worker, i));
    rv_grown_fini(&worker->all_pools);
    rv_flight_detach(worker);
    rv_crash_dir_free(worker);
    for (size_t i = 0; i < worker->queue_session_count; i++) {
        rv_queue_session_fini(rv_worker_queue_session(worker, i));
        rv_free(rv_worker_queue_session(worker, i));
    }
    rv_grown_fini(&worker->all_queue_sessions);
    rv_handler_change_close_all(worker);
    rv_worker_leave_embedded(worker);
    if (worker->target == &worker->address) rv_url_fini(&worker->address);
    rv_url_fini(&worker->url);
    rv_lock_fini(&worker->lock);
    rv_lock_fini(&worker->stopping);
    rv_lock_fini(&worker->changing);
    rv_lock_fini(&worker->reloading);
    rv_partition_map_fini(&worker->partitions);
    rv_alone_fini(&worker->alone);
    rv_pause_fini(&worker->pause);
    rv_lock_check(pthread_cond_destroy(&worker->thread_ended));
    rv_waker_fini(&worker->quit);
    rv_free(worker->host);
    rv_free(worker->name);
    rv_free(worker->plugin_dir);
    rv_free(worker->crash_dir);
    rv_free(worker);
}

/* ---- stats ----------------------------------------------------------------------------------------------------- */

void reeve_worker_get_stats(reeve_worker *worker, reeve_worker_stats *ret)
{
    if (ret == NULL) return;
    *ret = (reeve_worker_stats){0};
    if (worker == NULL) return;
    const rv_stats *stats = &worker->stats;
    *ret = (reeve_worker_stats){
        .leased = atomic_load(&stats->leased),
        .completed = atomic_load(&stats->completed),
        .failed = atomic_load(&stats->failed),
        .dead = atomic_load(&stats->dead),
        .given_back = atomic_load(&stats->given_back),
        .refused = atomic_load(&stats->refused),
        .threads = worker->thread_count,
        .connected = atomic_load(&worker->heart.connected),
    };
    if (rv_worker_phase(worker) == RV_PHASE_CREATED) return;
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++)
            ret->busy += atomic_load(&rv_worker_pool_thread(pool, j)->activity) == RV_ACTIVITY_RUNS;
    }
}
