/*
 * client_crashes.c - the last crashes of supervised workers, as their supervisors noted them (protocol/crash_list.h).
 */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "client/client.h"
#include "protocol/crash_list.h"
#include "protocol/json_parse.h"
#include "reeve/client.h"

static void build(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    rv_crash_list_read(conn, context);
}

static char *text_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return rv_strdup(cJSON_IsString(item) ? item->valuestring : "");
}

static uint64_t count_of(const cJSON *json, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 9e15 ? (uint64_t)item->valuedouble : 0;
}

/* False: no memory. */
static bool read_crash(reeve_crash_info *ret, const cJSON *json)
{
    *ret = (reeve_crash_info){.at_ms = (int64_t)count_of(json, "at"),
                              .worker = text_of(json, "worker"),
                              .thread = text_of(json, "thread"),
                              .task = text_of(json, "task"),
                              .type = text_of(json, "type"),
                              .message = text_of(json, "message"),
                              .backtrace = text_of(json, "backtrace"),
                              .crashed = count_of(json, "crashed"),
                              .settled = count_of(json, "settled"),
                              .given_back = count_of(json, "given_back")};
    return ret->worker != NULL && ret->thread != NULL && ret->task != NULL && ret->type != NULL &&
           ret->message != NULL && ret->backtrace != NULL;
}

/* A supervisor notes a crash again when a reply was lost. Several runners of a worker may die at the same time. */
static bool is_known(const reeve_crash_info *list, size_t count, const reeve_crash_info *one)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].at_ms == one->at_ms && strcmp(list[i].worker, one->worker) == 0 &&
            strcmp(list[i].thread, one->thread) == 0 && strcmp(list[i].task, one->task) == 0)
            return true;
    }
    return false;
}

static void free_crash(reeve_crash_info *crash)
{
    rv_free(crash->worker);
    rv_free(crash->thread);
    rv_free(crash->task);
    rv_free(crash->type);
    rv_free(crash->message);
    rv_free(crash->backtrace);
}

/* What another program wrote is left out. */
static reeve_status read_all(reeve_client *client, const rv_reply *reply, reeve_crash_info *list, size_t *count)
{
    for (size_t i = 0; i < reply->count; i++) {
        cJSON *json = NULL;
        if (!rv_reply_is(reply->items[i], RV_TEXT)) continue;
        bool good = rv_json_parse(&json, reply->items[i]->text, reply->items[i]->length) != REEVE_ENOMEM;
        if (good && cJSON_IsObject(json)) {
            good = read_crash(&list[*count], json);
            if (good && !is_known(list, *count, &list[*count]))
                ++*count;
            else
                free_crash(&list[*count]);
        }
        cJSON_Delete(json);
        if (!good) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of crashes");
    }
    return REEVE_OK;
}

reeve_status reeve_crashes(reeve_client *client, reeve_crash_info **ret, size_t *ret_count)
{
    const rv_reply *reply;
    size_t count = 0;
    if (client == NULL || ret == NULL || ret_count == NULL) return REEVE_EINVAL;
    reeve_status status = rv_client_call(client, build, client->ns, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY)) return rv_client_odd_reply(client, "crashes");
    reeve_crash_info *list = rv_zalloc_array(reply->count + 1, sizeof(*list));
    if (list == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a list of crashes");
    status = read_all(client, reply, list, &count);
    if (status != REEVE_OK) {
        reeve_crashes_free(list, count);
        return status;
    }
    *ret = list;
    *ret_count = count;
    return REEVE_OK;
}

void reeve_crashes_free(reeve_crash_info *list, size_t count)
{
    if (list == NULL) return;
    for (size_t i = 0; i < count; i++) free_crash(&list[i]);
    rv_free(list);
}
