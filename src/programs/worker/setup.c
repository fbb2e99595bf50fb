#include "setup.h"

#include <stdio.h>
#include <string.h>

#include "asked.h"
#include "base/mem.h"
#include "signals.h"

reeve_handler_policy host_handler_policy(const rv_config_handler *handler)
{
    return (reeve_handler_policy){.size = sizeof(reeve_handler_policy),
                                  .type = handler->type,
                                  .attempts = (int)handler->attempts,
                                  .max_crashes = (int)handler->max_crashes,
                                  .timeout_ms = handler->timeout_ms,
                                  .heartbeat_ms = handler->heartbeat_ms,
                                  .retry_for_ms = handler->retry_for_ms,
                                  .max_snoozes = (int)handler->max_snoozes,
                                  .at_most_once = handler->at_most_once,
                                  .backoff = handler->has_backoff ? &handler->backoff : NULL,
                                  .batch_size = (unsigned)handler->batch_size,
                                  .batch_wait_ms = handler->batch_wait_ms};
}

static reeve_status set_policy(reeve_worker *worker, const rv_config_handler *handler)
{
    const reeve_handler_policy policy = host_handler_policy(handler);

    return reeve_worker_set_policy(worker, &policy);
}

#define PATHS_MAX 64 /* of sandbox.files, by its definition */

static reeve_runner_options runner_of(const rv_config_pool *pool, const char *const *paths)
{
    return (reeve_runner_options){.size = sizeof(reeve_runner_options),
                                  .memory = pool->runner.memory,
                                  .cpu_ms = pool->runner.cpu_time_ms,
                                  .files = pool->runner.files,
                                  .processes = pool->runner.processes,
                                  .file_size = pool->runner.file_size,
                                  .max_tasks = pool->runner.max_tasks,
                                  .max_memory = pool->runner.max_memory,
                                  .max_age_ms = pool->runner.max_age_ms,
                                  .grace_ms = pool->runner.grace_ms,
                                  .scratch = pool->runner.scratch,
                                  .user = pool->runner.user,
                                  .cgroup = pool->runner.cgroup,
                                  .cgroup_memory = pool->runner.cgroup_memory,
                                  .paths = paths,
                                  .path_count = pool->sandbox.file_count,
                                  .sandbox = (pool->sandbox.network ? 0 : REEVE_SANDBOX_NO_NETWORK) |
                                             (pool->sandbox.syscalls != 0 ? REEVE_SANDBOX_SYSCALLS : 0)};
}

static bool has_limits(const reeve_runner_options *runner)
{
    const reeve_runner_options none = {.size = sizeof(none)};
    return memcmp(runner, &none, sizeof(none)) != 0;
}

const char *host_pool_name(char ret[HOST_POOL_NAME_SIZE], const rv_config *config, size_t index)
{
    if (config->pools[index].name != NULL)
        rv_copy_text(ret, HOST_POOL_NAME_SIZE, config->pools[index].name);
    else
        (void)snprintf(ret, HOST_POOL_NAME_SIZE, "pool-%zu", index + 1);
    return ret;
}

/* A running worker's pool of this name is changed, or else added. */
static reeve_status put(reeve_worker *worker, const reeve_pool_options *options, bool running)
{
    reeve_status status = running ? reeve_worker_set_pool(worker, options) : REEVE_ENOTFOUND;
    return status == REEVE_ENOTFOUND ? reeve_worker_add_pool(worker, options) : status;
}

reeve_status host_put_pool(reeve_worker *worker, const rv_config *config, size_t index, bool running)
{
    const rv_config_pool *pool = &config->pools[index];
    char name[HOST_POOL_NAME_SIZE];
    const char **queues = rv_zalloc_array(pool->queue_count, sizeof(*queues));
    unsigned *weights = rv_zalloc_array(pool->queue_count, sizeof(*weights));
    reeve_status status = REEVE_ENOMEM;

    if (queues == NULL || weights == NULL) goto out;
    for (size_t i = 0; i < pool->queue_count; i++) queues[i] = pool->queues[i].text;
    for (size_t i = 0; i < pool->weight_count; i++) weights[i] = (unsigned)pool->weights[i].number;
    const char *paths[PATHS_MAX];
    for (size_t i = 0; i < pool->sandbox.file_count; i++) paths[i] = pool->sandbox.files[i].text;
    const reeve_runner_options runner = runner_of(pool, pool->sandbox.file_count > 0 ? paths : NULL);
    reeve_pool_options options = {.size = sizeof(options),
                                  .name = host_pool_name(name, config, index),
                                  .queues = queues,
                                  .queue_count = pool->queue_count,
                                  .threads = (unsigned)pool->threads.max,
                                  .threads_min = (unsigned)pool->threads.min,
                                  .target_wait_ms = pool->target_wait_ms,
                                  .shrink_after_ms = pool->shrink_after_ms,
                                  .nice = (int)pool->nice,
                                  .cpus = pool->cpus,
                                  .batch = (unsigned)pool->batch,
                                  .batch_ms = pool->batch_time_ms,
                                  .order = pool->order,
                                  .weights = pool->weight_count > 0 ? weights : NULL,
                                  .isolation = pool->isolation,
                                  .runner = has_limits(&runner) ? &runner : NULL};
    status = put(worker, &options, running);
out:
    rv_free(weights);
    rv_free(queues);
    return status;
}

static reeve_status furnish(reeve_worker *worker, const rv_config *config)
{
    reeve_status status = REEVE_OK;

    for (size_t i = 0; i < config->plugin_count && status == REEVE_OK; i++)
        status = reeve_worker_load_plugin(worker, config->plugins[i].name);
    for (size_t i = 0; i < config->handler_count && status == REEVE_OK; i++)
        status = set_policy(worker, &config->handlers[i]);
    for (size_t i = 0; i < config->pool_count && status == REEVE_OK; i++)
        status = host_put_pool(worker, config, i, false);
    return status;
}

static void note_data_lost(void *user)
{
    atomic_bool *data_lost = user;

    atomic_store(data_lost, true);
    host_signals_wake();
}

reeve_status host_make_worker(reeve_worker **ret, const rv_config *config, const char *redis, atomic_bool *data_lost,
                              rv_error *error)
{
    reeve_worker_options options = {.size = sizeof(options),
                                    .redis = redis,
                                    .tls = &config->tls,
                                    .ns = config->ns,
                                    .name = config->worker.name,
                                    .session_ms = config->worker.session_ms,
                                    .grace_ms = config->worker.grace_ms,
                                    .spare_threads =
                                        config->worker.spare_threads > 0 ? (int)config->worker.spare_threads : -1,
                                    .plugin_dir = config->plugin_dir,
                                    .crash_dir = config->worker.crash_dir,
                                    .size_limits = config->worker.size_limits,
                                    .on_data_lost = note_data_lost,
                                    .on_data_lost_user = data_lost,
                                    .on_request = host_asked_note,
                                    .metrics = config->metrics.listen != NULL};
    char words[512];

    reeve_status status = reeve_worker_create(ret, &options, words, sizeof(words));
    if (status != REEVE_OK) return rv_fail(error, status, "%s", words);
    status = furnish(*ret, config);
    if (status != REEVE_OK) {
        rv_fail(error, status, "%s", reeve_worker_error(*ret));
        reeve_worker_destroy(*ret);
        *ret = NULL;
    }
    return status;
}
