/*
 * partition_left.h - partitions that a queue no longer has (protocol/partition.h), and that hold tasks or messages all
 * the same: a producer with an old number of partitions, or a message that was delivered late, has put them there.
 *
 * The names of all partitions that a queue ever had stay among the queues of the namespace, so one command tells which
 * are to be looked at. Nothing is lost there: rv_client_partition_serve lets workers serve such a partition again.
 */
#ifndef RV_CLIENT_PARTITION_LEFT_H
#define RV_CLIENT_PARTITION_LEFT_H

#include "client/client.h"

/* The partitions of a queue from number `from` on; from 1 on. */
typedef struct rv_partition_left {
    const char *ns;
    const char *queue;
    unsigned from;
    uint64_t named;   /* a bit for each one that the queue once had */
    uint64_t holding; /* a bit for each of these that holds something */
} rv_partition_left;

/* Whether the queue can have been divided: such a name is short enough, and not that of a partition. */
bool rv_partition_left_applies(const char *queue);

/* How many partitions have to be served so that those that hold something are; 0: none does. */
unsigned rv_partition_left_served(const rv_partition_left *left);

/* The same over any connection, which is open, with nothing pending. The errors of the connection. */
reeve_status rv_partition_left_look(rv_conn *conn, int64_t deadline, rv_partition_left *left);

/* Over a client's: *ret is as above. */
reeve_status rv_partition_left_find(reeve_client *client, const char *queue, unsigned from, rv_partition_left *ret);

#endif
