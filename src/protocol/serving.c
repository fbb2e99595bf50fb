#include "protocol/serving.h"

#include <string.h>

#include "base/id.h"
#include "protocol/json_parse.h"

static bool has_text(const cJSON *list, const char *text)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0) return true;
    }
    return false;
}

static bool has_type(const cJSON *list, const char *type)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item) && rv_type_fit(item->valuestring, type, strlen(type)) > 0) return true;
    }
    return false;
}

static reeve_status parse(cJSON **ret, const char *text)
{
    *ret = NULL;
    return text == NULL || rv_json_parse(ret, text, strlen(text)) != REEVE_ENOMEM ? REEVE_OK : REEVE_ENOMEM;
}

static reeve_status serves(const reeve_worker_info *worker, const char *queue, bool *ret)
{
    cJSON *pools;
    const cJSON *pool;
    reeve_status status = parse(&pools, worker->pools);
    *ret = false;
    cJSON_ArrayForEach(pool, pools)
    {
        *ret = *ret || has_text(cJSON_GetObjectItemCaseSensitive(pool, "queues"), queue);
    }
    cJSON_Delete(pools);
    return status;
}

static reeve_status handles(const reeve_worker_info *worker, const char *type, bool *ret)
{
    cJSON *types;
    reeve_status status = parse(&types, worker->types);
    *ret = has_type(types, type);
    cJSON_Delete(types);
    return status;
}

reeve_status rv_serving_count(rv_serving *ret, const reeve_worker_info *list, size_t count, const char *queue,
                              const char *type)
{
    reeve_status status = REEVE_OK;
    *ret = (rv_serving){0};
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        const reeve_worker_info *worker = &list[i];
        bool found, handled = type == NULL;
        status = serves(worker, queue, &found);
        if (status != REEVE_OK || !found) continue;
        ret->workers++;
        if (strcmp(worker->state, "running") != 0) continue;
        ret->taking++;
        if (type != NULL) status = handles(worker, type, &handled);
        if (handled)
            ret->handling++;
        else if (worker->types == NULL || worker->types_more)
            ret->unsure = true;
    }
    return status;
}
