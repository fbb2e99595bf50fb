/*
 * pool_runner.h - the limits of a pool's runners, as the pool keeps them.
 *
 * A pool is made again from what it keeps when its queues change. So it keeps all of the limits, as they were given:
 * what is missing there would be lost for the new pool.
 */
#ifndef RV_RUNNING_POOL_RUNNER_H
#define RV_RUNNING_POOL_RUNNER_H

#include "isolation/runner_sandbox.h"

/* Copies the limits and their texts. False: no memory, and nothing to free. */
bool rv_pool_runner_copy(reeve_runner_options *ret, const reeve_runner_options *from);
void rv_pool_runner_free(reeve_runner_options *copy);

/* Whether both mean the same. Users are compared as the numbers that they have in the sandboxes. */
bool rv_pool_runner_equals(const reeve_runner_options *one, const rv_runner_sandbox *ones,
                           const reeve_runner_options *other, const rv_runner_sandbox *others);

#endif
