#include "protocol/serving.h"

#include <cjson/cJSON.h>
#include <string.h>

static bool has_text(const cJSON *list, const char *text)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0) return true;
    }
    return false;
}

static bool serves(const reeve_worker_info *worker, const char *queue)
{
    cJSON *pools = cJSON_Parse(worker->pools);
    const cJSON *pool;
    bool found = false;
    cJSON_ArrayForEach(pool, pools)
    {
        found = found || has_text(cJSON_GetObjectItemCaseSensitive(pool, "queues"), queue);
    }
    cJSON_Delete(pools);
    return found;
}

static bool handles(const reeve_worker_info *worker, const char *type)
{
    cJSON *types = worker->types != NULL ? cJSON_Parse(worker->types) : NULL;
    bool found = has_text(types, type);
    cJSON_Delete(types);
    return found;
}

void rv_serving_count(rv_serving *ret, const reeve_worker_info *list, size_t count, const char *queue, const char *type)
{
    *ret = (rv_serving){0};
    for (size_t i = 0; i < count; i++) {
        const reeve_worker_info *worker = &list[i];
        if (!serves(worker, queue)) continue;
        ret->workers++;
        if (strcmp(worker->state, "running") != 0) continue;
        ret->taking++;
        if (type == NULL || handles(worker, type))
            ret->handling++;
        else if (worker->types == NULL || worker->types_more)
            ret->unsure = true;
    }
}
