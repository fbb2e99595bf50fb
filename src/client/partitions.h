/*
 * partitions.h - what a client knows of the queues that are divided into partitions (protocol/partition.h), and which
 * partition a task of it goes to, or is in.
 *
 * The client reads all layouts of the namespace when it connects, with the other commands of that, and again when they
 * are REEVE_PARTITIONS_AGE_MS old and it is used.
 */
#ifndef RV_CLIENT_PARTITIONS_H
#define RV_CLIENT_PARTITIONS_H

#include "client/client.h"

/* Lets the connection of the client read the layouts when it is opened. */
void rv_partitions_ask(reeve_client *client);

/* The layout of a queue, or NULL: it is not divided. Lives until the next call of the client. Where the layouts are old
 * and cannot be read, the old ones are used. */
const rv_partition_layout *rv_partitions_find(reeve_client *client, const char *queue);

/* Reads the layouts now. */
reeve_status rv_partitions_renew(reeve_client *client);

/*
 * The queue to ask for a task: the exact name of the partition that has it, in ret; `queue` itself where it is not
 * divided. Where no partition has the task, ret is that of its id. Asks Redis only for divided queues: one pipeline. NULL
 * on failure: client->error.
 */
const char *rv_partitions_locate(reeve_client *client, const char *queue, const char *id,
                                 char ret[REEVE_QUEUE_MAX + 1]);

/* The same for a handle, which is replaced by that of the partition in ret; the handle itself where the queue is not
 * divided, or the handle is malformed. */
const char *rv_partitions_locate_handle(reeve_client *client, const char *handle, char ret[REEVE_HANDLE_MAX]);

#endif
