/*
 * client_workers.c - the workers of a namespace, read from their records in the registry.
 */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "client/overview.h"
#include "protocol/json_parse.h"
#include "protocol/registry.h"
#include "reeve/client.h"

typedef struct ids {
    const char *ns;
    char (*list)[REEVE_ID_MAX];
    size_t count;
    /* what was read of them */
    reeve_worker_info *workers;
    size_t found;
    bool *dead; /* ids whose entry has expired */
    bool no_memory;
} ids;

static void build_ids(rv_conn *conn, bool again, const void *context)
{
    const ids *all = context;
    (void)again;
    rv_cmd(conn, 2);
    rv_args(conn, "SMEMBERS");
    rv_arg2(conn, all->ns, strlen(all->ns), ":workers", 8);
}

static void build_entries(rv_conn *conn, bool again, const void *context)
{
    const ids *all = context;
    (void)again;
    for (size_t i = 0; i < all->count; i++) {
        rv_cmd(conn, 2);
        rv_args(conn, "GET");
        rv_registry_arg_key(conn, all->ns, all->list[i]);
    }
}

static char *text_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return rv_strdup(cJSON_IsString(item) ? item->valuestring : "");
}

static int64_t number_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) && item->valuedouble > -9e15 && item->valuedouble < 9e15 ? (int64_t)item->valuedouble
                                                                                         : 0;
}

static uint64_t count_of(const cJSON *json, const char *name, int64_t max)
{
    int64_t number = number_of(json, name);
    return number >= 0 && number <= max ? (uint64_t)number : 0;
}

static void free_worker(reeve_worker_info *worker)
{
    rv_free(worker->id);
    rv_free(worker->name);
    rv_free(worker->host);
    rv_free(worker->version);
    rv_free(worker->state);
    rv_free(worker->running);
    rv_free(worker->pools);
    rv_free(worker->types);
    rv_free(worker->plugins);
}

/* A list, as text. */
static char *list_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    bool known = cJSON_IsArray(item);
    char *text = known ? cJSON_PrintUnformatted(item) : NULL;
    char *copy = rv_strdup(known ? text : "[]"); /* NULL stays NULL: no memory */
    cJSON_free(text);
    return copy;
}

static bool read_worker(reeve_worker_info *ret, const char *id, const cJSON *json)
{
    ret->id = rv_strdup(id);
    ret->name = text_of(json, "name");
    ret->host = text_of(json, "host");
    ret->version = text_of(json, "version");
    ret->state = text_of(json, "state");
    ret->pools = list_of(json, "pools");
    ret->running = list_of(json, "running");
    bool known = cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "types"));
    if (known) ret->types = list_of(json, "types");
    bool plugins = cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "plugins"));
    if (plugins) ret->plugins = list_of(json, "plugins");
    ret->types_more = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "types_more"));
    ret->memory_bytes = number_of(json, "memory");
    ret->round_trip_us = number_of(json, "round_trip");
    const cJSON *utilisation = cJSON_GetObjectItemCaseSensitive(json, "utilisation");
    bool measured = cJSON_IsNumber(utilisation) && utilisation->valuedouble >= 0 && utilisation->valuedouble <= 1;
    ret->utilisation = measured ? utilisation->valuedouble : -1;
    ret->pid = number_of(json, "pid");
    ret->started_ms = number_of(json, "started");
    ret->seen_ms = number_of(json, "seen");
    ret->threads = (unsigned)count_of(json, "threads", INT_MAX);
    ret->busy = (unsigned)count_of(json, "busy", INT_MAX);
    ret->processed = count_of(json, "processed", RV_REPLY_NUMBER_MAX);
    ret->failed = count_of(json, "failed", RV_REPLY_NUMBER_MAX);
    return ret->id != NULL && ret->name != NULL && ret->host != NULL && ret->version != NULL && ret->state != NULL &&
           ret->pools != NULL && ret->running != NULL && (!known || ret->types != NULL) &&
           (!plugins || ret->plugins != NULL);
}

