/*
 * setup.h - from a configuration to a worker.
 */
#ifndef HOST_SETUP_H
#define HOST_SETUP_H

#include <stdatomic.h>

#include "base/error.h"
#include "config/config.h"

/*
 * Creates a worker with the configuration's plugins, policies and pools; does not start it. On failure *ret is NULL and
 * error has the words. data_lost, which outlives the worker, becomes true when Redis has lost its data,
 * which ends the main thread's wait (signals.h).
 */
reeve_status host_make_worker(reeve_worker **ret, const rv_config *config, const char *redis, atomic_bool *data_lost,
                              rv_error *error);

/* What the configuration sets of a handler; points into it. */
reeve_handler_policy host_handler_policy(const rv_config_handler *handler);

/* The name of a pool, which the file need not give. */
#define HOST_POOL_NAME_SIZE 65
const char *host_pool_name(char ret[HOST_POOL_NAME_SIZE], const rv_config *config, size_t index);

/* Adds a pool of the configuration to a worker; a running one may have it already: then it is changed. The worker's
 * error has the words. */
reeve_status host_put_pool(reeve_worker *worker, const rv_config *config, size_t index, bool running);

#endif
