#include "configured_queues.h"

#include <string.h>

#include "base/backoff.h"
#include "base/log.h"
#include "changes.h"
#include "configured_limits.h"
#include "in_force.h"
#include "outage.h"
#include "reeve/partition.h"
#include "reeve/watch.h"

#define CALL_MS 1000

static bool is_given(const rv_config_queue *queue, const char *script)
{
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        if (queue->settings.given[i] && strcmp(rv_queue_settings[i].script, script) == 0) return true;
    }
    return false;
}

static bool says_something(const rv_config_queue *queue)
{
    return is_given(queue, "settings") || is_given(queue, "events") || is_given(queue, "limit") || queue->has_rate ||
           queue->has_group_rate || queue->partitions > 0;
}

bool host_has_queue_settings(const rv_config *config)
{
    for (size_t i = 0; i < config->queue_count; i++) {
        if (says_something(&config->queues[i])) return true;
    }
    return config->limit_count > 0;
}

static reeve_status write_settings(reeve_client *client, const rv_config_queue *queue)
{
    int64_t events = queue->settings.number[RV_QUEUE_EVENTS];
    rv_queue_values values = queue->settings;
    rv_held_settings held;
    reeve_status status = REEVE_OK;

    values.number[RV_QUEUE_BACKOFF] = rv_backoff_is_given(&values.backoff);
    rv_queue_settings_hold(&held, &values, false);
    if (is_given(queue, "settings")) status = reeve_queue_set(client, queue->name, &held.settings);
    if (status != REEVE_OK || events == 0) return status;
    return reeve_events_keep(client, queue->name, events > 0 ? events : 0);
}

/* What the file does not say stays as it is in Redis. */
static reeve_status write_limits(reeve_client *client, const rv_config_queue *queue, reeve_limit_of of)
{
    bool each = of == REEVE_LIMIT_GROUPS;
    const int64_t *number = queue->settings.number;
    bool has_rate = each ? queue->has_group_rate : queue->has_rate;
    reeve_rate rate = each ? queue->group_rate : queue->rate;
    reeve_limit_change change = {.size = sizeof(change),
                                 .of = of,
                                 .concurrency = number[each ? RV_QUEUE_GROUP_CONCURRENCY : RV_QUEUE_CONCURRENCY],
                                 .rate = has_rate ? &rate : NULL,
                                 .strict = each ? (int)number[RV_QUEUE_GROUP_STRICT] : 0};

    if (rate.count < 0) rate = (reeve_rate){0};
    if (change.concurrency == 0 && change.strict == 0 && !has_rate) return REEVE_OK;
    return reeve_limit(client, queue->name, &change);
}

static reeve_status write_all(reeve_client *client, const rv_config_queue *queue)
{
    reeve_status status = REEVE_OK;

    if (queue->partitions > 0) status = reeve_partition_set(client, queue->name, (unsigned)queue->partitions);
    if (status == REEVE_OK) status = write_settings(client, queue);
    if (status == REEVE_OK) status = write_limits(client, queue, REEVE_LIMIT_QUEUE);
    return status == REEVE_OK ? write_limits(client, queue, REEVE_LIMIT_GROUPS) : status;
}

static void log_kept(const rv_config_difference *of, void *context)
{
    rv_log(REEVE_LOG_WARN, "program.setting_kept",
           "Redis has another value than the configuration: it stays in force (worker.settings_from)", "queue",
           (const char *)context, "setting", of->path, "in_force", of->from, "in_file", of->to, NULL);
}

/* The part of a queue's configuration that Redis has no value for; differences are told. */
static reeve_status leave_what_is_there(rv_config_queue *ret, const rv_config_queue *queue, const host_changes *before)
{
    rv_config_queue now, kept, wanted;

    reeve_status status = host_in_force_read(&now, queue->name, before);
    if (status != REEVE_OK) return status;
    host_in_force_missing(ret, &now, queue);
    host_in_force_after(&kept, &now, queue, true);
    host_in_force_after(&wanted, &now, queue, false);
    return host_in_force_compare(&kept, &wanted, log_kept, queue->name);
}

/* What it changes is told. */
static reeve_status write_one(reeve_client *client, const rv_config_queue *queue, bool redis_wins)
{
    host_changes before = {0}, after = {0};
    rv_config_queue missing;

    if (!says_something(queue)) return REEVE_OK;
    reeve_status status = host_changes_read(&before, client, queue->name);
    if (status == REEVE_OK && redis_wins) status = leave_what_is_there(&missing, queue, &before);
    if (status == REEVE_OK) status = write_all(client, redis_wins ? &missing : queue);
    if (status == REEVE_OK) status = host_changes_read(&after, client, queue->name);
    if (status == REEVE_OK) {
        (void)host_changes_log(queue->name, &before, &after);
        if (!redis_wins) host_changes_queue_session(client, queue, &before);
    }
    host_changes_fini(&before);
    host_changes_fini(&after);
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "program.settings", "settings of a queue could not be written, trying again later",
               "queue", queue->name, "error", reeve_client_error(client), NULL);
    return status;
}

static reeve_status write_limit(reeve_client *client, const rv_config_limit *limit, bool redis_wins)
{
    reeve_status status = host_configured_limits_write(client, limit, redis_wins);

    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "program.settings", "limits could not be written, trying again later", "queue",
               limit->queue, limit->key != NULL ? "key" : "type", limit->key != NULL ? limit->key : limit->type,
               "error", reeve_client_error(client), NULL);
    return status;
}

bool host_write_queue_settings(const rv_config *config, const char *redis)
{
    reeve_client_options options = {.size = sizeof(options),
                                    .redis = redis,
                                    .tls = &config->tls,
                                    .ns = config->ns,
                                    .timeout_ms = CALL_MS,
                                    .name = "reeve-worker-settings"};
    char words[512];
    reeve_client *client;
    reeve_status status = REEVE_OK;
    bool written = true;

    if (reeve_client_open_with_error(&client, &options, words, sizeof(words)) != REEVE_OK) {
        rv_log(REEVE_LOG_WARN, "program.settings", "settings of queues could not be written, trying again later",
               "error", words, NULL);
        return false;
    }
    /* A queue whose settings are refused holds up no other. */
    for (size_t i = 0; i < config->queue_count && !host_is_outage(status); i++) {
        status = write_one(client, &config->queues[i], config->worker.settings_from == RV_SETTINGS_FROM_REDIS);
        written = written && status == REEVE_OK;
    }
    for (size_t i = 0; i < config->limit_count && !host_is_outage(status); i++) {
        status = write_limit(client, &config->limits[i], config->worker.settings_from == RV_SETTINGS_FROM_REDIS);
        written = written && status == REEVE_OK;
    }
    reeve_client_close(client);
    if (written) rv_log(REEVE_LOG_DEBUG, "program.settings", "settings of queues are written", NULL);
    return written;
}
