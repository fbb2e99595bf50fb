/*
 * locate_task.h - which partition of a divided queue (protocol/partition.h) has a task that a handler names by the
 * queue: a worker's counterpart of client/partitions.h.
 */
#ifndef RV_RUNNING_LOCATE_TASK_H
#define RV_RUNNING_LOCATE_TASK_H

#include "running/worker_state.h"

/* The layout of a queue, as the worker knows it now. False: it is not divided. */
bool rv_locate_task_layout(reeve_worker *worker, const char *queue, rv_partition_layout *ret);

/*
 * The handle as scripts know it: with the partition that has the task, in place of the divided queue. Where no partition
 * has it, that of its id. A handle that is malformed, or names a partition, keeps its queue. Asks Redis, by host->ask,
 * only for divided queues: usually one round trip. Its errors; then *ret is the handle with the partition of its id.
 */
reeve_status rv_locate_task_handle(reeve_worker *worker, const rv_task_host *host, const char *handle,
                                   char ret[REEVE_HANDLE_MAX]);

#endif
