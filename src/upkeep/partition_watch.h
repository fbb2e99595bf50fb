/*
 * partition_watch.h - a worker learns of the partitions of its queues (protocol/partition.h): when it starts, and with
 * each heartbeat. Its pools then serve all of them (running/pool_partitions.h).
 */
#ifndef RV_UPKEEP_PARTITION_WATCH_H
#define RV_UPKEEP_PARTITION_WATCH_H

#include "running/worker_state.h"

/* Adds the command that reads the layouts of the namespace. */
void rv_partition_watch_build(rv_conn *conn, const char *ns);

/* Takes its reply; the scheduler then applies it if it is new. A consumer serves the partitions that its queues had when it
 * was opened, but the tasks that its program chains go to those that there are now. */
void rv_partition_watch_note(reeve_worker *worker, const rv_reply *reply);

/* When the worker starts: reads the layouts over an open connection, and applies them. A failure is left to the
 * heartbeats. */
void rv_partition_watch_begin(reeve_worker *worker, rv_conn *conn, int64_t deadline);

/* Of the scheduler's thread: changes the pools if the layouts have changed. */
void rv_partition_watch_apply(reeve_worker *worker);

#endif
