/*
 * worker_change.c - the calls that change a worker: pools, threads and queues, before its start or while it runs, and
 * its plugins.
 */
#include "base/layout.h"
#include "base/text.h"
#include "running/forked.h"
#include "running/pool_change.h"
#include "running/thread.h"
#include "running/worker_reload.h"
#include "upkeep/requests.h"

#define WORDS_MAX 8192 /* bytes of what a reload has changed */

static reeve_status check(reeve_worker *worker)
{
    rv_error_clear(&worker->error);
    if (rv_worker_phase(worker) == RV_PHASE_CREATED || !rv_worker_is_forked(worker)) return REEVE_OK;
    return rv_fail(&worker->error, REEVE_ESTATE, "the process was forked after the start of the worker");
}

reeve_status reeve_worker_add_pool_sized(reeve_worker *worker, const reeve_pool_options *given, size_t options_size)
{
    reeve_pool_options options;
    if (worker == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check(worker);
    if (status == REEVE_OK)
        status = RV_LAYOUT_READ(&options, given, options_size, "the pool's options", &worker->error);
    return status == REEVE_OK ? rv_pool_change_add(worker, &options, &worker->error) : status;
}

reeve_status reeve_worker_set_pool_sized(reeve_worker *worker, const reeve_pool_options *given, size_t options_size)
{
    reeve_pool_options options;
    if (worker == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = check(worker);
    if (status == REEVE_OK)
        status = RV_LAYOUT_READ(&options, given, options_size, "the pool's options", &worker->error);
    return status == REEVE_OK ? rv_pool_change_replace(worker, &options, &worker->error) : status;
}

reeve_status reeve_worker_remove_pool(reeve_worker *worker, const char *pool)
{
    if (worker == NULL || pool == NULL) return REEVE_EINVAL;
    reeve_status status = check(worker);
    return status == REEVE_OK ? rv_pool_change_remove(worker, pool, &worker->error) : status;
}

reeve_status reeve_worker_set_threads(reeve_worker *worker, const char *pool, unsigned min, unsigned max)
{
    if (worker == NULL || pool == NULL) return REEVE_EINVAL;
    reeve_status status = check(worker);
    return status == REEVE_OK ? rv_pool_change_threads(worker, pool, min, max, &worker->error) : status;
}

reeve_status reeve_worker_add_queue(reeve_worker *worker, const char *pool, const char *queue, unsigned weight)
{
    if (worker == NULL || pool == NULL || queue == NULL) return REEVE_EINVAL;
    reeve_status status = check(worker);
    return status == REEVE_OK ? rv_pool_change_add_queue(worker, pool, queue, weight, &worker->error) : status;
}

reeve_status reeve_worker_remove_queue(reeve_worker *worker, const char *pool, const char *queue)
{
    if (worker == NULL || pool == NULL || queue == NULL) return REEVE_EINVAL;
    reeve_status status = check(worker);
    return status == REEVE_OK ? rv_pool_change_remove_queue(worker, pool, queue, &worker->error) : status;
}

reeve_status reeve_worker_reload(reeve_worker *worker, char *ret_text, size_t size)
{
    rv_buf words;
    if (worker == NULL) return REEVE_EINVAL;
    reeve_status status = check(worker);
    if (status != REEVE_OK) return status;
    if (rv_thread_is_inside(worker))
        return rv_fail(&worker->error, REEVE_ESTATE, "a handler cannot reload the worker that runs it");
    rv_error error = {0}; /* calls of on_reload use that of the worker */
    rv_buf_init(&words, WORDS_MAX);
    status = rv_worker_reload(worker, &words, &error);
    worker->error = error;
    if (status == REEVE_OK) rv_copy_text(ret_text, size, rv_buf_text(&words));
    rv_buf_fini(&words);
    return status;
}

reeve_status reeve_worker_answer(reeve_worker *worker, const char *id, bool done, const char *text)
{
    if (worker == NULL || id == NULL) return REEVE_EINVAL;
    return rv_requests_answer(worker, id, done, text != NULL ? text : "");
}
