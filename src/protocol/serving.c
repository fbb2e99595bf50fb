#include "protocol/serving.h"

#include <string.h>

#include "base/error.h"
#include "base/id.h"
#include "protocol/json_parse.h"
#include "protocol/partition.h"

bool rv_serving_has(const cJSON *pool, const char *queue)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(pool, "queues"))
    {
        if (cJSON_IsString(item) && rv_partition_is_of(item->valuestring, queue)) return true;
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

/* What the record of a worker tells of its pools that serve a queue. */
typedef struct pools_of {
    bool serve;
    unsigned threads;
    bool have_room; /* a thread is idle, or that is not known */
} pools_of;

static void add_pool(pools_of *ret, const cJSON *pool)
{
    double threads = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(pool, "threads"));
    double busy = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(pool, "busy"));
    bool is_known = threads >= 1 && threads <= 1e6 && busy >= 0; /* none is NAN */
    ret->serve = true;
    if (is_known) ret->threads += (unsigned)threads;
    if (!is_known || busy < threads) ret->have_room = true;
}

static reeve_status read_pools(const reeve_worker_info *worker, const char *queue, pools_of *ret)
{
    cJSON *pools;
    const cJSON *pool;
    char name[REEVE_QUEUE_MAX + 1];
    *ret = (pools_of){0};
    rv_copy_text(name, sizeof(name), queue);
    rv_partition_canonicalize(name);
    if (worker->pools == NULL || strstr(worker->pools, name) == NULL) return REEVE_OK; /* most of many serve others */
    reeve_status status = parse(&pools, worker->pools);
    cJSON_ArrayForEach(pool, pools)
    {
        if (rv_serving_has(pool, queue)) add_pool(ret, pool);
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
    bool have_room = false;
    for (size_t i = 0; i < count && status == REEVE_OK; i++) {
        const reeve_worker_info *worker = &list[i];
        pools_of pools;
        bool handled = type == NULL;
        status = read_pools(worker, queue, &pools);
        if (status != REEVE_OK || !pools.serve) continue;
        ret->workers++;
        if (strcmp(worker->state, "running") != 0) continue;
        ret->taking++;
        ret->threads += pools.threads;
        have_room = have_room || pools.have_room;
        if (type != NULL) status = handles(worker, type, &handled);
        if (handled)
            ret->handling++;
        else if (worker->types == NULL || worker->types_more)
            ret->unsure = true;
    }
    ret->all_busy = ret->taking > 0 && !have_room;
    return status;
}
