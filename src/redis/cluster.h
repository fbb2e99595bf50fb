/*
 * cluster.h - what a process knows of a Redis Cluster: one map for all connections by one URL. Any thread.
 *
 * How a command finds its node: by the hash slot of its key (route.h), which the map gives to a node. A node that does
 * not serve the slot any more answers MOVED: the map learns the new owner, the command is sent there, and the whole
 * map is fetched again, at most once a second, from the node that redirected.
 *
 * ASK is never followed. It means that the slot is being moved, and that its key is not at this node any more, or not
 * yet anywhere. A script of reeve declares the prefix of its queue as its only key, and no such key ever exists: so
 * the source of a migration answers ASK from the first moment on, while all keys of the queue may still be there.
 * The target would run the script on an empty queue, and what it wrote there would stand in the way of the keys that
 * come. So ASK is told to callers as TRYAGAIN, which passes: they repeat the call after a pause, until the slot has
 * its new owner.
 */
#ifndef RV_CLUSTER_H
#define RV_CLUSTER_H

#include <stdint.h>

#include "redis/cluster_map.h"

typedef struct rv_cluster rv_cluster;

/* NULL: no memory. */
rv_cluster *rv_cluster_create(void);
void rv_cluster_destroy(rv_cluster *cluster); /* NULL is fine */

/* The number of the node that serves a slot; RV_CLUSTER_NO_NODE: nobody, or it is not known. */
int rv_cluster_owner(rv_cluster *cluster, unsigned slot);
/* False: there is no such node. */
bool rv_cluster_node_at(rv_cluster *cluster, int number, rv_cluster_node *ret);
/* The first node from this number on that serves slots; RV_CLUSTER_NO_NODE: there is none. */
int rv_cluster_next_master(rv_cluster *cluster, int from);
/* How many slots a node serves. */
unsigned rv_cluster_slots_of(rv_cluster *cluster, int number);
/* Changes when a slot gets another owner. */
unsigned rv_cluster_version(rv_cluster *cluster);

/* Whether the map is to be fetched now: it was never fetched, or `stale` and not asked for within a second. The caller
 * that gets true fetches it: for a second the others are told that it need not be. */
bool rv_cluster_claim_fetch(rv_cluster *cluster, bool stale, int64_t now_ms);
/* As rv_cluster_map_read. */
reeve_status rv_cluster_take(rv_cluster *cluster, const rv_reply *slots, const char *asked, rv_error *error);
/* A node answered MOVED. */
void rv_cluster_note_moved(rv_cluster *cluster, unsigned slot, const rv_cluster_node *node);
/* A connection reached a node, or could not. */
void rv_cluster_note_reached(rv_cluster *cluster, int number, bool reached);
/* Whether each node that serves slots could be reached the last time that a connection tried. */
bool rv_cluster_is_whole(rv_cluster *cluster);
/* The node that was named last in a MOVED, which knows more than others; RV_CLUSTER_NO_NODE: there was none. */
int rv_cluster_hint(rv_cluster *cluster);

#endif
