#include "redis/cluster.h"

#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/mem.h"

#define FETCH_EVERY_MS 1000

struct rv_cluster {
    pthread_mutex_t lock; /* of all below; it stands alone: nothing else is locked while it is held */
    rv_cluster_map map;
    unsigned version;
    bool known;          /* the map was fetched once */
    int64_t fetch_after; /* monotonic ms */
    int hint;
    bool unreached[RV_CLUSTER_NODES_MAX];
};

rv_cluster *rv_cluster_create(void)
{
    rv_cluster *cluster = rv_zalloc(sizeof(*cluster));
    if (cluster == NULL) return NULL;
    rv_lock_init(&cluster->lock);
    rv_cluster_map_init(&cluster->map);
    cluster->hint = RV_CLUSTER_NO_NODE;
    return cluster;
}

void rv_cluster_destroy(rv_cluster *cluster)
{
    if (cluster == NULL) return;
    rv_cluster_map_fini(&cluster->map);
    rv_lock_fini(&cluster->lock);
    rv_free(cluster);
}

int rv_cluster_owner(rv_cluster *cluster, unsigned slot)
{
    rv_lock(&cluster->lock);
    int owner = slot < RV_SLOTS ? cluster->map.owner[slot] : RV_CLUSTER_NO_NODE;
    rv_unlock(&cluster->lock);
    return owner;
}

bool rv_cluster_node_at(rv_cluster *cluster, int number, rv_cluster_node *ret)
{
    rv_lock(&cluster->lock);
    bool known = number >= 0 && (size_t)number < cluster->map.node_count;
    if (known) *ret = cluster->map.nodes[number];
    rv_unlock(&cluster->lock);
    return known;
}

static unsigned count_slots(const rv_cluster_map *map, int number)
{
    unsigned count = 0;
    for (size_t i = 0; i < RV_SLOTS; i++) count += map->owner[i] == number;
    return count;
}

unsigned rv_cluster_slots_of(rv_cluster *cluster, int number)
{
    rv_lock(&cluster->lock);
    unsigned count = number < 0 ? 0 : count_slots(&cluster->map, number);
    rv_unlock(&cluster->lock);
    return count;
}

int rv_cluster_next_master(rv_cluster *cluster, int from)
{
    int found = RV_CLUSTER_NO_NODE;
    rv_lock(&cluster->lock);
    for (size_t i = from < 0 ? 0 : (size_t)from; i < cluster->map.node_count && found == RV_CLUSTER_NO_NODE; i++)
        if (count_slots(&cluster->map, (int)i) > 0) found = (int)i;
    rv_unlock(&cluster->lock);
    return found;
}

unsigned rv_cluster_version(rv_cluster *cluster)
{
    rv_lock(&cluster->lock);
    unsigned version = cluster->version;
    rv_unlock(&cluster->lock);
    return version;
}

bool rv_cluster_claim_fetch(rv_cluster *cluster, bool stale, int64_t now_ms)
{
    rv_lock(&cluster->lock);
    bool claimed = !cluster->known || (stale && now_ms >= cluster->fetch_after);
    if (claimed) cluster->fetch_after = now_ms + FETCH_EVERY_MS;
    rv_unlock(&cluster->lock);
    return claimed;
}

reeve_status rv_cluster_take(rv_cluster *cluster, const rv_reply *slots, const char *asked, rv_error *error)
{
    short before[RV_SLOTS];
    rv_lock(&cluster->lock);
    memcpy(before, cluster->map.owner, sizeof(before));
    reeve_status status = rv_cluster_map_read(&cluster->map, slots, asked, error);
    if (status == REEVE_OK) {
        cluster->known = true;
        cluster->fetch_after = rv_now_ms() + FETCH_EVERY_MS;
        cluster->hint = RV_CLUSTER_NO_NODE;
        cluster->version += memcmp(before, cluster->map.owner, sizeof(before)) != 0;
    }
    rv_unlock(&cluster->lock);
    return status;
}

void rv_cluster_note_moved(rv_cluster *cluster, unsigned slot, const rv_cluster_node *node)
{
    rv_lock(&cluster->lock);
    int before = slot < RV_SLOTS ? cluster->map.owner[slot] : RV_CLUSTER_NO_NODE;
    int number = rv_cluster_map_set(&cluster->map, slot, node);
    if (number != RV_CLUSTER_NO_NODE) cluster->hint = number;
    cluster->version += number != RV_CLUSTER_NO_NODE && number != before;
    rv_unlock(&cluster->lock);
}

int rv_cluster_hint(rv_cluster *cluster)
{
    rv_lock(&cluster->lock);
    int hint = cluster->hint;
    rv_unlock(&cluster->lock);
    return hint;
}

void rv_cluster_note_reached(rv_cluster *cluster, int number, bool reached)
{
    if (number < 0 || number >= RV_CLUSTER_NODES_MAX) return;
    rv_lock(&cluster->lock);
    cluster->unreached[number] = !reached;
    rv_unlock(&cluster->lock);
}

bool rv_cluster_is_whole(rv_cluster *cluster)
{
    bool whole = true;
    rv_lock(&cluster->lock);
    for (size_t i = 0; i < cluster->map.node_count && whole; i++)
        whole = !cluster->unreached[i] || count_slots(&cluster->map, (int)i) == 0;
    rv_unlock(&cluster->lock);
    return whole;
}
