#include "running/handler_change.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "running/os_thread.h"
#include "running/pool_threads.h"
#include "running/wakeup.h"

/* ---- closing old sets; with the worker's lock unless it says otherwise ----------------------------------------- */

/* Threads of old sets that have ended, and whose places no new thread has taken. Destructors of their thread-specific
 * data, which may be code of a plugin, have run when they are joined. */
static void join_ended(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(pool, j);
            if (t->alive || !t->started || t->set == worker->set) continue;
            rv_lock_check(pthread_join(t->id, NULL));
            t->started = false;
        }
    }
}

static bool is_used(const reeve_worker *worker, const rv_handler_set *set)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) {
            const rv_thread *t = rv_worker_pool_thread(pool, j);
            if (t->set == set && (t->alive || t->started)) return true;
        }
    }
    return false;
}

/* Another set may get the memory of this one: no place seems to have that then. */
static void forget(reeve_worker *worker, const rv_handler_set *set)
{
    for (size_t i = 0; i < worker->pool_count; i++) {
        const rv_pool *pool = rv_worker_pool(worker, i);
        for (unsigned j = 0; j < pool->thread_count; j++) {
            rv_thread *t = rv_worker_pool_thread(pool, j);
            if (t->set == set) t->set = NULL;
        }
    }
}

/* Takes one that no thread runs off the list; NULL: there is none. */
static rv_handler_set *take_unused(reeve_worker *worker)
{
    rv_handler_set **link = &worker->set->older;
    while (*link != NULL && is_used(worker, *link)) link = &(*link)->older;
    rv_handler_set *unused = *link;
    if (unused == NULL) return NULL;
    *link = unused->older;
    forget(worker, unused);
    return unused;
}

static bool has_plugin(const rv_handler_set *set, const reeve_plugin_handle *plugin)
{
    for (size_t i = 0; i < set->plugin_count; i++)
        if (set->plugins[i] == plugin) return true;
    return false;
}

static void log_plugins(const reeve_worker *worker, const rv_handler_set *old)
{
    for (size_t i = 0; i < old->plugin_count; i++) {
        const reeve_plugin_handle *plugin = old->plugins[i];
        if (has_plugin(worker->set, plugin)) continue;
        rv_log(REEVE_LOG_INFO, "plugin.closing", "no task runs in this version of the plugin any more: it is unloaded",
               "worker", worker->id, "plugin", plugin->plugin.name, "version",
               plugin->plugin.version != NULL ? plugin->plugin.version : "", "path", plugin->path, NULL);
    }
}

static void *close_old(void *argument)
{
    reeve_worker *worker = argument;
    rv_lock(&worker->lock);
    while (worker->set->older != NULL) {
        join_ended(worker);
        rv_handler_set *unused = take_unused(worker);
        if (unused == NULL) {
            rv_lock_check(pthread_cond_wait(&worker->thread_ended, &worker->lock));
            continue;
        }
        log_plugins(worker, unused);
        rv_unlock(&worker->lock);
        rv_handler_set_free(unused);
        rv_wakeup_show_change(worker);
        rv_lock(&worker->lock);
    }
    worker->closes = false;
    rv_unlock(&worker->lock);
    return NULL;
}

/* Without a thread, old sets stay until the next change, or until the worker is destroyed. */
static void start_closer(reeve_worker *worker)
{
    rv_error error = {0};
    if (worker->closes) return;
    if (worker->has_closer) rv_lock_check(pthread_join(worker->closer, NULL));
    worker->closes = worker->has_closer =
        rv_os_thread_start(&worker->closer, close_old, worker, "reeve-closer", &error) == REEVE_OK;
    if (!worker->closes)
        rv_log(REEVE_LOG_ERROR, "plugin.closing", "could not start the thread that unloads plugins: they stay loaded",
               "worker", worker->id, "error", error.text, NULL);
}

void rv_handler_change_join(reeve_worker *worker)
{
    rv_lock(&worker->lock);
    bool joins = worker->has_closer;
    worker->has_closer = false;
    rv_lock_check(pthread_cond_broadcast(&worker->thread_ended));
    rv_unlock(&worker->lock);
    if (joins) rv_lock_check(pthread_join(worker->closer, NULL));
}

void rv_handler_change_close_all(reeve_worker *worker)
{
    while (worker->set != NULL) {
        rv_handler_set *set = worker->set;
        worker->set = set->older;
        rv_handler_set_free(set);
    }
}

/* ---- replacing ------------------------------------------------------------------------------------------------- */

static reeve_status replace(reeve_worker *worker, rv_handler_set *set, rv_error *error)
{
    rv_error why = {0};
    rv_phase phase = rv_worker_phase(worker);
    if (phase == RV_PHASE_CREATED || phase >= RV_PHASE_STOPPING)
        return rv_fail(error, REEVE_ESTATE, "the worker does not run");
    rv_lock(&worker->lock);
    set->older = worker->set;
    worker->set = set;
    start_closer(worker);
    rv_unlock(&worker->lock);
    if (rv_pool_threads_renew(worker, &why) != REEVE_OK)
        rv_log(REEVE_LOG_ERROR, "thread.missing", "could not start a thread: a pool has fewer than it is to have",
               "worker", worker->id, "error", why.text, NULL);
    rv_wakeup_show_change(worker);
    return REEVE_OK;
}

reeve_status rv_handler_change_replace(reeve_worker *worker, rv_handler_set *set, rv_error *error)
{
    reeve_status status = rv_handler_set_wrap(set, error);
    if (status != REEVE_OK) return status;
    rv_lock(&worker->changing);
    status = replace(worker, set, error);
    rv_unlock(&worker->changing);
    return status;
}
