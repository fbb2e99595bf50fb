#include "running/chain_place.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/keys.h"
#include "protocol/partition.h"
#include "protocol/settlement.h"

#define UUID_VERSION 14 /* the place of its digit */

/* A chained task: see protocol/settlement.h. */
typedef struct chained_task {
    reeve_bytes handle, options, envelope;
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX];
    cJSON *read; /* its options; NULL: it has none */
} chained_task;

typedef struct placing {
    const rv_partition_map *map;
    const char *queue;              /* of the task that chains them, */
    char base[REEVE_QUEUE_MAX + 1]; /* and the queue that it is a partition of */
    chained_task *tasks;
    size_t count;
} placing;

static bool read_task(chained_task *ret, const char **at)
{
    char handle[REEVE_HANDLE_MAX];
    *at = rv_settlement_chained_argument(*at, &ret->handle);
    *at = rv_settlement_chained_argument(*at, &ret->options);
    *at = rv_settlement_chained_argument(*at, &ret->envelope);
    if (ret->handle.length >= sizeof(handle)) return false;
    memcpy(handle, ret->handle.data, ret->handle.length);
    handle[ret->handle.length] = '\0';
    if (!rv_keys_split_handle(handle, ret->queue, ret->id)) return false;
    if (ret->options.length == 0) return true;
    ret->read = cJSON_ParseWithLength(ret->options.data, ret->options.length);
    return ret->read != NULL;
}

static const char *option_of(const chained_task *task, const char *name)
{
    return task->read != NULL ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(task->read, name)) : NULL;
}

/* The library made it, so no other task can have it. */
static bool is_made(const char *id)
{
    return strlen(id) == RV_UUID_LENGTH && id[UUID_VERSION] == '7';
}

static unsigned place_of(const placing *p, const chained_task *task, const rv_partition_layout *layout)
{
    const char *key = option_of(task, "unique");
    if (key == NULL) key = option_of(task, "group");
    if (key == NULL && is_made(task->id) && strcmp(layout->queue, p->base) == 0) return rv_partition_number(p->queue);
    return rv_partition_of(key != NULL ? key : task->id, layout->count);
}

/* The queue as scripts know it: of a divided one, the partition. */
static void place(const placing *p, const chained_task *task, char ret[REEVE_QUEUE_MAX + 1])
{
    const rv_partition_layout *layout = rv_partition_map_find(p->map, task->queue);
    rv_copy_text(ret, REEVE_QUEUE_MAX + 1, task->queue);
    if (layout != NULL) rv_partition_name(ret, layout->queue, place_of(p, task, layout));
}

/* A parent that is chained with it goes where it goes; another one is in the partition of its id. */
static bool place_parent(const placing *p, cJSON *parent)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX], handle[REEVE_HANDLE_MAX];
    cJSON *first = cJSON_GetArrayItem(parent, 0);
    const char *given = cJSON_GetStringValue(first);
    if (given == NULL || !rv_keys_split_handle(given, queue, id)) return true;
    const rv_partition_layout *layout = rv_partition_map_find(p->map, queue);
    if (layout == NULL) return true;
    unsigned number = rv_partition_of(id, layout->count);
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->tasks[i].id, id) == 0 && strcmp(p->tasks[i].queue, queue) == 0)
            number = place_of(p, &p->tasks[i], layout);
    rv_partition_name(queue, layout->queue, number);
    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, id);
    return cJSON_SetValuestring(first, handle) != NULL;
}

static bool write_task(const placing *p, const chained_task *task, rv_buf *ret)
{
    char queue[REEVE_QUEUE_MAX + 1], handle[REEVE_HANDLE_MAX];
    cJSON *after = cJSON_GetObjectItemCaseSensitive(task->read, "after"), *parent;
    reeve_bytes options = task->options;
    bool good = true;
    cJSON_ArrayForEach(parent, after) good = good && place_parent(p, parent);
    char *text = good && after != NULL ? cJSON_PrintUnformatted(task->read) : NULL;
    if (after != NULL && text == NULL) return false;
    if (text != NULL) options = (reeve_bytes){text, strlen(text)};
    place(p, task, queue);
    (void)snprintf(handle, sizeof(handle), "%s/%s", queue, task->id);
    rv_settlement_chain_parts(ret, handle, options, task->envelope);
    cJSON_free(text);
    return !ret->failed;
}

static bool place_all(placing *p, reeve_bytes chained, size_t count, rv_buf *ret)
{
    const char *at = chained.data;
    bool good = true;
    for (size_t i = 0; good && i < count; i++) good = read_task(&p->tasks[p->count++], &at);
    for (size_t i = 0; good && i < count; i++) good = write_task(p, &p->tasks[i], ret);
    for (size_t i = 0; i < p->count; i++) cJSON_Delete(p->tasks[i].read);
    return good;
}

bool rv_chain_place(reeve_worker *worker, const char *queue, reeve_bytes chained, size_t count, rv_buf *ret)
{
    if (count == 0 || !atomic_load_explicit(&worker->has_partitions, memory_order_relaxed)) return false;
    placing p = {.map = &worker->partitions, .queue = queue, .tasks = rv_zalloc_array(count, sizeof(*p.tasks))};
    if (p.tasks == NULL) return false;
    rv_copy_text(p.base, sizeof(p.base), queue);
    rv_partition_strip(p.base);
    rv_lock(&worker->changing);
    bool good = place_all(&p, chained, count, ret);
    rv_unlock(&worker->changing);
    rv_free(p.tasks);
    return good;
}
