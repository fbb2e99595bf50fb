#include "keep.h"

#include "base/log.h"

#define CALL_MS 1000

static bool says_something(const rv_config_queue *queue)
{
    return queue->keeps_completed || queue->keeps_dead;
}

bool host_has_queue_settings(const rv_config *config)
{
    for (size_t i = 0; i < config->queue_count; i++) {
        if (says_something(&config->queues[i])) return true;
    }
    return false;
}

static bool write_one(reeve_client *client, const rv_config_queue *queue)
{
    reeve_queue_settings settings = {.size = sizeof(settings),
                                     .completed = queue->keeps_completed ? &queue->completed : NULL,
                                     .dead = queue->keeps_dead ? &queue->dead : NULL};

    if (!says_something(queue)) return true;
    reeve_status status = reeve_queue_set(client, queue->name, &settings);
    if (status != REEVE_OK)
        rv_log(REEVE_LOG_WARN, "program.settings", "settings of a queue could not be written, trying again later",
               "queue", queue->name, "error", reeve_client_error(client), NULL);
    return status == REEVE_OK;
}

bool host_write_queue_settings(const rv_config *config, const char *redis)
{
    reeve_client_options options = {.size = sizeof(options),
                                    .redis = redis,
                                    .ns = config->ns,
                                    .timeout_ms = CALL_MS,
                                    .name = "reeve-worker-settings"};
    char words[512];
    reeve_client *client;
    bool written = true;

    if (reeve_client_open_or_say(&client, &options, words, sizeof(words)) != REEVE_OK) {
        rv_log(REEVE_LOG_WARN, "program.settings", "settings of queues could not be written, trying again later",
               "error", words, NULL);
        return false;
    }
    for (size_t i = 0; i < config->queue_count && written; i++) written = write_one(client, &config->queues[i]);
    reeve_client_close(client);
    if (written) rv_log(REEVE_LOG_DEBUG, "program.settings", "settings of queues are written", NULL);
    return written;
}
