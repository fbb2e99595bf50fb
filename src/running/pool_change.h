/*
 * pool_change.h - pools, threads and queues of a worker that may be running.
 *
 * Nothing that runs is disturbed. Threads that are no longer needed retire (pool_threads.h). The queues of a pool never
 * change; a pool with other queues, order or batch takes its place, and its threads start as those of the old one end.
 * A pool that was removed and is added again in the same form is used again, so that a configuration that goes back and
 * forth takes no more memory.
 *
 * Any thread; a call waits for others. No name is compared beyond RV_POOL_NAME_MAX bytes.
 */
#ifndef RV_RUNNING_POOL_CHANGE_H
#define RV_RUNNING_POOL_CHANGE_H

#include "running/worker_state.h"

/* REEVE_EINVAL, REEVE_EDUPLICATE: a running worker has a pool of this name, or the pool names a queue twice;
 * REEVE_ENOMEM; REEVE_ESYSTEM: a thread could not be started; REEVE_ESTATE: the worker stops. Also of the others. */
reeve_status rv_pool_change_add(reeve_worker *worker, const reeve_pool_options *options, rv_error *error);

/* REEVE_ENOTFOUND: there is no such pool; also of the others. */
reeve_status rv_pool_change_replace(reeve_worker *worker, const reeve_pool_options *options, rv_error *error);

/* REEVE_EINVAL: it is the last one. */
reeve_status rv_pool_change_remove(reeve_worker *worker, const char *name, rv_error *error);

reeve_status rv_pool_change_threads(reeve_worker *worker, const char *name, unsigned min, unsigned max,
                                    rv_error *error);

/* For the keeper: the pool is to have this number of threads now, within its limits; another value is taken to the nearest
 * one. REEVE_ENOMEM, REEVE_ESYSTEM: too few were started. */
reeve_status rv_pool_change_target(reeve_worker *worker, rv_pool *pool, unsigned target, rv_error *error);

/* Adds a queue behind the others, with a weight if the pool has weights (0: 1), or removes one. REEVE_EDUPLICATE: it is
 * there already. REEVE_ENOTFOUND: it is not there, or there is no such pool. REEVE_EINVAL: it is the last one. */
reeve_status rv_pool_change_add_queue(reeve_worker *worker, const char *name, const char *queue, unsigned weight,
                                      rv_error *error);
reeve_status rv_pool_change_remove_queue(reeve_worker *worker, const char *name, const char *queue, rv_error *error);

/* Each pool serves the partitions that its queues have now (worker->partitions). On failure some of them do not. */
reeve_status rv_pool_change_partitions(reeve_worker *worker, rv_error *error);

#endif