static void forget_found(ids *all)
{
    for (size_t i = 0; i < all->found; i++) free_worker(&all->workers[i]);
    memset(all->workers, 0, all->count * sizeof(*all->workers));
    all->found = 0;
}

static void on_entry(size_t index, const rv_reply *reply, void *context)
{
    ids *all = context;
    if (index == 0) forget_found(all); /* a repeated call starts anew */
    if (index >= all->count || all->no_memory) return;
    all->dead[index] = rv_reply_is(reply, RV_NIL);
    if (!rv_reply_is(reply, RV_TEXT)) return;
    cJSON *json;
    all->no_memory = rv_json_parse(&json, reply->text, reply->length) == REEVE_ENOMEM;
    if (cJSON_IsObject(json)) {
        reeve_worker_info *worker = &all->workers[all->found++];
        all->no_memory = !read_worker(worker, all->list[index], json);
    }
    cJSON_Delete(json);
}

/* Removes the ids of workers that died without removing themselves. */
static void build_forget(rv_conn *conn, bool again, const void *context)
{
    const ids *all = context;
    (void)again;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->dead[i]) continue;
        rv_cmd(conn, 3);
        rv_args(conn, "SREM");
        rv_arg2(conn, all->ns, strlen(all->ns), ":workers", 8);
        rv_args(conn, all->list[i]);
    }
}

static reeve_status read_ids(reeve_client *client, ids *all)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(client, build_ids, all, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY)) return rv_client_odd_reply(client, "workers");
    all->list = rv_zalloc_array(reply->count + 1, sizeof(*all->list));
    all->workers = rv_zalloc_array(reply->count + 1, sizeof(*all->workers));
    all->dead = rv_zalloc_array(reply->count + 1, sizeof(*all->dead));
    if (all->list == NULL || all->workers == NULL || all->dead == NULL)
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of workers");
    for (size_t i = 0; i < reply->count; i++)
        rv_copy_text(all->list[all->count++], sizeof(*all->list), reply->items[i]->text);
    return REEVE_OK;
}

reeve_status rv_overview_read_workers(reeve_client *client, const rv_reply *reply, reeve_worker_info **ret,
                                      size_t *ret_count)
{
    size_t count = reply->count / 2;
    char(*list)[REEVE_ID_MAX] = rv_zalloc_array(count + 1, sizeof(*list));
    bool *dead = rv_zalloc_array(count + 1, sizeof(*dead));
    reeve_worker_info *workers = rv_zalloc_array(count + 1, sizeof(*workers));
    ids all = {.ns = client->ns, .list = list, .count = count, .workers = workers, .dead = dead};
    all.no_memory = list == NULL || dead == NULL || workers == NULL;
    for (size_t i = 0; i < count && !all.no_memory; i++) {
        const rv_reply *id = reply->items[2 * i];
        rv_copy_text(list[i], sizeof(*list), rv_reply_is(id, RV_TEXT) ? id->text : "");
        on_entry(i, reply->items[2 * i + 1], &all);
    }
    rv_free(list);
    rv_free(dead);
    if (all.no_memory) {
        reeve_workers_free(workers, all.found);
        return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of workers");
    }
    *ret = workers;
    *ret_count = all.found;
    return REEVE_OK;
}

reeve_status reeve_workers(reeve_client *client, reeve_worker_info **ret, size_t *ret_count)
{
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    ids all = {.ns = client->ns};
    reeve_status status = read_ids(client, &all);
    if (status == REEVE_OK) status = rv_client_exec(client, build_entries, &all, on_entry, &all, NULL);
    if (status == REEVE_OK) status = rv_client_exec(client, build_forget, &all, NULL, NULL, NULL);
    if (status == REEVE_OK && all.no_memory)
        status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of workers");
    rv_free(all.list);
    rv_free(all.dead);
    if (status != REEVE_OK) {
        reeve_workers_free(all.workers, all.found);
        return status;
    }
    *ret = all.workers;
    *ret_count = all.found;
    return REEVE_OK;
}

void reeve_workers_free(reeve_worker_info *list, size_t count)
{
    if (list == NULL) return;
    for (size_t i = 0; i < count; i++) free_worker(&list[i]);
    rv_free(list);
}
