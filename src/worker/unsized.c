/*
 * unsized.c - the functions that the macros of the same name stand for (reeve/status.h, "Structs"), for those who call
 * them by a pointer or from another language: a struct that declares no size is taken to be in this version's layout.
 */
#include "reeve/reeve.h"

reeve_status(reeve_client_open)(reeve_client **ret, const reeve_client_options *options)
{
    return reeve_client_open(ret, options);
}

reeve_status(reeve_client_open_with_error)(reeve_client **ret, const reeve_client_options *options, char *ret_error,
                                           size_t size)
{
    return reeve_client_open_with_error(ret, options, ret_error, size);
}

reeve_status(reeve_enqueue)(reeve_client *client, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX])
{
    return reeve_enqueue(client, spec, ret_id);
}

reeve_status(reeve_enqueue_many)(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                 reeve_enqueued *ret_results)
{
    return reeve_enqueue_many(client, specs, count, ret_results);
}

reeve_status(reeve_broadcast)(reeve_client *client, const reeve_task_spec *spec, int64_t wait_ms,
                              reeve_broadcast_task **ret, size_t *ret_count)
{
    return reeve_broadcast(client, spec, wait_ms, ret, ret_count);
}

reeve_status(reeve_enqueue_commands)(reeve_commands **ret, const reeve_commands_options *options,
                                     const reeve_task_spec *specs, size_t count, char *ret_error, size_t size)
{
    return reeve_enqueue_commands(ret, options, specs, count, ret_error, size);
}

void(reeve_enqueued_error)(const reeve_client *client, const reeve_task_spec *spec, const reeve_enqueued *result,
                           char *ret, size_t size)
{
    reeve_enqueued_error(client, spec, result, ret, size);
}

reeve_status(reeve_task_spec_check)(const reeve_task_spec *spec, char *ret_error, size_t size)
{
    return reeve_task_spec_check(spec, ret_error, size);
}

reeve_status(reeve_queue_set)(reeve_client *client, const char *queue, const reeve_queue_settings *settings)
{
    return reeve_queue_set(client, queue, settings);
}

reeve_status(reeve_cron_check)(const reeve_cron_entry *entry, char *ret_error, size_t size)
{
    return reeve_cron_check(entry, ret_error, size);
}

reeve_status(reeve_cron_set)(reeve_client *client, const reeve_cron_entry *entry, bool *ret_changed)
{
    return reeve_cron_set(client, entry, ret_changed);
}

reeve_status(reeve_cron_set_with_origin)(reeve_client *client, const reeve_cron_entry *entry, bool *ret_changed,
                                         char *ret_from)
{
    return reeve_cron_set_with_origin(client, entry, ret_changed, ret_from);
}

reeve_status(reeve_bulk_update)(reeve_client *client, const char *queue, reeve_action action,
                                const reeve_filter *filter,
                                bool (*progress)(const reeve_bulk_result *result, void *user), void *user,
                                reeve_bulk_result *ret)
{
    return reeve_bulk_update(client, queue, action, filter, progress, user, ret);
}

reeve_status(reeve_bulk_update_preview)(reeve_client *client, const char *queue, reeve_action action,
                                        const reeve_filter *filter, reeve_bulk_result *ret,
                                        char (*ret_ids)[REEVE_ID_MAX], size_t *ret_count)
{
    return reeve_bulk_update_preview(client, queue, action, filter, ret, ret_ids, ret_count);
}

reeve_status(reeve_find)(reeve_client *client, const char *queue, const reeve_filter *filter,
                         char cursor[REEVE_CURSOR_MAX], size_t limit, reeve_task_info ***ret, size_t *ret_count,
                         uint64_t *ret_seen)
{
    return reeve_find(client, queue, filter, cursor, limit, ret, ret_count, ret_seen);
}

reeve_status(reeve_batch_open)(reeve_client *client, reeve_batch *ret, const reeve_batch_callbacks *callbacks)
{
    return reeve_batch_open(client, ret, callbacks);
}

