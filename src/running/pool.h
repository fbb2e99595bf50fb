/*
 * pool.h - pools: which threads serve which queues.
 */
#ifndef RV_RUNNING_POOL_H
#define RV_RUNNING_POOL_H

#include "running/worker_state.h"

/* Whether the options of a pool are valid. */
reeve_status rv_pool_check(const reeve_pool_options *options, rv_error *error);

/* Adds a pool with valid options to the worker; it has no threads yet, and is to have none. One caller at a time. NULL:
 * error says why: no memory, or its queues cannot be in one pool of a cluster. */
rv_pool *rv_pool_add(reeve_worker *worker, const reeve_pool_options *options, rv_error *error);
void rv_pool_free(rv_pool *pool);

/* The limits of runners in this version's layout; zeroed when there are none. REEVE_EINVAL: they have no valid size. */
reeve_status rv_pool_read_runner(reeve_runner_options *ret, const reeve_pool_options *options, rv_error *error);

/* What options of a pool mean, defaults included. */
unsigned rv_pool_batch(const reeve_pool_options *options);
int64_t rv_pool_batch_us(const reeve_pool_options *options);

/* The options that the pool has, all but its queues. They refer to the pool. */
reeve_pool_options rv_pool_get_options(const rv_pool *pool);

#endif
