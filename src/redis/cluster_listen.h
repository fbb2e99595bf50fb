/*
 * cluster_listen.h - subscriptions of a connection to a Redis Cluster.
 *
 * A message is published to all nodes, but PUBSUB NUMSUB counts the subscribers of one node alone. A channel without a
 * hash tag is therefore subscribed to on each master: so each queue's node sees whether a worker lives
 * (lib/worker_alive.lua), and each message comes once for each master. When a slot gets another owner the subscription
 * counts as lost, and its owner subscribes anew. A channel with a hash tag is subscribed to on the node of its slot.
 */
#ifndef RV_CLUSTER_LISTEN_H
#define RV_CLUSTER_LISTEN_H

#include "redis/conn_private.h"

/* The one command that was built is SUBSCRIBE for a channel without a hash tag. As rv_conn_call. */
reeve_status rv_cluster_listen_subscribe(rv_conn *conn, int64_t deadline, const rv_reply **ret);
/* As rv_conn_receive. */
reeve_status rv_cluster_listen_receive(rv_conn *conn, int64_t deadline, const rv_reply **ret);

#endif
