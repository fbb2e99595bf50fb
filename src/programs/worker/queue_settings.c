#include "queue_settings.h"

#include "base/log.h"
#include "changes.h"
#include "outage.h"
#include "reeve/watch.h"

#define CALL_MS 1000

static bool has_policy(const rv_config_queue *queue)
{
    return queue->attempts > 0 || queue->max_crashes > 0 || queue->timeout_ms > 0 || queue->has_backoff ||
           queue->record_runs != 0;
}

static bool limits_queue(const rv_config_queue *queue)
{
    return queue->concurrency != 0 || queue->has_rate;
}

static bool limits_groups(const rv_config_queue *queue)
{
    return queue->group_concurrency != 0 || queue->group_strict != 0 || queue->has_group_rate;
}

static bool has_settings(const rv_config_queue *queue)
{
    return queue->keeps_completed || queue->keeps_dead || queue->keeps_stats || has_policy(queue) ||
           queue->on_dead != NULL || queue->result_max != 0;
}

static bool says_something(const rv_config_queue *queue)
{
    return has_settings(queue) || queue->events != 0 || limits_queue(queue) || limits_groups(queue);
}

bool host_has_queue_settings(const rv_config *config)
{
    for (size_t i = 0; i < config->queue_count; i++) {
        if (says_something(&config->queues[i])) return true;
    }
    return false;
}

static reeve_status write_settings(reeve_client *client, const rv_config_queue *queue)
{
    reeve_queue_policy policy = {.max_attempts = (int)queue->attempts,
                                 .max_crashes = (int)queue->max_crashes,
                                 .timeout_ms = queue->timeout_ms,
                                 .record_runs = queue->record_runs > 0,
                                 .backoff = queue->has_backoff ? &queue->backoff : NULL};
    unsigned stats_days = (unsigned)queue->stats_days;
    int64_t completed_bytes = queue->completed_bytes > 0 ? queue->completed_bytes : 0;
    int64_t result_max = queue->result_max > 0 ? queue->result_max : 0;
    reeve_queue_settings settings = {.size = sizeof(settings),
                                     .completed = queue->keeps_completed ? &queue->completed : NULL,
                                     .dead = queue->keeps_dead ? &queue->dead : NULL,
                                     .policy = has_policy(queue) ? &policy : NULL,
                                     .on_dead = queue->on_dead,
                                     .stats_days = queue->keeps_stats ? &stats_days : NULL,
                                     .completed_bytes = queue->keeps_completed ? &completed_bytes : NULL,
                                     .result_max = queue->result_max != 0 ? &result_max : NULL};

    reeve_status status = has_settings(queue) ? reeve_queue_set(client, queue->name, &settings) : REEVE_OK;

    if (status != REEVE_OK || queue->events == 0) return status;
    return reeve_events_keep(client, queue->name, queue->events > 0 ? queue->events : 0);
}

/* What the file does not say stays as it is in Redis. */
static reeve_status write_limits(reeve_client *client, const rv_config_queue *queue, reeve_limit_of of)
{
    bool each = of == REEVE_LIMIT_GROUPS;
    bool has_rate = each ? queue->has_group_rate : queue->has_rate;
    reeve_rate rate = each ? queue->group_rate : queue->rate;
    reeve_limit_change change = {.size = sizeof(change),
                                 .of = of,
                                 .concurrency = each ? queue->group_concurrency : queue->concurrency,
                                 .rate = has_rate ? &rate : NULL,
                                 .strict = each ? queue->group_strict : 0};

    if (rate.count < 0) rate = (reeve_rate){0};
    if (change.concurrency == 0 && change.strict == 0 && !has_rate) return REEVE_OK;
    return reeve_limit(client, queue->name, &change);
}

static reeve_status write_all(reeve_client *client, const rv_config_queue *queue)
{
    reeve_status status = write_settings(client, queue);

    if (status == REEVE_OK) status = write_limits(client, queue, REEVE_LIMIT_QUEUE);
    return status == REEVE_OK ? write_limits(client, queue, REEVE_LIMIT_GROUPS) : status;
}

/* What it changes is told. */
static reeve_status write_one(reeve_client *client, const rv_config_queue *queue)
{
    host_changes before = {0}, after = {0};

    if (!says_something(queue)) return REEVE_OK;
    reeve_status status = host_changes_read(&before, client, queue->name);
    if (status == REEVE_OK) status = write_all(client, queue);
    if (status == REEVE_OK) status = host_changes_read(&after, client, queue->name);
    if (status == REEVE_OK) {
        (void)host_changes_log(queue->name, &before, &after);
        host_changes_claim(client, queue, &before);
    }
    host_changes_fini(&before);
    host_changes_fini(&after);
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "program.settings", "settings of a queue could not be written, trying again later",
               "queue", queue->name, "error", reeve_client_error(client), NULL);
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

    if (reeve_client_open_or_say(&client, &options, words, sizeof(words)) != REEVE_OK) {
        rv_log(REEVE_LOG_WARN, "program.settings", "settings of queues could not be written, trying again later",
               "error", words, NULL);
        return false;
    }
    /* A queue whose settings are refused holds up no other. */
    for (size_t i = 0; i < config->queue_count && !host_is_outage(status); i++) {
        status = write_one(client, &config->queues[i]);
        written = written && status == REEVE_OK;
    }
    reeve_client_close(client);
    if (written) rv_log(REEVE_LOG_DEBUG, "program.settings", "settings of queues are written", NULL);
    return written;
}