reeve_status(reeve_batch_add)(reeve_client *client, const reeve_batch *batch, const reeve_task_spec *specs,
                              size_t count, reeve_enqueued *ret_results)
{
    return reeve_batch_add(client, batch, specs, count, ret_results);
}

reeve_status(reeve_task_chain)(reeve_task *task, const reeve_task_spec *spec, char ret_id[REEVE_ID_MAX])
{
    return reeve_task_chain(task, spec, ret_id);
}

reeve_status(reeve_partition_of_task)(reeve_client *client, const reeve_task_spec *spec,
                                      char ret[REEVE_PARTITION_NAME_MAX])
{
    return reeve_partition_of_task(client, spec, ret);
}

reeve_status(reeve_client_confirm)(reeve_client *client, const char *queue, const reeve_confirmation *confirmation)
{
    return reeve_client_confirm(client, queue, confirmation);
}

reeve_status(reeve_limit)(reeve_client *client, const char *queue, const reeve_limit_change *change)
{
    return reeve_limit(client, queue, change);
}

reeve_status(reeve_watch_open)(reeve_watch **ret, reeve_client *client, const reeve_watch_options *options)
{
    return reeve_watch_open(ret, client, options);
}

reeve_status(reeve_worker_create)(reeve_worker **ret, const reeve_worker_options *options, char *ret_error, size_t size)
{
    return reeve_worker_create(ret, options, ret_error, size);
}

reeve_status(reeve_worker_register)(reeve_worker *worker, const reeve_handler *handler)
{
    return reeve_worker_register(worker, handler);
}

reeve_status(reeve_worker_add_layer)(reeve_worker *worker, const reeve_layer *layer)
{
    return reeve_worker_add_layer(worker, layer);
}

reeve_status(reeve_worker_set_policy)(reeve_worker *worker, const reeve_handler_policy *policy)
{
    return reeve_worker_set_policy(worker, policy);
}

reeve_status(reeve_worker_set_pool)(reeve_worker *worker, const reeve_pool_options *options)
{
    return reeve_worker_set_pool(worker, options);
}

reeve_status(reeve_worker_add_pool)(reeve_worker *worker, const reeve_pool_options *options)
{
    return reeve_worker_add_pool(worker, options);
}

reeve_status(reeve_plugin_run)(reeve_plugin_handle *plugin, const char *type, const reeve_run_options *options,
                               reeve_run_report *ret)
{
    return reeve_plugin_run(plugin, type, options, ret);
}

reeve_test_report *(reeve_test_run)(const reeve_handler *handler, const reeve_test_options *options)
{
    return reeve_test_run(handler, options);
}

reeve_test_report *(reeve_test_run_plugin)(reeve_plugin_handle *plugin, const reeve_test_options *options)
{
    return reeve_test_run_plugin(plugin, options);
}

reeve_status(reeve_test_client_open)(reeve_client **ret, const reeve_test_client_options *options)
{
    return reeve_test_client_open(ret, options);
}

reeve_status(reeve_consumer_open)(reeve_consumer **ret, const reeve_consumer_options *options, char *ret_error,
                                  size_t size)
{
    return reeve_consumer_open(ret, options, ret_error, size);
}

reeve_status(reeve_edit)(reeve_client *client, const char *queue, const char *id, const reeve_task_edit *edit)
{
    return reeve_edit(client, queue, id, edit);
}

reeve_status(reeve_client_add_layer)(reeve_client *client, const reeve_layer *layer)
{
    return reeve_client_add_layer(client, layer);
}

reeve_status(reeve_consumer_add_layer)(reeve_consumer *consumer, const reeve_layer *layer)
{
    return reeve_consumer_add_layer(consumer, layer);
}

reeve_status(reeve_lease_settle)(reeve_client *client, const char *queue, const char *id, const char *token,
                                 const reeve_lease_outcome *outcome)
{
    return reeve_lease_settle(client, queue, id, token, outcome);
}
