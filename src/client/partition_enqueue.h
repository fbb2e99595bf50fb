/*
 * partition_enqueue.h - enqueues of which some are for queues that are divided into partitions, or have parents there:
 * which partition each task goes to, and which its parents are in.
 *
 * A task with a unique key goes to the partition of the key, else one with a group to that of the group, else one with an
 * id of its own to that of the id. All others go to any: tasks of one call to the same, RUN of them, and their ids are
 * made so that the partition follows from them. While the number of partitions is being changed, a task whose key or
 * group is in use in its partition of before goes there.
 */
#ifndef RV_CLIENT_PARTITION_ENQUEUE_H
#define RV_CLIENT_PARTITION_ENQUEUE_H

#include "client/client_enqueue.h"

/* Whether a spec is for a divided queue, or has a parent there whose partition is not named. */
bool rv_partition_enqueue_applies(reeve_client *client, const reeve_task_spec *specs, size_t count);

/* Refuses the name of a partition that the queue does not have, which no worker serves: REEVE_EINVAL. */
reeve_status rv_partition_enqueue_check(const reeve_client *client, const char *queue, rv_error *error);

/* The exact name of the partition that each spec goes to, which then is the queue of the spec; "": its queue is not
 * divided. asks: while the number of partitions is being changed, Redis is asked for keys and groups in use. */
reeve_status rv_partition_enqueue_place(reeve_client *client, const reeve_task_spec *specs, size_t count, bool asks,
                                        char (*ret)[REEVE_QUEUE_MAX + 1]);

/* An order in which no task comes before its parents among the specs, as indexes; otherwise as they came. Their queues
 * are names of partitions, or of queues that are not divided. No I/O. False: no memory. */
bool rv_partition_enqueue_order(reeve_client *client, const reeve_task_spec *specs, size_t count, size_t *ret);

/* Moves a task out of a partition, of this name, that the queue does not have any more. By the layouts that the client
 * knows. */
void rv_partition_enqueue_bring_home(reeve_client *client, const char *name, const char *id);

/* rv_client_enqueue_run for such specs: each with the partition in place of the queue, ordered by partition. */
reeve_status rv_partition_enqueue(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                  reeve_enqueued *results);

#endif
