/*
 * cluster_map.h - which node of a Redis Cluster serves each hash slot: read from replies of nodes. No I/O, no locks.
 *
 * A node is an address; its number, from 0, does not change while the map lives, also when the node leaves the
 * cluster. Nothing in a reply is believed before it was checked: a reply that is malformed changes nothing.
 */
#ifndef RV_CLUSTER_MAP_H
#define RV_CLUSTER_MAP_H

#include "base/error.h"
#include "redis/reply.h"
#include "redis/slots.h"

#define RV_CLUSTER_NODES_MAX 2000 /* addresses, those of former nodes included */
#define RV_CLUSTER_HOST_MAX 255
#define RV_CLUSTER_NO_NODE (-1)

typedef struct rv_cluster_node {
    char host[RV_CLUSTER_HOST_MAX + 1];
    int port;
} rv_cluster_node;

typedef struct rv_cluster_map {
    rv_cluster_node *nodes;
    size_t node_count;
    short owner[RV_SLOTS]; /* the master's number; RV_CLUSTER_NO_NODE: nobody serves the slot */
} rv_cluster_map;

void rv_cluster_map_init(rv_cluster_map *map); /* no node serves any slot */
void rv_cluster_map_fini(rv_cluster_map *map);

/*
 * Takes a reply to CLUSTER SLOTS, which all versions answer: [first, last, [endpoint, port, id, [name, value ...]],
 * replicas...] for each range. An endpoint that is nil or "" stands for the host that was asked, "?" for a node
 * without a known host name: then its "ip" counts. A range whose master has no port that can be reached is a hole.
 * asked: the host of the node that replied. REEVE_OK; REEVE_EPROTO, REEVE_ENOMEM: the map is as it was.
 */
reeve_status rv_cluster_map_read(rv_cluster_map *map, const rv_reply *slots, const char *asked, rv_error *error);

/* Sets the owner of one slot. The number of the node; RV_CLUSTER_NO_NODE: there is no memory, or too many nodes. */
int rv_cluster_map_set(rv_cluster_map *map, unsigned slot, const rv_cluster_node *node);

/* What an error reply of a node of a cluster says. */
typedef enum rv_redirect {
    RV_REDIRECT_NONE,
    RV_REDIRECT_MOVED, /* another node serves the slot */
    RV_REDIRECT_ASK,   /* the slot is being moved, see cluster.h */
} rv_redirect;

/*
 * Reads "MOVED <slot> <host>:<port>" and "ASK ...". An empty host stands for the one that was asked. For MOVED,
 * *ret_slot and *ret are set where the words are well formed; else the result is RV_REDIRECT_NONE.
 */
rv_redirect rv_cluster_map_redirect(const char *words, const char *asked, unsigned *ret_slot, rv_cluster_node *ret);

#endif
