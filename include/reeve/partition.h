/*
 * partition.h - queues that are divided into partitions.
 *
 * A queue with partitions has one name, but its tasks are in several hash slots of a Redis Cluster, which can be on
 * several nodes. Producers, workers and calls use the name of the queue. docs/partitions.md has the rules. The rules of
 * client.h for clients, threads, times, blocking, and errors of every call apply.
 */
#ifndef REEVE_PARTITION_H
#define REEVE_PARTITION_H

#include <reeve/client.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REEVE_PARTITION_NAME_MAX (REEVE_QUEUE_MAX + 1) /* size of a buffer for a name and its zero byte */
#define REEVE_PARTITIONS_MAX 64                        /* partitions of one queue */
/* A client, or a worker with the default session, applies a change after at most this time, in ms. */
#define REEVE_PARTITIONS_AGE_MS 10000

/* The partitions of a queue. */
typedef struct reeve_partitions {
    unsigned count;  /* number of partitions for new tasks; 1: the queue is not divided */
    unsigned before; /* during a change of the number: the previous number; else `count` */
    unsigned served; /* number of partitions that workers serve and calls such as reeve_list read; at least `count` */
    /* These fields are set by reeve_partition_step, and 0 after reeve_partition_get: */
    uint64_t moved; /* tasks that this call moved to another partition */
    /* Number of tasks with a unique key or a group that must end in their old partition, plus the number of groups that
     * still have tasks there. */
    uint64_t waiting;
    uint64_t remaining; /* tasks that have not ended, in partitions that are no longer used */
    uint64_t ended;     /* records of ended tasks in these partitions, which are kept until their retention ends */
} reeve_partitions;

/* Gets the partitions of a queue. One round trip. REEVE_EINVAL: the name is not valid; and the errors of every call. */
REEVE_API reeve_status reeve_partition_get(reeve_client *client, const char *queue, reeve_partitions *ret);

/*
 * Begins to change the number of partitions. This client enqueues new tasks into the new partitions at once, and other
 * clients after at most REEVE_PARTITIONS_AGE_MS. New partitions get the settings and limits of the queue. The change is
 * in progress until reeve_partition_step reports its end. It is no error to set the present number.
 *
 *   REEVE_EINVAL   the number is not from 1 to REEVE_PARTITIONS_MAX, or the name of the queue is longer than 61 bytes,
 *                  or a limit of the queue is lower than this number of partitions
 *   REEVE_ESTATE   another change is in progress: continue it, or set the previous number to reverse it
 */
REEVE_API reeve_status reeve_partition_set(reeve_client *client, const char *queue, unsigned count);

/*
 * Continues a change. The call examines the partitions, and moves at most `limit` tasks out of partitions that are no
 * longer used. When none is left, it ends the change. *ret_done is true when the change has ended, or when no change is
 * in progress; `served` then still counts partitions with records of ended tasks, or with messages to other queues.
 * Tasks with a group or a unique key are not moved: workers run them in their old partition. Blocks for several round
 * trips. Any number of programs may call this function, and a call that was interrupted can be repeated.
 */
REEVE_API reeve_status reeve_partition_step(reeve_client *client, const char *queue, size_t limit,
                                            reeve_partitions *ret, bool *ret_done);

/*
 * Gets the name of the partition that an enqueue of this task would use: that of its unique key, else of its group,
 * else of its id, else any. A transaction (transaction.h) names the partition in place of the queue: call this function
 * shortly before, and repeat a failed transaction with the same name. For a queue that is not divided, and for
 * partition 0, the name is that of the queue. Blocks for up to the client's timeout, if the partitions have to be read.
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
