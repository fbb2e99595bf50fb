#include "running/pool_partitions.h"

#include <string.h>

#include "base/mem.h"

static bool names_queue(const reeve_pool_options *o, const char *name, size_t length)
{
    for (size_t i = 0; i < o->queue_count; i++)
        if (strlen(o->queues[i]) == length && memcmp(o->queues[i], name, length) == 0) return true;
    return false;
}

/* One that the pool serves because it serves the queue. */
static bool is_implied(const reeve_pool_options *o, const char *name)
{
    size_t length = strlen(name), base = rv_partition_base(name, length);
    return base < length && names_queue(o, name, base);
}

static size_t count_queues(const reeve_pool_options *o, const rv_partition_map *map)
{
    size_t count = 0;
    for (size_t i = 0; i < o->queue_count; i++) {
        const rv_partition_layout *layout = rv_partition_map_find(map, o->queues[i]);
        if (!is_implied(o, o->queues[i])) count += layout != NULL ? layout->served : 1;
    }
    return count;
}

static void add(rv_pool_partitions *ret, const reeve_pool_options *o, size_t from, const char *name)
{
    size_t at = ret->options.queue_count++;
    rv_copy_text(ret->names[at], sizeof(ret->names[at]), name);
    ret->queues[at] = ret->names[at];
    if (o->weights != NULL) ret->weights[at] = o->weights[from];
}

bool rv_pool_partitions_init(rv_pool_partitions *ret, const reeve_pool_options *o, const rv_partition_map *map)
{
    size_t count = count_queues(o, map);
    *ret = (rv_pool_partitions){.options = *o};
    ret->queues = rv_zalloc_array(count, sizeof(*ret->queues));
    ret->weights = rv_zalloc_array(count, sizeof(*ret->weights));
    ret->names = rv_zalloc_array(count, sizeof(*ret->names));
    if (ret->queues == NULL || ret->weights == NULL || ret->names == NULL) {
        rv_pool_partitions_fini(ret);
        return false;
    }
    ret->options.queue_count = 0;
    ret->options.queues = ret->queues;
    ret->options.weights = o->weights != NULL ? ret->weights : NULL;
    for (size_t i = 0; i < o->queue_count; i++) {
        const rv_partition_layout *layout = rv_partition_map_find(map, o->queues[i]);
        if (is_implied(o, o->queues[i])) continue;
        add(ret, o, i, o->queues[i]);
        for (unsigned k = 1; layout != NULL && k < layout->served; k++) {
            char name[REEVE_QUEUE_MAX + 1];
            rv_partition_name(name, layout->queue, k);
            add(ret, o, i, name);
        }
    }
    return true;
}

void rv_pool_partitions_fini(rv_pool_partitions *expanded)
{
    rv_free(expanded->queues);
    rv_free(expanded->weights);
    rv_free(expanded->names);
    *expanded = (rv_pool_partitions){0};
}
