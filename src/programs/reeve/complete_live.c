/*
 * complete_live.c - names that Redis has, for `reeve complete`.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "complete.h"
#include "redis/secret.h"
#include "reeve/cron.h"

#define CALL_LIMIT_MS 700
#define EACH_STATE 30 /* handles of each state */

/* NULL: there is no Redis to ask. A private server is started by whoever opens it, which this must not do. */
static reeve_client *open_client(const cli_complete *complete)
{
    reeve_client_options options = {
        .size = sizeof(options), .ns = complete->globals.ns, .timeout_ms = CALL_LIMIT_MS, .name = "reeve-complete"};
    reeve_client *client = NULL;
    char *secret = NULL;
    rv_error why;

    options.redis = complete->globals.redis != NULL ? complete->globals.redis : getenv("REEVE_REDIS");
    if (complete->globals.redis_file != NULL && rv_secret_read(&secret, complete->globals.redis_file, &why) == REEVE_OK)
        options.redis = secret;
    if (options.redis != NULL && options.redis[0] != '\0' && strncmp(options.redis, "embedded:", 9) != 0 &&
        reeve_client_open(&client, &options) != REEVE_OK) {
        reeve_client_close(client);
        client = NULL;
    }
    rv_secret_free(secret);
    return client;
}

/* suffix: what follows each name. */
static void offer_queues(const cli_complete *complete, const char *suffix)
{
    reeve_client *client = open_client(complete);
    reeve_queue_info *list = NULL;
    size_t count = 0;
    char text[REEVE_QUEUE_MAX + 2], about[64];

    if (client == NULL || reeve_queues(client, &list, &count) != REEVE_OK) count = 0;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "%s%s", list[i].name, suffix);
        (void)snprintf(about, sizeof(about), "%llu ready, %llu running",
                       (unsigned long long)list[i].count[REEVE_STATE_READY],
                       (unsigned long long)list[i].count[REEVE_STATE_RUNNING]);
        cli_complete_offer(complete, text, about);
    }
    reeve_queues_free(list);
    reeve_client_close(client);
}

void cli_complete_queues(const cli_complete *complete)
{
    offer_queues(complete, "");
}

static void offer_state(const cli_complete *complete, reeve_client *client, const char *queue, reeve_state state)
{
    reeve_task_info **list = NULL;
    size_t count = 0;
    uint64_t total;
    char text[REEVE_HANDLE_MAX + 1], about[REEVE_TYPE_MAX + 32];

    if (reeve_list(client, queue, state, 0, EACH_STATE, &list, &count, &total) != REEVE_OK) return;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "%s/%s", queue, list[i]->id);
        (void)snprintf(about, sizeof(about), "%s, %s", list[i]->type, reeve_state_name(state));
        cli_complete_offer(complete, text, about);
    }
    reeve_task_list_free(list, count);
}

void cli_complete_handles(const cli_complete *complete)
{
    const char *slash = strchr(complete->current, '/');
    char queue[REEVE_QUEUE_MAX + 1];
    reeve_client *client;

    if (slash == NULL) {
        offer_queues(complete, "/");
        return;
    }
    if ((size_t)(slash - complete->current) > REEVE_QUEUE_MAX) return;
    (void)snprintf(queue, sizeof(queue), "%.*s", (int)(slash - complete->current), complete->current);
    client = open_client(complete);
    for (int state = 0; client != NULL && state < REEVE_STATE_COUNT; state++)
        offer_state(complete, client, queue, (reeve_state)state);
    reeve_client_close(client);
}

static void offer_types(const cli_complete *complete, const char *types)
{
    cJSON *list = cJSON_Parse(types);
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item)) cli_complete_offer(complete, item->valuestring, NULL);
    }
    cJSON_Delete(list);
}

static void each_worker(const cli_complete *complete, void (*look)(const cli_complete *, const reeve_worker_info *))
{
    reeve_client *client = open_client(complete);
    reeve_worker_info *list = NULL;
    size_t count = 0;

    if (client == NULL || reeve_workers(client, &list, &count) != REEVE_OK) count = 0;
    for (size_t i = 0; i < count; i++) look(complete, &list[i]);
    reeve_workers_free(list, count);
    reeve_client_close(client);
}

static void offer_types_of(const cli_complete *complete, const reeve_worker_info *worker)
{
    if (worker->types != NULL) offer_types(complete, worker->types);
}

static void offer_worker(const cli_complete *complete, const reeve_worker_info *worker)
{
    cli_complete_offer(complete, worker->id, worker->name);
}

void cli_complete_types(const cli_complete *complete)
{
    each_worker(complete, offer_types_of);
}

void cli_complete_workers(const cli_complete *complete)
{
    each_worker(complete, offer_worker);
}

void cli_complete_entries(const cli_complete *complete)
{
    reeve_client *client = open_client(complete);
    reeve_cron_info *list = NULL;
    size_t count = 0;
    char text[REEVE_HANDLE_MAX + 1];

    if (client == NULL || reeve_cron_list(client, NULL, &list, &count) != REEVE_OK) count = 0;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof(text), "%s/%s", list[i].queue, list[i].name);
        cli_complete_offer(complete, text, list[i].spec);
    }
    reeve_cron_free(list, count);
    reeve_client_close(client);
}
