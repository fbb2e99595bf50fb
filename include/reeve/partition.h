/*
 * partition.h - queues that are divided into partitions.
 *
 * A queue with partitions has one name, and its tasks are in several hash slots of a Redis Cluster, so that more than
 * one node carries it. Producers, workers and calls use the name of the queue. docs/partitions.md has the rules.
 */
#ifndef REEVE_PARTITION_H
#define REEVE_PARTITION_H

#include <reeve/client.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_PARTITION_NAME_MAX (REEVE_QUEUE_MAX + 1) /* with the zero byte */
#define REEVE_PARTITIONS_MAX 64                        /* partitions of one queue */
/* A client, or a worker with the default session, learns of a change within this time. */
#define REEVE_PARTITIONS_AGE_MS 10000

/* The partitions of a queue. */
typedef struct reeve_partitions {
    unsigned count;  /* number of partitions that new tasks go to; 1: the queue is not divided */
    unsigned before; /* while the number is being changed: the number before; else `count` */
    unsigned served; /* number of partitions that workers serve and calls search; at least `count` */
    /* By reeve_partition_step: */
    uint64_t moved;     /* tasks that the call moved to another partition */
    uint64_t waiting;   /* tasks with a group or a unique key that have to end where they are, and such groups */
    uint64_t remaining; /* tasks in partitions from `count` on that have not ended */
    uint64_t ended;     /* records of ended tasks there, which stay until their retention is over */
} reeve_partitions;

/* Gets the partitions of a queue. */
REEVE_API reeve_status reeve_partition_get(reeve_client *client, const char *queue, reeve_partitions *ret);

/*
 * Sets the number of partitions. New tasks go to the new partitions, for this client at once, for others within
 * REEVE_PARTITIONS_AGE_MS. New partitions get the settings and limits of the queue. The change goes on until
 * reeve_partition_step has ended it. It is no error to set the number that is set.
 *
 *   REEVE_EINVAL   the number is not from 1 to REEVE_PARTITIONS_MAX, or the name of the queue is longer than 61 bytes,
 *                  or a limit of the queue cannot be shared out among this number of partitions
 *   REEVE_ESTATE   another change is under way: it can be continued, or taken back by setting the number before
 */
REEVE_API reeve_status reeve_partition_set(reeve_client *client, const char *queue, unsigned count);

/*
 * Continues a change: looks through the partitions, moves the tasks of partitions that are no longer used, at most
 * `limit` of them, and ends the change when nothing is left. *ret_done is true when the change has ended, or when there
 * is none; `served` then still counts partitions that have records of ended tasks. Tasks with a group or a unique key
 * are not moved: workers run them where they are. Any number of programs may call this; a call that was interrupted can
 * be repeated.
 */
REEVE_API reeve_status reeve_partition_step(reeve_client *client, const char *queue, size_t limit,
                                            reeve_partitions *ret, bool *ret_done);

/*
 * Gets the name of the partition that an enqueue of this task would use: that of its unique key, else of its group,
 * else of its id, else any. A transaction (transaction.h) names the partition in place of the queue: call this shortly
 * before, and repeat the transaction with the same name. A queue that is not divided has its own name, as has partition
 * 0. Blocks for up to the client's timeout, if the partitions have to be read.
 */
REEVE_API reeve_status reeve_partition_of_task(reeve_client *client, const reeve_task_spec *spec,
                                               char ret[REEVE_PARTITION_NAME_MAX]);

/* ---- the sizes of structs, see status.h ------------------------------------------------------------------------ */

REEVE_API reeve_status reeve_partition_of_task_sized(reeve_client *client, const reeve_task_spec *spec,
                                                     char ret[REEVE_PARTITION_NAME_MAX], size_t spec_size);
#define reeve_partition_of_task(...) reeve_partition_of_task_sized(__VA_ARGS__, sizeof(reeve_task_spec))

#ifdef __cplusplus
}
#endif
#endif
